"""Workloads of tile algorithms: each call of a kernel is a job that depends on others and names its data.

A job has one unit. Beyond Batsim's own fields it says ``dependencies`` (read-after-write and write-after-read edges),
``runtimes`` (seconds on each class of resource), ``reads`` and ``writes`` (name of each datum and its size in bytes),
``flops``, and the kernel as its ``name``. Its profile is a delay of its run time on a CPU core, so any simulator and
any dispatcher can run the workload; dispatchers that know tasks choose the class, and register the profile that fits.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.fields import read_request
from batdispatch.core.jobs.job import Job
from batdispatch.inputs.workloads.model import Workload
from batdispatch_papers.dada.graphs import FACTORS, GRAPHS, Tile, edges_of
from batdispatch_papers.dada.rates import RATES

#: Most tiles a side: a graph has about a sixth of their cube as tasks (a third for LU and QR).
MAX_TILES = 128
#: Largest side of a tile.
MAX_TILE = 65_536
#: Bytes of a number in double precision.
DOUBLE = 8
#: Class whose run time is the profile's.
PLAIN_CLASS = "cpu"


def tiles(
    graph: str,
    *,
    size: int,
    tile: int,
    inner: int = 128,
    rates: Mapping[str, Mapping[str, float]] = RATES,
) -> Workload:
    """Return a factorisation of a matrix as a workload. All jobs are submitted at the start.

    Args:
        graph: one of `tile_graphs.GRAPHS`.
        size: side of the matrix, a multiple of `tile`.
        tile: side of a tile.
        inner: rows of QR's triangular factors (PLASMA's inner block), at most `tile`; they are data of
            ``inner * tile * 8`` bytes.
        rates: kernel -> class of resource -> Gflop/s.

    Raises:
        InputError: an argument is out of range, or a kernel has no rate on CPU cores.
    """
    if graph not in GRAPHS:
        raise InputError(f"{graph!r}, expected one of {', '.join(GRAPHS)}", source="option --kernel")
    if not 1 <= tile <= MAX_TILE:
        raise InputError(f"{tile}, expected 1 to {MAX_TILE:,}", source="option --tile")
    if size < tile or size % tile or size // tile > MAX_TILES:
        raise InputError(
            f"{size}, expected a multiple of the tile's side {tile}, at most {MAX_TILES} tiles", source="option --size"
        )
    if not 1 <= inner <= tile:
        raise InputError(f"{inner}, expected 1 to the tile's side {tile}", source="option --inner")
    calls = list(GRAPHS[graph](size // tile, tile))
    width = len(str(len(calls)))
    names = [f"{rank:0{width}d}-{'-'.join([call.kernel, *map(str, call.at)])}" for rank, call in enumerate(calls, 1)]

    def sizes(data: tuple[Tile, ...]) -> dict[str, int]:
        return {one.name: (inner if one.matrix == FACTORS else tile) * tile * DOUBLE for one in data}

    jobs, profiles = [], {}
    for name, call, edges in zip(names, calls, edges_of(calls), strict=True):
        runtimes = _runtimes(call.kernel, call.flops, rates)
        # TRSM of LU has two numbers of operations.
        profile = f"{call.kernel}-{call.flops}"
        profiles[profile] = {"type": "delay", "delay": runtimes[PLAIN_CLASS]}
        extra: dict[str, Any] = {"name": call.kernel, "runtimes": runtimes, "flops": call.flops}
        extra |= {"reads": sizes(call.reads), "writes": sizes(call.writes)}
        waits_for = sorted({*edges.raw, *edges.war})
        if waits_for:
            extra["dependencies"] = [names[index] for index in waits_for]
        jobs.append(Job(id=name, request=read_request(1, extra), profile=profile, extra=extra))
    return Workload(path=Path(graph), name=graph, nb_res=1, jobs=jobs, profiles=profiles)


def _runtimes(kernel: str, flops: int, rates: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the seconds of a call on each class, in whole microseconds, at least one."""
    if PLAIN_CLASS not in rates.get(kernel, {}):
        raise InputError(f"has no rate of kernel {kernel} on class {PLAIN_CLASS}", source="option --rates")
    return {name: max(round(flops / (rate * 1e9), 6), 1e-6) for name, rate in rates[kernel].items()}
