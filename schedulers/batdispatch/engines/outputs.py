"""The output files of a simulation, with Batsim 4's names and columns, written under temporary names until complete."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import FINAL_STATES, JobState
from batdispatch.core.jobs.job_table import JobTable
from batdispatch.engines.blocks import write_rows as write_blocks
from batdispatch.engines.job_rows import (
    HEADER,
    REJECTED,
    SUCCESS,
    EndedJobs,
    HostsOf,
    TextOf,
    Times,
    quote,
    times_of,
    write_rows,
)
from batdispatch.inputs.whole import Whole
from batdispatch.native.library import load
from batdispatch.native.record import call

STATES_HEADER = "time,nb_sleeping,nb_switching_on,nb_switching_off,nb_idle,nb_computing\n"
UNITS_HEADER = "job_id,allocated_resources,units\n"
#: Rows of jobs.csv, and lines of machine_states.csv, that are formatted and written together.
BLOCK = 2048

_POSITION = {state: position for position, state in enumerate(FINAL_STATES)}
_NO_HOSTS = Allocation(0)

#: Of one job: name, workload, profile, submission, units, walltime, state, start, end, hosts, metadata, joules.
_Row = tuple[str, str, str, float, int, float, int, float, float, Allocation, str, float]


class _Table:
    """A CSV file under construction."""

    def __init__(self, path: Path, header: str) -> None:
        self._file = Whole(path)
        self.name = path.name
        #: Of what was written: a large file is not read back for it.
        self.digest = hashlib.sha256()
        self.write(header.encode())

    def write(self, rows: bytes | memoryview) -> None:
        self._file.stream.write(rows)
        self.digest.update(rows)

    def finish(self) -> None:
        self._file.finish()

    def discard(self) -> None:
        self._file.discard()


class Totals:
    """Sums over the jobs of a run: the row of schedule.csv.

    Attributes:
        count: number of jobs: ``all``, ``rejected``, ``success``.
        sums: of ``wait``, ``turnaround`` (s) and ``slowdown`` over the jobs that ran.
        most: the largest of each.
        makespan: end of the last job, s.
    """

    def __init__(self) -> None:
        self.count = dict.fromkeys(("all", "rejected", "success"), 0)
        self.sums = dict.fromkeys(("wait", "turnaround", "slowdown"), 0.0)
        self.most = dict.fromkeys(("wait", "turnaround", "slowdown"), 0.0)
        self.makespan = 0.0

    def add(self, state: NDArray[np.int8], times: Times) -> None:
        """Add jobs.

        Args:
            state: position in `FINAL_STATES`, int8 [job].
            times: of theirs.
        """
        ran = state != REJECTED
        self.count["all"] += len(state)
        self.count["rejected"] += int(np.count_nonzero(state == REJECTED))
        self.count["success"] += int(np.count_nonzero(state == SUCCESS))
        if not ran.any():
            return
        for name, column in (("wait", times.wait), ("turnaround", times.turnaround), ("slowdown", times.stretch)):
            values = column[ran]
            # One by one, in the order of the rows.
            self.sums[name] = float(np.add.accumulate(np.concatenate(([self.sums[name]], values)))[-1])
            self.most[name] = max(self.most[name], float(values.max()))
        self.makespan = max(self.makespan, float(times.end[ran].max()))

    def write(
        self,
        folder: Path,
        hosts: int,
        *,
        version: str,
        scheduling_seconds: float,
        simulation_seconds: float,
        times: tuple[float, float, float],
        power: Mapping[str, float],
    ) -> None:
        """Write schedule.csv; `hosts`: how many there are. The others as for `Outputs.finish`."""
        count, total, most = self.count, self.sums, self.most
        ran = count["all"] - count["rejected"]
        each = max(count["all"], 1)
        idle, computing, away = times
        row = {
            "batsim_version": quote(version),
            "consumed_joules": 0.0,
            "makespan": self.makespan,
            "max_slowdown": most["slowdown"],
            "max_turnaround_time": most["turnaround"],
            "max_waiting_time": most["wait"],
            "mean_slowdown": total["slowdown"] / each,
            "mean_turnaround_time": total["turnaround"] / each,
            "mean_waiting_time": total["wait"] / each,
            "nb_computing_machines": hosts,
            "nb_grouped_switches": 0,
            "nb_jobs": count["all"],
            "nb_jobs_finished": ran,
            "nb_jobs_killed": ran - count["success"],
            "nb_jobs_rejected": count["rejected"],
            "nb_jobs_success": count["success"],
            "nb_machine_switches": 0,
            "scheduling_time": scheduling_seconds,
            "simulation_time": simulation_seconds,
            "success_rate": count["success"] / max(count["all"], 1),
            "time_computing": computing,
            "time_idle": idle,
            "time_sleeping": 0.0,
            "time_switching_off": 0.0,
            "time_switching_on": 0.0,
            "time_unavailable": away,
            **power,
        }
        table = _Table(folder / "schedule.csv", ",".join(row) + "\n")
        table.write((",".join(f"{v:.6f}" if isinstance(v, float) else str(v) for v in row.values()) + "\n").encode())
        table.finish()


class Outputs:
    """Collects what happens; `finish` makes the files appear, `discard` leaves nothing behind.

    What the columns mean is Batsim 4.2.1's choice, also for a job that took no time (`job_rows.times_of`). Means are
    over all jobs, the rejected ones included. Every job that ran and did not succeed counts as killed. Storage hosts
    count as computing machines.

    jobs.csv has one row a job in order of completion; schedule.csv the sums of the run; machine_states.csv how many
    hosts idle and compute after each change; units.csv, only where a host carries several units of a job, how many.
    """

    def __init__(self, folder: Path, hosts: int) -> None:
        """Make the folder.

        Args:
            folder: of the files.
            hosts: how many there are, those that store included.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._hosts = hosts
        self._tables: list[_Table] = []
        self._write_rows = self.begin_file("jobs.csv", HEADER)
        #: Adds lines of machine_states.csv that are written out.
        self.write_lines = self.begin_file("machine_states.csv", STATES_HEADER)
        self._write_units: Callable[[bytes | memoryview], None] | None = None
        self._totals = Totals()
        self._rows: list[JobTable] = []
        #: Jobs and changes that are not written yet: the fields of one behind those of the other, since a tuple each
        #: would make Python look for garbage again and again.
        self._ended: list[Any] = []
        self._changes: list[float] = []

    def begin_file(self, name: str, header: str) -> Callable[[bytes | memoryview], None]:
        """Begin one more file that is finished with the others, and return what adds rows to it."""
        self._tables.append(table := _Table(self.folder / name, header))
        return table.write

    def ended(
        self,
        *,
        job_id: str,
        profile: str,
        submission: float,
        units: int,
        walltime: float,
        state: JobState,
        start: float,
        end: float,
        allocation: Allocation,
        metadata: str,
        joules: float = -1.0,
    ) -> None:
        """Add the row of a job that ran; `joules`: burnt by its hosts meanwhile, or -1."""
        workload, _, name = job_id.partition("!")
        times = submission, units, walltime, _POSITION[state], start, end
        self._add((name, workload, profile, *times, allocation, metadata, joules))
        if allocation.counts is not None:
            self.write_units(name, str(allocation), allocation.counts)

    def write_units(self, name: str, hosts: str, counts: Sequence[int]) -> None:
        """Add the row of units.csv of a job of which hosts carry several units; its name is without the workload."""
        if self._write_units is None:
            self._write_units = self.begin_file("units.csv", UNITS_HEADER)
        self._write_units(f"{quote(name)},{hosts},{' '.join(map(str, counts))}\n".encode())

    def rejected(
        self, *, job_id: str, profile: str, submission: float, units: int, walltime: float, metadata: str
    ) -> None:
        """Add the row of a rejected job: its times are empty."""
        workload, _, name = job_id.partition("!")
        nan = math.nan
        self._add((name, workload, profile, submission, units, walltime, REJECTED, nan, nan, _NO_HOSTS, metadata, nan))

    def _add(self, row: _Row) -> None:
        self._ended += row
        if len(self._ended) >= BLOCK * len(row):
            self._flush()

    def _flush(self) -> None:
        """Write the rows of the jobs that are not written yet."""
        if not self._ended:
            return
        fields = len(get_args(_Row))
        names, workloads, profiles, submission, units, walltime, state, start, end, allocations, metadata, joules = (
            self._ended[field::fields] for field in range(fields)
        )
        self._ended.clear()
        bounds = [allocation.bounds for allocation in allocations]
        flat = np.fromiter(chain.from_iterable(bounds), dtype=np.int32)
        first, last = np.ascontiguousarray(flat[::2]), flat[1::2] - 1
        runs = np.array([len(each) // 2 for each in bounds], dtype=np.int64)
        behind = np.cumsum(runs)
        reached = np.concatenate(([0], np.cumsum(last.astype(np.int64) - first + 1)))
        self.write(
            EndedJobs(
                names=TextOf(names),
                workloads=TextOf(workloads),
                profiles=TextOf(profiles),
                submission=np.array(submission, dtype=np.float64),
                units=np.array(units, dtype=np.int64),
                walltime=np.array(walltime, dtype=np.float64),
                state=np.array(state, dtype=np.int8),
                start=np.array(start, dtype=np.float64),
                end=np.array(end, dtype=np.float64),
                hosts=HostsOf(first, last, behind - runs, runs),
                held=reached[behind] - reached[behind - runs],
                metadata=TextOf(metadata),
                joules=np.array(joules, dtype=np.float64),
            )
        )

    def write(self, jobs: EndedJobs) -> JobTable:
        """Add the rows of some jobs, and return them."""
        times = times_of(jobs)
        self._totals.add(jobs.state, times)
        rows = write_rows(jobs, times, self._write_rows)
        self._rows.append(rows)
        return rows

    def rows(self) -> JobTable | None:
        """Return all rows of jobs.csv once it is finished, and forget them; None: it has no row."""
        parts, self._rows = self._rows, []
        return JobTable.join(parts) if parts else None

    def states(self, time: float, idle: int, computing: int) -> None:
        """Add how many hosts idle and compute from `time` on."""
        self._changes += (time, idle, computing)
        if len(self._changes) >= 3 * BLOCK:
            self._flush_states()

    def power_states(self, time: float, hosts: tuple[int, ...]) -> None:
        """Add how many hosts sleep, switch on, switch off, idle and compute from `time` on."""
        self.write_lines(b"%.9g,%d,%d,%d,%d,%d\n" % (time, *hosts))

    def _flush_states(self) -> None:
        if self._changes:
            times, *counts = (self._changes[column::3] for column in range(3))
            if load() is None:
                self.write_lines(b"".join(map(b"%.9g,0,0,0,%d,%d\n".__mod__, zip(times, *counts, strict=True))))
            else:
                columns = (np.array(times, dtype=np.float64), *(np.array(column, dtype=np.int64) for column in counts))
                write_blocks(len(times), self.write_lines, partial(call, "write_state_rows"), *columns)
            self._changes.clear()

    def finish(
        self,
        *,
        version: str,
        scheduling_seconds: float,
        simulation_seconds: float,
        times: tuple[float, float, float],
        power: Mapping[str, float] = {},
    ) -> None:
        """Write schedule.csv and give all files their names.

        Args:
            version: of what simulated.
            scheduling_seconds: spent in the scheduler.
            simulation_seconds: in all.
            times: seconds that hosts were idle, computed and were away, summed over the hosts.
            power: what there is to say of power states, by column.
        """
        self._flush()
        self._flush_states()
        self._totals.write(
            self.folder,
            self._hosts,
            version=version,
            scheduling_seconds=scheduling_seconds,
            simulation_seconds=simulation_seconds,
            times=times,
            power=power,
        )
        for table in self._tables:
            table.finish()

    def digests(self) -> dict[str, str]:
        """Return the SHA-256 of the large files, by name, in hexadecimal."""
        return {table.name: table.digest.hexdigest() for table in self._tables}

    def discard(self) -> None:
        """Remove everything written so far."""
        for table in self._tables:
            table.discard()
