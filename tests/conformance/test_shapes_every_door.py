"""Dispatchers that place by shape, through every door: Batsim does not tell the network, the platform file does."""

import json
from pathlib import Path

import pytest

from batdispatch.abilities.topology.generate.torus import torus
from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.explain.run_parts import placement_of
from batdispatch.explain.wait_causes import explain
from batdispatch.explain.words import in_words
from batdispatch.inputs.platforms import read_platform
from batdispatch.results.runs import PlatformFacts, Result, read_result
from batdispatch.results.sites import machine_of
from doors import DOORS, SPECIAL, Schedule, Site, Special, in_process, replayed

PLACED = {
    "easy": "convex",
    "pcp20": "convex[fallback=40]",
    "conservative": "local",
    "fcfs": "contiguous[order=snake,wrap=true]",
    "best-list": "connected+local",
}
#: What keeps a search short.
SHORT = {"pcp20": {"work": "0.01"}}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A 3 x 3 torus of routers with two hosts each, three of them I/O nodes, and 24 jobs pinned to these."""
    folder = tmp_path_factory.mktemp("torus")
    site = Site(folder / "platform.xml", folder / "workload.json")
    site.platform.write_bytes(torus([3, 3], io=3))
    disks = [host.name for host in read_platform(site.platform).machine.storage]
    jobs = [
        {
            "id": f"j{number:02}",
            "subtime": number // 3 * 7.0,
            "res": [1, 3, 2, 5, 1, 4, 6, 2][number % 8],
            "walltime": 30 + number % 4 * 9,
            "profile": f"d{number % 3}",
            "io_node": [disks[disk] for disk in ([0], [1], [0, 2], [2])[number % 4]],
        }
        for number in range(24)
    ]
    profiles = {f"d{number}": {"type": "delay", "delay": 8.0 + 11 * number} for number in range(3)}
    site.workload.write_text(json.dumps({"nb_res": 15, "jobs": jobs, "profiles": profiles}))
    return site


@pytest.fixture(scope="module")
def reference(site: Site, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Schedule]]:
    """The schedule of each in process, and where its files are."""
    found = {}
    for name, placed in PLACED.items():
        folder = tmp_path_factory.mktemp("run") / name
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(SPECIAL, name, Special({"placement": placed, **SHORT.get(name, {})}, informed=True))
            found[name] = folder, in_process(name, site, folder)
    return found


@pytest.mark.parametrize("name", PLACED)
def test_the_run_is_valid_and_has_something_to_decide(name: str, reference: dict[str, tuple[Path, Schedule]]) -> None:
    folder, schedule = reference[name]
    assert Auditor().run(folder).total == 0
    assert "REJECTED" not in {row[2] for row in schedule.rows.values()}
    assert len({row[0] for row in schedule.rows.values()}) > 10
    if name == "pcp20":
        assert json.loads((folder / "result.json").read_text())["report"]["placement_given_up"]["convex"] > 0


@pytest.mark.parametrize("name", PLACED)
@pytest.mark.parametrize("door", ["zeromq4", "zeromq5", "pybatsim"])
def test_same_schedule(
    door: str,
    name: str,
    site: Site,
    reference: dict[str, tuple[Path, Schedule]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options = {"placement": PLACED[name], **SHORT.get(name, {})}
    monkeypatch.setitem(SPECIAL, name, Special(options, informed=True))
    assert DOORS[door](name, site, tmp_path / "run") == reference[name][1]
    if door.startswith("zeromq"):
        assert replayed(name, tmp_path / "run" / "decisions.jsonl", site) is None


def test_explain_wait_says_that_a_job_waited_for_a_shape(reference: dict[str, tuple[Path, Schedule]]) -> None:
    # A recording tells no routes: they are read from the platform file that result.json names.
    folder, schedule = reference["easy"]
    result = read_result(folder)
    assert placement_of(result) == "convex"
    machine = machine_of(folder, result)
    assert machine is not None
    assert machine.topology is not None
    found = explain(folder / "decisions.jsonl", list(schedule.rows), placement="convex", machine=machine)
    shaped = [each for each in found if each.seconds("placement")]
    assert shaped
    assert "but no convex room: placement convex found no place" in "\n".join(in_words(shaped[0], limit=9))
    # Without the file all that can be said is that there was room.
    unknown = explain(folder / "decisions.jsonl", [shaped[0].job], placement="convex")
    assert not unknown[0].seconds("placement")


def test_the_machine_of_a_run_is_not_known_once_its_platform_file_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "platform.xml"
    path.write_bytes(torus([3], io=0))
    digest = read_platform(path).digest
    known = Result(platform=PlatformFacts(path=str(path), sha256=digest))
    assert machine_of(tmp_path, known) is not None
    assert machine_of(tmp_path, Result(platform=PlatformFacts(path="platform.xml", sha256=digest))) is not None
    path.write_bytes(torus([4], io=0))
    assert machine_of(tmp_path, known) is None
    assert machine_of(tmp_path, Result()) is None
