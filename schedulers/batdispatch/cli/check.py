"""``batdispatch check``: an independent audit of runs, and of the tables over them."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from batdispatch.cli.groups import Choice, Command, option
from batdispatch.cli.messages import Terminal
from batdispatch.cli.options import Seconds
from batdispatch.core.errors import InputError
from batdispatch.core.line.settings import roles_of

if TYPE_CHECKING:
    from batdispatch.audit.findings import Findings
    from batdispatch.runs.checks.check import CheckResult, Report
    from batdispatch.runs.checks.rerun import When

#: Exit status when nothing wrong was found, and something could not be made again.
UNDONE = 3


@click.command(cls=Command)
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@option(
    "--platform",
    metavar="P.xml",
    type=click.Path(path_type=Path),
    help="Read this platform. The default is the one that result.json names.",
)
@option(
    "--workload",
    metavar="W.json",
    type=click.Path(path_type=Path),
    help="Read this workload. The default is the one that result.json names.",
)
@option(
    "--master-host",
    metavar="NAME",
    help="Take this host for the one that carries Batsim. The default is what result.json says.",
)
@option(
    "--role",
    "roles",
    metavar="HOST:ROLE",
    multiple=True,
    help="Give a host a role (storage, compute_node), as Batsim's -r does.",
)
@option(
    "--events",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Read these external events. The default is the file that result.json names.",
)
@option(
    "--replay",
    type=Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Make each run again, and compare: its dispatcher answers the recorded messages, or the run is simulated "
    "again. auto: unless that runs a source file. always: source files, too, and without a budget if none is given.",
)
@option(
    "--budget",
    metavar="SECONDS",
    type=Seconds(0),
    help="Make runs again for this long at most, all together, by the wall's clock. The default is 600; with "
    "--replay always there is none.",
)
@option(
    "--sample",
    metavar="N",
    type=click.IntRange(1),
    help="Look at N runs only, drawn at random. Tables over all runs are checked in any case.",
)
@option(
    "--seed",
    metavar="N",
    type=click.IntRange(0),
    help="Draw the sample with this number. By default it is drawn anew each time, so that nobody can foresee it, "
    "and printed.",
)
@option(
    "--limit",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Show at most this many violations of each kind.",
)
@option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(
    folders: tuple[Path, ...],
    platform: Path | None,
    workload: Path | None,
    master_host: str | None,
    roles: tuple[str, ...],
    events: Path | None,
    replay: When,
    budget: float | None,
    sample: int | None,
    seed: int | None,
    limit: int,
    as_json: bool,
) -> None:
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

    if seed is not None and sample is None:
        raise InputError("needs --sample N", source="option --seed")
    drawn = None if sample is None else Sample(sample, secrets.randbelow(2**32) if seed is None else seed)
    with ProgressDisplay() as progress:
        report = check(
            *folders,
            platform=platform,
            workload=workload,
            events=events,
            master_host=master_host,
            roles=roles_of(roles),
            replay=replay,
            budget=budget,
            sample=sample,
            seed=0 if drawn is None else drawn.seed,
            limit=limit,
            listener=Terminal(progress.tell),
        ).findings
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(_answer(report, drawn)), indent=2).decode())
    else:
        for checked in (*report.runs, *report.tables):
            _tell(checked, limit)
        if drawn is not None:
            click.echo(f"{report.left_out:,} runs were not drawn (--sample {drawn.size} --seed {drawn.seed})")
    if any(checked.findings.total for checked in (*report.runs, *report.tables)):
        sys.exit(1)
    if replay != "never" and any(checked.findings.undone for checked in report.runs):
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
