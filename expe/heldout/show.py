"""Tables and the picture of what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from grid import ADDED, BOOTSTRAP_SEED, EASY, ENTRIES, FILLER, OURS, RESAMPLES
from numpy.typing import NDArray
from scipy import stats

from batdispatch.inputs.files import write_whole
from batdispatch.results.report import style
from batdispatch.runs.over_seeds import table


class Served(NamedTuple):
    """What came of one run: mean bounded slowdown; mean, 99 % and longest wait; decisions' CPU times; in s."""

    slowdown: float
    wait: float
    high: float
    longest: float
    decision: float
    slowest: float
    high_decision: float


#: Fewer slices than these have no interval in tables.
FEWEST = 4
#: Of each (log, slice).
Runs = Mapping[tuple[str, str], Served]
METRICS = {"slowdown": "slowdown", "wait": "mean wait", "high": "99 % wait", "longest": "longest wait"}


def log_ratios(runs: Runs, base: Runs, metric: str, log: str | None = None) -> NDArray[np.float64]:
    """Return the logarithm of ours over theirs on each slice that both ran on; `log`: only of this one."""
    added = 0.0 if metric == "slowdown" else ADDED
    both = [key for key in runs if key in base and log in (None, key[0])]
    ours = np.array([getattr(runs[key], metric) for key in both]) + added
    return np.asarray(np.log(ours) - np.log(np.array([getattr(base[key], metric) for key in both]) + added))


def mean_and_interval(logs: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the geometric mean of ratios, and its 95 % interval by bootstrap; of equal ones, that ratio."""
    mean = float(np.exp(logs.mean()))
    if len(logs) < 2 or np.ptp(logs) == 0.0:
        return mean, mean, mean
    found = stats.bootstrap(
        (logs,), np.mean, n_resamples=RESAMPLES, method="BCa", rng=np.random.default_rng(BOOTSTRAP_SEED)
    ).confidence_interval
    return mean, float(np.exp(found.low)), float(np.exp(found.high))


def shown(logs: NDArray[np.float64], *, interval: bool = True) -> str:
    """Return the geometric mean of ratios, with its interval unless there is one ratio only; empty without any."""
    if not len(logs):
        return ""
    mean, low, high = mean_and_interval(logs)
    return f"{mean:.2f} ({low:.2f}-{high:.2f})" if interval and len(logs) >= FEWEST else f"{mean:.2f}"


def best_published(found: Mapping[str, Runs]) -> str:
    """Return the published dispatcher with the smallest slowdown over all slices, of those that ran on all."""
    most = max(len(runs) for runs in found.values())
    there = [entry.name for entry in ENTRIES if entry.published and len(found.get(entry.name, ())) == most]
    return min(there, key=lambda name: float(log_ratios(found[name], found[FILLER], "slowdown").mean()))


def ratios_table(found: Mapping[str, Runs], logs: Sequence[str]) -> str:
    """Return ratios to filler, easy and the best published dispatcher over all slices, then some of them by log."""
    rows = {name: runs for name, runs in found.items() if runs}
    texts = []
    for base in dict.fromkeys((FILLER, EASY, best_published(rows))):
        head = [f"over {base}", "slices", *METRICS.values()]
        body = [
            [name, str(len(runs)), *(shown(log_ratios(runs, rows[base], metric)) for metric in METRICS)]
            for name, runs in rows.items()
            if name != base
        ]
        texts.append(table(head, body))
    present = [log for log in logs if any(key[0] == log for key in rows[FILLER])]
    for metric, base in (("slowdown", FILLER), ("slowdown", best_published(rows)), ("longest", EASY)):
        body = [
            [name, *(shown(log_ratios(runs, rows[base], metric, log)) for log in present)]
            for name, runs in rows.items()
            if name != base
        ]
        texts.append(table([f"{METRICS[metric]} over {base}", *present], body))
    return "\n\n".join(texts)


def slices_table(found: Mapping[str, Runs]) -> str:
    """Return slowdown over filler's on each slice on which dispatchers ran that take long: theirs, and two others'."""
    slow = [entry.name for entry in ENTRIES if entry.slow and found.get(entry.name)]
    keys = [key for key in found[FILLER] if any(key in found[name] for name in slow)]
    base = {key: found[FILLER][key].slowdown for key in keys}
    body = []
    for name in [*slow, OURS, best_published(found)]:
        runs = found[name]
        body.append([name, *(f"{runs[key].slowdown / base[key]:.2f}" if key in runs else "" for key in keys)])
    return table([f"slowdown over {FILLER}", *(part for _, part in keys)], body)


def decisions_table(found: Mapping[str, Runs]) -> str:
    """Return how long decisions took, in milliseconds of CPU time."""
    body = []
    for name, runs in found.items():
        if runs:
            mean = np.mean([run.decision for run in runs.values()])
            slowest = [run.slowest for run in runs.values()]
            body.append([name, *(f"{1000 * value:.2f}" for value in (mean, np.median(slowest), max(slowest)))])
    return table(["", "mean (ms)", "longest of a slice, median (ms)", "longest of all (ms)"], body)


#: What the panels of the picture show: metric, and what it is compared with. They share their scales.
PANELS = (("slowdown", FILLER), ("longest", EASY))
TICKS = (0.7, 1.0, 1.5, 2.0, 3.0)


def picture(path: Path, found: Mapping[str, Runs]) -> None:
    """Draw slowdown over filler's and longest wait over easy's, with intervals, for the rows with all slices."""
    most = max(len(runs) for runs in found.values())
    names = [name for name, runs in found.items() if len(runs) == most][::-1]
    with style.styled():
        figure, panels = style.new_grid(1, 2, 3.6)
        for axes, (metric, base) in zip(panels, PANELS, strict=True):
            for row, name in enumerate(names):
                mean, low, high = mean_and_interval(log_ratios(found[name], found[base], metric))
                axes.errorbar(
                    [mean],
                    [row],
                    xerr=[[mean - low], [high - mean]],
                    marker="o",
                    markersize=3.5,
                    capsize=2,
                    color=style.SERIES[1] if name.startswith(OURS) else style.SERIES[0],
                )
            axes.axvline(1.0, color=style.ALONE[1], linewidth=0.8)
            axes.set_xscale("log")
            axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
            axes.set_xticks([], minor=True)
            axes.set_yticks(range(len(names)), names)
            axes.set_xlabel(f"{METRICS[metric]} over\n{base}")
            axes.grid(visible=True, axis="x")
    write_whole(path, style.alone(figure, "ratios", "Slowdown and longest wait of each dispatcher; left is better"))
