"""Conservative backfilling: see `batdispatch.dispatchers.backfilling.conservative`.

What is not done here is to make a plan anew, which happens where jobs outlive their expected end, and to move later
reservations where a place is too short for its job by less than the tolerance for late ends. `applies.why_not` rules
out the first; where the second would happen, the kernel stops.
"""

import numpy as np

from batdispatch.engines.compiled import masks
from batdispatch.engines.compiled import plan as planning
from batdispatch.engines.compiled.blocks import write_runs
from batdispatch.engines.compiled.jit import kernel, part
from batdispatch.engines.compiled.plan import CUT, RETURNS, ROUND, SPARE_KEPT, Plan
from batdispatch.engines.compiled.queue_tree import first_from, leave
from batdispatch.engines.compiled.rounding import round_six
from batdispatch.engines.compiled.running_jobs import begin_moment, end_moment, end_next, enter_running
from batdispatch.engines.compiled.state import (
    ALL_OVER,
    AT_PAUSE,
    DECIDES,
    FULL,
    HOSTS_FREED,
    JOBS_DECIDED,
    NOBODY,
    NOW,
    RUNNING_JOBS,
    RUNS,
    SUBMISSIONS,
    WAITING_JOBS,
    State,
)

#: What the kernel returns where a place is too short for its job: see `Plan.count`, `CUT`.
AT_STOP = 3


@kernel
def run(state: State, plan: Plan, slack: float, moments: int) -> int:
    """Simulate so many moments more, and return `ALL_OVER`, `AT_PAUSE`, `FULL` or `AT_STOP`.

    Args:
        state: of the simulation.
        plan: what is kept for whom.
        slack: seconds by which a place may be too short for its job.
        moments: at most.
    """
    count = state.count
    for _ in range(moments):
        if not count[DECIDES] and not _advance(state, plan):
            return ALL_OVER
        full = count[RUNS] + state.size > len(state.first)
        booked = count[WAITING_JOBS] + count[RUNNING_JOBS]
        if full or not planning.has_room_for(plan, booked) or not planning.has_blocks_for(plan, booked):
            return FULL
        count[DECIDES] = 0
        _decide(state, plan, slack)
        if plan.count[CUT] >= 0:
            return AT_STOP
    return AT_PAUSE


@part
def _advance(state: State, plan: Plan) -> bool:
    """Let everything happen that happens next, as the engine tells it in one message; False: all is over."""
    if not begin_moment(state):
        return False
    job = end_next(state)
    while job >= 0:
        masks.join(plan.now_free, plan.kept[plan.kept_row[job]], planning.words(plan))
        planning.give_back(plan, job, state.jobs.units[job], state.now[NOW])
        _forget(plan, job)
        job = end_next(state)
    end_moment(state)
    return True


@part
def _forget(plan: Plan, job: int) -> None:
    """Keep nothing for a job any more."""
    plan.spare_kept[plan.count[SPARE_KEPT]] = plan.kept_row[job]
    plan.count[SPARE_KEPT] += 1
    plan.start[job], plan.end[job], plan.kept_row[job] = np.nan, np.nan, -1


@part
def _decide(state: State, plan: Plan, slack: float) -> None:
    """Plan the new jobs; if hosts were freed, give each waiting job in turn its earliest start."""
    count = state.count
    now = state.now[NOW]
    planning.advance(plan, now)
    freed = count[HOSTS_FREED]
    count[HOSTS_FREED] = 0
    job = first_from(state, 0, NOBODY - 1, 0, 0.0)
    while job >= 0:
        following = state.jobs.place[job] + 1
        if freed or job >= count[JOBS_DECIDED]:
            _put(state, plan, job, slack)
            if plan.count[CUT] >= 0:
                return
        job = first_from(state, following, NOBODY - 1, 0, 0.0)
    count[JOBS_DECIDED] = count[SUBMISSIONS]


@part
def _put(state: State, plan: Plan, job: int, slack: float) -> None:
    """Reserve a waiting job's earliest start, and start it if that is now and its hosts are free."""
    now = state.now[NOW]
    if np.isnan(plan.start[job]) or _may_gain(state, plan, job, slack):
        _replan(state, plan, job, slack)
    # A job that is expected to end just now may still hold its hosts.
    if not plan.start[job] <= now:
        return
    mask, used = plan.kept[plan.kept_row[job]], planning.words(plan)
    if not masks.within(mask, plan.now_free, used):
        return
    masks.remove(plan.now_free, mask, used)
    begin = state.count[RUNS]
    end = write_runs(plan.blocks, mask, state.first, state.last, begin)
    state.hosts_at[job], state.hosts_runs[job] = begin, end - begin
    state.count[RUNS] = end
    leave(state, job)
    enter_running(state, job)


@part
def _least(booked: float, slack: float) -> float:
    """Return for how many seconds hosts must be free for a job."""
    # A job that is hardly longer than the slack is not worth cutting.
    return booked - slack if booked > 2 * slack else booked


@part
def _may_gain(state: State, plan: Plan, job: int, slack: float) -> bool:
    """Return whether a planned job might be planned otherwise now: False only if it surely cannot.

    With a reservation that was the best, only what was given back since can make another one better: the start, where
    it lies before the job's end; the hosts, where it overlaps the reservation.
    """
    now, count = state.now[NOW], plan.count
    start, end = plan.start[job], plan.end[job]
    if start <= now or plan.known_round[job] != count[ROUND]:
        return True
    before = False
    for index in range(plan.known[job], count[RETURNS]):
        if plan.back_start[index] < end:
            if plan.back_end[index] > start:
                return True
            before = True
    units, least = state.jobs.units[job], _least(state.jobs.booked[job], slack)
    if before and planning.may_start_before(plan, job, units, least, now):
        return True
    plan.known[job] = count[RETURNS]
    return False


@part
def _replan(state: State, plan: Plan, job: int, slack: float) -> None:
    """Reserve a job's earliest start in place of what is kept for it; nothing, if there is none."""
    jobs, now, count = state.jobs, state.now[NOW], plan.count
    units, booked = jobs.units[job], jobs.booked[job]
    old_start, old_end = plan.start[job], plan.end[job]
    planned = not np.isnan(old_start)
    if planned:
        planning.shift(plan, plan.kept[plan.kept_row[job]], units, old_start, old_end, True)
    least = _least(booked, slack)
    start = planning.earliest(plan, units, least, now)
    if np.isnan(start):
        if planned:
            planning.note_return(plan, old_start, old_end)
            _forget(plan, job)
        return
    planning.leave_lowest(plan, units)
    used = planning.words(plan)
    end = round_six(start + booked)
    if least != booked and planning.free_until(plan, plan.common, round_six(start + least), end) < end:
        count[CUT] = job
        return
    if planned:
        back = old_start
        if start <= old_start and masks.same_sets(plan.common, plan.kept[plan.kept_row[job]], used):
            back = max(end, old_start)
        planning.note_return(plan, back, old_end)
    else:
        count[SPARE_KEPT] -= 1
        plan.kept_row[job] = plan.spare_kept[count[SPARE_KEPT]]
    mask = plan.kept[plan.kept_row[job]]
    masks.copy(plan.common, mask, used)
    plan.start[job], plan.end[job] = start, end
    planning.shift(plan, mask, units, start, end, False)
    plan.known[job], plan.known_round[job] = count[RETURNS], count[ROUND]
