"""``batdispatch platform generate eurora``: CINECA Eurora as a platform."""

from __future__ import annotations

import click

from batdispatch.cli.groups import Command, option
from batdispatch.cli.platform import link_options, write_platform


@click.command(cls=Command)
@option(
    "--memory",
    metavar="MIB",
    type=int,
    default=16384,
    show_default=True,
    help="Give each node this much memory, in MiB. The node file of the published job logs states 32768.",
)
@link_options()
def command(memory: int, speed: str, bw: str, lat: str, output: str) -> None:
    """CINECA Eurora: 64 nodes of 16 cores, 32 of them with 2 MICs and 32 with 2 GPUs."""
    from batdispatch.inputs.platforms.generate import Links
    from batdispatch_papers.eurora.machine import eurora

    write_platform(output, eurora(memory_mib=memory, links=Links(speed=speed, bw=bw, lat=lat)))
