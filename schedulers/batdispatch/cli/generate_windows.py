"""``batdispatch generate windows``: a log, parts of which count each by itself."""

from __future__ import annotations

from pathlib import Path

import click

from batdispatch.cli.generate import finish, unseeded_options
from batdispatch.cli.groups import Command
from batdispatch.cli.logs import read_source, source_option
from batdispatch.cli.options import options
from batdispatch.core.errors import InputError
from batdispatch.inputs.generator_options import WindowsOptions, fields_of


@click.command(cls=Command)
@unseeded_options
@source_option("Take the jobs of this log, or of this workload.")
@options(WindowsOptions)
def command(model: WindowsOptions, output: Path, as_json: bool, log: Path) -> None:
    """Take a whole log, and say which parts of it count each by itself: windows of one simulation.

    The metrics of a run are of all jobs, and result.json has those of each window beside them. A job that waits for
    longer than a window lasts is seen: it is watched until it starts.

    \b
    Example:
      batdispatch generate windows -o w.json --from KTH-SP2-1996-2.1-cln.swf.xz --count 10
    """
    from batdispatch.inputs.workloads.windows import plan_windows

    read, found = read_source(log, quiet=as_json)
    if model.count < 1:
        raise InputError(f"{model.count}, expected a whole number from 1", source="option --count")
    sizes = fields_of(model, "jobs", "warm_up", "cool_down")
    plan = plan_windows(len(read.jobs), model.count, **sizes, source=str(log))
    if plan.windows < model.count:
        raise InputError(f"{model.count}, and there is room for {plan.windows} windows", source="option --count")
    stated = {"from": log.name, **fields_of(model)}
    finish(plan.mark(read), output, as_json, kind="windows", seed=None, options=stated, found=found)
