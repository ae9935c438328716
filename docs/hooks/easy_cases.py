"""Cases of five jobs on which implementations of EASY part, and who parts; the page "What is EASY?" is made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import easy_models
from easy_models import Asked

from batdispatch.abilities.verify.differ import textbook
from batdispatch.core.machine.machine import Machine
from batdispatch.testing import Task
from batdispatch.testing import simulate as run_ours

DEFINED = "EASY as defined"


class Case(NamedTuple):
    """Five jobs on a machine of some hosts.

    Attributes:
        name: what the page's mark calls it.
        hosts: of the machine.
        jobs: in order of arrival; times in seconds.
        differ: which implementations start some job at another time than the definition; none where the case is about
            options of this package, so that no other implementation is shown.
        drawn: whose schedule is drawn beside the definition's.
        options: dispatchers of this package that are shown.
        user: of all jobs but the last, for predictions; empty: none is needed.
    """

    name: str
    hosts: int
    jobs: tuple[Asked, ...]
    differ: tuple[str, ...]
    drawn: str
    options: tuple[str, ...]
    user: str = ""


def _book(**changes: str | bool) -> Callable[[Sequence[Asked], int], list[int]]:
    """Return a naive simulation by the textbook's rules with some changes."""

    def starts(jobs: Sequence[Asked], hosts: int) -> list[int]:
        asked = [
            textbook.RigidJob(str(number), job.submission * 10**6, job.units, job.walltime * 10**6, job.runtime * 10**6)
            for number, job in enumerate(jobs, 1)
        ]
        found = textbook.simulate(asked, textbook.Rules(policy="easy", hosts=hosts, **changes))  # type: ignore[arg-type]
        assert isinstance(found, list)
        return [(start or 0) // 10**6 for start in found]

    return starts


#: Who promises hosts, or looks at jobs at other moments -> the model of that.
MODELS: dict[str, Callable[[easy_models.World], None]] = {
    "batsched's easy_bf": easy_models.on_hosts,
    "batsched's easy_bf_fast": easy_models.at_once_or_never,
    "AccaSim": easy_models.not_before_the_promise,
}


def _model(who: str) -> Callable[[Sequence[Asked], int], list[int]]:
    def starts(jobs: Sequence[Asked], hosts: int) -> list[int]:
        found = easy_models.simulate(jobs, hosts, MODELS[who]).starts
        return [found[index] for index in range(len(jobs))]

    return starts


#: Who -> starts, s, of jobs on so many hosts, by a naive model of their public source.
IMPLEMENTATIONS: dict[str, Callable[[Sequence[Asked], int], list[int]]] = {
    DEFINED: _book(),
    **{who: _model(who) for who in MODELS},
    "pyss": _book(told="ends-first", freed="requested-end"),
    "HPCOpt (Python)": _book(shadow="runtime", spare="none", reserved="unless-started", overrun="extend"),
    "HPCOpt (Rust)": _book(shadow="runtime", candidates="runtime", spare="none", overrun="extend"),
}

CASES = (
    Case(
        "extra-nodes",
        6,
        (Asked(0, 5, 5, 5), Asked(2, 3, 5, 5), Asked(3, 2, 4, 4), Asked(4, 4, 3, 3), Asked(6, 1, 8, 8)),
        ("batsched's easy_bf_fast", "HPCOpt (Python)", "HPCOpt (Rust)"),
        "HPCOpt (Rust)",
        ("easy",),
    ),
    Case(
        "particular-hosts",
        4,
        (Asked(0, 3, 12, 12), Asked(3, 1, 12, 12), Asked(6, 2, 10, 10), Asked(10, 3, 2, 2), Asked(11, 1, 13, 13)),
        ("batsched's easy_bf", "batsched's easy_bf_fast", "AccaSim", "HPCOpt (Rust)"),
        "batsched's easy_bf",
        ("easy", "easy[reservation=hosts]"),
    ),
    Case(
        "early-end",
        4,
        (Asked(0, 2, 6, 11), Asked(4, 4, 2, 2), Asked(7, 2, 7, 13), Asked(9, 2, 1, 3), Asked(12, 2, 2, 2)),
        ("AccaSim",),
        "AccaSim",
        ("easy", "easy[reservation=hosts]"),
    ),
    Case(
        "looked-at-once",
        4,
        (Asked(0, 1, 15, 15), Asked(1, 2, 10, 12), Asked(2, 4, 2, 2), Asked(4, 2, 3, 3), Asked(7, 1, 6, 6)),
        ("batsched's easy_bf_fast",),
        "batsched's easy_bf_fast",
        ("easy",),
    ),
    Case(
        "real-ends",
        4,
        (Asked(0, 1, 8, 8), Asked(1, 2, 8, 17), Asked(5, 4, 7, 15), Asked(7, 1, 11, 11), Asked(11, 1, 3, 4)),
        ("HPCOpt (Python)", "HPCOpt (Rust)"),
        "HPCOpt (Python)",
        ("easy",),
    ),
    Case(
        "real-lengths",
        6,
        (Asked(0, 1, 7, 7), Asked(1, 1, 2, 2), Asked(2, 1, 14, 14), Asked(5, 6, 7, 7), Asked(9, 1, 4, 9)),
        ("HPCOpt (Rust)",),
        "HPCOpt (Rust)",
        ("easy",),
    ),
    Case(
        "after-a-start",
        8,
        (Asked(0, 6, 9, 9), Asked(1, 1, 3, 3), Asked(3, 3, 2, 2), Asked(5, 7, 5, 5), Asked(8, 4, 3, 3)),
        ("HPCOpt (Python)",),
        "HPCOpt (Python)",
        ("easy",),
    ),
    Case(
        "one-moment",
        4,
        (Asked(0, 2, 10, 14), Asked(1, 2, 9, 14), Asked(2, 3, 5, 5), Asked(3, 2, 4, 4), Asked(4, 1, 3, 3)),
        ("AccaSim", "pyss"),
        "pyss",
        ("easy",),
    ),
    Case(
        "shortest-first",
        6,
        (Asked(0, 5, 14, 14), Asked(3, 2, 6, 6), Asked(6, 5, 2, 2), Asked(7, 3, 4, 4), Asked(11, 4, 3, 3)),
        (),
        "easy[backfill=sjf]",
        ("easy", "easy[backfill=sjf]", "easy[ordering=sjf]"),
    ),
    Case(
        "late-job",
        4,
        (
            Asked(0, 1, 300, 3600),
            Asked(60, 1, 300, 3600),
            Asked(600, 3, 3000, 6000),
            Asked(720, 4, 600, 600),
            Asked(1980, 1, 1140, 1140),
        ),
        (),
        "easy[prediction=last-two,correction=steps]",
        (
            "easy",
            "easy[prediction=last-two]",
            "easy[prediction=last-two,correction=doubling]",
            "easy[prediction=last-two,correction=steps]",
        ),
        user="anna",
    ),
)


def starts_of(case: Case, who: str) -> list[int]:
    """Return when the jobs of a case start, s; dispatchers of this package run in its engine."""
    if who in IMPLEMENTATIONS:
        return IMPLEMENTATIONS[who](case.jobs, case.hosts)
    tasks = [
        Task(str(number), job.submission, job.units, job.runtime, job.walltime, user=case.user if number < 5 else "")
        for number, job in enumerate(case.jobs, 1)
    ]
    found = run_ours(Machine.flat(case.hosts), tasks, who).starts()
    return [round(found[task.id]) for task in tasks]


def table_of(case: Case) -> list[tuple[list[str], list[int]]]:
    """Return who starts the jobs when: names that agree stand together, those of the definition first."""
    rows: list[tuple[list[str], list[int]]] = []
    for who in [*(IMPLEMENTATIONS if case.differ else [DEFINED]), *case.options]:
        starts = starts_of(case, who)
        known = next((names for names, others in rows if others == starts), None)
        if known is None:
            rows.append(([who], starts))
        else:
            known.append(who)
    return rows


def places_of(case: Case, who: str) -> list[list[int]]:
    """Return the hosts of each job: those of the model, or the lowest idle ones where any will do."""
    if who in MODELS:
        places = easy_models.simulate(case.jobs, case.hosts, MODELS[who]).places
        return [places[index] for index in range(len(case.jobs))]
    starts = starts_of(case, who)
    until = [0] * case.hosts
    found: list[list[int]] = [[] for _ in starts]
    for index in sorted(range(len(starts)), key=lambda index: (starts[index], index)):
        job = case.jobs[index]
        found[index] = [host for host in range(case.hosts) if until[host] <= starts[index]][: job.units]
        for host in found[index]:
            until[host] = starts[index] + min(job.runtime, job.walltime)
    return found
