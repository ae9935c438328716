"""``batdispatch generate esp``: the job mix of the ESP-2 benchmark, with and without GPUs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from batdispatch.cli.generate import finish, output_options
from batdispatch.cli.groups import Choice, Command, option

if TYPE_CHECKING:
    from batdispatch_papers.esp.workload import ZRule


@click.command(cls=Command, short_help="The job mix of the ESP-2 benchmark, with and without GPUs.")
@output_options
@option(
    "--platform",
    metavar="P.xml",
    type=click.Path(),
    help="Fill this machine, a SimGrid platform. By default, the machine has --hosts nodes with "
    "--cores and --gpus each.",
)
@option("--hosts", type=click.IntRange(1, 1_000_000), help="Fill a machine of this many nodes. The default is 1024.")
@option("--cores", type=click.IntRange(1, 1_000_000), help="Give each node this many cores. The default is 8.")
@option(
    "--gpus",
    type=click.IntRange(0, 1_000_000),
    help="Give each node this many GPUs. With GPUs each job comes twice, once without and once "
    "with GPUs; with 0 it comes once. The default is 2.",
)
@option(
    "--spread",
    metavar="SECONDS",
    type=float,
    default=10_800.0,
    show_default=True,
    help="Submit the jobs at an even pace over this time (0 to 31,536,000 s, a year). 0 submits "
    "all of them at the start.",
)
@option(
    "--walltime-factor",
    type=float,
    default=1.5,
    show_default=True,
    help="Give each job a walltime of this many times its run time (1 to 1,000).",
)
@option(
    "--gpu-cores-per-node",
    metavar="N",
    type=int,
    default=0,
    show_default=True,
    help="Let a job with GPUs ask for one node for each N of its cores. 0 lets it use any number of nodes.",
)
@option(
    "--z-rule",
    type=Choice(["ordinary", "alone"]),
    default="ordinary",
    show_default=True,
    help="Choose how jobs that want the whole machine are treated. ordinary: like any other job. "
    "alone: no job that was submitted later starts before such a job has ended.",
)
def command(
    output: Path,
    seed: int,
    as_json: bool,
    platform: str | None,
    hosts: int | None,
    cores: int | None,
    gpus: int | None,
    spread: float,
    walltime_factor: float,
    gpu_cores_per_node: int,
    z_rule: ZRule,
) -> None:
    """The job mix of the ESP-2 benchmark on CPU-GPU nodes (Soner and Ozturan, 2012).

    14 types of jobs in random order, from a thirty-second of the machine to all of it. Each job comes twice: with cores
    alone, and with all GPUs of each node that it uses.

    \b
    Examples:
      batdispatch platform generate esp -o esp.xml
      batdispatch generate esp -o W.json --seed 1
      batdispatch generate esp -o W.json --seed 1 --platform esp.xml --spread 0 --gpu-cores-per-node 4
    """
    import numpy as np

    from batdispatch.core.machine.machine import Machine
    from batdispatch.inputs.platforms import read_platform
    from batdispatch_papers.esp.workload import esp, machine_seconds

    described: dict[str, Any]
    if platform is not None:
        if not hosts is cores is gpus is None:
            raise click.UsageError("--platform says what --hosts, --cores and --gpus would say: give one of the two")
        machine = read_platform(Path(platform)).machine
        described = {"platform": Path(platform).name}
    else:
        described = {
            "hosts": 1024 if hosts is None else hosts,
            "cores": 8 if cores is None else cores,
            "gpus": 2 if gpus is None else gpus,
        }
        machine = Machine.flat(described["hosts"], "core={cores} gpu={gpus}".format(**described))
    options: dict[str, Any] = {
        "spread": spread,
        "walltime_factor": walltime_factor,
        "gpu_cores_per_node": gpu_cores_per_node,
        "z_rule": z_rule,
    }
    workload = esp(np.random.default_rng(seed), machine, **options)
    found = {"machine_seconds": machine_seconds(workload, machine)}
    finish(workload, output, as_json, kind="esp", seed=seed, options={**described, **options}, found=found)
