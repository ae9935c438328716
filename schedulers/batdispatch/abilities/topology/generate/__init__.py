"""Platforms with networks made from numbers: each function returns the bytes of a SimGrid platform file."""

from batdispatch.abilities.topology.generate.fabrics import dragonfly, fat_tree
from batdispatch.abilities.topology.generate.grid import Widths
from batdispatch.abilities.topology.generate.mesh import mesh
from batdispatch.abilities.topology.generate.torus import torus

__all__ = [
    "Widths",
    "dragonfly",
    "fat_tree",
    "mesh",
    "torus",
]
