"""Tables and the picture of the page: ratios of slowdowns and waits over slices that no tuning saw."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from batdispatch.inputs.files import write_whole
from batdispatch.report import style
from expe.common.tables import table
from expe.heldout.tables import METRICS, Runs, Served, columns, log_ratios, logs_table, mean_of, milliseconds, shown

__all__ = ["PICTURES", "SECTIONS", "columns"]

FILLER, EASY, OURS = "filler, shortest first", "easy", "look-ahead"
#: Rows that are ours, of the dispatchers that run on all slices.
OWN = ("easy, late first", "easy, guarded", "look-ahead", "look-ahead, strict", "look-ahead, no room")
SEARCHES = ("searches", "searches on smaller machines")
#: What the panels of the picture show: metric, and what it is compared with. They share their scales.
PANELS = (("slowdown", FILLER), ("longest", EASY))
TICKS = (0.7, 1.0, 1.5, 2.0, 3.0)


def found_in(rows: pd.DataFrame) -> dict[str, Runs]:
    """Return name -> what the dispatcher did on each slice; the part of an expectation is no part of the name."""
    found: dict[str, dict[tuple[str, str], object]] = {}
    for row in rows.to_dict("records"):
        name = row["dispatcher"].removesuffix(f", {row['part']}")
        found.setdefault(name, {})[row["log"], row["piece"]] = row["served"]
    return found  # type: ignore[return-value]


def best_published(found: Mapping[str, Runs]) -> str:
    """Return the published dispatcher with the smallest slowdown over all slices, of those that ran on all."""
    most = max(len(runs) for runs in found.values())
    there = [name for name, runs in found.items() if name not in OWN and len(runs) == most]
    return min(there, key=lambda name: float(log_ratios(found[name], found[FILLER], "slowdown").mean()))


def ratios_table(rows: pd.DataFrame) -> str:
    """Return ratios to filler, easy and the best published dispatcher over all slices, then some of them by log."""
    found = found_in(rows)
    best = best_published(found)
    texts = []
    for base in dict.fromkeys((FILLER, EASY, best)):
        body = [
            [
                name,
                str(len(runs)),
                *(shown(log_ratios(runs, found[base], metric)) for metric in METRICS),
                _starved(runs.values()),
            ]
            for name, runs in found.items()
            if name != base
        ]
        texts.append(table([f"over {base}", "slices", *METRICS.values(), "starved jobs a slice"], body))
    kinds = (("slowdown", FILLER), ("slowdown", best), ("longest", EASY))
    return "\n\n".join([*texts, *(logs_table(found, metric, base) for metric, base in kinds)])


def _starved(runs: Iterable[Served]) -> str:
    """Return how many jobs starve on a slice, on average; empty if no run of easy stood beside."""
    mean = float(np.mean([run.starved for run in runs]))
    return "" if math.isnan(mean) else f"{mean:.1f}"


def slices_table(rows: pd.DataFrame) -> str:
    """Return slowdown over filler's on each slice on which dispatchers ran that take long: theirs, and two others'."""
    found = found_in(rows)
    slow = list(found_in(rows[rows["part"].isin(SEARCHES)]))
    keys = [key for key in found[FILLER] if any(key in found[name] for name in slow)]
    base = {key: found[FILLER][key].slowdown for key in keys}
    body = []
    for name in dict.fromkeys((*slow, OURS, best_published(found))):
        runs = found[name]
        body.append([name, *(f"{runs[key].slowdown / base[key]:.2f}" if key in runs else "" for key in keys)])
    return table([f"slowdown over {FILLER}", *(piece for _, piece in keys)], body)


def decisions_table(rows: pd.DataFrame) -> str:
    """Return how long decisions took, in milliseconds of CPU time."""
    body = []
    for name, runs in found_in(rows).items():
        mean = float(np.mean([run.decision for run in runs.values()]))
        slowest = [run.slowest for run in runs.values()]
        body.append([name, *milliseconds([mean, float(np.median(slowest)), max(slowest)])])
    return table(["", "mean (ms)", "longest of a slice, median (ms)", "longest of all (ms)"], body)


def picture(path: Path, rows: pd.DataFrame) -> None:
    """Draw slowdown over filler's and longest wait over easy's, with intervals."""
    found = found_in(rows)
    names = list(found)[::-1]
    with style.own_style():
        figure, panels = style.new_grid(1, 2, 3.6)
        for axes, (metric, base) in zip(panels, PANELS, strict=True):
            for row, name in enumerate(names):
                value, low, high, *_ = mean_of(log_ratios(found[name], found[base], metric))
                axes.errorbar(
                    [value],
                    [row],
                    xerr=None if low is None or high is None else [[value - low], [high - value]],
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


_REQUESTED = ("requested", *SEARCHES)
SECTIONS = {
    "slices": (_REQUESTED, slices_table),
    "requested": (_REQUESTED, ratios_table),
    "last-two": ("last-two", ratios_table),
    "online-regression": ("online-regression", ratios_table),
    "oracle": ("oracle", ratios_table),
    "decisions": (_REQUESTED, decisions_table),
}
PICTURES = {"ratios.svg": ("requested", picture)}
