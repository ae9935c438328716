"""What people ask of runs and tables: an independent audit. Nothing large is imported, so that help is quick."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from msgspec.structs import asdict, replace

from batdispatch.abilities.verify.checks.options import CheckOptions
from batdispatch.core.errors import InputError
from batdispatch.core.line.settings import Form
from batdispatch.core.questions import Answer, Line, Question
from batdispatch.runs.listener import Listener

if TYPE_CHECKING:
    from batdispatch.abilities.verify.audit.findings import Findings
    from batdispatch.abilities.verify.checks.check import CheckResult, Report

#: Exit status when nothing wrong was found, and something could not be made again.
UNDONE = 3


def answer(
    how: CheckOptions, folders: Annotated[tuple[Path, ...], Form("DIR...")], *, listener: Listener | None
) -> Answer:
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

    if how.seed is not None and how.sample is None:
        raise InputError("needs --sample N", source="option --seed")
    how = replace(how, seed=secrets.randbelow(2**32) if how.seed is None else how.seed)
    report = check(*folders, **asdict(how), listener=listener).findings
    undone = how.replay != "never" and any(checked.findings.undone for checked in report.runs)
    wrong = any(checked.findings.total for checked in (*report.runs, *report.tables))
    return Answer(_facts(report, how), _in_words(report, how), status=1 if wrong else UNDONE if undone else 0)


def _in_words(report: Report, how: CheckOptions) -> Iterator[str | Line]:
    for checked in (*report.runs, *report.tables):
        yield from _findings_in_words(checked, how.limit)
    if how.sample is not None:
        yield f"{report.left_out:,} runs were not drawn (--sample {how.sample} --seed {how.seed})"


def _findings_in_words(checked: CheckResult, limit: int) -> Iterator[str | Line]:
    """Yield what was found about a run or a table."""
    place, findings = checked
    for violation in findings.kept:
        yield f"{place}: {violation}"
    for kind, count in findings.counts.items():
        if count > limit:
            yield f"{place}: {kind}: {count - limit:,} more"
    for rule, reason in findings.skipped.items():
        yield Line(f"{place}: not fully checked: {rule}: {reason}", aside=True)
    for reason in findings.undone.values():
        yield f"{place}: not decided again: {reason}"
    clean = "nothing wrong in what was checked" if findings.undone else "no violation"
    rules = "1 rule" if len(findings.checked) == 1 else f"{len(findings.checked)} rules"
    yield f"{place}: {rules}, {f'{findings.total:,} violations' if findings.total else clean}"


def _facts(report: Report, how: CheckOptions) -> dict[str, Any]:
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


QUESTION = Question("check", answer, "Print the findings as JSON.")
