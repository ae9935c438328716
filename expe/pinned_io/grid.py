"""What is planned and run: batches of jobs at I/O nodes, and a machine that serves pinned jobs as they come."""

from __future__ import annotations

from batdispatch.runs.grid import Cell

#: Nodes of the line on which batches are planned.
NODES = 200
#: Numbers of jobs in a batch, and the largest sizes of jobs, nodes.
JOBS = (25, 50, 100, 200, 400, 800, 1600)
LARGEST = (8, 32, 128)

#: Routers of the torus with one host each, and how many of these are I/O nodes.
DIMS = (8, 8, 4)
IO = 16
#: Loads of the compute nodes, and jobs of a workload.
LOADS = (0.5, 0.7, 0.9)
COUNT = 600

#: A range of compute nodes on the snake, one of them within one link of the I/O node: nearly what pinned-io asks for.
RANGES = {"placement": "contiguous[order=snake]+local"}
#: What serves jobs as they come. The placement local asks for a node within one link of the I/O node, and no range.
CELLS = {
    "pinned-io": Cell(dispatcher="pinned-io"),
    "all jobs in a batch": Cell(dispatcher="pinned-io", options={"window": "inf"}),
    "without filling": Cell(dispatcher="pinned-io", options={"fill": "false"}),
    "line=hilbert": Cell(dispatcher="pinned-io", options={"line": "hilbert"}),
    "line=row-major": Cell(dispatcher="pinned-io", options={"line": "row-major"}),
    "easy, ranges": Cell(dispatcher="easy", options=RANGES),
    "easy, local": Cell(dispatcher="easy", options={"placement": "local"}),
    "easy, anywhere": Cell(dispatcher="easy"),
}
#: The rows that the picture shows.
DRAWN = ("pinned-io", "all jobs in a batch", "without filling", "easy, ranges", "easy, local", "easy, anywhere")
#: What serves jobs that are all there at the beginning.
ONCE = {label: CELLS[label] for label in ("all jobs in a batch", "easy, ranges", "easy, local", "easy, anywhere")}
ONCE["easy, ranges, longest first"] = Cell(dispatcher="easy", options={**RANGES, "ordering": "ljf"})
