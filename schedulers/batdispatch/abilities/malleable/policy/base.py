"""What a policy is, what it sees, what it answers, and how one is found by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Literal

import msgspec

from batdispatch.core.jobs.sizes import Ask, Sizes
from batdispatch.core.line import registry
from batdispatch.core.line.options import Part

#: Entry-point group in which a package announces its policies.
GROUP = "batdispatch.policies"


class Action(msgspec.Struct, frozen=True):
    """What a policy answers."""

    #: ``ignored``: the last check was too short a time ago.
    kind: Literal["ignored", "none", "expand", "shrink"]
    #: Units of the job from then on.
    units: int
    #: Index of the waiting job that goes before all others, since the shrink lets it start.
    boosted: int | None = None


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """A job at a reconfiguring point. Waiting jobs are counted from 0 in order of priority."""

    #: Units of the job now.
    units: int
    sizes: Sizes
    #: Further units that the job could have now, on what is free.
    free: int
    #: Number of waiting jobs; who waits for nodes to expand is not one of them.
    waiting: int
    #: ``starts(index, units)``: whether a waiting job could start if this job had so many units, of those that it has.
    starts: Callable[[int, int], bool]
    #: ``gain(units)``: seconds by which the job would end earlier with so many units, less those that the resize takes.
    gain: Callable[[int], float]
    #: Units of this job that each running or waiting job would have if the machine were divided equally.
    share: float
    #: Seconds since the last check that was answered; None: there was none.
    since: float | None = None
    #: What the application asks for; None: nothing.
    ask: Ask | None = None
    #: No waiting job needs fewer units than this, be they free or this job's.
    smallest: int = 0

    def first_start(self, units: int) -> int | None:
        """Return the first waiting job that could start if this job had so many units, of those that it has."""
        if self.free + self.units - units < self.smallest:
            return None
        return next((index for index in range(self.waiting) if self.starts(index, units)), None)

    @property
    def fitting(self) -> list[int]:
        """The sizes above the job's that what is free allows, in ascending order."""
        return [size for size in self.sizes.above(self.units) if size - self.units <= self.free]

    def none(self) -> Action:
        """Return that nothing is done."""
        return Action("none", self.units)

    def expand(self, sizes: Iterable[int]) -> Action:
        """Return the expansion to the largest of some sizes, or that nothing is done if there is none."""
        most = max(sizes, default=None)
        return self.none() if most is None else Action("expand", most)


class Policy(Part, ABC):
    """Says at a reconfiguring point what becomes of a job's size; keeps no state between calls.

    Whatever the policy, a check within the job's period is ignored, and what an application asks for goes first.
    """

    def answer(self, situation: Situation) -> Action:
        """Return what is done with a job at a reconfiguring point."""
        sizes, since = situation.sizes, situation.since
        if since is not None and since < sizes.period:
            return Action("ignored", situation.units)
        asked = self._asked(situation)
        if asked is not None:
            return asked
        return situation.none() if sizes.kind == "evolving" else self.decide(situation)

    def rests(self, situation: Situation) -> bool:
        """Return whether nothing is done with a job, at this point and at all later ones, until something happens.

        A job that rests is not asked about. Until then, time goes on, `gain` falls, and some of `sizes` may be left
        out, since the job would not end in time there; all else stays as it is.
        """
        sizes = situation.sizes
        return not sizes.asks and (sizes.kind == "evolving" or self.idles(situation))

    def idles(self, situation: Situation) -> bool:
        """Return the same of a malleable job that never asks for anything; False: it is asked about at each point."""
        return False

    def _asked(self, situation: Situation) -> Action | None:
        """Return the answer to what the application asks for; None: it has what it wants.

        An expansion goes to the next size that fulfils the minimum, if it is free. A shrink goes to the largest size
        under the maximum.
        """
        ask, units, sizes = situation.ask, situation.units, situation.sizes
        if ask is None:
            return None
        if ask.least is not None and ask.least > units:
            least = ask.least
            enough = next((size for size in sizes.above(units) if size >= least), None)
            return situation.expand(size for size in situation.fitting if size == enough)
        if ask.most is not None and ask.most < units:
            few = [size for size in sizes.below(units) if size <= ask.most]
            return Action("shrink", few[0]) if few else situation.none()
        return None

    @abstractmethod
    def decide(self, situation: Situation) -> Action:
        """Return what is done with a malleable job that asks for nothing."""


def make_policy(text: str) -> Policy:
    """Build a policy from its name, with options in brackets if any: ``dmr``, ``speed-up[efficiency=0.8]``.

    Raises:
        InputError: there is none of that name, or an option is wrong.
    """
    return registry.make(GROUP, text, Policy, "policy")
