"""SimGrid platforms: reading, checking, numbering and generating them."""

from batdispatch.inputs.platforms.platform import Platform, read_platform
from batdispatch.inputs.platforms.topology import ClusterShape
from batdispatch.inputs.platforms.zones import PlatformHost

__all__ = ["ClusterShape", "Platform", "PlatformHost", "read_platform"]
