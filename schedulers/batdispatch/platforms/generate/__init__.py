"""Platforms made from numbers: each function returns the bytes of a SimGrid platform file, always the same ones."""

from batdispatch.platforms.generate.document import Links
from batdispatch.platforms.generate.esp import esp
from batdispatch.platforms.generate.eurora import eurora
from batdispatch.platforms.generate.fabrics import dragonfly, fat_tree
from batdispatch.platforms.generate.flat import flat
from batdispatch.platforms.generate.forhlr2 import forhlr2
from batdispatch.platforms.generate.torus import torus

__all__ = ["Links", "dragonfly", "esp", "eurora", "fat_tree", "flat", "forhlr2", "torus"]
