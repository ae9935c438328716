"""Convex: no other job's messages on the job's routes."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

from batdispatch.core.machine import Machine
from batdispatch.core.options import Options
from batdispatch.parts.placement.geometry.rules import Rules
from batdispatch.parts.placement.geometry.shape import Shape, ShapeOptions


class ConvexOptions(ShapeOptions, frozen=True, kw_only=True):
    """Options of the convex placement.

    rule: What jobs must not share. `links`: no link on a route between two hosts of the job is on a route between two
        hosts of another running job. `routers`: in addition, each router on such a route has a host of the job, and no
        other job has a host or a route there.
    """

    rule: Literal["links", "routers"] = "links"


class Convex(Shape):
    """Takes hosts whose messages to each other meet no other job's messages, or lets the job wait.

    With `rule=routers` exact on tori and meshes of any size: boxes are all there is. With `rule=links`, boxes are
    looked at first, small ones first, then sets grown from 24 free routers. That is exact on lines and rings; on small
    machines (at most 64 routers) all other sets are tried too, up to 50,000 steps. On larger ones a place may be
    missed. On a fat tree or dragonfly, where there are no boxes, the hosts below one switch are looked at, from the
    lowest level.
    R. Bleuse, "Apprehending heterogeneity at (very) large scale", PhD thesis, Universite Grenoble Alpes, 2017.
    """

    options_type: ClassVar[type[Options]] = ConvexOptions
    complete = False

    def with_rules(self, rules: Rules, machine: Machine) -> Rules:
        return replace(rules, convex=self.options.rule)
