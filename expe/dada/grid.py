"""What is run: factorisations, numbers of GPUs, and rows of dispatchers with their options."""

from __future__ import annotations

from typing import Any, NamedTuple

#: Sides of the matrix and of a tile, as in the slides and in PLASMA's usual tiles for such GPUs.
SIZE, TILE = 8192, 512
#: Factorisation -> numbers of GPUs. The slides' case has them all.
GPUS = {"cholesky": (1, 2, 3, 4, 5, 6, 7, 8), "lu": (1, 4, 8), "qr": (1, 4, 8)}


class Row(NamedTuple):
    """A dispatcher with its options; one whose choices are random is run with several seeds."""

    dispatcher: str
    options: dict[str, Any]
    seeds: int = 1


def dada(alpha: float, *, communication: bool = False) -> Row:
    """Return DADA(alpha), or DADA(alpha) + CP."""
    return Row("dada", {"alpha": str(alpha), "communication": str(communication).lower()})


#: Row of the comparison -> what is run.
ROWS = {
    "HEFT": Row("heft", {}),
    "HEFT, copies hold": Row("heft", {"hold": "true"}),
    "DADA(0)": dada(0.0),
    "DADA(0.5)": dada(0.5),
    "DADA(0.5) + CP": dada(0.5, communication=True),
    "work stealing, local": Row("work-stealing", {}),
    "work stealing": Row("work-stealing", {"locality": "false"}),
}
ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)
#: Factorisations of the sweep over alpha, and its number of GPUs.
SWEEP = ("cholesky", "lu")
SWEEP_GPUS = 8
