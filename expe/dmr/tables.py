"""Tables of what was measured, and the history of a run that some of them and the pictures are made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from batdispatch.results.jobs_file import read_columns
from batdispatch.results.lineage import FILE as LINEAGE
from batdispatch.results.lineage import logical, read_lineage
from expe.common.tables import interval, table
from expe.dmr.paper import (
    FIXED_UTILISATION,
    GAINS,
    NEAR,
    NO_FURTHER,
    PAPER,
    TABLE_1,
    TABLE_2,
    TIMEOUT,
)

KINDS = ("expand", "shrink")
#: Metric of table 4 -> heading, digits behind the point, factor.
METRICS = {
    "utilisation": ("utilisation (%)", 1, 100.0),
    "wait": ("wait (s)", 0, 1.0),
    "execution": ("execution (s)", 0, 1.0),
    "completion": ("completion (s)", 0, 1.0),
}


class Measured(NamedTuple):
    """What came of one run: means over its jobs in seconds, the workload's time in seconds, and what the layer did."""

    utilisation: float
    wait: float
    execution: float
    completion: float
    workload_time: float
    jobs: int
    resizing: Mapping[str, Any]
    folder: Path

    def per_job(self, action: str) -> float:
        """Return how many resizes of a kind a job had on average."""
        return float(self.resizing[action]["count"]) / self.jobs


#: Fixed and malleable jobs of each seed.
Pairs = Sequence[tuple[Measured, Measured]]
#: Flexible sleeps of each seed, under each mode.
Modes = Mapping[str, Sequence[Measured]]


def column(runs: Sequence[Measured], metric: str) -> list[float]:
    """Return a metric of each run."""
    return [float(getattr(run, metric)) for run in runs]


def falls(found: Pairs, metric: str) -> list[float]:
    """Return by which share a metric falls from fixed to malleable, for each seed."""
    return [1 - getattr(malleable, metric) / getattr(fixed, metric) for fixed, malleable in found]


def percent(values: Sequence[float], digits: int = 1) -> str:
    """Return mean and interval of shares, in percent."""
    return interval([100 * value for value in values], digits)


def within(holds: bool) -> str:
    """Return how a table says whether something is as expected."""
    return "yes" if holds else "**no**"


def table_4(found: Mapping[int, Pairs]) -> str:
    """Return table 4 of the paper beside ours."""
    rows = []
    for size, runs in found.items():
        for index, kind in enumerate(("fixed", "malleable")):
            cells = []
            for metric, (_, digits, factor) in METRICS.items():
                ours = [factor * value for value in column([pair[index] for pair in runs], metric)]
                cells += [f"{factor * getattr(PAPER[size][index], metric):,.{digits}f}", interval(ours, digits)]
            rows.append([str(size), kind, *cells])
    heads = [text for heading, _, _ in METRICS.values() for text in (f"{heading}: paper", "ours")]
    return table(["jobs", "", *heads], rows, 2)


def schedulers_table(found: Mapping[tuple[str, int], Pairs]) -> str:
    """Return waits and workload times under each scheduler."""
    rows = []
    for (case, size), runs in found.items():
        waits = [interval(column([pair[index] for pair in runs], "wait"), 0) for index in (0, 1)]
        used = percent(column([pair[1] for pair in runs], "utilisation"))
        rows.append(
            [str(size), case, *waits, percent(falls(runs, "wait")), percent(falls(runs, "workload_time")), used]
        )
    heads = ["fixed wait (s)", "malleable wait (s)", "wait falls (%)", "workload time falls (%)", "utilisation (%)"]
    lines = []
    for size in dict.fromkeys(size for _, size in found):
        fixed, malleable = PAPER[size]
        told = [f"{fixed.wait:,.0f}", f"{malleable.wait:,.0f}", *(f"{100 * gain:.1f}" for gain in GAINS[size][::-1])]
        lines.append([str(size), "the paper", *told, f"{100 * malleable.utilisation:.1f}"])
        lines += [row for row in rows if row[0] == str(size)]
    return table(["jobs", "", *heads], lines, 2)


def curves_table(found: Mapping[str, Pairs]) -> str:
    """Return what the scalability of CG and Jacobi changes."""
    return _varied("speed of CG and Jacobi", found)


def load_table(found: Mapping[float, Pairs]) -> str:
    """Return what the load changes."""
    return _varied("seconds between arrivals", {f"{gap:g}": runs for gap, runs in found.items()})


def _varied(head: str, found: Mapping[str, Pairs]) -> str:
    rows = []
    for case, runs in found.items():
        fixed, malleable = ([pair[index] for pair in runs] for index in (0, 1))
        cells = [percent(column(each, "utilisation")) for each in (fixed, malleable)]
        cells += [interval(column(each, "wait"), 0) for each in (fixed, malleable)]
        cells += [percent(falls(runs, metric)) for metric in ("wait", "workload_time", "completion")]
        rows.append([case, *cells, interval(column(malleable, "execution"), 0)])
    heads = ["utilisation: fixed (%)", "malleable (%)", "wait: fixed (s)", "malleable (s)", "wait falls (%)"]
    heads += ["workload time falls (%)", "completion falls (%)", "execution, malleable (s)"]
    return table([head, *heads], rows)


# ---------------------------------------------------------------------- flexible sleeps


def nearest(near: Mapping[float, Modes]) -> float:
    """Return the mean run time with which fixed jobs use the machine most nearly as much as the paper's, on average."""

    def away(mean: float) -> float:
        return abs(float(np.mean(column(near[mean]["fixed"], "utilisation"))) - FIXED_UTILISATION)

    return min(near, key=away)


def actions_table(modes: Modes) -> str:
    """Return table 1 of the paper beside ours."""
    rows = []
    for mode, paper in TABLE_1.items():
        runs = modes[mode]

        def seconds(action: str, what: str, runs: Sequence[Measured] = runs) -> list[float]:
            return [float(run.resizing[action][what]) for run in runs if run.resizing[action]["count"]]

        def tried(run: Measured) -> float:
            done, dropped = run.resizing["expand"], run.resizing["dropped_expansions"]
            return float((done["count"] * done.get("mean", 0.0) + dropped * TIMEOUT) / (done["count"] + dropped))

        for what, theirs, ours, digits in (
            ("expansions per job", paper.expansions, [run.per_job("expand") for run in runs], 3),
            ("expansions dropped per job", None, [run.resizing["dropped_expansions"] / run.jobs for run in runs], 3),
            ("shrinks per job", paper.shrinks, [run.per_job("shrink") for run in runs], 3),
            ("expansion, mean (s)", None, seconds("expand", "mean"), 2),
            ("the same with dropped ones (s)", paper.expand, list(map(tried, runs)), 2),
            ("expansion, longest (s)", paper.longest_expansion, [max(seconds("expand", "most"))], 2),
            ("shrink, mean (s)", paper.shrink, seconds("shrink", "mean"), 2),
        ):
            rows.append([mode, what, "" if theirs is None else f"{theirs:.{digits}f}", interval(ours, digits)])
    return table(["", "", "paper", "ours"], rows, 2)


def modes_table(modes: Modes, mean: float) -> str:
    """Return table 2 of the paper beside ours, and what is expected of the order."""
    fixed = modes["fixed"]
    rows = []
    for mode, paper in TABLE_2.items():
        runs = list(zip(fixed, modes[mode], strict=True))
        cells = [f"{100 * paper.utilisation:.1f}", percent(column(modes[mode], "utilisation"))]
        for metric in ("wait", "execution", "completion"):
            told = ["", ""]
            if mode != "fixed":
                told = [f"{100 * getattr(paper, metric):.1f}", percent(falls(runs, metric))]
            cells += told
        rows.append([mode, *cells])
    used = {mode: float(np.mean(column(runs, "utilisation"))) for mode, runs in modes.items()}
    heads = [
        text
        for what in ("utilisation", "wait falls", "execution falls", "completion falls")
        for text in (f"{what} (%): paper", "ours")
    ]
    expected = [
        f"fixed within {NEAR:.0%} of {FIXED_UTILISATION:.1%}: {within(abs(used['fixed'] - FIXED_UTILISATION) <= NEAR)}",
        f"sync highest: {within(max(used, key=lambda mode: used[mode]) == 'sync')}",
        f"async within {NO_FURTHER:.0%} of fixed: {within(abs(used['async'] - used['fixed']) <= NO_FURTHER)}",
    ]
    text = f"Mean run time on the size at the start: {mean:g} s. As expected: {'; '.join(expected)}."
    return f"{table(['', *heads], rows)}\n\n{text}"


def fs_near_table(near: Mapping[float, Modes]) -> str:
    """Return what scales near the one of table 2 give, each with whether its fixed jobs use as much as the paper's."""
    rows = []
    for mean, modes in near.items():
        used = {mode: float(np.mean(column(runs, "utilisation"))) for mode, runs in modes.items()}
        rows.append(
            [
                f"{mean:g}",
                *(percent(column(runs, "utilisation")) for runs in modes.values()),
                f"{100 * (used['async'] - used['fixed']):.1f}",
                within(abs(used["fixed"] - FIXED_UTILISATION) <= NEAR),
                within(used["sync"] >= max(used.values())),
                within(abs(used["async"] - used["fixed"]) <= NO_FURTHER),
            ]
        )
    heads = [f"{mode} (%)" for mode in next(iter(near.values()))]
    heads += ["async - fixed", f"fixed within {NEAR:.0%}", "sync highest", f"async within {NO_FURTHER:.0%}"]
    return table(["mean run time (s)", *heads], rows)


def fs_load_table(varied: Mapping[float, Modes]) -> str:
    """Return what the load changes for flexible sleeps."""
    rows = []
    for mean, modes in varied.items():
        cells = [percent(column(runs, "utilisation")) for runs in modes.values()]
        for mode in ("sync", "async"):
            runs = modes[mode]
            cells += [f"{np.mean([run.per_job(action) for run in runs]):.2f}" for action in ("shrink", "expand")]
            cells.append(percent(falls(list(zip(modes["fixed"], runs, strict=True)), "completion")))
        rows.append([f"{mean:g}", *cells])
    heads = [f"utilisation: {mode} (%)" for mode in next(iter(varied.values()))]
    heads += [
        f"{mode}: {what}"
        for mode in ("sync", "async")
        for what in ("shrinks per job", "expansions per job", "completion falls (%)")
    ]
    return table(["mean run time (s)", *heads], rows)


# ---------------------------------------------------------------------- what resizes cost


class Resized(NamedTuple):
    """Resizes of one kind: sizes, and mean seconds of the stages of figure 3."""

    before: int
    after: int
    scheduling: float
    moving: float


def resized(rows: pd.DataFrame) -> list[Resized]:
    """Return the resizes of figure 3: expansions before shrinks, small ones before large ones."""
    found = []
    for row in rows.to_dict("records"):
        least, kind = int(row["workload.least"]), row["workload.action"]
        sizes = least, least * int(row["workload.factor"])
        before, after = sizes if kind == "expand" else sizes[::-1]
        found.append(Resized(before, after, row[f"{kind}_scheduling"], row[f"{kind}_moving"]))
    return sorted(found, key=lambda one: (one.before > one.after, max(one[:2]) / min(one[:2]), one.before))


def stages_table(rows: pd.DataFrame) -> str:
    """Return the stages of resizes between two sizes."""
    lines = [
        [
            f"{one.before} to {one.after}",
            f"{one.scheduling:.3f}",
            f"{one.moving:.3f}",
            f"{one.scheduling + one.moving:.3f}",
        ]
        for one in resized(rows)
    ]
    return table(["nodes", "scheduling (s)", "resize (s)", "both (s)"], lines)


def growing_table(rows: pd.DataFrame) -> str:
    """Return what costs that grow with the nodes change for flexible sleeps."""
    lines = []
    names = ["dispatcher.unit_cost", "dispatcher.acknowledge_cost"]
    for costs, some in rows.assign(**{name: rows[name].astype(float) for name in names}).groupby(names):
        cells = [interval((some[f"{kind}_scheduling"] + some[f"{kind}_moving"]).tolist(), 2) for kind in KINDS]
        cells += [interval(some[f"{kind}s_per_job"].tolist(), 2) for kind in KINDS]
        cells += [interval(some[name].tolist(), 0) for name in ("mean_waiting_time", "execution")]
        lines.append([f"{cost:g}" for cost in costs] + [*cells, percent(some["utilisation"].tolist())])
    heads = ["expansion (s)", "shrink (s)", "expansions per job", "shrinks per job", "wait (s)", "execution (s)"]
    return table(["for each node (s)", "for each process (s)", *heads, "utilisation (%)"], lines, 2)


# ---------------------------------------------------------------------- one run, job by job and over time

Floats = NDArray[np.float64]


class History(NamedTuple):
    """A run job by job, in the order of ids, and over time: each moment, and what holds from then on.

    Attributes:
        applications: of each job.
        wait: of each job, s; as the next two.
        execution: of each job.
        completion: of each job.
        moments: s, float64 [moment].
        nodes: allocated, [moment].
        running: number of jobs, [moment].
        completed: number of jobs, [moment].
    """

    applications: list[str]
    wait: Floats
    execution: Floats
    completion: Floats
    moments: Floats
    nodes: Floats
    running: Floats
    completed: Floats


def history_of(measured: Measured) -> History:
    """Return the history of a run, from its files."""
    segments = read_columns(measured.folder / "jobs.csv")
    jobs = logical(segments, read_lineage(measured.folder / LINEAGE, segments))
    order = np.argsort(jobs.job_id)
    begins, ends = segments.starting_time, segments.finish_time
    moments = np.unique(np.concatenate([[0.0], begins, ends]))
    units = segments.requested_number_of_resources.astype(float)

    def level(times: Floats, weights: Floats) -> Floats:
        change = np.zeros(len(moments))
        np.add.at(change, np.searchsorted(moments, times), weights)
        total: Floats = np.cumsum(change)
        return total

    one = np.ones(len(order))
    return History(
        applications=[str(name).partition("-")[2] for name in jobs.job_id[order]],
        wait=jobs.waiting_time[order],
        execution=jobs.execution_time[order],
        completion=jobs.turnaround_time[order],
        moments=moments,
        nodes=level(begins, units) - level(ends, units),
        running=level(jobs.starting_time, one) - level(jobs.finish_time, one),
        completed=level(jobs.finish_time, one),
    )


def share_of_second_half(history: History, holds: Callable[[History], NDArray[np.bool_]]) -> float:
    """Return in which share of the second half of a run something holds."""
    end = history.moments[-1]
    lasts = np.diff(np.maximum(history.moments, end / 2))
    return float(lasts[holds(history)[:-1]].sum() / (end / 2))


def pattern_table(found: Mapping[str, Sequence[History]]) -> str:
    """Return how much of the second half of malleable runs is as the paper tells of it."""

    def five(history: History) -> NDArray[np.bool_]:
        return (history.running == 5) & (history.nodes == 40)

    rows = [
        [case, percent([share_of_second_half(history, five) for history in runs], 0)] for case, runs in found.items()
    ]
    return table(["", "of the second half (%)"], rows)
