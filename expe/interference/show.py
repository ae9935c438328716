"""What the page shows: how much jobs slow each other down under each placement, and what it costs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from batdispatch.abilities.campaigns.statistics.student import half_width
from batdispatch.core.errors import SimulationError
from batdispatch.core.jobs.job import Job
from batdispatch.inputs.files import write_whole
from batdispatch.inputs.workloads import read_workload
from batdispatch.report import style
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.runs import read_result
from batdispatch_papers.interference.alone import runtimes_alone
from batdispatch_papers.interference.workload import COMPUTING, Traffic
from expe.common.tables import interval, table

#: Name of a workload in the campaign, in which a name has no slash, -> on the page.
SHOWN = {"messages": "messages", "messages and IO": "messages and I/O", "few messages": "few messages"}
#: The row that others are compared with, and the one that must keep its promise.
BASE, PROMISED = "first fit", "convex"
#: A job counts as slowed by others beyond this stretch.
SLOWED = 1.02
Floats = NDArray[np.float64]


def columns(row: Mapping[str, Any], run: Path) -> dict[str, Any]:
    """Return what jobs took of others' time, and what they would have taken at least.

    ``stretches``: run time over the run time alone on the same hosts, float64 [job], of which ``stretch`` is the mean,
    ``tail`` the 95th percentile, ``worst`` the largest and ``slowed`` the per cent above `SLOWED`. ``runtime``: mean of
    the run times over the least ones: what cores and the hosts' own links need. ``useful``: utilisation, if each job
    had taken its hosts for its least run time only. ``slowdown``: mean turnaround over least run time, which is the
    same for all placements.

    Raises:
        SimulationError: a job did not end by itself.
    """
    if row["nb_jobs_success"] != row["nb_jobs"]:
        raise SimulationError(f"{run}: a job did not end by itself")
    result, jobs = read_result(run), read_columns(run / "jobs.csv")
    stretches = jobs.execution_time / _alone(run, Path(result.platform.path), Path(result.workload.path))
    intensity = row.get("workload.intensity")
    traffic = Traffic() if pd.isna(intensity) else Traffic(intensity=intensity)
    known = {job.id: job for job in read_workload(Path(result.workload.path)).jobs}
    least = np.array([least_runtime(known[str(name)], traffic) for name in jobs.job_id])
    work = jobs.requested_number_of_resources
    return {
        "stretches": stretches,
        "stretch": float(stretches.mean()),
        "tail": float(np.percentile(stretches, 95)),
        "worst": float(stretches.max()),
        "slowed": 100 * float(np.mean(stretches > SLOWED)),
        "runtime": float(np.mean(jobs.execution_time / least)),
        "useful": row["utilisation"] * float(work @ least) / float(work @ jobs.execution_time),
        "slowdown": float(np.mean(np.maximum(jobs.turnaround_time / np.maximum(least, 10.0), 1.0))),
        "shared": 100 * row["mean_shared_time"],
    }


def _alone(run: Path, platform: Path, workload: Path) -> Floats:
    """Return the run time of each job alone on its hosts, s, float64 [job]; simulated once and kept beside the runs."""
    kept = run.parents[1] / "alone" / f"{run.name}.json"
    if not kept.is_file():
        kept.parent.mkdir(exist_ok=True)
        write_whole(kept, json.dumps(runtimes_alone(platform, workload, run / "jobs.csv").tolist()).encode())
    return np.array(json.loads(kept.read_bytes()))


def least_runtime(job: Job, traffic: Traffic) -> float:
    """Return the time that a job needs of its cores, its hosts' own links and its I/O node, in seconds."""
    parts = max(COMPUTING, traffic.intensity) + (traffic.io_load if job.request.io_nodes else 0.0)
    return float(job.extra["nominal_runtime"]) * parts


def _rows(found: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield workload, placement and runs, by seed."""
    for (kind, row), runs in found.groupby(["workload", "dispatcher"], sort=False):
        yield SHOWN[str(kind)], str(row), runs.set_index("workload.seed")


def _sorted(found: pd.DataFrame) -> pd.DataFrame:
    """Return rows workload by workload."""
    order = list(SHOWN)
    return found.sort_values("workload", key=lambda names: names.map(order.index), kind="stable")


def stretch_table(found: pd.DataFrame) -> str:
    """Return how much jobs were slowed down by others, for each workload and row."""
    lines = []
    for kind, row, runs in _rows(_sorted(found)):
        shown = [interval(list(runs["stretch"]), 3), interval(list(runs["tail"]), 2), f"{runs['worst'].max():.2f}"]
        lines.append([kind, row, *shown, *(interval(list(runs[name]), 1) for name in ("slowed", "shared"))])
    head = ["workload", "placement", "mean stretch", "95 %", "worst job", f"% of jobs over {SLOWED:g}"]
    return table([*head, "% of time with shared links"], lines, 2)


def price_table(found: pd.DataFrame) -> str:
    """Return what placements cost and gain, for each workload and row; waits and times also relative to the base."""
    bases = {kind: runs for kind, row, runs in _rows(found) if row == BASE}
    lines = []
    for kind, row, runs in _rows(_sorted(found)):
        figures = [("utilisation", 3), ("useful", 3), ("runtime", 2), ("mean_waiting_time", 0)]
        told = [interval(list(runs[name]), digits) for name, digits in figures]
        for name in ("mean_waiting_time", "mean_turnaround_time", "makespan"):
            changes = 100 * (runs[name] / bases[kind][name] - 1)
            told.append("" if row == BASE else f"{interval(list(changes), 0, '+')} %")
        lines.append([kind, row, *told, interval(list(runs["slowdown"]), 2)])
    head = ["workload", "placement", "utilisation", "useful utilisation", "run time", "wait (s)", "wait"]
    return table([*head, "turnaround", "makespan", "slowdown"], lines, 2)


def shape_table(found: pd.DataFrame) -> str:
    """Return how the allocations stand in the torus."""
    lines = [
        [
            kind,
            row,
            interval(list(runs["mean_compactness"]), 2),
            "" if runs["mean_proximity"].isna().any() else interval(list(runs["mean_proximity"]), 2),
            interval(list(runs["mean_locality_factor"]), 2),
        ]
        for kind, row, runs in _rows(_sorted(found))
    ]
    return table(["workload", "placement", "gamma (links)", "rho (links per host)", "locality factor"], lines, 2)


def summary(found: pd.DataFrame) -> str:
    """Return the price of the promise that no job under convex is slowed down."""
    by_row = {(kind, row): runs for kind, row, runs in _rows(found)}
    lines = []
    for kind in SHOWN.values():
        kept, base = by_row[kind, PROMISED], by_row[kind, BASE]
        figures = [("utilisation", 3), ("useful", 3), ("mean_waiting_time", 0), ("mean_turnaround_time", 0)]
        lines.append(
            [
                kind,
                *(f"{base[name].mean():.{digits}f} → {interval(list(kept[name]), digits)}" for name, digits in figures),
            ]
        )
    return table(["workload", "utilisation", "useful utilisation", "wait (s)", "turnaround (s)"], lines)


def stretch_picture(path: Path, found: pd.DataFrame) -> None:
    """Draw the distribution of stretches of every row, one field for each workload in which there are any."""
    order = list(found["dispatcher"].unique())
    slowed = [kind for kind, runs in found.groupby("workload", sort=False) if runs["worst"].max() > SLOWED]
    shown = [(SHOWN[kind], found[found["workload"] == kind]) for kind in SHOWN if kind in slowed]
    with style.own_style():
        figure, fields = style.new_figure(1.3 + 2.5 * len(shown), rows=len(shown))
        drawn = {}
        for axes, (kind, by_row) in zip(fields, shown, strict=True):
            for row, runs in by_row.groupby("dispatcher", sort=False):
                index = order.index(row)
                values, shares = style.quantiles(np.concatenate(list(runs["stretches"])))
                (drawn[row],) = axes.step(
                    100 * shares, values, where="pre", label=row, linewidth=1.4, **style.series_style(index)
                )
            axes.axhline(SLOWED, color=style.FAINT, linewidth=0.8, linestyle=":")
            axes.set_xlim(0, 100)
            axes.set_ylim(bottom=0.9)
            axes.set_ylabel("run time over that alone")
            axes.set_title(kind, loc="left", fontsize=9.8)
            axes.grid(visible=True, axis="y")
        fields[-1].set_xlabel("% of the jobs, in ascending order")
        figure.legend(drawn.values(), drawn, loc="outside upper left", ncols=2)
    write_whole(path, style.alone(figure, "stretch", "How much other jobs slowed each job down; dotted: 2 %"))


def wait_picture(path: Path, found: pd.DataFrame) -> None:
    """Draw the mean wait of every row with its 95 % confidence interval, one field for each workload."""
    shown = [(SHOWN[kind], found[found["workload"] == kind]) for kind in SHOWN]
    with style.own_style():
        height = 0.4 + sum(0.55 + 0.2 * by_row["dispatcher"].nunique() for _, by_row in shown)
        figure, fields = style.new_figure(height, len(shown))
        for axes, (kind, by_row) in zip(fields, shown, strict=True):
            rows = list(by_row["dispatcher"].unique())
            for at, row in enumerate(rows):
                waits = [wait / 60 for wait in by_row[by_row["dispatcher"] == row]["mean_waiting_time"]]
                axes.errorbar(
                    [float(np.mean(waits))],
                    [at],
                    xerr=[half_width(waits)],
                    marker="o",
                    markersize=4,
                    capsize=2.5,
                    color=style.SERIES[0],
                )
            axes.set_yticks(range(len(rows)), rows)
            axes.set_ylim(len(rows) - 0.5, -0.5)
            axes.set_xlim(left=0)
            axes.set_title(kind, loc="left", fontsize=9.8)
            axes.grid(visible=True, axis="x")
        fields[-1].set_xlabel("mean wait (minutes)")
    write_whole(path, style.alone(figure, "wait", "How long jobs wait under each placement"))


_PARTS = ("shapes", "local")
SECTIONS = {
    "summary": ("shapes", summary),
    "stretch": (_PARTS, stretch_table),
    "price": (_PARTS, price_table),
    "shape": (_PARTS, shape_table),
}
PICTURES = {"stretch.svg": (_PARTS, stretch_picture), "wait.svg": (_PARTS, wait_picture)}
