"""Tables of the page: how far each idea got, on slices for tuning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.core.errors import SimulationError
from batdispatch.results.runs import read_result
from batdispatch.runs.campaign.table import read_rows
from batdispatch.runs.run import execute, is_made
from batdispatch.runs.spec import RunSpec
from expe.common.tables import table
from expe.look_ahead.tables import Runs, columns, log_ratios, logs_table, milliseconds, served, shown

__all__ = ["PICTURES", "SECTIONS", "columns", "others"]

#: What others are compared with: the best published dispatcher on the held-out slices stands in the middle.
EASY, BEST, OURS = "easy", "easy, smallest area first", "look-ahead"
#: Part of what is told what nobody can know, and its name.
TOLD = "told"
TOLD_NAME = "(b) look-ahead, late after half of the longest wait that easy has on the slice, which nobody can know"
#: A job is late after this part of that longest wait.
PART_OF_EASY = 0.5


def others(out: Path, quick: bool) -> list[dict[str, Any]]:
    """Run what needs the longest wait that easy has on a slice, and return a row for each slice.

    Args:
        out: folder of the campaign.
        quick: makes no difference.

    Raises:
        SimulationError: the audit found something wrong with a run.
    """
    found = []
    for row in read_rows(out):
        if row["dispatcher"] != EASY:
            continue
        easy = out.parent / "cells" / row["cell"]
        result, inputs = read_result(easy), out.parent / "inputs"
        late = f"late-first[after={PART_OF_EASY * served(easy).longest:g},multiple=0]"
        spec = RunSpec(
            platform=str(inputs / Path(result.platform.path).name),
            workload=str(inputs / Path(result.workload.path).name),
            dispatcher=OURS,
            options={"prediction": "requested", "ordering": late},
            decision_clock="cpu",
            record=False,
        )
        run = out / TOLD / row["cell"]
        if not is_made(spec, run):
            execute(spec, run)
        if wrong := Auditor().run(run).total:
            raise SimulationError(f"{run}: the audit found {wrong} violations")
        told = {**row, "part": TOLD, "dispatcher": TOLD_NAME}
        found.append({**told, **columns(told, run)})
    return found


def found_in(rows: pd.DataFrame) -> dict[str, Runs]:
    """Return name -> what came of it on each slice: first what others are compared with, then idea by idea."""
    found: dict[str, dict[tuple[str, str], Any]] = {}
    for row in rows.to_dict("records"):
        found.setdefault(row["dispatcher"], {})[row["log"], row["piece"]] = row["served"]
    return {name: found[name] for name in sorted(found, key=_kind)}


def _kind(name: str) -> tuple[bool, str]:
    return name.startswith("real"), name[:3] if name.startswith("(") else ""


def ideas_table(rows: pd.DataFrame) -> str:
    """Return ratios with their intervals, and decision times, of each idea."""
    found = found_in(rows)
    body = []
    for name, runs in found.items():
        facts = [
            "1" if name == base else shown(log_ratios(runs, found[base], metric))
            for base, metric in ((BEST, "slowdown"), (OURS, "slowdown"), (EASY, "longest"))
        ]
        mean, high = (np.array([getattr(run, key) for run in runs.values()]) for key in ("decision", "high_decision"))
        times = [float(mean.mean()), float(np.median(high)), max(run.slowest for run in runs.values())]
        body.append([name, *facts, " / ".join(milliseconds(times))])
    head = ["", f"slowdown over {BEST}", f"slowdown over {OURS}", f"longest wait over {EASY}", "decisions (ms)"]
    return table(head, body)


SECTIONS = {
    "ideas": (("ideas", TOLD), ideas_table),
    "logs": (("ideas", TOLD), lambda rows: logs_table(found_in(rows), "slowdown", BEST, interval=False)),
}
PICTURES: dict[str, Any] = {}
