"""``batdispatch slurm-conf``: what `slurm-backfill` takes from a slurm.conf."""

from __future__ import annotations

from pathlib import Path

import click

from batdispatch.cli.groups import Command, option
from batdispatch.cli.messages import echo, json_text
from batdispatch.cli.outputs import json_option


@click.command(cls=Command)
@click.argument("file", metavar="slurm.conf", type=click.Path(path_type=Path))
@option("--slurm-version", default="22.05", show_default=True, help="Take the defaults of this version of Slurm.")
@json_option("Print the list as JSON.")
def command(file: Path, slurm_version: str, as_json: bool) -> None:
    """Say for each setting of a slurm.conf about scheduling whether slurm-backfill understands it.

    The last line is the dispatcher that slurm-backfill[conf=slurm.conf] stands for.

    \b
    Examples:
      batdispatch slurm-conf /etc/slurm/slurm.conf
      batdispatch slurm-conf slurm.conf --slurm-version 23.11 --json
    """
    from batdispatch.abilities.sites.doors.slurm.conf import read_conf
    from batdispatch.abilities.sites.doors.slurm.scheduling import scheduling_of

    conf = read_conf(file)
    read = scheduling_of(conf, slurm_version)
    name = f"slurm-backfill[{','.join(f'{key}={value}' for key, value in read.options.items())}]"
    if as_json:
        rows = [
            {
                "file": one.source,
                "line": one.line,
                "key": one.key,
                "value": one.value,
                "verdict": verdict,
                "means": means,
            }
            for one, verdict, means in read.readings
        ]
        echo(json_text({"settings": rows, "remarks": conf.remarks(), "dispatcher": name}))
        return
    for setting, verdict, meaning in read.readings:
        said = f"{setting.key}={setting.value}" if setting.value else setting.key
        echo(f"{verdict:<12}  line {setting.line:<4}  {said:<40}  {meaning}")
    for remark in conf.remarks():
        echo(f"note: {remark}", err=True)
    echo(name)
