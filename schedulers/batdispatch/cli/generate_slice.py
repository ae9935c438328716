"""``batdispatch generate slice``: so many jobs in a row of a log, as one of several replicates."""

from __future__ import annotations

from pathlib import Path

import click

from batdispatch.cli.generate import finish, unseeded_options
from batdispatch.cli.groups import Command, option
from batdispatch.cli.logs import read_source, source_option


@click.command(cls=Command)
@unseeded_options
@source_option("Take the jobs of this log, or of this workload.")
@option(
    "--number", metavar="N", type=int, required=True, help="Take the slice of this number. The first slice is number 0."
)
@option("--jobs", metavar="N", type=int, required=True, help="Put this many jobs into each slice (1 or more).")
@option(
    "--gap",
    metavar="N",
    type=int,
    default=0,
    show_default=True,
    help="Leave this many jobs between two slices out of all slices (0 or more).",
)
def command(output: Path, as_json: bool, log: Path, number: int, jobs: int, gap: int) -> None:
    """Take so many jobs in a row of a log, the first of which is submitted at 0.

    Slices are numbered in order of submission, and none has jobs of another one. A job no longer waits for jobs of
    another slice.

    \b
    Examples:
      batdispatch generate slice -o third.json --from kth.json --jobs 1000 --number 2
      batdispatch generate slice -o late.json --from KTH-SP2-1996-2.1-cln.swf.xz --jobs 1000 --gap 2000 --number 8
    """
    from batdispatch.inputs.workloads.slicing import sliced

    read, found = read_source(log, quiet=as_json)
    workload = sliced(read, number=number, jobs=jobs, gap=gap)
    options = {"from": log.name, "number": number, "jobs": jobs, "gap": gap}
    finish(workload, output, as_json, kind="slice", seed=None, options=options, found=found)
