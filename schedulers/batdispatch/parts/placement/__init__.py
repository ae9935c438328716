"""Placements: on which of the free hosts a job goes."""

from batdispatch.parts.placement.base import GROUP, HostPlacement, Placement
from batdispatch.parts.placement.factory import make_placement

__all__ = ["GROUP", "HostPlacement", "Placement", "make_placement"]
