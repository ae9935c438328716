"""A plan of pinned jobs: both phases, and what is proved about it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from batdispatch.abilities.solvers.pinned_io.job_ranges import dedicate
from batdispatch.abilities.solvers.pinned_io.pillars import largest_load, schedule
from batdispatch.abilities.solvers.pinned_io.ranges import Floats, Ints, Ranges
from batdispatch.abilities.solvers.pinned_io.shares import Shares
from batdispatch.abilities.solvers.solving import Limits


class LinePlan(msgspec.Struct, kw_only=True):
    """Ranges and start times of jobs on a line of nodes. All times in seconds from now.

    Guarantee, if all ranges of each job touch one gap, and `shares.optimal`:

        largest_load <= 2 lp_bound
        makespan <= max held + 3 x own_load <= max held + 6 lp_bound

    Attributes:
        starts, stops: the range of each job, int64 [job].
        times: start of each job, float64 [job].
        makespan: when all nodes are free: the last job has ended, and whoever held a node has left it.
        largest_load: of a node, with what it is taken for already.
        own_load: the largest load of the jobs alone.
        stacked: length of the three colours one after the other, which phase 2 begins with: at most 3 x `own_load`.
        method: which list of jobs gave the times.
        lp_bound: the program's bound on the largest load; no plan has all nodes free sooner.
        bound: no plan has all nodes free sooner: the larger one of `lp_bound` and the end of the longest job.
        shares: what the linear program said.
    """

    starts: Ints
    stops: Ints
    times: Floats
    makespan: float
    largest_load: float
    own_load: float
    stacked: float
    method: str
    lp_bound: float
    bound: float
    shares: Shares


def plan(held: Floats, ranges: Sequence[Ranges], durations: Floats, limits: Limits, *, level: bool = True) -> LinePlan:
    """Return a plan of jobs. For the time it takes, see `dedicating` and `pillars`.

    Args:
        held: for how long each node is taken already, s, float64 [node].
        ranges: of each job, at least one; jobs that may share one object do so.
        durations: s, finite and more than 0, float64 [job].
        limits: of the linear program.
        level: whether to move each job once to where there is less load.
    """
    found = dedicate(held, ranges, durations, limits, level=level)
    timed = schedule(held, found.starts, found.stops, durations)
    soonest = {id(those): float(those.largest(held).min()) for those in ranges}
    longest = max((soonest[id(those)] + length for those, length in zip(ranges, durations.tolist(), strict=True)))
    return LinePlan(
        starts=found.starts,
        stops=found.stops,
        times=timed.starts,
        makespan=max(timed.makespan, float(held.max())),
        largest_load=float(found.load.max()),
        own_load=largest_load(len(held), found.starts, found.stops, durations),
        stacked=timed.stacked,
        method=timed.method,
        lp_bound=found.shares.bound,
        bound=max(found.shares.bound, longest),
        shares=found.shares,
    )
