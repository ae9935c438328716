"""What all hosts of a run burnt over time, as columns for a page; ``assets/curves/power.js`` reads them.

Where there are more rows than a page can hold, only some are there: the mean power between them stays what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from batdispatch.report.explore.decision_columns import MOST_OF_A_PAGE, MOST_OF_A_RUN
from batdispatch.report.explore.streams import Whole, fold_signs, steps
from batdispatch.results.columns import Floats
from batdispatch.results.power import read_joules
from batdispatch.results.power_split import FILE
from batdispatch.results.runs import Run


def power_columns(run: Run, moments: Callable[[Floats], Whole], runs: int) -> Iterable[tuple[str, Whole]]:
    """Yield when the mean power changes, and by how many watts; nothing, if the run counted no energy.

    Args:
        run: the run.
        moments: gives seconds of the simulation in the page's units of time.
        runs: how many the page holds.

    Raises:
        InputError: consumed_energy.csv is malformed.
    """
    path = run.folder / FILE
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
