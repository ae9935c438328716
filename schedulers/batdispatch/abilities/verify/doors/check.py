"""``batdispatch check``: an independent audit of runs, and of the tables over them."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import asdict, replace

from batdispatch.abilities.verify.checks.options import CheckOptions
from batdispatch.cli.groups import Command, option
from batdispatch.cli.messages import Terminal, echo, json_text
from batdispatch.cli.options import options
from batdispatch.core.errors import InputError

if TYPE_CHECKING:
    from batdispatch.abilities.verify.audit.findings import Findings
    from batdispatch.abilities.verify.checks.check import CheckResult, Report

#: Exit status when nothing wrong was found, and something could not be made again.
UNDONE = 3


@click.command(cls=Command)
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@options(CheckOptions)
@option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(how: CheckOptions, folders: tuple[Path, ...], as_json: bool) -> None:
    """Audit every file of each run against its workload, its platform, and what was decided, and make the run again.

    DIR is a run's folder (jobs.csv, with or without result.json), one that holds several, or the folder of a
    comparison with replicates or of a campaign, whose table is worked out again, too. The audit shares no code with
    what keeps the books during a run. Every column of jobs.csv follows from the workload, the profiles and the
    exchange (decisions.jsonl). Each start, kill and rejection was decided, and each rejection has a reason that holds.
    No host carries more than it can, and no job waits on an idle machine without a reason. units.csv, lineage.csv and
    result.json follow from these. Then the run is simulated again, and all its files are compared; of one behind a
    real Batsim, the dispatcher answers the recorded messages again. Times count as equal within 2 microseconds, run
    times within 0.1 ms.

    Exit status: 0 when nothing is wrong, 1 when something is, 2 when a file cannot be read, 3 when nothing was found
    and a run could not be made again (`not decided again: ...`), unless --replay never asked for that.

    \b
    Examples:
      batdispatch check comparison
      batdispatch check campaigns/mine --sample 20 --budget 60
      batdispatch check batsim-output --platform P.xml --workload W.json --master-host n0
    """
    from batdispatch.abilities.verify.doors.python import check
    from batdispatch.cli.progress import ProgressDisplay

    if how.seed is not None and how.sample is None:
        raise InputError("needs --sample N", source="option --seed")
    how = replace(how, seed=secrets.randbelow(2**32) if how.seed is None else how.seed)
    with ProgressDisplay() as progress:
        report = check(*folders, **asdict(how), listener=Terminal(progress.tell)).findings
    if as_json:
        echo(json_text(_answer(report, how)))
    else:
        for checked in (*report.runs, *report.tables):
            _tell(checked, how.limit)
        if how.sample is not None:
            echo(f"{report.left_out:,} runs were not drawn (--sample {how.sample} --seed {how.seed})")
    if any(checked.findings.total for checked in (*report.runs, *report.tables)):
        sys.exit(1)
    if how.replay != "never" and any(checked.findings.undone for checked in report.runs):
        sys.exit(UNDONE)


def _tell(checked: CheckResult, limit: int) -> None:
    """Print what was found about a run or a table."""
    place, findings = checked
    for violation in findings.kept:
        echo(f"{place}: {violation}")
    for kind, count in findings.counts.items():
        if count > limit:
            echo(f"{place}: {kind}: {count - limit:,} more")
    for rule, reason in findings.skipped.items():
        echo(f"{place}: not fully checked: {rule}: {reason}", err=True)
    for reason in findings.undone.values():
        echo(f"{place}: not decided again: {reason}")
    clean = "nothing wrong in what was checked" if findings.undone else "no violation"
    rules = "1 rule" if len(findings.checked) == 1 else f"{len(findings.checked)} rules"
    echo(f"{place}: {rules}, {f'{findings.total:,} violations' if findings.total else clean}")


def _answer(report: Report, how: CheckOptions) -> dict[str, Any]:
    """Return what was found as JSON has it."""
    everything = [*report.runs, *report.tables]
    return {
        "violations": sum(checked.findings.total for checked in everything),
        "undone": sum(bool(checked.findings.undone) for checked in report.runs),
        "runs": [{"folder": str(path), **_findings(findings)} for path, findings in report.runs],
        "tables": [{"file": str(path), **_findings(findings)} for path, findings in report.tables],
        "sample": None if how.sample is None else {"left_out": report.left_out, "seed": how.seed},
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
