"""What a dispatcher is shown of a recorded decision when it is asked why a job waited on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.ledger import Ledger

#: Most jobs that are named.
_NAMED = 6


class Hindsight(NamedTuple):
    """A recorded decision, as it was before it took effect."""

    #: The cluster: the jobs that are about to start still wait.
    ledger: Ledger
    #: The jobs that the decision starts, and where, in this order.
    started: Sequence[tuple[Job, Allocation]]
    #: The line of solver.jsonl of this moment; None: there is none, so that no plan was made.
    note: Mapping[str, Any] | None
    #: Time of the line before it, s; None: it is the first.
    before: float | None


class Reason(NamedTuple):
    """Why a job waited on: in a few words that are equal for equal reasons, and what was behind it this time."""

    why: str
    how: str = ""


def plain(value: float) -> str:
    """Return a number to the microsecond, thousands separated by commas."""
    return f"{value:,.6f}".rstrip("0").rstrip(".")


def beyond_window(index: int, size: int) -> Reason:
    """Return why a job waited that has so many waiting jobs before it, where a decision is about the first `size`."""
    return Reason(
        "it was beyond the window",
        f"it was number {index + 1:,} of a window of {size:,} {'job' if size == 1 else 'jobs'}",
    )


def room_besides(job: Job, decision: Hindsight) -> str:
    """Return in words which of the jobs that a decision started, at least one, hold what a job needed."""
    space, free = decision.ledger.space, decision.ledger.free
    for other, allocation in decision.started:
        free = space.take(free, other, allocation)
    if space.fits(free, job):
        return "there was room for it besides"
    alone = [other.id for other, allocation in decision.started if space.fits(space.give(free, other, allocation), job)]
    if not alone:
        return "several of them hold what it needed"
    return f"without {name_list(alone, 'or')} it would have fitted"


def name_list(names: Sequence[str], word: str = "and") -> str:
    """Return some names, the first ones if there are many."""
    if len(names) > _NAMED:
        return f"{', '.join(names[:_NAMED])} {word} {len(names) - _NAMED:,} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"
