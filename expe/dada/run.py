"""DADA against HEFT and work stealing on tile factorisations, with 1 to 8 GPUs: tables and pictures of the campaign.

Use, after `batdispatch campaign expe/dada/campaign.yaml --out expe/dada/runs`, which needs SimGrid:
python expe/dada/run.py [--out expe/dada/runs] [--write]. With --write the tables go into results.md beside this file,
and the pictures too.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from show import Measured, alpha_picture, alpha_table, claim_table, gpus_picture, gpus_table, transfers_table

from batdispatch.core.errors import BatdispatchError, SimulationError
from batdispatch.results.runs import read_result
from batdispatch.runs.campaign.table import read_rows
from batdispatch.runs.grid import publish

HERE = Path(__file__).parent
#: Parts of the campaign with the rows of the comparison, and what the rows without shared links are called there.
COMPARED, ESTIMATED = ("cholesky", "lu and qr"), ", estimated"
#: Row -> number of GPUs -> what came of it.
Found = dict[str, dict[int, Measured]]


def measured(row: dict[str, Any], cells: Path) -> Measured:
    """Return what came of a run.

    Raises:
        SimulationError: a task did not succeed.
    """
    done = {name: count for name, count in row.items() if name.startswith("report.tasks.") and count is not None}
    tasks = sum(done.values())
    if tasks != read_result(cells / row["cell"]).workload.jobs:
        raise SimulationError(f"{cells / row['cell']}: a task did not succeed")
    return Measured(row["report.gflops"], row["report.bytes_moved"] / 1e9, done.get("report.tasks.cpu", 0) / tasks)


def sections_of(out: Path, pictures: Path | None) -> dict[str, str]:
    """Return the measured sections of the page, and draw the pictures into a folder if there is one.

    Raises:
        InputError: the campaign has not been run to its end.
        SimulationError: a run failed.
    """
    curves: dict[str, Found] = defaultdict(lambda: defaultdict(dict))
    sweep: dict[str, dict[tuple[float, bool], Measured]] = defaultdict(dict)
    estimated: Found = defaultdict(dict)
    for row in read_rows(out / "dada"):
        one, kernel, gpus = measured(row, out / "cells"), row["workload"], row["platform.gpus"]
        if row["part"] in COMPARED:
            curves[kernel][row["dispatcher"]][gpus] = one
        elif row["part"] == "alpha":
            sweep[kernel][row["dispatcher.alpha"], row["dispatcher.communication"]] = one
        else:
            estimated[row["dispatcher"].removesuffix(ESTIMATED)][gpus] = one
    ordered = {
        kernel: {label: dict(sorted(curve.items())) for label, curve in found.items()}
        for kernel, found in curves.items()
    }
    sections = {"claim": claim_table(ordered)}
    for kernel, found in ordered.items():
        sections[kernel] = gpus_table(found)
        if pictures is not None:
            gpus_picture(pictures / f"{kernel}.svg", kernel, found)
    sections["alpha"] = alpha_table(sweep)
    if pictures is not None:
        alpha_picture(pictures / "alpha.svg", sweep)
    forms = {
        (label, form): {gpus: found[label][gpus] for gpus in (4, 8)}
        for label in ordered["cholesky"]
        for form, found in (("simulated", ordered["cholesky"]), ("estimated", estimated))
    }
    sections["transfers"] = transfers_table(forms)
    return sections


def main() -> None:
    """Print or write what came of the campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=HERE / "runs", help="folder of campaigns (%(default)s)")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    try:
        sections = sections_of(asked.out, HERE if asked.write else None)
    except BatdispatchError as problem:
        sys.exit(f"error: {problem}")
    publish(HERE / "results.md", sections, write=asked.write)


if __name__ == "__main__":
    main()
