"""A node of CPU cores and GPUs, as runtime systems of task graphs see it: each core and each GPU is a host."""

from __future__ import annotations

import itertools

from lxml import etree

from batdispatch.core.errors import InputError
from batdispatch.inputs.platforms.generate.document import Links, checked_count, render

_SOURCE = "platform generate hybrid"
#: Most hosts: the file has a route for every pair.
MAX_HYBRID_HOSTS = 256
#: Peak of a Tesla C2050 in double precision. Run times of tasks are delays, so no result depends on it.
GPU_SPEED = "515.2Gf"
#: A core of a Xeon X5650 (2.66 GHz x 4 operations a cycle), and PCI Express 2.0 x16: of its 8 GB/s in each direction
#: about three quarters are left for data; 10 us for a copy of a single byte is common on such machines.
HYBRID_LINKS = Links(speed="10.64Gf", bw="6GBps", lat="10us")


def hybrid(
    *, gpus: int, cores: int | None = None, all_cores: int = 12, switches: int = 4, links: Links = HYBRID_LINKS
) -> bytes:
    """Return a node whose GPUs have memories of their own, joined to the main memory by PCI Express.

    CPU cores (c00, c01, ...) share the main memory, in which nothing has to be copied. GPU number i hangs on switch
    i mod `switches`. A copy between a GPU and the main memory passes the GPU's link and the switch's; one between two
    GPUs passes both GPUs' links, and both switches' if they differ. All links have the same bandwidth, so GPUs on one
    switch contend. Both directions of a link have its full bandwidth.

    The hosts' properties say what dispatchers of tasks need: ``class`` (cpu or gpu), ``memory`` (the name of the
    memory that the host computes in), and, for each GPU, ``memory_bandwidth`` (bytes/s) and ``memory_latency`` (s) of
    the way to the main memory.

    Args:
        gpus: number of GPUs; each has a core to itself that feeds it and computes nothing.
        cores: number of cores that compute; None: `all_cores` less one for each GPU.
        all_cores: number of cores of the node.
        switches: number of PCI Express switches.
        links: speed of a core, bandwidth of every link, latency of a copy to or from a GPU.

    Raises:
        InputError: an argument is out of range or malformed, or no core is left to compute.
    """
    computing = all_cores - gpus if cores is None else cores
    if not 0 <= gpus <= MAX_HYBRID_HOSTS:
        raise InputError(f"{gpus} is not between 0 and {MAX_HYBRID_HOSTS}", source=_SOURCE, place="--gpus")
    if not 1 <= computing <= MAX_HYBRID_HOSTS - gpus:
        raise InputError(
            f"{computing} computing cores are not between 1 and {MAX_HYBRID_HOSTS - gpus} "
            f"({gpus} GPUs take a core each)",
            source=_SOURCE,
            place="--cores",
        )
    checked_count(switches, _SOURCE, "--switches")
    links.checked(_SOURCE)
    bandwidth, latency = links.amounts()
    names = [f"c{number:0{len(str(computing - 1))}d}" for number in range(computing)]
    cards = [f"g{number:0{len(str(max(gpus - 1, 0)))}d}" for number in range(gpus)]
    root = etree.Element("platform", version="4.1")
    world = etree.SubElement(root, "zone", id="world", routing="Full")
    zone = etree.SubElement(world, "zone", id="node", routing="Full")
    for name in names:
        _host(zone, name, links.speed, {"class": "cpu", "memory": "main"})
    for name in cards:
        facts = {"memory_bandwidth": f"{bandwidth:.12g}", "memory_latency": f"{latency:.12g}"}
        _host(zone, name, GPU_SPEED, {"class": "gpu", "memory": name, **facts})
    etree.SubElement(zone, "link", id="main", bandwidth=links.bw, latency="0s", sharing_policy="FATPIPE")
    for name in cards:
        _link(zone, f"pcie_{name}", links.bw, links.lat)
    for number in range(min(switches, gpus)):
        _link(zone, f"switch_{number}", links.bw, "0s")
    way = {name: (f"pcie_{name}", f"switch_{index % switches}") for index, name in enumerate(cards)}
    for source, target in itertools.permutations([*names, *cards], 2):
        _route(zone, source, target, _steps(way.get(source), way.get(target)))
    made = f"{computing} computing CPU cores and {gpus} GPUs on {min(switches, gpus)} switches"
    return render(
        root, world, [("node", names[0])], links, f"a node of {made}, written by batdispatch platform generate hybrid"
    )


def _steps(source: tuple[str, str] | None, target: tuple[str, str] | None) -> list[tuple[str, str]]:
    """Return the links from one host to another with their directions; None: the host is a core."""
    if source is None and target is None:
        return [("main", "")]
    up = [] if source is None else [(source[0], "UP"), (source[1], "UP")]
    down = [] if target is None else [(target[1], "DOWN"), (target[0], "DOWN")]
    if source is not None and target is not None and source[1] == target[1]:
        return [up[0], down[1]]
    return [*up, *down]


def _host(zone: etree._Element, name: str, speed: str, properties: dict[str, str]) -> None:
    host = etree.SubElement(zone, "host", id=name, speed=speed)
    for key, value in properties.items():
        etree.SubElement(host, "prop", id=key, value=value)


def _link(zone: etree._Element, name: str, bandwidth: str, latency: str) -> None:
    etree.SubElement(zone, "link", id=name, bandwidth=bandwidth, latency=latency, sharing_policy="SPLITDUPLEX")


def _route(zone: etree._Element, source: str, target: str, steps: list[tuple[str, str]]) -> None:
    route = etree.SubElement(zone, "route", src=source, dst=target, symmetrical="NO")
    for name, direction in steps:
        step = etree.SubElement(route, "link_ctn", id=name)
        if direction:
            step.set("direction", direction)
