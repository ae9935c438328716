"""Tables and pictures of what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from grid import BASE, PLACEMENTS, PROMISED, SLOWED
from numpy.typing import NDArray

from batdispatch.inputs.files import write_whole
from batdispatch.results.report import style
from batdispatch.runs.over_seeds import half_width, interval, table


class Measured(NamedTuple):
    """What came of one run.

    Attributes:
        stretches: run time over the run time alone on the same hosts, float64 [job].
        runtime: mean of the run times over the least ones: what cores and the hosts' own links need.
        utilisation: hosts taken, over all compute hosts, up to the last completion.
        useful: the same, if each job had taken its hosts for its least run time only.
        wait: mean, s.
        turnaround: mean, s.
        slowdown: mean turnaround over least run time, which is the same for all placements.
        makespan: from the first submission to the last completion, s.
        gamma: mean compactness of the allocations, links.
        rho: mean proximity of allocations to the I/O nodes that their jobs ask for, links per host; NaN if none does.
        locality: mean locality factor.
        shared: mean share of its run time in which a job shares a link between routers with another one.
    """

    stretches: NDArray[np.float64]
    runtime: float
    utilisation: float
    useful: float
    wait: float
    turnaround: float
    slowdown: float
    makespan: float
    gamma: float
    rho: float
    locality: float
    shared: float


#: Workload -> row -> what each seed measured.
Found = Mapping[str, Mapping[str, Sequence[Measured]]]


def stretch_table(found: Found) -> str:
    """Return how much jobs were slowed down by others, for each workload and row."""
    lines = []
    for kind, by_row in found.items():
        for row, runs in by_row.items():
            means = [float(run.stretches.mean()) for run in runs]
            tails = [float(np.percentile(run.stretches, 95)) for run in runs]
            slowed = [100 * float(np.mean(run.stretches > SLOWED)) for run in runs]
            worst = max(float(run.stretches.max()) for run in runs)
            shown = [interval(means, 3), interval(tails, 2), f"{worst:.2f}", interval(slowed, 1)]
            lines.append([kind, row, *shown, interval([100 * run.shared for run in runs], 1)])
    head = ["workload", "placement", "mean stretch", "95 %", "worst job", f"% of jobs over {SLOWED:g}"]
    return table([*head, "% of time with shared links"], lines, 2)


def price_table(found: Found) -> str:
    """Return what placements cost and gain, for each workload and row; waits and times also relative to the base."""
    lines = []
    for kind, by_row in found.items():
        for row, runs in by_row.items():
            wait, turnaround, makespan = (
                _change(runs, by_row.get(BASE, ()), metric) for metric in ("wait", "turnaround", "makespan")
            )
            lines.append(
                [
                    kind,
                    row,
                    interval([run.utilisation for run in runs], 3),
                    interval([run.useful for run in runs], 3),
                    interval([run.runtime for run in runs], 2),
                    interval([run.wait for run in runs], 0),
                    wait,
                    turnaround,
                    makespan,
                    interval([run.slowdown for run in runs], 2),
                ]
            )
    head = ["workload", "placement", "utilisation", "useful utilisation", "run time", "wait (s)", "wait"]
    return table([*head, "turnaround", "makespan", "slowdown"], lines, 2)


def _change(runs: Sequence[Measured], base: Sequence[Measured], metric: str) -> str:
    """Return by how many per cent a metric differs from the base's, seed by seed."""
    if not base or runs is base:
        return ""
    ratios = [
        100 * (getattr(ours, metric) / getattr(theirs, metric) - 1) for ours, theirs in zip(runs, base, strict=True)
    ]
    # Not -0.
    mean = f"{round(float(np.mean(ratios))) + 0:+d}"
    return f"{mean} %" if len(ratios) == 1 else f"{mean} ± {half_width(ratios):.0f} %"


def shape_table(found: Found) -> str:
    """Return how the allocations stand in the torus."""
    lines = [
        [
            kind,
            row,
            interval([run.gamma for run in runs], 2),
            "" if any(np.isnan(run.rho) for run in runs) else interval([run.rho for run in runs], 2),
            interval([run.locality for run in runs], 2),
        ]
        for kind, by_row in found.items()
        for row, runs in by_row.items()
    ]
    return table(["workload", "placement", "gamma (links)", "rho (links per host)", "locality factor"], lines, 2)


def summary(found: Found) -> str:
    """Return the promise, and whether it was kept: jobs under convex at most 2 % slower than alone."""
    lines = []
    for kind, by_row in found.items():
        if not by_row.get(PROMISED) or not by_row.get(BASE):
            continue
        kept, base = by_row[PROMISED], by_row[BASE]
        worst = max(float(run.stretches.max()) for run in kept)
        lines.append(
            [
                kind,
                f"{worst:.3f}",
                "yes" if worst <= SLOWED else "**no**",
                interval([float(run.stretches.mean()) for run in base], 3),
                f"{max(float(run.stretches.max()) for run in base):.2f}",
                *(
                    f"{np.mean([getattr(run, name) for run in base]):.{digits}f} → "
                    + interval([getattr(run, name) for run in kept], digits)
                    for name, digits in (("utilisation", 3), ("useful", 3), ("wait", 0), ("turnaround", 0))
                ),
            ]
        )
    head = ["workload", f"{PROMISED}: worst job", f"at most {SLOWED:g}", f"{BASE}: mean", f"{BASE}: worst job"]
    return table([*head, "utilisation", "useful utilisation", "wait (s)", "turnaround (s)"], lines)


def stretch_picture(path: Path, found: Found) -> None:
    """Draw the distribution of stretches of every row, one field for each workload in which there are any."""
    shown = {
        kind: by_row
        for kind, by_row in found.items()
        if any(run.stretches.max() > SLOWED for runs in by_row.values() for run in runs)
    }
    with style.styled():
        figure, fields = style.new_figure(1.3 + 2.5 * len(shown), rows=len(shown))
        drawn = {}
        for axes, (kind, by_row) in zip(fields, shown.items(), strict=True):
            for index, row in enumerate(PLACEMENTS):
                if row not in by_row:
                    continue
                values, shares = style.quantiles(np.concatenate([run.stretches for run in by_row[row]]))
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


def wait_picture(path: Path, found: Found) -> None:
    """Draw the mean wait of every row with its 95 % confidence interval, one field for each workload."""
    with style.styled():
        figure, fields = style.new_figure(0.4 + sum(0.55 + 0.2 * len(by_row) for by_row in found.values()), len(found))
        for axes, (kind, by_row) in zip(fields, found.items(), strict=True):
            rows = [row for row in PLACEMENTS if row in by_row]
            for at, row in enumerate(rows):
                waits = [run.wait / 60 for run in by_row[row]]
                axes.errorbar(
                    [float(np.mean(waits))],
                    [at],
                    xerr=[half_width(waits) if len(waits) > 1 else 0.0],
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
