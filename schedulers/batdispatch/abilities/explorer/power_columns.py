"""What all hosts of a run burnt over time, and its cap, price and carbon, as columns that ``assets/curves`` reads.

Where there are more rows than a page can hold, only some are there: the mean power between them stays what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from batdispatch.abilities.explorer.decision_columns import MOST_OF_A_PAGE, MOST_OF_A_RUN
from batdispatch.abilities.explorer.streams import Whole, fold_signs, steps
from batdispatch.abilities.power.engine.energy_files import ENERGY
from batdispatch.abilities.power.results.run_power import read_joules, series_of
from batdispatch.core.jobs.job_table import Floats
from batdispatch.inputs.named_files import files_at
from batdispatch.results.origins import find_series
from batdispatch.results.runs import Run
from batdispatch.results.sites import machine_of

#: Steps of a watt, or of a unit of a price, that are told, and the largest value.
_PART, _LARGEST = 1e6, 1e9


def power_columns(run: Run, moments: Callable[[Floats], Whole], runs: int) -> Iterable[tuple[str, Whole]]:
    """Yield when the mean power changes, and by how many watts; nothing, if the run counted no energy.

    Args:
        run: the run.
        moments: gives seconds of the simulation in the page's units of time.
        runs: how many the page holds.

    Raises:
        InputError: consumed_energy.csv is malformed.
    """
    path = run.folder / ENERGY
    if not path.is_file():
        return
    time, joules = read_joules(path)
    most = max(2, min(MOST_OF_A_RUN, MOST_OF_A_PAGE // runs))
    rows = np.unique(np.append(np.arange(0, len(time), max(1, -(-len(time) // most))), len(time) - 1))
    if len(rows) < 2:
        return
    watts = np.rint(np.diff(joules[rows]) / np.diff(time[rows])).astype(np.int64)
    yield "power_at", steps(moments(time[rows]).clip(0))
    yield "power_step", fold_signs(np.diff(np.concatenate([[0], watts, [0]])))
    yield from _series_columns(run, moments, float(time[-1]))


def _series_columns(run: Run, moments: Callable[[Floats], Whole], end: float) -> Iterable[tuple[str, Whole]]:
    """Yield when price, cap and carbon change that the run was given, and by how many millionths."""
    there = find_series(run.folder, run.result.input_digests)
    options = run.result.options
    machine = machine_of(run.folder, run.result) if str(options.get("cap", "")).endswith("%") else None
    with files_at(there):
        series = series_of({"dispatcher": run.result.dispatcher, "options": options}, machine)
    for name, each in series.items():
        times = [0.0, *each.moments(0.0, end)]
        values = np.rint(np.clip([each.at(time) for time in times], 0, _LARGEST) * _PART).astype(np.int64)
        yield f"{name}_at", steps(moments(np.array([*times, end])).clip(0))
        yield f"{name}_step", fold_signs(np.diff(np.concatenate([[0], values, [0]])))
