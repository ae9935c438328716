"""Platforms made from numbers: each function returns the bytes of a SimGrid platform file, always the same ones."""

from batdispatch.inputs.platforms.generate.document import Links
from batdispatch.inputs.platforms.generate.flat import flat

__all__ = ["Links", "flat"]
