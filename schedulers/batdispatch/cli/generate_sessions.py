"""``batdispatch generate sessions``: users' sessions on nodes with several resources."""

from __future__ import annotations

from pathlib import Path

import click

from batdispatch.cli.generate import finish, output_options
from batdispatch.cli.groups import Command
from batdispatch.cli.options import options
from batdispatch.inputs.generator_options import SessionOptions, fields_of


@click.command(cls=Command)
@output_options
@options(SessionOptions)
def command(model: SessionOptions, output: Path, seed: int, as_json: bool) -> None:
    """Users' sessions of similar jobs, most of them short, on nodes with several resources.

    Jobs have users, names, demands of each resource a node has, and walltimes.

    \b
    Examples:
      batdispatch platform generate eurora -o eurora.xml
      batdispatch generate sessions -o W.json --seed 1 --platform eurora.xml --jobs 2000
    """
    import numpy as np

    from batdispatch.inputs.platforms import read_platform
    from batdispatch.inputs.workloads.sessions import sessions

    stated = fields_of(model, "jobs", "short", "load", "users")
    machine = read_platform(Path(model.platform)).machine
    workload = sessions(np.random.default_rng(seed), machine, **stated)
    stated = {"platform": Path(model.platform).name, **stated}
    finish(workload, output, as_json, kind="sessions", seed=seed, options=stated)
