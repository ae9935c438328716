"""The rows of a jobs file as columns, and how many units stand on each host.

The package's readers of files take tables apart; what stands in them is judged here.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.verify.audit.findings import NO_TIME, REJECTED, STATES
from batdispatch.abilities.verify.audit.hosts import HostSets, Ints, read_host_sets
from batdispatch.core.errors import InputError
from batdispatch.results.jobs_file import read_columns


class Rows:
    """The columns of a jobs file. Times are seconds, float64 [row], NaN where a rejected job has none.

    Attributes:
        read: the columns as the package's reader gives them.
        ids: name of each row's job.
        profiles: name of its profile, without the workload.
        metadata: what the dispatcher noted about it.
        places: its hosts, in Batsim's notation; `hosts`: the same, read.
        state: position of its final state in `STATES`, int8 [row]; `states`: the same in words.
        ran: whether it was not rejected, bool [row], as `success`.
        size: units that it asked for, int64 [row].
        left: when its hosts are free. Batsim writes a job that took no time as if it had taken a little.
    """

    def __init__(self, path: Path) -> None:
        """Read the file.

        Raises:
            InputError: it is no jobs file, or a value is not what its column holds.
        """
        self.read = read = read_columns(path)
        self.ids, self.places = read.job_id.tolist(), read.allocated_resources.tolist()
        self.workloads, self.profiles = read.workload_name.tolist(), read.profile.tolist()
        self.metadata: list[str] = read.metadata.tolist()
        self.submission, self.walltime = read.submission_time, read.requested_time
        self.size = read.requested_number_of_resources
        self.start, self.finish, self.execution = read.starting_time, read.finish_time, read.execution_time
        self.waiting, self.turnaround, self.stretch = read.waiting_time, read.turnaround_time, read.stretch
        self.energy, self.success, self.state = read.consumed_energy, read.success, read.final_state
        self.states = [STATES[state] for state in self.state.tolist()]
        self.ran: NDArray[np.bool_] = ~self.is_state(REJECTED)
        self.left = np.where(np.abs(self.finish - self.start - NO_TIME) < 5e-7, self.start, self.finish)
        try:
            self.hosts: HostSets = read_host_sets(self.places)
        except InputError as problem:
            name = self.ids[int(problem.place or 0)]
            raise InputError(problem.message, source=str(path), place=f"job {name!r}") from None

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def names(self) -> list[str]:
        """``workload!name`` of each row."""
        pairs = zip(self.workloads, self.ids, strict=True)
        return [f"{workload}!{name.removeprefix(f'{workload}!') if '!' in name else name}" for workload, name in pairs]

    @cached_property
    def row_of(self) -> dict[str, int]:
        """Row of each ``workload!name``; of a job that stands there twice, the first."""
        return dict(zip(reversed(self.names), range(len(self) - 1, -1, -1), strict=True))

    def is_state(self, *states: str) -> NDArray[np.bool_]:
        """Return which rows ended in one of some states."""
        return np.isin(self.state, [STATES.index(state) for state in states])


class Units(NamedTuple):
    """How many units of each row's job are on each of its hosts.

    Attributes:
        slots: int64 [slot], along the hosts of each row in ascending order.
        offsets: where the slots of each row begin, int64 [row + 1].
    """

    slots: Ints
    offsets: Ints

    @property
    def held(self) -> Ints:
        """Units of each row's job in all, int64 [row]."""
        if not self.slots.strides[0]:
            # A view of a single number: no job has several units on a host, and there may be millions of hosts.
            return np.diff(self.offsets)
        total = np.concatenate(([0], np.cumsum(self.slots)))
        return np.asarray(total[self.offsets[1:]] - total[self.offsets[:-1]])

    def of(self, row: int) -> Ints:
        """Return the units on each host of a row's job, int64 [host of it]."""
        return self.slots[self.offsets[row] : self.offsets[row + 1]]
