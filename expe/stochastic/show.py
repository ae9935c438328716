"""Tables and pictures of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from batdispatch.abilities.campaigns.statistics.student import half_width
from batdispatch.core.errors import SimulationError
from batdispatch.inputs.files import write_whole
from batdispatch.report import style
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.lineage import FILE as LINEAGE
from batdispatch.results.lineage import read_lineage
from batdispatch.results.metrics.attempts import attempt_metrics
from expe.common.tables import interval, table

HOUR = 3600.0
SHOWN = {
    "useful": "utilisation",
    "response": "response (h)",
    "response_all": "response, all jobs (h)",
    "wasted": "wasted",
    "failures": "failures a job",
}
#: Part -> heading of the column of what is varied, and that of the campaign's table.
VARIED = {
    "1-laws": ("law", "workload"),
    "1-widths": ("widths", "workload.widths"),
    "2-rate": ("rate", "workload.rate"),
    "2-wide": ("rate", "workload.rate"),
    "2-measured": ("rate", "workload.rate"),
    "3-share": ("share of small jobs", "workload.share"),
    "3-widths": ("widths", "workload.widths"),
    "4-intrepid": ("widths, arrivals", "workload"),
}
#: Parts whose values are names.
NAMED = ("1-laws", "4-intrepid")


def columns(row: Mapping[str, Any], run: Path) -> dict[str, float]:
    """Return what a run is judged by.

    ``useful``: useful work over the machine's time; ``wasted``: work of failed attempts over it; ``response``: mean of
    the stochastic jobs, h; ``response_all``: of all jobs, h; ``failures``: of a stochastic job.

    Raises:
        SimulationError: a job was lost.
    """
    if not row["attempts.jobs"] == row["attempts.jobs_succeeded"] == row["nb_jobs"]:
        raise SimulationError(f"{run}: a job was lost")
    jobs = read_columns(run / "jobs.csv")
    large = jobs.take(np.array([not name.startswith("small-") for name in jobs.job_id]))
    long = attempt_metrics(large, lineage=read_lineage(run / LINEAGE, large))
    used = row["attempts.effective_utilisation"]
    return {
        "useful": used,
        "wasted": used * row["attempts.wasted_work"] / row["attempts.useful_work"],
        "response": float(long["mean_response_time"] or 0) / HOUR,
        "response_all": row["attempts.mean_response_time"] / HOUR,
        "failures": float(long["failures_per_job"] or 0),
    }


def shown_interval(values: pd.Series[float]) -> str:
    """Return mean and half width of the interval, with fewer digits where the mean is large."""
    return interval(list(values), 1 if abs(float(values.mean())) >= 10 else 3)


def _by_value(found: pd.DataFrame) -> dict[str, dict[str, pd.DataFrame]]:
    """Return value of what is varied -> dispatcher -> its runs, by seed."""
    _, column = VARIED.get(found["part"].iloc[0], ("", "part"))
    cells: dict[str, dict[str, pd.DataFrame]] = {}
    for (value, name), runs in found.groupby([column, "dispatcher"], sort=False):
        shown = value if isinstance(value, str) else f"{value:g}"
        cells.setdefault(shown, {})[str(name)] = runs.set_index("workload.seed")
    return cells


def part_table(found: pd.DataFrame) -> str:
    """Return a part's table; the changes are against HPC under the same plan, seed by seed."""
    part = found["part"].iloc[0]
    metrics = [metric for metric in SHOWN if metric != "response_all" or part.startswith(("2", "4"))]
    varied = [VARIED[part][0]] if part in VARIED else []
    lines = []
    for value, dispatchers in _by_value(found).items():
        base = pd.DataFrame()
        for label, runs in dispatchers.items():
            if label.startswith("HPC") and "speculative" not in label:
                base = runs
            changes = [
                "" if runs is base else f"{interval(list(100 * (runs[metric] / base[metric] - 1)), 0, '+')} %"
                for metric in ("useful", "response")
            ]
            texts = [*(shown_interval(runs[metric]) for metric in metrics), f"{runs['cpu_seconds'].mean():.2f}"]
            lines.append([*([value] if varied else []), label, *texts, *changes])
    head = [*varied, "", *(SHOWN[metric] for metric in metrics), "CPU s", "utilisation vs HPC", "response vs HPC"]
    return table(head, lines, 1 + len(varied))


def picture(path: Path, found: pd.DataFrame, metric: str, across: str, label: str) -> None:
    """Draw a curve that the slides have, with the 95 % confidence intervals."""
    cells, named = _by_value(found), found["part"].iloc[0] in NAMED
    with style.own_style():
        figure, (axes,) = style.new_figure()
        shown = list(next(iter(cells.values())))
        for index, dispatcher in enumerate(shown):
            values = [list(cells[value][dispatcher][metric]) for value in cells]
            # Names have no distances: the dispatchers of one name stand beside each other, and no line joins names.
            beside = (index - (len(shown) - 1) / 2) * 0.16
            axes.errorbar(
                [at + beside if named else float(value) for at, value in enumerate(cells)],
                [float(np.mean(listed)) for listed in values],
                yerr=[half_width(listed) for listed in values],
                label=dispatcher,
                marker="o",
                markersize=3.5,
                capsize=2.5,
                **style.series_style(index) | ({"linestyle": "none"} if named else {}),
            )
        if named:
            axes.set_xticks(range(len(cells)), list(cells))
        axes.set_xlabel(across)
        axes.set_ylabel(label)
        if named and metric == "response":
            # From half an hour to three weeks.
            axes.set_yscale("log")
            low, high = axes.get_ylim()
            hours = [hour for hour in (1, 2, 5, 10, 20, 50, 100, 200, 500) if low <= hour <= high]
            axes.set_yticks(hours, [str(hour) for hour in hours])
            axes.set_yticks([], minor=True)
        else:
            axes.set_ylim(bottom=0)
        axes.grid(visible=True, axis="y")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.22), ncols=2)
    write_whole(path, style.alone(figure, path.stem, label))


def _drawn(part: str, metric: str, across: str, label: str) -> tuple[str, Callable[..., None]]:
    return part, partial(picture, metric=metric, across=across, label=label)


PARTS = ("1-plan", "1-closed", "1-laws", "1-widths", "2-rate", "2-wide", "2-measured")
PARTS += ("3-share", "3-repack", "3-widths", "4-intrepid")
SECTIONS = {part: (part, part_table) for part in PARTS}
PICTURES = {
    "1-response.svg": _drawn("1-laws", "response", "law of the run time", "mean response (h)"),
    "1-utilisation.svg": _drawn("1-laws", "useful", "law of the run time", "utilisation"),
    "2-utilisation.svg": _drawn("2-rate", "useful", "rate of small work", "utilisation"),
    "2-response.svg": _drawn("2-rate", "response_all", "rate of small work", "mean response of all jobs (h)"),
    "2-response-large.svg": _drawn("2-rate", "response", "rate of small work", "mean response of large jobs (h)"),
    "3-utilisation.svg": _drawn("3-share", "useful", "share of small jobs", "utilisation"),
    "3-response.svg": _drawn("3-share", "response", "share of small jobs", "mean response (h)"),
    "4-utilisation.svg": _drawn("4-intrepid", "useful", "widths, arrivals", "utilisation"),
    "4-response.svg": _drawn("4-intrepid", "response", "widths, arrivals", "mean response (h)"),
}
