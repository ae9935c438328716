"""``batdispatch platform generate hybrid``: a node of CPU cores and GPUs."""

from __future__ import annotations

import click

from batdispatch.cli.groups import Command, option
from batdispatch.cli.platform import link_options, write_platform


@click.command(cls=Command)
@option(
    "--gpus",
    metavar="N",
    type=int,
    default=8,
    show_default=True,
    help="Give the node this many GPUs (0 to 255). Each GPU takes one CPU core to drive it.",
)
@option(
    "--cores",
    metavar="N",
    type=int,
    help="Let this many CPU cores compute, at least 1. The default is 12, less one for each GPU.",
)
@option(
    "--switches",
    metavar="N",
    type=int,
    default=4,
    show_default=True,
    help="Spread the GPUs over this many PCI Express switches.",
)
@link_options(speed="10.64Gf", bw="6GBps", lat="10us")
def command(gpus: int, cores: int | None, switches: int, speed: str, bw: str, lat: str, output: str) -> None:
    """A node whose CPU cores and GPUs are hosts of two classes, for graphs of tasks."""
    from batdispatch.inputs.platforms.generate import Links
    from batdispatch_papers.dada.machine import hybrid

    links = Links(speed=speed, bw=bw, lat=lat)
    write_platform(output, hybrid(gpus=gpus, cores=cores, switches=switches, links=links))
