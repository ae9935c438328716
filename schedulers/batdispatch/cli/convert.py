"""``batdispatch convert``: a log becomes a Batsim workload, with an account of what was dropped and why; a workload of
one Batsim becomes one of the other.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
import msgspec

from batdispatch.cli.groups import INPUTS, RESULTS, Choice, Command, option
from batdispatch.cli.logs import log_options, refuse_log_options
from batdispatch.cli.outputs import json_option, output_option
from batdispatch.cli.progress import Following
from batdispatch.cli.telling import answer, quiet_option, show, warn

if TYPE_CHECKING:
    from batdispatch.inputs.workloads import Workload


@click.command(cls=Command)
@click.argument("log", metavar="LOG", type=click.Path())
@output_option("W.json", "Write the workload into this file.", section=RESULTS)
@option(
    "--to",
    "target",
    section=RESULTS,
    type=Choice(["batsim4", "batsim5"]),
    help="Write the workload of this Batsim. LOG may then be a workload of the other one. The default is batsim4.",
)
@option(
    "--platform",
    section=INPUTS,
    metavar="P.xml",
    type=click.Path(),
    help="Drop the jobs that cannot run on this platform, and count them.",
)
@option(
    "--master-host",
    section=INPUTS,
    metavar="NAME",
    help="Leave out this host of the platform, which carries Batsim and is no resource.",
)
@log_options
@json_option("Print the account as JSON.")
@quiet_option
def command(
    log: str,
    output: Path,
    target: str | None,
    platform: str | None,
    master_host: str | None,
    as_json: bool,
    **reading: Any,
) -> None:
    """Make a Batsim workload of a log (SWF, Slurm's sacct, a table, KIT ForHLR II, Eurora; plain, gzip or xz).

    Every record that is dropped or altered is counted with the reason.

    \b
    Examples:
      batdispatch convert KTH-SP2-1996-2.1-cln.swf.xz -o kth.json
      batdispatch convert log.swf -o week.json --select from=30d --select to=37d --processors-per-host 16
      batdispatch convert accounts.txt -o w.json --time-zone Europe/Berlin     (of sacct --parsable2)
      batdispatch convert jobs.csv -o w.json --columns submit=SUBMITTED,runtime=ELAPSED:min,cores=NCPUS
      batdispatch convert eurora_historical.tar.xz -o eurora.json --platform eurora.xml
      batdispatch convert kth.json --to batsim5 -o kth5.json
    """
    from batdispatch.core.errors import InputError
    from batdispatch.inputs.workloads.importing import is_workload
    from batdispatch.inputs.workloads.writer import write_workload
    from batdispatch.runs.inputs import read_log_with, warn_of_overruns

    version: Literal[4, 5] = 5 if target == "batsim5" else 4
    if target is not None and reading["kind"] is None and is_workload(Path(log)):
        _translate(log, output, version, as_json)
        return
    if platform is None and master_host is not None:
        raise InputError("needs --platform", source="option --master-host")
    machine = None
    if platform is not None:
        from batdispatch.inputs.platforms import read_platform

        machine = read_platform(Path(platform), master=master_host).machine
    with Following() as following:
        imported = read_log_with(log, reading, machine=machine, follow=following.tell)
    workload, report, _ = imported
    digest = write_workload(workload, output, batsim=version)
    _warn(workload, version)
    warn_of_overruns(imported, warn)
    if as_json:
        account: dict[str, Any] = {"output": str(output), "sha256": digest, "nb_res": workload.nb_res}
        answer(msgspec.json.format(msgspec.json.encode(account | report.as_dict()), indent=2).decode())
    else:
        show(report.as_text())
        answer(str(output))


def _translate(path: str, output: Path, version: Literal[4, 5], as_json: bool) -> None:
    """Write a workload of one Batsim as one of the other."""
    from batdispatch.inputs.workloads import read_workload, write_workload

    refuse_log_options("platform", "master_host")
    workload = read_workload(path)
    digest = write_workload(workload, output, batsim=version)
    _warn(workload, version)
    if as_json:
        account = {
            "output": str(output),
            "sha256": digest,
            "nb_res": workload.nb_res,
            "jobs": len(workload.jobs),
            "profiles": len(workload.profiles),
        }
        answer(msgspec.json.format(msgspec.json.encode(account), indent=2).decode())
        return
    show(f"{len(workload.jobs)} jobs, {len(workload.profiles)} profiles for Batsim {version}")
    answer(str(output))


def _warn(workload: Workload, version: Literal[4, 5]) -> None:
    """Say which of the jobs written Batsim does wrongly."""
    from batdispatch.batsim.v5 import faults

    if version == 5:
        for warning in faults.warnings((job.profile for job in workload.jobs), workload.profiles):
            warn(warning)
