"""A workload made of a log, with its jobs in columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from sys import intern
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.hosts.hostset import MAX_HOST_ID
from batdispatch.core.jobs.fields import KNOWN_FIELDS, MAX_MOMENT, read_request
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.jobs.sizes import MAX_UNITS
from batdispatch.core.numerals import EXACT, number
from batdispatch.inputs.workloads.columns import JobColumns, submission_order
from batdispatch.inputs.workloads.log_columns import LogColumns, as_written
from batdispatch.inputs.workloads.logs import profile_name
from batdispatch.inputs.workloads.model import Workload, stem
from batdispatch.inputs.workloads.names import are_names
from batdispatch.native.texts import PackedTexts

#: Jobs that are objects at the same time.
_BLOCK = 4096


class LogProfiles(Mapping[str, dict[str, Any]]):
    """A profile for each run time of a log's jobs, which is made when it is asked for."""

    def __init__(self, delays: NDArray[np.float64], flops: float | None = None) -> None:
        """Take the run times, s, float64 [profile].

        With `flops`, jobs compute for so long on cores of that speed, instead of waiting.
        """
        self._delays, self._flops = delays, flops

    @property
    def are_delays(self) -> bool:
        """Whether jobs wait for as long as they ran, and compute nothing."""
        return self._flops is None

    def __len__(self) -> int:
        return len(self._delays)

    def __iter__(self) -> Iterator[str]:
        return map(profile_name, self._delays.tolist())

    def __getitem__(self, name: str) -> dict[str, Any]:
        delay = number(float(name[1:]))
        if self._flops is None:
            return {"type": "delay", "delay": delay}
        return {"type": "parallel_homogeneous", "cpu": delay * self._flops, "com": 0.0}


class LogWorkload(msgspec.Struct, kw_only=True, eq=False):
    """As `Workload`, for what needs no object per job: `write_workload` takes either."""

    path: Path
    name: str
    nb_res: int
    about: dict[str, Any]
    #: In Batsim's order of submission, on the workload's clock.
    jobs: LogColumns
    #: One for all jobs of a run time.
    profiles: LogProfiles
    as_written: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}

    def uses(self) -> Iterator[tuple[str, int]]:
        """Yield profile and number of units of each job."""
        return zip(map(profile_name, self.jobs.runtime.tolist()), map(int, self.jobs.units.tolist()), strict=True)

    def requests(self) -> set[Request]:
        """Return what jobs ask for, each thing once.

        Raises:
            InputError: that is more than any workload may say.
        """
        jobs = self.jobs
        # Jobs that share a table and have as many units ask alike.
        rows = {pair: row for row, pair in enumerate(zip(map(id, jobs.tables), jobs.units.tolist(), strict=True))}
        return set(jobs.requests(rows.values(), self.path))

    def rows(self) -> Iterator[list[Any]]:
        """Yield what is encoded to the jobs of Batsim 4, many at a time."""
        jobs = self.jobs
        for part in self._parts():
            walltime = jobs.walltime[part]
            columns: dict[str, list[Any]] = {
                "id": jobs.ids[part],
                "subtime": as_written(jobs.submission[part], EXACT),
                "res": as_written(jobs.units[part]),
                "walltime": as_written(np.where(np.isinf(walltime), np.nan, walltime), EXACT),
                # As `profile_name` has it.
                "profile": [f"d{delay}" for delay in as_written(jobs.runtime[part], EXACT)],
            }
            yield jobs.rows(columns, part)

    @property
    def is_usual(self) -> bool:
        """Whether a reader of the workload's file would take all jobs as they are, and in this order.

        What it would refuse, such as a name with a comma, it refuses in its own words.
        """
        jobs = self.jobs
        users = jobs.numbers.get("user")
        user_types = {type(table["user"]) for table in jobs.tables if "user" in table} if users is None else set()
        return (
            self.profiles.are_delays
            and 1 <= self.nb_res <= MAX_HOST_ID
            and are_names(jobs.ids)
            and bool((jobs.submission <= MAX_MOMENT).all() and (jobs.walltime > 0).all())
            and bool(jobs.units.min() >= 1 and jobs.units.max() <= MAX_UNITS)
            and (users is None or bool((np.isnan(users) | (users == np.floor(users))).all()))
            and user_types <= {str, int}
            and submission_order(jobs.submission, jobs.ids) is None
        )

    def columns(self) -> JobColumns | None:
        """Return the jobs as columns; None: a job says more than a number of whole hosts, and what most do."""
        jobs = self.jobs
        if not all(map(KNOWN_FIELDS.isdisjoint, {id(table): table for table in jobs.tables}.values())):
            return None
        delay = np.unique(jobs.runtime)
        users, user = jobs.few_texts("user")
        return JobColumns(
            ids=PackedTexts.of(jobs.ids),
            submission=jobs.submission,
            units=jobs.units.astype(np.int64),
            walltime=jobs.walltime,
            profile=np.searchsorted(delay, jobs.runtime).astype(np.int32),
            profiles=list(self.profiles),
            delay=delay,
            code=np.zeros(len(delay), dtype=np.int64),
            user=user.astype(np.int32),
            users=users,
        )

    def let_compute(self, speed: str) -> None:
        """Let jobs compute for as long as they ran on cores of a speed such as ``1Gf``. **This changes the workload.**

        Raises:
            InputError: that is no speed, or so large that no number says how much a job computes.
        """
        # What reads platforms takes long to import, beside what reads logs.
        from batdispatch.inputs.platforms.units import quantity

        try:
            flops = quantity(speed, "speed")
        except ValueError as problem:
            raise InputError(f"{speed!r} {problem}", source="option --compute") from None
        if flops <= 0:
            raise InputError(f"{speed!r} must be positive", source="option --compute")
        longest = float(self.jobs.runtime.max())
        if math.isinf(longest * flops):
            why = f"{speed!r} is beyond numbers for a job that ran for {longest:g} s"
            raise InputError(why, source="option --compute")
        self.profiles = LogProfiles(np.unique(self.jobs.runtime), flops)

    def workload(self, path: Path | None = None, digest: str = "") -> Workload:
        """Return the workload with an object per job.

        Args:
            path: of the file in which it was written; None: it was not.
            digest: SHA-256 of that file, in hexadecimal.
        """
        jobs = [job for part in self._parts() for job in self._objects(part)]
        about, profiles = self.about, dict(self.profiles)
        path, name = path or self.path, self.name if path is None else stem(path)
        return Workload(
            path=path, name=name, digest=digest, nb_res=self.nb_res, jobs=jobs, profiles=profiles, about=about
        )

    def _objects(self, part: slice) -> Iterator[Job]:
        jobs = self.jobs
        numbers = (column[part].tolist() for column in (jobs.submission, jobs.walltime, jobs.runtime, jobs.units))
        rows = jobs.rows({}, part)
        tables = rows if isinstance(rows[0], dict) else msgspec.to_builtins(rows)
        for name, submission, walltime, runtime, units, fields in zip(jobs.ids[part], *numbers, tables, strict=True):
            yield Job(
                id=name,
                request=read_request(int(units), fields),
                submission=submission,
                walltime=walltime,
                # Most jobs share profiles and users with others.
                profile=intern(profile_name(runtime)),
                user=intern(str(fields.get("user", ""))),
                parent=fields.get("parent", ""),
                extra=fields,
            )

    def _parts(self) -> Iterator[slice]:
        return (slice(first, first + _BLOCK) for first in range(0, len(self.jobs), _BLOCK))
