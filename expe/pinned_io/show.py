"""What the page shows: plans and their bounds, which are no runs of the campaign, and what pinned jobs wait for."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from batdispatch.abilities.campaigns.statistics.student import half_width
from batdispatch.abilities.solvers.pinned_io.planning import plan
from batdispatch.abilities.solvers.solving import Limits
from batdispatch.core.errors import SimulationError
from batdispatch.inputs.files import write_whole
from batdispatch.report import style
from expe.common.tables import interval, table
from expe.pinned_io.draw import draw

#: Nodes of the line on which batches are planned.
NODES = 200
#: Numbers of jobs in a batch, largest sizes of jobs (nodes), and seeds; and those of the quick version.
JOBS, LARGEST, SEEDS = (25, 50, 100, 200, 400, 800, 1600), (8, 32, 128), 10
QUICK_JOBS, QUICK_SEEDS = (25, 50, 100, 200), 3
LIMITS = Limits(work=1_000_000, wall=3600.0)
HOUR = 3600.0
#: The rows that the picture shows.
DRAWN = ("pinned-io", "all jobs in a batch", "without filling", "easy, ranges", "easy, local", "easy, anywhere")
#: Ratios of a batch: heading and column.
RATIOS = {
    "load / bound, rounded": "rounded",
    "levelled": "levelled",
    "colours / load": "coloured",
    "makespan / load": "packed",
    "makespan / bound": "whole",
}


def columns(row: Mapping[str, Any], run: Path) -> dict[str, float]:
    """Return times in hours, the number of plans, and what no plan of the first batch undercuts, in hours.

    Raises:
        SimulationError: a job was rejected.
    """
    if row["rejected"]:
        raise SimulationError(f"{run}: {row['rejected']} jobs were rejected")
    notes = run / "solver.jsonl"
    plans = [json.loads(line) for line in notes.read_text().splitlines()] if notes.exists() else []
    return {
        "wait": row["mean_waiting_time"] / HOUR,
        "hours": row["makespan"] / HOUR,
        "plans": len(plans),
        "bound": plans[0]["bound"] / HOUR if plans else math.nan,
    }


def others(out: Path, quick: bool) -> list[dict[str, Any]]:
    """Plan a batch of each number of jobs and each largest size, for each seed, and return what came of each.

    ``rounded`` and ``levelled`` are the largest load over the bound of the linear program; ``coloured`` and ``packed``
    the three colours one after the other, and the makespan, over the largest load; ``whole`` the makespan over what no
    plan undercuts: the bound of the program, or the longest job; ``bound`` that of the program, h.

    Raises:
        SimulationError: a plan does not keep its bounds.
    """
    rows: list[dict[str, Any]] = []
    jobs_of, seeds = (QUICK_JOBS, QUICK_SEEDS) if quick else (JOBS, SEEDS)
    for largest, jobs, seed in product(LARGEST, jobs_of, range(seeds)):
        case = draw(np.random.default_rng(seed), jobs=jobs, largest=largest, nodes=NODES)
        made, plain = (
            plan(np.zeros(NODES), case.ranges, case.durations, LIMITS, level=level) for level in (True, False)
        )
        for one in (made, plain):
            bounds = (one.largest_load / one.lp_bound / 2, one.makespan / one.largest_load / 3)
            if not one.shares.optimal or max(bounds) > 1 + 1e-6:
                raise SimulationError(f"{jobs} jobs of up to {largest} nodes, seed {seed}: beyond its bounds")
        rows.append(
            {
                "part": "plans",
                "workload": "fewer batches" if quick else "batches",
                "workload.jobs": jobs,
                "workload.largest": largest,
                "workload.seed": seed,
                "rounded": plain.largest_load / plain.lp_bound,
                "levelled": made.largest_load / made.lp_bound,
                "coloured": made.stacked / made.largest_load,
                "packed": made.makespan / made.largest_load,
                "whole": made.makespan / made.bound,
                "bound": made.lp_bound / HOUR,
            }
        )
    return rows


def plans_table(found: pd.DataFrame) -> str:
    """Return the ratios of batches, one line for each largest size and number of jobs."""
    lines = []
    for (largest, jobs), runs in found.groupby(["workload.largest", "workload.jobs"]):
        ratios = [interval(list(runs[metric]), 3) for metric in RATIOS.values()]
        worst = f"{runs['whole'].max():.3f}"
        lines.append([f"{largest:.0f}", f"{jobs:,.0f}", interval(list(runs["bound"]), 1), *ratios, worst])
    return table(["largest job (nodes)", "jobs", "bound (h)", *RATIOS, "worst"], lines, 2)


def runs_table(found: pd.DataFrame) -> str:
    """Return what every row did at every load."""
    head = ["load", "row", "wait (h)", "bounded slowdown", "utilisation", "makespan (h)", "plans"]
    head += ["load / bound", "makespan / load", "CPU s"]
    figures = [("wait", 2), ("mean_bounded_slowdown", 1), ("utilisation", 3), ("hours", 1)]
    lines = []
    for (load, label), runs in found.groupby(["workload.load", "dispatcher"], sort=False):
        told = [interval(list(runs[metric]), digits) for metric, digits in figures]
        ratios = [interval(list(runs[f"report.means.{metric}"]), 2) for metric in ("load_ratio", "length_ratio")]
        planned = [f"{runs['plans'].mean():,.0f}", *ratios] if runs["plans"].all() else ["", "", ""]
        lines.append([f"{load:g}", str(label), *told, *planned, f"{runs['cpu_seconds'].mean():.1f}"])
    return table(head, lines, 2)


def once_table(found: pd.DataFrame) -> str:
    """Return how far every row is from the bound where all jobs are there at the beginning."""
    # Only one row makes plans, and the jobs are the same for all.
    bounds = found.dropna(subset="bound").set_index("workload.seed")["bound"]
    lines = []
    for label, runs in found.groupby("dispatcher", sort=False):
        ratios = list(runs.set_index("workload.seed")["hours"] / bounds)
        told = [interval(list(runs[metric]), 1) for metric in ("hours", "wait")]
        lines.append([str(label), told[0], interval(ratios, 3), f"{max(ratios):.3f}", told[1]])
    return table(["row", "makespan (h)", "makespan / bound", "worst", "wait (h)"], lines)


def _curve(axes: Axes, places: Sequence[float], values: Sequence[Sequence[float]], **drawn: Any) -> None:
    """Draw means with 95 % confidence intervals."""
    widths = [half_width(those) for those in values]
    means = [float(np.mean(those)) for those in values]
    axes.errorbar(places, means, yerr=widths, marker="o", markersize=3.5, capsize=2.5, **drawn)


def plans_picture(path: Path, found: pd.DataFrame) -> None:
    """Draw the ratios of both phases by the number of jobs, a curve for each largest size."""
    sizes, jobs = (sorted(int(one) for one in found[f"workload.{name}"].unique()) for name in ("largest", "jobs"))
    with style.own_style():
        figure, (upper, lower) = style.new_figure(4.6, rows=2)
        for index, largest in enumerate(sizes):
            runs = found[found["workload.largest"] == largest]
            for axes, metric in ((upper, "levelled"), (lower, "whole")):
                values = [list(runs[runs["workload.jobs"] == count][metric]) for count in jobs]
                _curve(axes, jobs, values, label=f"to {largest} nodes", **style.series_style(index))
        for axes, label in ((upper, "largest load / bound"), (lower, "makespan / bound")):
            axes.set_xscale("log")
            axes.set_xticks(jobs, [f"{count:,}" for count in jobs])
            axes.minorticks_off()
            axes.set_ylabel(label)
            axes.set_ylim(bottom=1.0)
            axes.grid(visible=True, axis="y")
        placed = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2}
        upper.legend(**placed, ncols=len(sizes), columnspacing=1.2, handlelength=1.6)
        lower.set_xlabel("jobs of a batch on 200 nodes")
    write_whole(
        path, style.alone(figure, "ratio", "Largest load and makespan of plans over their bounds, by number of jobs")
    )


def runs_picture(path: Path, found: pd.DataFrame) -> None:
    """Draw the mean wait by load, a curve for each row that is shown."""
    loads = sorted(found["workload.load"].unique())
    with style.own_style():
        figure, (axes,) = style.new_figure(3.3)
        for index, label in enumerate(DRAWN):
            runs = found[found["dispatcher"] == label]
            values = [list(runs[runs["workload.load"] == load]["wait"]) for load in loads]
            # Beside each other, so that no interval hides another one.
            places = [load + 0.006 * (index - (len(DRAWN) - 1) / 2) for load in loads]
            _curve(axes, places, values, label=label, **style.series_style(index))
        axes.set_xticks(loads, [f"{load:g}" for load in loads])
        axes.set_xlabel("load of the compute nodes")
        axes.set_ylabel("mean wait (h)")
        axes.set_yscale("log")
        axes.set_yticks([1, 2, 5, 10, 20, 40], ["1", "2", "5", "10", "20", "40"])
        axes.minorticks_off()
        axes.grid(visible=True, axis="y")
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, ncols=2)
    write_whole(path, style.alone(figure, "wait", "Mean wait of pinned jobs by load"))


SECTIONS = {"plans": ("plans", plans_table), "once": ("once", once_table), "runs": ("runs", runs_table)}
PICTURES = {"ratio.svg": ("plans", plans_picture), "wait.svg": ("runs", runs_picture)}
