"""SimGrid platforms: reading, checking, numbering and generating them."""

from batdispatch.platforms.platform import Platform, read_platform
from batdispatch.platforms.topology import Topology
from batdispatch.platforms.zones import PlatformHost

__all__ = ["Platform", "PlatformHost", "Topology", "read_platform"]
