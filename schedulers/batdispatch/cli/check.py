"""``batdispatch check``: an independent audit of a run's jobs file."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec


@click.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--platform",
    metavar="P.xml",
    type=click.Path(path_type=Path),
    help="The run's platform. Default: the one named in result.json.",
)
@click.option(
    "--workload",
    metavar="W.json",
    type=click.Path(path_type=Path),
    help="The run's workload. Default: the one named in result.json.",
)
@click.option("--master-host", metavar="NAME", help="The host that carries Batsim. Default: as result.json says.")
@click.option(
    "--limit", type=click.IntRange(1), default=20, show_default=True, help="Most violations shown of each kind."
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(
    folders: tuple[Path, ...],
    platform: Path | None,
    workload: Path | None,
    master_host: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """Audit the jobs file of each run against its workload and platform.

    DIR is a run's folder (jobs.csv, with or without result.json) or one that holds several. The audit shares no code
    with what keeps the books during a run. Every job is there once. No host carries more than it can at any time, and
    no licence is in use more often than the machine has it. No job starts before its submission, before the jobs that
    it depends on have succeeded or before the job that it continues has ended, and none outlives its walltime.
    Allocations have the size asked for and lie on nodes that the job may use, in the form it asked for. Times agree
    with each other and with the profiles. Times count as equal within 2 microseconds, run times within 0.1 ms.

    Exit status: 0 when nothing is wrong, 1 when something is, 2 when a file cannot be read.

    \b
    Examples:
      batdispatch check comparison
      batdispatch check batsim-output --platform P.xml --workload W.json --master-host n0
    """
    from batdispatch.results.audit.run import Auditor
    from batdispatch.results.runs import find_runs

    auditor = Auditor(platform=platform, workload=workload, master=master_host, limit=limit)
    audited = [(folder, auditor.run(folder)) for folder in find_runs(folders)]
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
