"""The roll: who waits for whom when a job is killed and goes on under another name."""

from __future__ import annotations

import msgspec

from batdispatch.core.job import JobState
from batdispatch.core.roll import Roll
from strategies import make_job


def test_a_rest_that_is_not_acknowledged_yet_keeps_up_the_hope_of_those_who_wait() -> None:
    roll = Roll()
    for job in (make_job("w0!a"), make_job("w0!b", dependencies=["a"])):
        roll.enter(job)
    roll.end("w0!a", JobState.COMPLETED_KILLED)
    rest = msgspec.structs.replace(make_job("w0!a-rest"), parent="a")
    roll.registered[rest.id] = rest
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
