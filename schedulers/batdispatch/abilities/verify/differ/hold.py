"""Holds start times against a definition, and looks for the variant of it that explains them exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import NamedTuple

from batdispatch.abilities.verify.differ.textbook import Departure, RigidJob, Rules, simulate
from batdispatch.abilities.verify.differ.variants import (
    AMONG_EQUAL,
    DEFINITIONS,
    EVENT_ORDERS,
    OVERRUN,
    Variant,
    mistakes_of,
    rules_of,
)

Starts = Sequence[int | None]


class Explanation(NamedTuple):
    """Rules that may have made a schedule.

    Attributes:
        rules: of the simulation.
        policy: whose definition they start from, a key of `variants.DEFINITIONS`.
        readings: how they read what the definition leaves open, where it matters to these jobs.
        mistakes: where they depart from it.
        alike: jobs that start as in the schedule before the first one that does not.
        exact: whether all do.
    """

    rules: Rules
    policy: str
    readings: tuple[Variant, ...]
    mistakes: tuple[Variant, ...]
    alike: int
    exact: bool


class Comparison(NamedTuple):
    """A schedule beside the one that a definition gives.

    Attributes:
        expected: starts under the reading of the definition that follows the schedule longest, microseconds.
        closest: that reading.
        differing: indices of the jobs that start at another moment, in order of the expected starts.
        explained: the simplest rules that give the whole schedule; None: none that are known do.
        followed: if there are none, the rules that follow it longest.
    """

    expected: list[int | None]
    closest: Explanation
    differing: list[int]
    explained: Explanation | None
    followed: Explanation | None


def hold(
    jobs: Sequence[RigidJob],
    starts: Starts,
    policy: str,
    hosts: int,
    *,
    other_sizes: Sequence[int] = (),
    tolerance: int = 500_000,
) -> Comparison:
    """Compare the starts of jobs with those that a definition gives.

    Args:
        jobs: in the order of the file.
        starts: microseconds, one a job; None: the job never started.
        policy: a key of `variants.DEFINITIONS`.
        hosts: processors of the machine.
        other_sizes: further numbers of processors that may explain the schedule.
        tolerance: up to how many microseconds times count as equal.
    """
    readings = list(_readings(jobs))
    tries = [_try(jobs, starts, rules_of(policy, hosts), policy, reading, (), tolerance) for reading in readings]
    closest = max(tries, key=lambda tried: (tried.exact, tried.alike))
    expected = simulate(jobs, closest.rules)
    assert isinstance(expected, list)
    differing = [index for index in range(len(jobs)) if _differ(expected[index], starts[index], tolerance)]
    differing.sort(key=lambda index: _or_never(expected[index]))
    if closest.exact:
        return Comparison(expected, closest, differing, closest, None)
    followed = closest
    for rules, named, mistakes in _departures(policy, hosts, other_sizes):
        for reading in readings:
            tried = _try(jobs, starts, rules, named, reading, mistakes, tolerance)
            if tried.exact:
                return Comparison(expected, closest, differing, tried, None)
            followed = max(followed, tried, key=lambda tried: tried.alike)
    return Comparison(expected, closest, differing, None, followed)


def _differ(one: int | None, other: int | None, tolerance: int) -> bool:
    if one is None or other is None:
        return one is not other
    return abs(one - other) > tolerance


def _or_never(start: int | None) -> float:
    return float("inf") if start is None else start


def _readings(jobs: Sequence[RigidJob]) -> Iterator[tuple[Variant, ...]]:
    """Yield the readings that may matter to these jobs, the package's own first."""
    equal = len({job.submission for job in jobs}) < len(jobs)
    over = any(job.runtime > job.walltime for job in jobs)
    yield from product(EVENT_ORDERS, AMONG_EQUAL if equal else AMONG_EQUAL[:1], OVERRUN if over else OVERRUN[:1])


def _departures(
    policy: str, hosts: int, other_sizes: Sequence[int]
) -> Iterator[tuple[Rules, str, tuple[Variant, ...]]]:
    """Yield rules that depart from the definition, those that depart least first."""
    true, mistakes = rules_of(policy, hosts), mistakes_of(policy)
    others = [name for name in DEFINITIONS if name != policy]
    for size in other_sizes:
        yield replace(true, hosts=size), policy, ()
    for mistake in mistakes:
        yield mistake.of(true), policy, (mistake,)
    for name in others:
        yield rules_of(name, hosts), name, ()
    for size in other_sizes:
        for mistake in mistakes:
            yield mistake.of(replace(true, hosts=size)), policy, (mistake,)
        for name in others:
            yield rules_of(name, size), name, ()
    for pair in combinations(mistakes, 2):
        if not pair[0].changes.keys() & pair[1].changes.keys():
            yield pair[1].of(pair[0].of(true)), policy, pair


def _try(
    jobs: Sequence[RigidJob],
    starts: Starts,
    rules: Rules,
    policy: str,
    readings: tuple[Variant, ...],
    mistakes: tuple[Variant, ...],
    tolerance: int,
) -> Explanation:
    for reading in readings:
        rules = reading.of(rules)
    found = simulate(jobs, rules, starts, tolerance)
    parted = isinstance(found, Departure)
    alike = found.alike if isinstance(found, Departure) else len(jobs)
    return Explanation(rules, policy, readings, mistakes, alike, not parted)
