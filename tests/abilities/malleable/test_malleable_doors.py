"""Malleable jobs through every door: the run is the same in process, over both wires, and inside pybatsim."""

import csv
import json
from functools import partial
from pathlib import Path

import msgspec
import pytest

import doors
from batdispatch.batsim import features_for
from batdispatch.engines.records import EngineOptions

LAYERED = {
    "sync": "dmr",
    "async": "dmr[mode=async,timeout=5]",
    "share": "resizing[dispatcher=conservative,policy=equal-share,acknowledge=false]",
    "pays": "resizing[dispatcher=filler,policy=speed-up,walltime=scaled]",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> doors.Site:
    """Eight hosts, and jobs of which two in three can be resized, among them sequences and evolving ones."""
    site = doors.make_sites(tmp_path_factory.mktemp("sites"))["hosts"]
    jobs, profiles = [], {"twice": {"type": "composed", "repeat": 3, "seq": ["d0", "d1"]}}
    for number in range(24):
        length = 20 + 7.3 * (number % 5)
        profiles[f"d{number}"] = {"type": "delay", "delay": length}
        units = (8, 4, 2, 8, 1)[number % 5]
        job = {
            "id": f"j{number:02}",
            "subtime": number * 11.3,
            "res": units,
            "walltime": 400 + number,
            "profile": "twice" if number == 7 else f"d{number}",
        }
        if number % 3:
            job["sizes"] = {"least": 1, "most": 8, "kind": "malleable", "steps": 20, "data": 1e9, "period": 2.5}
            job["sizes"] |= {"scalability": ("power:0.7", "amdahl:0.05", "table:1=8,2=5,8=2")[number % 3]}
        if number % 6 == 4 and units > 1:
            job["sizes"]["preferred"] = 2
        if number % 8 == 5 and number % 3:
            job["sizes"] |= {"kind": "evolving", "asks": [{"step": 4, "most": 2}, {"step": 12, "least": 4}]}
        jobs.append(job)
    site.workload.write_text(json.dumps({"nb_res": 8, "jobs": jobs, "profiles": profiles}))
    return site


@pytest.fixture(scope="module")
def expected(site: doors.Site, tmp_path_factory: pytest.TempPathFactory) -> dict[str, doors.Schedule]:
    folder = tmp_path_factory.mktemp("in")
    return {name: doors.in_process(layered, site, folder / name) for name, layered in LAYERED.items()}


@pytest.mark.parametrize("door", ["zeromq4", "zeromq5", "pybatsim"])
@pytest.mark.parametrize("name", sorted(LAYERED))
def test_the_same_through_every_door(
    name: str, door: str, site: doors.Site, expected: dict[str, doors.Schedule], tmp_path: Path
) -> None:
    assert doors.DOORS[door](LAYERED[name], site, tmp_path / door) == expected[name]


@pytest.mark.parametrize("door", ["zeromq4", "zeromq5"])
def test_the_same_where_registrations_are_not_acknowledged(
    door: str,
    site: doors.Site,
    expected: dict[str, doors.Schedule],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    asked = msgspec.structs.replace(features_for(registers_jobs=True), acknowledge_dynamic_jobs=False)
    monkeypatch.setattr(doors, "EngineOptions", partial(EngineOptions, acknowledge_dynamic_jobs=False))
    monkeypatch.setattr(doors, "features_for", lambda **_: asked)
    assert doors.DOORS[door](LAYERED["sync"], site, tmp_path / door) == expected["sync"]


def test_a_recording_of_it_can_be_replayed(site: doors.Site, tmp_path: Path) -> None:
    doors.in_process("dmr", site, tmp_path / "run")
    assert doors.replayed("dmr", tmp_path / "run" / "decisions.jsonl") is None


def test_resized_jobs_are_joined(expected: dict[str, doors.Schedule], site: doors.Site, tmp_path: Path) -> None:
    assert all(sum("~" in job for job in schedule.rows) >= 10 for schedule in expected.values())
    doors.in_process("dmr", site, tmp_path / "run")
    with (tmp_path / "run" / "lineage.csv").open(newline="") as lines:
        joined = {row["job_id"]: row["parent"] for row in csv.DictReader(lines)}
    assert len(joined) >= 10
    result = json.loads((tmp_path / "run" / "result.json").read_bytes())
    assert (result["metrics"]["nb_jobs_success"], result["metrics"]["nb_jobs_killed"]) == (24, 0)
    told = result["report"]["resizing"]
    assert told["expand"]["count"] + told["shrink"]["count"] == len(joined)
