"""New workloads from a log's own users: each one's weeks stay as they were, and whose weeks meet is drawn anew.

After Zakay and Feitelson. A log is cut into what each user submitted. Users who were there for long are as many as were
there at a time: each begins at a random one of the own weeks, goes on week by week, and then begins again. The other
users come for their whole stay at random weeks, as many a week as in the log on average. Everything is moved by whole
weeks. So a user's sessions, and the daily and weekly cycles of all of them, stay as they were, while load and the mix
of users vary as they do from month to month.

Here users are drawn with replacement, as a bootstrap draws, those for long in proportion to their weeks. A stay that
goes beyond the last week goes on in the first one, so that the expected load is the log's from the first week on. A
user who is drawn twice is two users.

References:
    N. Zakay, D. G. Feitelson. Workload resampling for performance evaluation of parallel job schedulers. ICPE 2013,
    149-159; Concurrency and Computation: Practice and Experience 26 (12), 2079-2105, 2014.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from msgspec import structs

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job
from batdispatch.inputs.workloads.links import relink
from batdispatch.inputs.workloads.model import Workload

WEEK = 604_800.0
#: Users whose first and last jobs are at least so many weeks apart were there for long.
LONG = 12
MAX_WEEKS = 10_000


class Sample(NamedTuple):
    """What was drawn.

    Attributes:
        long_users: users drawn of those who were there for long.
        other_users: users drawn of the others.
        nameless: jobs of the log that name no user, which are left out.
    """

    long_users: int
    other_users: int
    nameless: int


def resample(
    rng: np.random.Generator, workload: Workload, *, weeks: int | None = None, long: int = LONG
) -> tuple[Workload, Sample]:
    """Return a workload of so many weeks drawn from the users of another one, and what was drawn.

    Args:
        rng: everything random is drawn from here.
        workload: is not changed.
        weeks: of the new one; None: as many as the other one has, rounded up.
        long: see `LONG`.

    Raises:
        InputError: an argument is out of range, no job names its user, or nothing was drawn.
    """
    for option, value in (("weeks", 1 if weeks is None else weeks), ("long", long)):
        if not 1 <= value <= MAX_WEEKS:
            raise InputError(f"{value}, expected 1 to {MAX_WEEKS:,}", source=f"option --{option}")
    users: dict[str, list[Job]] = defaultdict(list)
    for job in workload.jobs:
        if job.user:
            users[job.user].append(job)
    if not users:
        raise InputError("names no user of any job, so that users cannot be drawn", source=str(workload.path))
    first = workload.jobs[0].submission
    span = int((workload.jobs[-1].submission - first) // WEEK) + 1
    many = weeks or span
    stays = [_Stay(name, jobs, first) for name, jobs in users.items()]
    there_long = [stay for stay in stays if stay.weeks > long]
    others = [stay for stay in stays if stay.weeks <= long]
    jobs: list[Job] = []
    # As many as there were at a time, so that the load is kept.
    slots = _whole(rng, sum(stay.weeks for stay in there_long) / span)
    for slot in range(slots):
        # Who was there for longer was met more often.
        shares = np.array([stay.weeks for stay in there_long], dtype=float)
        stay = there_long[int(rng.choice(len(there_long), p=shares / shares.sum()))]
        begin = int(rng.integers(stay.weeks))
        for week in range(many):
            jobs += stay.copied(f"{stay.user}.{slot}", (begin + week) % stay.weeks, week, f".{slot}.{week}")
    visits = _whole(rng, len(others) * many / span)
    for visit in range(visits):
        stay = others[int(rng.integers(len(others)))]
        begin, mark = int(rng.integers(many)), slots + visit
        for week in range(stay.weeks):
            jobs += stay.copied(f"{stay.user}.{mark}", week, (begin + week) % many, f".{mark}")
    if not jobs:
        raise InputError(
            f"nothing was drawn from {len(stays)} users for {many} weeks: expected more weeks",
            source=str(workload.path),
        )
    made = structs.replace(workload, jobs=jobs, digest="")
    made.sort()
    drawn = Sample(slots, visits, sum(not job.user for job in workload.jobs))
    return made.part(0, len(jobs)), drawn


def _whole(rng: np.random.Generator, number: float) -> int:
    """Return one of the two whole numbers around a number, which is their mean."""
    below = math.floor(number)
    return below + int(rng.random() < number - below)


class _Stay:
    """What a user submitted, cut into weeks of the log.

    Attributes:
        user: the name.
        weeks: from the week of the first job to that of the last one.
    """

    def __init__(self, user: str, jobs: list[Job], origin: float) -> None:
        """Cut jobs, in order of submission, into weeks that begin at `origin`."""
        self.user = user
        self._origin = origin
        self._first = self._week(jobs[0])
        self.weeks = self._week(jobs[-1]) - self._first + 1
        self._jobs: dict[int, list[Job]] = defaultdict(list)
        for job in jobs:
            self._jobs[self._week(job) - self._first].append(job)

    def _week(self, job: Job) -> int:
        return int((job.submission - self._origin) // WEEK)

    def copied(self, user: str, week: int, to: int, mark: str) -> Iterator[Job]:
        """Yield the jobs of one of the own weeks, moved to a week of the new workload.

        Args:
            user: whom they belong to there.
            week: which, from 0.
            to: where, from 0.
            mark: ends their ids.
        """
        names = {job.id: job.id + mark for job in self._jobs.get(week, ())}
        moved = (to - week - self._first) * WEEK - self._origin
        for job in self._jobs.get(week, ()):
            extra = {**job.extra, "user": user}
            yield relink(job, names, id=names[job.id], submission=job.submission + moved, user=user, extra=extra)
