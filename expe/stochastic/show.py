"""Tables and pictures of what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from grid import CLAIMS, TABLES, Claim, Table

from batdispatch.results.report import style
from batdispatch.runs.over_seeds import half_width, interval

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
    "1-response": ("1-laws", "response", "law of the run time", "mean response (h)", "1 (a)"),
    "1-utilisation": ("1-laws", "utilisation", "law of the run time", "utilisation", "1 (b)"),
    "2-utilisation": ("2-rate", "utilisation", "rate of small work", "utilisation", "2 (c)"),
    "2-response": ("2-rate", "response_all", "rate of small work", "mean response of all jobs (h)", "2 (d)"),
    "2-response-large": ("2-rate", "response", "rate of small work", "mean response of large jobs (h)", "2, last"),
    "3-utilisation": ("3-share", "utilisation", "share of small jobs", "utilisation", "3 (e)"),
    "3-response": ("3-share", "response", "share of small jobs", "mean response (h)", "3 (f)"),
    "4-utilisation": ("4-intrepid", "utilisation", "widths, arrivals", "utilisation", "4 (g)"),
    "4-response": ("4-intrepid", "response", "widths, arrivals", "mean response (h)", "4 (h)"),
}


#: Tables whose values are names.
NAMED = ("1-laws", "4-intrepid")
#: Above the table of claims.
SUMMARY = (
    "What the paper claims, and what we measured. A change is the mean over SEEDS seeds of the change seed by seed, "
    "with its 95 % confidence interval, for each value of what the scenario varies. A claim holds where the interval "
    "lies on its side of 0, and is undecided where 0 is inside. The paper's own conclusion, over all scenarios, is a "
    "response time of -25 % and a utilisation of +30 %."
)


def shown_interval(values: Sequence[float]) -> str:
    """Return mean and half width of the interval, with fewer digits where the mean is large."""
    return interval(values, 1 if abs(float(np.mean(values))) >= 10 else 3)


def change(values: Sequence[float], base: Sequence[float]) -> str:
    """Return by how many per cent values exceed others of the same seeds, with the interval over seeds."""
    if min(base) <= 0:
        return ""
    ratios = changes_of(values, base)
    return f"{float(np.mean(ratios)):+.0f} ± {half_width(ratios):.0f} %"


def changes_of(values: Sequence[float], base: Sequence[float]) -> list[float]:
    """Return by how many per cent each value exceeds the other one of its seed."""
    return [100 * (value / other - 1) for value, other in zip(values, base, strict=True)]


def verdict(claim: Claim, cells: Cells) -> tuple[str, str]:
    """Return what was measured of a claim, and whether it holds: at each value, by the 95 % interval over seeds."""
    told, found = [], {"holds": 0, "does not hold": 0, "is undecided": 0}
    for value in claim.values or cells:
        ours, base = (cells[value][label][claim.metric] for label in (claim.ours, claim.base))
        ratios = changes_of(ours, base)
        mean, width = claim.sign * float(np.mean(ratios)), half_width(ratios)
        found["holds" if mean > width else "does not hold" if mean < -width else "is undecided"] += 1
        told.append(f"{value}: {change(ours, base)}" if value else change(ours, base))
    total = sum(found.values())
    said = [word if count == total else f"{word} in {count} of {total}" for word, count in found.items() if count]
    return "<br>".join(told), ", ".join(said)


def summary(known: dict[str, Cells]) -> list[str]:
    """Return the lines of the table of claims."""
    names = {"utilisation": "utilisation", "response": "response", "response_all": "response, all jobs"}
    lines = ["| scenario | claim | change measured | the claim |", "|---|---|---|---|"]
    for claim in CLAIMS:
        measured, said = verdict(claim, known[claim.table])
        lines.append(f"| {claim.scenario} | {claim.says} ({names[claim.metric]}) | {measured} | {said} |")
    return lines


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
            texts = [
                shown_interval(runs[metric]) if metric != "cpu" else f"{np.mean(runs['cpu']):.2f}" for metric in shown
            ]
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
    title, _, rest = head.partition("\n")
    lines = [title, "", SUMMARY.replace("SEEDS", str(seeds)), "", *summary(known), "", "## How it was measured"]
    lines.append(rest.rstrip())
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
            shown = list(next(iter(cells.values())))
            named = key in NAMED
            for index, dispatcher in enumerate(shown):
                values = [cells[value][dispatcher][metric] for value in cells]
                # Names have no distances: the dispatchers of one name stand beside each other, and no line joins names.
                beside = (index - (len(shown) - 1) / 2) * 0.16
                axes.errorbar(
                    [at + beside if named else float(value) for at, value in enumerate(cells)],
                    [float(np.mean(listed)) for listed in values],
                    yerr=[half_width(listed) for listed in values],
                    label=dispatcher,
                    marker="o",
                    markersize=3.5,
                    capsize=2.5,
                    **style.series_style(index) | ({"linestyle": "none"} if named else {}),  # type: ignore[arg-type]
                )
            if named:
                axes.set_xticks(range(len(cells)), list(cells))
            axes.set_xlabel(across)
            axes.set_ylabel(label)
            if named and metric == "response":
                # From half an hour to three weeks.
                axes.set_yscale("log")
                low, high = axes.get_ylim()
                hours = [hour for hour in (1, 2, 5, 10, 20, 50, 100, 200, 500) if low <= hour <= high]
                axes.set_yticks(hours, [str(hour) for hour in hours])
                axes.set_yticks([], minor=True)
            else:
                axes.set_ylim(bottom=0)
            axes.grid(visible=True, axis="y")
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.22), ncols=2)
        text = style.to_svg(figure, name, label)
        # In a file of its own a picture has no page whose ink it could take.
        text = text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" color="#222" ', 1)
        opened = text.index(">", text.index("<svg ")) + 1
        text = text[:opened] + '<rect width="100%" height="100%" fill="#fff"/>' + text[opened:]
        (folder / f"{name}.svg").write_text(text, encoding="utf-8")
