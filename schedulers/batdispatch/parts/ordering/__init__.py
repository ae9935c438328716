"""Orderings of the waiting queue. Smaller keys go first; ties go by arrival."""

from batdispatch.parts.ordering.base import GROUP, Ordering, make_ordering

__all__ = ["GROUP", "Ordering", "make_ordering"]
