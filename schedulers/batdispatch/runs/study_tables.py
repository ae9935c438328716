"""The tables of a study: the grid beside the paper's figures, sizes and times of models, decisions that take time.

Figures and tables are those of PCP'20's paper: C. Galleguillos, Z. Kiziltan, R. Soto. A constraint programming-based
job dispatcher for modern HPC systems and applications. 2020. Sections 5.1 to 5.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from batdispatch.runs.grid import Cell, Row
from batdispatch.runs.instances import Compared

#: Models of figure 7, as `instance solve` names them, and what they are.
MODELS = {
    "node-wise": "PCP'19, node-wise",
    "positions": "PCP'20, positions",
    "best-list": "best-list, no solver",
}


class Published(msgspec.Struct, frozen=True):
    """A line of table 1 or 2 of PCP'20's paper: mean ms per decision, total s; None: the run does not finish."""

    decision_ms: float | None
    total_seconds: float | None


#: Lines of the paper's table, by dispatcher and prediction.
Table = Mapping[tuple[str, str], Published]


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown; the columns after the first are numbers."""
    lines = [f"| {' | '.join(header)} |", f"|---|{'---:|' * (len(header) - 1)}"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def label_of(cell: Cell) -> str:
    """Return the name of a row: the dispatcher, and the ordering it was asked for."""
    ordering = cell.options.get("ordering")
    return f"{cell.dispatcher}[ordering={ordering}]" if ordering else cell.dispatcher


def by_group(rows: Sequence[Row], metric: str) -> dict[str, dict[str, list[float]]]:
    """Return a metric's values of all jobs by expected run time and dispatcher."""
    names = list(dict.fromkeys(label_of(row.cell) for row in rows))
    found: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        series = found.setdefault(row.cell.options["prediction"], {name: [] for name in names})
        series[label_of(row.cell)] = getattr(row, metric)
    # Where a line would not hold the names, they take two.
    return {key: {name.replace("[", "\n["): values for name, values in one.items()} for key, one in found.items()}


def spread(values: Sequence[float], digits: int) -> str:
    """Return mean and standard deviation of the values, as the paper's pictures show them."""
    return f"{np.mean(values):,.{digits}f} ± {np.std(values):,.{digits}f}"


def grid_table(rows: Sequence[Row], published: Table) -> str:
    """Return what every cell of the grid measured beside the paper's figures (tables 1 and 2), one line per cell."""
    header = [
        "",
        "expected run time",
        "decisions",
        "no plan found",
        "CPU ms a decision",
        "CPU s",
        "slowdown",
        "wait (s)",
    ]
    header += ["violations"]
    header += ["paper: ms a decision", "paper: total s"]
    table, notes = [], []
    for row in rows:
        prediction = row.cell.options["prediction"]
        beside = _published(published.get((row.cell.dispatcher, prediction)))
        if row.refused:
            facts = ["refused", *[""] * 6]
            notes.append(f"Refused: {row.refused}.")
        else:
            facts = [f"{row.calls:,}", f"{row.fallbacks:,}", f"{row.decision_ms:.2f}", f"{row.cpu_seconds:,.1f}"]
            facts += [spread(row.slowdowns, 2), spread(row.waits, 0), str(row.violations)]
        table.append([label_of(row.cell), prediction, *facts, *beside])
    return "\n\n".join([markdown(header, table), *dict.fromkeys(notes)])


def _published(line: Published | None) -> list[str]:
    if line is None:
        return ["", ""]
    return ["∞" if value is None else f"{value:,.0f}" for value in (line.decision_ms, line.total_seconds)]


def variables_table(found: Mapping[str, Sequence[Compared]]) -> str:
    """Return what figure 6 shows, one line per source of instances."""
    table = []
    for name, rows in found.items():
        ratios = np.array([one.ratio for one in rows])
        node_wise = [one.pcp19 for one in rows]
        facts = [f"{len(rows):,}", f"{np.mean([one.jobs for one in rows]):.1f}"]
        facts += [f"{np.median(node_wise):,.0f}", f"{max(node_wise):,}"]
        facts += [f"{np.median([one.pcp20 for one in rows]):,.0f}", f"{np.median(ratios):.4f}", f"{ratios.max():.4f}"]
        table.append([name, *facts, f"{100 * np.mean(ratios < 0.1):.1f} %"])
    header = ["instances of", "number", "jobs, mean", "PCP'19, median", "PCP'19, largest", "PCP'20, median"]
    return markdown([*header, "ratio, median", "ratio, largest", "below 0.1"], table)


def times_table(found: Mapping[str, Sequence[Compared]], models: Sequence[str], work: float) -> str:
    """Return what figure 7 shows and the quality of the solutions, one line per source of instances and model."""
    table = []
    for name, rows in found.items():
        solved = [one.solved for one in rows if one.solved]
        if not solved:
            table.append([name, f"none of {len(rows)}: PCP'19 too large", *[""] * 8])
            continue
        base_seconds = np.array([one["node-wise"].seconds for one in solved])
        for model in models:
            seconds = np.array([one[model].seconds for one in solved])
            pairs = [(one[model].delay, one["node-wise"].delay) for one in solved]
            both = [(mine, base) for mine, base in pairs if mine is not None and base is not None]
            delays, base = np.array(both).reshape(len(both), 2).T
            ratios = seconds / base_seconds
            proved = np.mean([one[model].status in ("OPTIMAL", "BOUND") for one in solved])
            failed = np.mean([one[model].failed for one in solved])
            shares = [(ratios <= 1) & (ratios >= 0.01), ratios < 0.01]
            quality = [np.isclose(delays, base), delays < base - 1e-9]
            facts = [f"{len(solved)} of {len(rows)}", f"{1000 * seconds.mean():,.1f}", f"{np.median(ratios):.4f}"]
            facts += [f"{100 * share.mean():.0f} %" for share in shares]
            facts += [f"{100 * proved:.0f} %", f"{100 * failed:.0f} %"]
            table.append(
                [
                    f"{name}: {MODELS[model]}",
                    *facts,
                    *(f"{100 * share.mean():.0f} %" if both else "" for share in quality),
                ]
            )
    header = ["instances, model", "tried", "CPU ms, mean", "ratio, median", "ratio 0.01 to 1", "ratio below 0.01"]
    header += ["proved optimal", "solver found nothing", "objective as PCP'19's", "better"]
    limits = f"`work={work:g}`. Objectives are compared on the instances for which both found a plan."
    return f"{markdown(header, table)}\n\n{limits}"


def decision_time_tables(columns: Mapping[str, Sequence[Row]], slow: Sequence[Row], baseline: str) -> str:
    """Return the grid for each way to count the time of decisions, and pcp20 with ever slower ones.

    Args:
        columns: name -> rows, all of the same dispatchers and predictions in the same order: first decisions that take
            no time, then measured ones, then the paper's means.
        slow: rows of pcp20 whose decisions take constant times.
        baseline: dispatcher for which the paper has no figure, so that its decisions take no time in the third column.
    """
    table = []
    for rows in zip(*columns.values(), strict=True):
        if any(row.refused for row in rows):
            continue
        cell, measured, fixed = rows[0].cell, rows[1].decision_ms, rows[2].cell.decision_time or 0.0
        line = [label_of(cell), cell.options["prediction"], f"{measured:.2f}"]
        line.append("" if cell.dispatcher == baseline else f"{1000 * fixed:.0f}")
        table.append(line + [f"{np.mean(row.slowdowns):.2f}; {np.mean(row.waits):,.0f} s" for row in rows])
    header = ["", "expected run time", "CPU ms measured", "ms in the paper"]
    first = markdown([*header, *(f"slowdown; wait: {name}" for name in columns)], table)
    second = markdown(
        ["dispatcher", "expected run time", "a decision takes", "slowdown", "wait (s)"],
        [_slow(row.cell, row) for row in slow],
    )
    return f"{first}\n\n{second}"


def _slow(cell: Cell, row: Row) -> list[str]:
    taken = f"{cell.decision_time:g} s"
    return [
        cell.dispatcher,
        cell.options["prediction"],
        taken,
        f"{np.mean(row.slowdowns):.2f}",
        f"{np.mean(row.waits):,.0f}",
    ]
