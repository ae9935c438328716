"""``batdispatch convert``: a log becomes a Batsim workload, with an account of what was dropped and why; a workload of
one Batsim becomes one of the other.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
import msgspec

from batdispatch.cli.inputs import warn
from batdispatch.cli.progress import Following

if TYPE_CHECKING:
    from batdispatch.inputs.workloads import Workload


@click.command()
@click.argument("log", metavar="LOG", type=click.Path())
@click.option(
    "-o", "--output", metavar="W.json", required=True, type=click.Path(path_type=Path), help="Workload to write."
)
@click.option(
    "--to",
    "target",
    type=click.Choice(["batsim4", "batsim5"]),
    help="Whose workload to write; with it LOG may be a workload of the other Batsim. Default: batsim4.",
)
@click.option("--format", "kind", metavar="NAME", help="swf, kit or eurora. Default: told by the name or content.")
@click.option("--platform", metavar="P.xml", type=click.Path(), help="Drop (and count) jobs that cannot run on it.")
@click.option("--master-host", metavar="NAME", help="The platform's host that carries Batsim and is no resource.")
@click.option(
    "--units",
    type=click.Choice(["hosts", "cores"]),
    help="What a job is counted in: whole hosts, or cores (and what else the log says) on hosts that jobs share. "
    "Default: hosts for SWF, cores for the others.",
)
@click.option(
    "--processors-per-host",
    metavar="N",
    type=int,
    default=1,
    show_default=True,
    help="Make whole hosts of N processors each, rounding up.",
)
@click.option(
    "--size",
    type=click.Choice(["requested", "allocated"]),
    default="requested",
    show_default=True,
    help="Which processor count is a job's size; the other is taken where it is unknown.",
)
@click.option(
    "--overrun",
    type=click.Choice(["kill", "extend"]),
    default="kill",
    show_default=True,
    help="Jobs that ran longer than their walltime: killed at it, or walltime raised above the run time.",
)
@click.option(
    "--zero-runtime",
    type=click.Choice(["keep", "drop"]),
    default="keep",
    show_default=True,
    help="Jobs that ran for 0 s: keep them with 1 s, or drop them.",
)
@click.option(
    "--memory",
    type=click.Choice(["none", "requested", "used"]),
    default="none",
    show_default=True,
    help="SWF: make the log's memory a core a demand in MiB (needs --units cores).",
)
@click.option("--keep-clock", is_flag=True, help="Keep the log's clock instead of starting at 0.")
@click.option(
    "--select",
    metavar="KEY=VALUE",
    multiple=True,
    help="first=N jobs; from=T, to=T: submitted in [from, to) of the log's clock (s, or 12h, 30d, 2w); users=3,17.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the account as JSON.")
@click.pass_context
def command(
    context: click.Context,
    log: str,
    output: Path,
    target: str | None,
    kind: str | None,
    platform: str | None,
    master_host: str | None,
    units: Literal["hosts", "cores"] | None,
    processors_per_host: int,
    size: Literal["requested", "allocated"],
    overrun: Literal["kill", "extend"],
    zero_runtime: Literal["keep", "drop"],
    memory: Literal["none", "requested", "used"],
    keep_clock: bool,
    select: tuple[str, ...],
    as_json: bool,
) -> None:
    """Make a Batsim workload of a log (SWF, KIT ForHLR II, Eurora; plain, gzip or xz).

    Every record that is dropped or altered is counted with the reason.

    \b
    Examples:
      batdispatch convert KTH-SP2-1996-2.1-cln.swf.xz -o kth.json
      batdispatch convert log.swf -o week.json --select from=30d --select to=37d --processors-per-host 16
      batdispatch convert eurora_historical.tar.xz -o eurora.json --platform eurora.xml
      batdispatch convert kth.json --to batsim5 -o kth5.json
    """
    from batdispatch.core.errors import InputError
    from batdispatch.inputs.workloads.importing import import_log, is_workload
    from batdispatch.inputs.workloads.logs import LogOptions
    from batdispatch.inputs.workloads.selecting import parse_selection
    from batdispatch.inputs.workloads.writer import write_workload

    version: Literal[4, 5] = 5 if target == "batsim5" else 4
    if target is not None and kind is None and is_workload(Path(log)):
        _translate(context, log, output, version, as_json)
        return
    if not 1 <= processors_per_host <= 1_000_000:
        raise InputError(
            f"{processors_per_host}, expected 1 to 1,000,000 processors", source="option --processors-per-host"
        )
    selection = parse_selection(select)
    if platform is None and master_host is not None:
        raise InputError("needs --platform", source="option --master-host")
    machine = None
    if platform is not None:
        from batdispatch.inputs.platforms import read_platform

        machine = read_platform(Path(platform), master=master_host).machine
    options = LogOptions(
        units=units,
        processors_per_host=processors_per_host,
        size=size,
        overrun=overrun,
        zero_runtime=zero_runtime,
        memory=memory,
        keep_clock=keep_clock,
    )
    with Following() as following:
        workload, report = import_log(
            log,
            kind=kind,
            options=options,
            selection=selection,
            machine=machine,
            progress=functools.partial(following.tell, f"reading {Path(log).name}"),
        )
    digest = write_workload(workload, output, batsim=version)
    _warn(workload, version)
    if as_json:
        account: dict[str, Any] = {"output": str(output), "sha256": digest, "nb_res": workload.nb_res}
        click.echo(msgspec.json.format(msgspec.json.encode(account | report.as_dict()), indent=2).decode())
    else:
        click.echo(report.as_text())
        click.echo(str(output))


def _translate(context: click.Context, path: str, output: Path, version: Literal[4, 5], as_json: bool) -> None:
    """Write a workload of one Batsim as one of the other."""
    from click.core import ParameterSource

    from batdispatch.core.errors import InputError
    from batdispatch.inputs.workloads import read_workload, write_workload

    for name in context.params:
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and name not in ("log", "output", "target", "as_json"):
            raise InputError("is for logs, and this is a Batsim workload", source=f"option --{name.replace('_', '-')}")
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
        click.echo(msgspec.json.format(msgspec.json.encode(account), indent=2).decode())
        return
    click.echo(f"{len(workload.jobs)} jobs, {len(workload.profiles)} profiles for Batsim {version}")
    click.echo(str(output))


def _warn(workload: Workload, version: Literal[4, 5]) -> None:
    """Say which of the jobs written Batsim does wrongly."""
    from batdispatch.batsim.v5 import faults

    if version == 5:
        for warning in faults.warnings((job.profile for job in workload.jobs), workload.profiles):
            warn(warning)
