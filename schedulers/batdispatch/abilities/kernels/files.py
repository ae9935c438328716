"""Writes the files of a compiled simulation, the same as the embedded engine's."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.kernels.energy import EnergyRows
from batdispatch.abilities.kernels.library import call
from batdispatch.abilities.kernels.shared_hosts import SharedHosts
from batdispatch.abilities.kernels.simulate import Schedule
from batdispatch.abilities.kernels.state import KINDS, REJECTS, STARTS, Floats, Ints, Jobs
from batdispatch.core.jobs.job import FINAL_STATES, JobState
from batdispatch.core.jobs.job_table import JobTable
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.blocks import write_rows
from batdispatch.engines.job_rows import REJECTED, EndedJobs, HostsOf, TextOf
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.world import HALF_TICK
from batdispatch.inputs.workloads.columns import JobColumns
from batdispatch.native import record

#: Jobs, or changes, that are looked at together.
_BLOCK = 1 << 14


def write(
    outputs: Outputs,
    said: JobColumns,
    machine: Machine,
    jobs: Jobs,
    schedule: Schedule,
    *,
    version: str,
    seconds: float,
    energy: EnergyRows | None = None,
) -> JobTable | None:
    """Write all files, and give them their names.

    Args:
        outputs: the files.
        said: the jobs of the workload.
        machine: what they ran on.
        jobs: the same jobs, as the kernel had them.
        schedule: what became of them.
        version: of what simulated.
        seconds: that this took.
        energy: what the hosts burnt; None: it was not counted.

    Returns:
        The rows of jobs.csv; None: there is none.
    """
    log = schedule.log[schedule.log % KINDS != STARTS]
    over = log // KINDS
    nodes = None if schedule.counts is None else SharedHosts(schedule)
    changes = None if nodes is None else nodes.changes()
    rows = _write_jobs(outputs, said, jobs, schedule, over, log % KINDS == REJECTS, nodes, energy)
    ended = over[rows.final_state != REJECTED]
    if nodes is not None:
        nodes.write_units(outputs, said, ended)
    if energy is None:
        _write_states(outputs, machine.size, jobs, schedule, changes)
    else:
        energy.write(outputs)
    times = _machine_times(machine, jobs, schedule, ended, changes, energy)
    outputs.finish(
        version=version,
        scheduling_seconds=0.0,
        simulation_seconds=seconds,
        times=times,
        power={} if energy is None else energy.totals(times[0]),
    )
    return rows if len(over) else None


def _write_jobs(
    outputs: Outputs,
    said: JobColumns,
    jobs: Jobs,
    schedule: Schedule,
    over: Ints,
    rejected: NDArray[np.bool_],
    nodes: SharedHosts | None,
    energy: EnergyRows | None,
) -> JobTable:
    """Write jobs.csv, in the order in which jobs are over, and return its rows."""
    state = np.where(rejected, REJECTED, states_of(said, jobs, schedule, over)).astype(np.int8)
    runs = schedule.runs[over].astype(np.int64)
    # Whole hosts are as many as were asked for.
    held = np.where(rejected, 0, jobs.units[over]) if nodes is None else nodes.sizes(over)
    first = np.zeros(len(over), dtype=np.int32)
    joules = np.full(len(over), -1.0) if energy is None else energy.joules[over]
    return outputs.write(
        EndedJobs(
            names=TextOf(said.ids, over.astype(np.int32)),
            workloads=TextOf(["w0"], first),
            profiles=TextOf(said.profiles, said.profile[over]),
            submission=jobs.submission[over],
            units=said.units[over],
            walltime=jobs.walltime[over],
            state=state,
            start=np.where(rejected, np.nan, schedule.start[over]),
            end=np.where(rejected, np.nan, schedule.end[over]),
            hosts=HostsOf(schedule.first, schedule.last, schedule.at[over], np.where(rejected, 0, runs)),
            held=held,
            metadata=TextOf([""], first),
            joules=np.where(joules < 0.0, -1.0, joules),
        )
    )


def _write_states(outputs: Outputs, size: int, jobs: Jobs, schedule: Schedule, changes: Ints | None) -> None:
    """Write machine_states.csv."""
    computing, write_states = 0, partial(record.call, "write_state_rows")
    for times, change in _steps(jobs, schedule, changes):
        counts = computing + np.cumsum(change)
        computing = int(counts[-1]) if len(counts) else computing
        write_rows(len(times), outputs.write_lines, write_states, times, size - counts, counts)


def _steps(jobs: Jobs, schedule: Schedule, changes: Ints | None) -> Iterator[tuple[Floats, Ints]]:
    """Yield blocks of starts and ends, two a job: when they are, s, and how many hosts more compute from then on.

    For `changes` see `SharedHosts`; None: jobs take whole hosts.
    """
    for begin in range(0, len(schedule.log), _BLOCK):
        log = schedule.log[begin : begin + _BLOCK]
        ran = log % KINDS != REJECTS
        who, starts = log[ran] // KINDS, log[ran] % KINDS == STARTS
        times = np.where(starts, schedule.start[who], schedule.end[who])
        if changes is None:
            yield times, np.where(starts, jobs.units[who], -jobs.units[who])
        else:
            yield times, changes[begin : begin + _BLOCK][ran]


def states_of(said: JobColumns, jobs: Jobs, schedule: Schedule, over: Ints) -> NDArray[np.int8]:
    """Return the final state of jobs that ran and are over, int8 [job], as a position in `FINAL_STATES`."""
    success, failed, killed = map(
        FINAL_STATES.index,
        (JobState.COMPLETED_SUCCESSFULLY, JobState.COMPLETED_FAILED, JobState.COMPLETED_WALLTIME_REACHED),
    )
    state = np.where(said.code[said.profile[over]] != 0, np.int8(failed), np.int8(success))
    # As the engine has it: the walltime wins a tie.
    with np.errstate(invalid="ignore"):
        state[schedule.start[over] + jobs.walltime[over] <= schedule.end[over] + HALF_TICK] = killed
    return state


def _machine_times(
    machine: Machine, jobs: Jobs, schedule: Schedule, ended: Ints, changes: Ints | None, energy: EnergyRows | None
) -> tuple[float, float, float]:
    """Return the seconds that hosts were idle, computed and were away, as `MachineTimes.totals` does."""
    computing = sum(_computing(*block) for block in _steps(jobs, schedule, changes))
    last = _last_changes(machine, schedule, ended) if energy is None else _nanoseconds(energy.changed)
    # Until its last change a host was idle for as long as it did not compute; one that never computed does not count.
    return (sum(last) - computing) / 1e9, computing / 1e9, 0.0


def _last_changes(machine: Machine, schedule: Schedule, ended: Ints) -> Iterator[int]:
    """Yield when the last job of each host ended, ns, the sum over hosts of which it is the last."""
    left = np.zeros(len(ended), dtype=np.int64)
    hosts = np.arange(machine.compute.bit_length() + 1)
    runs = (schedule.at, schedule.runs, schedule.first, schedule.last)
    call("left_last", ended, len(ended), *runs, hosts, len(hosts) - 1, left, result=None)
    last = np.flatnonzero(left)
    ends = _nanoseconds(schedule.end[ended[last]])
    return (end * count for end, count in zip(ends, left[last].tolist(), strict=True))


def _computing(times: Floats, change: Ints) -> int:
    """Return what some starts and ends add to the time for which hosts compute, ns times hosts."""
    # Products of halves of the times, so that 64 bits hold the sums.
    high, low = np.divmod(np.rint(times * 1e9), 2.0**32)
    if max(2.0**32, high.max(initial=0.0)) * float(np.abs(change).sum()) < 2.0**62:
        return -(int(high.astype(np.int64) @ change) << 32) - int(low.astype(np.int64) @ change)
    # Of any size where they may not.
    added: int = sum(time * count for time, count in zip(_nanoseconds(times), change.tolist(), strict=True))
    return -added


def _nanoseconds(seconds: Floats) -> list[int]:
    return [int(time) for time in np.rint(seconds * 1e9).tolist()]
