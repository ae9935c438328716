"""``batdispatch run``: simulate one dispatcher."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec.structs import asdict

from batdispatch.cli.groups import Command
from batdispatch.cli.messages import Terminal, echo, json_text, quiet_option, show
from batdispatch.cli.options import options
from batdispatch.cli.outputs import json_option, out_option
from batdispatch.runs.spec import RunSpec, as_typed

#: The options that people use first, which --help shows.
_COMMON = (
    "platform",
    "workload",
    "dispatcher",
    "options",
    "seed",
    "external_events",
    "clock",
    "engine",
    "out",
    "record",
    "as_json",
)


@click.command(cls=Command, common=_COMMON)
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
    from batdispatch.api.calls import run
    from batdispatch.cli.metrics_table import metrics_table
    from batdispatch.cli.progress import ProgressDisplay
    from batdispatch.results.metrics.measure import remarks_on
    from batdispatch.results.rejections import in_words, rejections_of
    from batdispatch.results.runs import read_result

    spec = as_typed(typed)
    folder = out or Path("runs") / spec.label
    with ProgressDisplay() as progress:
        done = run(**asdict(spec), out=folder, log=False, listener=Terminal(progress.tell))
    result = done.result
    if as_json:
        echo(json_text(result))
        return
    show(metrics_table({spec.label: done.metrics}))
    for told in remarks_on([read_result(folder)]):
        show(told)
    for line in in_words({spec.label: rejections_of(result)}):
        show(line)
    echo(str(folder))
