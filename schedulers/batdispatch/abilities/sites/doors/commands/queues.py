"""``batdispatch platform queues``: the queues of a site in a platform file."""

from __future__ import annotations

from pathlib import Path

import click

from batdispatch.cli.groups import Command
from batdispatch.cli.outputs import written_option
from batdispatch.cli.platform import output_option, write_platform


@click.command(cls=Command)
@click.argument("path", metavar="P.xml", type=click.Path(path_type=Path))
@click.argument("file", metavar="QUEUES.toml", type=click.Path(path_type=Path))
@output_option(metavar="P2.xml")
@written_option
def command(path: Path, file: Path, output: str, as_json: bool) -> None:
    """Write a platform with the queues of a site: partitions, qualities of service, limits and priorities.

    They go into a property of the outermost zone. Batsim ignores it; every command that reads the platform knows the
    queues. Those that the platform had are replaced.

    \b
    Examples:
      batdispatch platform queues cluster.xml queues.toml -o site.xml
      batdispatch run --platform site.xml --workload W.json --dispatcher easy
    """
    from batdispatch.abilities.sites.doors.queues import with_queues

    write_platform(output, with_queues(path, file), as_json)
