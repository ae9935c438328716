"""The plan of conservative backfilling, what the structure of native/plan.h holds: how it begins, and gets more room.

The header says what it is, and the files beside it what is done with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.kernels.library import structure_of
from batdispatch.abilities.kernels.nodes import WORD, Masks
from batdispatch.abilities.kernels.state import Ints
from batdispatch.native.record import Record

#: Spans of time in which a job may gain that are told apart.
MOST_HOPES = 4
#: On a machine of no more hosts, each one is a block for good: bits are counted faster than the hosts of blocks.
FEW_HOSTS = 4096
#: So many times the blocks that cannot be joined there is room for: sets grow by that, and joining is due so often.
SPACIOUS = 1.25


class Plan(Record):
    """Steps, and what is kept for the jobs that wait or run. Times in seconds, sets of hosts as sets of blocks."""

    kinds, _fields_ = structure_of("plan.h", "Plan")


def empty(jobs: int, runs: Ints, steps: int, kept: int) -> Plan:
    """Return a plan in which nothing is reserved.

    Args:
        jobs: how many there are.
        runs: int64 [run, 2], first and last host of each run of hosts that run jobs.
        steps: that there is room for.
        kept: jobs that may wait or run at a time.
    """
    first, size = runs[:, 0], runs[:, 1] - runs[:, 0] + 1
    plan = Plan(hosts=int(size.sum()), steps=1, most_hopes=MOST_HOPES)
    if plan.hosts <= FEW_HOSTS:
        first = np.concatenate([np.arange(begin, end + 1) for begin, end in runs.tolist()])
        size = np.ones_like(first)
    hold_blocks(plan, first, size, kept)
    plan.hold(
        times=np.zeros(1),
        row=np.zeros(1, dtype=np.int32),
        free=np.array([plan.hosts], dtype=np.int32),
        rows=_packed(np.ones((1, len(first)), dtype=np.uint8), plan.words),
        spare=np.zeros(1, dtype=np.int32),
        start=np.full(jobs, np.nan),
        end=np.full(jobs, np.nan),
        kept_row=np.full(jobs, -1, dtype=np.int32),
        kept=np.zeros((0, plan.words), dtype=np.uint64),
        spare_kept_rows=np.zeros(0, dtype=np.int32),
        planned_start=np.zeros(0),
        **{name: np.zeros(0, dtype=np.int32) for name in ("planned_job", "planned_units", "planned_seconds")},
        candidates=np.zeros(jobs // WORD + 1, dtype=np.uint64),
        candidate_words=np.zeros(jobs // WORD**2 + 1, dtype=np.uint64),
        hopes_of=np.zeros(jobs, dtype=np.int32),
    )
    # A hope is two numbers.
    plan.hold_zeros(jobs * MOST_HOPES * 2, "hopes")
    _hold_single_sets(plan, plan.arrays["rows"][0].copy())
    plan.most_steps = 1
    make_room(plan, steps, kept)
    return plan


def hold_blocks(plan: Plan, first: Ints, size: Ints, more: int) -> None:
    """Let the plan have blocks that are numbered in the order of their hosts.

    Args:
        plan: the plan; its sets are made anew by the caller.
        first: int64 [block], first host of each, ascending.
        size: int64 [block], number of hosts.
        more: blocks that may be cut.
    """
    room = -(-min(int(SPACIOUS * len(first)) + more, plan.hosts) // WORD) * WORD
    fields = {"block_first": first, "block_size": size, "order": np.arange(len(first))}
    plan.hold(**{name: np.resize(numbers, room).astype(np.int32) for name, numbers in fields.items()})
    plan.blocks, plan.most_blocks, plan.words = len(first), room, room // WORD
    plan.single = bool((size == 1).all())


def _packed(bits: NDArray[np.uint8], words: int) -> Masks:
    """Return sets of which the bits are given, uint8 [set, number]."""
    packed = np.zeros((len(bits), words * (WORD // 8)), dtype=np.uint8)
    found = np.packbits(bits, axis=1, bitorder="little")
    packed[:, : found.shape[1]] = found
    return packed.view(np.uint64)


def make_room(plan: Plan, steps: int, kept: int) -> None:
    """Make room for so many steps, and jobs for which hosts are kept."""
    plan.spare_rows = more_rows(plan, "spare", plan.spare_rows, plan.most_steps, steps)
    plan.spare_kept = more_rows(plan, "spare_kept_rows", plan.spare_kept, plan.most_kept, kept)
    plan.hold(**{name: longer(plan.arrays[name], steps) for name in ("times", "row", "free", "rows")})
    planned = ("planned_start", "planned_job", "planned_units", "planned_seconds")
    plan.hold(**{name: longer(plan.arrays[name], kept) for name in ("kept", *planned)})
    plan.most_steps, plan.most_kept = steps, kept


def more_rows(plan: Record, name: str, count: int, before: int, after: int) -> int:
    """Put new rows to those that are not in use, and return how many these are then."""
    fresh = np.arange(before, after, dtype=np.int32)[::-1]
    plan.hold(**{name: longer(np.concatenate([plan.arrays[name][:count], fresh]), after)})
    return count + len(fresh)


def longer(array: NDArray[Any], length: int) -> NDArray[Any]:
    """Return an array of a length that begins as a shorter one does, and goes on with zeros."""
    longer = np.zeros((length, *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


def join_blocks(plan: Plan, jobs: int) -> None:
    """Have as few blocks as can be, and room for those that so many jobs may cut.

    Neighbouring blocks are joined that belong together in all sets.
    """
    rows, kept = plan.arrays["row"][: plan.steps], np.ones(plan.most_kept, dtype=np.bool_)
    kept[plan.arrays["spare_kept_rows"][: plan.spare_kept]] = False
    order = plan.arrays["order"][: plan.blocks]
    first, size = (plan.arrays[name][order].astype(np.int64) for name in ("block_first", "block_size"))
    sets = [plan.arrays["rows"][rows], plan.arrays["kept"][kept], plan.arrays["now_free"][None]]
    bits = [np.unpackbits(each.view(np.uint8), axis=1, bitorder="little")[:, order] for each in sets]
    begins = np.ones(len(order), dtype=np.bool_)
    begins[1:] = first[1:] != first[:-1] + size[:-1]
    for each in bits:
        begins[1:] |= (each[:, 1:] != each[:, :-1]).any(axis=0)
    stay = np.flatnonzero(begins)
    hold_blocks(plan, first[stay], np.add.reduceat(size, stay), 2 * jobs)
    _hold_sets(plan, rows, kept, [_packed(each[:, stay], plan.words) for each in bits])


def _hold_sets(plan: Plan, rows: Ints, kept: NDArray[np.bool_], sets: list[Masks]) -> None:
    """Let the steps, the jobs for which hosts are kept and what is free now have these sets, and nothing else any."""
    for name, length, where, those in (("rows", plan.most_steps, rows, sets[0]), ("kept", len(kept), kept, sets[1])):
        fresh = np.zeros((length, plan.words), dtype=np.uint64)
        fresh[where] = those
        plan.hold(**{name: fresh})
    _hold_single_sets(plan, sets[2][0].copy())


def _hold_single_sets(plan: Plan, now_free: Masks) -> None:
    """Let the plan know which hosts are free now, and have sets to work with."""
    plan.hold(now_free=now_free)
    plan.hold_zeros(plan.words, "common", "step_free", "returned", "live")
