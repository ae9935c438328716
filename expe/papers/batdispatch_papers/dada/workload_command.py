"""``batdispatch generate tiles``: factorisations of dense matrices as graphs of tasks."""

from __future__ import annotations

from batdispatch.cli.generate import GeneratedWorkload, kind_command
from batdispatch.inputs.generator_options import fields_of
from batdispatch_papers.dada.workload_options import TileOptions


@kind_command(
    "tiles", TileOptions, draws=False, summary="Factorisations of matrices: tasks with dependencies and data."
)
def command(model: TileOptions) -> GeneratedWorkload:
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
    stated = {**fields_of(model), "rates": dict(table)}
    found = {
        "dependencies": sum(len(job.request.dependencies) for job in workload.jobs),
        "flops": sum(job.extra["flops"] for job in workload.jobs),
    }
    return GeneratedWorkload(workload, stated, found)
