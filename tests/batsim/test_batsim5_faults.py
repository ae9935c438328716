"""Jobs that Batsim 5.0.0-rc2 aborts on or times wrongly are counted, each once for each fault."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from batdispatch.batsim.v5.faults import fault_of, warnings
from batdispatch.cli.main import cli

PROFILES: dict[str, dict[str, Any]] = {
    "delay": {"type": "delay", "delay": 1},
    "work": {"type": "parallel_homogeneous", "cpu": 1, "com": 0},
    "idle": {"type": "parallel_homogeneous", "cpu": 0, "com": 0},
    "idle total": {"type": "parallel_homogeneous_total", "cpu": 0, "com": 0},
    "idle each": {"type": "parallel", "cpu": [0, 0], "com": [0, 0, 0, 0]},
    "talk": {"type": "parallel", "cpu": [0, 0], "com": [0, 1, 0, 0]},
    "stage": {"type": "data_staging", "nb_bytes": 1, "from": "a", "to": "b"},
    "even": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1e6, "bytes_to_write": 1e6},
    "uneven": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1e6, "bytes_to_write": 2e6},
    "write": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 0, "bytes_to_write": 2e6},
    "all": {"type": "composed", "repeat": 3, "seq": ["idle", "stage", "idle total", "inner"]},
    "inner": {"type": "composed", "seq": ["uneven", "delay"]},
}


@pytest.mark.parametrize(
    ("fault", "names"),
    [
        (None, ["delay", "work", "talk", "even", "all"]),
        ("no work", ["idle", "idle total", "idle each", "write"]),
        ("data staging", ["stage"]),
        ("storage", ["uneven"]),
    ],
)
def test_the_fault_of_a_profile(fault: str | None, names: list[str]) -> None:
    assert [fault_of(PROFILES[name]) for name in names] == [fault] * len(names)


def test_jobs_are_counted_once_for_each_fault() -> None:
    used = ["delay", "idle", "idle", "all", "uneven", "even"]
    assert [text.partition(", ")[0] for text in warnings(used, PROFILES)] == [
        "Batsim 5.0.0-rc2: 3 of 6 jobs have a task without work",
        "Batsim 5.0.0-rc2: 1 of 6 jobs stage data between storages",
        "Batsim 5.0.0-rc2: 2 of 6 jobs read and write different amounts on a storage",
    ]
    # A profile that no job uses does no harm.
    assert warnings(["delay", "work"], PROFILES) == []


@pytest.mark.parametrize(("target", "count"), [("batsim5", 1), ("batsim4", 0)])
def test_convert_warns_and_writes(target: str, count: int, tmp_path: Path) -> None:
    jobs = [{"id": name, "subtime": 0, "res": 2, "profile": name} for name in ("delay", "idle")]
    profiles = {name: PROFILES[name] for name in ("delay", "idle")}
    (tmp_path / "w.json").write_text(json.dumps({"nb_res": 2, "jobs": jobs, "profiles": profiles}))
    out = tmp_path / "out.json"
    done = CliRunner().invoke(cli, ["convert", str(tmp_path / "w.json"), "--to", target, "-o", str(out), "--json"])
    assert done.exit_code == 0, done.output
    assert done.stderr.count("warning: Batsim 5.0.0-rc2: 1 of 2 jobs have a task without work") == count
    # What a program reads stays what it was.
    assert json.loads(done.stdout)["jobs"] == 2
    assert out.exists()
