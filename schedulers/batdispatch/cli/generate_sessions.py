"""``batdispatch generate sessions``: users' sessions on nodes with several resources."""

from __future__ import annotations

from pathlib import Path

import click

from batdispatch.cli.generate import finish, output_options
from batdispatch.cli.groups import Command, option


@click.command(cls=Command)
@output_options
@option("--platform", metavar="P.xml", required=True, type=click.Path(), help="Platform whose nodes state capacities.")
@option("--jobs", type=int, required=True, help="Number of jobs.")
@option("--short", type=float, default=0.9314, show_default=True, help="Share of jobs under an hour.")
@option("--load", type=float, default=0.7, show_default=True, help="Load of the scarcest resource.")
@option("--users", type=int, default=40, show_default=True, help="Number of users.")
def command(
    output: Path, seed: int, as_json: bool, platform: str, jobs: int, short: float, load: float, users: int
) -> None:
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

    options = {"jobs": jobs, "short": short, "load": load, "users": users}
    machine = read_platform(Path(platform)).machine
    workload = sessions(np.random.default_rng(seed), machine, jobs=jobs, short=short, load=load, users=users)
    finish(workload, output, as_json, kind="sessions", seed=seed, options={"platform": Path(platform).name, **options})
