"""What a job may wait for beside the success of another one: by hand, and for all sequences of events at random."""

import math
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.core.jobs.job import Job, JobState
from batdispatch.core.line.roll import Roll
from batdispatch.core.machine.machine import Machine
from simulating import Result, Task, micro, reasons, simulate
from strategies import make_job

OK, FAILED, REJECTED = JobState.COMPLETED_SUCCESSFULLY, JobState.COMPLETED_FAILED, JobState.REJECTED


def waits(*dependencies: Any, **fields: Any) -> dict[str, Any]:
    return {"dependencies": list(dependencies), **fields}


def run(*tasks: Task, hosts: int = 4, dispatcher: str = "fcfs", decision_time: float = 0.0) -> Result:
    return simulate(Machine.flat(hosts), tasks, dispatcher, decision_time=decision_time)


# ---------------------------------------------------------------------- kinds


@pytest.mark.parametrize(
    ("kind", "ends_well", "killed"),
    [("afterok", 10.0, None), ("afterany", 10.0, 6.0), ("afternotok", None, 6.0), ("after", 2.0, 2.0)],
)
def test_each_kind_waits_for_what_its_name_says(kind: str, ends_well: float | None, killed: float | None) -> None:
    for walltime, expected in ((math.inf, ends_well), (4.0, killed)):
        # Job 0 holds the whole machine until 2.
        first = [Task("0", 0.0, 4, 2.0), Task("a", 0.0, 1, 8.0, walltime)]
        result = run(*first, Task("b", 1.0, 1, 3.0, extra=waits({"job": "a", "kind": kind})))
        assert result.starts().get("b") == expected
        assert set(reasons(result)) == ({"b"} if expected is None else set())


def test_a_delay_counts_from_what_was_waited_for() -> None:
    asked = {
        "ok": ({"job": "a", "delay": 5}, 13.0),
        "any": ({"job": "a", "kind": "afterany", "delay": 0.25}, 8.25),
        "begun": ({"job": "a", "kind": "after", "delay": 60}, 60.0),
        "past": ({"job": "a", "kind": "after", "delay": 3}, 3.0),
    }
    tasks = [Task(name, 1.0, 1, 1.0, extra=waits(one)) for name, (one, _) in asked.items()]
    starts = run(Task("a", 0.0, 1, 8.0), *tasks).starts()
    assert {name: starts[name] for name in asked} == {name: start for name, (_, start) in asked.items()}


def test_a_think_time_begins_when_the_job_before_has_ended_whenever_the_next_one_is_submitted() -> None:
    after = {"job": "a", "kind": "afterany", "delay": 10}
    starts = run(
        Task("a", 0.0, 1, 8.0), Task("b", 12.0, 1, 1.0, extra=waits(after)), Task("c", 30.0, 1, 1.0, extra=waits(after))
    ).starts()
    assert (starts["b"], starts["c"]) == (18.0, 30.0), "the later of its own submission and the end of thinking"


def test_who_waits_for_the_end_of_a_rejected_job_goes_on() -> None:
    result = run(
        Task("big", 0.0, 9, 1.0),
        Task("any", 0.0, 1, 1.0, extra=waits({"job": "big", "kind": "afterany"})),
        Task("bad", 0.0, 1, 1.0, extra=waits({"job": "big", "kind": "afternotok"})),
        Task("begun", 0.0, 1, 1.0, extra=waits({"job": "big", "kind": "after"})),
        Task("ok", 0.0, 1, 1.0, extra=waits("big")),
    )
    assert set(result.starts()) == {"any", "bad", "begun"}
    assert reasons(result)["ok"] == "depends on job w0!big, which ended REJECTED"


def test_what_can_never_be_met_is_said() -> None:
    result = run(
        Task("a", 0.0, 1, 2.0),
        Task("fails", 0.0, 1, 2.0, extra=waits({"job": "a", "kind": "afternotok"})),
        Task("then", 0.0, 1, 2.0, extra=waits("fails")),
        Task("lost", 0.0, 1, 2.0, extra=waits({"job": "nobody", "kind": "afterany"})),
    )
    assert reasons(result) == {
        "fails": "depends on the failure of job w0!a, which succeeded",
        "then": "depends on job w0!fails, which ended REJECTED",
        "lost": "depends on job w0!nobody, which was never submitted",
    }


def test_of_a_circle_one_job_is_rejected_and_who_only_waits_for_its_end_goes_on() -> None:
    result = run(
        Task("outside", 0.0, 1, 1.0, extra=waits({"job": "b", "kind": "afterany"})),
        Task("b", 0.0, 1, 1.0, extra=waits({"job": "c", "kind": "afterany"})),
        Task("c", 0.0, 1, 1.0, extra=waits({"job": "b", "kind": "afterany"})),
    )
    assert reasons(result) == {"b": "depends on job w0!c, which depends on it in turn"}
    assert result.starts() == {"outside": 0.0, "c": 0.0}


def test_the_end_of_a_stochastic_job_is_that_of_its_last_attempt() -> None:
    law = {"runtime_law": "uniform:1,20", "history": [3.0, 9.0, 12.0]}
    result = run(
        Task("a", 0.0, 1, 12.0, 100.0, extra=law),
        Task("b", 0.0, 1, 1.0, extra=waits({"job": "a", "kind": "afterany"})),
        Task("c", 0.0, 1, 1.0, extra=waits({"job": "a", "kind": "afternotok"})),
        dispatcher="attempts[dispatcher=fcfs,requests=factor]",
    )
    attempts = [row for row in result.rows.values() if row.id.partition("~")[0] == "a"]
    assert len(attempts) > 1, "one attempt fails"
    assert micro(result.starts()["b"]) == max(row.end for row in attempts)
    assert reasons(result) == {"c": "depends on the failure of job w0!a, which succeeded"}


# ---------------------------------------------------------------------- namesakes and arrays


def test_jobs_of_one_user_and_name_run_one_at_a_time() -> None:
    alone = waits({"kind": "singleton"}, name="train")
    result = run(
        Task("1", 0.0, 1, 5.0, user="ada", extra={"name": "train"}),
        Task("2", 1.0, 1, 5.0, user="ada", extra=alone),
        Task("3", 2.0, 1, 5.0, user="bob", extra=alone),
        Task("4", 3.0, 1, 5.0, user="ada", extra={"name": "train"}),
        Task("5", 3.5, 1, 5.0, user="ada", extra=alone),
        Task("6", 3.6, 1, 5.0, user="ada", extra=waits({"kind": "singleton"}, name="other")),
    )
    assert result.starts() == {"1": 0.0, "2": 5.0, "3": 2.0, "4": 3.0, "5": 10.0, "6": 3.6}


def test_no_more_tasks_of_an_array_run_than_its_limit() -> None:
    tasks = [
        Task(f"t{index}", 0.0, 1, 4.0 - index / 2, extra={"array": {"id": "A", "index": index, "limit": 2}})
        for index in range(5)
    ]
    others = [Task("u", 0.0, 1, 1.0, extra={"array": {"id": "B", "index": 0, "limit": 1}}), Task("v", 0.0, 1, 1.0)]
    starts = run(*tasks, *others, hosts=8).starts()
    assert starts == {"t0": 0.0, "t1": 0.0, "u": 0.0, "v": 0.0, "t2": 3.5, "t3": 4.0, "t4": 6.5}


@pytest.mark.parametrize("first", [1.0, 0.0])
def test_who_follows_a_task_that_is_rejected_asks_its_own_limit(first: float) -> None:
    """Task 1 has another limit than the others of its array, and is rejected while they wait, or when they come."""
    limit = {"id": "A", "index": 0, "limit": 1}
    result = run(
        Task("0", 0.0, 1, 4.0, extra={"array": limit}),
        Task("1", first, 99, 1.0, extra={"array": limit | {"index": 1, "limit": 2}}),
        Task("2", 1.0, 1, 3.0, extra={"array": limit | {"index": 2}}),
        Task("3", 1.0, 1, 2.0, extra={"array": limit | {"index": 3}}),
    )
    assert set(reasons(result)) == {"1"}
    assert result.starts() == {"0": 0.0, "2": 4.0, "3": 7.0}


def test_a_task_of_an_array_waits_for_its_dependencies_without_taking_another_ones_turn() -> None:
    limit = {"id": "A", "index": 0, "limit": 1}
    result = run(
        Task("a late", 0.0, 1, 1.0, extra=waits("x", array=limit)),
        Task("b soon", 0.0, 1, 2.0, extra={"array": limit | {"index": 1}}),
        Task("c huge", 0.0, 99, 2.0, extra={"array": limit | {"index": 2}}),
        Task("d next", 0.0, 1, 3.0, extra={"array": limit | {"index": 3}}),
        Task("x", 0.0, 1, 4.0),
    )
    assert result.starts() == {"b soon": 0.0, "x": 0.0, "d next": 2.0, "a late": 5.0}
    assert set(reasons(result)) == {"c huge"}


def test_decisions_that_take_time_let_a_delay_begin_when_the_job_starts() -> None:
    result = run(
        Task("a", 0.0, 1, 50.0),
        Task("b", 0.0, 1, 1.0, extra=waits({"job": "a", "kind": "after", "delay": 10})),
        decision_time=2.0,
    )
    # The decision that asks for the call takes effect when the call is due: it comes a millisecond later.
    assert result.starts() == {"a": 4.0, "b": 16.001}


# ---------------------------------------------------------------------- at random

KINDS = ("afterok", "afterany", "afternotok", "after")


@settings(max_examples=100)
@given(data=st.data())
def test_who_may_go_is_who_may_go_by_a_look_at_all_that_happened(data: st.DataObject) -> None:
    """Jobs come, start and end at random; a naive reading of the whole history says who is blocked."""
    roll, now = Roll(), 0.0
    names = [f"w0!{number}" for number in range(data.draw(st.integers(2, 7)))]
    coming, jobs, starts, ends = list(names), {}, {}, {}
    released: list[str] = []

    def may_go(job: Job) -> bool:
        for one in job.request.dependencies:
            state, moment = ends.get(one.job, (None, math.inf))
            since = {
                "afterok": moment if state is OK else math.inf,
                "afterany": moment,
                "afternotok": math.inf if state is OK else moment,
                "after": starts.get(one.job, moment),
            }[one.kind]
            if since + one.delay > now:
                return False
        return True

    for _ in range(data.draw(st.integers(4, 25))):
        now += data.draw(st.sampled_from([0.0, 1.0, 2.5]))
        visible = [name for name in roll.ranks if name not in roll.blocked]
        kind = data.draw(st.sampled_from(["enter", "enter", "start", "end"]))
        if kind == "enter" and coming:
            said = data.draw(
                st.lists(
                    st.tuples(st.sampled_from(names), st.sampled_from(KINDS), st.sampled_from([0.0, 2.0])),
                    max_size=2,
                    unique_by=lambda one: one[:2],
                )
            )
            asked = [{"job": job, "kind": how, "delay": delay} for job, how, delay in said]
            job = make_job(coming.pop(), dependencies=asked)
            jobs[job.id] = job
            if not roll.enter(job, now):
                assert may_go(job)
                released.append(job.id)
        elif kind == "start" and (ready := [name for name in visible if name not in starts]):
            name = data.draw(st.sampled_from(ready))
            starts[name] = now
            roll.begin(name, now)
        elif kind == "end" and (running := [name for name in visible if name in starts]):
            name, state = data.draw(st.sampled_from(running)), data.draw(st.sampled_from([OK, FAILED]))
            ends[name] = (state, now)
            roll.end(name, state, now)
        ready_now = roll.take_ready(now)
        assert all(may_go(job) for job in ready_now)
        released += [job.id for job in ready_now]
        for name, job in jobs.items():
            assert (name in roll.blocked) == (name not in released)
            if name not in released and name not in ends:
                assert not may_go(job), f"{name} is kept back at {now} s"
        assert roll.due > now


def test_a_segment_that_may_still_come_keeps_an_end_open_until_the_dispatcher_has_decided() -> None:
    roll = Roll()
    roll.may_grow = True
    for job in (make_job("w0!a"), make_job("w0!b", dependencies=[{"job": "a", "kind": "afterany"}])):
        roll.enter(job)
    roll.end("w0!a", JobState.COMPLETED_KILLED, 3.0)
    assert roll.take_ready(3.0) == []
    rest = msgspec.structs.replace(make_job("w0!a-rest"), parent="a")
    roll.register(rest)
    roll.settle()
    assert roll.take_ready(3.0) == []
    roll.enter(rest, 3.0)
    roll.end("w0!a-rest", FAILED, 5.0)
    roll.settle()
    assert [job.id for job in roll.take_ready(5.0)] == ["w0!b"]


def test_a_simulation_does_not_end_while_a_job_waits_for_its_time() -> None:
    result = run(Task("a", 0.0, 1, 1.0), Task("b", 0.0, 1, 1.0, extra=waits({"job": "a", "delay": 1000})))
    assert result.starts()["b"] == 1001.0
