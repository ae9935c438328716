"""Tables and pictures of what was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from grid import TABLES, Table
from scipy import stats

from batdispatch.results.report import style

#: Value that is varied -> label of a dispatcher -> metric -> its value for each seed.
Cells = dict[str, dict[str, dict[str, list[float]]]]

COLUMNS = {
    "utilisation": "utilisation",
    "response": "response (h)",
    "response_all": "response, all jobs (h)",
    "wasted": "wasted",
    "failures": "failures a job",
    "cpu": "CPU s",
}
#: Picture -> table, metric, label of the horizontal axis, of the vertical one, and the paper's.
PICTURES = {
    "2-utilisation": ("2-rate", "utilisation", "rate of small work", "utilisation", "2 (c)"),
    "2-response": ("2-rate", "response_all", "rate of small work", "mean response of all jobs (h)", "2 (d)"),
    "2-response-large": ("2-rate", "response", "rate of small work", "mean response of large jobs (h)", "2, last"),
    "3-utilisation": ("3-share", "utilisation", "share of small jobs", "utilisation", "3 (e)"),
    "3-response": ("3-share", "response", "share of small jobs", "mean response (h)", "3 (f)"),
}


def half_width(values: Sequence[float]) -> float:
    """Return half the width of the 95 % confidence interval of the mean (Student's t)."""
    return float(stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values)))


def interval(values: Sequence[float]) -> str:
    """Return mean and half width of the interval."""
    mean = float(np.mean(values))
    digits = 1 if abs(mean) >= 10 else 3
    return f"{mean:.{digits}f} ± {half_width(values):.{digits}f}"


def change(values: Sequence[float], base: Sequence[float]) -> str:
    """Return by how many per cent values exceed others of the same seeds, with the interval over seeds."""
    if min(base) <= 0:
        return ""
    ratios = [100 * (value / other - 1) for value, other in zip(values, base, strict=True)]
    return f"{float(np.mean(ratios)):+.0f} ± {half_width(ratios):.0f} %"


def rows_of(table: Table, cells: Cells) -> list[str]:
    """Return a table's lines; the changes are against the first dispatcher, seed by seed."""
    small = table.key.startswith(("2", "4"))
    shown = [metric for metric in COLUMNS if metric != "response_all" or small]
    varied = [table.varied] if table.varied else []
    head = [*varied, "", *(COLUMNS[metric] for metric in shown), "utilisation vs HPC", "response vs HPC"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for value, dispatchers in cells.items():
        base: dict[str, list[float]] = {}
        for label, runs in dispatchers.items():
            if label.startswith("HPC") and "speculative" not in label:
                base = runs
            texts = [interval(runs[metric]) if metric != "cpu" else f"{np.mean(runs['cpu']):.2f}" for metric in shown]
            changes = [
                "" if runs is base else change(runs[metric], base[metric]) for metric in ("utilisation", "response")
            ]
            lines.append(f"| {' | '.join([*([value] if varied else []), label, *texts, *changes])} |")
    return lines


def results(known: dict[str, Cells]) -> str:
    """Return results.md."""
    first = next(iter(next(iter(next(iter(known.values())).values())).values()))
    seeds = len(first["utilisation"])
    head = (Path(__file__).with_name("preface.md")).read_text(encoding="utf-8").replace("SEEDS", str(seeds))
    lines = [head.rstrip()]
    for table in TABLES:
        if table.key not in known:
            continue
        lines += ["", f"## {table.title}", "", f"Claimed: {table.claim}"]
        for name, (key, _, _, label, of) in PICTURES.items():
            if key == table.key:
                lines += ["", f"![{label}, after the slides' scenario {of}]({name}.svg)"]
        lines += ["", *rows_of(table, known[table.key])]
        if table.found:
            lines += ["", f"Found: {table.found}"]
    return "\n".join(lines) + "\n"


def pictures(known: dict[str, Cells], folder: Path) -> None:
    """Draw the curves that the slides have, with the 95 % confidence intervals."""
    for name, (key, metric, across, label, _) in PICTURES.items():
        if key not in known:
            continue
        cells = known[key]
        with style.styled():
            figure, (axes,) = style.new_figure()
            for index, dispatcher in enumerate(next(iter(cells.values()))):
                values = [cells[value][dispatcher][metric] for value in cells]
                axes.errorbar(
                    [float(value) for value in cells],
                    [float(np.mean(listed)) for listed in values],
                    yerr=[half_width(listed) for listed in values],
                    label=dispatcher,
                    marker="o",
                    markersize=3.5,
                    capsize=2.5,
                    **style.series_style(index),  # type: ignore[arg-type]
                )
            axes.set_xlabel(across)
            axes.set_ylabel(label)
            axes.set_ylim(bottom=0)
            axes.grid(visible=True, axis="y")
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.22), ncols=2)
        text = style.to_svg(figure, name, label)
        # In a file of its own a picture has no page whose ink it could take.
        text = text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" color="#222" ', 1)
        opened = text.index(">", text.index("<svg ")) + 1
        text = text[:opened] + '<rect width="100%" height="100%" fill="#fff"/>' + text[opened:]
        (folder / f"{name}.svg").write_text(text, encoding="utf-8")
