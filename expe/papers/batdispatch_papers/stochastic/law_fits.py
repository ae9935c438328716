"""Laws of run times fitted to a log: jobs of one user and size, unless said otherwise, are runs of one application.

A law is fitted by maximum likelihood to all runs of an application (`likelihood`). So it knows the whole log: it is a
user's experience, not a prediction. Its quality is measured on a split in time. The family is the one under which the
later third of the runs is most likely after a fit to the earlier runs. The cost is that of requests which are made from
the earlier runs, for the later runs.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from batdispatch.abilities.stochastic.requests.base import make_sequence
from batdispatch.abilities.stochastic.requests.cost import expected_cost
from batdispatch.abilities.stochastic.requests.laws import Empirical, Floats, Law
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.profiles import runtime_of
from batdispatch.inputs.workloads.model import Workload
from batdispatch_papers.stochastic.likelihood import distance, fit_family, held_out, split
from batdispatch_papers.stochastic.workload_options import Fit

#: Previous runs that a job states.
HISTORY = 5
#: Most run times of an empirical law that is fitted: each job of its group states it.
MAX_VALUES = 200
#: A family is not chosen if the means of law and runs are further apart. Where the later runs are unlike the earlier
#: ones, a law that says little is the least wrong of all, but requests that are made from it cost too much.
MEAN_TOLERANCE = 0.1
#: What makes an application unless said otherwise.
APPLICATION = ("user", "units")
#: Request sequences whose cost is measured.
SEQUENCES = ("toptimal", "hpc")
#: Told (applications done, applications in all).
Progress = Callable[[int, int], None]


class Application(msgspec.Struct, frozen=True, kw_only=True):
    """An application of a log, and how well its law describes it.

    Attributes:
        key: values of the fields that make it.
        jobs: number of its runs.
        family: of its law, a name of `Fit`.
        law: as it is written.
        distance: of law and runs, see `likelihood.distance`.
        mean_ratio: mean of the law over mean of the runs.
        held_out: family -> mean log-likelihood of the later runs after a fit to the earlier ones; only where the family
            was chosen by it.
        later_used: what the later runs took, s.
        later_reserved: name of a request sequence -> what its requests, made from the law of the earlier runs, reserve
            for the later runs, s; `users`: the walltimes of those runs, unless one has none.
    """

    key: list[str]
    jobs: int
    family: str
    law: str
    distance: float
    mean_ratio: float
    held_out: dict[str, float]
    later_used: float
    later_reserved: dict[str, float]


class FitResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a log.

    Attributes:
        applications: that got a law, in the order of their first jobs.
        known: jobs that stay as they were.
        unknown: of those, jobs that do not say to which application they belong.
    """

    applications: list[Application]
    known: int
    unknown: int

    @property
    def stochastic(self) -> int:
        """Jobs that got a law."""
        return sum(application.jobs for application in self.applications)


def fit(runtimes: Floats, kind: Fit) -> Law:
    """Return a law of run times in order of submission, in their unit.

    ``best``: of the family under which the later runs are most likely, see `likelihood.held_out`, among those whose law
    has the mean of the runs within `MEAN_TOLERANCE`; ``empirical``: the run times themselves, or `MAX_VALUES` quantiles
    of them, the last of which is the longest; otherwise of the family named. The support is `likelihood.support_of` the
    run times.
    """
    return _fit(runtimes, kind)[1]


def _fit(runtimes: Floats, kind: str) -> tuple[str, Law, dict[str, float]]:
    """Return family, law, and what the family was chosen by, if it was."""
    if kind == "best":
        return _best(runtimes)
    if kind == "empirical":
        count = len(runtimes)
        if count > MAX_VALUES:
            runtimes = np.quantile(runtimes, (np.arange(MAX_VALUES) + 1) / MAX_VALUES, method="inverted_cdf")
        return kind, Empirical(runtimes.tolist()), {}
    return kind, fit_family(kind, runtimes), {}


def _best(runtimes: Floats) -> tuple[str, Law, dict[str, float]]:
    judged = held_out(runtimes)
    laws: dict[str, Law] = {}
    # Of equals the first, which has the fewest parameters.
    for name in sorted(judged, key=judged.__getitem__, reverse=True):
        laws[name] = fit_family(name, runtimes)
        if _error(laws[name], runtimes) <= MEAN_TOLERANCE:
            return name, laws[name], judged
    name = min(laws, key=lambda name: _error(laws[name], runtimes))
    return name, laws[name], judged


def _error(law: Law, runtimes: Floats) -> float:
    """Return how far the means of a law and of its runs are apart: the larger over the smaller, minus 1."""
    ratio = law.mean / float(runtimes.mean())
    return max(ratio, 1 / ratio) - 1


def with_laws(
    workload: Workload,
    *,
    kind: Fit = "best",
    least: int = 20,
    application: Sequence[str] = APPLICATION,
    progress: Progress | None = None,
) -> tuple[Workload, FitResult]:
    """Return a log's workload with laws in place of walltimes, and what was done.

    Jobs that agree in some fields are runs of one application. An application of at least `least` runs gets a law, and
    each of its jobs the run times of the `HISTORY` runs that ended last before it was submitted. A workload does not
    say when the log started its jobs, so a run counts as ended at the earliest time that any schedule allows: its
    submission plus its run time.

    Args:
        workload: whose run times are known.
        kind: see `fit`.
        least: runs of an application that are worth a law, at least 2.
        application: the fields, `units`, `user`, or any other that the jobs have. A job without one of them stays as it
            was.
        progress: told how far it is.

    Raises:
        InputError: `least` is too small, no application has as many runs, or no job says to which it belongs.
    """
    if least < 2:
        raise InputError(f"{least}, expected at least 2", source="option --least")
    runtimes = {name: runtime_of(profile, workload.profiles) for name, profile in workload.profiles.items()}
    groups: dict[tuple[str, ...], list[Job]] = defaultdict(list)
    lacking = dict.fromkeys(application, 0)
    unknown = 0
    for job in workload.jobs:
        key = tuple(_field(job, field) for field in application)
        for field, value in zip(application, key, strict=True):
            lacking[field] += not value
        if not all(key):
            unknown += 1
        elif runtimes[job.profile]:
            groups[key].append(job)
    _check_known(workload, lacking, unknown)
    large = {key: listed for key, listed in groups.items() if len(listed) >= least}
    if not large:
        raise InputError(
            f"no application ({', '.join(application)}) has {least} jobs of known run time", source=str(workload.path)
        )
    fields: dict[str, dict[str, object]] = {}
    applications: list[Application] = []
    for key, listed in large.items():
        lengths = np.array([float(runtimes[job.profile] or 0.0) for job in listed])
        found = _application(key, listed, lengths, kind)
        applications.append(found)
        for job, history in zip(listed, histories(listed, lengths), strict=True):
            fields[job.id] = {"runtime_law": found.law, "history": history}
        if progress is not None:
            progress(len(applications), len(large))
    jobs = [job if job.id not in fields else _stochastic(job, {**job.extra, **fields[job.id]}) for job in workload.jobs]
    made = Workload(
        path=workload.path, name=workload.name, nb_res=workload.nb_res, jobs=jobs, profiles=workload.profiles
    )
    return made, FitResult(applications=applications, known=len(jobs) - len(fields), unknown=unknown)


def histories(jobs: Sequence[Job], runtimes: Floats) -> list[list[float]]:
    """Return for each job the run times of the `HISTORY` runs that ended last before its submission, latest last.

    Args:
        jobs: in order of submission.
        runtimes: of the jobs, float64 [job]; a run counts as ended at its submission plus its run time.
    """
    running: list[tuple[float, int]] = []
    ended: list[float] = []
    found = []
    for n, job in enumerate(jobs):
        while running and running[0][0] <= job.submission:
            ended.append(float(runtimes[heapq.heappop(running)[1]]))
        found.append(ended[-HISTORY:])
        heapq.heappush(running, (job.submission + float(runtimes[n]), n))
    return found


def _field(job: Job, name: str) -> str:
    """Return a job's field as text, empty if the job does not have it."""
    if name == "units":
        return str(job.units)
    return job.user if name == "user" else str(job.extra.get(name, ""))


def _check_known(workload: Workload, lacking: dict[str, int], unknown: int) -> None:
    """Refuse a log of which no job says to which application it belongs."""
    if unknown < len(workload.jobs):
        return
    missing = [field for field, count in lacking.items() if count == len(workload.jobs)] or list(lacking)
    rest = [field for field in lacking if field not in missing]
    raise InputError(
        f"none of the {len(workload.jobs):,} jobs has a field {' or '.join(map(repr, missing))}, so nobody knows which "
        "jobs are runs of one application. Say which fields tell it: --application "
        f"{','.join(rest) or 'units'}" + (" takes all jobs of one size for one" if rest == ["units"] else ""),
        source=str(workload.path),
    )


def _application(key: tuple[str, ...], jobs: Sequence[Job], runtimes: Floats, kind: Fit) -> Application:
    family, law, judged = _fit(runtimes, kind)
    earlier, later = split(runtimes)
    known = _fit(earlier, family)[1]
    actual = Empirical(later.tolist())
    reserved = {}
    for name in SEQUENCES:
        sequence = make_sequence(name)
        limits = sequence.reaching(sequence.limits(known), actual.upper)
        reserved[name] = expected_cost(actual, limits) * len(later)
    walltimes = [job.walltime for job in jobs[-len(later) :]]
    if all(math.isfinite(walltime) for walltime in walltimes):
        reserved["users"] = sum(walltimes)
    return Application(
        key=list(key),
        jobs=len(jobs),
        family=family,
        law=law.text,
        distance=distance(law, runtimes),
        mean_ratio=law.mean / float(runtimes.mean()),
        held_out=judged,
        later_used=float(later.sum()),
        later_reserved=reserved,
    )


def _stochastic(job: Job, extra: dict[str, object]) -> Job:
    """Return a job without walltime, which is for the dispatcher to choose."""
    return msgspec.structs.replace(job, walltime=math.inf, extra=extra)


def summary_of(fitted: FitResult, application: str) -> str:
    """Return how many laws were fitted, how well, and what requests made from them cost.

    Args:
        fitted: the laws.
        application: the fields in which the jobs of an application agree, as people wrote them.
    """
    found = fitted.applications
    unknown = f", of which {fitted.unknown:,} do not say their application" if fitted.unknown else ""
    families = Counter(each.family for each in found)
    jobs = f"{fitted.stochastic:,} jobs with a law, {fitted.known:,} as they were{unknown}"
    lines = [
        f"{len(found):,} applications ({application}): {jobs}",
        f"families: {', '.join(f'{name} {count:,}' for name, count in families.most_common())}",
        f"{'':28}{'median':>8}{'5 %':>8}{'95 %':>8}",
    ]
    for label, values in (
        ("mean of law / mean of runs", [each.mean_ratio for each in found]),
        ("Kolmogorov-Smirnov distance", [each.distance for each in found]),
    ):
        shown = np.percentile(values, [50, 5, 95])
        lines.append(f"{label:28}{''.join(f'{value:8.3f}' for value in shown)}")
    costs = []
    for name, label in (("toptimal", "toptimal"), ("hpc", "hpc"), ("users", "users' walltimes")):
        known = [each for each in found if name in each.later_reserved]
        if known:
            reserved = sum(each.later_reserved[name] for each in known)
            costs.append(f"{label} {reserved / sum(each.later_used for each in known):.2f}")
    lines.append(f"time reserved / time used, later third of the runs: {', '.join(costs)}")
    return "\n".join(lines)
