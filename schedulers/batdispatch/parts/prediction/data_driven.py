"""Predictions from the user's earlier jobs that look most like this one."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Hashable, Iterator

from batdispatch.core.jobs.job import Job
from batdispatch.core.line.ledger import Ledger
from batdispatch.parts.prediction.base import Prediction, name_of

#: What a job asks for: ("units", number) and (resource, amount of a unit) pairs.
Resources = frozenset[tuple[str, int]]


class DataDriven(Prediction):
    """Predicts the run time of the user's most similar job that ended, which six rules find in turn.

    Galleguillos, Sîrbu, Kiziltan, Babaoglu, Borghesi, Bridi: "Data-driven job dispatching in HPC systems", MOD 2017. A
    job's profile is its name, queue, walltime and resources; the last job that ended is remembered for each profile.

    1. the same profile;
    2. a name with a common beginning (the longest, then the most recent), all else equal;
    3. the same name, other resources (most of them equal, then the most recent), all else equal;
    4. a name with a common beginning and other resources (in this order), all else equal;
    5. the last job of the same name;
    6. the last job whose name has the longest common beginning;
    and the walltime if none applies. Jobs without a user or without a name are not predicted.

    Typical use: where jobs have users and names, and users run the same applications again.
    Time: logarithmic in the user's names, plus those that share the longest common beginning.
    """

    def begin(self, ledger: Ledger) -> None:
        #: By user and what must be equal: (queue, walltime, resources), (queue, walltime) and nothing.
        self._known: dict[Hashable, Names] = {}
        self._ended = 0

    def predict(self, job: Job) -> float | None:
        name = name_of(job)
        if not job.user or not name:
            return None
        resources = resources_of(job)
        for scope, similar in zip(_scopes(job, resources), (True, True, False), strict=True):
            names = self._known.get(scope)
            if names is None:
                continue
            for candidates in (names.same(name), names.closest(name)):
                best = _best(candidates, resources if similar else None)
                if best is not None:
                    return best
        return None

    def learn(self, job: Job, runtime: float, predicted: float, ended: float) -> None:
        name = name_of(job)
        if not job.user or not name:
            return
        self._ended += 1
        resources = resources_of(job)
        for scope in _scopes(job, resources):
            self._known.setdefault(scope, Names()).add(name, resources, self._ended, runtime)


class Names:
    """Names of jobs that ended, sorted, each with the last run time for each set of resources."""

    def __init__(self) -> None:
        self._sorted: list[str] = []
        self._of: dict[str, dict[Resources, tuple[int, float]]] = {}

    def add(self, name: str, resources: Resources, order: int, runtime: float) -> None:
        """Remember a job; `order` grows from one job to the next."""
        if name not in self._of:
            insort(self._sorted, name)
            self._of[name] = {}
        self._of[name][resources] = (order, runtime)

    def same(self, name: str) -> Iterator[tuple[Resources, int, float]]:
        """Yield (resources, order, run time) of the jobs of a name."""
        for resources, (order, runtime) in self._of.get(name, {}).items():
            yield resources, order, runtime

    def closest(self, name: str) -> Iterator[tuple[Resources, int, float]]:
        """Yield the jobs whose names share the longest beginning with `name`, at least a character."""
        middle = bisect_left(self._sorted, name)
        # In sorted order, common beginnings only shorten with the distance.
        length = max((common(name, other) for other in self._sorted[max(middle - 1, 0) : middle + 1]), default=0)
        if not length:
            return
        for step, index in ((-1, middle - 1), (1, middle)):
            while 0 <= index < len(self._sorted) and common(name, self._sorted[index]) >= length:
                yield from self.same(self._sorted[index])
                index += step


def common(a: str, b: str) -> int:
    """Return the length of the common beginning of two texts."""
    length = 0
    for one, other in zip(a, b, strict=False):
        if one != other:
            break
        length += 1
    return length


def resources_of(job: Job) -> Resources:
    """Return what a job asks for, as pairs."""
    amounts = [(name, amount) for name, amount in job.request.per_unit or () if amount]
    return frozenset({("units", job.units), *amounts})


def _scopes(job: Job, resources: Resources) -> tuple[Hashable, Hashable, Hashable]:
    """Return what rules 1 and 2, 3 and 4, and 5 and 6 ask to be equal."""
    queue = str(job.extra.get("queue", ""))
    return (job.user, queue, job.walltime, resources), (job.user, queue, job.walltime), job.user


def _best(candidates: Iterator[tuple[Resources, int, float]], resources: Resources | None) -> float | None:
    """Return the run time of the job with most resources equal, if these are given, then of the most recent."""
    best = max(
        ((len(resources & other) if resources else 0, order, runtime) for other, order, runtime in candidates),
        default=None,
    )
    return None if best is None else best[2]
