"""``batdispatch platform generate forhlr2``: KIT ForHLR II as a platform."""

from __future__ import annotations

import click

from batdispatch.cli.groups import Command
from batdispatch.cli.platform import link_options, write_platform


@click.command(cls=Command)
@link_options()
def command(speed: str, bw: str, lat: str, output: str) -> None:
    """KIT ForHLR II: 1,152 nodes of 20 cores and 64 GB, 21 of 48 cores, 4 GPUs and 1 TB."""
    from batdispatch.inputs.platforms.generate import Links
    from batdispatch_papers.kit.machine import forhlr2

    write_platform(output, forhlr2(links=Links(speed=speed, bw=bw, lat=lat)))
