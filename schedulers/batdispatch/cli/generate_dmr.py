"""``batdispatch generate dmr``: the workloads with which DMR was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from batdispatch.cli.generate import finish, output_options
from batdispatch.cli.groups import Command, option


@click.command(cls=Command)
@output_options
@option("--jobs", metavar="N", type=int, default=50, show_default=True, help="Number of jobs. Paper: 50 to 400.")
@option("--hosts", metavar="N", type=int, default=64, show_default=True, help="Hosts of the machine.")
@option(
    "--applications",
    metavar="NAME,...",
    default="cg,jacobi,n-body",
    show_default=True,
    help="Draw each job's application from these: cg, jacobi, n-body, fs. One named twice comes twice as often.",
)
@option(
    "--share",
    type=float,
    default=1.0,
    show_default=True,
    help="Make this share of the jobs malleable. With 0, the same jobs are all rigid.",
)
@option("--gap", metavar="SECONDS", type=float, default=10.0, show_default=True, help="Mean time between two arrivals.")
@option(
    "--runtime", metavar="SECONDS", type=float, default=200.0, show_default=True, help="Time of cg and jacobi on 32."
)
@option(
    "--scalability",
    metavar="TEXT",
    default="power:0.7",
    show_default=True,
    help="How the speed of cg and jacobi depends on their size.",
)
@option(
    "--nbody-runtime", metavar="SECONDS", type=float, default=1200.0, show_default=True, help="Time of n-body on 16."
)
@option(
    "--nbody-scalability",
    metavar="TEXT",
    default="power:0",
    show_default=True,
    help="How the speed of n-body depends on its size.",
)
@option(
    "--fs-runtime", metavar="SECONDS", type=float, default=60.0, show_default=True, help="Mean time of fs as submitted."
)
@option(
    "--walltime-factor",
    metavar="FACTOR",
    type=float,
    help="Give jobs walltimes: FACTOR times the time on the slowest size, and a minute for resizes.  [default: none]",
)
def command(
    output: Path,
    seed: int,
    as_json: bool,
    jobs: int,
    hosts: int,
    applications: str,
    share: float,
    gap: float,
    runtime: float,
    scalability: str,
    nbody_runtime: float,
    nbody_scalability: str,
    fs_runtime: float,
    walltime_factor: float | None,
) -> None:
    """Malleable applications that arrive at random, as DMR was measured with (Iserte et al., 2018).

    Conjugate gradient, Jacobi and N-body start on their largest sizes (32, 32, 16). The flexible sleep (fs), which runs
    on 1 to 20 hosts, starts on a size that is drawn from Feitelson's model.

    \b
    Examples:
      batdispatch generate dmr -o W.json --seed 1 --jobs 400
      batdispatch generate dmr -o fixed.json --seed 1 --jobs 400 --share 0
      batdispatch generate dmr -o fs.json --seed 1 --jobs 400 --hosts 20 --applications fs
    """
    import numpy as np

    from batdispatch.inputs.workloads.dmr import Times, dmr

    times = Times(runtime, scalability, nbody_runtime, nbody_scalability, fs_runtime)
    options: dict[str, Any] = {
        "jobs": jobs,
        "hosts": hosts,
        "applications": tuple(applications.split(",")),
        "share": share,
        "gap": gap,
        "walltime_factor": walltime_factor,
    }
    workload = dmr(np.random.default_rng(seed), **options, times=times)
    found = {"malleable": sum(job.request.sizes is not None for job in workload.jobs)}
    finish(workload, output, as_json, kind="dmr", seed=seed, options={**options, **times._asdict()}, found=found)
