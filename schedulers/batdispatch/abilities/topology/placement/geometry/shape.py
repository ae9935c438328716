"""Placements that put a job on hosts of a certain shape, alone or several together."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, ClassVar

import msgspec

from batdispatch.abilities.topology.placement.geometry.rules import Rules
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.options import Options
from batdispatch.core.line.scene import Scene
from batdispatch.core.machine.machine import Machine
from batdispatch.core.plans.lateness import TOLERANCE
from batdispatch.parts.placement.base import Placement


class ShapeOptions(Options, frozen=True, kw_only=True):
    """Options of every shape.

    fallback: Once a job has waited for this many seconds, put it on any hosts if no hosts of this shape are free.
        `result.json` counts these jobs. 0: at once. `none` (the default): a job waits for its shape for as long as it
        takes.
    """

    fallback: Annotated[float, msgspec.Meta(ge=0)] | None = None


class Shape(Placement):
    """Puts a job on hosts of one shape. A subclass says which by `with_rules`."""

    options_type: ClassVar[type[Options]] = ShapeOptions
    extra = "topology"
    is_shape = True

    def join(self, others: Sequence[Placement]) -> Placement:
        return Together([self, *(each for each in others if isinstance(each, Shape))])

    def begin(self, machine: Machine) -> None:
        super().begin(machine)
        self._together = Together([self])
        self._together.begin(machine)

    @abstractmethod
    def with_rules(self, rules: Rules, machine: Machine) -> Rules:
        """Return rules with this shape's own.

        Raises:
            InputError: the machine is not one on which there is such a shape.
        """

    @property
    def name(self) -> str:
        """The name of the shape, for the account of fallbacks."""
        return type(self).__name__.lower()

    @property
    def fallback(self) -> float | None:
        """Seconds after which a job that waits goes anywhere, or None."""
        seconds: float | None = self.options.fallback
        return seconds

    def place(self, scene: Scene, job: Job) -> Place | None:
        return self._together.place(scene, job)

    def proves_never(self, idle: Scene, job: Job) -> bool:
        return self._together.proves_never(idle, job)

    def patience(self, job: Job, now: float) -> float:
        return self._together.patience(job, now)

    def holds(self, scene: Scene, job: Job, place: Place) -> bool:
        return self._together.holds(scene, job, place)


class Together(Placement):
    """Puts a job on hosts that form several shapes at once, such as ``convex+local``."""

    def __init__(self, shapes: Sequence[Shape]) -> None:
        super().__init__()
        self.shapes = list(shapes)
        self.complete = all(shape.complete for shape in shapes)
        self.stable = all(shape.stable for shape in shapes) and len(self.shapes) == 1

    def begin(self, machine: Machine) -> None:
        # It needs SciPy, which takes longer to import than a short run takes.
        from batdispatch.abilities.topology.placement.geometry.search import ShapeSearch

        super().begin(machine)
        self._rules = self._of(self.shapes)
        try:
            self._search = ShapeSearch(machine, self._rules)
        except InputError as error:
            raise InputError(f"placement {'+'.join(shape.name for shape in self.shapes)}: {error}") from None

    def _of(self, shapes: Sequence[Shape]) -> Rules:
        rules = Rules()
        for shape in shapes:
            rules = shape.with_rules(rules, self.machine)
        return rules

    def place(self, scene: Scene, job: Job) -> Place | None:
        if not scene.space.fits(scene.free, job):
            return None
        allocation = self._search.find(scene, job, self._rules)
        if allocation is not None:
            return Place(allocation)
        kept = [shape for shape in self.shapes if not _given_up(shape, scene.time, job)]
        if len(kept) == len(self.shapes):
            return None
        rules = self._of(kept)
        if rules.anywhere:
            place = scene.lowest(job)
        else:
            allocation = self._search.find(scene, job, rules)
            place = None if allocation is None else Place(allocation)
        given_up = tuple(shape.name for shape in self.shapes if shape not in kept)
        return None if place is None else msgspec.structs.replace(place, given_up=given_up)

    def proves_never(self, idle: Scene, job: Job) -> bool:
        strict = [shape for shape in self.shapes if shape.fallback is None]
        return self._search.proves_never(idle, job, self._of(strict))

    def patience(self, job: Job, now: float) -> float:
        limits = (shape.fallback for shape in self.shapes)
        moments = (job.submission + limit for limit in limits if limit is not None)
        return min((moment for moment in moments if moment > now), default=math.inf)

    def holds(self, scene: Scene, job: Job, place: Place) -> bool:
        rules = self._of([shape for shape in self.shapes if shape.name not in place.given_up])
        return self._search.holds(scene, rules, place.allocation)


def _given_up(shape: Shape, time: float, job: Job) -> bool:
    """Return whether a job need not have a shape any more at some time."""
    limit = shape.fallback
    return limit is not None and time - job.submission >= limit - TOLERANCE
