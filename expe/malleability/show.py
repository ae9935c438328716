"""Tables and the picture of what was measured, with intervals over the slices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from grid import BOOTSTRAP_SEED, POLICIES, RESAMPLES, SCALABILITIES, SHARES, Case
from numpy.typing import NDArray
from scipy import stats

from batdispatch.inputs.files import write_whole
from batdispatch.results.report import style
from batdispatch.runs.over_seeds import table


class Measured(NamedTuple):
    """What came of a run, as means over its jobs: seconds, ratios, resizes a job, CPU seconds."""

    wait: float
    #: Bounded slowdown by the time that the job takes in the log.
    slowdown: float
    #: Share of the hosts that jobs held, from the first submission to the last one.
    utilisation: float
    execution: float
    turnaround: float
    killed: float
    expansions: float
    shrinks: float
    cpu: float
    #: Least and largest mean wait over the seeds.
    least: float = float("nan")
    most: float = float("nan")

    @classmethod
    def mean(cls, runs: Sequence[Measured]) -> Measured:
        """Return the mean of some runs of one slice, with the least and the largest wait of them."""
        waits = [run.wait for run in runs]
        means = cls(*(float(np.mean(values)) for values in zip(*runs, strict=True)))
        return means._replace(least=min(waits), most=max(waits))


#: Case -> what it did on each slice.
Found = Mapping[Case, Sequence[Measured]]
HOUR = 3600.0
#: Measure of (new values, old values) over an axis.
Measure = Callable[[NDArray[np.float64], NDArray[np.float64], int], Any]


class Change(NamedTuple):
    """How much something differs from what it is without malleable jobs, with a 95 % interval."""

    value: float
    low: float
    high: float

    def text(self, *, points: bool = False) -> str:
        """Return the change in percent, or in percentage points."""
        digits = 1 if points else 0
        return f"{100 * self.value:+.{digits}f} [{100 * self.low:+.{digits}f}, {100 * self.high:+.{digits}f}]"


def column(runs: Sequence[Measured], metric: str) -> NDArray[np.float64]:
    """Return a metric of each slice."""
    return np.array([getattr(run, metric) for run in runs], dtype=np.float64)


def change(rigid: Sequence[Measured], runs: Sequence[Measured], metric: str) -> Change:
    """Return by how much the mean of a metric over the slices is larger, as a share of that without malleable jobs."""
    return _over_slices(rigid, runs, metric, lambda new, old, axis: new.mean(axis) / old.mean(axis) - 1.0)


def difference(rigid: Sequence[Measured], runs: Sequence[Measured], metric: str) -> Change:
    """Return by how much the mean of a metric over the slices is larger."""
    return _over_slices(rigid, runs, metric, lambda new, old, axis: new.mean(axis) - old.mean(axis))


def _over_slices(rigid: Sequence[Measured], runs: Sequence[Measured], metric: str, measure: Measure) -> Change:
    """Return a measure of two paired samples with its percentile interval; slices are drawn with all their runs."""
    new, old = column(runs, metric), column(rigid, metric)
    value = float(measure(new, old, -1))
    if len(new) == 1:
        return Change(value, value, value)
    found = stats.bootstrap(
        (new, old),
        lambda new, old, axis=-1: measure(new, old, axis),
        paired=True,
        vectorized=True,
        n_resamples=RESAMPLES,
        method="percentile",
        rng=np.random.default_rng(BOOTSTRAP_SEED),
    )
    return Change(value, float(found.confidence_interval.low), float(found.confidence_interval.high))


def base_table(rigid: Sequence[Measured]) -> str:
    """Return what easy does with the log as it is."""
    wait, execution = (column(rigid, metric) / HOUR for metric in ("wait", "execution"))
    busiest = np.sort(column(rigid, "wait") / HOUR)
    cells = [
        f"{len(rigid)}",
        f"{wait.mean():.2f}",
        f"{busiest[0]:.2f} to {busiest[-1]:.2f}",
        f"{column(rigid, 'slowdown').mean():.1f}",
        f"{100 * column(rigid, 'utilisation').mean():.1f}",
        f"{execution.mean():.2f}",
        f"{column(rigid, 'killed').sum():.0f}",
    ]
    head = ["slices", "wait (h)", "of a slice", "bounded slowdown", "utilisation (%)", "execution (h)", "killed"]
    return table(head, [cells], 0)


def summary(rigid: Sequence[Measured], found: Found) -> str:
    """Return in words what the main table shows."""
    published = Case()
    gains = {share: _by(change(rigid, found[published._replace(share=share)], "wait")) for share in SHARES}
    wait = column(rigid, "wait").mean() / HOUR
    told = ", ".join(f"{gain} if {100 * share:.0f} % of them can be resized" for share, gain in gains.items())
    slowdown, execution, turnaround = (
        _by(change(rigid, found[published], metric)) for metric in ("slowdown", "execution", "turnaround")
    )
    others = ", ".join(
        f"{_by(change(rigid, found[case], 'wait'))} under `{case.policy}`"
        for case in (Case(policy) for policy in POLICIES)
        if case != published
    )
    return (
        f"Under `easy`, the jobs of KTH-SP2 wait {wait:.2f} h on average. Suppose that n hosts are n^0.7 times as fast "
        f"as one. Then resizing under the policy `{published.policy}` changes the mean wait by {told}. If all can be "
        f"resized, the mean bounded slowdown changes by {slowdown}, the time that jobs run by {execution}, and the "
        f"time from submission to end by {turnaround}. The other policies then change the mean wait by {others}."
    )


def _by(change: Change) -> str:
    return f"{100 * change.value:+.0f} % [{100 * change.low:+.0f}, {100 * change.high:+.0f}]"


_HEAD = [
    "wait (h)",
    "wait (%)",
    "bounded slowdown (%)",
    "execution (%)",
    "turnaround (%)",
    "utilisation (points)",
    "expansions",
    "shrinks",
]


def _cells(rigid: Sequence[Measured], runs: Sequence[Measured]) -> list[str]:
    return [
        f"{column(runs, 'wait').mean() / HOUR:.2f}",
        *(change(rigid, runs, metric).text() for metric in ("wait", "slowdown", "execution", "turnaround")),
        difference(rigid, runs, "utilisation").text(points=True),
        *(f"{column(runs, metric).mean():.2f}" for metric in ("expansions", "shrinks")),
    ]


def shares_table(rigid: Sequence[Measured], found: Found) -> str:
    """Return each policy with each share of malleable jobs."""
    rows = []
    for policy in POLICIES:
        for share in SHARES:
            case = Case(policy, share)
            runs = found[case]
            spread = "" if len(case.seeds) == 1 else _spread(rigid, runs)
            rows.append([policy, f"{100 * share:.0f} %", *_cells(rigid, runs), spread])
    return table(["policy", "malleable", *_HEAD, "wait by seed (%)"], rows, 2)


def _spread(rigid: Sequence[Measured], runs: Sequence[Measured]) -> str:
    """Return how far the seeds of a slice are apart, on average over the slices, as a share of the mean wait."""
    apart = (column(runs, "most") - column(runs, "least")).mean() / column(rigid, "wait").mean()
    return f"{100 * apart:.0f} apart"


def scalability_table(rigid: Sequence[Measured], found: Found) -> str:
    """Return each policy with all jobs malleable, for each assumption about their speed."""
    return table(
        ["speed of n hosts", "policy", *_HEAD],
        [
            [law, policy, *_cells(rigid, found[Case(policy, scalability=law)])]
            for law in SCALABILITIES
            for policy in POLICIES
        ],
        2,
    )


def assumptions_table(rigid: Sequence[Measured], found: Found) -> str:
    """Return what other walltimes and largest sizes do, with all jobs malleable."""
    rows = {
        "as above": Case(),
        "no job grows beyond what it asks for": Case(expand=1),
        "walltimes are scaled": Case(walltime="scaled"),
    }
    shown = [[name, *_cells(rigid, found[case])] for name, case in rows.items()]
    return table(["assumption", *_HEAD], shown)


def picture(path: Path, rigid: Sequence[Measured], found: Found) -> None:
    """Draw how wait and execution time change with the share of malleable jobs, with 95 % intervals."""
    with style.styled():
        figure, panels = style.new_figure(5.2, rows=2)
        metrics = {"wait": "mean wait", "execution": "mean execution time"}
        for axes, (metric, heading) in zip(panels, metrics.items(), strict=True):
            axes.axhline(0.0, color=style.FAINT, linewidth=0.8)
            for index, policy in enumerate(POLICIES):
                changes = [change(rigid, found[Case(policy, share)], metric) for share in SHARES]
                beside = 1.5 * (index - (len(POLICIES) - 1) / 2)
                values = [100 * one.value for one in changes]
                reach = [
                    [100 * (one.value - one.low) for one in changes],
                    [100 * (one.high - one.value) for one in changes],
                ]
                axes.errorbar(
                    [0.0, *(100 * share + beside for share in SHARES)],
                    [0.0, *values],
                    yerr=[[0.0, *low] for low in reach],
                    label=policy,
                    marker="o",
                    markersize=3.5,
                    capsize=2.5,
                    linewidth=1.3,
                    **style.series_style(index),
                )
            axes.set_ylabel(f"{heading} (%)")
            axes.set_xticks([0, *(100 * share for share in SHARES)])
            axes.grid(visible=True, axis="y")
        panels[0].legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, ncols=3)
        panels[-1].set_xlabel("jobs that can be resized (%)")
    write_whole(
        path, style.alone(figure, path.stem, "change of mean wait and execution time by share of malleable jobs")
    )
