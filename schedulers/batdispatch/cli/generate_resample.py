"""``batdispatch generate resample``: a log's users, drawn anew."""

from __future__ import annotations

from pathlib import Path

import click

from batdispatch.cli.generate import finish, output_options
from batdispatch.cli.groups import Command
from batdispatch.cli.logs import read_source, source_option
from batdispatch.cli.messages import show
from batdispatch.cli.options import options
from batdispatch.inputs.generator_options import ResampleOptions, fields_of


@click.command(cls=Command)
@output_options
@source_option("Take the users of this log, or of this workload.")
@options(ResampleOptions)
def command(model: ResampleOptions, output: Path, seed: int, as_json: bool, log: Path) -> None:
    """Draw users of a log at random, with all they submitted week by week, and let them meet anew.

    Everything is moved by whole weeks, so sessions and the cycles of days and weeks stay. Load and the mix of users
    vary from seed to seed as they do from month to month (after Zakay and Feitelson, 2013).

    \b
    Example:
      batdispatch generate resample -o W.json --seed 1 --from KTH-SP2-1996-2.1-cln.swf.xz --weeks 2
    """
    import numpy as np

    from batdispatch.inputs.workloads.resampling import resample

    read, found = read_source(log, quiet=as_json)
    workload, drawn = resample(np.random.default_rng(seed), read, **fields_of(model))
    if not as_json:
        left_out = f"; {drawn.nameless:,} jobs that name no user are left out" if drawn.nameless else ""
        show(f"{drawn.long_users:,} users all the time, {drawn.other_users:,} who come and go{left_out}")
    stated = {"from": log.name, **fields_of(model)}
    finish(workload, output, as_json, kind="resample", seed=seed, options=stated, found={**drawn._asdict(), **found})
