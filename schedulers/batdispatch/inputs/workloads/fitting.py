"""Laws of run times fitted to a log: jobs of one user and size are runs of one application."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Literal

import msgspec
import numpy as np

from batdispatch.core.errors import InputError
from batdispatch.core.job import Job
from batdispatch.core.profiles import runtime_of
from batdispatch.inputs.workloads.model import Workload
from batdispatch.parts.requests.laws import Empirical, Floats, Law
from batdispatch.parts.requests.vocabulary import parse_law

Fit = Literal["lognormal", "empirical"]
#: Previous runs that a job states.
HISTORY = 5
#: Most run times of an empirical law that is fitted: each job of its group states it.
MOST_VALUES = 200


class Fitted(msgspec.Struct, frozen=True):
    """What became of a log: groups that got a law, jobs in them, and jobs left as they were."""

    groups: int
    stochastic: int
    known: int


def fit(runtimes: Floats, kind: Fit) -> Law:
    """Return a law of run times, in their unit.

    ``lognormal``: by the mean and deviation of the logarithms, truncated to the observed range, which is widened by a
    share of one over their number; ``empirical``: the run times themselves, or `MOST_VALUES` quantiles of them, the
    last of which is the longest.
    """
    if kind == "empirical":
        count = len(runtimes)
        if count > MOST_VALUES:
            runtimes = np.quantile(runtimes, (np.arange(MOST_VALUES) + 1) / MOST_VALUES, method="inverted_cdf")
        return Empirical(runtimes.tolist())
    logs = np.log(runtimes)
    margin = 1 + 1 / len(runtimes)
    lower, upper = float(runtimes.min()) / margin, float(runtimes.max()) * margin
    return parse_law(f"tlognorm:{lower:.9g},{upper:.9g},{logs.mean():.9g},{max(float(logs.std()), 0.01):.9g}")


def with_laws(workload: Workload, *, kind: Fit = "lognormal", least: int = 20) -> tuple[Workload, Fitted]:
    """Return a log's workload with laws in place of walltimes, and what was done.

    Jobs of one user and size make a group; a group of at least `least` jobs gets a law, and each of its jobs the run
    times of those before it as history. The law knows the whole log: a user's experience, not a prediction.

    Args:
        workload: whose run times are known.
        kind: see `fit`.
        least: jobs that make a group worth a law, at least 2.

    Raises:
        InputError: `least` is too small, or no group is that large.
    """
    if least < 2:
        raise InputError(f"{least}, expected at least 2", source="option --least")
    runtimes = {name: runtime_of(profile, workload.profiles) for name, profile in workload.profiles.items()}
    groups: dict[tuple[str, int], list[Job]] = defaultdict(list)
    for job in workload.jobs:
        if runtimes[job.profile]:
            groups[job.user, job.units].append(job)
    fields: dict[str, dict[str, object]] = {}
    counted = 0
    for listed in groups.values():
        if len(listed) < least:
            continue
        counted += 1
        lengths = [float(runtimes[job.profile] or 0.0) for job in listed]
        text = fit(np.array(lengths), kind).text
        for n, job in enumerate(listed):
            fields[job.id] = {"runtime_law": text, "history": lengths[max(n - HISTORY, 0) : n]}
    if not fields:
        raise InputError(f"no user has {least} jobs of one size and known run time", source=str(workload.path))
    jobs = [job if job.id not in fields else _stochastic(job, {**job.extra, **fields[job.id]}) for job in workload.jobs]
    made = Workload(
        path=workload.path, name=workload.name, nb_res=workload.nb_res, jobs=jobs, profiles=workload.profiles
    )
    return made, Fitted(counted, len(fields), len(jobs) - len(fields))


def _stochastic(job: Job, extra: dict[str, object]) -> Job:
    """Return a job without walltime, which is for the dispatcher to choose."""
    return msgspec.structs.replace(job, walltime=math.inf, extra=extra)
