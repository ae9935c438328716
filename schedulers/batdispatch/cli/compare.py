"""``batdispatch compare``: several dispatchers on one workload, side by side."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click
from click.core import ParameterSource
from msgspec.structs import asdict

from batdispatch.cli.groups import Command, option
from batdispatch.cli.logs import log_options, refuse_log_options
from batdispatch.cli.messages import Terminal, echo, json_text, quiet_option, show
from batdispatch.cli.options import options, refuse
from batdispatch.cli.outputs import (
    fresh_option,
    json_option,
    out_option,
    processes_option,
    report_option,
)
from batdispatch.cli.pipe import InputPath
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.core.line.settings import RESULTS
from batdispatch.inputs.log_options import LogReading
from batdispatch.runs.comparison_options import CapacityOptions, ComparisonOptions, ReportReasons
from batdispatch.runs.spec import REAL_BATSIM, RunSpec

if TYPE_CHECKING:
    from batdispatch.api.results import Comparison, Replication


class Answers(Protocol):
    """What a comparison by answers of its own comes to; as a text, what is printed.

    Attributes:
        page: that shows it.
        answers: as ``--json`` prints them.
    """

    page: Path

    @property
    def answers(self) -> dict[str, Any]: ...


#: What a comparison says otherwise than a run.
_TEXTS = {
    "platform": "Read the machine from this SimGrid platform. By default, or as auto, a platform of the right size is "
    "made.",
    "workload": "Read the jobs from this Batsim workload or log; LOG says the same.",
    "options": "Set an option of every dispatcher that knows it. May be given several times.",
}
#: Options that do not change what comes out.
_SILENT = ("processes", "fresh", "as_json", "explain", "record", "report", "quiet")


#: The options that people use first, which --help shows.
_COMMON = (
    "dispatchers",
    "options",
    "platform",
    "replicates",
    "baseline",
    "hosts",
    "with_log",
    "select",
    "out",
    "as_json",
)


@click.command(cls=Command, common=_COMMON)
@click.argument("log", metavar="[LOG]", required=False, type=InputPath())
@options(ComparisonOptions)
@options(CapacityOptions)
@out_option("comparison")
@report_option
@options(ReportReasons)
@option(
    "--with-log",
    section=RESULTS,
    is_flag=True,
    help="Put what really happened, as the log tells it, beside the runs: in the table, the report and DIR/the-log.",
)
@options(RunSpec, leave=("dispatcher", *REAL_BATSIM), needed=False, texts=_TEXTS)
@log_options
@fresh_option("command and inputs")
@processes_option("Run this many simulations at a time.")
@json_option("Print the metrics as JSON instead of a table.")
@quiet_option
def command(
    who: ComparisonOptions,
    sizes: CapacityOptions,
    reasons: ReportReasons,
    typed: RunSpec,
    reading: LogReading,
    *,
    log: str | None,
    out: Path,
    report: bool,
    with_log: bool,
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

    With --replicates N, N windows of the workload are simulated (or see --replicate-by), each with a warm-up and a
    cool-down that do not count. Each dispatcher serves all of them, and the report says which dispatcher to choose for
    which aim, and how sure that is.

    \b
    Examples:
      batdispatch compare --platform P.xml --workload W.json --dispatchers fcfs,easy,conservative
      batdispatch compare --platform P.xml --workload W.json --dispatchers 'easy,easy[ordering=sjf]' --out results
      batdispatch compare KTH-SP2-1996-2.1-cln.swf.xz --dispatchers fcfs,easy,conservative --out kth
      batdispatch compare KTH-SP2-1996-2.1-cln.swf.xz --dispatchers families --replicates 10 --out kth10
      batdispatch compare KTH-SP2-1996-2.1-cln.swf.xz --dispatchers easy --hosts 100,110,120 --out sizes
    """
    from batdispatch.api.calls import REPLICATION, compare
    from batdispatch.api.results import Replication
    from batdispatch.cli.progress import ProgressDisplay
    from batdispatch.runs.inputs import is_log

    given = typed.workload if log is None else log
    if not given or (log is not None and typed.workload):
        raise InputError("expected one workload or log, as LOG or as --workload", source="option --workload")
    if not is_log(given, reading):
        refuse_log_options()
    if who.replicates is None:
        refuse("needs --replicates N", REPLICATION)
    elif not report:
        raise InputError("goes without --replicates: what these show stands in the report", source="option --no-report")
    settings = {name: value for name, value in asdict(typed).items() if name not in ("workload", "dispatcher")}
    settings["platform"] = None if typed.platform in ("", "auto") else typed.platform
    if sizes.hosts:
        _compare_sizes(given, who, sizes, {**settings, **asdict(reading)}, out, processes=processes, as_json=as_json)
        return
    if sizes.node_price is not None:
        raise InputError("needs --hosts", source="option --node-price")
    with ProgressDisplay() as progress:
        comparison = compare(
            given,
            **asdict(who),
            **settings,
            **asdict(reading),
            out=out,
            processes=processes,
            fresh=fresh,
            report=report,
            explain=reasons.explain,
            with_log=with_log,
            words=given_words(),
            listener=Terminal(progress.tell),
        )
    if isinstance(comparison, Replication):
        _print_replicates(comparison, as_json=as_json)
    else:
        _print(comparison, out / "report" / "index.html" if report else out, as_json=as_json)


def _compare_sizes(
    given: str,
    who: ComparisonOptions,
    sizes: CapacityOptions,
    settings: dict[str, Any],
    out: Path,
    *,
    processes: int,
    as_json: bool,
) -> None:
    """Compare on machines of several sizes, and print what came of it.

    Raises:
        InputError: replicates are asked for as well, or options that dispatchers share.
    """
    from batdispatch.cli.progress import ProgressDisplay
    from batdispatch.runs.compare import comparison_by

    if who.replicates is not None or settings.pop("options"):
        raise InputError("goes without --replicates and --set: it counts windows itself", source="option --hosts")
    if min(sizes.hosts) < 1:
        raise InputError("found 0, expected numbers of at least 1", source="option --hosts")
    capacities = comparison_by("hosts", "whatif")
    with ProgressDisplay() as progress:
        answers = capacities(
            given,
            who.dispatchers,
            sizes.hosts,
            node_price=sizes.node_price,
            **settings,
            out=out,
            processes=processes,
            words=given_words(),
            listener=Terminal(progress.tell),
        )
    print_answers(answers, as_json=as_json)


def print_answers(answers: Answers, *, as_json: bool) -> None:
    """Print what changes do, and the path of the page."""
    if as_json:
        echo(json_text(answers.answers))
    else:
        show(str(answers))
        echo(str(answers.page))


def _print(comparison: Comparison, path: Path, *, as_json: bool) -> None:
    """Print the metrics, and the path of what was written.

    Raises:
        SimulationError: a run failed.
    """
    from batdispatch.cli.metrics_table import metrics_table
    from batdispatch.results.metrics.compute import STARVATION
    from batdispatch.results.metrics.measure import remarks_on
    from batdispatch.results.rejections import in_words, rejections_of
    from batdispatch.results.runs import display_name, read_result
    from batdispatch.results.starvation import NO_EASY

    results = {label: run.result for label, run in comparison.items()}
    if as_json:
        echo(json_text(comparison.figures))
    else:
        read = {label: read_result(run.folder) for label, run in comparison.items()}
        names = {label: display_name(result) or label for label, result in read.items()}
        show(metrics_table({names[label]: figures for label, figures in comparison.figures.items()}))
        if len(results) > 1 and not any(STARVATION.name in figures for figures in comparison.figures.values()):
            show(NO_EASY)
        for told in remarks_on(read.values()):
            show(told)
        for line in in_words({label: rejections_of(result) for label, result in results.items()}):
            show(line)
        echo(str(path))
    if comparison.failures:
        failed = len(comparison.failures)
        raise SimulationError(f"{failed} of {failed + len(comparison)} runs failed")


def _print_replicates(comparison: Replication, *, as_json: bool) -> None:
    """Print what came of a comparison over replicates, and the path of its page.

    Raises:
        SimulationError: a run failed.
    """
    if as_json:
        echo(json_text(comparison.answers))
    else:
        show(str(comparison))
        for name, why in comparison.facts.refused:
            show(f"Not compared, {name}: {why}.")
        echo(str(comparison.page))
    if comparison.failures:
        raise SimulationError(f"{len(comparison.failures)} runs failed")


def given_words() -> str:
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
