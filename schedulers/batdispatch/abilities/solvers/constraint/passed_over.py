"""Why a plan passed a job over: what explain-wait tells of this family."""

from __future__ import annotations

from batdispatch.abilities.solvers.constraint.instance import SCALE, Instance
from batdispatch.abilities.solvers.constraint.lists import Plan
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.hindsight import Hindsight, Reason, name_list, plain, room_besides
from batdispatch.core.plans.timeline import Timeline

#: What the search's status says of the plan that was carried out.
_PROOFS = {
    "OPTIMAL": "the search saw all plans of its model",
    "FEASIBLE": "the search stopped at its limit, so that a better plan may start it",
}


def no_new_plan(decision: Hindsight) -> Reason | None:
    """Return why a job that fits waited at a moment without a line in solver.jsonl."""
    before, now = decision.before, decision.ledger.now
    # Of two decisions at one moment the line may belong to the other.
    if before is None or before >= now or decision.started:
        return None
    return Reason(
        "no new plan was made, since neither room nor a job that fits had come",
        f"the last plan was made at {plain(before)}, and left it waiting",
    )


def as_planned(job: Job, decision: Hindsight, instance: Instance, plan: Plan) -> Reason | None:
    """Return why a plan that was made again passed a job over; None if another plan was carried out.

    Args:
        job: a job of the instance.
        decision: the decision.
        instance: what was decided about.
        plan: the plan with the places of the jobs that start now.
    """
    if not _carried_out(decision, instance, plan):
        return None
    index = instance.jobs.index(job)
    start = int(plan.starts[index])
    it = "it fitted" if decision.ledger.space.fits(decision.ledger.free, job) else "it did not fit"
    if plan.places[index] is None:
        when = "for it now" if start == 0 else "for it at any time"
        return Reason(f"{it}, but the plan found no place {when}")
    when = f"planned to start at {plain(decision.ledger.now + start)}"
    if it != "it fitted":
        return Reason("it did not fit, and was planned ahead", when)
    parts = [when, *_before(job, decision), _first_in_the_way(index, instance, plan)]
    return Reason("it fitted, but the plan starts it later", "; ".join(filter(None, parts)))


def as_found(job: Job, decision: Hindsight, may_find_no_place: bool) -> Reason:
    """Return why a searched plan, which is not known, passed a job of its window over.

    Args:
        job: the job, which fits.
        decision: the decision.
        may_find_no_place: whether jobs that the plan started may have found no place.
    """
    assert decision.note is not None
    proof = _PROOFS.get(decision.note["status"], "")
    why = "it fitted, but the plan let it wait" + (", or found no place for it" if may_find_no_place else "")
    return Reason(why, "; ".join(filter(None, [*_before(job, decision), proof])))


def _carried_out(decision: Hindsight, instance: Instance, plan: Plan) -> bool:
    """Return whether a plan is the one that was carried out: it starts the same jobs there, and costs as much."""
    note = decision.note
    assert note is not None
    if note["cost"] is not None and note["cost"] != plan.cost / SCALE:
        return False
    now = plan.now()
    if [instance.jobs[index].id for index in now] != [job.id for job, _ in decision.started]:
        return False
    places = (plan.places[index] for index in now)
    return all(
        # A place of no hosts is one that is chosen at the start.
        place is None or not place.allocation.mask or place.allocation == allocation
        for place, (_, allocation) in zip(places, decision.started, strict=True)
    )


def _before(job: Job, decision: Hindsight) -> list[str]:
    """Return in words what started in the place of a job."""
    if not decision.started:
        return ["nothing started"]
    names = name_list([other.id for other, _ in decision.started])
    return [f"{names} started instead", room_besides(job, decision)]


def _first_in_the_way(index: int, instance: Instance, plan: Plan) -> str:
    """Return in words the first planned job that needs what another job would hold if that started now.

    Empty if the jobs that start now do so already, or if only the placement knows what was in its way.
    """
    space, job, end = instance.space, instance.jobs[index], int(instance.durations[index])
    timeline = Timeline.rising(space, 0, instance.free, instance.ends)
    for other in sorted(range(len(instance.jobs)), key=lambda one: int(plan.starts[one])):
        start, place = int(plan.starts[other]), plan.places[other]
        if start >= end or place is None or other == index:
            continue
        timeline.reserve(instance.jobs[other], place.allocation, start, start + int(instance.durations[other]))
        left = timeline.all_along(0, end)
        if space.fits(left, job):
            continue
        if start == 0:
            return ""
        sums = zip(space.pools, space.pooled(left).tolist(), space.pooled_need(job).tolist(), strict=True)
        short = [name for name, free, need in sums if free < need]
        what = f"the {name_list(short)}" if short else "room on the nodes"
        when = plain(instance.ledger.now + start)
        return f"{instance.jobs[other].id}, planned to start at {when}, needs {what} that it would still hold"
    return ""
