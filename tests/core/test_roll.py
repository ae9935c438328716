"""The roll: who waits for whom when a job is killed and goes on under another name."""

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.core.jobs.fields import read_request
from batdispatch.core.jobs.job import Job, JobState
from batdispatch.core.line.roll import Roll
from strategies import make_job


def test_a_rest_that_is_not_acknowledged_yet_keeps_up_the_hope_of_those_who_wait() -> None:
    roll = Roll()
    for job in (make_job("w0!a"), make_job("w0!b", dependencies=["a"])):
        roll.enter(job)
    roll.end("w0!a", JobState.COMPLETED_KILLED)
    rest = msgspec.structs.replace(make_job("w0!a-rest"), parent="a")
    roll.register(rest)
    assert list(roll.take_hopeless()) == []
    roll.enter(rest)
    roll.end("w0!a-rest", JobState.COMPLETED_SUCCESSFULLY)
    assert [job.id for job in roll.take_ready()] == ["w0!b"]


def test_without_a_rest_there_is_no_hope() -> None:
    roll = Roll()
    for job in (make_job("w0!a"), make_job("w0!b", dependencies=["a"])):
        roll.enter(job)
    roll.end("w0!a", JobState.COMPLETED_KILLED)
    [(job, why)] = roll.take_hopeless()
    assert (job.id, why) == ("w0!b", "depends on job w0!a, which ended COMPLETED_KILLED")


def test_a_delay_counts_from_the_end_of_the_last_segment_and_lets_go_at_that_moment() -> None:
    roll = Roll()
    after = [{"job": "a", "delay": 60}]
    for job in (make_job("w0!a"), make_job("w0!b", dependencies=after)):
        roll.enter(job)
    rest = msgspec.structs.replace(make_job("w0!a-rest"), parent="w0!a")
    roll.register(rest)
    roll.end("w0!a", JobState.COMPLETED_KILLED, 10.0)
    roll.enter(rest)
    roll.end("w0!a-rest", JobState.COMPLETED_SUCCESSFULLY, 50.0)
    assert roll.due == 110.0
    assert list(roll.take_ready(109.0)) == []
    assert [job.id for job in roll.take_ready(110.0)] == ["w0!b"], "not a moment later"


def test_who_waits_for_a_job_that_is_continued_loses_hope_when_the_last_segment_fails() -> None:
    roll = Roll()
    for job in (make_job("w0!a"), make_job("w0!b", dependencies=["a"])):
        roll.enter(job)
    rest = msgspec.structs.replace(make_job("w0!a-rest"), parent="w0!a")
    roll.register(rest)
    roll.enter(rest)
    roll.end("w0!a", JobState.COMPLETED_KILLED)
    assert list(roll.take_hopeless()) == []
    roll.end("w0!a-rest", JobState.COMPLETED_FAILED)
    [(job, why)] = roll.take_hopeless()
    assert (job.id, why) == ("w0!b", "depends on job w0!a, which ended COMPLETED_KILLED")


def test_a_circle_is_left_whole_by_nobody_who_continues_a_job_of_it() -> None:
    roll = Roll()
    roll.enter(make_job("w0!1", dependencies=["w0!0"]))
    roll.enter(msgspec.structs.replace(make_job("w0!0", dependencies=["w0!0"]), parent="w0!1"))
    hopeless = []
    for job, _ in roll.take_hopeless():
        roll.end(job.id, JobState.REJECTED)
        hopeless.append(job.id)
    assert hopeless == ["w0!1", "w0!0"], "the one that came first, then the one that waits for itself"


@settings(max_examples=100)
@given(data=st.data())
def test_who_is_ready_is_who_waits_for_nothing(data: st.DataObject) -> None:
    """Jobs come, end in any state, and are continued by announced and registered ones; against a look at all."""
    roll = Roll()
    names = [f"w0!{i}" for i in range(data.draw(st.integers(2, 9)))]
    coming = list(names)
    states = [JobState.COMPLETED_SUCCESSFULLY, JobState.COMPLETED_KILLED, JobState.COMPLETED_FAILED]
    for step in range(data.draw(st.integers(5, 30))):
        going = [name for name in roll.ranks if name not in roll.blocked]
        kind = data.draw(st.sampled_from(["enter", "end", "end", "continue"]))
        if kind == "enter" and coming:
            others = data.draw(st.lists(st.sampled_from(names), max_size=3, unique=True))
            job = make_job(coming.pop(), dependencies=others)
            parent = data.draw(st.sampled_from(["", *roll.ranks, *roll.ended]))
            roll.enter(msgspec.structs.replace(job, parent=parent))
        elif kind == "end" and going:
            roll.end(data.draw(st.sampled_from(going)), data.draw(st.sampled_from(states)))
        elif kind == "continue" and roll.ended:
            job = make_job(f"w0!again{step}")
            job = msgspec.structs.replace(job, parent=data.draw(st.sampled_from(list(roll.ended))))
            roll.register(job)
            roll.enter(job)
        expected = [job for job in roll.blocked.values() if not roll.waits_for(job)]
        assert roll.take_ready() == expected
        assert not set(roll.blocked) & {job.id for job in expected}
        for job, _ in roll.take_hopeless():
            roll.end(job.id, JobState.REJECTED)
        roll.take_ready()
        # Nobody is left without hope: no more was rejected than had to be, as that is asked before each rejection.
        assert set(roll.blocked) <= roll._hopeful()


def test_a_job_that_goes_on_is_no_reason_to_reject_who_waits_for_its_success() -> None:
    roll = Roll()
    waiting = make_job("w0!c", dependencies=["a", {"job": "b", "kind": "afternotok"}])
    for job in (make_job("w0!a"), make_job("w0!b"), waiting):
        roll.enter(job)
    rest = msgspec.structs.replace(make_job("w0!a-rest"), parent="w0!a")
    roll.register(rest)
    roll.enter(rest)
    roll.end("w0!a", JobState.COMPLETED_KILLED)
    roll.end("w0!b", JobState.COMPLETED_SUCCESSFULLY)
    assert [why for _, why in roll.take_hopeless()] == ["depends on the failure of job w0!b, which succeeded"]


def test_a_later_namesake_that_goes_on_does_not_hold_up_who_came_before_it() -> None:
    roll = Roll()
    roll.may_grow = True
    asked: dict[str, Any] = {"a": {}, "b": {"dependencies": [{"kind": "singleton"}]}, "c": {}}
    for name, fields in asked.items():
        extra = {"name": "train", **fields}
        roll.enter(Job(id=f"w0!{name}", request=read_request(1, extra), extra=extra))
    rest = msgspec.structs.replace(make_job("w0!c-rest"), parent="w0!c")
    roll.register(rest)
    roll.end("w0!c", JobState.COMPLETED_KILLED)
    roll.enter(rest)
    roll.end("w0!a", JobState.COMPLETED_SUCCESSFULLY)
    roll.settle()
    assert [job.id for job in roll.take_ready()] == ["w0!b"]


def roll_with_a_killed_job() -> Roll:
    """Return a roll in which w0!b depends on w0!a, which was killed and may be continued."""
    roll = Roll()
    roll.may_grow = True
    for job in (make_job("w0!a"), make_job("w0!b", dependencies=["a"])):
        roll.enter(job)
    roll.end("w0!a", JobState.COMPLETED_KILLED)
    return roll


def test_a_killed_job_may_be_continued_until_the_dispatcher_has_decided_with_the_answer_to_the_kill() -> None:
    roll = roll_with_a_killed_job()
    for decided in (False, True, False, True):
        roll.settle(decided=decided)
        assert list(roll.take_hopeless()) == [], "the answer has not come"
    roll.answer_kill(["w0!a"])
    roll.settle(decided=False)
    assert list(roll.take_hopeless()) == []
    roll.settle(decided=True)
    assert [job.id for job, _ in roll.take_hopeless()] == ["w0!b"]


def test_a_killed_job_is_over_without_an_answer_when_nothing_more_can_be_registered() -> None:
    roll = roll_with_a_killed_job()
    roll.settle()
    assert list(roll.take_hopeless()) == []
    roll.may_grow = False
    roll.settle()
    assert [job.id for job, _ in roll.take_hopeless()] == ["w0!b"]
