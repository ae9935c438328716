"""Tables of the page: how far predictions are off, and what dispatchers make of them, on jobs that no tuning saw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from batdispatch.abilities.campaigns.page.table import Floats
from batdispatch.abilities.campaigns.statistics.bootstrap import Draws, geometric_mean_by_bootstrap
from batdispatch.abilities.campaigns.statistics.geometric import geometric_mean
from batdispatch.results.jobs_file import read_columns
from expe.common.tables import table

#: What others are compared with.
BASE = "requested"
#: Parameters are chosen on the first of so many parts of each log, and held out is the rest.
TUNING_PART = 5
#: Jobs of a block, over which slowdowns are averaged before they are compared.
BLOCK = 1000
#: Threshold of the bounded slowdown, s.
THRESHOLD = 10.0
#: Of the bootstrap over blocks.
DRAWS = Draws(seed=7)
#: Columns of errors: heading, and how it is shown.
ERRORS = {
    "absolute": ("mean error, s", "{:,.0f}"),
    "under": ("too short", "{:.2f}"),
    "accuracy": ("accuracy", "{:.3f}"),
    "e_loss": ("E-Loss", "{:.3g}"),
    "cpu": ("CPU, us a job", "{:.1f}"),
}
_SAID = "report.errors."
#: Log -> dispatcher -> prediction -> [block, (mean bounded slowdown, mean wait s, longest wait s)].
Blocks = Mapping[str, Mapping[str, Mapping[str, Floats]]]


def columns(row: Mapping[str, Any], run: Path) -> dict[str, Any]:
    """Return what a run is called on the page, and what its dispatcher is judged by.

    That is an array [block, 3]: mean bounded slowdown, mean wait in s, longest wait in s. Of a whole log the first
    fifth does not count, and what is left at the end joins the last block.
    """
    log, _, part = row["workload"].partition(", ")
    name = row["dispatcher"].removesuffix(", no users").removesuffix(", tuning")
    said = row.get("dispatcher.prediction")
    prediction = "" if said is None else said.replace("quantile.py:Quantile", "quantile")
    jobs = read_columns(run / "jobs.csv")
    order = sorted(range(len(jobs.job_id)), key=lambda index: (jobs.submission_time[index], str(jobs.job_id[index])))
    wait, ran = jobs.waiting_time[order], jobs.execution_time[order]
    slowdown = np.maximum((wait + ran) / np.maximum(ran, THRESHOLD), 1.0)
    first = 0 if part else len(wait) // TUNING_PART
    cuts = [first, *range(first + BLOCK, len(wait) - BLOCK + 1, BLOCK), len(wait)]
    spans = [slice(begin, end) for begin, end in pairwise(cuts)]
    blocks = np.array([(slowdown[span].mean(), wait[span].mean(), wait[span].max()) for span in spans])
    return {"log": log, "name": name, "prediction": prediction, "blocks": blocks}


def others(out: Path, quick: bool) -> list[dict[str, Any]]:
    """Return a row for each prediction on each log, with its errors.

    Args:
        out: folder of the campaign.
        quick: makes no difference.
    """
    results, timings = (pd.read_parquet(out / name) for name in ("results.parquet", "timings.parquet"))
    found: list[dict[str, Any]] = []
    for (_, row), (_, timing) in zip(results.iterrows(), timings.iterrows(), strict=True):
        if not row["dispatcher"].startswith("errors"):
            continue
        names = [name.split(".")[2] for name in row.index if name.startswith(_SAID) and name.endswith(".under")]
        for name in names:
            if not pd.isna(row[f"{_SAID}{name}.under"]):
                errors = {key: row[f"{_SAID}{name}.{key}"] for key in ERRORS if key != "cpu"}
                cpu = 1e6 * timing[f"{_SAID}{name}.cpu_seconds"]
                found.append(
                    {"part": "predicted", "workload": row["workload"], "prediction": name, **errors, "cpu": cpu}
                )
    return found


def _blocks(rows: pd.DataFrame) -> Blocks:
    found: dict[str, dict[str, dict[str, Floats]]] = {}
    for row in rows.to_dict("records"):
        found.setdefault(row["log"], {}).setdefault(row["name"], {})[row["prediction"]] = row["blocks"]
    return found


def _ratios(found: Mapping[str, Floats], name: str) -> Floats:
    """Return a prediction's mean bounded slowdowns over those of the requested times, block by block."""
    return np.asarray(found[name][:, 0] / found[BASE][:, 0])


def _ratio(ratios: Floats) -> str:
    """Return the geometric mean of some ratios with its 95 % interval."""
    found = geometric_mean_by_bootstrap(ratios, DRAWS)
    return f"{found.value:.2f}" if found.low == found.high else found.text()


def tuning_table(rows: pd.DataFrame) -> str:
    """Return the candidates with the geometric mean over logs and dispatchers of their ratios."""
    runs = [found for dispatchers in _blocks(rows).values() for found in dispatchers.values()]
    lines = []
    for candidate in (name for name in runs[0] if name != BASE):
        scores = np.array([geometric_mean(_ratios(found, candidate)) for found in runs])
        lines.append([f"`{candidate}`", f"{geometric_mean(scores):.3f}"])
    return table(["candidate", "ratio to requested times"], lines)


def errors_table(rows: pd.DataFrame) -> str:
    """Return the errors of each prediction on each log."""
    lines = [
        [row["workload"], f"`{row['prediction']}`", *(shown.format(row[key]) for key, (_, shown) in ERRORS.items())]
        for row in rows.to_dict("records")
    ]
    return table(["log", "prediction", *(heading for heading, _ in ERRORS.values())], lines, 2)


def schedules_table(rows: pd.DataFrame) -> str:
    """Return what each prediction makes of each dispatcher on each log."""
    lines = []
    for log, dispatchers in _blocks(rows).items():
        for dispatcher, found in dispatchers.items():
            for name, one in found.items():
                ratio = "1" if name == BASE else _ratio(_ratios(found, name))
                facts = [f"{one[:, 1].mean():,.0f}", f"{one[:, 2].max() / 3600:,.0f}"]
                lines.append([log, dispatcher, f"`{name}`", f"{one[:, 0].mean():.2f}", ratio, *facts])
    head = ["log", "dispatcher", "prediction", "bounded slowdown", "ratio", "mean wait, s", "longest wait, h"]
    return table(head, lines, 3)


def all_logs_table(rows: pd.DataFrame) -> str:
    """Return for each prediction and dispatcher the ratio over the blocks of all logs on which both ran."""
    blocks = _blocks(rows)
    dispatchers = list(dict.fromkeys(name for found in blocks.values() for name in found))
    names = dict.fromkeys(name for found in blocks.values() for one in found.values() for name in one if name != BASE)
    lines = []
    for name in names:
        cells = []
        for dispatcher in dispatchers:
            ran = [found[dispatcher] for found in blocks.values() if name in found.get(dispatcher, {})]
            joined = np.concatenate([np.zeros(0), *(_ratios(found, name) for found in ran)])
            cells.append(f"{_ratio(joined)}, {len(joined)} blocks" if len(joined) else "")
        lines.append([f"`{name}`", *cells])
    return table(["prediction", *dispatchers], lines)


_SCHEDULES = tuple(f"schedules of {log}" for log in ("KTH-SP2", "CTC-SP2", "KIT", "Eurora"))
SECTIONS: dict[str, tuple[str | tuple[str, ...], Callable[[pd.DataFrame], str]]] = {
    "tuning": ("tuning", tuning_table),
    "errors": ("predicted", errors_table),
    "all-logs": (_SCHEDULES, all_logs_table),
    "schedules": (_SCHEDULES, schedules_table),
}
PICTURES: dict[str, Any] = {}
