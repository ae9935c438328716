"""A compiled simulation from the workload to the files."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from batdispatch import __version__
from batdispatch.abilities.kernels.columns import is_slurm, jobs_of, runs_of
from batdispatch.abilities.kernels.energy import EnergyRows
from batdispatch.abilities.kernels.exchange import exchange_of
from batdispatch.abilities.kernels.files import write
from batdispatch.abilities.kernels.library import KERNELS
from batdispatch.abilities.kernels.multifactor import with_factors
from batdispatch.abilities.kernels.nodes import Demands, demands_of
from batdispatch.abilities.kernels.reasons import columns_for
from batdispatch.abilities.kernels.simulate import Schedule, schedule_of
from batdispatch.abilities.kernels.sleepers import inside, power_layer, sleepers_of
from batdispatch.abilities.kernels.state import ENDS, KINDS, REJECTS, Ints, Jobs
from batdispatch.abilities.power.results.metrics import NAME as POWER
from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.capacity.impossible import why_never
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.machine.machine import Machine
from batdispatch.core.machine.openings import TOO_LATE
from batdispatch.core.machine.site import names_several
from batdispatch.dispatchers.backfilling.queue import QueueDispatcher
from batdispatch.engines.choices import CountEnergy
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.simulation import Outcome, Record, Refusal, Task
from batdispatch.inputs.workloads.columns import JobColumns

#: What simulates, with what was built.
VERSION = KERNELS.path().stem


def simulate(
    task: Task, out: Path, progress: Callable[[int], None] | None = None, record: Record | None = None
) -> Outcome:
    """Simulate a task for which `reasons.why_not` knows no reason, and hand its exchange on; for the rest see `run`."""
    machine, dispatcher, jobs = task.platform.machine, task.dispatcher, columns_for(task)
    assert isinstance(jobs, JobColumns)
    tell = None if record is None else lambda *of: record(exchange_of(machine, task.workload.workload(), *of))
    return run(machine, jobs, dispatcher, Outputs(out, len(machine.hosts)), progress, tell, task.energy)


def run(
    machine: Machine,
    said: JobColumns,
    outermost: Dispatcher,
    outputs: Outputs,
    progress: Callable[[int], None] | None = None,
    tell: Callable[[Jobs, Schedule], None] | None = None,
    count: CountEnergy | None = None,
) -> Outcome:
    """Simulate jobs that may be compiled, and write the output files; on any failure none appears.

    The dispatcher learns how good its predictions were, for its report.

    Args:
        machine: the hosts.
        said: the jobs of the workload.
        outermost: the dispatcher, as `applies.why_never` was asked about it.
        outputs: the files.
        progress: called with the number of jobs that have ended.
        tell: called with the jobs and what became of them.
        count: how energy is counted; None: it is not.

    Raises:
        Refusal: the kernel cannot go on.
    """
    began = time.perf_counter()
    dispatcher, layer = inside(outermost), power_layer(outermost)
    assert isinstance(dispatcher, QueueDispatcher)
    try:
        jobs = jobs_of(said, dispatcher)
        demands = None if said.told is None else demands_of(machine, jobs)
        if demands is not None:
            _refuse_choices(machine, said, demands, dispatcher)
            jobs = demands.limited(jobs)
        jobs = with_factors(jobs, dispatcher, machine, demands)
        sleeps = layer is not None and layer.sleep is not None
        sleepers = sleepers_of(layer, machine, len(said)) if layer is not None and sleeps else None
        schedule = schedule_of(jobs, runs_of(machine), dispatcher, progress, demands, sleepers)
        energy = None if count is None else EnergyRows(machine, count, jobs, schedule)
        if tell is not None:
            tell(jobs, schedule)
        # Whatever goes through all jobs does so before the rows are made, which take most of the memory.
        _learn(dispatcher, jobs, schedule)
        rejections = _rejections(machine, said, _who(schedule, REJECTS).tolist(), demands)
        # What is used of each resource, the jobs say.
        users = None if demands is not None else said.user[_who(schedule, ENDS, REJECTS)]
        version = f"batdispatch {__version__} embedded, {VERSION}"
        seconds = time.perf_counter() - began
        rows = write(outputs, said, machine, jobs, schedule, version=version, seconds=seconds, energy=energy)
    except BaseException:
        outputs.discard()
        raise
    if layer is not None and sleepers is not None:
        layer.switches, layer.booted = sleepers.put_to_sleep, sleepers.booted
    if progress is not None:
        progress(len(said))
    return Outcome(
        engine={
            "name": "embedded",
            "version": __version__,
            "simgrid": None,
            **({} if count is None else {"energy": count}),
            "compiled": VERSION,
        },
        messages=schedule.messages,
        rows=rows,
        report=outermost.report(),
        rejections=rejections,
        users=None if users is None else np.array(said.users, dtype=object)[users],
        digests=outputs.digests(),
        known={} if energy is None else {POWER: energy.rows},
    )


def _refuse_choices(machine: Machine, jobs: JobColumns, demands: Demands, dispatcher: QueueDispatcher) -> None:
    """Leave jobs to the embedded engine that choose among parts of the machine.

    Raises:
        Refusal: there are such jobs.
    """
    if any(need.request.choices for need in demands.needs):
        raise Refusal("a job may run in one of several parts of the machine, and kernels know one part a job")
    if machine.site is not None and is_slurm(dispatcher) and any(map(names_several, jobs.told or ())):
        raise Refusal("a job names several partitions, and the kernel of slurm-backfill tries one a job")


def _who(schedule: Schedule, *kinds: int) -> Ints:
    """Return the jobs to which something of these kinds happened, in its order."""
    return schedule.log[np.isin(schedule.log % KINDS, kinds)] // KINDS


def _learn(dispatcher: QueueDispatcher, jobs: Jobs, schedule: Schedule) -> None:
    """Let a dispatcher learn how good its predictions were."""
    if dispatcher.predictions.exact_requests:
        ended = _who(schedule, ENDS)
        dispatcher.predictions.ended_at(jobs.expected[ended], (schedule.end - schedule.start)[ended])


def _rejections(machine: Machine, jobs: JobColumns, ranks: list[int], demands: Demands | None) -> list[tuple[str, str]]:
    if demands is not None:
        return [(f"w0!{jobs.ids[rank]}", demands.never.get(rank, TOO_LATE)) for rank in ranks]
    space = space_of(machine)
    return [(f"w0!{jobs.ids[rank]}", why_never(space, jobs.job(rank))) for rank in ranks]
