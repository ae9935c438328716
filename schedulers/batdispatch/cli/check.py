"""``batdispatch check``: an independent audit of a run's files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from batdispatch.cli.groups import Choice, Command, option

if TYPE_CHECKING:
    from batdispatch.results.rerun import When


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
    help="Let the dispatcher decide again, and compare. auto: if it is registered and "
    "the simulation took a minute at most.",
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
    limit: int,
    as_json: bool,
) -> None:
    """Audit every file of each run against its workload, its platform, and what was decided.

    DIR is a run's folder (jobs.csv, with or without result.json) or one that holds several. The audit shares no code
    with what keeps the books during a run. Every column of jobs.csv follows from the workload, the profiles and the
    exchange (decisions.jsonl). Each start, kill and rejection was decided, and each rejection has a reason that holds.
    No host carries more than it can, and no job waits on an idle machine without a reason. units.csv, lineage.csv,
    schedule.csv and result.json follow from these. Then the dispatcher answers the recorded messages again. Times
    count as equal within 2 microseconds, run times within 0.1 ms.

    Exit status: 0 when nothing is wrong, 1 when something is, 2 when a file cannot be read.

    \b
    Examples:
      batdispatch check comparison
      batdispatch check batsim-output --platform P.xml --workload W.json --master-host n0
    """
    from batdispatch.cli.platform import parse_roles
    from batdispatch.results.audit.run import Auditor
    from batdispatch.results.rerun import audit_all
    from batdispatch.results.runs import find_runs

    auditor = Auditor(
        platform=platform,
        workload=workload,
        master=master_host,
        events=events,
        roles=parse_roles(roles) or None,
        limit=limit,
    )
    audited = [(folder, audit_all(auditor, folder, replay)) for folder in find_runs(folders)]
    total = sum(findings.total for _, findings in audited)
    if as_json:
        answer = {
            "violations": total,
            "runs": [
                {
                    "folder": str(folder),
                    "violations": findings.total,
                    "kinds": findings.counts,
                    "found": findings.kept,
                    "checked": findings.checked,
                    "skipped": findings.skipped,
                }
                for folder, findings in audited
            ],
        }
        click.echo(msgspec.json.format(msgspec.json.encode(answer), indent=2).decode())
    else:
        for folder, findings in audited:
            for violation in findings.kept:
                click.echo(f"{folder}: {violation}")
            for kind, count in findings.counts.items():
                if count > limit:
                    click.echo(f"{folder}: {kind}: {count - limit:,} more")
            for rule, reason in findings.skipped.items():
                click.echo(f"{folder}: not fully checked: {rule}: {reason}", err=True)
            wrong = f"{findings.total:,} violations" if findings.total else "no violation"
            click.echo(f"{folder}: {len(findings.checked)} rules, {wrong}")
    if total:
        sys.exit(1)
