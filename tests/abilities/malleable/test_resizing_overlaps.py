"""A rest that only waits for nodes gets them in the moment in which it starts: no two rows of the jobs file overlap."""

import csv
import shutil
from pathlib import Path

import pytest

from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.inputs.platforms import generate
from sealing import seal
from sites import delays, simulated

#: (submission, units, run time, preferred size); all but the fourth are malleable.
JOBS = ((10, 4, 80, 0), (20, 1, 80, 0), (0, 1, 80, 0), (10, 4, 40, -1), (10, 2, 80, 2), (0, 2, 60, 0), (20, 4, 40, 0))
#: Nothing but the run times takes time, so that points at which jobs can be resized coincide with ends of others.
OPTIONS = {"mode": "async", "timeout": "40", "check_cost": "0", "expand_cost": "0", "shrink_cost": "0"}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    listed = []
    for number, (at, units, seconds, preferred) in enumerate(JOBS):
        sizes = {"least": 1, "most": 8, "factor": 2, "kind": "malleable", "steps": seconds // 10}
        sizes |= {"preferred": preferred} if preferred > 0 else {}
        job = {"id": str(number), "subtime": at, "res": units, "profile": f"d{seconds}"}
        listed.append(job if preferred < 0 else {**job, "sizes": sizes})
    profiles = delays(*{seconds for _, _, seconds, _ in JOBS})
    return simulated(tmp_path, "resizing", generate.flat(4), listed, profiles, options=OPTIONS)


def read(folder: Path) -> list[dict[str, str]]:
    with (folder / "jobs.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_no_segment_starts_before_the_one_that_it_continues_has_ended(run: Path) -> None:
    rows = {row["job_id"]: row for row in read(run)}
    with (run / "lineage.csv").open(newline="") as file:
        pairs = [(rows[line["job_id"]], rows[line["parent"]]) for line in csv.DictReader(file)]
    assert len(pairs) >= 2
    for row, parent in pairs:
        assert float(row["starting_time"]) >= float(parent["finish_time"]) - 2e-6
    assert Auditor().run(run).kept == []


def test_the_audit_finds_an_overlap_of_ten_microseconds(run: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(run, tmp_path / "forged"))
    with (folder / "lineage.csv").open(newline="") as file:
        parent = next(csv.DictReader(file))["parent"]
    rows = read(folder)
    row = next(row for row in rows if row["job_id"] == parent)
    row["finish_time"] = f"{float(row['finish_time']) + 1e-5:.6f}"
    with (folder / "jobs.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(row), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    seal(folder)
    assert "lineage" in Auditor().run(folder).counts
