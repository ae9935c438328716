"""Placements: on which of the free hosts a job goes."""

from batdispatch.parts.placement.base import GROUP, HostPlacement, Placement
from batdispatch.parts.placement.making import make_placement

__all__ = ["GROUP", "HostPlacement", "Placement", "make_placement"]
