"""Tables and pictures of what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from grid import CELLS, DRAWN
from matplotlib.axes import Axes

from batdispatch.inputs.files import write_whole
from batdispatch.results.report import style
from batdispatch.runs.over_seeds import half_width, interval, table


class Planned(NamedTuple):
    """What came of one batch."""

    #: Largest load over the bound of the linear program: as rounded, and levelled.
    rounded: float
    levelled: float
    #: Over the largest load: the three colours one after the other, and the makespan.
    coloured: float
    packed: float
    #: Makespan over what no plan undercuts: the bound of the program, or the longest job.
    whole: float
    #: The bound of the program, h.
    bound: float


class Served(NamedTuple):
    """What came of one run. Times in hours."""

    wait: float
    slowdown: float
    utilisation: float
    makespan: float
    #: Number of plans, and means over these of load over bound and of makespan over load.
    plans: int
    load_ratio: float
    length_ratio: float
    #: What no plan of the first batch undercuts.
    bound: float
    cpu: float


def column(runs: Sequence[Planned] | Sequence[Served], metric: str) -> list[float]:
    """Return a metric of each run."""
    return [float(getattr(run, metric)) for run in runs]


def plans_table(found: Mapping[tuple[int, int], Sequence[Planned]]) -> str:
    """Return the ratios of batches, one line for each largest size and number of jobs."""
    head = ["largest job (nodes)", "jobs", "bound (h)", "load / bound, rounded", "levelled", "colours / load"]
    head += ["makespan / load", "makespan / bound", "worst"]
    rows = []
    for (largest, jobs), runs in found.items():
        ratios = [
            interval(column(runs, metric), 3) for metric in ("rounded", "levelled", "coloured", "packed", "whole")
        ]
        worst = f"{max(column(runs, 'whole')):.3f}"
        rows.append([str(largest), f"{jobs:,}", interval(column(runs, "bound"), 1), *ratios, worst])
    return table(head, rows, 2)


def runs_table(found: Mapping[float, Mapping[str, Sequence[Served]]]) -> str:
    """Return what every cell did at every load."""
    head = ["load", "row", "wait (h)", "bounded slowdown", "utilisation", "makespan (h)", "plans"]
    head += ["load / bound", "makespan / load", "CPU s"]
    rows = []
    for load, cells in found.items():
        for label, runs in cells.items():
            figures = [("wait", 2), ("slowdown", 1), ("utilisation", 3), ("makespan", 1)]
            told = [interval(column(runs, metric), digits) for metric, digits in figures]
            ratios = [interval(column(runs, metric), 2) for metric in ("load_ratio", "length_ratio")]
            planned = [f"{np.mean(column(runs, 'plans')):,.0f}", *ratios] if runs[0].plans else ["", "", ""]
            rows.append([f"{load:g}", label, *told, *planned, f"{np.mean(column(runs, 'cpu')):.1f}"])
    return table(head, rows, 2)


def once_table(found: Mapping[str, Sequence[Served]]) -> str:
    """Return how far every cell is from the bound where all jobs are there at the beginning."""
    # Only one row makes plans, and the jobs are the same for all.
    bounds = next(column(runs, "bound") for runs in found.values() if runs[0].plans)
    rows = []
    for label, runs in found.items():
        ratios = [run.makespan / bound for run, bound in zip(runs, bounds, strict=True)]
        told = [interval(column(runs, metric), digits) for metric, digits in (("makespan", 1), ("wait", 1))]
        rows.append([label, told[0], interval(ratios, 3), f"{max(ratios):.3f}", told[1]])
    return table(["row", "makespan (h)", "makespan / bound", "worst", "wait (h)"], rows)


def _curve(axes: Axes, places: Sequence[float], values: Sequence[Sequence[float]], **drawn: Any) -> None:
    """Draw means with 95 % confidence intervals."""
    widths = [half_width(those) if len(those) > 1 else 0.0 for those in values]
    means = [float(np.mean(those)) for those in values]
    axes.errorbar(places, means, yerr=widths, marker="o", markersize=3.5, capsize=2.5, **drawn)


def plans_picture(path: Path, found: Mapping[tuple[int, int], Sequence[Planned]]) -> None:
    """Draw the ratios of both phases by the number of jobs, a curve for each largest size."""
    sizes = list(dict.fromkeys(largest for largest, _ in found))
    with style.styled():
        figure, (upper, lower) = style.new_figure(4.6, rows=2)
        for index, largest in enumerate(sizes):
            jobs = [count for size, count in found if size == largest]
            runs = [found[largest, count] for count in jobs]
            for axes, metric in ((upper, "levelled"), (lower, "whole")):
                values = [column(those, metric) for those in runs]
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


def runs_picture(path: Path, found: Mapping[float, Mapping[str, Sequence[Served]]]) -> None:
    """Draw the mean wait by load, a curve for each row that is shown."""
    loads = list(found)
    with style.styled():
        figure, (axes,) = style.new_figure(3.3)
        for index, label in enumerate(DRAWN):
            values = [column(found[load][label], "wait") for load in loads]
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
    assert set(DRAWN) <= set(CELLS)
    write_whole(path, style.alone(figure, "wait", "Mean wait of pinned jobs by load"))
