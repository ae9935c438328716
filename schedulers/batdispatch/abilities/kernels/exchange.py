"""Tells the exchange that the engine in Python would have had with the dispatcher, from what became of the jobs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from batdispatch.abilities.kernels.files import states_of
from batdispatch.abilities.kernels.shared_hosts import SharedHosts
from batdispatch.abilities.kernels.simulate import Schedule
from batdispatch.abilities.kernels.state import ENDS, KINDS, REJECTS, Jobs
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import FINAL_STATES, JobState
from batdispatch.core.line import events as e
from batdispatch.core.line.decisions import Decision, Execute, Reject
from batdispatch.core.line.messages import Message, Reply
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.embedded import as_submitted, beginning
from batdispatch.engines.records import EngineOptions
from batdispatch.inputs.workloads import Workload


def exchange_of(
    machine: Machine, workload: Workload, jobs: Jobs, schedule: Schedule
) -> Iterator[tuple[Message, Reply]]:
    """Yield each message with its answer, for a dispatcher that never asks to be called.

    Args:
        machine: what the jobs ran on.
        workload: the jobs as objects.
        jobs: the same jobs, as the kernel had them.
        schedule: what became of them.
    """
    begins = beginning(machine, workload, EngineOptions(), sharing=not machine.exclusive, at_once=True)
    yield Message(0.0, [begins]), Reply(0.0, [])
    if not workload.jobs:
        yield Message(0.0, [e.NoMoreStaticJobs(0.0)]), Reply(0.0, [])
    teller, now = _Teller(workload, jobs, schedule), 0.0
    for now, submitted, ended, decided in _moments(jobs, schedule):
        events = [*teller.submissions(now, submitted), *(teller.end(now, line // KINDS) for line in ended)]
        yield Message(now, events), Reply(now, [teller.decision(now, line) for line in decided])
    yield Message(now, [e.SimulationEnds(now)]), Reply(now, [])


class _Moment(NamedTuple):
    """What one message tells, and what is decided in the answer: ranks of jobs, and lines of the log."""

    now: float
    submitted: range
    ended: list[int]
    decided: list[int]


def _moments(jobs: Jobs, schedule: Schedule) -> Iterator[_Moment]:
    """Yield the moments in order; what ends at the moment of its start has a message of its own."""
    kinds, who = schedule.log % KINDS, schedule.log // KINDS
    # A job is rejected when it comes.
    times = np.choose(kinds, [schedule.end[who], schedule.start[who], jobs.submission[who]])
    submission, moments = [*jobs.submission.tolist(), math.inf], [*times.tolist(), math.inf]
    log, ends, at, told = schedule.log.tolist(), [*(kinds == ENDS).tolist(), False], 0, 0
    while (now := min(submission[told], moments[at])) < math.inf:
        first, begin = told, at
        while submission[told] <= now:
            told += 1
        while ends[at] and moments[at] <= now:
            at += 1
        middle = at
        while not ends[at] and moments[at] <= now:
            at += 1
        yield _Moment(now, range(first, told), log[begin:middle], log[middle:at])


class _Teller:
    """Says of a job, by rank, what happened to it."""

    def __init__(self, workload: Workload, jobs: Jobs, schedule: Schedule) -> None:
        self._jobs, self._submission = workload.jobs, jobs.submission.tolist()
        self._states = states_of(jobs.said, jobs, schedule, np.arange(len(jobs.units))).tolist()
        self._codes = jobs.said.code[jobs.said.profile].tolist()
        self._at, self._runs = schedule.at.tolist(), schedule.runs.tolist()
        self._shared = None if schedule.counts is None else SharedHosts(schedule)
        self._bounds = np.stack([schedule.first, schedule.last + 1], axis=1)
        #: Of the jobs that run.
        self._allocations: dict[int, Allocation] = {}

    def submissions(self, now: float, ranks: range) -> Iterator[e.Event]:
        """Yield that jobs are submitted, and that none is left if so."""
        for rank in ranks:
            yield e.JobSubmitted(now, as_submitted(self._jobs[rank], self._submission[rank]))
            if rank == len(self._jobs) - 1:
                yield e.NoMoreStaticJobs(now)

    def end(self, now: float, rank: int) -> e.JobCompleted:
        """Say that a job has ended."""
        state = FINAL_STATES[self._states[rank]]
        code = -1 if state is JobState.COMPLETED_WALLTIME_REACHED else self._codes[rank]
        return e.JobCompleted(now, f"w0!{self._jobs[rank].id}", state, code, self._allocations.pop(rank))

    def decision(self, now: float, line: int) -> Decision:
        """Say that a job starts or is rejected, as a line of the log has it."""
        rank, at = line // KINDS, self._at[line // KINDS]
        name = f"w0!{self._jobs[rank].id}"
        if line % KINDS == REJECTS:
            return Reject(now, name)
        bounds = tuple(self._bounds[at : at + self._runs[rank]].ravel().tolist())
        counts = None if self._shared is None else self._shared.counts(rank)
        self._allocations[rank] = Allocation(counts=counts, bounds=bounds)
        return Execute(now, name, self._allocations[rank])
