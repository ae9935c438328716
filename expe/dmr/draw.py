"""Pictures of what was measured: figures 3 to 8 of the paper, and what load changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from batdispatch.abilities.campaigns.statistics.student import half_width
from batdispatch.inputs.files import write_whole
from batdispatch.report import style
from expe.dmr.paper import FIXED_UTILISATION, GAINS, HOSTS, PAPER
from expe.dmr.tables import History, Measured, Pairs, column, falls, resized

HOUR = 3600.0
#: Name in the workload -> in the pictures.
APPLICATIONS = {"cg": "conjugate gradient", "jacobi": "Jacobi", "n-body": "N-body"}


def stages_picture(path: Path, rows: pd.DataFrame) -> None:
    """Draw the stages of resizes between two sizes as bars, as figure 3."""
    found = resized(rows)
    panels = {"scheduling": "scheduling (s)", "moving": "resize (s)"}
    with style.own_style():
        figure, every = style.new_grid(1, len(panels), 4.0)
        for index, (axes, (stage, label)) in enumerate(zip(every, panels.items(), strict=True)):
            names = [f"{one.before} to {one.after}" for one in found]
            axes.barh(names, [getattr(one, stage) for one in found], 0.7, color=style.series_style(index)["color"])
            axes.invert_yaxis()
            axes.set_xlabel(label)
            axes.grid(visible=True, axis="x")
    write_whole(path, style.alone(figure, path.stem, "stages of resizes between two numbers of nodes"))


def gains_picture(path: Path, found: Mapping[int, Pairs], metric: str, label: str) -> None:
    """Draw a metric of fixed and malleable jobs for each number of jobs, with the gains, as figures 4 and 5.

    Crosses are the paper's values, where it states them.
    """
    with style.own_style():
        figure, (axes,) = style.new_figure(3.1)
        for index, kind in enumerate(("fixed", "malleable")):
            runs = [
                [value / HOUR for value in column([pair[index] for pair in each], metric)] for each in found.values()
            ]
            means = [float(np.mean(values)) for values in runs]
            places = [at + (0.2 if index else -0.2) for at in range(len(found))]
            color = style.series_style(index)["color"]
            axes.barh(
                places,
                means,
                0.36,
                xerr=list(map(half_width, runs)),
                color=color,
                label=kind,
                error_kw={"linewidth": 0.9},
            )
            if metric == "wait":
                theirs = [PAPER[size][index].wait / HOUR for size in found]
                mark = "the paper" if index else None
                axes.plot(theirs, places, "x", color=style.INK, markersize=5, label=mark, linestyle="none")
        for at, (size, each) in enumerate(found.items()):
            paper = GAINS[size][metric == "wait"]
            told = f"-{100 * np.mean(falls(each, metric)):.0f} % (paper -{100 * paper:.0f} %)"
            ends = float(np.mean(column([pair[1] for pair in each], metric))) / HOUR
            ends = max(ends, PAPER[size][1].wait / HOUR if metric == "wait" else 0.0)
            axes.text(ends + 0.025 * axes.get_xlim()[1], at + 0.2, told, va="center", fontsize=8.5)
        axes.set_yticks(range(len(found)), [f"{size} jobs" for size in found])
        axes.set_xlabel(label)
        axes.grid(visible=True, axis="x")
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, ncols=3)
    write_whole(path, style.alone(figure, path.stem, f"{label} of fixed and malleable jobs"))


def evolution_picture(path: Path, histories: Mapping[str, History]) -> None:
    """Draw allocated nodes, running and completed jobs over time, as figure 6."""
    panels = {"nodes": "allocated nodes", "running": "running jobs", "completed": "completed jobs"}
    with style.own_style():
        figure, every = style.new_figure(6.0, rows=len(panels))
        for axes, (field, label) in zip(every, panels.items(), strict=True):
            for index, (kind, history) in enumerate(histories.items()):
                drawn = style.series_style(index) | {"linewidth": 1.0}
                axes.step(history.moments / HOUR, getattr(history, field), where="post", label=kind, **drawn)
            axes.set_ylabel(label)
            axes.set_ylim(0, HOSTS + 2 if field == "nodes" else None)
            axes.set_xlim(left=0)
            axes.grid(visible=True, axis="y")
        every[0].legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, ncols=2)
        every[-1].set_xlabel("time (h)")
    write_whole(path, style.alone(figure, path.stem, "allocated nodes, running and completed jobs over time"))


def jobs_picture(path: Path, histories: Mapping[str, History], field: str) -> None:
    """Draw a time of each job, by application, fixed and malleable, as a row of figure 7."""
    label = {"execution": "execution (s)", "wait": "wait (s)"}[field]
    curves = {kind: (history, getattr(history, field)) for kind, history in histories.items()}
    _by_application(path, curves, label)


def differences_picture(path: Path, histories: Mapping[str, History]) -> None:
    """Draw fixed minus malleable times of each job, by application, as figure 8."""
    fixed, malleable = histories.values()
    curves = {
        name: (fixed, getattr(fixed, name) - getattr(malleable, name)) for name in ("completion", "execution", "wait")
    }
    _by_application(path, curves, "fixed - malleable (s)")


def _by_application(path: Path, curves: Mapping[str, tuple[History, np.ndarray]], label: str) -> None:
    with style.own_style():
        figure, panels = style.new_grid(1, len(APPLICATIONS), 2.7)
        for axes, (application, title) in zip(panels, APPLICATIONS.items(), strict=True):
            for index, (name, (history, values)) in enumerate(curves.items()):
                chosen = [at for at, other in enumerate(history.applications) if other == application]
                drawn = style.series_style(index) | {"linestyle": "none"}
                axes.plot(np.array(chosen) + 1, values[chosen], label=name, marker="o", markersize=2.8, **drawn)
            axes.set_title(title, fontsize=9.8)
            axes.grid(visible=True, axis="y")
        panels[0].set_ylabel(label)
        panels[1].set_xlabel("job")
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper left", ncols=3)
    write_whole(path, style.alone(figure, path.stem, f"{label} of each job, by application"))


def load_picture(path: Path, found: Mapping[float, Pairs]) -> None:
    """Draw by how much wait, workload time and completion fall, over the time between arrivals."""
    shown = {"wait": "wait", "completion": "completion", "workload_time": "workload time"}
    curves = {label: {gap: falls(runs, metric) for gap, runs in found.items()} for metric, label in shown.items()}
    title = "what malleable jobs gain, over the time between arrivals"
    _over(path, curves, "mean time between two arrivals (s)", "falls by (%)", title, level=0.0)


def modes_picture(path: Path, varied: Mapping[float, Mapping[str, Sequence[Measured]]]) -> None:
    """Draw the utilisation with flexible sleeps under each mode, over their mean run time."""
    curves = {
        mode: {mean: column(modes[mode], "utilisation") for mean, modes in varied.items()}
        for mode in next(iter(varied.values()))
    }
    title = "utilisation with flexible sleeps; dotted: the paper's fixed run"
    _over(path, curves, "mean run time on the size at the start (s)", "utilisation (%)", title, level=FIXED_UTILISATION)


def _over(
    path: Path,
    curves: Mapping[str, Mapping[float, Sequence[float]]],
    across: str,
    up: str,
    title: str,
    *,
    level: float,
) -> None:
    """Draw shares of each seed in percent over what is varied, with their intervals, and a dotted level."""
    with style.own_style():
        figure, (axes,) = style.new_figure(2.9)
        for index, (label, curve) in enumerate(curves.items()):
            values = [[100 * value for value in each] for each in curve.values()]
            axes.errorbar(
                list(curve),
                [float(np.mean(each)) for each in values],
                yerr=list(map(half_width, values)),
                label=label,
                marker="o",
                markersize=3.5,
                capsize=2.5,
                **style.series_style(index),
            )
        axes.axhline(100 * level, color=style.FAINT, linewidth=0.8, linestyle=":")
        axes.set_xlabel(across)
        axes.set_ylabel(up)
        axes.grid(visible=True, axis="y")
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, ncols=3)
    write_whole(path, style.alone(figure, path.stem, title))
