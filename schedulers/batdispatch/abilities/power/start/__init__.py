"""Start rules: until when a job that may wait is kept back, by a price that changes over time."""

from batdispatch.abilities.power.start.base import GROUP, Flexibility, StartRule, make_start

__all__ = ["GROUP", "Flexibility", "StartRule", "make_start"]
