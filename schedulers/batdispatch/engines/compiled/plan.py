"""What is free at which time: the plan of conservative backfilling, as `batdispatch.core.plans.timeline` and
`batdispatch.core.plans.reservations` keep it.

A step is a time and a row of `Plan.rows`, which holds the hosts that are free from then on to the next step. So a new
step moves numbers, and no sets of hosts. Hosts are kept in blocks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.engines.compiled import blocks as in_blocks
from batdispatch.engines.compiled import masks
from batdispatch.engines.compiled.blocks import Blocks, Masks, blocks_of
from batdispatch.engines.compiled.jit import part
from batdispatch.engines.compiled.masks import WORD, Mask
from batdispatch.engines.compiled.rounding import round_six
from batdispatch.engines.compiled.state import Counts, Floats, Ints

# Which number of `Plan.count` is what.
STEPS = 0
#: Rows of `Plan.spare` that are not in use.
SPARE_ROWS = 1
SPARE_KEPT = 2
#: Returns noted.
RETURNS = 3
#: How often all returns were forgotten.
ROUND = 4
#: A job whose place is too short for it, or -1.
CUT = 5
NUMBERS = 6

#: Most returns that are remembered; looking anew for a place then costs no more than going through them.
MOST_RETURNS = 500
#: On a machine of no more hosts, each one is a block for good: bits are counted faster than the hosts of blocks.
FEW_HOSTS = 4096
#: So many times the blocks that cannot be joined there is room for: sets grow by that, and joining is due so often.
SPACIOUS = 1.25


class Plan(NamedTuple):
    """Steps, and what is kept for the jobs that wait or run. Times in seconds, sets of hosts as sets of blocks."""

    count: Ints
    blocks: Blocks
    times: Floats
    #: Row of `rows` of each step, and how many hosts are free there.
    row: Counts
    free: Counts
    rows: Masks
    spare: Counts
    #: By rank: from when to when hosts are kept (nan: not), and the row of `kept` that holds which.
    start: Floats
    end: Floats
    kept_row: Counts
    kept: Masks
    spare_kept: Counts
    #: From when to when something was given back.
    back_start: Floats
    back_end: Floats
    #: By rank: returns that the job is known to withstand, and in which round.
    known: Ints
    known_round: Ints
    #: What is free now.
    now_free: Mask
    #: For a search: what is free all along.
    common: Mask


def empty(jobs: int, runs: Ints, steps: int, kept: int) -> Plan:
    """Return a plan in which nothing is reserved.

    Args:
        jobs: how many there are.
        runs: int64 [run, 2], first and last host of each run of hosts that run jobs.
        steps: that there is room for.
        kept: jobs that may wait or run at a time.
    """
    first, size = runs[:, 0], runs[:, 1] - runs[:, 0] + 1
    hosts = int(size.sum())
    if hosts <= FEW_HOSTS:
        first = np.concatenate([np.arange(begin, end + 1) for begin, end in runs.tolist()])
        size = np.ones_like(first)
    blocks = blocks_of(first, size, _room_for(len(first), kept, hosts))
    words = len(blocks.order) // WORD
    plan = Plan(
        count=np.zeros(NUMBERS, dtype=np.int64),
        blocks=blocks,
        times=np.zeros(steps),
        row=np.zeros(steps, dtype=np.int32),
        free=np.zeros(steps, dtype=np.int32),
        rows=np.zeros((steps, words), dtype=np.uint64),
        spare=np.arange(steps, dtype=np.int32)[::-1].copy(),
        start=np.full(jobs, np.nan),
        end=np.full(jobs, np.nan),
        kept_row=np.full(jobs, -1, dtype=np.int32),
        kept=np.zeros((kept, words), dtype=np.uint64),
        spare_kept=np.arange(kept, dtype=np.int32)[::-1].copy(),
        back_start=np.zeros(MOST_RETURNS),
        back_end=np.zeros(MOST_RETURNS),
        known=np.zeros(jobs, dtype=np.int64),
        known_round=np.full(jobs, -1, dtype=np.int64),
        now_free=np.zeros(words, dtype=np.uint64),
        common=np.zeros(words, dtype=np.uint64),
    )
    plan.now_free[:] = _packed(np.ones((1, len(first)), dtype=np.uint8), words)[0]
    plan.rows[0] = plan.now_free
    plan.free[0] = hosts
    plan.count[STEPS] = 1
    # Row 0 is the last one of `spare`.
    plan.count[SPARE_ROWS] = steps - 1
    plan.count[SPARE_KEPT] = kept
    plan.count[CUT] = -1
    return plan


def _room_for(blocks: int, jobs: int, hosts: int) -> int:
    """Return the room for so many blocks and those that so many jobs may cut, a multiple of the bits of a word."""
    return -(-min(int(SPACIOUS * blocks) + jobs, hosts) // WORD) * WORD


def _packed(bits: NDArray[np.uint8], words: int) -> Masks:
    """Return sets of which the bits are given, uint8 [set, number]."""
    packed = np.zeros((len(bits), words * (WORD // 8)), dtype=np.uint8)
    found = np.packbits(bits, axis=1, bitorder="little")
    packed[:, : found.shape[1]] = found
    return packed.view(np.uint64)


def with_room(plan: Plan, steps: int, kept: int) -> Plan:
    """Return the same plan with more room."""
    more, more_kept = steps - len(plan.times), kept - len(plan.kept)
    words = plan.rows.shape[1]
    spare_rows, spare_kept = int(plan.count[SPARE_ROWS]), int(plan.count[SPARE_KEPT])
    fresh = np.arange(len(plan.times), steps, dtype=np.int32)[::-1]
    fresh_kept = np.arange(len(plan.kept), kept, dtype=np.int32)[::-1]
    plan.count[SPARE_ROWS] += more
    plan.count[SPARE_KEPT] += more_kept
    return plan._replace(
        times=np.concatenate([plan.times, np.zeros(more)]),
        row=np.concatenate([plan.row, np.zeros(more, dtype=np.int32)]),
        free=np.concatenate([plan.free, np.zeros(more, dtype=np.int32)]),
        rows=np.concatenate([plan.rows, np.zeros((more, words), dtype=np.uint64)]),
        spare=np.concatenate([plan.spare[:spare_rows], fresh, np.zeros(steps - spare_rows - more, dtype=np.int32)]),
        kept=np.concatenate([plan.kept, np.zeros((more_kept, words), dtype=np.uint64)]),
        spare_kept=np.concatenate(
            [plan.spare_kept[:spare_kept], fresh_kept, np.zeros(kept - spare_kept - more_kept, dtype=np.int32)]
        ),
    )


def with_joined_blocks(plan: Plan, jobs: int) -> Plan:
    """Return the same plan with as few blocks as can be, and room for those that so many jobs may cut."""
    steps, spare = int(plan.count[STEPS]), int(plan.count[SPARE_KEPT])
    in_use = np.ones(len(plan.kept), dtype=np.bool_)
    in_use[plan.spare_kept[:spare]] = False
    first, size, (rows, kept, now_free) = in_blocks.join_blocks(
        plan.blocks, [plan.rows[plan.row[:steps]], plan.kept[in_use], plan.now_free[None]]
    )
    blocks = blocks_of(first, size, _room_for(len(first), 2 * jobs, plan.blocks.hosts))
    words = len(blocks.order) // WORD
    plan = plan._replace(
        blocks=blocks,
        rows=np.zeros((len(plan.rows), words), dtype=np.uint64),
        kept=np.zeros((len(plan.kept), words), dtype=np.uint64),
        now_free=_packed(now_free, words)[0],
        common=np.zeros(words, dtype=np.uint64),
    )
    plan.rows[plan.row[:steps]] = _packed(rows, words)
    plan.kept[in_use] = _packed(kept, words)
    return plan


@part
def has_room_for(plan: Plan, jobs: int) -> bool:
    """Return whether there is room for the reservations of so many jobs that wait or run."""
    return 2 * jobs + 6 <= len(plan.times) and jobs + 2 <= len(plan.kept)


@part
def has_blocks_for(plan: Plan, jobs: int) -> bool:
    """Return whether there is room for the blocks that so many jobs may cut, one each; there are no more than hosts."""
    return min(plan.blocks.count[0] + jobs, plan.blocks.hosts) <= len(plan.blocks.order)


@part
def words(plan: Plan) -> int:
    """Return how many words of each set are in use."""
    return (plan.blocks.count[0] + WORD - 1) // WORD


@part
def first_at(plan: Plan, time: float) -> int:
    """Return the first step that begins at `time` or later."""
    low, high = 0, plan.count[STEPS]
    while low < high:
        middle = (low + high) >> 1
        if plan.times[middle] < time:
            low = middle + 1
        else:
            high = middle
    return low


@part
def _cut(plan: Plan, time: float) -> int:
    """Make `time` the beginning of a step, and return the step."""
    times, row, free, count = plan.times, plan.row, plan.free, plan.count
    at, steps = first_at(plan, time), plan.count[STEPS]
    if at < steps and times[at] == time:
        return at
    for index in range(steps, at, -1):
        times[index], row[index], free[index] = times[index - 1], row[index - 1], free[index - 1]
    count[SPARE_ROWS] -= 1
    new = plan.spare[count[SPARE_ROWS]]
    times[at], row[at], free[at] = time, new, free[at - 1]
    masks.copy(plan.rows[row[at - 1]], plan.rows[new], words(plan))
    count[STEPS] += 1
    return at


@part
def _drop(plan: Plan, at: int, behind: int) -> None:
    """Remove the steps from one to the one before another."""
    times, row, free, count = plan.times, plan.row, plan.free, plan.count
    for index in range(at, behind):
        plan.spare[count[SPARE_ROWS]] = row[index]
        count[SPARE_ROWS] += 1
    less = behind - at
    for index in range(behind, count[STEPS]):
        times[index - less], row[index - less], free[index - less] = times[index], row[index], free[index]
    count[STEPS] -= less


@part
def _join(plan: Plan, time: float) -> None:
    """Remove the beginning of a step at `time` if nothing changes there."""
    at = first_at(plan, time)
    if not 0 < at < plan.count[STEPS] or plan.free[at] != plan.free[at - 1]:
        return
    if masks.same_sets(plan.rows[plan.row[at]], plan.rows[plan.row[at - 1]], words(plan)):
        _drop(plan, at, at + 1)


@part
def advance(plan: Plan, now: float) -> None:
    """Forget what lies before `now`."""
    at = first_at(plan, now)
    if at == plan.count[STEPS] or plan.times[at] > now:
        at -= 1
    if at > 0:
        _drop(plan, 0, at)
    plan.times[0] = max(plan.times[0], now)


@part
def shift(plan: Plan, mask: Mask, units: int, start: float, end: float, give: bool) -> None:
    """Give hosts back, or take them, from `start` to `end`."""
    start = max(start, plan.times[0])
    if end <= start:
        return
    first = _cut(plan, start)
    behind = plan.count[STEPS] if end == np.inf else _cut(plan, end)
    used = words(plan)
    for index in range(first, behind):
        if give:
            masks.join(plan.rows[plan.row[index]], mask, used)
            plan.free[index] += units
        else:
            masks.remove(plan.rows[plan.row[index]], mask, used)
            plan.free[index] -= units
    _join(plan, end)
    _join(plan, start)


@part
def give_back(plan: Plan, job: int, units: int, start: float) -> None:
    """Give back what is kept for a job from `start` on, and note it."""
    end = plan.end[job]
    shift(plan, plan.kept[plan.kept_row[job]], units, start, end, True)
    note_return(plan, start, end)


@part
def note_return(plan: Plan, start: float, end: float) -> None:
    """Note that something is free from `start` to `end` that was not."""
    if end <= start:
        return
    count = plan.count
    if count[RETURNS] == MOST_RETURNS:
        count[RETURNS] = 0
        count[ROUND] += 1
    plan.back_start[count[RETURNS]], plan.back_end[count[RETURNS]] = start, end
    count[RETURNS] += 1


@part
def earliest(plan: Plan, units: int, seconds: float, now: float) -> float:
    """Return the earliest start from `now` on of a job of so many units, nan for none; `Plan.common`: what is free.

    Where a window has too few hosts at a step, the next one begins as far before that step as the job fits.
    """
    times, common, blocks, used = plan.times, plan.common, plan.blocks, words(plan)
    steps = plan.count[STEPS]
    index = 0
    while index < steps:
        # As many more hosts as the window has than the job needs.
        more = plan.free[index] - units
        if more < 0:
            index += 1
            continue
        masks.copy(plan.rows[plan.row[index]], common, used)
        at = index + 1
        end = round_six(max(times[index], now) + seconds)
        while at < steps and times[at] < end:
            if plan.free[at] < units:
                break
            free = plan.rows[plan.row[at]]
            lost = in_blocks.count_missing(blocks, common, free, used, more)
            if lost > more:
                masks.copy(free, common, used)
                index, more = at, plan.free[at] - units
                while True:
                    free = plan.rows[plan.row[index - 1]]
                    lost = in_blocks.count_missing(blocks, common, free, used, more)
                    if lost > more:
                        break
                    index -= 1
                    more -= lost
                    masks.meet(common, free, used)
                end = round_six(max(times[index], now) + seconds)
            else:
                more -= lost
                masks.meet(common, free, used)
            at += 1
        else:
            return max(times[index], now)
        index = at + 1
    return np.nan


@part
def leave_lowest(plan: Plan, units: int) -> None:
    """Leave in `Plan.common` only so many of its lowest hosts; it has as many. A block may be cut for that."""
    blocks = plan.blocks
    position, stay = in_blocks.lowest(blocks, plan.common, units)
    block = blocks.order[position]
    if stay == blocks.size[block]:
        return
    new = in_blocks.cut(blocks, position, stay)
    for row in range(len(plan.rows)):
        in_blocks.follow(plan.rows[row], block, new)
    for row in range(len(plan.kept)):
        in_blocks.follow(plan.kept[row], block, new)
    in_blocks.follow(plan.now_free, block, new)


@part
def may_start_before(plan: Plan, job: int, units: int, seconds: float, now: float) -> bool:
    """Return whether a job may start before its reservation, if its own hosts were free: by numbers of hosts alone."""
    times, start, own_end = plan.times, plan.start[job], plan.end[job]
    steps = plan.count[STEPS]
    begin = -1
    for index in range(steps):
        time = times[index]
        if time >= start and begin < 0:
            return False
        own = units if start <= time < own_end else 0
        if plan.free[index] + own < units:
            begin = -1
            if time >= start:
                return False
            continue
        if begin < 0:
            begin = index
        until = times[index + 1] if index + 1 < steps else np.inf
        if until >= round_six(max(times[begin], now) + seconds):
            return True
    return False


@part
def free_until(plan: Plan, mask: Mask, start: float, end: float) -> float:
    """Return until when hosts stay free from `start` on, at most `end`."""
    at = first_at(plan, start)
    if at == plan.count[STEPS] or plan.times[at] > start:
        at -= 1
    while at < plan.count[STEPS] and plan.times[at] < end:
        if not masks.within(mask, plan.rows[plan.row[at]], words(plan)):
            return max(plan.times[at], start)
        at += 1
    return end
