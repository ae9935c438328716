"""Writes the files of a compiled simulation, the same as the embedded engine's."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.hosts.hostsets import Intervals
from batdispatch.core.jobs.job import FINAL_STATES, JobState
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.compiled.simulate import Schedule
from batdispatch.engines.compiled.state import KINDS, REJECTS, STARTS, Floats, Ints, Jobs
from batdispatch.engines.job_rows import EndedJobs
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.world import HALF_TICK
from batdispatch.inputs.workloads.columns import JobColumns
from batdispatch.native.record import call

#: Rows that are made and written together.
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
) -> None:
    """Write all files, and give them their names.

    Args:
        outputs: the files.
        said: the jobs of the workload.
        machine: what they ran on.
        jobs: the same jobs, as the kernel had them.
        schedule: what became of them.
        version: of what simulated.
        seconds: that this took.
    """
    kinds, who = schedule.log % KINDS, schedule.log // KINDS
    over = who[kinds != STARTS]
    state = _states_of(said, jobs, schedule, over, kinds[kinds != STARTS] == REJECTS)
    for begin in range(0, len(over), _BLOCK):
        part = slice(begin, begin + _BLOCK)
        outputs.write(_ended(said, jobs, schedule, over[part], state[part]))
    changes = kinds != REJECTS
    starts, who = kinds[changes] == STARTS, who[changes]
    times = np.where(starts, schedule.start[who], schedule.end[who])
    computing = np.cumsum(np.where(starts, 1, -1) * jobs.units[who])
    for begin in range(0, len(who), _BLOCK):
        part = slice(begin, begin + _BLOCK)
        outputs.write_states(times[part], machine.size - computing[part], computing[part])
    outputs.finish(
        version=version,
        scheduling_seconds=0.0,
        simulation_seconds=seconds,
        times=_machine_times(machine, jobs, schedule, who[~starts]),
    )


def _ended(said: JobColumns, jobs: Jobs, schedule: Schedule, over: Ints, state: NDArray[np.int8]) -> EndedJobs:
    """Return jobs that are over, given by rank, with their states."""
    # A rejected job has none, wherever its first one would be.
    runs = schedule.runs[over].astype(np.int64)
    row = np.repeat(np.arange(len(over), dtype=np.int32), runs)
    at = np.arange(len(row)) + np.repeat(schedule.at[over] - (np.cumsum(runs) - runs), runs)
    return EndedJobs(
        names=[said.ids[rank] for rank in over.tolist()],
        workloads=["w0"] * len(over),
        profiles=[said.profiles[each] for each in said.profile[over].tolist()],
        submission=jobs.submission[over],
        units=jobs.units[over],
        walltime=jobs.walltime[over],
        state=state,
        start=schedule.start[over],
        end=schedule.end[over],
        hosts=Intervals(schedule.first[at], schedule.last[at], row, len(over)),
        metadata=[""] * len(over),
    )


def _states_of(
    said: JobColumns, jobs: Jobs, schedule: Schedule, over: Ints, rejected: NDArray[np.bool_]
) -> NDArray[np.int8]:
    """Return the final state of jobs that are over, int8 [job], as a position in `FINAL_STATES`."""
    success, failed, killed, refused = map(
        FINAL_STATES.index,
        (
            JobState.COMPLETED_SUCCESSFULLY,
            JobState.COMPLETED_FAILED,
            JobState.COMPLETED_WALLTIME_REACHED,
            JobState.REJECTED,
        ),
    )
    state = np.where(said.code[said.profile[over]] != 0, failed, success)
    # As the engine has it: the walltime wins a tie.
    with np.errstate(invalid="ignore"):
        state[schedule.start[over] + jobs.walltime[over] <= schedule.end[over] + HALF_TICK] = killed
    state[rejected] = refused
    return state.astype(np.int8)


def _machine_times(machine: Machine, jobs: Jobs, schedule: Schedule, ended: Ints) -> tuple[float, float, float]:
    """Return the seconds that hosts were idle, computed and were away, as `MachineTimes.totals` does."""
    # Whole numbers of any size, which add up exactly.
    start, end = _nanoseconds(schedule.start[ended]), _nanoseconds(schedule.end[ended])
    units = jobs.units[ended].tolist()
    computing = sum((until - since) * count for since, until, count in zip(start, end, units, strict=True))
    left = np.zeros(len(ended), dtype=np.int64)
    hosts = np.arange(machine.compute.bit_length() + 1)
    runs = (schedule.at, schedule.runs, schedule.first, schedule.last)
    call("left_last", ended, len(ended), *runs, hosts, len(hosts) - 1, left, result=None)
    changes = sum(end[index] * int(left[index]) for index in np.flatnonzero(left).tolist())
    # Until its last change a host was idle for as long as it did not compute; one that never computed does not count.
    return (changes - computing) / 1e9, computing / 1e9, 0.0


def _nanoseconds(seconds: Floats) -> list[int]:
    return [int(time) for time in np.rint(seconds * 1e9).tolist()]
