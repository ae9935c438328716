"""Equal shares of the machine for all jobs that are there."""

from __future__ import annotations

from batdispatch.abilities.malleable.policy.base import Action, Policy, Situation


class EqualShare(Policy):
    """Shrinks jobs to an equal share of the machine while others wait, and expands those that have less.

    The share is the machine divided by the number of running and waiting jobs. If something waits, a job above its
    share shrinks to the largest size within it, or as far as it can. If this lets a waiting job start, the first one in
    order of priority goes before all others. A job below its share expands within it. If nothing waits, it expands as
    far as it can. Unlike DMR, the policy shrinks jobs although no waiting job may start by it.

    Typical use: where all running jobs should have about the same share of the machine.
    References: the equipartition of Padhye, Dowdy: "Dynamic versus adaptive processor allocation policies for message
        passing parallel computers: an empirical comparison", JSSPP 1996, without moving nodes between running jobs when
        nothing waits.
    """

    def decide(self, situation: Situation) -> Action:
        units, sizes, share = situation.units, situation.sizes, situation.share
        if not situation.waiting:
            return situation.expand(situation.fitting)
        if units <= share:
            return situation.expand(size for size in situation.fitting if size <= share)
        fewer = sizes.below(units)
        if not fewer:
            return situation.none()
        size = next((size for size in fewer if size <= share), fewer[-1])
        boosted = situation.first_start(size)
        return Action("shrink", size, boosted)

    def idles(self, situation: Situation) -> bool:
        return self.decide(situation).kind == "none"
