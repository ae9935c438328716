"""Transfers as I/O jobs that share links, in SimGrid: times worked out by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.core.errors import ImpossibleDecision, InputError
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.messages import Message
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.inputs.platforms.generate import Links
from batdispatch.results.frame import read_jobs
from batdispatch_papers.dada.machine import hybrid
from sites import simulated
from strategies import make_job
from task_graphs import task
from with_simgrid import needs_simgrid

SIMULATED = {"transfers": "simulated"}


def run(folder: Path, tasks: list[Any], *, switches: int, simgrid: str = "always", gpus: int = 2) -> dict[str, Any]:
    """Run tasks on GPUs behind links of 1 MB/s without latency; return (start, end) by job and the report."""
    platform = hybrid(gpus=gpus, cores=1, switches=switches, links=Links(speed="1Gf", bw="1MBps", lat="0s"))
    jobs = [{"id": one.id, "subtime": one.submission, "res": 1, "profile": one.id, **one.extra} for one in tasks]
    profiles = {one.id: {"type": "delay", "delay": one.runtime} for one in tasks}
    out = simulated(folder, "heft", platform, jobs, profiles, options=SIMULATED, simgrid=simgrid)
    assert not Auditor().run(out).total
    report = json.loads((out / "result.json").read_bytes())["report"]
    rows = read_jobs(out / "jobs.csv").set_index("job_id").to_dict("index")
    ends: dict[str, Any] = {name: (row["starting_time"], row["finish_time"]) for name, row in rows.items()}
    return {**ends, "report": report}


@needs_simgrid
@pytest.mark.parametrize(("switches", "seconds"), [(2, 1.0), (1, 2.0)])
def test_gpus_on_one_switch_share_its_link(switches: int, seconds: float, tmp_path: Path) -> None:
    """Two GPUs fetch a megabyte each at the same moment, over a switch each or over one."""
    tasks = [task("A", None, 3.0, reads=["x"]), task("B", None, 3.0, reads=["y"])]
    found = run(tmp_path, tasks, switches=switches)
    for name in ("A", "B"):
        assert found[f"{name}~data"] == pytest.approx((0.0, seconds), abs=1e-5)
        assert found[f"{name}~gpu"] == pytest.approx((seconds, seconds + 3), abs=1e-4)
    assert found["report"]["bytes_moved"] == 2_000_000


@needs_simgrid
def test_all_copies_of_a_task_go_at_once_from_where_they_are(tmp_path: Path) -> None:
    """C needs x from A's GPU, y from B's, and z from the main memory: on one of them two copies over its link."""
    tasks = [
        task("A", None, 1.0, reads=["x"], writes=["x"]),
        task("B", None, 1.0, reads=["y"], writes=["y"]),
        task("C", None, 1.0, reads=["x", "y", "z"], after=["A", "B"]),
    ]
    found = run(tmp_path, tasks, switches=2)
    assert found["C~data"] == pytest.approx((2.0, 4.0), abs=1e-4)
    assert found["C~gpu"] == pytest.approx((4.0, 5.0), abs=1e-4)
    assert found["report"]["bytes_moved"] == 4_000_000


@needs_simgrid
def test_a_core_waits_for_the_copy_that_another_core_has_asked_for(tmp_path: Path) -> None:
    platform_of_two_cores = [
        task("A", None, 1.0, reads=["x"], writes=["x"]),
        task("B", 2.0, None, reads=["x"], after=["A"]),
        task("C", 0.5, None, reads=["x"], after=["B"]),
    ]
    found = run(tmp_path, platform_of_two_cores, switches=1, gpus=1)
    assert found["B~data"] == pytest.approx((2.0, 3.0), abs=1e-4)
    # B's run time is its own profile, so it runs as it is, and C finds x in the main memory.
    assert found["B"] == pytest.approx((3.0, 5.0), abs=1e-4)
    assert found["C"] == pytest.approx((5.0, 5.5), abs=1e-4)
    assert "C~data" not in found


def test_without_simgrid_they_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ImpossibleDecision, match="which only SimGrid simulates"):
        run(tmp_path, [task("A", None, 1.0, reads=["x"])], switches=1, simgrid="auto")


@pytest.mark.parametrize("acknowledged", [True, False])
def test_the_host_of_a_task_whose_copies_have_not_begun_is_taken(acknowledged: bool) -> None:
    """By hand, for a simulator that acknowledges registered jobs, and for one that does not."""
    facts = {"class": "gpu", "memory": "g", "memory_bandwidth": "1000"}
    machine = Machine([Host(id=0, name="c", properties={}), Host(id=1, name="g", properties=facts)])
    config = {"dynamic-jobs-enabled": True, "dynamic-jobs-acknowledged": acknowledged}
    session = Session(create("dada", SIMULATED))
    first = make_job("w0!A", 1, runtimes={"gpu": 3.0}, reads={"x": 1000})
    reply = session.handle(
        Message(
            0.0,
            [
                e.SimulationBegins(0.0, machine, config),
                e.JobSubmitted(0.0, first),
                e.JobSubmitted(0.0, make_job("w0!other", 2)),
                e.NoMoreStaticJobs(0.0),
            ],
        )
    )
    kinds = [type(decision) for decision in reply.decisions]
    assert kinds[:2] == [d.RegisterProfile, d.RegisterJob]
    # The other job gets no host, and the simulation may not end.
    assert d.FinishRegistration not in kinds
    if acknowledged:
        assert kinds[2:] == []
        copies = reply.decisions[1].job
        reply = session.handle(Message(0.0, [e.JobSubmitted(0.0, copies)]))
    started = [decision for decision in reply.decisions if isinstance(decision, d.Execute)]
    assert [one.job_id for one in started] == ["w0!A~data"]
    assert started[0].io_job is not None


def test_registration_goes_on_while_a_further_job_is_not_acknowledged() -> None:
    """The task's own job has ended, killed, and nothing waits or runs: its further job is still to come."""
    config = {"dynamic-jobs-enabled": True, "dynamic-jobs-acknowledged": True}
    session = Session(create("dada"))
    task_job = make_job("w0!A", 1, runtimes={"cpu": 3.0})
    begins = e.SimulationBegins(0.0, Machine([Host(id=0, name="c")]), config)
    events = [begins, e.JobSubmitted(0.0, task_job), e.NoMoreStaticJobs(0.0)]
    reply = session.handle(Message(0.0, events))
    kinds = [d.Execute, d.Kill, d.RegisterProfile, d.RegisterJob]
    assert [type(decision) for decision in reply.decisions] == kinds
    ended = e.JobCompleted(0.0, "w0!A", JobState.COMPLETED_KILLED, 0, None)
    assert session.handle(Message(0.0, [ended])).decisions == []
    [decision] = session.handle(Message(0.0, [e.JobSubmitted(0.0, reply.decisions[3].job)])).decisions
    assert isinstance(decision, d.Execute)
    assert decision.job_id == "w0!A~cpu"


def test_without_a_host_in_the_main_memory_nothing_can_send() -> None:
    machine = Machine([Host(id=0, name="g", properties={"class": "gpu", "memory": "g"})])
    session = Session(create("heft", SIMULATED))
    with pytest.raises(InputError, match="no host computes in the memory main"):
        session.handle(Message(0.0, [e.SimulationBegins(0.0, machine, {"dynamic-jobs-enabled": True})]))
