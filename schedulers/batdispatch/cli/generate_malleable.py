"""``batdispatch generate malleable``: a share of a log's jobs made malleable."""

from __future__ import annotations

from pathlib import Path

import click

from batdispatch.cli.generate import finish, output_options
from batdispatch.cli.groups import Command, option
from batdispatch.cli.logs import read_source, source_option
from batdispatch.cli.messages import show


@click.command(cls=Command)
@output_options
@source_option("Take the jobs of this log, or of this workload.")
@option(
    "--share",
    type=float,
    default=1.0,
    show_default=True,
    help="Make this share of the jobs malleable (0 to 1), of those that can be made so.",
)
@option(
    "--hosts",
    metavar="N",
    type=int,
    help="Take this as the number of hosts of the machine. By default, the log says it.",
)
@option(
    "--shrink",
    type=int,
    default=8,
    show_default=True,
    help="Let a job shrink to its size divided by this number, at most (1 or more).",
)
@option(
    "--expand",
    type=int,
    default=2,
    show_default=True,
    help="Let a job expand to its size times this number, at most (1 or more).",
)
@option(
    "--factor",
    type=int,
    default=2,
    show_default=True,
    help="Let a resize multiply or divide the size by a power of this number (2 or more).",
)
@option(
    "--scalability",
    metavar="TEXT",
    default="power:0.7",
    show_default=True,
    help="Let a job's speed depend on its size in this way: linear, power:EXPONENT (0 to 2) or amdahl:SERIAL (0 to 1).",
)
@option(
    "--step",
    metavar="SECONDS",
    type=float,
    default=60.0,
    show_default=True,
    help="Let a job be resized each time when it has run for this long (0.001 to 1e9 s).",
)
@option(
    "--period",
    metavar="SECONDS",
    type=float,
    default=0.0,
    show_default=True,
    help="Let this much time pass between a check of a job's size and the next one (0 to 1e9 s).",
)
@option(
    "--data",
    metavar="BYTES",
    type=float,
    default=1e9,
    show_default=True,
    help="Let a resize redistribute this many bytes for each unit that the job asks for (0 to 1e12).",
)
def command(
    output: Path,
    seed: int,
    as_json: bool,
    log: Path,
    share: float,
    hosts: int | None,
    shrink: int,
    expand: int,
    factor: int,
    scalability: str,
    step: float,
    period: float,
    data: float,
) -> None:
    """Make a share of a log's jobs malleable, and leave everything else as it is.

    A job can be made malleable if it asks for whole hosts, its run time is known, and it can reach a second size. With
    one seed, the malleable jobs of a share are among those of every larger share.

    \b
    Examples:
      batdispatch generate malleable -o half.json --seed 1 --from kth.json --share 0.5
      batdispatch generate malleable -o all.json --seed 1 --from KTH-SP2-1996-2.1-cln.swf.xz --scalability amdahl:0.05
    """
    import numpy as np

    from batdispatch.inputs.workloads.malleable import Rule, made_malleable

    rule = Rule(shrink, expand, factor, scalability, step, period, data)
    read, found = read_source(log, quiet=as_json)
    workload, made = made_malleable(np.random.default_rng(seed), read, share=share, hosts=hosts, rule=rule)
    if not as_json:
        show(f"{made.malleable:,} jobs malleable of {made.able:,} that can be; {made.unable:,} cannot")
    options = {"from": log.name, "share": share, "hosts": hosts, **rule._asdict()}
    finish(workload, output, as_json, kind="malleable", seed=seed, options=options, found={**made._asdict(), **found})
