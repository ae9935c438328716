"""Why a log and simulations of its jobs are not alike: by hand on small logs, and on accounts of a real Slurm."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import batdispatch
from batdispatch import compare, report
from batdispatch.inputs.workloads import read_workload
from batdispatch.runs.log_fairness import UNLIKE, _capacity, idle_share

PACKAGE = Path(batdispatch.__file__).parent
HEAD = "; MaxProcs: 4\n; UnixStartTime: 1772438400\n"
LAST = "a log does not tell of nodes that were away, holds and limits of users"


def log(path: Path, rows: list[tuple[int, int, int, int, int, int]]) -> Path:
    """Write a log of jobs: number, submission, wait, run time, size, status."""
    lines = [
        f"{number} {at} {wait} {ran} {size} -1 -1 {size} 1000 -1 {status} 1 1 1 1 1 -1 -1\n"
        for number, at, wait, ran, size, status in rows
    ]
    path.write_text(HEAD + "".join(lines))
    return path


def warned(path: Path, out: Path, **settings: object) -> list[str]:
    with pytest.warns(UserWarning, match=r"the-log: ") as caught:
        compare(path, "easy", with_log=True, out=out, **settings)
    return [text.removeprefix("the-log: ") for one in caught if (text := str(one.message)).startswith("the-log: ")]


def test_what_is_left_out_or_stands_otherwise_is_named_with_its_number(tmp_path: Path) -> None:
    rows = [(1, 0, 0, 100, 2, 1), (2, 10, 0, 50, 2, 1), (3, 20, -1, -1, 1, 5), (4, 30, 90, 50, 4, 1)]
    first, last = warned(log(tmp_path / "log.swf", rows), tmp_path / "out")
    assert first.startswith("not alike in the log and the simulations: 1 record of the log takes no part: 1 ")
    assert last.startswith(LAST)
    report(tmp_path / "out", explain=False)
    page = (tmp_path / "out" / "report" / "index.html").read_text()
    assert "1 record of the log takes no part" in page.partition("<table")[0]
    assert "[&#39;" not in page


def test_an_idle_machine_on_which_jobs_wait_is_named(tmp_path: Path) -> None:
    # Job 1 holds half of the machine until 1,000 s; job 2 wants the other half and waits from 100 s to 900 s.
    rows = [(1, 0, 0, 1000, 2, 1), (2, 100, 800, 100, 2, 1)]
    first, _ = warned(log(tmp_path / "log.swf", rows), tmp_path / "out")
    assert "in 100% of the time in which jobs of the log waited, all of them would have fitted" in first
    # One that wants more than the other half waits with reason.
    rows[1] = (2, 100, 900, 100, 3, 1)
    (only,) = warned(log(tmp_path / "log.swf", rows), tmp_path / "again")
    assert only.startswith(LAST)


def test_idle_share_by_hand(tmp_path: Path) -> None:
    # Two minutes after their submission, jobs 2 and 3 count as waiting: 2 from 220 s, 3 from 420 s.
    rows = [(1, 0, 0, 1000, 2, 1), (2, 100, 900, 100, 2, 1), (3, 300, 900, 100, 1, 1)]
    out = tmp_path / "out"
    warned(log(tmp_path / "log.swf", rows), out)
    workload = read_workload(next((out / "input").glob("*.json")))
    starts = np.array([job.submission for job in workload.jobs]) + np.array([0.0, 900.0, 900.0])
    # They wait from 220 s to 1,200 s. Two hosts are free until 1,000 s, and job 2 alone would fit, but not with job 3.
    # From 1,000 s on, job 2 runs on two of four hosts, and job 3 would fit until it starts at 1,200 s.
    assert idle_share(workload, starts, 4) == pytest.approx((200 + 200) / 980)
    assert idle_share(workload, starts, 2) == pytest.approx((100) / 980)
    unknown = np.where(np.arange(3) == 2, np.nan, starts)
    assert idle_share(workload, unknown, 4) == 1.0


ONE_CORE = {"demand": {"core": 1}}


@pytest.mark.parametrize(
    ("asked", "capacity"),
    [
        ([{}, {}], 4),
        ([ONE_CORE, ONE_CORE], 8),
        # Nodes and cores are not to be added up, and what else is asked for may be what is waited for.
        ([ONE_CORE, {}], None),
        ([ONE_CORE, {"demand": {"core": 2}}], None),
        ([ONE_CORE, {"demand": {"core": 1, "memory": 500}}], None),
        ([ONE_CORE, {**ONE_CORE, "per_node": {"gpu": 1}}], None),
        ([{}, {"per_node": {"gpu": 1}}], None),
    ],
)
def test_only_nodes_or_single_cores_are_counted(
    asked: list[dict[str, Any]], capacity: int | None, tmp_path: Path
) -> None:
    jobs = [
        {"id": str(at), "subtime": at, "res": 1, "walltime": 10, "profile": "p", **one} for at, one in enumerate(asked)
    ]
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"nb_res": 8, "jobs": jobs, "profiles": {"p": {"type": "delay", "delay": 10}}}))
    machine: Any = SimpleNamespace(size=4, shared={"core": 8})
    assert _capacity(read_workload(path), machine) == capacity


@pytest.mark.parametrize(("more", "named"), [("", True), (",gres/gpu=1", False)])
def test_holds_of_real_accounts_are_named(more: str, named: bool, tmp_path: Path) -> None:
    """Some rows of a table that sacct could have printed: job 2 was held for ten minutes."""
    columns = (
        "JobID|User|Partition|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|NNodes|ReqTRES|AllocTRES|NodeList"
    )
    rows = []
    for number, (eligible, start) in enumerate((("10:00:00", "10:00:00"), ("10:10:00", "10:10:01")), 1):
        end = start.replace("10:00", "10:20").replace("10:10", "10:30")
        rows.append(
            f"{number}|ada|p|2026-03-02T10:00:00|2026-03-02T{eligible}|2026-03-02T{start}|2026-03-02T{end}|1200|60|"
            f"COMPLETED|1|cpu=4,node=1{more}|cpu=4,node=1{more}|n0"
        )
    path = tmp_path / "sacct.txt"
    path.write_text("\n".join([columns, *rows, ""]))
    first, *idle, last = warned(path, tmp_path / "out")
    assert "of the jobs, 1 were eligible later than submitted" in first
    # Both ran on the node at a time, so it has 8 cores, and there was room for job 2 while it was held.
    assert [one.startswith("in 100% of the time") for one in idle] == [True] * named
    assert last.startswith(LAST)


def test_each_mark_is_what_an_importer_says() -> None:
    """A mark whose words were changed in the importer would never be found again."""
    sources = "".join(
        path.read_text() for folder in ("inputs", "abilities/sites/doors") for path in (PACKAGE / folder).rglob("*.py")
    )
    # Texts that go on in the next line, and what stands for an option.
    sources = re.sub(r'"\s*f?"', "", sources)
    sources = sources.replace("{size} taken", "requested taken").replace(
        "{self._options.submission} time", "submit time"
    )
    assert [mark for mark in UNLIKE if mark not in sources] == []
