"""The workload's jobs as columns: as objects, 300,000 of them would take most of the memory that an audit needs."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.core.job import Job
from batdispatch.core.request import Request
from batdispatch.results.audit.names import NameIndex
from batdispatch.results.lineage import Lineage

_NOTHING: Mapping[int, Job] = {}


class JobTable(Sequence[Job]):
    """The jobs of a workload, one column per field; a job is made when it is asked for, and is equal to the one given.

    What repeats is kept once: requests, profiles, users. Fields beyond Batsim's own are kept as JSON.
    """

    def __init__(self, jobs: Iterable[Job]) -> None:
        """Take the jobs of a workload, and put them in Batsim's order: by submission, then by id as a text."""
        requests: dict[Request, int] = {}
        names: dict[str, int] = {}
        ids: list[str] = []
        extra = bytearray()
        ends, submission, walltime = array("q"), array("d"), array("d")
        request, profile, user, parent = (array("i") for _ in range(4))
        for job in jobs:
            ids.append(job.id)
            extra += msgspec.json.encode(job.extra) if job.extra else b""
            ends.append(len(extra))
            request.append(requests.setdefault(job.request, len(requests)))
            submission.append(job.submission)
            walltime.append(job.walltime)
            profile.append(names.setdefault(job.profile, len(names)))
            user.append(names.setdefault(job.user, len(names)))
            parent.append(names.setdefault(job.parent, len(names)))
        texts: NDArray[Any] = np.array(ids, dtype=np.dtypes.StringDType())
        del ids
        order = np.argsort(texts, kind="stable")
        order = order[np.argsort(np.array(submission)[order], kind="stable")]
        #: Text [job]; short ones take no memory of their own.
        self._ids = texts[order]
        #: Fields beyond Batsim's own of all jobs, and where those of each begin and end, int64 [job].
        self._extra, bounds = bytes(extra), np.array([0, *ends], dtype=np.int64)
        self._extra_from, self._extra_to = bounds[:-1][order], bounds[1:][order]
        #: Position in `requests`, int32 [job].
        self.request = np.array(request, dtype=np.int32)[order]
        #: Seconds, float64 [job].
        self.submission = np.array(submission, dtype=np.float64)[order]
        #: Seconds, infinite where none was asked for, float64 [job].
        self.walltime = np.array(walltime, dtype=np.float64)[order]
        #: Positions in `names`, int32 [job].
        self.profile, self.user, self.parent = (
            np.array(codes, dtype=np.int32)[order] for codes in (profile, user, parent)
        )
        self.requests = tuple(requests)
        self.names = tuple(names)

    def __len__(self) -> int:
        return len(self._ids)

    @overload
    def __getitem__(self, index: int) -> Job: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Job]: ...
    def __getitem__(self, index: int | slice) -> Job | Sequence[Job]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        extra = self._extra[self._extra_from[index] : self._extra_to[index]]
        return Job(
            id=self._ids[index],
            request=self.requests[self.request[index]],
            submission=float(self.submission[index]),
            walltime=float(self.walltime[index]),
            profile=self.names[self.profile[index]],
            user=self.names[self.user[index]],
            parent=self.names[self.parent[index]],
            extra=msgspec.json.decode(extra) if extra else {},
        )

    def positions(self, names: Iterable[tuple[str, str]]) -> NDArray[np.int64]:
        """Return where the job of each ``(workload, name)`` stands, int64; -1: there is none.

        A job is looked up by its name, or by ``workload!name`` where the ids of the workload have that form.
        """
        known = NameIndex(self._ids, self._ids.__getitem__)
        # Most workloads name no job after themselves.
        marked = any("!" in name for name in self._ids)

        def position(workload: str, name: str) -> int:
            found = known.get(name)
            if found is None and marked:
                found = known.get(f"{workload}!{name}")
            return -1 if found is None else found

        return np.fromiter(itertools.starmap(position, names), dtype=np.int64)


class RowJobs(Sequence[Job | None]):
    """The job of each row of a jobs file; None where nothing says which it is."""

    def __init__(self, table: JobTable, at: NDArray[np.int64], registered: Mapping[int, Job] = _NOTHING) -> None:
        """Join rows and jobs.

        Args:
            table: jobs of the workload.
            at: position in it, int64 [row]; -1: the row's job is none of these.
            registered: the jobs of such rows, as far as they are known.
        """
        self.table = table
        self.at = at
        self.registered = registered

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether there is a job, bool [row]."""
        found = self.at >= 0
        found[list(self.registered)] = True
        return found

    def __len__(self) -> int:
        return len(self.at)

    @overload
    def __getitem__(self, index: int) -> Job | None: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Job | None]: ...
    def __getitem__(self, index: int | slice) -> Job | Sequence[Job | None] | None:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        at = int(self.at[index])
        return self.registered.get(index) if at < 0 else self.table[at]

    def __iter__(self) -> Iterator[Job | None]:
        return map(self.__getitem__, range(len(self)))

    def with_registered(self, registered: Mapping[int, Job]) -> RowJobs:
        """Return the same with the jobs that were registered while the simulation ran, by row."""
        return RowJobs(self.table, self.at, registered)

    def column(self, name: str, otherwise: NDArray[Any]) -> NDArray[np.float64]:
        """Return a number of each row's job, float64 [row]; where there is no job, that of `otherwise`.

        Args:
            name: ``submission`` or ``walltime``, in seconds, or ``units``.
            otherwise: [row].
        """
        table = self.table
        if name == "units":
            of_request = np.array([request.units for request in table.requests], dtype=np.float64)
            values = of_request[table.request]
        else:
            values = getattr(table, name)
        found = otherwise.astype(np.float64)
        there = self.at >= 0
        found[there] = values[self.at[there]]
        for row, job in self.registered.items():
            found[row] = getattr(job, name)
        return found

    def profile(self, row: int) -> str | None:
        """Return the name of the profile of one row's job; None: there is no job."""
        at = int(self.at[row])
        if at >= 0:
            return self.table.names[int(self.table.profile[at])]
        return self.registered[row].profile if row in self.registered else None

    def profiles(self) -> list[str | None]:
        """Return the name of the profile of each row's job; None: there is no job."""
        found = self._named(self.table.profile, None)
        for row, job in self.registered.items():
            found[row] = job.profile
        return list(found)

    def users(self) -> NDArray[np.object_]:
        """Return the user of each row's job, object [row]; an empty text where none is known."""
        return self._named(self.table.user, "")

    def _named(self, codes: NDArray[np.int32], otherwise: str | None) -> NDArray[np.object_]:
        """Return what the codes of the rows' jobs name, object [row]; `otherwise` where there is no job."""
        found = np.full(len(self.at), otherwise, dtype=object)
        there = np.flatnonzero(self.at >= 0)
        found[there] = np.array(self.table.names, dtype=object)[codes[self.at[there]]]
        return found

    def rows_that(self, asks: Callable[[Request], object]) -> list[int]:
        """Return the rows whose jobs have a request for which `asks` is true; it is called once per request."""
        table = self.table
        wanted = np.array([bool(asks(request)) for request in table.requests], dtype=bool)
        there = np.flatnonzero(self.at >= 0)
        found = set(there[wanted[table.request[self.at[there]]]].tolist()) if wanted.any() else set()
        found |= {row for row, job in self.registered.items() if asks(job.request)}
        return sorted(found)

    def continuing(self) -> list[int]:
        """Return the rows whose jobs continue another one."""
        table = self.table
        names = np.array([bool(name) for name in table.names], dtype=bool)
        there = np.flatnonzero(self.at >= 0)
        found = there[names[table.parent[self.at[there]]]].tolist() if names.any() else []
        return sorted([*found, *(row for row, job in self.registered.items() if job.parent)])


class Facts(NamedTuple):
    """What is known about the job of each row.

    Attributes:
        jobs: the row's own.
        asking: the job whose request says what the row's job takes on a node, see `join`.
    """

    jobs: RowJobs
    asking: RowJobs


def join(table: JobTable, names: Iterable[tuple[str, str]], lineage: Lineage) -> Facts:
    """Find the job of each row.

    The job whose request counts is the row's own or, where the workload has none of that name, that of the first
    segment of the same logical job.

    Args:
        table: jobs of the workload.
        names: workload and name of each row.
        lineage: which rows are one job.
    """
    at = table.positions(names)
    return Facts(RowJobs(table, at), RowJobs(table, np.where(at < 0, at[lineage.root], at)))
