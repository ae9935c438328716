"""How fast each kernel of a tile algorithm runs on each class of resource: a table with its sources.

The table is for the parts that the experiments with DADA used: cores of an Intel Xeon X5650, and NVIDIA Tesla C2050
(Fermi) GPUs, in double precision, on tiles of 512 x 512. A kernel's rate is a peak times an efficiency.

Peaks:
    X5650, one core: 2.66 GHz x 4 operations a cycle = 10.64 Gflop/s. C2050: 448 cores x 1.15 GHz = 515.2 Gflop/s
    (data sheets).
Efficiency published:
    GEMM on a C2050 reaches up to 300 Gflop/s, 58 % of the peak (Nath, Tomov, Dongarra: "An improved MAGMA GEMM for
    Fermi GPUs", UT-CS-10-655, 2010).
Efficiencies assumed:
    All others. They follow what is common to published measurements of hybrid kernels: matrix products come close to
    the peak on both classes, solves and updates of panels reach about half of that on a GPU, and the factorisation of a
    single tile, which is sequential at heart, is little faster on a GPU than on a few cores. They are not measurements
    of that machine. `batdispatch generate tiles --rates FILE` takes other ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from batdispatch.core.errors import InputError
from batdispatch.inputs.files import read_all

#: Class of resource -> Gflop/s at best.
PEAKS = {"cpu": 10.64, "gpu": 515.2}
#: Kernel -> class -> share of the peak.
EFFICIENCIES: Mapping[str, Mapping[str, float]] = {
    "GEMM": {"cpu": 0.90, "gpu": 0.58},
    "SYRK": {"cpu": 0.85, "gpu": 0.45},
    "TRSM": {"cpu": 0.80, "gpu": 0.25},
    "POTRF": {"cpu": 0.65, "gpu": 0.06},
    "GETRF": {"cpu": 0.65, "gpu": 0.06},
    "GEQRT": {"cpu": 0.55, "gpu": 0.05},
    "UNMQR": {"cpu": 0.70, "gpu": 0.30},
    "TSQRT": {"cpu": 0.55, "gpu": 0.06},
    "TSMQR": {"cpu": 0.70, "gpu": 0.35},
}
#: Kernel -> class -> Gflop/s.
RATES: Mapping[str, Mapping[str, float]] = {
    kernel: {name: round(PEAKS[name] * share, 3) for name, share in shares.items()}
    for kernel, shares in EFFICIENCIES.items()
}

#: Largest rate accepted, in Gflop/s.
MAX_RATE = 1e9


def read_rates(path: str | Path) -> dict[str, dict[str, float]]:
    """Return the table in a JSON file, Gflop/s: ``{"GEMM": {"cpu": 9.6, "gpu": 300}, ...}``.

    Raises:
        InputError: the file cannot be read, or is no such table.
    """
    content, _ = read_all(path)
    try:
        table: Any = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise InputError(f"is no JSON: {problem}", source=str(path)) from None
    if type(table) is not dict or not table:
        raise InputError('expected an object such as {"GEMM": {"cpu": 9.6, "gpu": 300}}', source=str(path))
    for kernel, rates in table.items():
        if type(rates) is not dict or not rates:
            raise InputError('expected an object such as {"cpu": 9.6, "gpu": 300}', source=str(path), place=kernel)
        for name, rate in rates.items():
            if type(rate) not in (int, float) or not 0 < rate <= MAX_RATE:
                raise InputError(
                    f"found {str(rate)[:60]}, expected Gflop/s above 0 and up to {MAX_RATE:g}",
                    source=str(path),
                    place=f"{kernel}.{name}",
                )
    return table
