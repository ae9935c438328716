"""Tables and the picture of the page: what dispatchers do on whole logs, over easy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from batdispatch.abilities.campaigns.campaign.table import read_rows
from batdispatch.inputs.files import write_whole
from batdispatch.report import style
from expe.common.tables import table

__all__ = ["PICTURES", "SECTIONS", "others"]

EASY, OURS = "easy", "easy[ordering=guarded]"
#: Parts that claims are about.
COMPARED = ("seen", "held out")
#: Column of the results -> what it is called.
METRICS = {
    "mean_bounded_slowdown": "slowdown",
    "mean_waiting_time": "mean wait",
    "p99_waiting_time": "99 % wait",
    "max_waiting_time": "longest wait",
}
#: What the picture shows: a metric to the right, and one upwards.
ACROSS, UPWARDS = "mean_bounded_slowdown", "max_waiting_time"
TICKS = (0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0)


def ratios_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return each metric over easy's on the same jobs, by dispatcher and log; of several draws, the geometric mean.

    Returns:
        a frame with the columns of `METRICS`, and the index (dispatcher, workload).
    """
    jobs = [name for name in ("workload", "workload.seed", "workload.window") if name in rows]
    keyed = rows.set_index([*jobs, "dispatcher"])[list(METRICS)].astype(float)
    easy = keyed.xs(EASY, level="dispatcher")
    ratios = keyed / easy.reindex(keyed.index.droplevel("dispatcher")).to_numpy()
    found = _mean(ratios, ["dispatcher", "workload"])
    return found.drop(EASY, level="dispatcher")


def _mean(ratios: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return the geometric mean of the ratios of each group."""
    return np.exp(np.log(ratios).groupby(names, sort=False).mean())


def others(out: Path, quick: bool) -> list[dict[str, Any]]:
    """Return the ratios to easy on each log, which claims are about: several draws of a workload are one log.

    Args:
        out: folder of the campaign.
        quick: makes no difference.
    """
    rows = pd.DataFrame(read_rows(out))
    return [
        {"part": f"{part}, over easy", "dispatcher": dispatcher, "workload": log, **ratios}
        for part in COMPARED
        if part in set(rows["part"])
        for (dispatcher, log), ratios in ratios_of(rows[rows["part"] == part]).to_dict("index").items()
    ]


def shown(values: pd.Series) -> str:
    """Return the ratios of a dispatcher on a log, in the order of `METRICS`."""
    return " / ".join(f"{value:.2f}" if value < 10 else f"{value:.1f}" for value in values)


def ratios_table(rows: pd.DataFrame) -> str:
    """Return a line for each dispatcher, with a column for each log and one for the geometric mean over logs."""
    found = ratios_of(rows)
    logs = list(dict.fromkeys(rows["workload"]))
    body = []
    for name, group in found.groupby(level="dispatcher", sort=False):
        own = group.droplevel("dispatcher")
        body.append([f"`{name}`", *(shown(own.loc[log]) for log in logs), shown(np.exp(np.log(own).mean()))])
    return table([" / ".join(METRICS.values()), *logs, "geometric mean"], body)


def _over_logs(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the geometric mean of the ratios over all logs by dispatcher, and the longest wait on the worst log."""
    found = ratios_of(rows)
    worst = found[UPWARDS].groupby("dispatcher", sort=False).max()
    return _mean(found, ["dispatcher"]).assign(worst=worst)


def frontier_table(rows: pd.DataFrame) -> str:
    """Return whom nobody beats in both the slowdown over all logs and the longest wait on the worst one."""
    found, body, bound = _over_logs(rows).sort_values(ACROSS), [], np.inf
    for name, row in found.iterrows():
        if row["worst"] < bound:
            bound = row["worst"]
            body.append([f"`{name}`", shown(row[list(METRICS)]), shown(row[["worst"]])])
    return table([" / ".join(METRICS.values()), "all four logs", "longest wait on the worst log"], body)


def field_table(rows: pd.DataFrame) -> str:
    """Return slowdown, mean wait and longest wait of each dispatcher on each log, and over all logs."""
    three = [name for name in METRICS if name != "p99_waiting_time"]
    found, means = ratios_of(rows)[three], _over_logs(rows)[three]
    logs = list(dict.fromkeys(rows["workload"]))
    body = [
        [f"`{name}`", *(shown(found.loc[(name, log)]) for log in logs), shown(means.loc[name])] for name in means.index
    ]
    return table([" / ".join(METRICS[name] for name in three), *logs, "geometric mean"], body)


def searches_table(rows: pd.DataFrame) -> str:
    """Return the same with the CPU time of a decision, in milliseconds."""
    found = ratios_of(rows)
    spent = rows.groupby("dispatcher")[["decisions_seconds_total", "decisions_count"]].sum()
    times = 1000 * spent["decisions_seconds_total"] / spent["decisions_count"]
    body = [
        [f"`{name}`", shown(np.exp(np.log(group).mean())), f"{times[name]:.2f}"]
        for name, group in found.groupby(level="dispatcher", sort=False)
    ]
    return table([" / ".join(METRICS.values()), "over easy", "a decision (ms)"], body)


def picture(path: Path, rows: pd.DataFrame) -> None:
    """Draw the longest wait against the slowdown, both over easy's: left and low is better."""
    found = _mean(ratios_of(rows), ["dispatcher"])
    # Others within the guard are in the tables.
    found = found[[name == OURS or "guarded" not in name for name in found.index]]
    with style.own_style():
        figure, (axes,) = style.new_figure(4.2)
        for place, (name, row) in enumerate(found.sort_values(UPWARDS).iterrows()):
            color = style.SERIES[1] if name == OURS else style.SERIES[0]
            axes.plot([row[ACROSS]], [row[UPWARDS]], marker="o", markersize=4, color=color)
            # To the right and to the left in turn, so that neighbours do not hide each other.
            side, offset = (("left", 5), ("right", -5))[place % 2]
            label = str(name).removeprefix("easy[").removeprefix("ordering=").partition("[")[0].removesuffix("]")
            where = (row[ACROSS], row[UPWARDS])
            axes.annotate(label, where, (offset, 2), textcoords="offset points", fontsize=7, ha=side)
        axes.axhline(1.0, color=style.ALONE[1], linewidth=0.8)
        axes.axvline(1.0, color=style.ALONE[1], linewidth=0.8)
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis, metric in ((axes.xaxis, ACROSS), (axes.yaxis, UPWARDS)):
            inside = [tick for tick in TICKS if found[metric].min() / 1.5 < tick < found[metric].max() * 1.5]
            axis.set_ticks(inside, [f"{tick:g}" for tick in inside])
            axis.set_ticks([], minor=True)
        axes.set_xlabel("slowdown over easy")
        axes.set_ylabel("longest wait over easy")
    write_whole(
        path, style.alone(figure, "ratios", "Slowdown and longest wait of each dispatcher; left and low is better")
    )


SECTIONS = {
    "field": (COMPARED, field_table),
    "frontier": (COMPARED, frontier_table),
    "seen": ("seen", ratios_table),
    "held-out": ("held out", ratios_table),
    "shares": ("shares", ratios_table),
    "light-load": ("light load", ratios_table),
    "conservative": ("conservative", ratios_table),
    "predictions": ("predictions", ratios_table),
    "searches": ("searches", searches_table),
}
PICTURES = {"ratios.svg": (COMPARED, picture)}
