"""Tables and pictures of what was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from batdispatch.core.errors import SimulationError
from batdispatch.inputs.files import write_whole
from batdispatch.report import style
from batdispatch.results.runs import read_result
from expe.common.tables import table

#: Row that others are compared with, and what the rows without shared links are called.
BASE, ESTIMATED = "HEFT", ", estimated"
_TASKS = "report.tasks."
#: Column -> heading, and how it is shown.
SHOWN = {"gflops": ("Gflop/s", "{:.0f}"), "moved": ("GB", "{:.2f}")}


def columns(row: Mapping[str, Any], run: Path) -> dict[str, float]:
    """Return Gflop/s of the factorisation, from the first task's start to the last one's end, and GB (1e9 bytes) moved.

    Raises:
        SimulationError: a task did not succeed.
    """
    done = sum(count for name, count in row.items() if name.startswith(_TASKS) and not pd.isna(count))
    # The run's jobs are more than the tasks where copies are simulated.
    if done != read_result(run).workload.jobs:
        raise SimulationError(f"{run}: a task did not succeed")
    return {"gflops": row["report.gflops"], "moved": row["report.bytes_moved"] / 1e9}


def _curves(found: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return dispatcher -> its runs by the number of GPUs, in the order of the campaign."""
    return {
        str(name): runs.set_index("platform.gpus").sort_index()
        for name, runs in found.groupby("dispatcher", sort=False)
    }


def gpus_table(found: pd.DataFrame) -> str:
    """Return Gflop/s and GB moved of each row for each number of GPUs."""
    lines = []
    for label, curve in _curves(found).items():
        for name, (metric, (heading, shown)) in zip((label, ""), SHOWN.items(), strict=True):
            lines.append([name, heading, *map(shown.format, curve[metric])])
    return table(["row", "GPUs:", *map(str, sorted(found["platform.gpus"].unique()))], lines, 2)


def ratios_table(found: pd.DataFrame) -> str:
    """Return for each factorisation and number of GPUs how DADA compares with HEFT, as ratios."""
    counts, lines = sorted(found["platform.gpus"].unique()), []
    for kernel, of_kernel in found.groupby("workload", sort=False):
        curves = _curves(of_kernel)
        for label in (name for name in curves if name.startswith("DADA")):
            for names, (metric, (heading, _)) in zip(([str(kernel), label], ["", ""]), SHOWN.items(), strict=True):
                ratios = curves[label][metric] / curves[BASE][metric]
                lines.append([*names, heading, *(f"{ratios[gpus]:.2f}" if gpus in ratios else "" for gpus in counts)])
    return table(["", f"row, over {BASE}", "GPUs:", *map(str, counts)], lines, 3)


def _sweep(found: pd.DataFrame) -> dict[tuple[str, bool], pd.DataFrame]:
    """Return kernel, and whether copies are predicted -> runs by alpha."""
    return {
        (str(kernel), bool(predicted)): runs.set_index("dispatcher.alpha").sort_index()
        for (kernel, predicted), runs in found.groupby(["workload", "dispatcher.communication"], sort=False)
    }


def alpha_table(found: pd.DataFrame) -> str:
    """Return Gflop/s and GB moved for each alpha, without and with the prediction of copies."""
    lines = []
    for (kernel, predicted), runs in _sweep(found).items():
        names = [kernel, "DADA(alpha) + CP" if predicted else "DADA(alpha)"]
        for begin, (metric, (heading, shown)) in zip((names, ["", ""]), SHOWN.items(), strict=True):
            lines.append([*begin, heading, *map(shown.format, runs[metric])])
    alphas = sorted(found["dispatcher.alpha"].unique())
    return table(["", "", "alpha:", *(f"{alpha:g}" for alpha in alphas)], lines, 3)


def transfers_table(found: pd.DataFrame) -> str:
    """Return what sharing links costs: Gflop/s with copies simulated over those with copies estimated."""
    curves, counts = _curves(found[found["workload"] == "cholesky"]), (4, 8)
    lines = []
    for label in (name for name in curves if not name.endswith(ESTIMATED)):
        cells = []
        for gpus in counts:
            shared, alone = curves[label]["gflops"][gpus], curves[label + ESTIMATED]["gflops"][gpus]
            cells += [f"{shared:.0f}", f"{alone:.0f}", f"{shared / alone - 1:+.0%}"]
        lines.append([label, *cells])
    head = [f"{gpus} GPUs, {what}" for gpus in counts for what in ("simulated", "estimated", "difference")]
    return table(["row", *head], lines)


def gpus_picture(path: Path, found: pd.DataFrame) -> None:
    """Draw Gflop/s and GB moved over the number of GPUs, as the slides do."""
    curves = {label: (index, curve) for index, (label, curve) in enumerate(_curves(found).items())}
    _picture(path, f"{path.stem}, 8192 x 8192", "GPUs", curves)


def alpha_picture(path: Path, found: pd.DataFrame) -> None:
    """Draw Gflop/s and GB moved over alpha; dashed: with the prediction of copies."""
    kernels = list(found["workload"].unique())
    # The styles of curves go through all colours before the stroke changes.
    curves = {
        f"{kernel}{' + CP' if predicted else ''}": (kernels.index(kernel) + len(style.SERIES) * predicted, runs)
        for (kernel, predicted), runs in _sweep(found).items()
    }
    _picture(path, "DADA on 8 GPUs", "alpha", curves)


def _picture(path: Path, title: str, across: str, curves: Mapping[str, tuple[int, pd.DataFrame]]) -> None:
    """Draw Gflop/s above GB moved; each curve with the number of its style."""
    with style.own_style():
        figure, panels = style.new_figure(5.6, rows=2)
        for axes, metric, heading in zip(panels, SHOWN, ("Gflop/s", "GB moved"), strict=True):
            for label, (index, curve) in curves.items():
                drawn = style.series_style(index)
                places = [float(place) for place in curve.index]
                axes.plot(places, list(curve[metric]), label=label, marker="o", markersize=3.0, linewidth=1.3, **drawn)
            axes.set_ylabel(heading)
            axes.set_ylim(bottom=0)
            axes.grid(visible=True, axis="y")
        panels[0].legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, ncols=2)
        panels[1].set_xlabel(across)
    write_whole(path, style.alone(figure, path.stem, f"{title}: Gflop/s and GB moved"))


def _kernel(name: str, make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the rows of a kernel alone."""
    return lambda *found: make(*found[:-1], found[-1][found[-1]["workload"] == name])


_COMPARED = ("cholesky", "lu and qr")
SECTIONS = {
    "ratios": (_COMPARED, ratios_table),
    "cholesky": ("cholesky", gpus_table),
    "lu": ("lu and qr", _kernel("lu", gpus_table)),
    "qr": ("lu and qr", _kernel("qr", gpus_table)),
    "alpha": ("alpha", alpha_table),
    "transfers": (("cholesky", "estimated"), transfers_table),
}
PICTURES = {
    "cholesky.svg": ("cholesky", gpus_picture),
    "lu.svg": ("lu and qr", _kernel("lu", gpus_picture)),
    "qr.svg": ("lu and qr", _kernel("qr", gpus_picture)),
    "alpha.svg": ("alpha", alpha_picture),
}
