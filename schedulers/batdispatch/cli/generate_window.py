"""``batdispatch generate window``: jobs in a row of a log that count, with a warm-up and a cool-down."""

from __future__ import annotations

from pathlib import Path

import click

from batdispatch.cli.generate import finish, unseeded_options
from batdispatch.cli.groups import Command
from batdispatch.cli.logs import read_source, source_option
from batdispatch.cli.options import options
from batdispatch.core.errors import InputError
from batdispatch.inputs.generator_options import WindowOptions, fields_of


@click.command(cls=Command)
@unseeded_options
@source_option("Take the jobs of this log, or of this workload.")
@options(WindowOptions)
def command(model: WindowOptions, output: Path, as_json: bool, log: Path) -> None:
    """Take a window of a log: jobs that count, behind jobs that fill the machine, and before jobs that keep it full.

    The workload says which of its jobs count, and the metrics of its runs are of these. Windows are numbered in order
    of submission, and no job counts in two of them. A job no longer waits for jobs that are left out.

    \b
    Examples:
      batdispatch generate window -o second.json --from KTH-SP2-1996-2.1-cln.swf.xz --number 1
      batdispatch generate window -o w.json --from kth.json --jobs 5000 --warm-up 2000 --cool-down 2000 --number 3
    """
    from batdispatch.inputs.workloads.windows import take_window

    if model.number < 0 or model.gap < 0:
        option = "number" if model.number < 0 else "gap"
        raise InputError(f"{getattr(model, option)}, expected a whole number from 0", source=f"option --{option}")
    read, found = read_source(log, quiet=as_json)
    numbers = fields_of(model, "jobs", "warm_up", "cool_down")
    workload = take_window(read, model.warm_up + model.number * (model.jobs + model.gap), **numbers)
    stated = {"from": log.name, **fields_of(model)}
    finish(workload, output, as_json, kind="window", seed=None, options=stated, found=found)
