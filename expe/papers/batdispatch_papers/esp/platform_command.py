"""``batdispatch platform generate esp``: the cluster of the ESP experiments."""

from __future__ import annotations

import click

from batdispatch.cli.groups import Command, option
from batdispatch.cli.platform import link_options, write_platform


@click.command(cls=Command)
@option("--hosts", metavar="N", type=int, default=1024, show_default=True, help="Make this many nodes.")
@option("--cores", metavar="N", type=int, default=8, show_default=True, help="Give each node this many cores.")
@option("--gpus", metavar="N", type=int, default=2, show_default=True, help="Give each node this many GPUs.")
@link_options()
def command(hosts: int, cores: int, gpus: int, speed: str, bw: str, lat: str, output: str) -> None:
    """The CPU-GPU cluster of the ESP experiments."""
    from batdispatch.inputs.platforms.generate import Links
    from batdispatch_papers.esp.machine import esp

    write_platform(output, esp(nodes=hosts, cores=cores, gpus=gpus, links=Links(speed=speed, bw=bw, lat=lat)))
