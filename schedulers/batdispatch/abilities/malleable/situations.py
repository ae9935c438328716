"""What a policy is shown of a running job: its sizes, what is free for it, who could start if it shrank."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import msgspec

from batdispatch.abilities.malleable.flexible import Flexible
from batdispatch.abilities.malleable.policy import Situation
from batdispatch.abilities.malleable.reshape import free_if, kept_by, scene_if, units_free
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.jobs.sizes import Sizes
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.scene import Choose, Scene

#: ``cost(units)``: seconds that a resize to some units takes.
Cost = Callable[[int], float]
#: Where a size is slower by less than this share, rounding decides when it is in time.
NEARLY_AS_FAST = 1e-6
#: Seconds by which such a moment may be off.
MARGIN = 0.01


def situation_of(
    ledger: Ledger,
    flexible: Flexible,
    stay: Stay,
    waiting: list[Job],
    needs: list[int],
    *,
    choose: Choose,
    anywhere: bool,
    cost: Cost,
    machine: int,
    in_time: bool,
) -> Situation:
    """Return what a policy sees of a job at a reconfiguring point.

    Args:
        ledger: the cluster.
        flexible: the job, over all its segments.
        stay: its running segment.
        waiting: jobs, in order of priority.
        needs: how many units each of them asks for.
        choose: says where a job goes, as a placement's `place`.
        anywhere: it finds a place for each job that fits.
        cost: of a resize of the job.
        machine: units of the job that the idle machine could take.
        in_time: leave out sizes at which it would not end before its walltime.
    """
    elapsed, units = ledger.now - stay.start, stay.job.units
    counts = anywhere and ledger.counts_hosts
    return Situation(
        units=units,
        sizes=sizes_in_time(flexible, stay, ledger.now, cost)[0] if in_time else flexible.sizes,
        free=units_free(ledger, stay),
        waiting=len(waiting),
        smallest=min(needs, default=0) if counts else 0,
        starts=partial(_fits_beside, needs, ledger.free_hosts + units)
        if counts
        else _who_starts(ledger, stay, waiting, choose, anywhere=anywhere),
        gain=partial(_gain, flexible, units, elapsed, cost),
        share=machine / (len(ledger.running) + len(waiting)),
        since=None if flexible.checked is None else round(ledger.now - flexible.checked, 6),
        ask=flexible.sizes.asked(flexible.step_after(elapsed, units)) if flexible.sizes.asks else None,
    )


def _gain(flexible: Flexible, units: int, elapsed: float, cost: Cost, size: int) -> float:
    """Return by how many seconds the job would end earlier on some units; infinity if only the platform knows."""
    if flexible.total is None:
        faster = flexible.sizes.scalability.time(size) < flexible.sizes.scalability.time(units)
        return math.inf if faster else -math.inf
    left = 1.0 - flexible.share_after(elapsed, units)
    return left * (flexible.seconds(units) - flexible.seconds(size)) - cost(size)


def sizes_in_time(flexible: Flexible, stay: Stay, now: float, cost: Cost) -> tuple[Sizes, float]:
    """Return a job's sizes without those at which it would not end before its walltime, and until when there are these.

    Until then there may be fewer, but no further ones. Minus infinity: it cannot be told, or all sizes are in time.
    """
    sizes, units = flexible.sizes, stay.job.units
    if stay.job.walltime == math.inf or flexible.total is None:
        return sizes, -math.inf
    elapsed = now - stay.start
    left, share = stay.job.walltime - elapsed, 1.0 - flexible.share_after(elapsed, units)
    least = units
    for size in sizes.below(units):
        seconds, price = flexible.seconds(size), cost(size)
        if share * seconds + price >= left:
            return msgspec.structs.replace(sizes, least=least), _in_time_from(flexible, stay, seconds, price)
        least = size
    return sizes, -math.inf


def _in_time_from(flexible: Flexible, stay: Stay, seconds: float, cost: float) -> float:
    """Return the soonest time from which on a size is in time that is not yet, in seconds.

    While the job works, the time that it needs on fewer units falls faster than what is left of its walltime.

    Args:
        flexible: the job.
        stay: its running segment.
        seconds: that all of its work takes at that size.
        cost: of the resize, s; it may grow.
    """
    slower = seconds / flexible.seconds(stay.job.units) - 1.0
    if slower <= 0.0:
        return math.inf
    if slower < NEARLY_AS_FAST:
        return -math.inf
    needs = (1.0 - flexible.done) * seconds + flexible.overhead * (slower + 1.0) + cost
    return stay.start + (needs - stay.job.walltime) / slower - MARGIN


def _fits_beside(needs: list[int], most: int, index: int, size: int) -> bool:
    """Return whether a waiting job has enough hosts if a running one has `size` of at most so many for both."""
    return needs[index] <= most - size


def _who_starts(
    ledger: Ledger, stay: Stay, waiting: list[Job], choose: Choose, *, anywhere: bool
) -> Callable[[int, int], bool]:
    """Return which waiting jobs could start if a running job had some units of its own, by the placement."""
    units, space = stay.job.units, ledger.space
    scenes: dict[int, Scene | None] = {units: scene_if(ledger, stay, ledger.free, stay.allocation)}

    def starts(index: int, size: int) -> bool:
        if size not in scenes:
            kept = kept_by(ledger, choose, stay, size)
            scenes[size] = None if kept is None else scene_if(ledger, stay, free_if(ledger, stay, kept), kept)
        scene, job = scenes[size], waiting[index]
        if scene is None or not space.fits(scene.free, job):
            return False
        return anywhere or choose(scene, job) is not None

    return starts
