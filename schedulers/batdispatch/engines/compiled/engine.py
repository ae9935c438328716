"""A compiled simulation from the workload to the files."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numba

from batdispatch import __version__
from batdispatch.core.capacity import space_of
from batdispatch.core.impossible import why_never
from batdispatch.core.machine import Machine
from batdispatch.dispatchers.backfilling.queue import QueueDispatcher
from batdispatch.engines.compiled.columns import jobs_of, runs_of
from batdispatch.engines.compiled.simulate import simulate
from batdispatch.engines.compiled.state import ENDED, KINDS, REJECTED
from batdispatch.engines.compiled.writing import write
from batdispatch.engines.outputs import Outputs
from batdispatch.inputs.workloads.columns import JobColumns, PlainWorkload

#: What compiles.
VERSION = f"Numba {numba.__version__}"


class Told(NamedTuple):
    """What a session would know at the end.

    Attributes:
        messages: number of messages that the engine would have exchanged.
        rejections: (job id, reason) of every rejected job.
    """

    messages: int
    rejections: list[tuple[str, str]]


def run(
    machine: Machine,
    workload: PlainWorkload,
    dispatcher: QueueDispatcher,
    outputs: Outputs,
    progress: Callable[[int], None] | None = None,
) -> Told:
    """Simulate a workload that may be compiled, and write the output files; on any failure none appears.

    The dispatcher learns how good its predictions were, for its report.

    Args:
        machine: the hosts.
        workload: the jobs.
        dispatcher: as `applies.why_not` was asked about it.
        outputs: the files.
        progress: called with the number of jobs that have ended.
    """
    began = time.perf_counter()
    try:
        jobs = jobs_of(workload.jobs, dispatcher)
        schedule = simulate(jobs, runs_of(machine), dispatcher, progress)
        write(
            outputs,
            workload.jobs,
            machine,
            jobs,
            schedule,
            version=f"batdispatch {__version__} embedded, {VERSION}",
            seconds=time.perf_counter() - began,
        )
    except BaseException:
        outputs.discard()
        raise
    kinds, who = schedule.log % KINDS, schedule.log // KINDS
    ended = who[kinds == ENDED]
    dispatcher.predictions.ended_at(jobs.expected[ended].tolist(), (schedule.end - schedule.start)[ended].tolist())
    if progress is not None:
        progress(len(workload.jobs))
    return Told(schedule.messages, _rejections(machine, workload.jobs, who[kinds == REJECTED].tolist()))


def _rejections(machine: Machine, jobs: JobColumns, ranks: list[int]) -> list[tuple[str, str]]:
    space = space_of(machine)
    return [(f"w0!{jobs.ids[rank]}", why_never(space, jobs.job(rank))) for rank in ranks]
