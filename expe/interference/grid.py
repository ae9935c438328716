"""What is run: placements under EASY, with jobs that communicate on a torus whose routers have two nodes each."""

from __future__ import annotations

from typing import Any

from batdispatch.runs.grid import Cell

#: The torus: size of each dimension, I/O nodes, bandwidth of every link.
DIMS, IO_NODES, BANDWIDTH = (6, 6, 4), 16, "1GBps"
#: Jobs of a workload, and the part of the machine that the largest ones want.
JOBS, LARGEST = 300, 0.125
#: Workload -> its load, and how its traffic differs. In the second one, half of the jobs write to an I/O node that they
#: are pinned to. In the third one, jobs compute for longer than they send, so that shared links hardly matter, and
#: take half their nominal run time.
WORKLOADS: dict[str, tuple[float, dict[str, Any]]] = {
    "messages": (0.6, {}),
    "messages and I/O": (0.6, {"io_share": 0.5}),
    "few messages": (2.0, {"intensity": 0.1}),
}

#: Row of the tables -> placement.
PLACEMENTS = {
    "first fit": "first-fit",
    "contiguous": "contiguous",
    "contiguous (Hilbert)": "contiguous[order=hilbert]",
    "connected": "connected",
    "compact": "compact",
    "convex": "convex",
    "convex (routers)": "convex[rule=routers]",
    "local": "local",
    "convex + local": "convex+local",
}
#: Rows that mean nothing where no job writes.
FOR_IO = ("local", "convex + local")
#: The row that others are compared with, and the one that must keep its promise.
BASE, PROMISED = "first fit", "convex"
#: A job counts as slowed by others beyond this stretch.
SLOWED = 1.02


def cell(placement: str) -> Cell:
    """Return EASY with a placement."""
    return Cell(dispatcher="easy", options={"placement": placement})


def rows(workload: str) -> dict[str, Cell]:
    """Return the rows of a workload."""
    return {
        row: cell(placement)
        for row, placement in PLACEMENTS.items()
        if row not in FOR_IO or "io_share" in WORKLOADS[workload][1]
    }
