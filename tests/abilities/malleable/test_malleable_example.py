"""The manual's malleable dispatcher through every door: nodes are kept, no work is lost, each job ends once."""

import csv
import json
from pathlib import Path

import pytest

import doors
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line import events as e
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.messages import Message, Reply
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.records import EngineOptions
from simulating import Task, simulate

ROOT = Path(__file__).parents[3]
HALVING = f"{ROOT / 'schedulers/batdispatch/examples/halving.py'}:Halving"
TASKS = [
    Task("a", 0.0, 8, 100.0, 1000.0),
    Task("b", 10.0, 4, 20.0, 50.0),
    Task("c", 12.0, 2, 20.0, 50.0),
    Task("d", 13.0, 8, 5.0, 50.0),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> doors.Site:
    """Eight whole hosts, and a queue that makes jobs give way."""
    site = doors.make_sites(tmp_path_factory.mktemp("sites"))["hosts"]
    jobs = [
        {"id": t.id, "subtime": t.submission, "res": t.units, "walltime": t.walltime, "profile": f"d{t.runtime:g}"}
        for t in TASKS
    ]
    profiles = {f"d{t.runtime:g}": {"type": "delay", "delay": t.runtime} for t in TASKS}
    site.workload.write_text(json.dumps({"nb_res": 8, "jobs": jobs, "profiles": profiles}))
    return site


@pytest.fixture(scope="module")
def expected(site: doors.Site, tmp_path_factory: pytest.TempPathFactory) -> doors.Schedule:
    return doors.in_process(HALVING, site, tmp_path_factory.mktemp("in") / "process")


def test_by_hand(expected: doors.Schedule) -> None:
    """At 10 s job a gives half its hosts to b, at 12 s b half of its own to c: each rest takes twice as long."""
    rows = expected.rows
    assert rows["w0!a"] == (0.0, 10.0, "COMPLETED_KILLED", "0-7")
    assert rows["w0!a-rest"] == (10.0, 190.0, "COMPLETED_SUCCESSFULLY", "0-3")
    assert rows["w0!b"] == (10.0, 12.0, "COMPLETED_KILLED", "4-7")
    assert rows["w0!b-rest"] == (12.0, 48.0, "COMPLETED_SUCCESSFULLY", "4-5")
    assert rows["w0!c"][0] == 12.0
    assert rows["w0!d"][0] == 190.0


@pytest.mark.parametrize("door", doors.DOORS)
def test_the_same_through_every_door(door: str, site: doors.Site, expected: doors.Schedule, tmp_path: Path) -> None:
    found = doors.DOORS[door](HALVING, site, tmp_path / door)
    if door.startswith("batsim"):
        assert found.rows.keys() == expected.rows.keys()
        return
    assert found == expected


def test_the_record_of_the_run_joins_what_belongs_together(site: doors.Site, tmp_path: Path) -> None:
    doors.in_process(HALVING, site, tmp_path / "run")
    with (tmp_path / "run" / "lineage.csv").open(newline="") as lines:
        assert {row["job_id"]: row["parent"] for row in csv.DictReader(lines)} == {
            "a-rest": "a",
            "b-rest": "b",
            "c-rest": "c",
        }
    metrics = json.loads((tmp_path / "run" / "result.json").read_bytes())["metrics"]
    assert (metrics["nb_jobs_success"], metrics["nb_jobs_killed"]) == (len(TASKS), 0)
    assert metrics["mean_turnaround_time"] == pytest.approx((190 + 38 + 39 + 182) / 4)


@pytest.mark.parametrize("acknowledged", [True, False])
@pytest.mark.parametrize("capacity", [None, "core=2"])
def test_nobody_takes_what_is_held(acknowledged: bool, capacity: str | None) -> None:
    engine = EngineOptions(dynamic_jobs=True, acknowledge_dynamic_jobs=acknowledged)
    tasks = TASKS if capacity is None else [t._replace(units=t.units * 2, demand={"core": 1}) for t in TASKS]
    result = simulate(Machine.flat(8, capacity), tasks, HALVING, engine=engine)
    assert {row.state for row in result.rows.values()} <= {JobState.COMPLETED_SUCCESSFULLY, JobState.COMPLETED_KILLED}
    for name, row in result.rows.items():
        if name.endswith("-rest"):
            parent = result.rows[name.removesuffix("-rest")]
            assert row.start == parent.end
            assert row.units.keys() < parent.units.keys()
            # Halved, it takes twice as long for what was left.
            task = next(task for task in tasks if task.id == name.removesuffix("-rest"))
            left = task.runtime * 1e6 - (parent.end - parent.start)
            share = sum(row.units.values()) / sum(parent.units.values())
            assert row.end - row.start == pytest.approx(left / share, abs=2)


@pytest.mark.parametrize("progress", [{}, {"w0!a": {"profile_name": "d", "progress": 1.0}}])
def test_a_job_that_ends_while_its_kill_is_under_way_has_no_rest(progress: dict[str, dict[str, object]]) -> None:
    """As recorded with Batsim 4.2.1: JOB_COMPLETED with success, then JOB_KILLED with empty progress."""
    machine = Machine.flat(2)
    config = {"dynamic-jobs-enabled": True, "dynamic-jobs-acknowledged": False}
    profiles = {"w0": {"d": {"type": "delay", "delay": 10.0}}}
    session = Session(create(HALVING))

    def tell(now: float, *events: e.Event) -> Reply:
        reply = session.handle(Message(now, list(events)))
        assert session.ledger is not None
        session.ledger.check()
        return reply

    from strategies import make_job

    tell(0.0, e.SimulationBegins(0.0, machine, config, {}, profiles))
    a = make_job("w0!a", 2)
    tell(0.0, e.JobSubmitted(0.0, a))
    kill = tell(5.0, e.JobSubmitted(5.0, make_job("w0!b", 1)))
    assert [type(decision).__name__ for decision in kill.decisions] == ["Kill"]
    reply = tell(
        10.0,
        e.JobCompleted(10.0, "w0!a", JobState.COMPLETED_SUCCESSFULLY),
        e.JobsKilled(10.0, ["w0!a"], progress),
    )
    assert [type(decision).__name__ for decision in reply.decisions] == ["Execute"]
    assert session.ledger is not None
    assert not session.ledger.holds
