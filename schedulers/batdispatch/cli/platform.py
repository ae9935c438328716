"""``batdispatch platform``: generate SimGrid platforms and look into them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from batdispatch.cli.announced import AnnouncedGroup
from batdispatch.cli.groups import Choice, Group, option

if TYPE_CHECKING:
    from batdispatch.inputs.platforms.generate import Links, Widths
    from batdispatch.inputs.platforms.generate.torus import RouterLinks


@click.group(cls=Group)
def command() -> None:
    """Generate SimGrid platforms and look into them.

    \b
    Examples:
      batdispatch platform generate flat --hosts 128 -o flat128.xml
      batdispatch platform generate eurora -o eurora.xml
      batdispatch platform show eurora.xml
      batdispatch platform queues eurora.xml queues.toml -o site.xml
    """


class Kinds(AnnouncedGroup):
    """The kinds of platforms: those of this package, and what other packages announce."""

    entry_points = "batdispatch.platforms"


@command.group(cls=Kinds)
def generate() -> None:
    """Write a platform file: a machine or a family of machines.

    The same options always give the same bytes. Each file has a host master_host that carries Batsim itself.

    \b
    Examples:
      batdispatch platform generate flat --hosts 64 --capacity 'core=16 memory=32768' -o cluster.xml
      batdispatch platform generate torus --dims 24,24,24 --hosts-per-router 2 --io 672 -o bluewaters.xml
      batdispatch platform generate forhlr2 -o -      (to standard output)
    """


def _sizes(_ctx: click.Context, _param: click.Parameter, value: str) -> tuple[int, ...]:
    parts = value.split(",")
    if not all(part.isascii() and part.isdigit() and len(part) <= 9 for part in parts):
        raise click.BadParameter(f"{value!r} is not a list of whole numbers such as 4,4,4")
    return tuple(int(part) for part in parts)


def link_options(
    speed: str = "1Gf", bw: str = "1.25GBps", lat: str = "10us", *, dimensions: bool = False
) -> Callable[[Any], Any]:
    """Add the options that every kind has, with the defaults of a kind; `dimensions`: whether links have any."""
    metavar, of_a_link = "BANDWIDTH", "Give each link this bandwidth, such as 1.25GBps (1.25 10^9 bytes in a second)."
    if dimensions:
        metavar = "BW[,BW,..]"
        of_a_link = (
            "Give each link this bandwidth, such as 9.6GBps, or the links along each dimension one of their own."
        )
    host_width = option(
        "--host-bw",
        metavar="BW",
        help="Give the link between a host and its router this bandwidth. The default is that of the widest link.",
    )

    def add(function: Callable[..., None]) -> Callable[..., None]:
        for one in reversed(
            [
                option(
                    "--speed",
                    metavar="SPEED",
                    default=speed,
                    show_default=True,
                    help="Give each core this speed, such as 1Gf (10^9 floating-point operations in a second).",
                ),
                option("--bw", metavar=metavar, default=bw, show_default=True, help=of_a_link),
                *([host_width] if dimensions else []),
                option(
                    "--lat",
                    metavar="TIME",
                    default=lat,
                    show_default=True,
                    help="Give each link this latency, such as 1us.",
                ),
                option(
                    "-o",
                    "--output",
                    metavar="P.xml",
                    required=True,
                    help="Write into this file, or for - to the standard output.",
                ),
            ]
        ):
            function = one(function)
        return function

    return add


def _grid_links(speed: str, bw: str, lat: str, host_bw: str | None) -> tuple[Links, Widths]:
    """Return the links of a grid, and which of them have other bandwidths."""
    from batdispatch.inputs.platforms import generate as kinds

    each = bw.split(",")
    return kinds.Links(speed=speed, bw=each[0], lat=lat), kinds.Widths(each if len(each) > 1 else (), host_bw)


_capacity = option(
    "--capacity",
    metavar="TEXT",
    help="Let each node offer these amounts, such as 'core=16 gpu=2 memory=16384' (memory in MiB), "
    "which jobs then share. By default, jobs take whole hosts.",
)


def write_platform(output: str, content: bytes) -> None:
    """Write a platform into a file, or for ``-`` to the standard output.

    Raises:
        InputError: it cannot be written.
    """
    from batdispatch.inputs.files import replacing

    if output == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    with replacing(output) as file:
        file.write(content)


@generate.command()
@option("--hosts", metavar="N", type=int, required=True, help="Make this many compute hosts.")
@_capacity
@link_options()
def flat(hosts: int, capacity: str | None, speed: str, bw: str, lat: str, output: str) -> None:
    """Equal nodes on a switch that never limits them."""
    from batdispatch.inputs.platforms import generate as kinds

    write_platform(output, kinds.flat(hosts, capacity=capacity, links=kinds.Links(speed=speed, bw=bw, lat=lat)))


@generate.command()
@option(
    "--dims",
    callback=_sizes,
    metavar="N,N,..",
    default="24,24,24",
    show_default=True,
    help="Make this many routers along each dimension, of which there may be up to ten.",
)
@option(
    "--hosts-per-router",
    metavar="N",
    type=int,
    default=2,
    show_default=True,
    help="Put this many nodes on each router.",
)
@option(
    "--io",
    metavar="N",
    type=int,
    default=0,
    show_default=True,
    help="Make this many of the hosts I/O nodes, spread over the torus. There is at most one on each router.",
)
@option(
    "--router-links",
    type=Choice(["shared", "split"]),
    help="Choose who uses the links between routers. shared: all nodes of a router share its "
    "links. split: each node has links of its own to the neighbours, as in SimGrid's torus. "
    "The default is shared if several nodes share a router and SimGrid then starts within "
    "seconds, or if a bandwidth is given for each dimension or for hosts; else it is split.",
)
@_capacity
@link_options(bw="9.6GBps", lat="1us", dimensions=True)
def torus(
    dims: tuple[int, ...],
    hosts_per_router: int,
    io: int,
    router_links: RouterLinks | None,
    capacity: str | None,
    speed: str,
    bw: str,
    host_bw: str | None,
    lat: str,
    output: str,
) -> None:
    """A k-ary torus with several nodes a router and I/O nodes; --io 672 is the size of Blue Waters."""
    from batdispatch.inputs.platforms import generate as kinds

    links, widths = _grid_links(speed, bw, lat, host_bw)
    content = kinds.torus(
        dims,
        hosts_per_router=hosts_per_router,
        io=io,
        capacity=capacity,
        links=links,
        router_links=router_links,
        widths=widths,
    )
    write_platform(output, content)


@generate.command()
@option(
    "--dims",
    callback=_sizes,
    metavar="N,N,..",
    required=True,
    help="Make this many routers along each dimension, of which there may be up to ten.",
)
@option(
    "--hosts-per-router",
    metavar="N",
    type=int,
    default=1,
    show_default=True,
    help="Put this many nodes on each router.",
)
@option(
    "--io",
    metavar="N",
    type=int,
    default=0,
    show_default=True,
    help="Make this many of the hosts I/O nodes, spread over the mesh. There is at most one on each router.",
)
@_capacity
@link_options(dimensions=True)
def mesh(
    dims: tuple[int, ...],
    hosts_per_router: int,
    io: int,
    capacity: str | None,
    speed: str,
    bw: str,
    host_bw: str | None,
    lat: str,
    output: str,
) -> None:
    """A grid without wrap-around, such as --dims 4,4,2, of up to some 4,000 routers."""
    from batdispatch.inputs.platforms import generate as kinds

    links, widths = _grid_links(speed, bw, lat, host_bw)
    content = kinds.mesh(dims, hosts_per_router=hosts_per_router, io=io, capacity=capacity, links=links, widths=widths)
    write_platform(output, content)


@generate.command()
@option(
    "--down",
    callback=_sizes,
    metavar="N,N,..",
    required=True,
    help="Give a switch this many children: one number for each level, from the leaves to the root.",
)
@option(
    "--up",
    callback=_sizes,
    metavar="N,N,..",
    required=True,
    help="Give a host or switch this many parents: one number for each level, from the leaves to the root.",
)
@option(
    "--cables",
    callback=_sizes,
    metavar="N,N,..",
    required=True,
    help="Lay this many parallel cables to each parent: one number for each level, from the leaves to the root.",
)
@_capacity
@link_options()
def fattree(
    down: tuple[int, ...],
    up: tuple[int, ...],
    cables: tuple[int, ...],
    capacity: str | None,
    speed: str,
    bw: str,
    lat: str,
    output: str,
) -> None:
    """A fat tree, such as --down 4,4 --up 1,2 --cables 1,2 for 16 hosts."""
    from batdispatch.inputs.platforms import generate as kinds

    links = kinds.Links(speed=speed, bw=bw, lat=lat)
    write_platform(output, kinds.fat_tree(down, up, cables, capacity=capacity, links=links))


@generate.command()
@option(
    "--groups",
    callback=_sizes,
    metavar="N,N,..",
    required=True,
    help="Make this many groups, and lay this many links between two of them, such as 3,4.",
)
@option(
    "--chassis",
    callback=_sizes,
    metavar="N,N,..",
    required=True,
    help="Make this many chassis in each group, and lay this many links between two of them, such as 4,3.",
)
@option(
    "--routers",
    callback=_sizes,
    metavar="N,N,..",
    required=True,
    help="Make this many routers in each chassis, and lay this many links between two of them, such as 5,1.",
)
@option("--nodes", metavar="N", type=int, required=True, help="Put this many hosts on each router.")
@_capacity
@link_options()
def dragonfly(
    groups: tuple[int, ...],
    chassis: tuple[int, ...],
    routers: tuple[int, ...],
    nodes: int,
    capacity: str | None,
    speed: str,
    bw: str,
    lat: str,
    output: str,
) -> None:
    """A dragonfly, such as --groups 3,4 --chassis 4,3 --routers 5,1 --nodes 2 for 120 hosts."""
    from batdispatch.inputs.platforms import generate as kinds

    links = kinds.Links(speed=speed, bw=bw, lat=lat)
    write_platform(output, kinds.dragonfly(groups, chassis, routers, nodes, capacity=capacity, links=links))


def parse_roles(roles: Sequence[str]) -> dict[str, str]:
    """Read ``--role`` options: host -> role.

    Raises:
        click.BadParameter: one is not HOST:ROLE, or a host is given twice.
    """
    given: dict[str, str] = {}
    for text in roles:
        # A host name may hold colons, a role does not.
        name, colon, role = text.rpartition(":")
        if not colon or not name or name in given:
            raise click.BadParameter(f"{text!r} is not HOST:ROLE, each host once", param_hint="--role")
        given[name] = role
    return given


@command.command()
@click.argument("path", metavar="P.xml", type=click.Path(path_type=Path))
@option(
    "--master-host",
    metavar="NAME",
    help="Keep this host for Batsim itself. The default is master_host, if there is one.",
)
@option(
    "--role",
    "roles",
    metavar="HOST:ROLE",
    multiple=True,
    help="Give a host a role (storage, compute_node), as Batsim's -r does.",
)
@option(
    "--batsim",
    type=Choice(["4", "5"]),
    default="4",
    show_default=True,
    help="Number hosts as this version of Batsim does.",
)
@option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@option("--batsim-arguments", is_flag=True, help="Print only what Batsim needs to see the same roles.")
def show(
    path: Path, master_host: str | None, roles: tuple[str, ...], batsim: str, as_json: bool, batsim_arguments: bool
) -> None:
    """Print what a platform has: hosts, classes with capacities, topology, storage, master, totals.

    \b
    Examples:
      batdispatch platform show eurora.xml
      batdispatch platform show cluster.xml --master-host n0 --role pfs:storage --json
      batsim $(batdispatch platform show torus.xml --batsim-arguments) -w W.json
    """
    import shlex

    import msgspec

    from batdispatch.inputs.platforms import read_platform
    from batdispatch.inputs.platforms.summary import as_text, summarise

    platform = read_platform(path, master=master_host, roles=parse_roles(roles), batsim=5 if batsim == "5" else 4)
    if batsim_arguments:
        click.echo(shlex.join(platform.batsim_arguments()))
        return
    facts = summarise(platform)
    click.echo(msgspec.json.format(msgspec.json.encode(facts), indent=2).decode() if as_json else as_text(facts))


@command.command()
@click.argument("path", metavar="P.xml", type=click.Path(path_type=Path))
@click.argument("file", metavar="QUEUES.toml", type=click.Path(path_type=Path))
@option(
    "-o", "--output", metavar="P2.xml", required=True, help="Write into this file, or for - to the standard output."
)
def queues(path: Path, file: Path, output: str) -> None:
    """Write a platform with the queues of a site: partitions, qualities of service, limits and priorities.

    They go into a property of the outermost zone. Batsim ignores it; every command that reads the platform knows the
    queues. Those that the platform had are replaced.

    \b
    Examples:
      batdispatch platform queues cluster.xml queues.toml -o site.xml
      batdispatch run --platform site.xml --workload W.json --dispatcher easy
    """
    from batdispatch.inputs.queues import with_queues

    write_platform(output, with_queues(path, file))
