"""Platforms made from numbers: each function returns the bytes of a SimGrid platform file, always the same ones."""

from batdispatch.inputs.platforms.generate.document import Links
from batdispatch.inputs.platforms.generate.fabrics import dragonfly, fat_tree
from batdispatch.inputs.platforms.generate.flat import flat
from batdispatch.inputs.platforms.generate.grid import Widths
from batdispatch.inputs.platforms.generate.mesh import mesh
from batdispatch.inputs.platforms.generate.torus import torus

__all__ = [
    "Links",
    "Widths",
    "dragonfly",
    "fat_tree",
    "flat",
    "mesh",
    "torus",
]
