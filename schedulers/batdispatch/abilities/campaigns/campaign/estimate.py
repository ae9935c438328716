"""How long cells are expected to take: as long as earlier ones like them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pyarrow.parquet as pq
from pyarrow.lib import ArrowException

from batdispatch.abilities.campaigns.campaign.plan import Plan
from batdispatch.abilities.campaigns.campaign.table import TIMINGS, CellResult
from batdispatch.inputs.files import read_record
from batdispatch.results.run_files import RESULT


def estimate(plan: Plan) -> dict[str, float | None]:
    """Return the CPU seconds that each pending cell is expected to take; None where nothing like it was run.

    A cell is like an earlier one of this campaign with the same dispatcher on the same workload of the file (whatever
    their seeds and options), or else with the same dispatcher; the mean of these counts.
    """
    near: dict[tuple[str, str], list[float]] = defaultdict(list)
    same: dict[str, list[float]] = defaultdict(list)
    for workload, dispatcher, seconds in _earlier(plan):
        near[workload, dispatcher].append(seconds)
        same[dispatcher].append(seconds)
    found: dict[str, float | None] = {}
    for one in plan.planned:
        if one.task.key not in plan.kept:
            cell = one.cell
            times = near.get((cell.workload.name, cell.dispatcher.name)) or same.get(cell.dispatcher.name)
            found[one.task.key] = sum(times) / len(times) if times else None
    return found


def _earlier(plan: Plan) -> Iterator[tuple[str, str, float]]:
    """Yield workload, dispatcher and CPU seconds of cells that were run, now or by an earlier version of the code."""
    for one in plan.planned:
        if one.task.key in plan.kept:
            seconds = read_record(plan.places.cell(one.task.key) / RESULT, CellResult).performance.get("cpu_seconds")
            if isinstance(seconds, int | float):
                yield one.cell.workload.name, one.cell.dispatcher.name, float(seconds)
    path = plan.places.own / TIMINGS
    if not path.is_file():
        return
    try:
        # The function read_table would import pandas.
        with pq.ParquetFile(path) as file:
            table = file.read(columns=["workload", "dispatcher", "cell", "cpu_seconds"])
    except (ArrowException, OSError, KeyError):
        return  # It is no table of ours: nothing is known from it.
    for row in table.to_pylist():
        if row["cell"] not in plan.kept and row["cpu_seconds"] is not None:
            yield row["workload"], row["dispatcher"], row["cpu_seconds"]
