"""`rjms_delay`: a dispatcher that plans adds it to how long each job is expected to run, and to nothing else."""

from typing import Any

import msgspec
import pytest

from batdispatch.abilities.solvers.constraint.base import PlanningDispatcher
from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.solving import SolverResult
from batdispatch.core.errors import InputError
from batdispatch.core.line import dispatcher as dispatchers
from batdispatch.core.line import events as e
from batdispatch.core.line import registry
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.messages import Message
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Machine
from batdispatch.dispatchers.backfilling.easy import Easy
from simulating import Task, simulate
from strategies import make_job

#: These plan nothing ahead, know how long tasks take, or leave it to the dispatcher inside.
NO_PLAN = {"fcfs", "filler", "attempts", "resizing", "powered", "ipsched", "aucsched", "dada", "heft", "work-stealing"}
CONSTRAINT = ["best-list", "hcp19", "pcp19", "pcp20"]


def test_every_dispatcher_that_plans_has_the_option() -> None:
    for name in registry.names(dispatchers.GROUP):
        fields = {field.name: field.default for field in msgspec.structs.fields(dispatchers.find(name).options_type)}
        # Those that are batsched's have its default.
        default = 5.0 if name.startswith("energy-bf") else 0.0
        assert fields.get("rjms_delay") == (None if name in NO_PLAN else default), name


def begin(dispatcher: Any) -> None:
    """A job of 10 s starts on one of two hosts; at 1 s jobs of 30 and 40 s are waiting."""
    session = Session(dispatcher)
    begins = e.SimulationBegins(0.0, Machine.flat(2))
    session.handle(Message(0.0, [begins, e.JobSubmitted(0.0, make_job("w0!a", 1, walltime=10))]))
    waiting = [make_job("w0!b", 2, walltime=30), make_job("w0!c", 1, walltime=40)]
    session.handle(Message(1.0, [e.JobSubmitted(1.0, job) for job in waiting]))


@pytest.mark.parametrize("name", ["easy", "stochastic-easy"])
def test_the_shadow_time_comes_later(name: str) -> None:
    dispatcher = create(name, {"rjms_delay": "5"})
    begin(dispatcher)
    inner = dispatcher.innermost()
    assert isinstance(inner, Easy)
    assert [(end, stay.job.id) for end, _, stay in inner.ends] == [(15.0, "w0!a")]
    assert inner._shadow == 15.0


@pytest.mark.parametrize("name", CONSTRAINT)
def test_an_instance_keeps_hosts_longer_and_weighs_jobs_as_before(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dispatcher = create(name, {"rjms_delay": "5", "ahead": "9"})
    assert isinstance(dispatcher, PlanningDispatcher)
    seen: list[Instance] = []
    plan = dispatcher.plan

    def watched(instance: Instance, counters: dict[str, int]) -> SolverResult[Any]:
        seen.append(instance)
        return plan(instance, counters)

    monkeypatch.setattr(dispatcher, "plan", watched)
    begin(dispatcher)
    last = seen[-1]
    asked = {job.id: index for index, job in enumerate(last.jobs)}
    assert last.durations[asked["w0!b"]] == 35
    assert last.durations[asked["w0!c"]] == 45
    assert last.runtimes[asked["w0!c"]] == 40
    assert last.weights[asked["w0!c"]] == 25_000
    assert [one.seconds for one in last.running] == [14]


@pytest.mark.parametrize(("name", "second"), [("stochastic-batch", 25.001), ("stochastic-conservative", 20.0)])
def test_a_rigid_plan_starts_later_and_one_that_moves_up_does_not(name: str, second: float) -> None:
    law = {"runtime_law": "tnorm:0,20,8,4"}
    tasks = [Task("1", 0.0, 1, 20.0, extra=law), Task("2", 0.0, 1, 7.0, extra=law)]
    result = simulate(Machine.flat(1), tasks, name, options={"requests": "hpc", "rjms_delay": "5"})
    assert result.starts() == {"1": 0.0, "2": second}


@pytest.mark.parametrize("value", ["inf", "-1", "nan"])
def test_a_delay_is_a_finite_number_of_seconds(value: str) -> None:
    with pytest.raises(InputError, match="rjms_delay"):
        create("conservative", {"rjms_delay": value})
