"""Placements: on which of the free hosts a job goes."""

from batdispatch.parts.placement.base import GROUP, Placement, make_placement

__all__ = ["GROUP", "Placement", "make_placement"]
