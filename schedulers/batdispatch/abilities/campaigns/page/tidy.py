"""The table of a campaign as a tidy table of replicates."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from batdispatch.abilities.campaigns.page.table import COLUMNS, DISPATCHER, REPLICATE, WORKLOAD
from batdispatch.core.errors import InputError
from batdispatch.results.metrics.compute import describe

#: Last part of the name of a column that says which replicate a workload is.
_WHICH = ("seed", "window", "slice", "resample")
#: A campaign's tables of what its file states, and where they belong.
_CIRCUMSTANCES = ("platform.", "workload.", "setting.")


def from_campaign(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a campaign's results with the columns of `COLUMNS` and the metrics.

    What differs between runs beside dispatcher, options and replicate makes another workload: the part, the platform,
    a setting. Runs that differ in the seed of the run alone count as one, with the mean of their metrics. A run that
    failed has no metrics.

    Args:
        rows: as `results.parquet` has them.

    Raises:
        InputError: a column is missing.
    """
    needed = ("part", "platform", "workload", "replicate", "dispatcher", "seed")
    if missing := [name for name in needed if name not in rows.columns]:
        raise InputError(f"has no column {missing[0]!r}: run the campaign again with this version")
    stated = [name for name in rows.columns if name.startswith(_CIRCUMSTANCES) and _differs(rows, name)]
    stated = [name for name in stated if name.rpartition(".")[2] not in _WHICH]
    where = [name for name in ("part", "platform") if _differs(rows, name)]
    options = [name for name in rows.columns if name.startswith("dispatcher.")]
    found = pd.DataFrame(index=rows.index)
    found[WORKLOAD] = _named(rows, "workload", stated, where)
    found[REPLICATE] = rows["replicate"].astype(str)
    found[DISPATCHER] = _named(rows, "dispatcher", options)
    metrics = [name for name in rows.columns if describe(str(name)) is not None]
    values = rows[metrics].apply(pd.to_numeric, errors="coerce").astype(float)
    tidy: pd.DataFrame = pd.concat([found, values], axis=1)
    return tidy.groupby(list(COLUMNS), sort=False).mean().reset_index()


def _differs(rows: pd.DataFrame, name: str) -> bool:
    return rows[name].nunique(dropna=False) > 1


def _named(rows: pd.DataFrame, name: str, options: Sequence[str], before: Sequence[str] = ()) -> list[str]:
    """Return a name for each row: that in a column, with the options that it has, and what stands before it."""
    names = []
    for row in rows[[*before, name, *options]].to_dict("records"):
        told = {key.partition(".")[2]: row[key] for key in options if not pd.isna(row[key])}
        text = ",".join([str(row[name]), *(f"{key}={_shown(value)}" for key, value in told.items())])
        names.append(" / ".join([*(str(row[key]) for key in before), text]))
    return names


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
