"""A table of metrics for the terminal."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from batdispatch.cli.tables import STYLE, plain
from batdispatch.results.metrics.compute import STARVATION, describe
from batdispatch.results.metrics.rows import Cell, metric_row

if TYPE_CHECKING:
    from rich.table import Table

#: The metrics worth a glance, in order; the report has all of them.
SHOWN_METRICS = (
    "mean_waiting_time",
    "p95_waiting_time",
    "p99_waiting_time",
    "max_waiting_time",
    STARVATION.name,
    "mean_turnaround_time",
    "mean_bounded_slowdown",
    "max_bounded_slowdown",
    "utilisation",
    "makespan",
    "mean_queue_length",
    "weighted_compactness",
    "weighted_proximity",
    "weighted_shared_links",
    "free_fragmentation",
    "nb_jobs_success",
    "nb_jobs_killed",
    "nb_jobs_rejected",
    "energy",
    "energy_without_jobs",
    "energy_per_unit_hour",
    "peak_power",
    "p95_power",
    "time_asleep",
    "switches_per_host_day",
    "energy_cost",
    "energy_carbon",
    "time_above_cap",
    "decisions_seconds_p99",
)

#: Stands behind the best values of a metric, and what explains it.
BEST = "*"
LEGEND = f"{BEST} best of the runs"


def _shown(cell: Cell) -> str:
    """Return a value as text that can be copied: no narrow spaces, and a mark behind the best."""
    text = cell.text.replace("\N{NO-BREAK SPACE}", " ").replace("n/a", "-")
    return f"{text}{BEST if cell.best else ' '}"


def metrics_table(runs: Mapping[str, Mapping[str, float | int | None]], *, width: int | None = None) -> str:
    """Return the metrics of runs as text.

    Few runs: a row per metric and a column per run. Where that is too wide, a row per run, and as many tables one
    below the other as the metrics need. The values of a metric have one unit. The best of them, of several runs, are
    marked, unless all read the same; a metric for which neither direction is good has no best one.

    Args:
        runs: label -> metrics.
        width: in characters; None: that of the terminal, 100 where there is none.
    """
    width = width or shutil.get_terminal_size((100, 24)).columns
    resources = sorted({name for metrics in runs.values() for name in metrics if name.startswith("utilisation_")})
    place = SHOWN_METRICS.index("utilisation") + 1
    columns = []
    for name in (*SHOWN_METRICS[:place], *resources, *SHOWN_METRICS[place:]):
        known = describe(name)
        values = [metrics.get(name) for metrics in runs.values()]
        if known is None or all(value is None for value in values):
            continue
        row = metric_row(known, values)
        heading = f"{known.label} ({row.unit})" if row.unit else known.label
        columns.append([heading, *map(_shown, row.cells)])
    marked = any(text.endswith(BEST) for _, *texts in columns for text in texts)
    if not marked:
        columns = [[text.rstrip() for text in column] for column in columns]
    text = _by_metric([["", *(f"{label} " if marked else label for label in runs)], *columns])
    if max(map(len, text.splitlines())) > width:
        text = plain(*_by_run(list(runs), columns, width), width=width)
    return f"{text}\n{LEGEND}" if marked else text


def _by_metric(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines, the first column to the left and the others to the right, as wide as they need.

    A table of one run needs no library that breaks headings, and a short run is over sooner than one is imported.
    """
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [first.ljust(widths[0]), *(cell.rjust(wide) for cell, wide in zip(others, widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _by_run(labels: Sequence[str], columns: Sequence[Sequence[str]], width: int) -> Iterator[Table]:
    """Yield tables that fit `width`, with a row per run and headings that are broken into words.

    Args:
        labels: of the runs; longer ones than a third of the width are folded.
        columns: a heading and a value per run each.
        width: in characters.
    """
    from rich.markup import escape
    from rich.table import Column, Table

    first = min(max(map(len, labels)), max(width // 3, 12))
    start = 0
    while start < len(columns):
        table = Table(Column("", width=first, overflow="fold"), **STYLE, collapse_padding=True)
        used, end = first, start
        while end < len(columns):
            heading, *values = columns[end]
            wide = max(map(len, [*heading.split(), *values]))
            if end > start and used + 2 + wide > width:
                break
            table.add_column(heading, width=wide, justify="right", vertical="bottom")
            used, end = used + 2 + wide, end + 1
        for index, label in enumerate(labels):
            table.add_row(escape(label), *(column[index + 1] for column in columns[start:end]))
        yield table
        start = end
