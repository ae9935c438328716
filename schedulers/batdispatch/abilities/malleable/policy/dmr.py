"""The reconfiguration policy of the DMR API."""

from __future__ import annotations

from typing import ClassVar

from batdispatch.abilities.malleable.policy.base import Action, Policy, Situation
from batdispatch.core.line.options import Options


class DmrOptions(Options, frozen=True, kw_only=True):
    """Options of DMR's policy.

    idle_expand: If nothing waits, expand a job beyond its preferred size too. `false`: leave a job at its preferred
        size alone. The paper says both, and its last Jacobi job was expanded.
    """

    idle_expand: bool = True


class Dmr(Policy):
    """Shrinks jobs for waiting ones, and expands jobs into what those leave (Iserte et al., 2018, section 4).

    The first rule that applies decides. (1) The application asks for fewer or more nodes: it gets them, if they are
    free. (2) It has a preferred size. If nothing waits, it expands as far as it can. If something waits, it goes to
    its preferred size, or as far towards it as the free nodes allow, and not beyond. (3) Otherwise: if a waiting job
    fits what is free, nothing is done, since the scheduler will start it. If a shrink lets a waiting job start, the
    first such job in order of priority gets the smallest such shrink, and goes before all others. If none does, the job
    expands as far as it can.

    Typical use: as the baseline for malleable jobs, where a resize should help a waiting job.
    Deviations: an application that asks for more nodes than are free gets nothing, and its job is not resized
    otherwise either.
    References: [1] Iserte, Mayo, Quintana-Orti, Beltran, Pena: "DMR API: improving cluster productivity by turning
        applications into malleable", Parallel Computing 78 (2018), section 4.
    """

    options_type: ClassVar[type[Options]] = DmrOptions

    def decide(self, situation: Situation) -> Action:
        if situation.sizes.preferred is not None:
            return self._towards(situation, situation.sizes.preferred)
        return self._widely(situation)

    def idles(self, situation: Situation) -> bool:
        # With fewer sizes to go to it does no more than with all.
        return self.decide(situation).kind == "none"

    def expand(self, situation: Situation, most: int) -> Action:
        """Return the expansion as far as what is free and a size allow."""
        return situation.expand(size for size in situation.fitting if size <= most)

    def _towards(self, situation: Situation, preferred: int) -> Action:
        """Section 4.2."""
        units, sizes = situation.units, situation.sizes
        if not situation.waiting:
            if units == preferred and not self.options.idle_expand:
                return situation.none()
            return self.expand(situation, sizes.most)
        if units > preferred:
            fewer = [size for size in sizes.below(units) if size >= preferred]
            return Action("shrink", fewer[-1]) if fewer else situation.none()
        return self.expand(situation, preferred)

    def _widely(self, situation: Situation) -> Action:
        """Section 4.3."""
        if situation.first_start(situation.units) is not None:
            return situation.none()
        fewer = situation.sizes.below(situation.units)
        # What the furthest shrink does not start, no other does.
        index = situation.first_start(fewer[-1]) if fewer else None
        if index is not None:
            return Action("shrink", next(size for size in fewer if situation.starts(index, size)), index)
        return self.expand(situation, situation.sizes.most)
