"""Placements: on which of the free hosts a job goes."""

from batdispatch.parts.placement.base import GROUP, HostPlacement, Placement, make_placement

__all__ = ["GROUP", "HostPlacement", "Placement", "make_placement"]
