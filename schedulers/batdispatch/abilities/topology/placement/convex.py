"""Convex: no other job's messages on the job's routes."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

from batdispatch.abilities.topology.placement.geometry.rules import Rules
from batdispatch.abilities.topology.placement.geometry.shape import Shape, ShapeOptions
from batdispatch.core.line.options import Options
from batdispatch.core.machine.machine import Machine


class ConvexOptions(ShapeOptions, frozen=True, kw_only=True):
    """Options of the convex placement.

    rule: Keep jobs from sharing this. `links`: no link on a route between two hosts of the job is on a route between
        two hosts of another running job. `routers`: in addition, each router on such a route has a host of the job, and
        no other job has a host or a route there.
    """

    rule: Literal["links", "routers"] = "links"


class Convex(Shape):
    """Takes hosts whose messages to each other meet no other job's messages, or lets the job wait.

    With `rule=routers`, the search is exact on tori and meshes of any size, because it tries all boxes and there are no
    other sets. With `rule=links`, it tries boxes first, small ones first, and then sets grown from 24 free routers.
    This is exact on lines and rings. On small machines (at most 64 routers) it then tries all other sets, up to 50,000
    steps. On larger machines it may overlook a place. A fat tree or dragonfly has no boxes: there it looks at the hosts
    below one switch, from the lowest level. With `rule=routers` it then tries sets that hold all routers on their own
    routes: all of them in fat trees and on small machines (up to 10,000 steps), some of them elsewhere.

    Typical use: where messages of other jobs should never slow a job down, and idle hosts are a price worth paying.
    References: R. Bleuse, "Apprehending heterogeneity at (very) large scale", PhD thesis,
    Universite Grenoble Alpes, 2017.
    """

    options_type: ClassVar[type[Options]] = ConvexOptions
    complete = False

    def with_rules(self, rules: Rules, machine: Machine) -> Rules:
        return replace(rules, convex=self.options.rule)
