"""Factorisations of matrices, as people state them; nothing large is imported, so that help is quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from batdispatch.core.line.settings import Form


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
