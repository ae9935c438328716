"""The output files of a simulation, with Batsim 4's names and columns, written under temporary names until complete."""

from __future__ import annotations

import math
import re
from pathlib import Path

from batdispatch.core.allocation import Allocation
from batdispatch.core.job import JobState
from batdispatch.inputs.files import Whole

JOBS_HEADER = (
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
    "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,"
    "metadata\n"
)
STATES_HEADER = "time,nb_sleeping,nb_switching_on,nb_switching_off,nb_idle,nb_computing\n"
UNITS_HEADER = "job_id,allocated_resources,units\n"
#: Seconds that Batsim writes for a job that took none.
NO_TIME = 1e-5
#: Rows are handed to the file in blocks: a write call costs as much as formatting a row.
BLOCK = 2048

_SPECIAL = re.compile('[,"\n\r]')


def quoted(text: str) -> str:
    """Return a CSV field, quoted if it needs to be."""
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text


class _Table:
    """A CSV file under construction."""

    def __init__(self, path: Path, header: str) -> None:
        self._file = Whole(path)
        self._rows = [header]

    def add(self, row: str) -> None:
        self._rows.append(row)
        if len(self._rows) >= BLOCK:
            self._write()

    def _write(self) -> None:
        self._file.stream.write("".join(self._rows).encode())
        self._rows.clear()

    def finish(self) -> None:
        self._write()
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

    def write(
        self,
        folder: Path,
        hosts: int,
        *,
        version: str,
        scheduling_seconds: float,
        simulation_seconds: float,
        times: tuple[float, float, float],
    ) -> None:
        """Write schedule.csv; `hosts`: how many there are. The others as for `Outputs.finish`."""
        count, total, most = self.count, self.sums, self.most
        ran = count["all"] - count["rejected"]
        each = max(count["all"], 1)
        idle, computing, away = times
        row = {
            "batsim_version": quoted(version),
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
        }
        table = _Table(folder / "schedule.csv", ",".join(row) + "\n")
        table.add(",".join(f"{v:.6f}" if isinstance(v, float) else str(v) for v in row.values()) + "\n")
        table.finish()


class Outputs:
    """Collects what happens; `finish` makes the files appear, `discard` leaves nothing behind.

    What the columns mean is Batsim 4.2.1's choice. A job that took no time is written with `NO_TIME`. Means are over
    all jobs, the rejected ones included. Every job that ran and did not succeed counts as killed. Storage hosts count
    as computing machines.

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
        self._jobs = _Table(folder / "jobs.csv", JOBS_HEADER)
        self._states = _Table(folder / "machine_states.csv", STATES_HEADER)
        self._units: _Table | None = None
        self._totals = Totals()

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
    ) -> None:
        """Add the row of a job that ran."""
        workload, _, name = job_id.partition("!")
        if end - start < 1e-9:
            end = start + NO_TIME
        run, wait, turnaround = end - start, start - submission, end - submission
        stretch = turnaround / run
        success = state is JobState.COMPLETED_SUCCESSFULLY
        asked = walltime if walltime < math.inf else -1.0
        self._jobs.add(
            f"{quoted(name)},{quoted(workload)},{quoted(profile)},{submission:.6f},{units},{asked:.6f},{success:d},{state.value},"
            f"{start:.6f},{run:.6f},{end:.6f},{wait:.6f},{turnaround:.6f},{stretch:.6f},{allocation},-1.000000,"
            f'"{metadata}"\n'
        )
        if allocation.counts is not None:
            if self._units is None:
                self._units = _Table(self.folder / "units.csv", UNITS_HEADER)
            self._units.add(f"{quoted(name)},{allocation},{' '.join(map(str, allocation.counts))}\n")
        totals = self._totals
        count, total, most = totals.count, totals.sums, totals.most
        count["all"] += 1
        count["success"] += success
        total["wait"] += wait
        total["turnaround"] += turnaround
        total["slowdown"] += stretch
        most["wait"] = max(most["wait"], wait)
        most["turnaround"] = max(most["turnaround"], turnaround)
        most["slowdown"] = max(most["slowdown"], stretch)
        totals.makespan = max(totals.makespan, end)

    def rejected(
        self, *, job_id: str, profile: str, submission: float, units: int, walltime: float, metadata: str
    ) -> None:
        """Add the row of a rejected job: its times are empty."""
        workload, _, name = job_id.partition("!")
        asked = walltime if walltime < math.inf else -1.0
        self._jobs.add(
            f"{quoted(name)},{quoted(workload)},{quoted(profile)},{submission:.6f},{units},{asked:.6f},0,"
            f'{JobState.REJECTED.value},,,,,,,,,"{metadata}"\n'
        )
        self._totals.count["all"] += 1
        self._totals.count["rejected"] += 1

    def states(self, time: float, idle: int, computing: int) -> None:
        """Add how many hosts idle and compute from `time` on."""
        self._states.add(f"{time:.9g},0,0,0,{idle},{computing}\n")

    def finish(
        self,
        *,
        version: str,
        scheduling_seconds: float,
        simulation_seconds: float,
        times: tuple[float, float, float],
    ) -> None:
        """Write schedule.csv and give all files their names.

        Args:
            version: of what simulated.
            scheduling_seconds: spent in the scheduler.
            simulation_seconds: in all.
            times: seconds that hosts were idle, computed and were away, summed over the hosts.
        """
        self._totals.write(
            self.folder,
            self._hosts,
            version=version,
            scheduling_seconds=scheduling_seconds,
            simulation_seconds=simulation_seconds,
            times=times,
        )
        self._jobs.finish()
        self._states.finish()
        if self._units is not None:
            self._units.finish()

    def discard(self) -> None:
        """Remove everything written so far."""
        for table in (self._jobs, self._states, self._units):
            if table is not None:
                table.discard()
