"""A table of metrics for the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from batdispatch.results.metrics.compute import describe

#: The metrics worth a glance, in order; the report has all of them.
SHOWN = (
    "mean_waiting_time",
    "p95_waiting_time",
    "mean_turnaround_time",
    "mean_bounded_slowdown",
    "max_bounded_slowdown",
    "utilisation",
    "makespan",
    "mean_queue_length",
    "nb_jobs_success",
    "nb_jobs_killed",
    "nb_jobs_rejected",
    "decisions_seconds_p99",
)


def shown(value: float | int | None) -> str:
    """Return a number as people read it."""
    if value is None:
        return "-"
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.4g}"


def metrics_table(runs: Mapping[str, Mapping[str, float | int | None]]) -> str:
    """Return a table with a row a metric and a column a run."""
    rows = [["", *runs]]
    resources = sorted({name for metrics in runs.values() for name in metrics if name.startswith("utilisation_")})
    place = SHOWN.index("utilisation") + 1
    for name in (*SHOWN[:place], *resources, *SHOWN[place:]):
        known = describe(name)
        if known is None or all(metrics.get(name) is None for metrics in runs.values()):
            continue
        label = f"{known.label} ({known.unit})" if known.unit else known.label
        rows.append([label, *(shown(metrics.get(name)) for metrics in runs.values())])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
