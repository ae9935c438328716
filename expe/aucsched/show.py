"""Tables of the page: what the dispatchers make of the jobs, and how large IPSCHED's program is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from batdispatch.abilities.solvers.auction.groups import classes, single_nodes
from batdispatch.abilities.solvers.auction.problem import Problem
from batdispatch.abilities.solvers.auction.program import Program
from batdispatch.core.errors import SimulationError
from batdispatch.core.jobs.fields import read_request
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.events import JobSubmitted, SimulationBegins
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Host, Machine
from expe.common.tables import interval, table

HOUR = 3600.0
#: Free cores of a node; every node has 2 GPUs.
FREE = (8, 6, 4)
#: Jobs and nodes of the windows of which programs are built, and those of the quick version.
SIZES = ((10, 64), (50, 64), (200, 64), (50, 256))
QUICK_SIZES = SIZES[:2]
#: Metric -> heading, and digits behind the point.
MEANS = {
    "utilisation_core": ("utilisation of the cores", 3),
    "fragmentation": ("fragmentation", 2),
    "wait": ("wait (h)", 2),
    "mean_slowdown": ("slowdown", 2),
}


def columns(row: Mapping[str, Any], run: Path) -> dict[str, float]:
    """Return the mean wait of a run, h.

    Raises:
        SimulationError: a job did not end by itself.
    """
    if row["nb_jobs_success"] != row["workload.jobs"]:
        raise SimulationError(f"{run}: a job did not end by itself")
    return {"wait": row["mean_waiting_time"] / HOUR}


def window(jobs: int, nodes: int) -> Problem:
    """Return a window of jobs that any nodes can take, every other one with 2 GPUs on each node that it uses."""
    rng = np.random.default_rng(0)
    hosts = [
        Host(id=index, name=f"n{index}", properties={"capacity": f"core={FREE[index % len(FREE)]} gpu=2"})
        for index in range(nodes)
    ]
    ledger = Ledger(SimulationBegins(time=0.0, machine=Machine(hosts)))
    listed = []
    for number in range(jobs):
        more: dict[str, Any] = {"per_node": {"gpu": 2}} if number % 2 else {}
        # All of them ask for something else: equal jobs have constraints of their own on the order in which they start.
        job = Job(
            id=f"w!{number}", request=read_request(int(rng.integers(1, 4 * nodes)), {"demand": {"core": 1}, **more})
        )
        ledger.apply_submitted(JobSubmitted(time=0.0, job=job))
        listed.append((job, jobs - number))
    return Problem(ledger, listed)


def others(out: Path, quick: bool) -> list[dict[str, Any]]:
    """Return a row for each size of a window: variables and constraints of the slides, and of both of our programs."""
    found = []
    for jobs, nodes in QUICK_SIZES if quick else SIZES:
        problem = window(jobs, nodes)
        everyone = range(jobs)
        grouped = classes(problem, everyone)
        single = Program(problem, everyone, [node for group in grouped for node in single_nodes(group)]).size()
        by_class = Program(problem, everyone, grouped).size()
        slides = (2 * jobs * (1 + nodes), 2 * (jobs + 2 * nodes + jobs * nodes))
        found.append(
            {
                "part": "sizes",
                "workload.window": f"{jobs} x {nodes}",
                "sizes": (jobs, nodes, slides, single, by_class),
                "variables_ratio": single[0] / slides[0],
                "constraints_ratio": single[1] / slides[1],
            }
        )
    return found


def dispatchers_table(found: pd.DataFrame) -> str:
    """Return the means of each dispatcher over the seeds."""
    lines = []
    for name, runs in found.groupby("dispatcher", sort=False):
        shown = [interval(list(runs[metric]), digits) for metric, (_, digits) in MEANS.items()]
        lines.append([str(name), *shown, f"{runs['cpu_seconds'].mean():.1f}"])
    return table(["", *(heading for heading, _ in MEANS.values()), "CPU s"], lines)


def sizes_table(found: pd.DataFrame) -> str:
    """Return the sizes of the programs: the slides' formulas, our program over nodes, and that over classes."""
    lines = []
    for jobs, nodes, slides, single, by_class in found["sizes"]:
        lines.append([f"{value:,}" for value in (jobs, nodes, *slides, *single, *by_class)])
    head = [
        f"{what}, {whose}"
        for whose in ("slides", "over nodes", "over classes")
        for what in ("variables", "constraints")
    ]
    return table(["jobs n", "nodes m", *head], lines, 0)


SECTIONS: dict[str, tuple[str, Callable[[pd.DataFrame], str]]] = {
    "dispatchers": ("random", dispatchers_table),
    "sizes": ("sizes", sizes_table),
}
PICTURES: dict[str, Any] = {}
