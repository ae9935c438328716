"""The naive policies against cases worked out by hand, an oracle, and the dispatchers of the package."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.verify.differ.cases import CASES, Case
from batdispatch.abilities.verify.differ.textbook import ENDLESS, Departure, RigidJob, Rules, simulate
from batdispatch.abilities.verify.differ.variants import (
    AMONG_EQUAL,
    DEFINITIONS,
    EVENT_ORDERS,
    MISTAKES,
    OVERRUN,
    rules_of,
)
from batdispatch.core.machine.machine import Machine
from batdispatch.testing import Task
from batdispatch.testing import simulate as run

ORACLE = json.loads((Path(__file__).parents[3] / "oracles" / "backfilling" / "easy_cases.json").read_text())
VARIANTS = {variant.name: variant for variant in (*MISTAKES, *EVENT_ORDERS, *AMONG_EQUAL, *OVERRUN)}
#: What the oracle exposes -> our name for it.
EXPOSED = {
    "shadow time from real ends": "real-ends",
    "backfill candidates judged by real run time": "real-lengths",
    "no extra nodes": "no-extra-nodes",
    "no reservation at the instant at which the head starts": "no-promise-after-a-start",
    "all real times": "all-real-times",
}
#: Policy -> our dispatcher that does the same where no two things happen at one moment.
OURS = {
    "fcfs": "fcfs",
    "easy": "easy",
    "easy-sjbf": "easy[backfill=sjf]",
    "conservative": "conservative",
    "filling": "filler",
    "sjf-filling": "filler[ordering=sjf]",
}


def in_seconds(starts: list[int | None] | Departure) -> list[float | None]:
    assert isinstance(starts, list)
    return [None if start is None else start / 1e6 for start in starts]


def rules_with(case: Case, name: str) -> Rules:
    true = rules_of(case.policy, case.hosts)
    if name in VARIANTS:
        return VARIANTS[name].of(true)
    return rules_of(name, case.hosts) if name in DEFINITIONS else rules_of(case.policy, int(name.partition(" ")[0]))


def ours(jobs: list[RigidJob], hosts: int, dispatcher: str) -> list[float]:
    tasks = [Task(job.id, job.submission / 1e6, job.units, job.runtime / 1e6, job.walltime / 1e6) for job in jobs]
    starts = run(Machine.flat(hosts), tasks, dispatcher).starts()
    return [starts[job.id] for job in jobs]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_case_has_the_starts_worked_out_by_hand(case: Case) -> None:
    assert in_seconds(simulate(case.jobs, rules_of(case.policy, case.hosts))) == list(case.starts)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_case_reveals_what_it_says(case: Case) -> None:
    assert in_seconds(simulate(case.jobs, rules_with(case, case.reveals))) != list(case.starts)


def test_every_mistake_has_a_case() -> None:
    assert {mistake.name for mistake in MISTAKES} <= {case.reveals for case in CASES}


@pytest.mark.parametrize("case", [case for case in CASES if case.name != "equal-submissions"], ids=str)
@pytest.mark.parametrize("policy", OURS)
def test_our_dispatchers_give_the_expected_starts(case: Case, policy: str) -> None:
    assert ours(case.jobs, case.hosts, OURS[policy]) == in_seconds(simulate(case.jobs, rules_of(policy, case.hosts)))


@pytest.mark.parametrize("number", range(len(ORACLE)))
def test_easy_and_its_deviations_agree_with_the_oracle(number: int) -> None:
    case = ORACLE[number]
    jobs = [
        RigidJob(str(index), submit * 10**6, nodes, wall * 10**6, run * 10**6)
        for index, (submit, nodes, run, wall) in enumerate(case["jobs"])
    ]
    easy = Rules("easy", case["nodes"])
    assert in_seconds(simulate(jobs, easy)) == case["starts"]
    deviating = VARIANTS[EXPOSED[case["exposes"]]].of(easy)
    assert in_seconds(simulate(jobs, deviating)) == case["deviating"]


@st.composite
def workloads(draw: st.DrawFn) -> tuple[list[RigidJob], int]:
    hosts = draw(st.integers(1, 8))
    rows = draw(
        st.lists(
            st.tuples(st.integers(0, 9), st.integers(1, hosts), st.integers(1, 30), st.integers(-4, 20)),
            min_size=1,
            max_size=14,
        )
    )
    now, jobs = 0, []
    for number, (later, units, runtime, over) in enumerate(rows):
        now += later
        jobs.append(RigidJob(f"{number:02}", now * 10**6, units, max(runtime + over, 1) * 10**6, runtime * 10**6))
    return jobs, hosts


@pytest.mark.parametrize("policy", [policy for policy in OURS if policy != "conservative"])
@given(made=workloads())
def test_our_dispatchers_agree_on_random_workloads(policy: str, made: tuple[list[RigidJob], int]) -> None:
    # Conservative is left out: ours plans particular hosts, where the textbook counts processors.
    jobs, hosts = made
    assert ours(jobs, hosts, OURS[policy]) == in_seconds(simulate(jobs, rules_of(policy, hosts)))


@given(made=workloads(), policy=st.sampled_from(sorted(DEFINITIONS)))
def test_no_schedule_needs_more_than_the_machine(made: tuple[list[RigidJob], int], policy: str) -> None:
    jobs, hosts = made
    starts = simulate(jobs, rules_of(policy, hosts))
    assert isinstance(starts, list)
    spans = [
        (start, start + min(job.runtime, job.walltime), job)
        for job, start in zip(jobs, starts, strict=True)
        if start is not None
    ]
    assert len(spans) == len(jobs)
    assert all(start >= job.submission for start, _, job in spans)
    for moment, _, _ in spans:
        assert sum(job.units for start, end, job in spans if start <= moment < end) <= hosts


@given(made=workloads(), plan=st.sampled_from(["compress", "keep"]))
def test_conservative_keeps_its_promises(made: tuple[list[RigidJob], int], plan: str) -> None:
    jobs, hosts = made
    starts = simulate(jobs, Rules("conservative", hosts, plan=plan))
    assert isinstance(starts, list)
    for last, job in enumerate(jobs):
        # What is promised at a job's submission is when it would start if all took what they asked for and nobody
        # came after it.
        told = [
            other._replace(runtime=other.walltime) if in_the_future(other, start, job.submission) else other
            for other, start in zip(jobs[: last + 1], starts, strict=False)
        ]
        promised = simulate(told, Rules("conservative", hosts, plan=plan))
        assert isinstance(promised, list)
        assert starts[last] <= promised[last]


def in_the_future(job: RigidJob, start: int | None, now: int) -> bool:
    """Whether a job has not ended by some moment."""
    assert start is not None
    return start + min(job.runtime, job.walltime) > now


def test_a_simulation_stops_where_it_parts() -> None:
    case = CASES[0]
    starts = [start * 10**6 for start in case.starts]
    rules = rules_of(case.policy, case.hosts)
    assert simulate(case.jobs, rules, starts) == starts
    late = [starts[0], starts[1] + 2, starts[2]]
    assert simulate(case.jobs, rules, late) == Departure(1, starts[1], 2)
    assert simulate(case.jobs, rules, late, tolerance=2) == starts
    assert simulate(case.jobs, rules, [starts[0], starts[1] + 3, starts[2]], tolerance=2) == Departure(1, starts[1], 2)


def test_a_job_larger_than_the_machine_never_starts() -> None:
    jobs = [RigidJob("1", 0, 3, 5, 5), RigidJob("2", 0, 2, 5, 5)]
    assert simulate(jobs, Rules("easy", 2)) == [None, 0]
    assert simulate(jobs, Rules("easy", 2), [0, 0]) == Departure(0, None, 1)


def test_without_requested_times_nothing_is_held_back() -> None:
    jobs = [RigidJob("1", 0, 1, ENDLESS, 9), RigidJob("2", 1, 2, ENDLESS, 9), RigidJob("3", 2, 1, ENDLESS, 9)]
    assert simulate(jobs, Rules("easy", 2)) == [0, 11, 2]
