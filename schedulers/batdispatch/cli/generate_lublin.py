"""``batdispatch generate lublin``: the Lublin-Feitelson model of rigid jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from batdispatch.cli.generate import finish, output_options
from batdispatch.cli.groups import Choice, Command, option


@click.command(cls=Command)
@output_options
@option("--jobs", type=int, required=True, help="Generate this many jobs (1 to 5,000,000).")
@option(
    "--hosts",
    type=int,
    required=True,
    help="Generate the jobs for a machine of this many hosts (1 to 10,000,000). The model was "
    "fitted to machines of 128 to 512.",
)
@option(
    "--load",
    type=float,
    help="Stretch or compress the arrivals so that the jobs offer this load (0.001 to 100), such "
    "as 0.8 of the machine. By default, the model's own arrivals are kept.",
)
@option(
    "--classes",
    type=Choice(["all", "separate"]),
    default="all",
    show_default=True,
    help="Choose the kinds of jobs. all: jobs of one kind. separate: batch jobs and interactive jobs side by side.",
)
@option(
    "--walltimes",
    type=Choice(["none", "exact", "factor", "modal"]),
    default="modal",
    show_default=True,
    help="Choose the walltimes that users ask for. none: no walltime. exact: the run time. factor: "
    "between 1 and FACTOR times the run time. modal: the same, rounded up to one of 20 usual "
    "values.",
)
@option(
    "--factor",
    type=float,
    default=5.0,
    show_default=True,
    help="Let a walltime be at most this many times the run time, at least 1 (only with --walltimes factor or modal).",
)
@option(
    "--at-once", is_flag=True, help="Submit all jobs at time 0. Run times and sizes are those of the model's arrivals."
)
@option(
    "--users",
    type=int,
    metavar="N",
    help="Draw each job's user from N users (1 to 10,000), a few of whom have most of the jobs. By "
    "default, jobs name no user.",
)
@option("--pinned", is_flag=True, help="Pin each job to one of the I/O nodes of --platform, drawn at random.")
@option(
    "--platform",
    metavar="P.xml",
    type=click.Path(path_type=Path),
    help="Read the machine whose I/O nodes jobs are pinned to from this SimGrid platform (only with --pinned).",
)
def command(
    output: Path,
    seed: int,
    as_json: bool,
    jobs: int,
    hosts: int,
    load: float | None,
    classes: Literal["all", "separate"],
    walltimes: Literal["none", "exact", "factor", "modal"],
    factor: float,
    at_once: bool,
    users: int | None,
    pinned: bool,
    platform: Path | None,
) -> None:
    """Rigid jobs as on the parallel machines of the nineties (Lublin and Feitelson, JPDC 2003).

    Sizes are mostly powers of two, larger jobs run longer, arrivals follow the time of day (time 0 is midnight).

    \b
    Examples:
      batdispatch generate lublin -o W.json --seed 1 --jobs 1000 --hosts 128
      batdispatch generate lublin -o busy.json --seed 7 --jobs 5000 --hosts 256 --load 0.9 --walltimes factor --factor 3
    """
    import msgspec
    import numpy as np

    from batdispatch.core.errors import InputError
    from batdispatch.inputs.platforms import read_platform
    from batdispatch.inputs.workloads.lublin import lublin
    from batdispatch.inputs.workloads.pinning import pinned_to
    from batdispatch.inputs.workloads.users import with_users

    options: dict[str, Any] = {
        "jobs": jobs,
        "hosts": hosts,
        "load": load,
        "classes": classes,
        "walltimes": walltimes,
        "factor": factor,
    }
    rng = np.random.default_rng(seed)
    workload = lublin(
        rng,
        jobs=jobs,
        hosts=hosts,
        load=load,
        classes=classes,
        walltimes=walltimes,
        factor=factor,
    )
    if at_once:
        jobs_there = [msgspec.structs.replace(job, submission=0.0) for job in workload.jobs]
        workload = msgspec.structs.replace(workload, jobs=jobs_there)
        options["at_once"] = True
    if users is not None:
        workload = with_users(rng, workload, users)
        options["users"] = users
    if pinned:
        if platform is None:
            raise click.UsageError("--pinned needs --platform: the I/O nodes are those of a machine")
        disks = [disk.name for disk in read_platform(platform).machine.storage]
        if not disks:
            raise InputError("has no I/O node that jobs could be pinned to", source=str(platform))
        workload = pinned_to(rng, workload, disks)
        options["pinned"] = platform.name
    finish(workload, output, as_json, kind="lublin", seed=seed, options=options)
