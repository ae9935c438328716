"""``batdispatch generate tiles``: factorisations of dense matrices as graphs of tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from batdispatch.cli.generate import finish, unseeded_options
from batdispatch.cli.groups import Choice, Command, option


@click.command(cls=Command, short_help="Factorisations of matrices: tasks with dependencies and data.")
@unseeded_options
@option(
    "--kernel",
    type=Choice(["cholesky", "lu", "qr"]),
    required=True,
    help="Factorise a matrix in this way. cholesky: Cholesky. lu: LU without pivoting. qr: QR.",
)
@option(
    "--size",
    metavar="N",
    type=int,
    required=True,
    help="Factorise a matrix with N rows and N columns. N is a multiple of --tile, and at most 128 times as large.",
)
@option(
    "--tile",
    metavar="N",
    type=int,
    default=512,
    show_default=True,
    help="Cut the matrix into tiles of N rows and N columns (1 to 65,536).",
)
@option(
    "--inner",
    metavar="N",
    type=int,
    default=128,
    show_default=True,
    help="Give QR's triangular factors N rows per tile (1 to --tile).",
)
@option(
    "--rates",
    metavar="R.json",
    type=click.Path(path_type=Path),
    help="Read the speed of each kernel on each class of hosts, in Gflop/s, from this file, such "
    'as {"GEMM": {"cpu": 9.6, "gpu": 300}}. The default is the table of Xeon X5650 cores and '
    "Tesla C2050 GPUs in batdispatch_papers/dada/rates.py.",
)
def command(output: Path, as_json: bool, kernel: str, size: int, tile: int, inner: int, rates: Path | None) -> None:
    """Tile algorithms of PLASMA: each call of a kernel is a job that depends on others and names its data.

    The profile of a job is its run time on a CPU core. Dispatchers of tasks choose between CPUs and GPUs.

    \b
    Example:
      batdispatch generate tiles --kernel cholesky --size 8192 --tile 512 -o W.json
    """
    from batdispatch_papers.dada.rates import RATES, read_rates
    from batdispatch_papers.dada.workload import tiles

    table = RATES if rates is None else read_rates(rates)
    workload = tiles(kernel, size=size, tile=tile, inner=min(inner, tile), rates=table)
    options: dict[str, Any] = {"kernel": kernel, "size": size, "tile": tile, "inner": inner, "rates": dict(table)}
    found = {
        "dependencies": sum(len(job.request.dependencies) for job in workload.jobs),
        "flops": sum(job.extra["flops"] for job in workload.jobs),
    }
    finish(workload, output, as_json, kind="tiles", seed=None, options=options, found=found)
