"""``batdispatch demo``: a first comparison, from nothing but the installed package."""

from __future__ import annotations

import shlex
from importlib import resources
from pathlib import Path

import click

from batdispatch.cli import compare
from batdispatch.cli.groups import Command
from batdispatch.cli.messages import note, quiet_option
from batdispatch.cli.outputs import json_option, out_option, report_option
from batdispatch.inputs.folders import checked_folder

#: What is compared, on which of the files beside the examples.
DISPATCHERS = "fcfs,easy,conservative"
PLATFORM = "flat64.xml"
WORKLOAD = "demo64.json"


@click.command(cls=Command)
@out_option("demo-results")
@report_option
@json_option("Print the metrics as JSON instead of a table.")
@quiet_option
@click.pass_context
def command(context: click.Context, out: Path, report: bool, as_json: bool) -> None:
    """Compare three dispatchers on 400 jobs and 64 hosts that come with the package, as a first look.

    The platform and the workload are written into DIR/input, to look into and to go on with. The last line printed is
    the path of the report. This is `batdispatch compare` on these two files.

    \b
    Example:
      batdispatch demo
    """
    from batdispatch.inputs.files import write_whole
    from batdispatch.runs.inputs import INPUT

    inputs = checked_folder(out) / INPUT
    inputs.mkdir(parents=True, exist_ok=True)
    shipped = resources.files("batdispatch.examples")
    for name in (PLATFORM, WORKLOAD):
        write_whole(inputs / name, (shipped / name).read_bytes())
    given = {
        "platform": str(inputs / PLATFORM),
        "workload": str(inputs / WORKLOAD),
        "dispatchers": DISPATCHERS,
        "out": out,
    }
    words = [f"--{option} {shlex.quote(str(value))}" for option, value in given.items()]
    words += [] if report else ["--no-report"]
    note(f"batdispatch compare {' '.join(words)}")
    context.invoke(compare.command, report=report, as_json=as_json, **given)
