"""Malleable jobs that rest are not asked about, and nothing else changes by it."""

import math
from copy import copy
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.abilities.malleable.flexible import Flexible
from batdispatch.abilities.malleable.policy import GROUP as POLICIES
from batdispatch.abilities.malleable.policy import Policy, Situation
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.jobs.request import Request
from batdispatch.core.jobs.sizes import Sizes
from batdispatch.core.line import registry
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.records import EngineOptions
from malleable import Checked, checked, malleable_tasks
from simulating import Result, Task, simulate

HOSTS = 16
INSIDE = [
    "easy",
    "conservative",
    "filler[ordering=sjf]",
    "slurm-backfill",
    "easy[ordering=wfp3]",
    "slurm-backfill[interval=7]",
    "slurm-backfill[ordering=multifactor[age=1000000,size=100000],depth=2,queue_depth=1,full_interval=11]",
    "slurm-backfill[tick=0,interval=0,starts=1]",
]
COMPARED = ("jobs.csv", "machine_states.csv")


def tasks_of(seed: int, count: int, **more: Any) -> list[Task]:
    """Jobs with walltimes that leave time for some smaller sizes, and steps that coincide now and then."""
    rng = np.random.default_rng(seed)
    tasks = malleable_tasks(rng, HOSTS, count, **more)
    if seed % 2:
        tasks = [
            task._replace(submission=math.floor(task.submission / 3), runtime=math.ceil(task.runtime)) for task in tasks
        ]
    return [task._replace(walltime=round(task.runtime * float(rng.uniform(1.05, 4)), 3)) for task in tasks]


def run(tasks: list[Task], options: dict[str, Any], *, resting: bool, **engine: bool) -> tuple[Checked, Result]:
    layer = checked(options)
    if not resting:
        layer.policy.rests = lambda situation: False  # type: ignore[method-assign]
    options_of_engine = EngineOptions(dynamic_jobs=True, acknowledge_dynamic_jobs=engine.get("acknowledged", True))
    return layer, simulate(Machine.flat(HOSTS), tasks, layer, engine=options_of_engine)


@settings(max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    inside=st.sampled_from(INSIDE),
    policy=st.sampled_from(registry.names(POLICIES)),
    mode=st.sampled_from(["sync", "async"]),
    walltime=st.sampled_from(["left", "scaled"]),
    acknowledged=st.booleans(),
    sizes=st.sampled_from([{}, {"data": 1e9}, {"period": 2}, {"steps": 7, "data": 3e9}]),
    moldable=st.sampled_from(["asked", "fitting"]),
)
def test_whoever_rests_ends_as_if_asked_about_at_each_point(
    seed: int,
    inside: str,
    policy: str,
    mode: str,
    walltime: str,
    acknowledged: bool,
    sizes: dict[str, Any],
    moldable: str,
) -> None:
    tasks = tasks_of(seed, 30, **sizes)
    options = {"dispatcher": inside, "policy": policy, "mode": mode, "walltime": walltime, "moldable": moldable}
    layer, resting = run(tasks, options, resting=True, acknowledged=acknowledged)
    eager, asked = run(tasks, options, resting=False, acknowledged=acknowledged)
    assert {name: resting.files[name] for name in COMPARED} == {name: asked.files[name] for name in COMPARED}
    assert layer.report() == eager.report(), "what was passed counts as checked"


class Shrinker(Policy):
    """Says nothing about resting."""

    asked = 0

    def decide(self, situation: Situation) -> Any:
        self.asked += 1
        return situation.none()


def questions(policy: Policy, tasks: list[Task], dispatcher: str = "easy") -> int:
    """Return how many situations a policy is shown, resting or not."""
    layer, count = checked({"dispatcher": dispatcher}), 0
    layer.policy = policy
    decide = policy.decide

    def counted(situation: Situation) -> Any:
        nonlocal count
        count += 1
        return decide(situation)

    policy.decide = counted  # type: ignore[method-assign]
    simulate(Machine.flat(HOSTS), tasks, layer)
    assert layer.actions.checks == 999, "each point counts"
    return count


def test_a_policy_is_asked_only_when_something_happens() -> None:
    """A job with 999 points that cannot grow, and one that comes and goes meanwhile."""
    sizes = {"least": 16, "most": 16, "kind": "malleable", "steps": 1000}
    tasks = [Task("a", 0.0, 16, 1000.0, extra={"sizes": sizes}), Task("b", 500.2, 4, 10.0)]
    assert questions(registry.make(POLICIES, "dmr", Policy, "policy"), tasks) <= 4
    # Its clocks say when it acts for the one that waits.
    assert questions(registry.make(POLICIES, "dmr", Policy, "policy"), tasks, "slurm-backfill[tick=400]") <= 8
    assert questions(Shrinker(), tasks) == 999, "one that does not say that it rests is asked each time"
    # These keys change while a job waits: it might act at any call.
    assert questions(registry.make(POLICIES, "dmr", Policy, "policy"), tasks, "easy[ordering=wfp3]") == 999


class Walker(Flexible):
    """Goes from point to point."""

    def _leap(self, start: float, units: int, before: float) -> int:
        return 0

    def first_point(self, stay: Stay, time: float) -> float:
        ahead = copy(self)
        ahead.pass_points(stay, time)
        return ahead.due


@given(
    steps=st.integers(2, 5000),
    runtime=st.floats(0.01, 1e4).map(lambda value: round(value, 6)),
    start=st.floats(0, 1e6).map(lambda value: round(value, 6)),
    overhead=st.sampled_from([0.0, 0.5324, 7.25]),
    done=st.sampled_from([0.0, 0.25, 0.333333]),
    period=st.sampled_from([0.0, 0.0, 1.5]),
    shares=st.lists(st.floats(0, 1), min_size=1, max_size=4),
)
def test_points_are_passed_as_if_one_by_one(
    steps: int, runtime: float, start: float, overhead: float, done: float, period: float, shares: list[float]
) -> None:
    job = Job(id="w0!a", request=Request(units=4), profile="p")
    sizes = Sizes(1, 8, kind="malleable", steps=steps, period=period)
    leaping, walking = [kind(job, sizes, {"p": {"type": "delay", "delay": runtime}}) for kind in (Flexible, Walker)]
    # The points of the second segment lie between those of the first one.
    for begin in (start, start + 0.3 * runtime / steps):
        stay = Stay(job=job, start=begin, allocation=None)  # type: ignore[arg-type]
        moments = [begin + overhead + share * (1 - done) * runtime for share in shares]
        for flexible in (leaping, walking):
            flexible.overhead, flexible.done, flexible.checked = overhead, done, None
            flexible.due = flexible.next_point(begin, begin, 4)
            flexible.segments += 1
        for moment in (*moments, *sorted(moments)):
            assert leaping.first_point(stay, moment) == walking.first_point(stay, moment)
        for before in sorted(moments):
            assert leaping.pass_points(stay, before) == walking.pass_points(stay, before)
            assert (leaping.due, leaping.checked) == (walking.due, walking.checked)
            assert leaping.first_point(stay, moments[0]) == walking.first_point(stay, moments[0])
