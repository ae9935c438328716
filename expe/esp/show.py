"""Tables and pictures of what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from grid import MOST_WAIT, PAPER, REFERENCE, TOLERANCE

from batdispatch.inputs.files import write_whole
from batdispatch.results.report import style
from batdispatch.runs.over_seeds import half_width, interval, table


class Measured(NamedTuple):
    """What came of one run: hours, ratios, pieces of an allocation, CPU seconds, and how windows were decided."""

    wait: float
    wait_std: float
    slowdown: float
    slowdown_std: float
    utilisation: float
    fragmentation: float
    #: Mean waits of jobs of a quarter of the machine or more, and of the others.
    large: float
    small: float
    cpu: float
    #: CPU seconds of a decision.
    median: float
    worst: float
    #: Windows that a program was asked about, by what was said of the plan.
    statuses: Mapping[str, int]


#: Metric -> heading, and digits behind the point.
MEANS = {"wait": ("wait (h)", 2), "slowdown": ("slowdown", 2), "utilisation": ("utilisation", 3)}
#: Statuses that say that no plan is better: the solver's word, and a first plan that no other can exceed.
PROVEN = ("OPTIMAL", "BOUND")
SPREADS = {"wait_std": ("std of wait (h)", 2), "slowdown_std": ("std of slowdown", 1)}


def column(runs: Sequence[Measured], metric: str) -> list[float]:
    """Return a metric of each run."""
    return [float(getattr(run, metric)) for run in runs]


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


def decisions_table(found: Mapping[str, Sequence[Measured]]) -> str:
    """Return how many windows each row decided about, how many of the plans are proven optimal, and what it cost."""
    rows = []
    for label, runs in found.items():
        windows = sum(sum(run.statuses.values()) for run in runs)
        proven = {status: sum(run.statuses.get(status, 0) for run in runs) for status in PROVEN}
        rows.append(
            [
                label,
                *([f"{windows:,}", f"{sum(proven.values()):,}", f"{proven['OPTIMAL']:,}"] if windows else ["", "", ""]),
                f"{1000 * float(np.median(column(runs, 'median'))):.1f}",
                f"{max(column(runs, 'worst')):.2f}",
                f"{np.mean(column(runs, 'cpu')):.1f}",
            ]
        )
    head = ["windows", "proven optimal", "by a program", "median (ms)", "slowest (s)", "whole run (s)"]
    return table(["row", *head], rows)


def reduction_table(found: Mapping[str, Sequence[Measured]]) -> str:
    """Return IPSCHED's mean wait as a share of backfilling's, on the same jobs, under either priority."""
    rows = []
    for priorities in ("basic", "multifactor"):
        better, worse = (f"{name}, {priorities}" for name in ("IPSCHED", "backfill"))
        told = [figures[better].wait / figures[worse].wait for figures in (PAPER, REFERENCE)]
        shares = [ours.wait / theirs.wait for ours, theirs in zip(found[better], found[worse], strict=True)]
        within = "yes" if np.mean(shares) <= MOST_WAIT else "**no**"
        rows.append(
            [priorities, *(f"{share:.2f}" for share in told), interval(shares, 2), f"{max(shares):.2f}", within]
        )
    return table(["priorities", "paper", "reference", "ours", "worst seed", f"at most {MOST_WAIT:.0%}"], rows)


def sizes_table(found: Mapping[str, Sequence[Measured]]) -> str:
    """Return how long large and small jobs wait in each row."""
    return table(
        ["row", "jobs of a quarter of the machine or more: wait (h)", "the others: wait (h)"],
        [
            [label, *(interval(column(runs, metric), 2) for metric in ("large", "small"))]
            for label, runs in found.items()
        ],
    )


def cases_table(cases: Mapping[str, Mapping[str, Sequence[Measured]]]) -> str:
    """Return every row under every assumption about the workload."""
    return table(
        ["jobs", "row", "seeds", *(heading for heading, _ in MEANS.values()), "fragmentation"],
        [
            [case, label, str(len(runs)), *_means(runs)]
            for case, found in cases.items()
            for label, runs in found.items()
        ],
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
                yerr=[half_width(values) if len(values) > 1 else 0.0 for values in runs],
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
