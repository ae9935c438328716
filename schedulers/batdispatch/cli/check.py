"""``batdispatch check``: an independent audit of runs, and of the tables over them."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click
import msgspec
from msgspec import Meta

from batdispatch.cli.groups import Command, option
from batdispatch.cli.messages import Terminal, json_text
from batdispatch.cli.options import options
from batdispatch.core.errors import InputError
from batdispatch.core.line.settings import Form, roles_of

if TYPE_CHECKING:
    from batdispatch.audit.findings import Findings
    from batdispatch.runs.checks.check import CheckResult, Report

#: Exit status when nothing wrong was found, and something could not be made again.
UNDONE = 3


class CheckOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How runs are checked.

    platform: Read this platform. The default is the one that result.json names.
    workload: Read this workload. The default is the one that result.json names.
    master_host: Take this host for the one that carries Batsim. The default is what result.json says.
    roles: Give a host a role (storage, compute_node), as Batsim's -r does.
    events: Read these external events. The default is the file that result.json names.
    replay: Make each run again, and compare: its dispatcher answers the recorded messages, or the run is simulated
        again. auto: unless that runs a source file. always: source files, too, and without a budget if none is given.
    budget: Make runs again for this long at most, all together, by the wall's clock. The default is 600; with --replay
        always there is none.
    sample: Look at N runs only, drawn at random. Tables over all runs are checked in any case.
    seed: Draw the sample with this number. By default it is drawn anew each time, so that nobody can foresee it, and
        printed.
    limit: Show at most this many violations of each kind.
    """

    platform: Annotated[Path | None, Form("P.xml")] = None
    workload: Annotated[Path | None, Form("W.json")] = None
    master_host: Annotated[str | None, Form("NAME")] = None
    roles: Annotated[dict[str, str], Form("HOST:ROLE", name="--role", gather=roles_of)] = {}
    events: Annotated[Path | None, Form("FILE")] = None
    replay: Literal["auto", "always", "never"] = "auto"
    budget: Annotated[Annotated[float, Meta(ge=0)] | None, Form("SECONDS")] = None
    sample: Annotated[Annotated[int, Meta(ge=1)] | None, Form("N")] = None
    seed: Annotated[Annotated[int, Meta(ge=0)] | None, Form("N")] = None
    limit: Annotated[int, Meta(ge=1)] = 20


@click.command(cls=Command)
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@options(CheckOptions)
@option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(how: CheckOptions, folders: tuple[Path, ...], as_json: bool) -> None:
    """Audit every file of each run against its workload, its platform, and what was decided, and make the run again.

    DIR is a run's folder (jobs.csv, with or without result.json), one that holds several, or the folder of a comparison
    with replicates, of a campaign or of a leaderboard, whose table is worked out again, too. The audit shares no code
    with what keeps the books during a run. Every column of jobs.csv follows from the workload, the profiles and the
    exchange (decisions.jsonl). Each start, kill and rejection was decided, and each rejection has a reason that holds.
    No host carries more than it can, and no job waits on an idle machine without a reason. units.csv, lineage.csv and
    result.json follow from these. Then the run is simulated again, and all its files are compared; of one behind a real
    Batsim, the dispatcher answers the recorded messages again. Times count as equal within 2 microseconds, run times
    within 0.1 ms.

    Exit status: 0 when nothing is wrong, 1 when something is, 2 when a file cannot be read, 3 when nothing was found
    and a run could not be made again (`not decided again: ...`), unless --replay never asked for that.

    \b
    Examples:
      batdispatch check comparison
      batdispatch check campaigns/mine --sample 20 --budget 60
      batdispatch check batsim-output --platform P.xml --workload W.json --master-host n0
    """
    from batdispatch.api.looks import check
    from batdispatch.cli.progress import ProgressDisplay
    from batdispatch.runs.checks.check import Sample

    if how.seed is not None and how.sample is None:
        raise InputError("needs --sample N", source="option --seed")
    drawn = None
    if how.sample is not None:
        drawn = Sample(how.sample, secrets.randbelow(2**32) if how.seed is None else how.seed)
    settings = msgspec.structs.asdict(how) | {"seed": 0 if drawn is None else drawn.seed}
    with ProgressDisplay() as progress:
        report = check(*folders, **settings, listener=Terminal(progress.tell)).findings
    if as_json:
        click.echo(json_text(_answer(report, drawn)))
    else:
        for checked in (*report.runs, *report.tables):
            _tell(checked, how.limit)
        if drawn is not None:
            click.echo(f"{report.left_out:,} runs were not drawn (--sample {drawn.size} --seed {drawn.seed})")
    if any(checked.findings.total for checked in (*report.runs, *report.tables)):
        sys.exit(1)
    if how.replay != "never" and any(checked.findings.undone for checked in report.runs):
        sys.exit(UNDONE)


def _tell(checked: CheckResult, limit: int) -> None:
    """Print what was found about a run or a table."""
    place, findings = checked
    for violation in findings.kept:
        click.echo(f"{place}: {violation}")
    for kind, count in findings.counts.items():
        if count > limit:
            click.echo(f"{place}: {kind}: {count - limit:,} more")
    for rule, reason in findings.skipped.items():
        click.echo(f"{place}: not fully checked: {rule}: {reason}", err=True)
    for reason in findings.undone.values():
        click.echo(f"{place}: not decided again: {reason}")
    clean = "nothing wrong in what was checked" if findings.undone else "no violation"
    rules = "1 rule" if len(findings.checked) == 1 else f"{len(findings.checked)} rules"
    click.echo(f"{place}: {rules}, {f'{findings.total:,} violations' if findings.total else clean}")


def _answer(report: Report, drawn: tuple[int, int] | None) -> dict[str, Any]:
    """Return what was found as JSON has it."""
    everything = [*report.runs, *report.tables]
    return {
        "violations": sum(checked.findings.total for checked in everything),
        "undone": sum(bool(checked.findings.undone) for checked in report.runs),
        "runs": [{"folder": str(path), **_findings(findings)} for path, findings in report.runs],
        "tables": [{"file": str(path), **_findings(findings)} for path, findings in report.tables],
        "sample": None if drawn is None else {"left_out": report.left_out, "seed": drawn[1]},
    }


def _findings(findings: Findings) -> dict[str, Any]:
    return {
        "violations": findings.total,
        "kinds": findings.counts,
        "found": findings.kept,
        "checked": findings.checked,
        "skipped": findings.skipped,
        "undone": findings.undone,
    }
