"""``batdispatch generate tiles``: factorisations of dense matrices as graphs of tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from batdispatch.cli.generate import finish, unseeded_options
from batdispatch.cli.groups import Command
from batdispatch.cli.options import options
from batdispatch.inputs.generator_options import fields_of
from batdispatch_papers.dada.workload_options import TileOptions


@click.command(cls=Command, short_help="Factorisations of matrices: tasks with dependencies and data.")
@unseeded_options
@options(TileOptions)
def command(model: TileOptions, output: Path, as_json: bool) -> None:
    """Tile algorithms of PLASMA: each call of a kernel is a job that depends on others and names its data.

    The profile of a job is its run time on a CPU core. Dispatchers of tasks choose between CPUs and GPUs.

    \b
    Example:
      batdispatch generate tiles --kernel cholesky --size 8192 --tile 512 -o W.json
    """
    from batdispatch_papers.dada.rates import RATES, read_rates
    from batdispatch_papers.dada.workload import tiles

    table = RATES if model.rates is None else read_rates(model.rates)
    inner = min(model.inner, model.tile)
    workload = tiles(model.kernel, size=model.size, tile=model.tile, inner=inner, rates=table)
    stated: dict[str, Any] = {**fields_of(model), "rates": dict(table)}
    found = {
        "dependencies": sum(len(job.request.dependencies) for job in workload.jobs),
        "flops": sum(job.extra["flops"] for job in workload.jobs),
    }
    finish(workload, output, as_json, kind="tiles", seed=None, options=stated, found=found)
