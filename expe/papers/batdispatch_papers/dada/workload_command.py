"""``batdispatch generate tiles``: factorisations of dense matrices as graphs of tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from batdispatch.cli.generate import GeneratedWorkload, kind_command
from batdispatch.core.line.settings import Form
from batdispatch.inputs.generator_options import fields_of


class TileOptions(msgspec.Struct, frozen=True, kw_only=True):
    """A factorisation.

    kernel: Factorise a matrix in this way. cholesky: Cholesky. lu: LU without pivoting. qr: QR.
    size: Factorise a matrix with N rows and N columns. N is a multiple of --tile, and at most 128 times as large.
    tile: Cut the matrix into tiles of N rows and N columns (1 to 65,536).
    inner: Give QR's triangular factors N rows per tile (1 to --tile).
    rates: Read the speed of each kernel on each class of hosts, in Gflop/s, from this file, such as {"GEMM": {"cpu":
        9.6, "gpu": 300}}. The default is the table of Xeon X5650 cores and Tesla C2050 GPUs in
        batdispatch_papers/dada/rates.py.
    """

    kernel: Literal["cholesky", "lu", "qr"]
    size: Annotated[int, Form("N")]
    tile: Annotated[int, Form("N")] = 512
    inner: Annotated[int, Form("N")] = 128
    rates: Annotated[Path | None, Form("R.json")] = None


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
