"""Why a decision about a window left a job waiting: what explain-wait tells of this family."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from batdispatch.abilities.solvers.auction.problem import Problem
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.hindsight import Hindsight, Reason, beyond_window, name_list, plain, room_besides
from batdispatch.core.plans.lateness import TOLERANCE


def why_waited(
    job: Job,
    decision: Hindsight,
    waiting: Sequence[tuple[Job, int]],
    period: float,
    chance: Callable[[Problem, int], Reason],
) -> Reason | None:
    """Return why a decision left a job waiting.

    Args:
        job: the job.
        decision: the decision.
        waiting: all jobs that waited before it, and their priorities, the highest first.
        period: decisions are at least so far apart, s.
        chance: what chance a job of a problem had, see `AuctionDispatcher.chance`.
    """
    ledger, note, before = decision.ledger, decision.note, decision.before
    if note is None:
        if before is None or ledger.now >= before + period - TOLERANCE:
            return None
        return Reason(
            f"no decision yet, since decisions are {period:g} s apart", f"the last one was at {plain(before)}"
        )
    size = note["jobs"]
    index = next(index for index, (other, _) in enumerate(waiting) if other is job)
    if index >= size:
        return beyond_window(index, size)
    if not ledger.space.fits(ledger.free, job):
        return Reason("it did not fit, even with no other job of the window")
    had = chance(Problem(ledger, waiting[:size]), index)
    if had.why:
        return had
    status = note["status"]
    why = "it fitted, but the jobs that started were worth more together"
    if status == "GREEDY":
        why = "it fitted, but jobs that were tried before it took the room, and no solver was asked"
    elif status not in ("OPTIMAL", "BOUND"):
        why = "it fitted, but is not in the best plan that was found, which is not proven best"
    priorities = {other.id: priority for other, priority in waiting}
    parts = [had.how, *_started(job, decision, priorities), _proof(note)]
    return Reason(why, "; ".join(part for part in parts if part))


def _started(job: Job, decision: Hindsight, priorities: Mapping[str, int]) -> Iterator[str]:
    """Yield what started in the place of a job, in words."""
    names = [other.id for other, _ in decision.started]
    if names:
        total = sum(priorities[name] for name in names)
        yield f"{name_list(names)} started, with {'a priority' if len(names) == 1 else 'priorities'} of {total:,}" + (
            "" if len(names) == 1 else " in all"
        )
    else:
        yield "nothing started"
    yield f"its own is {priorities[job.id]:,}"
    if names:
        yield room_besides(job, decision)


def _proof(note: Mapping[str, Any]) -> str:
    """Return in words how good the plan is known to be."""
    if note["cost"] <= note["bound"] or note["status"] in ("OPTIMAL", "BOUND"):
        return "no plan is worth more"
    return f"a plan could be worth {note['gap']:.2%} more at most"
