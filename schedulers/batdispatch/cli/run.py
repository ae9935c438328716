"""``batdispatch run``: simulate one dispatcher."""

from __future__ import annotations

import functools
from pathlib import Path

import click

from batdispatch.cli.groups import Command
from batdispatch.cli.messages import json_text, quiet_option, show, warn
from batdispatch.cli.options import options
from batdispatch.cli.outputs import checked_folder, json_option, out_option
from batdispatch.runs.spec import RunSpec, as_typed


@click.command(cls=Command)
@out_option(None, "Write the results into this folder. The default is runs/LABEL, where LABEL names the dispatcher.")
@options(RunSpec)
@json_option("Print result.json instead of a table.")
@quiet_option
def command(typed: RunSpec, out: Path | None, as_json: bool) -> None:
    """Simulate a workload under one dispatcher, in the embedded engine or a real Batsim.

    Jobs that compute and communicate take the time that SimGrid says; delays need none of it.

    Writes jobs.csv, schedule.csv and machine_states.csv (Batsim's columns), decisions.jsonl and result.json.

    \b
    Examples:
      batdispatch run --platform P.xml --workload W.json --dispatcher easy --out results
      batdispatch run --platform P.xml --workload W.json --dispatcher easy --set ordering=sjf --decision-time measured
      batdispatch run --platform P.xml --workload W.json --dispatcher easy --engine batsim5
    """
    from batdispatch.cli.metrics_table import metrics_table
    from batdispatch.cli.progress import ProgressDisplay
    from batdispatch.results.rejections import in_words, rejections_of
    from batdispatch.results.runs import warnings_of
    from batdispatch.runs.run import build, execute

    spec = as_typed(typed)
    build(spec)
    folder = checked_folder(out or Path("runs") / spec.label)
    with ProgressDisplay() as progress:
        result = execute(spec, folder, progress=functools.partial(progress.tell, spec.label), notice=warn)
    for warning in warnings_of(result["report"]):
        warn(warning)
    if as_json:
        click.echo(json_text(result))
        return
    show(metrics_table({spec.label: result["metrics"]}))
    for line in in_words({spec.label: rejections_of(result)}):
        show(line)
    click.echo(str(folder))
