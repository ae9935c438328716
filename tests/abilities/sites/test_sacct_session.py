"""Accounts of a real Slurm against what was run there: no job lost, none invented, each as it was submitted."""

import json
import math
import tempfile
from pathlib import Path

import pytest

from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads import Workload, read_workload, write_workload
from batdispatch.inputs.workloads.importers import read_log
from batdispatch.inputs.workloads.report import ImportReport
from batdispatch.inputs.workloads.writer import job_fields
from slurm import needs_accounting
from slurm_session import Ran, Session, hold

RECORDED = Path(__file__).parents[2] / "conformance" / "sacct"


@pytest.fixture(scope="module")
def recorded() -> Session:
    facts = json.loads((RECORDED / "session.json").read_text())
    ran = {name: Ran(**{**each, "after": tuple(each["after"])}) for name, each in facts["ran"].items()}
    accounts = {name: (RECORDED / f"{name}.txt").read_text() for name in ("jobs", "all", "parsable")}
    return Session(accounts, ran, facts["never"], facts["going_on"])


def check(session: Session, which: str, folder: Path) -> None:
    """Compare an import with what the jobs were."""
    path = folder / "account.txt"
    path.write_text(session.accounts[which])
    workload, report, info = read_log(path)
    assert {job.id for job in workload.jobs} == session.ran.keys()
    check_account(session, report)
    for job in workload.jobs:
        check_job(job.id, workload, session.ran[job.id])
    assert workload.nb_res == 2
    assert info.capacity == {"core": 16, "gpu": 4, "memory": 2048}
    write_workload(workload, folder / "w.json")
    assert told(read_workload(folder / "w.json")) == told(workload)


def told(workload: Workload) -> list[dict[str, object]]:
    return [job_fields(job) for job in workload.jobs]


def check_account(session: Session, report: ImportReport) -> None:
    """Each record is a job, a part of one, or of one that never ran or goes on."""
    dropped = {reason: tally.count for reason, tally in report.dropped.items()}
    assert report.records == report.kept + sum(dropped.values())
    left_out = sum(count for reason, count in dropped.items() if "start" in reason or "ended" in reason)
    assert left_out == len(session.never) + len(session.going_on)
    parts = sum(count for reason, count in dropped.items() if "earlier runs" in reason or "components" in reason)
    assert left_out + parts == sum(dropped.values())


def check_job(name: str, workload: Workload, ran: Ran) -> None:
    job = next(job for job in workload.jobs if job.id == name)
    request = job.request
    per_unit, per_node = dict(request.per_unit or ()), dict(request.per_node)
    assert (job.user, job.units, per_unit["core"]) == (ran.user, ran.cores, 1), name
    assert job.walltime == (math.inf if ran.limit is None else ran.limit), name
    assert ran.memory <= per_unit["memory"] * job.units < ran.memory + job.units, name
    assert request.nodes == ((ran.nodes, ran.nodes) if ran.nodes else None), name
    assert per_node.get("gpu", 0) * max(ran.nodes, 1) == ran.gpus, name
    assert request.whole_nodes == ran.whole_nodes, name
    assert {one.job for one in request.dependencies if one.kind == "afterok"} == set(ran.after), name
    extra = job.extra
    assert (extra["partition"], extra["account"], extra["qos"]) == (ran.partition, f"{ran.user}lab", "normal"), name
    seconds = workload.profiles[job.profile]["delay"]
    # A second may begin and end within a job's run, and Slurm takes its time to end one.
    assert max(ran.least, 1) <= seconds <= ran.least + 45, name


@pytest.mark.parametrize("which", ["jobs", "all", "parsable"])
def test_recorded(recorded: Session, which: str, tmp_path: Path) -> None:
    check(recorded, which, tmp_path)


def test_columns_may_stand_in_any_order(recorded: Session, tmp_path: Path) -> None:
    lines = recorded.accounts["jobs"].splitlines()
    # The job with a line end in its submit line is written as one.
    rows = [line.split("|") for line in lines if line.count("|") == lines[0].count("|")]
    turned = tmp_path / "turned.txt"
    turned.write_text("".join("|".join(reversed(row)) + "\n" for row in rows))
    straight = tmp_path / "straight.txt"
    straight.write_text("".join("|".join(row) + "\n" for row in rows))
    assert told(read_log(turned).workload) == told(read_log(straight).workload)


def test_a_zone_moves_no_job(recorded: Session, tmp_path: Path) -> None:
    path = tmp_path / "account.txt"
    path.write_text(recorded.accounts["jobs"])
    plain = read_log(path)
    zoned = read_log(path, options=LogOptions(time_zone="Asia/Kolkata"))
    assert told(zoned.workload) == told(plain.workload)
    origins = [each.workload.about["origin"]["time_origin"] for each in (plain, zoned)]
    assert origins[0] - origins[1] == 5.5 * 3600


@needs_accounting
@pytest.mark.slow
def test_live(tmp_path: Path) -> None:
    # Others than root run jobs there, and may not look into a test's own folder.
    with tempfile.TemporaryDirectory(prefix="slurm") as folder:
        session = hold(Path(folder), ("daemon", "games"))
    for which in session.accounts:
        check(session, which, tmp_path)
