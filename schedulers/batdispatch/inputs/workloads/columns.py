"""The jobs of a workload as numpy columns: for what needs no object per job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.core.jobs.fields import is_whole_hosts, plain_request
from batdispatch.core.jobs.job import Job
from batdispatch.inputs.workloads.model import Workload
from batdispatch.native.texts import PackedTexts

#: Times that are objects at the same time.
_BLOCK = 4096


class JobColumns(msgspec.Struct, kw_only=True, eq=False, frozen=True):
    """Jobs that ask for whole hosts, any ones, and do nothing but take a known time; in Batsim's order of submission.

    Such jobs say nothing of a request but their number of hosts, continue and await no other job, and have a profile of
    type ``delay``. Fields that only somebody else reads (such as ``group``) are left out.
    """

    #: Id without the prefix ``w0!``.
    ids: PackedTexts
    #: Submission time, s, float64 [job], as in `Job.submission`.
    submission: NDArray[np.float64]
    #: Number of hosts, int64 [job].
    units: NDArray[np.int64]
    #: Longest run time allowed, s, float64 [job]; infinite when none was asked for.
    walltime: NDArray[np.float64]
    #: Position of the job's profile in `profiles`, int32 [job].
    profile: NDArray[np.int32]
    #: Names of the profiles, those that no job has included.
    profiles: list[str]
    #: How long each profile takes, s, float64 [profile]; NaN where it is no delay (no job here has it).
    delay: NDArray[np.float64]
    #: Return code of each profile, int64 [profile]; not 0: its jobs fail.
    code: NDArray[np.int64]
    #: Position of the job's user in `users`, int32 [job].
    user: NDArray[np.int32]
    #: Names of the users; the empty text stands for an unknown one.
    users: list[str]
    #: The jobs as they were told, where they ask for more than whole hosts; None: `job` tells all there is.
    told: list[Job] | None = None
    #: By job, the fields that only somebody else reads; None: they were left out.
    extra: list[dict[str, Any]] | None = None

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self.ids)

    @property
    def runtime(self) -> NDArray[np.float64]:
        """How long each job takes if nobody stops it, s, float64 [job]."""
        return self.delay[self.profile]

    def job(self, row: int) -> Job:
        """Return a job as an object, without the fields that only somebody else reads if these were left out."""
        told = None if self.told is None else self.told[row]
        return Job(
            id=self.ids[row],
            request=plain_request(int(self.units[row])) if told is None else told.request,
            submission=float(self.submission[row]),
            walltime=float(self.walltime[row]),
            profile=self.profiles[self.profile[row]],
            user=self.users[self.user[row]],
            extra={} if self.extra is None else self.extra[row],
        )


class NotPlain(NamedTuple):
    """A workload whose jobs `JobColumns` cannot hold."""

    #: The first thing that it cannot hold, in words.
    reason: str


def delays_of(profiles: Mapping[str, Mapping[str, Any]]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return seconds (NaN where a profile is no delay) and return code of each checked profile, both [profile]."""
    seconds = [float(each["delay"]) if each["type"] == "delay" else np.nan for each in profiles.values()]
    codes = [int(each.get("ret", 0)) for each in profiles.values()]
    return np.array(seconds, dtype=np.float64), np.array(codes, dtype=np.int64)


def columns_of(workload: Workload, *, told: bool = False) -> JobColumns | NotPlain:
    """Return the jobs of a workload as columns, or why they cannot be; `told`: they may ask for anything."""
    index = {name: position for position, name in enumerate(workload.profiles)}
    delay, code = delays_of(workload.profiles)
    users: dict[str, int] = {}
    for job in workload.jobs:
        if job.parent:
            return NotPlain(f"job {job.id!r} continues another one")
        if "array" in job.extra:
            return NotPlain(f"job {job.id!r} is a task of an array")
        if not told and not is_whole_hosts(job.request):
            return NotPlain(f"job {job.id!r} asks for more than a number of whole hosts")
        if np.isnan(delay[index[job.profile]]):
            kind = workload.profiles[job.profile]["type"]
            return NotPlain(f"job {job.id!r} has a profile of type {kind!r}, not 'delay'")
        users.setdefault(job.user, len(users))
    jobs = workload.jobs
    return JobColumns(
        ids=PackedTexts.of([job.id for job in jobs]),
        submission=np.array([job.submission for job in jobs], dtype=np.float64),
        units=np.array([job.units for job in jobs], dtype=np.int64),
        walltime=np.array([job.walltime for job in jobs], dtype=np.float64),
        profile=np.array([index[job.profile] for job in jobs], dtype=np.int32),
        profiles=list(workload.profiles),
        delay=delay,
        code=code,
        user=np.array([users[job.user] for job in jobs], dtype=np.int32),
        users=list(users),
        told=jobs if told else None,
        extra=[job.extra for job in jobs],
    )


def on_clock(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return times, s, as a clock counts them that knows microseconds, as that of Batsim's messages does."""
    counted = times.copy()
    fractions = np.flatnonzero(times != np.floor(times))
    # NumPy rounds a product, and so differs where it comes out near a half.
    for rows in np.array_split(fractions, len(fractions) // _BLOCK + 1):
        counted[rows] = [round(time, 6) for time in times[rows].tolist()]
    return counted


def submission_order(submission: NDArray[np.float64], ids: Sequence[str] | PackedTexts) -> NDArray[np.int64] | None:
    """Return the rows in Batsim's order of submission, as `Workload.sort` has it; None: they are."""
    order = np.argsort(submission, kind="stable")
    times = submission[order]
    for row in np.flatnonzero(times[1:] == times[:-1]).tolist():
        if ids[order[row]] > ids[order[row + 1]]:
            first, behind = np.searchsorted(times, times[row]), np.searchsorted(times, times[row], side="right")
            order[first:behind] = sorted(order[first:behind].tolist(), key=ids.__getitem__)
    return None if (np.diff(order) == 1).all() else order
