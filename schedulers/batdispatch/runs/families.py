"""A dispatcher of each of the six families that a workload and its machine have something for.

All but two are easy with one thing changed, so that a difference to easy comes from that: `stochastic-easy` is easy
under the layer `attempts`, the others have a placement or the layer `resizing`. Searches stop by a deterministic limit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job
from batdispatch.core.line import registry
from batdispatch.core.line.dispatcher import GROUP
from batdispatch.core.line.options import did_you_mean, parse_named, split_list
from batdispatch.core.machine.machine import Machine
from batdispatch.dispatchers import simple

#: What stands for all of them on the command line.
FAMILIES = "families"


class Member(NamedTuple):
    """A family, and who stands for it.

    Attributes:
        family: its name.
        name: of the dispatcher, in tables.
        dispatcher: with options in brackets; empty: nobody can stand for the family here.
        why: what it is, or why there is nobody.
    """

    family: str
    name: str
    dispatcher: str
    why: str


def members(jobs: Sequence[Job], machine: Machine) -> list[Member]:
    """Return the six families, in the order of the manual."""
    return [
        Member("backfilling", "easy", "easy", "EASY backfilling, the baseline"),
        Member(
            "plans for the least total slowdown",
            "hcp19",
            "hcp19[work=0.05,wall=3600]",
            "a constraint search over all nodes as one, at most 0.05 deterministic seconds a decision",
        ),
        Member("programs over jobs and nodes", "ipsched", "ipsched", "an integer program over a window of jobs"),
        _stochastic(jobs),
        _near(machine),
        _malleable(jobs),
    ]


def _stochastic(jobs: Sequence[Job]) -> Member:
    family = "jobs of unknown run time"
    if any("runtime_law" in job.extra for job in jobs):
        return Member(
            family, "stochastic-easy", "stochastic-easy", "easy under the layer attempts, with the laws stated"
        )
    if any(math.isfinite(job.walltime) for job in jobs):
        return Member(
            family,
            "stochastic-easy",
            "stochastic-easy[requests=learned-ratio]",
            "easy under the layer attempts, whose limits are learned from ended runs, since no job states a law",
        )
    return Member(family, "stochastic-easy", "", "no job states a law of its run time (runtime_law) or a walltime")


def _near(machine: Machine) -> Member:
    family = "nodes that are near"
    if machine.topology is None:
        why = (
            "the platform has no network in which some hosts are nearer than others (torus, mesh, fat tree, dragonfly)"
        )
        return Member(family, "easy+compact", "", why)
    return Member(family, "easy+compact", "easy[placement=compact]", "easy on hosts that are near each other")


def _malleable(jobs: Sequence[Job]) -> Member:
    family = "malleable jobs"
    if not any(job.request.sizes is not None for job in jobs):
        return Member(family, "easy+resizing", "", "no job can be resized (sizes); generate malleable makes such jobs")
    return Member(family, "easy+resizing", "resizing[dispatcher=easy]", "easy under the layer resizing")


def check_names(dispatchers: str) -> None:
    """Refuse an unknown name that stands alone in a list of dispatchers, where `FAMILIES` may have been meant.

    Raises:
        InputError: nothing is called so; the message proposes the closest name.
    """
    entries = split_list(dispatchers)
    name, _ = parse_named(entries[0], "option --dispatchers")
    known = [*registry.names(GROUP), FAMILIES, simple.NAME]
    if len(entries) == 1 and not (name in known or ":" in name or name.endswith(".py")):
        raise InputError(f"no dispatcher is called {name!r}: {did_you_mean(name, known)}")
