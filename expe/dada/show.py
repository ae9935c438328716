"""Tables and pictures of what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from batdispatch.inputs.files import write_whole
from batdispatch.results.report import style


class Measured(NamedTuple):
    """What came of a run."""

    #: Of the factorisation: operations over the time from the first task's start to the last one's end.
    gflops: float
    #: GB (1e9 bytes) copied between memories.
    moved: float
    #: Share of the tasks that ran on CPU cores.
    on_cpu: float


Curve = Mapping[int, Measured]
#: Row that others are compared with.
BASE = "HEFT"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> str:
    """Return a table in Markdown whose first columns are texts."""
    marks = ["---"] * texts + ["---:"] * (len(head) - texts)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, marks, *rows))


def gpus_table(found: Mapping[str, Curve]) -> str:
    """Return Gflop/s and GB moved of each row for each number of GPUs."""
    counts = list(next(iter(found.values())))
    rows = []
    for label, curve in found.items():
        rows.append([label, "Gflop/s", *(f"{curve[gpus].gflops:.0f}" for gpus in counts)])
        rows.append(["", "GB", *(f"{curve[gpus].moved:.2f}" for gpus in counts)])
    return table(["row", "GPUs:", *map(str, counts)], rows, 2)


def claim_table(curves: Mapping[str, Mapping[str, Curve]]) -> str:
    """Return for each factorisation and number of GPUs how DADA compares with HEFT, as ratios."""
    rows = []
    counts = sorted({gpus for found in curves.values() for gpus in found[BASE]})
    for kernel, found in curves.items():
        for label in (name for name in found if name.startswith("DADA")):
            for what in ("gflops", "moved"):
                ratios = {
                    gpus: f"{getattr(found[label][gpus], what) / getattr(found[BASE][gpus], what):.2f}"
                    for gpus in found[BASE]
                }
                heading = "Gflop/s" if what == "gflops" else "GB"
                first = [kernel, label] if what == "gflops" else ["", ""]
                rows.append([*first, heading, *(ratios.get(gpus, "") for gpus in counts)])
    return table(["", f"row, over {BASE}", "GPUs:", *map(str, counts)], rows, 3)


def alpha_table(sweep: Mapping[str, Mapping[tuple[float, bool], Measured]]) -> str:
    """Return Gflop/s and GB moved for each alpha, without and with the prediction of copies."""
    rows = []
    for kernel, found in sweep.items():
        alphas = sorted({alpha for alpha, _ in found})
        for cp in (False, True):
            name = "DADA(alpha) + CP" if cp else "DADA(alpha)"
            rows.append([kernel, name, "Gflop/s", *(f"{found[alpha, cp].gflops:.0f}" for alpha in alphas)])
            rows.append(["", "", "GB", *(f"{found[alpha, cp].moved:.2f}" for alpha in alphas)])
    return table(["", "", "alpha:", *(f"{alpha:g}" for alpha in alphas)], rows, 3)


def transfers_table(forms: Mapping[tuple[str, str], Curve]) -> str:
    """Return what sharing links costs: Gflop/s with copies simulated over those with copies estimated."""
    labels = list(dict.fromkeys(label for label, _ in forms))
    counts = list(forms[labels[0], "simulated"])
    rows = []
    for label in labels:
        cells = []
        for gpus in counts:
            shared, alone = forms[label, "simulated"][gpus], forms[label, "estimated"][gpus]
            cells += [f"{shared.gflops:.0f}", f"{alone.gflops:.0f}", f"{shared.gflops / alone.gflops - 1:+.0%}"]
        rows.append([label, *cells])
    head = [f"{gpus} GPUs, {what}" for gpus in counts for what in ("simulated", "estimated", "difference")]
    return table(["row", *head], rows)


def gpus_picture(path: Path, kernel: str, found: Mapping[str, Curve]) -> None:
    """Draw Gflop/s and GB moved over the number of GPUs, as the slides do."""
    curves = {
        label: (index, {float(gpus): one for gpus, one in curve.items()})
        for index, (label, curve) in enumerate(found.items())
    }
    _picture(path, f"{kernel}, 8192 x 8192", "GPUs", curves)


def alpha_picture(path: Path, sweep: Mapping[str, Mapping[tuple[float, bool], Measured]]) -> None:
    """Draw Gflop/s and GB moved over alpha; dashed: with the prediction of copies."""
    curves = {}
    for number, (kernel, found) in enumerate(sweep.items()):
        for cp in (False, True):
            curve = {alpha: one for (alpha, with_cp), one in found.items() if with_cp == cp}
            # The styles of curves go through all colours before the stroke changes.
            curves[f"{kernel}{' + CP' if cp else ''}"] = (number + len(style.SERIES) * cp, curve)
    _picture(path, "DADA on 8 GPUs", "alpha", curves)


def _picture(path: Path, title: str, across: str, curves: Mapping[str, tuple[int, Mapping[float, Measured]]]) -> None:
    """Draw Gflop/s above GB moved; each curve with the number of its style."""
    with style.styled():
        figure, panels = style.new_figure(5.6, rows=2)
        for axes, field, heading in zip(panels, ("gflops", "moved"), ("Gflop/s", "GB moved"), strict=True):
            for label, (index, curve) in curves.items():
                values = [getattr(one, field) for one in curve.values()]
                drawn = style.series_style(index)
                axes.plot(list(curve), values, label=label, marker="o", markersize=3.0, linewidth=1.3, **drawn)
            axes.set_ylabel(heading)
            axes.set_ylim(bottom=0)
            axes.grid(visible=True, axis="y")
        panels[0].legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, ncols=2)
        panels[1].set_xlabel(across)
    write_whole(path, style.alone(figure, path.stem, f"{title}: Gflop/s and GB moved"))
