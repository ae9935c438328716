"""What holds for every dispatcher with every part, on random machines and workloads, read from the output files."""

import os
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.abilities.topology.networks import Grid
from batdispatch.core.capacity.need import resolve
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line import dispatcher as dispatchers
from batdispatch.core.line import registry
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.mail import Delay, Delays
from batdispatch.engines.records import EngineOptions
from batdispatch.parts import ordering, placement
from batdispatch.parts.placement import make_placement
from networks import networked
from simulating import Task, audit, check_absences, micro, simulate
from strategies import absences, machines, workloads

BASELINES = [
    *["conservative", "easy", "fcfs", "filler", "slurm-backfill"],
    *["energy-bf", "energy-bf-dicho", "energy-bf-idle-sleeper", "energy-bf-subpart-sleeper", "greenfilling"],
]
ORDERINGS = registry.names(ordering.GROUP)
PLACEMENTS = [*registry.names(placement.GROUP), "convex[rule=routers,fallback=3]", "connected[fallback=1]+convex+local"]

quick = settings(max_examples=12)
#: Set BATDISPATCH_EXAMPLES for more.
deep = settings(quick, max_examples=int(os.environ.get("BATDISPATCH_EXAMPLES", "400")))


@st.composite
def options(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """Options of a baseline, as texts."""
    given: dict[str, Any] = {}
    if draw(st.booleans()):
        given["ordering"] = draw(st.sampled_from(ORDERINGS))
    if draw(st.booleans()):
        given["placement"] = draw(st.sampled_from(PLACEMENTS))
    if draw(st.booleans()):
        given["default_walltime"] = draw(st.sampled_from(["0.5", "3", "1000"]))
    if name == "easy" and draw(st.booleans()):
        given["reservation"] = "hosts"
    return given


@st.composite
def delays(draw: st.DrawFn, machine: Machine, *, calls: bool) -> Delays:
    """Messages that take no time, microseconds, or so long that many meet on the way.

    A dispatcher that asks for calls is promised messages that take less than `ledger.SOONEST`: Batsim aborts where a
    call's time passes before the request for it has come.
    """
    latency = st.sampled_from([0.0, 1e-6, 1e-5] if calls else [0.0, 1e-6, 1e-5, 0.3])
    of_hosts = draw(st.lists(latency, min_size=len(machine.hosts), max_size=len(machine.hosts)))
    master = draw(latency)
    return lambda host: Delay(master if host is None else of_hosts[host], 1e-9)


def impossible(machine: Machine, task: Task) -> bool:
    """The strategy makes impossible tasks ask for a hundred times the hosts."""
    need = resolve(machine, task.request())
    nothing = not need.whole and not any(need.amounts)
    return task.units >= 100 * len(machine.hosts) and not nothing


def rejections_are_right(machine: Machine, tasks: list[Task], result: Any, chosen: dict[str, Any]) -> None:
    reasons = {job_id.partition("!")[2]: reason for job_id, reason in result.session.ledger.rejections}
    assert reasons.keys() == {row.id for row in result.rows.values() if row.state is JobState.REJECTED}
    for task in tasks:
        if impossible(machine, task):
            assert "the whole machine has room for" in reasons[task.id]
        elif task.id in reasons:
            placed = chosen["placement"]
            assert not make_placement(placed).complete
            assert reasons[task.id] == f"placement {placed} finds no place for it even on the idle machine"


def check_anything(data: st.DataObject, name: str) -> None:
    machine = data.draw(networked(machines()), label="machine")
    tasks = data.draw(workloads(machine), label="tasks")
    chosen = data.draw(options(name), label="options")
    calls = "fallback" in str(chosen) or "default_walltime" in chosen or name == "slurm-backfill"
    kind = data.draw(st.sampled_from(["plain", "split", "slow", "absent", "mail"]), label="kind")
    arguments: dict[str, Any] = {
        "plain": {},
        "split": {"engine": EngineOptions(split_simultaneous=True)},
        "slow": {"decision_time": data.draw(st.sampled_from([1e-6, 0.3, 2.0]))},
        "absent": {"events": data.draw(absences(machine), label="absences")},
        # Calls: when a fallback becomes possible, when a job is late beyond what it was expected to take, and at the
        # ticks of slurm-backfill's clocks.
        "mail": {"delays": data.draw(delays(machine, calls=calls), label="delays")},
    }[kind]
    result = simulate(machine, tasks, name, options=chosen, **arguments)
    audit(machine, tasks, result)
    rejections_are_right(machine, tasks, result, chosen)
    if kind == "absent":
        check_absences(arguments["events"], result)
    if kind == "slow":
        for row in result.starts().items():
            submission = next(task.submission for task in tasks if task.id == row[0])
            assert micro(row[1]) >= micro(submission) + micro(arguments["decision_time"])
    again = simulate(machine, tasks, name, options=chosen, **arguments)
    assert again.files == result.files, "the same run twice"
    assert [reply for _, reply in again.exchanges] == [reply for _, reply in result.exchanges]


@pytest.mark.parametrize("name", BASELINES)
@quick
@given(data=st.data())
def test_valid_complete_and_repeatable(name: str, data: st.DataObject) -> None:
    check_anything(data, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", BASELINES)
@deep
@given(data=st.data())
def test_valid_complete_and_repeatable_many_times(name: str, data: st.DataObject) -> None:
    check_anything(data, name)


def test_every_registered_baseline_is_tested_here() -> None:
    own = {
        name
        for name in registry.names(dispatchers.GROUP)
        if dispatchers.find(name).__module__.startswith(
            tuple(
                f"batdispatch.{room}."
                for room in ("dispatchers", "abilities.sites.slurm", "abilities.power.dispatchers")
            )
        )
    }
    assert own == set(BASELINES)


@pytest.mark.parametrize(("name", "ordered"), list(zip(cycle(BASELINES), ORDERINGS, strict=False)))
def test_every_ordering_with_every_placement_under_one_dispatcher_in_turn(name: str, ordered: str) -> None:
    check_placements(name, ordered)


@pytest.mark.slow
@pytest.mark.parametrize("name", BASELINES)
def test_every_ordering_with_every_placement_under_every_dispatcher(name: str) -> None:
    for ordered in ORDERINGS:
        check_placements(name, ordered)


def check_placements(name: str, ordered: str) -> None:
    """Run 15 jobs with an ordering and each placement, and audit the runs."""
    machine = Machine(Machine.flat(5, "core=4 gpu=1 mem=8").hosts, Grid(range(5), [5]))
    tasks = [
        Task(str(n), submission=n % 4 * 1.5, units=1 + n % 3, runtime=1.0 + n % 5, walltime=2.0 + n % 7, demand=demand)
        for n, demand in enumerate([None, {"core": 2}, {"core": 1, "gpu": 1}, {"mem": 5}, {"core": 4}] * 3)
    ]
    for placed in PLACEMENTS:
        audit(machine, tasks, simulate(machine, tasks, name, options={"ordering": ordered, "placement": placed}))
