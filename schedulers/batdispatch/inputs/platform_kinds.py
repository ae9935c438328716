"""Platforms made from numbers, as people state them; nothing large is imported, so that help is quick.

A kind is one struct here: its docstring is the help, its fields are the options, `content` calls the function in
`inputs.platforms.generate` that writes the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import msgspec
from msgspec.structs import asdict

from batdispatch.core.errors import InputError
from batdispatch.core.line.settings import Form, roles_of

if TYPE_CHECKING:
    from batdispatch.inputs.platforms.generate import Links, Widths


class LinkOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Cores and links.

    speed: Give each core this speed, such as 1Gf (10^9 floating-point operations in a second).
    bw: Give each link this bandwidth, such as 1.25GBps (1.25 10^9 bytes in a second).
    lat: Give each link this latency, such as 1us.
    power: Let nodes have the power states of this machine, with watts, sleep and speeds in proportion to --speed.
    """

    speed: Annotated[str, Form("SPEED")] = "1Gf"
    bw: Annotated[str, Form("BANDWIDTH")] = "1.25GBps"
    lat: Annotated[str, Form("TIME")] = "10us"
    power: Annotated[Literal["batsim-cluster", "batsim-homogeneous", "simgrid-cluster"] | None, Form("NAME")] = None

    @property
    def links(self) -> Links:
        """What the functions take."""
        from batdispatch.inputs.platforms.generate import Links

        return Links(speed=self.speed, bw=self.bw.split(",")[0], lat=self.lat)


class GridLinks(LinkOptions, frozen=True, kw_only=True):
    """Links along dimensions.

    bw: Give each link this bandwidth, such as 9.6GBps, or the links along each dimension one of their own.
    host_bw: Give the link between a host and its router this bandwidth. The default is that of the widest link.
    """

    bw: Annotated[str, Form("BW[,BW,..]")] = "1.25GBps"
    host_bw: Annotated[str | None, Form("BW")] = None
    lat: Annotated[str, Form("TIME")] = "10us"

    @property
    def widths(self) -> Widths:
        """Which links have other bandwidths."""
        from batdispatch.inputs.platforms.generate import Widths

        each = self.bw.split(",")
        return Widths(each if len(each) > 1 else (), self.host_bw)


class TorusLinks(GridLinks, frozen=True, kw_only=True):
    """Those of Blue Waters."""

    bw: Annotated[str, Form("BW[,BW,..]")] = "9.6GBps"
    host_bw: Annotated[str | None, Form("BW")] = None
    lat: Annotated[str, Form("TIME")] = "1us"


def sizes_of(text: str) -> tuple[int, ...]:
    """Read a list of whole numbers, such as 4,4,4.

    Raises:
        InputError: it is none.
    """
    parts = text.split(",")
    if not all(part.isascii() and part.isdigit() and len(part) <= 9 for part in parts):
        raise InputError(f"{text!r} is not a list of whole numbers such as 4,4,4")
    return tuple(int(part) for part in parts)


#: How many of something.
Count = Annotated[int, Form("N")]
_Sizes = Annotated[tuple[int, ...], Form("N,N,..", read=sizes_of)]
_Capacity = Annotated[str | None, Form("TEXT")]


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of platform.

    capacity: Let each node offer these amounts, such as 'core=16 gpu=2 memory=16384' (memory in MiB), which jobs then
        share. By default, jobs take whole hosts.
    dims: Make this many routers along each dimension, of which there may be up to ten.
    hosts_per_router: Put this many nodes on each router.
    """

    #: What can be stated of its links.
    links_type: ClassVar[type[LinkOptions]] = LinkOptions


class Flat(Kind, frozen=True, kw_only=True):
    """Equal nodes on a switch that never limits them.

    hosts: Make this many compute hosts.
    """

    hosts: Count
    capacity: _Capacity = None

    def content(self, links: LinkOptions) -> bytes:
        """Return the file."""
        from batdispatch.inputs.platforms.generate import flat

        return flat(**asdict(self), links=links.links)


class Torus(Kind, frozen=True, kw_only=True):
    """A k-ary torus with several nodes a router and I/O nodes; --io 672 is the size of Blue Waters.

    io: Make this many of the hosts I/O nodes, spread over the torus. There is at most one on each router.
    router_links: Choose who uses the links between routers. shared: all nodes of a router share its links. split: each
        node has links of its own to the neighbours, as in SimGrid's torus. The default is shared if several nodes share
        a router and SimGrid then starts within seconds, or if a bandwidth is given for each dimension or for hosts;
        else it is split.
    """

    links_type: ClassVar[type[LinkOptions]] = TorusLinks
    dims: Annotated[tuple[int, ...], Form("N,N,..", default="24,24,24", read=sizes_of)] = (24, 24, 24)
    hosts_per_router: Count = 2
    io: Count = 0
    router_links: Literal["shared", "split"] | None = None
    capacity: _Capacity = None

    def content(self, links: GridLinks) -> bytes:
        """Return the file."""
        from batdispatch.inputs.platforms.generate import torus

        return torus(**asdict(self), links=links.links, widths=links.widths)


class Mesh(Kind, frozen=True, kw_only=True):
    """A grid without wrap-around, such as --dims 4,4,2, of up to some 4,000 routers.

    io: Make this many of the hosts I/O nodes, spread over the mesh. There is at most one on each router.
    """

    links_type: ClassVar[type[LinkOptions]] = GridLinks
    dims: _Sizes
    hosts_per_router: Count = 1
    io: Count = 0
    capacity: _Capacity = None

    def content(self, links: GridLinks) -> bytes:
        """Return the file."""
        from batdispatch.inputs.platforms.generate import mesh

        return mesh(**asdict(self), links=links.links, widths=links.widths)


class Fattree(Kind, frozen=True, kw_only=True):
    """A fat tree, such as --down 4,4 --up 1,2 --cables 1,2 for 16 hosts.

    down: Give a switch this many children: one number for each level, from the leaves to the root.
    up: Give a host or switch this many parents: one number for each level, from the leaves to the root.
    cables: Lay this many parallel cables to each parent: one number for each level, from the leaves to the root.
    """

    down: _Sizes
    up: _Sizes
    cables: _Sizes
    capacity: _Capacity = None

    def content(self, links: LinkOptions) -> bytes:
        """Return the file."""
        from batdispatch.inputs.platforms.generate import fat_tree

        return fat_tree(**asdict(self), links=links.links)


class Dragonfly(Kind, frozen=True, kw_only=True):
    """A dragonfly, such as --groups 3,4 --chassis 4,3 --routers 5,1 --nodes 2 for 120 hosts.

    groups: Make this many groups, and lay this many links between two of them, such as 3,4.
    chassis: Make this many chassis in each group, and lay this many links between two of them, such as 4,3.
    routers: Make this many routers in each chassis, and lay this many links between two of them, such as 5,1.
    nodes: Put this many hosts on each router.
    """

    groups: _Sizes
    chassis: _Sizes
    routers: _Sizes
    nodes: Count
    capacity: _Capacity = None

    def content(self, links: LinkOptions) -> bytes:
        """Return the file."""
        from batdispatch.inputs.platforms.generate import dragonfly

        return dragonfly(**asdict(self), links=links.links)


#: The kinds that are of no one machine.
KINDS = (Dragonfly, Fattree, Flat, Mesh, Torus)


class ShowOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a platform is read.

    master_host: Keep this host for Batsim itself. The default is master_host, if there is one.
    roles: Give a host a role (storage, compute_node), as Batsim's -r does.
    batsim: Number hosts as this version of Batsim does.
    """

    master_host: Annotated[str | None, Form("NAME")] = None
    roles: Annotated[dict[str, str], Form("HOST:ROLE", name="--role", gather=roles_of)] = {}
    batsim: Literal["4", "5"] = "4"
