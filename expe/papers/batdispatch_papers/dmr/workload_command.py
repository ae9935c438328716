"""``batdispatch generate dmr``: the workloads with which DMR was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from batdispatch.cli.generate import finish, output_options
from batdispatch.cli.groups import Command, option


@click.command(cls=Command, short_help="Malleable applications that arrive at random.")
@output_options
@option(
    "--jobs",
    metavar="N",
    type=int,
    default=50,
    show_default=True,
    help="Generate this many jobs (1 to 1,000,000). The paper has 50 to 400.",
)
@option(
    "--hosts",
    metavar="N",
    type=int,
    default=64,
    show_default=True,
    help="Generate the jobs for a machine of this many hosts. It must have as many as the largest application runs on.",
)
@option(
    "--applications",
    metavar="NAME,...",
    default="cg,jacobi,n-body",
    show_default=True,
    help="Draw each job's application from these: cg, jacobi, n-body, fs. An application that is "
    "named twice comes twice as often.",
)
@option(
    "--share",
    type=float,
    default=1.0,
    show_default=True,
    help="Make this share of the jobs malleable (0 to 1). With 0, the same jobs are all rigid.",
)
@option(
    "--gap",
    metavar="SECONDS",
    type=float,
    default=10.0,
    show_default=True,
    help="Let this much time pass between two arrivals on average (0.001 to 1,000,000 s).",
)
@option(
    "--runtime",
    metavar="SECONDS",
    type=float,
    default=200.0,
    show_default=True,
    help="Let cg and jacobi run for this long on 32 hosts (0.001 to 1,000,000 s).",
)
@option(
    "--scalability",
    metavar="TEXT",
    default="power:0.7",
    show_default=True,
    help="Let the speed of cg and jacobi depend on their size in this way: linear, power:EXPONENT, "
    "amdahl:SERIAL or table:UNITS=SECONDS,...",
)
@option(
    "--nbody-runtime",
    metavar="SECONDS",
    type=float,
    default=1200.0,
    show_default=True,
    help="Let n-body run for this long on 16 hosts (0.001 to 1,000,000 s).",
)
@option(
    "--nbody-scalability",
    metavar="TEXT",
    default="power:0",
    show_default=True,
    help="Let the speed of n-body depend on its size in this way, written as for --scalability.",
)
@option(
    "--fs-runtime",
    metavar="SECONDS",
    type=float,
    default=60.0,
    show_default=True,
    help="Let fs run for this long on average, on the size at which it is submitted (0.001 to 1,000,000 s).",
)
@option(
    "--walltime-factor",
    metavar="FACTOR",
    type=float,
    help="Give each job a walltime: FACTOR times (1 to 1,000) its run time on its slowest size, "
    "and a minute for resizes. By default, jobs have no walltime.",
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

    from batdispatch_papers.dmr.workload import Times, dmr

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
