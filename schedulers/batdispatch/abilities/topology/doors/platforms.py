"""``batdispatch platform generate torus`` and others: platforms whose hosts stand in a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec.structs import asdict

from batdispatch.cli.platform import kind_command
from batdispatch.core.line.settings import Form
from batdispatch.inputs.platform_kinds import Capacity, Count, Kind, LinkOptions, sizes_of

if TYPE_CHECKING:
    from batdispatch.abilities.topology.generate import Widths


_Sizes = Annotated[tuple[int, ...], Form("N,N,..", read=sizes_of)]


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
        from batdispatch.abilities.topology.generate import Widths

        each = self.bw.split(",")
        return Widths(each if len(each) > 1 else (), self.host_bw)


class TorusLinks(GridLinks, frozen=True, kw_only=True):
    """Those of Blue Waters."""

    bw: Annotated[str, Form("BW[,BW,..]")] = "9.6GBps"
    host_bw: Annotated[str | None, Form("BW")] = None
    lat: Annotated[str, Form("TIME")] = "1us"


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
    capacity: Capacity = None

    def content(self, links: GridLinks) -> bytes:
        """Return the file."""
        from batdispatch.abilities.topology.generate import torus

        return torus(**asdict(self), links=links.links, widths=links.widths)


class Mesh(Kind, frozen=True, kw_only=True):
    """A grid without wrap-around, such as --dims 4,4,2, of up to some 4,000 routers.

    io: Make this many of the hosts I/O nodes, spread over the mesh. There is at most one on each router.
    """

    links_type: ClassVar[type[LinkOptions]] = GridLinks
    dims: _Sizes
    hosts_per_router: Count = 1
    io: Count = 0
    capacity: Capacity = None

    def content(self, links: GridLinks) -> bytes:
        """Return the file."""
        from batdispatch.abilities.topology.generate import mesh

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
    capacity: Capacity = None

    def content(self, links: LinkOptions) -> bytes:
        """Return the file."""
        from batdispatch.abilities.topology.generate import fat_tree

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
    capacity: Capacity = None

    def content(self, links: LinkOptions) -> bytes:
        """Return the file."""
        from batdispatch.abilities.topology.generate import dragonfly

        return dragonfly(**asdict(self), links=links.links)


torus, mesh, fattree, dragonfly = map(kind_command, (Torus, Mesh, Fattree, Dragonfly))
