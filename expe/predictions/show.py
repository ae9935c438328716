"""Tables of what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from errors import Errors
from grid import BASE, RESAMPLES, SEED
from numpy.typing import NDArray
from scipy.stats import bootstrap

Floats = NDArray[np.float64]
#: Log -> dispatcher -> prediction -> [block, (mean bounded slowdown, mean wait s, longest wait s)].
Blocks = Mapping[str, Mapping[str, Mapping[str, Floats]]]


def table(head: Sequence[str], rows: Sequence[Sequence[str]], texts: int) -> str:
    """Return a table in Markdown whose first columns are texts."""
    marks = ["---"] * texts + ["---:"] * (len(head) - texts)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, marks, *rows))


def errors_table(found: Mapping[str, Mapping[str, Errors]]) -> str:
    """Return the errors of each prediction on each log."""
    rows = [
        [
            log,
            f"`{name}`",
            f"{one.absolute:,.0f}",
            f"{one.under:.2f}",
            f"{one.accuracy:.3f}",
            f"{one.e_loss:.3g}",
            f"{one.cpu:.1f}",
        ]
        for log, predictions in found.items()
        for name, one in predictions.items()
    ]
    head = ["log", "prediction", "mean error, s", "too short", "accuracy", "E-Loss", "CPU, us a job"]
    return table(head, rows, 2)


def mean_ratio(ratios: Floats) -> float:
    """Return the geometric mean of some ratios."""
    return float(np.exp(np.log(ratios).mean()))


def _ratio(ratios: Floats) -> str:
    """Return the geometric mean of some ratios with its 95 % interval."""
    if len(ratios) < 2 or np.ptp(ratios) == 0:
        return f"{mean_ratio(ratios):.2f}"
    rng = np.random.default_rng(SEED)
    found = bootstrap((np.log(ratios),), np.mean, n_resamples=RESAMPLES, method="BCa", rng=rng)
    low, high = np.exp(found.confidence_interval)
    return f"{mean_ratio(ratios):.2f} ({low:.2f}-{high:.2f})"


def ratios(found: Mapping[str, Floats], name: str) -> Floats:
    """Return a prediction's mean bounded slowdowns over those of the requested times, block by block."""
    return np.asarray(found[name][:, 0] / found[BASE][:, 0])


def schedules_table(blocks: Blocks) -> str:
    """Return what each prediction makes of each dispatcher on each log."""
    rows = []
    for log, dispatchers in blocks.items():
        for dispatcher, found in dispatchers.items():
            for name, one in found.items():
                rows.append(
                    [
                        log,
                        dispatcher,
                        f"`{name}`",
                        f"{one[:, 0].mean():.2f}",
                        "1" if name == BASE else _ratio(ratios(found, name)),
                        f"{one[:, 1].mean():,.0f}",
                        f"{one[:, 2].max() / 3600:,.0f}",
                    ]
                )
    head = ["log", "dispatcher", "prediction", "bounded slowdown", "ratio", "mean wait, s", "longest wait, h"]
    return table(head, rows, 3)


def all_logs_table(blocks: Blocks) -> str:
    """Return for each prediction and dispatcher the ratio over the blocks of all logs on which both ran."""
    dispatchers = list(dict.fromkeys(name for found in blocks.values() for name in found))
    names = dict.fromkeys(name for found in blocks.values() for one in found.values() for name in one if name != BASE)
    rows = []
    for name in names:
        row = [f"`{name}`"]
        for dispatcher in dispatchers:
            ran = [found[dispatcher] for found in blocks.values() if name in found.get(dispatcher, {})]
            joined = np.concatenate([ratios(found, name) for found in ran])
            row.append(f"{_ratio(joined)}, {len(joined)} blocks")
        rows.append(row)
    return table(["prediction", *dispatchers], rows, 1)
