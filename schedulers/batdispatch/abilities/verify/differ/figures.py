"""The figures that a policy and its known variants give on a log, to find out what a published figure is of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from batdispatch.abilities.verify.differ.job_files import read_schedule
from batdispatch.abilities.verify.differ.options import FigureOptions
from batdispatch.abilities.verify.differ.textbook import RigidJob, Rules, simulate
from batdispatch.abilities.verify.differ.variants import Variant, mistakes_of, rules_of


class Figure(NamedTuple):
    """What one variant gives on a machine of some size.

    Attributes:
        hosts: processors.
        about: the mistakes; empty: none.
        slowdown: quantile of max(1, (wait + run time) / max(run time, threshold)).
        wait: mean, seconds.
    """

    hosts: int
    about: str
    slowdown: float
    wait: float

    def is_near(self, published: float | None) -> bool:
        """Return whether the slowdown is within 1 % of a published one."""
        return published is not None and abs(self.slowdown - published) <= 0.01 * abs(published)


def figures_of_log(log: Path, wanted: FigureOptions) -> tuple[int, Iterator[Figure]]:
    """Return the number of jobs of a log, and the figures that people want of it.

    Raises:
        InputError: the log is malformed.
    """
    schedule = read_schedule(log, kind=wanted.kind, options=wanted.log_options)
    stated = next(iter(schedule.sizes))
    sizes = wanted.hosts or tuple(dict.fromkeys([stated, 1 << (stated - 1).bit_length()]))
    limits = {"threshold": wanted.threshold, "quantile": wanted.quantile}
    return len(schedule.jobs), figures_of(schedule.jobs, wanted.policy, sizes, **limits, together=wanted.together)


def figures_of(
    jobs: Sequence[RigidJob],
    policy: str,
    sizes: Sequence[int],
    *,
    threshold: float,
    quantile: float,
    together: int = 1,
) -> Iterator[Figure]:
    """Yield the figures of a policy, then those of its variants, on machines of each size.

    Args:
        jobs: of a log.
        policy: a key of `variants.DEFINITIONS`.
        sizes: numbers of processors.
        threshold: of the bounded slowdown, seconds.
        quantile: of the bounded slowdown, 0 to 1.
        together: up to how many mistakes are made at once.
    """
    mistakes = mistakes_of(policy)
    sets = [chosen for count in range(together + 1) for chosen in combinations(mistakes, count)]
    for chosen in sets:
        if _agree(chosen):
            for hosts in sizes:
                rules = rules_of(policy, hosts)
                for mistake in chosen:
                    rules = mistake.of(rules)
                about = "; ".join(mistake.about for mistake in chosen) or "as defined"
                yield _figure(jobs, rules, about, threshold, quantile)


def _agree(chosen: Sequence[Variant]) -> bool:
    """Return whether no two variants change the same field."""
    fields = [field for mistake in chosen for field in mistake.changes]
    return len(set(fields)) == len(fields)


def _figure(jobs: Sequence[RigidJob], rules: Rules, about: str, threshold: float, quantile: float) -> Figure:
    found = simulate(jobs, rules)
    assert isinstance(found, list)
    ran = [(job, start) for job, start in zip(jobs, found, strict=True) if start is not None]
    wait = np.array([start - job.submission for job, start in ran]) / 1e6
    length = np.array([min(job.runtime, job.walltime) for job, _ in ran]) / 1e6
    slowdown = np.maximum((wait + length) / np.maximum(length, threshold), 1.0)
    return Figure(rules.hosts, about, float(np.quantile(slowdown, quantile)), float(wait.mean()))
