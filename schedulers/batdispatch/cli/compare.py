"""``batdispatch compare``: several dispatchers on one workload, side by side."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
from click.core import ParameterSource

from batdispatch.cli.groups import Command
from batdispatch.cli.logs import log_options, refuse_log_options
from batdispatch.cli.messages import json_text, note, print_failures, quiet_option, show, warn
from batdispatch.cli.options import options, refuse
from batdispatch.cli.outputs import (
    checked_folder,
    explain_option,
    fresh_option,
    json_option,
    out_option,
    processes_option,
    report_option,
)
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.inputs.log_options import LogReading
from batdispatch.runs.comparison_options import ComparisonOptions
from batdispatch.runs.spec import REAL_BATSIM, RunSpec

if TYPE_CHECKING:
    from batdispatch.cli.progress import ProgressDisplay
    from batdispatch.runs.replicate_comparison import ReplicateComparison

#: What a comparison says otherwise than a run.
_TEXTS = {
    "platform": "Read the machine from this SimGrid platform. By default, or as auto, a platform of the right size is "
    "made.",
    "workload": "Read the jobs from this Batsim workload or log; LOG says the same.",
    "options": "Set an option of every dispatcher that knows it. May be given several times.",
}
#: Options that do not change what comes out.
_SILENT = ("processes", "fresh", "as_json", "explain", "record", "report", "quiet")


@click.command(cls=Command)
@click.argument("log", metavar="[LOG]", required=False, type=click.Path())
@options(ComparisonOptions)
@out_option("comparison")
@report_option
@explain_option
@options(RunSpec, leave=("dispatcher", *REAL_BATSIM), needed=False, texts=_TEXTS)
@log_options
@fresh_option("command and inputs")
@processes_option("Run this many simulations at a time.")
@json_option("Print the metrics as JSON instead of a table.")
@quiet_option
def command(
    who: ComparisonOptions,
    typed: RunSpec,
    reading: LogReading,
    *,
    log: str | None,
    out: Path,
    report: bool,
    explain: bool,
    fresh: bool,
    processes: int,
    as_json: bool,
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
    from batdispatch.cli.progress import ProgressDisplay
    from batdispatch.core import extras
    from batdispatch.inputs.workloads.importing import is_workload
    from batdispatch.runs.from_log import LogInputs, inputs_in

    extras.check("report" if report else None, "the report", also=" (or leave it out: --no-report)")
    given = typed.workload if log is None else log
    if not given or (log is not None and typed.workload):
        raise InputError("expected one workload or log, as LOG or as --workload", source="option --workload")
    is_log = reading.kind is not None or bool(reading.columns) or not is_workload(Path(given))
    if not is_log:
        refuse_log_options()
    platform = None if typed.platform in ("", "auto") else typed.platform
    folder = checked_folder(out)
    inputs = inputs_in(folder, platform, given, is_log=is_log)
    base = msgspec.structs.replace(typed, platform=str(inputs.platform), workload=str(inputs.workload))
    _check_replicates(who, report=report)
    progress = ProgressDisplay()
    given_log = given if is_log else None
    making = LogInputs(inputs, platform, given_log, reading, base.master_host, progress.tell, note, warn)
    prepare = making.make if is_log or platform is None else None
    if who.replicates is None:
        work = _SideBySide(who, base, folder, page=folder / "report" / "index.html" if report else None)
        work.make(prepare, processes, progress, fresh=fresh, explain=explain)
        work.print(as_json=as_json)
    else:
        from batdispatch.runs.replicate_comparison import ReplicateComparison

        comparison = ReplicateComparison(who, base, folder, _given_words())
        with progress:
            comparison.make(inputs, prepare, processes, progress.tell, fresh=fresh, on_kept=_tell_kept)
        _print_replicates(comparison, as_json=as_json)


def _check_replicates(who: ComparisonOptions, *, report: bool) -> None:
    """Refuse options of replicates that need others.

    Raises:
        InputError: there is one.
    """
    from batdispatch.runs.families import FAMILIES, check_names

    check_names(who.dispatchers)
    if who.replicates is None:
        refuse("needs --replicates N", ("replicate_by", "slice_jobs", "weeks", "baseline"))
        if who.dispatchers.strip() == FAMILIES:
            raise InputError(f"{FAMILIES} needs --replicates N", source="option --dispatchers")
        return
    for name, way in (("slice_jobs", "slices"), ("weeks", "sessions")):
        if who.replicate_by != way:
            refuse(f"is for --replicate-by {way}, and this is {who.replicate_by}", (name,))
    if not report:
        raise InputError("goes without --replicates: what these show stands in the report", source="option --no-report")


class _SideBySide:
    """One run of each dispatcher on the whole workload."""

    folders: list[Path]
    failures: dict[str, str]

    def __init__(self, who: ComparisonOptions, base: RunSpec, folder: Path, page: Path | None) -> None:
        from batdispatch.runs.run import parse_dispatchers, with_common

        self._folder, self._page = folder, page
        self._specs = [
            msgspec.structs.replace(base, dispatcher=name, options=options)
            for name, options in with_common(parse_dispatchers(who.dispatchers), base.options)
        ]

    def make(
        self,
        prepare: Callable[[], None] | None,
        processes: int,
        following: ProgressDisplay,
        *,
        fresh: bool,
        explain: bool,
    ) -> None:
        """Simulate, and write the report if there is to be one."""
        from batdispatch.runs.compare import compare
        from batdispatch.runs.workers import workers_beside

        def conclude(folders: list[Path], failures: dict[str, str]) -> None:
            if folders and self._page is not None:
                from batdispatch.report.page import write_report

                # This process draws, so that one worker fewer goes through what was recorded.
                with workers_beside(processes - 1) as workers:
                    write_report(folders, self._page, explain=explain, workers=workers)

        with following:
            self.folders, self.failures = compare(
                self._specs,
                self._folder,
                processes=processes,
                progress=following.tell,
                fresh=fresh,
                on_kept=_tell_kept,
                conclude=conclude,
                prepare=prepare,
            )

    def print(self, *, as_json: bool) -> None:
        """Print the metrics, warnings, failures and the path of the page.

        Raises:
            SimulationError: a run failed.
        """
        from batdispatch.cli.metrics_table import metrics_table
        from batdispatch.results.rejections import in_words, rejections_of
        from batdispatch.results.runs import warnings_of

        results = {path.name: msgspec.json.decode((path / "result.json").read_bytes()) for path in self.folders}
        metrics = {label: result["metrics"] for label, result in results.items()}
        for label, result in results.items():
            for warning in warnings_of(result["report"]):
                warn(f"{label}: {warning}")
        print_failures(self.failures)
        if not self.folders:
            raise SimulationError("no run finished, so there is nothing to compare")
        if as_json:
            click.echo(json_text(metrics))
        else:
            show(metrics_table(metrics))
            for line in in_words({label: rejections_of(result) for label, result in results.items()}):
                show(line)
            click.echo(str(self._page or self._folder))
        if self.failures:
            raise SimulationError(f"{len(self.failures)} of {len(self._specs)} runs failed")


def _print_replicates(comparison: ReplicateComparison, *, as_json: bool) -> None:
    """Print what came of a comparison over replicates, and the path of its page.

    Raises:
        SimulationError: a run failed.
    """
    from batdispatch.report.replicates.answers import as_dict
    from batdispatch.report.replicates.page import text_of

    print_failures(comparison.failures)
    if as_json:
        click.echo(json_text(as_dict(comparison.sections, comparison.page)))
    else:
        show(text_of(comparison.sections, comparison.facts))
        for name, why in comparison.facts.refused:
            show(f"Not compared, {name}: {why}.")
        click.echo(str(comparison.page))
    if comparison.failures:
        raise SimulationError(f"{len(comparison.failures)} runs failed")


def _tell_kept(labels: list[str]) -> None:
    note(f"kept {', '.join(labels)}: whole runs of the same command and inputs (--fresh makes them anew)")


def _given_words() -> str:
    """Return the command as it was given, without what does not change what comes out."""
    context = click.get_current_context()
    words = ["batdispatch", context.info_name or ""]
    for param in context.command.params:
        name = param.name or ""
        if name not in _SILENT and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            words += _words(param, context.params[name])
    return shlex.join(words)


def _words(param: click.Parameter, value: Any) -> list[str]:
    """Return the words that give a parameter its value."""
    if isinstance(param, click.Argument):
        return [str(value)]
    if isinstance(param, click.Option) and param.is_flag:
        return [param.opts[0]] if value else list(param.secondary_opts[:1])
    option = max(param.opts, key=len)
    return [word for text in (value if isinstance(value, tuple) else [value]) for word in (option, str(text))]
