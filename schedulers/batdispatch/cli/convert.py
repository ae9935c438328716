"""``batdispatch convert``: a log becomes a Batsim workload, with an account of what was dropped and why; a workload of
one Batsim becomes one of the other.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from batdispatch.cli.groups import Choice, Command, option
from batdispatch.cli.logs import log_options, machine_of, refuse_log_options
from batdispatch.cli.messages import conclude, quiet_option, warn
from batdispatch.cli.options import options
from batdispatch.cli.outputs import json_option, output_option
from batdispatch.cli.pipe import InputPath
from batdispatch.cli.progress import ProgressDisplay
from batdispatch.core.line.settings import RESULTS
from batdispatch.inputs.log_options import LogMachine, LogReading

if TYPE_CHECKING:
    from batdispatch.inputs.workloads import Workload
    from batdispatch.inputs.workloads.log_workload import LogWorkload


#: The options that people use first, which --help shows.
_COMMON = (
    "platform",
    "kind",
    "columns",
    "units",
    "time_zone",
    "slurm",
    "select",
    "output",
    "as_json",
)


@click.command(cls=Command, common=_COMMON)
@click.argument("log", metavar="LOG", type=InputPath())
@output_option("W.json", "Write the workload into this file.", section=RESULTS)
@option(
    "--to",
    "target",
    section=RESULTS,
    type=Choice(["batsim4", "batsim5"]),
    help="Write the workload of this Batsim. LOG may then be a workload of the other one. The default is batsim4.",
)
@option(
    "--compute",
    metavar="SPEED",
    section=RESULTS,
    help="Let jobs compute for as long as they ran on cores of this speed, such as 1Gf, instead of waiting. Hosts "
    "burn what they burn at work only then.",
)
@options(LogMachine, texts={"platform": "Drop the jobs that cannot run on this platform, and count them."})
@log_options
@json_option("Print the account as JSON.")
@quiet_option
def command(
    on: LogMachine, reading: LogReading, log: str, output: Path, target: str | None, compute: str | None, as_json: bool
) -> None:
    """Make a Batsim workload of a log (SWF, Slurm's sacct, PBS, a table, KIT ForHLR II, Eurora; plain, gzip or xz).

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
    from batdispatch.inputs.workloads.importers import is_workload
    from batdispatch.runs.inputs import read_log_as, warn_of_overruns

    version: Literal[4, 5] = 5 if target == "batsim5" else 4
    if target is not None and reading.kind is None and is_workload(Path(log)):
        _translate(log, output, version, as_json)
        return
    machine = machine_of(on)
    with ProgressDisplay() as following:
        imported = read_log_as(log, reading, machine=machine, follow=following.tell)
    workload, report, _ = imported
    if compute is not None:
        workload.let_compute(compute)
    account = _written(workload, output, version)
    warn_of_overruns(imported, warn)
    conclude(output, account | report.as_dict(), as_json=as_json, words=report.as_text())


def _translate(path: str, output: Path, version: Literal[4, 5], as_json: bool) -> None:
    """Write a workload of one Batsim as one of the other."""
    from batdispatch.inputs.workloads import read_workload
    from batdispatch.inputs.workloads.writer import profiles_for

    refuse_log_options("platform", "master_host")
    workload = read_workload(path)
    account = _written(workload, output, version)
    profiles = len(profiles_for(workload, version))
    facts = account | {"jobs": len(workload.jobs), "profiles": profiles}
    words = f"{len(workload.jobs)} jobs, {profiles} profiles for Batsim {version}"
    conclude(output, facts, as_json=as_json, words=words)


def _written(workload: Workload | LogWorkload, output: Path, version: Literal[4, 5]) -> dict[str, object]:
    """Write a workload, say which of its jobs Batsim does wrongly, and return what every account says."""
    from batdispatch.batsim.v5 import faults
    from batdispatch.inputs.workloads.writer import write_workload

    digest = write_workload(workload, output, batsim=version)
    if version == 5:
        for warning in faults.warnings((profile for profile, _ in workload.uses()), workload.profiles):
            warn(warning)
    return {"sha256": digest, "nb_res": workload.nb_res}
