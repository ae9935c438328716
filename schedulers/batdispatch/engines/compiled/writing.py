"""Writes the files of a compiled simulation, the same as the embedded engine's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.job import JobState
from batdispatch.core.machine import Machine
from batdispatch.engines.compiled.machine_times import left_last
from batdispatch.engines.compiled.rows import ROW, RUN, Bytes, Table, Texts, write_rows
from batdispatch.engines.compiled.simulate import Schedule
from batdispatch.engines.compiled.state import ENDED, KINDS, REJECTED, STARTS, Floats, Ints, Jobs
from batdispatch.engines.outputs import JOBS_HEADER, NO_TIME, STATES_HEADER, Totals, quoted
from batdispatch.engines.world import HALF_TICK
from batdispatch.inputs.files import Whole
from batdispatch.inputs.workloads import Workload

#: Bytes that are handed to the file at a time, at least.
_BLOCK = 1 << 20
#: Lines of machine_states.csv that are written at a time.
_LINES = 1 << 16
#: Success comes first and rejection last, as `rows.Table` has it.
_STATES = (
    JobState.COMPLETED_SUCCESSFULLY,
    JobState.COMPLETED_FAILED,
    JobState.COMPLETED_WALLTIME_REACHED,
    JobState.REJECTED,
)


class Files:
    """The files of a compiled simulation under construction: jobs.csv, machine_states.csv, schedule.csv."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._jobs = Whole(folder / "jobs.csv")
        self._states = Whole(folder / "machine_states.csv")

    def discard(self) -> None:
        """Remove what was written and has not got its name."""
        self._jobs.discard()
        self._states.discard()

    def write(
        self,
        workload: Workload,
        machine: Machine,
        jobs: Jobs,
        schedule: Schedule,
        *,
        version: str,
        seconds: float,
    ) -> None:
        """Write all files, and give them their names.

        Args:
            workload: what was simulated.
            machine: on what.
            jobs: its jobs.
            schedule: what became of them.
            version: of what simulated.
            seconds: that this took.
        """
        kinds, who = schedule.log % KINDS, schedule.log // KINDS
        over = who[kinds != STARTS]
        ended = who[kinds == ENDED]
        state = _states_of(workload, jobs, schedule, over, kinds[kinds != STARTS] == REJECTED)
        # As it is written: a job that took no time.
        end = np.where(schedule.end - schedule.start < 1e-9, schedule.start + NO_TIME, schedule.end)
        run, wait, turnaround = end - schedule.start, schedule.start - jobs.submission, end - jobs.submission
        profiles = list(workload.profiles)
        number = {name: index for index, name in enumerate(profiles)}
        table = Table(
            job=over,
            names=_texts([quoted(job.id) for job in workload.jobs]),
            profile_of=np.array([number[job.profile] for job in workload.jobs], dtype=np.int64),
            profiles=_texts([quoted(name) for name in profiles]),
            submission=jobs.submission,
            units=jobs.units,
            walltime=np.where(np.isinf(jobs.walltime), -1.0, jobs.walltime),
            state=state,
            states=_texts([known.value for known in _STATES]),
            start=schedule.start,
            end=end,
            run=run,
            wait=wait,
            turnaround=turnaround,
            stretch=turnaround / run,
            at=schedule.at,
            runs=schedule.runs,
            first=schedule.first,
            last=schedule.last,
            workload=_bytes("w0"),
            tail=_bytes('-1.000000,""\n'),
            no_times=_bytes(',,,,,,,,""\n'),
        )
        self._write_jobs(table)
        self._write_states(machine.size, jobs, schedule, kinds, who)
        totals = Totals()
        totals.count.update(all=len(over), rejected=len(over) - len(ended), success=int(np.count_nonzero(state == 0)))
        for name, column in (("wait", wait), ("turnaround", turnaround), ("slowdown", table.stretch)):
            if len(ended):
                # Added one by one, in the order of the rows.
                totals.sums[name] = float(np.add.accumulate(column[ended])[-1])
                totals.most[name] = max(0.0, float(column[ended].max()))
        totals.makespan = float(end[ended].max()) if len(ended) else 0.0
        totals.write(
            self._folder,
            len(machine.hosts),
            version=version,
            scheduling_seconds=0.0,
            simulation_seconds=seconds,
            times=_machine_times(machine, jobs, schedule, ended),
        )
        self._jobs.finish()
        self._states.finish()

    def _write_jobs(self, table: Table) -> None:
        self._jobs.stream.write(JOBS_HEADER.encode())
        longest = int(np.diff(table.names.at).max(initial=0) + np.diff(table.profiles.at).max(initial=0))
        out = np.empty(_BLOCK + ROW + RUN * int(table.runs.max(initial=0)) + longest, dtype=np.uint8)
        row = 0
        while row < len(table.job):
            row, used = write_rows(table, row, out)
            self._jobs.stream.write(out[:used].tobytes())

    def _write_states(self, hosts: int, jobs: Jobs, schedule: Schedule, kinds: Ints, who: Ints) -> None:
        """Write how many hosts idle and compute after each start and end."""
        changes = kinds != REJECTED
        kinds, who = kinds[changes], who[changes]
        times = np.where(kinds == STARTS, schedule.start[who], schedule.end[who])
        computing = np.cumsum(np.where(kinds == STARTS, 1, -1) * jobs.units[who])
        self._states.stream.write(STATES_HEADER.encode())
        for begin in range(0, len(who), _LINES):
            part = slice(begin, begin + _LINES)
            lines = [
                f"{time:.9g},0,0,0,{hosts - busy},{busy}\n"
                for time, busy in zip(times[part].tolist(), computing[part].tolist(), strict=True)
            ]
            self._states.stream.write("".join(lines).encode())


def _states_of(workload: Workload, jobs: Jobs, schedule: Schedule, over: Ints, rejected: NDArray[np.bool_]) -> Ints:
    """Return the final state of each row, as an index into `_STATES`."""
    codes = {name: int(profile.get("ret", 0)) for name, profile in workload.profiles.items()}
    failed = np.zeros(len(workload.jobs), dtype=bool)
    if any(codes.values()):
        failed = np.array([codes[job.profile] != 0 for job in workload.jobs], dtype=bool)
    state = np.where(failed[over], 1, 0)
    # As the engine has it: the walltime wins a tie.
    with np.errstate(invalid="ignore"):
        killed = schedule.start[over] + jobs.walltime[over] <= schedule.end[over] + HALF_TICK
    state[killed] = 2
    state[rejected] = 3
    return state.astype(np.int64)


def _machine_times(machine: Machine, jobs: Jobs, schedule: Schedule, ended: Ints) -> tuple[float, float, float]:
    """Return the seconds that hosts were idle, computed and were away, as `MachineTimes.totals` does."""
    # Whole numbers of any size, which add up exactly.
    start, end = _nanoseconds(schedule.start[ended]), _nanoseconds(schedule.end[ended])
    units = jobs.units[ended].tolist()
    computing = sum((until - since) * count for since, until, count in zip(start, end, units, strict=True))
    left = np.zeros(len(ended), dtype=np.int64)
    hosts = np.arange(machine.compute.bit_length() + 1)
    left_last(ended, schedule.at, schedule.runs, schedule.first, schedule.last, hosts, left)
    changes = sum(end[index] * int(left[index]) for index in np.flatnonzero(left).tolist())
    # Until its last change a host was idle for as long as it did not compute; one that never computed does not count.
    return (changes - computing) / 1e9, computing / 1e9, 0.0


def _nanoseconds(seconds: Floats) -> list[int]:
    return [int(time) for time in np.rint(seconds * 1e9).tolist()]


def _bytes(text: str) -> Bytes:
    return np.frombuffer(text.encode(), dtype=np.uint8)


def _texts(texts: Sequence[str]) -> Texts:
    encoded = [text.encode() for text in texts]
    at = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in encoded], out=at[1:])
    return Texts(np.frombuffer(b"".join(encoded), dtype=np.uint8), at)
