"""``batdispatch generate sessions``: users' sessions on nodes with several resources."""

from __future__ import annotations

from pathlib import Path

import click

from batdispatch.cli.generate import finish, output_options
from batdispatch.cli.groups import Command, option


@click.command(cls=Command)
@output_options
@option(
    "--platform",
    metavar="P.xml",
    required=True,
    type=click.Path(),
    help="Read the machine from this SimGrid platform, whose nodes state capacities.",
)
@option("--jobs", type=int, required=True, help="Generate this many jobs (1 to 1,000,000).")
@option(
    "--short",
    type=float,
    default=0.9314,
    show_default=True,
    help="Let this share of the jobs run for less than an hour (0 to 1).",
)
@option(
    "--load",
    type=float,
    default=0.7,
    show_default=True,
    help="Choose the arrivals so that the jobs offer this load to the scarcest resource (0.001 to "
    "100, where 1 is all of it).",
)
@option(
    "--users", type=int, default=40, show_default=True, help="Let the jobs come from this many users (1 to 10,000)."
)
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
