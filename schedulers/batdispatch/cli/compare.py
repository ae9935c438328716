"""``batdispatch compare``: several dispatchers on one workload, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
import msgspec

from batdispatch.cli.completing import complete_dispatchers
from batdispatch.cli.dispatching import (
    compiled_option,
    decision_clock_option,
    parse_decision_time,
    parse_settings,
    setup_options,
)
from batdispatch.cli.groups import DISPATCHER, Command, option
from batdispatch.cli.inputs import clock_option, input_options
from batdispatch.cli.logs import log_options, refuse_log_options
from batdispatch.cli.outputs import (
    explain_option,
    fresh_option,
    json_option,
    out_option,
    processes_option,
    record_option,
    report_option,
)
from batdispatch.cli.replicating import check_replicates, given_words, replicate_options, tell_replication
from batdispatch.cli.telling import Terminal, quiet_option, show
from batdispatch.core.errors import SimulationError

if TYPE_CHECKING:
    from batdispatch.engines.records import Clock
    from batdispatch.engines.simulation import UseSimGrid
    from batdispatch.runs.engines import UseCompiled


@click.command(cls=Command)
@click.argument("log", metavar="[LOG]", required=False, type=click.Path())
@input_options(made=True)
@option(
    "--dispatchers",
    section=DISPATCHER,
    metavar="A,B,...",
    required=True,
    shell_complete=complete_dispatchers,
    help="Compare these dispatchers: names with options in brackets, as in fcfs,easy,easy[ordering=sjf]. With "
    "--replicates, families stands for one dispatcher of each of the six families that the workload has work for.",
)
@setup_options("Set an option of every dispatcher that knows it. May be given several times.")
@clock_option
@decision_clock_option
@compiled_option
@replicate_options
@log_options
@out_option("comparison")
@report_option
@explain_option
@record_option
@fresh_option("command and inputs")
@processes_option("Run this many simulations at a time.")
@json_option("Print the metrics as JSON instead of a table.")
@quiet_option
def command(
    log: str | None,
    platform: str | None,
    workload: str | None,
    master_host: str | None,
    events: str | None,
    clock: Clock,
    simgrid: UseSimGrid,
    dispatchers: str,
    settings: tuple[str, ...],
    seed: int,
    decision_time: str,
    decision_clock: Literal["wall", "cpu"],
    out: Path,
    processes: int,
    record: bool,
    compiled: UseCompiled,
    fresh: bool,
    explain: bool,
    report: bool,
    replicates: int | None,
    replicate_by: str,
    slice_jobs: int | None,
    weeks: int,
    baseline: str | None,
    as_json: bool,
    **reading: Any,
) -> None:
    """Simulate a workload under each dispatcher and write a report that compares them.

    LOG is a workload or a log, as --workload is: a log that `batdispatch convert` reads is converted first, as the
    options of that command say. Without --platform one of the right size is made. Both are kept in DIR/input.

    One folder a run, and DIR/report/index.html. The last line printed is the path of the report, or with --no-report
    that of DIR. If DIR holds whole runs of the same command and inputs, as after an interruption, these are kept and
    the others are made.

    With --replicates N the workload is cut into N slices (or see --replicate-by), each dispatcher serves all of them,
    and the report says which dispatcher to choose for which aim, and how sure that is.

    \b
    Examples:
      batdispatch compare --platform P.xml --workload W.json --dispatchers fcfs,easy,conservative
      batdispatch compare --platform P.xml --workload W.json --dispatchers 'easy,easy[ordering=sjf]' --out results
      batdispatch compare KTH-SP2-1996-2.1-cln.swf.xz --dispatchers fcfs,easy,conservative --out kth
      batdispatch compare KTH-SP2-1996-2.1-cln.swf.xz --dispatchers families --replicates 10 --out kth10
    """
    from batdispatch.api.calls import compare, replicate
    from batdispatch.cli.metrics_table import metrics_table
    from batdispatch.cli.progress import Following
    from batdispatch.core import extras
    from batdispatch.core.errors import InputError
    from batdispatch.results.rejections import in_words, rejections_of
    from batdispatch.runs.inputs import is_log

    extras.check("report" if report else None, "the report", also=" (or leave it out: --no-report)")
    common = parse_settings(settings)
    given = workload if log is None else log
    if given is None or (log is not None and workload is not None):
        raise InputError("expected one workload or log, as LOG or as --workload", source="option --workload")
    if not is_log(given, reading):
        refuse_log_options()
        reading = {}
    call: dict[str, Any] = {
        "platform": None if platform == "auto" else platform,
        "options": common,
        "out": out,
        "processes": processes,
        "fresh": fresh,
        "decision_time": parse_decision_time(decision_time),
        "decision_clock": decision_clock,
        "seed": seed,
        "master_host": master_host,
        "external_events": events,
        "clock": clock,
        "simgrid": simgrid,
        "record": record,
        "compiled": compiled,
        **reading,
    }
    wants_replicates = check_replicates(replicates, replicate_by, dispatchers)
    with Following() as progress:
        call["listener"] = Terminal(progress.tell)
        if wants_replicates:
            if not report:
                raise InputError(
                    "goes without --replicates: what these show stands in the report", source="option --no-report"
                )
            call |= {"by": replicate_by, "slice_jobs": slice_jobs, "baseline": baseline, "words": given_words()}
            call["weeks"] = weeks if replicate_by == "sessions" else None
            replication = replicate(given, dispatchers, replicates or 0, **call)
        else:
            comparison = compare(given, dispatchers, report=report, explain=explain, **call)
    if wants_replicates:
        tell_replication(replication, as_json=as_json)
        return
    results = {label: run.result for label, run in comparison.items()}
    metrics = {label: result["metrics"] for label, result in results.items()}
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(metrics), indent=2).decode())
    else:
        show(metrics_table(metrics))
        for line in in_words({label: rejections_of(result) for label, result in results.items()}):
            show(line)
        click.echo(str(out / "report" / "index.html" if report else out))
    if comparison.failures:
        failed = len(comparison.failures)
        raise SimulationError(f"{failed} of {failed + len(comparison)} runs failed")
