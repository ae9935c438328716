"""Tables and pictures of the page."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from batdispatch.abilities.campaigns.statistics.student import half_width
from batdispatch.core.errors import SimulationError
from batdispatch.inputs.files import write_whole
from batdispatch.report import style
from batdispatch.results.jobs_file import read_columns
from expe.common.tables import interval, table

HOUR = 3600.0
JOBS = 460
#: Cores that jobs of a quarter of the machine ask for.
QUARTER = 2048
#: The workload of the paper's table, and seeds of all others.
MAIN, FEW = "over 3 h", 3


class Figures(NamedTuple):
    """A row of the paper's table: hours, and standard deviations over the jobs."""

    wait: float
    wait_std: float
    slowdown: float
    slowdown_std: float
    utilisation: float


#: What the slides report.
PAPER = {
    "backfill, basic": Figures(1.60, 0.836, 18.11, 25.49, 0.90),
    "IPSCHED, basic": Figures(0.77, 1.257, 9.95, 18.87, 0.92),
    "backfill, multifactor": Figures(2.42, 1.758, 22.75, 22.02, 0.89),
    "IPSCHED, multifactor": Figures(0.88, 1.223, 10.75, 18.20, 0.94),
}
#: Means of three seeds of a simulation that shares no code with this package.
REFERENCE = {
    "backfill, basic": Figures(1.648, 1.037, 16.563, 14.593, 0.884),
    "IPSCHED, basic": Figures(0.796, 1.367, 11.06, 24.52, 0.957),
    "backfill, multifactor": Figures(2.51, 1.675, 24.177, 22.26, 0.918),
    "IPSCHED, multifactor": Figures(0.821, 1.291, 11.167, 23.903, 0.967),
}
#: Metric -> heading, and digits behind the point.
MEANS = {"wait": ("wait (h)", 2), "slowdown": ("slowdown", 2), "utilisation": ("utilisation", 3)}
SPREADS = {"wait_std": ("std of wait (h)", 2), "slowdown_std": ("std of slowdown", 1)}
#: Statuses that say that no plan is better: the solver's word, and a first plan that no other can exceed.
PROVEN = ("OPTIMAL", "BOUND")
_STATUS = "report.statuses."


def columns(row: Mapping[str, Any], run: Path) -> dict[str, float]:
    """Return what the page shows of a run: hours, ratios, and how long jobs of each size wait.

    Raises:
        SimulationError: a job did not end by itself.
    """
    if row["nb_jobs_success"] != JOBS:
        raise SimulationError(f"{run}: {row['nb_jobs_success']} of {JOBS} jobs ended by themselves")
    jobs = read_columns(run / "jobs.csv")
    large = jobs.requested_number_of_resources >= QUARTER
    return {
        "wait": row["mean_waiting_time"] / HOUR,
        "wait_std": row["std_waiting_time"] / HOUR,
        "slowdown": row["mean_slowdown"],
        "slowdown_std": float(np.std(jobs.turnaround_time / jobs.execution_time)),
        "utilisation": row["utilisation_core"],
        "large": float(jobs.waiting_time[large].mean()) / HOUR,
        "small": float(jobs.waiting_time[~large].mean()) / HOUR,
    }


def _rows(found: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the runs of each row of the paper's table, in its order."""
    return {name: runs for name in PAPER if len(runs := found[found["dispatcher"] == name])}


def comparison_table(found: pd.DataFrame) -> str:
    """Return paper, reference and ours for each row and metric, and how far ours is from the paper."""
    lines = []
    for name, runs in _rows(found).items():
        for metric, (heading, digits) in {**MEANS, **SPREADS}.items():
            values, theirs = list(runs[metric]), getattr(PAPER[name], metric)
            change = float(np.mean(values)) / theirs - 1
            told = [f"{theirs:.{digits}f}", f"{getattr(REFERENCE[name], metric):.{digits}f}", interval(values, digits)]
            lines.append([name, heading, *told, f"{change:+.0%}"])
    return table(["row", "", "paper", "reference", "ours", "from the paper"], lines, 2)


def decisions_table(found: pd.DataFrame) -> str:
    """Return how many windows each row decided about, how many of the plans are proven optimal, and what it cost."""
    lines = []
    for name, runs in _rows(found).items():
        counts = {
            column.removeprefix(_STATUS): int(runs[column].sum()) for column in runs if column.startswith(_STATUS)
        }
        proven = {status: counts.get(status, 0) for status in PROVEN}
        windows = sum(counts.values())
        told = [f"{windows:,}", f"{sum(proven.values()):,}", f"{proven['OPTIMAL']:,}"] if windows else ["", "", ""]
        median, worst = runs["decisions_seconds_p50"].median(), runs["decisions_seconds_max"].max()
        lines.append([name, *told, f"{1000 * median:.1f}", f"{worst:.2f}", f"{runs['cpu_seconds'].mean():.1f}"])
    head = ["windows", "proven optimal", "by a program", "median (ms)", "slowest (s)", "whole run (s)"]
    return table(["row", *head], lines)


def sizes_table(found: pd.DataFrame) -> str:
    """Return how long large and small jobs wait in each row."""
    return table(
        ["row", "jobs of a quarter of the machine or more: wait (h)", "the others: wait (h)"],
        [
            [name, *(interval(list(runs[metric]), 2) for metric in ("large", "small"))]
            for name, runs in _rows(found).items()
        ],
    )


def _means(runs: pd.DataFrame) -> list[str]:
    shown = [interval(list(runs[metric]), digits) for metric, (_, digits) in MEANS.items()]
    return [*shown, f"{runs['fragmentation'].mean():.2f}"]


def _cases(found: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the runs under each assumption about the jobs; of the first one, as many seeds as of the others."""
    few = found[found["workload.seed"] < FEW]
    return {str(name): runs for name, runs in few.groupby("workload", sort=False)}


def cases_table(found: pd.DataFrame) -> str:
    """Return every row under every assumption about the workload."""
    lines = [
        [case, name, str(len(runs)), *_means(runs)]
        for case, of_case in _cases(found).items()
        for name, runs in _rows(of_case).items()
    ]
    return table(["jobs", "row", "seeds", *(heading for heading, _ in MEANS.values()), "fragmentation"], lines, 2)


def _slurm_case(row: pd.Series[Any]) -> str:
    if row["dispatcher"] == "passes":
        seconds = row["dispatcher.interval"]
        return f"a pass every {seconds / 60:.0f} minutes" if seconds else "a pass at each event"
    count = row["dispatcher.reservations"]
    return {1: "1 reservation", 0: "a reservation for each job tried"}.get(count, f"as in the table: {count:.0f}")


def slurm_table(found: pd.DataFrame) -> str:
    """Return the rows of Slurm under every assumption about Slurm."""
    named = found.assign(case=found.apply(_slurm_case, axis=1))
    lines = [
        [str(case), f"backfill, {str(ordering).partition('[')[0]}", *_means(runs)]
        for (case, ordering), runs in named.groupby(["case", "dispatcher.ordering"], sort=False)
    ]
    return table(["Slurm", "row", *(heading for heading, _ in MEANS.values()), "fragmentation"], lines, 2)


def picture(path: Path, found: pd.DataFrame, metric: str, label: str) -> None:
    """Draw a metric of every row under every assumption, with 95 % confidence intervals, and the paper's value."""
    cases = _cases(found)
    with style.own_style():
        figure, (axes,) = style.new_figure(3.3)
        for index, row in enumerate(PAPER):
            runs = [list(_rows(of_case)[row][metric]) for of_case in cases.values()]
            drawn = style.series_style(index)
            beside = (index - (len(PAPER) - 1) / 2) * 0.16
            axes.errorbar(
                [at + beside for at in range(len(cases))],
                [float(np.mean(values)) for values in runs],
                yerr=[half_width(values) for values in runs],
                label=row,
                marker="o",
                markersize=3.5,
                capsize=2.5,
                **drawn | {"linestyle": "none"},
            )
            axes.axhline(getattr(PAPER[row], metric), color=drawn["color"], linewidth=0.8, linestyle=":")
        axes.set_xticks(
            range(len(cases)),
            [
                case.replace(" a GPU", "\na GPU").replace("Z has", "Z has\n").replace("at the ", "at the\n")
                for case in cases
            ],
        )
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
        axes.grid(visible=True, axis="y")
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, ncols=2)
    write_whole(path, style.alone(figure, metric, f"{label}; dotted: the paper's"))


SECTIONS = {
    "table": ("table", comparison_table),
    "sizes": ("table", sizes_table),
    "decisions": ("table", decisions_table),
    "cases": (("table", "cases"), cases_table),
    "slurm": ("slurm", slurm_table),
}
PICTURES = {
    "wait.svg": (("table", "cases"), partial(picture, metric="wait", label="mean wait (h)")),
    "utilisation.svg": (("table", "cases"), partial(picture, metric="utilisation", label="utilisation of the cores")),
}
