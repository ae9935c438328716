"""``batdispatch generate slice``: so many jobs in a row of a log, as one of several replicates."""

from __future__ import annotations

from pathlib import Path

import click

from batdispatch.cli.generate import finish, unseeded_options
from batdispatch.cli.groups import Command
from batdispatch.cli.logs import read_source, source_option
from batdispatch.cli.options import options
from batdispatch.inputs.generator_options import SliceOptions, fields_of


@click.command(cls=Command)
@unseeded_options
@source_option("Take the jobs of this log, or of this workload.")
@options(SliceOptions)
def command(model: SliceOptions, output: Path, as_json: bool, log: Path) -> None:
    """Take so many jobs in a row of a log, the first of which is submitted at 0.

    Slices are numbered in order of submission, and none has jobs of another one. A job no longer waits for jobs of
    another slice.

    \b
    Examples:
      batdispatch generate slice -o third.json --from kth.json --jobs 1000 --number 2
      batdispatch generate slice -o late.json --from KTH-SP2-1996-2.1-cln.swf.xz --jobs 1000 --gap 2000 --number 8
    """
    from batdispatch.inputs.workloads.slices import take_slice

    read, found = read_source(log, quiet=as_json)
    workload = take_slice(read, **fields_of(model))
    stated = {"from": log.name, **fields_of(model)}
    finish(workload, output, as_json, kind="slice", seed=None, options=stated, found=found)
