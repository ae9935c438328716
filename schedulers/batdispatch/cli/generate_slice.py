"""``batdispatch generate slice``: so many successive jobs of a log."""

from __future__ import annotations

from pathlib import Path

import click

from batdispatch.cli.generate import finish, unseeded_options


@click.command()
@unseeded_options
@click.option(
    "--from",
    "log",
    metavar="LOG|W.json",
    required=True,
    type=click.Path(path_type=Path),
    help="Take the jobs of this log, or of this workload.",
)
@click.option("--jobs", metavar="N", type=click.IntRange(1), required=True, help="Jobs of a slice.")
@click.option(
    "--number",
    metavar="K",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Which slice, from 0: the one after the first K times N jobs.",
)
def command(output: Path, as_json: bool, log: Path, jobs: int, number: int) -> None:
    """Successive jobs of a log, in order of submission, the first of which comes at 0.

    Slices of one log and length have no job in common, so they are what to repeat a comparison on.

    \b
    Example:
      batdispatch generate slice -o third.json --from KTH-SP2-1996-2.1-cln.swf.xz --jobs 1000 --number 2
    """
    from batdispatch.core.errors import InputError
    from batdispatch.inputs.workloads.importing import import_log, is_workload
    from batdispatch.inputs.workloads.reader import read_workload

    whole = read_workload(log) if is_workload(log) else import_log(log)[0]
    whole.sort()
    slices = len(whole.jobs) // jobs
    if number >= slices:
        raise InputError(
            f"{number}, expected less than {slices}: {log} has {len(whole.jobs):,} jobs, and slices have {jobs:,}",
            source="option --number",
        )
    options = {"from": log.name, "jobs": jobs, "number": number}
    part = whole.part(number * jobs, (number + 1) * jobs)
    finish(part, output, as_json, kind="slice", seed=None, options=options)
