"""Tables and pictures of what was measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from grid import PAPER, REFERENCE, TOLERANCE
from scipy import stats

from batdispatch.inputs.files import write_whole
from batdispatch.results.report import style


class Measured(NamedTuple):
    """What came of one run: hours, ratios, pieces of an allocation, CPU seconds."""

    wait: float
    wait_std: float
    slowdown: float
    slowdown_std: float
    utilisation: float
    fragmentation: float
    cpu: float


#: Metric -> heading, and digits behind the point.
MEANS = {"wait": ("wait (h)", 2), "slowdown": ("slowdown", 2), "utilisation": ("utilisation", 3)}
SPREADS = {"wait_std": ("std of wait (h)", 2), "slowdown_std": ("std of slowdown", 1)}


def half_width(values: Sequence[float]) -> float:
    """Return half the width of the 95 % confidence interval of the mean (Student's t)."""
    return float(stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values)))


def column(runs: Sequence[Measured], metric: str) -> list[float]:
    """Return a metric of each run."""
    return [float(getattr(run, metric)) for run in runs]


def interval(values: Sequence[float], digits: int) -> str:
    """Return mean and half width of the interval."""
    return f"{float(np.mean(values)):.{digits}f} ± {half_width(values):.{digits}f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> str:
    """Return a table in Markdown whose first columns are texts."""
    marks = ["---"] * texts + ["---:"] * (len(head) - texts)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, marks, *rows))


def comparison_table(found: Mapping[str, Sequence[Measured]]) -> str:
    """Return paper, reference and ours for each row and metric, and how far ours is from the paper."""
    rows = []
    for label, paper in PAPER.items():
        runs = found.get(label)
        for metric, (heading, digits) in {**MEANS, **SPREADS}.items():
            theirs = getattr(paper, metric)
            told = ["not measured yet", "", ""]
            if runs:
                values = column(runs, metric)
                change = float(np.mean(values)) / theirs - 1
                within = "" if metric in SPREADS else "yes" if abs(change) <= TOLERANCE else "**no**"
                told = [interval(values, digits), f"{change:+.0%}", within]
            rows.append(
                [label, heading, f"{theirs:.{digits}f}", f"{getattr(REFERENCE[label], metric):.{digits}f}", *told]
            )
    return table(["row", "", "paper", "reference", "ours", "from the paper", f"within {TOLERANCE:.0%}"], rows, 2)


def cases_table(cases: Mapping[str, Mapping[str, Sequence[Measured]]]) -> str:
    """Return every row under every assumption about the workload."""
    return table(
        ["jobs", "row", *(heading for heading, _ in MEANS.values()), "fragmentation"],
        [[case, label, *_means(runs)] for case, found in cases.items() for label, runs in found.items()],
        2,
    )


def slurm_table(found: Mapping[tuple[str, str], Sequence[Measured]]) -> str:
    """Return the rows of Slurm under every assumption about Slurm."""
    return table(
        ["Slurm", "row", *(heading for heading, _ in MEANS.values()), "fragmentation"],
        [[case, label, *_means(runs)] for (label, case), runs in found.items()],
        2,
    )


def _means(runs: Sequence[Measured]) -> list[str]:
    shown = [interval(column(runs, metric), digits) for metric, (_, digits) in MEANS.items()]
    return [*shown, f"{np.mean(column(runs, 'fragmentation')):.2f}"]


def picture(path: Path, cases: Mapping[str, Mapping[str, Sequence[Measured]]], metric: str, label: str) -> None:
    """Draw a metric of every row under every assumption, with 95 % confidence intervals, and the paper's value."""
    shown = list(next(iter(cases.values())))
    with style.styled():
        figure, (axes,) = style.new_figure(3.3)
        for index, row in enumerate(shown):
            runs = [column(found[row], metric) for found in cases.values()]
            drawn = style.series_style(index)
            beside = (index - (len(shown) - 1) / 2) * 0.16
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
            range(len(cases)), [case.replace(" a GPU", "\na GPU").replace("Z has", "Z has\n") for case in cases]
        )
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
        axes.grid(visible=True, axis="y")
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, ncols=2)
    write_whole(path, style.alone(figure, metric, f"{label}; dotted: the paper's"))
