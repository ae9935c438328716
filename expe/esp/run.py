"""Reruns the ESP experiment of Soner and Ozturan (2012) with Slurm's backfilling; writes tables and pictures.

Use: python expe/esp/run.py [--seeds 10] [--few 3] [--parts table,cases,slurm] [--out expe/esp/runs]. One process. Runs
stay in `--out`, which is not under version control, and are taken as they are when they are there. Each is audited.
With --write the tables go into results.md beside this file, and the pictures too.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from grid import CASES, ROWS, SLURM
from show import Measured, cases_table, comparison_table, picture, slurm_table

from batdispatch.core.errors import SimulationError
from batdispatch.inputs.files import write_whole
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.platforms.generate import esp as platform_of
from batdispatch.inputs.workloads.esp import esp
from batdispatch.inputs.workloads.writer import write_workload
from batdispatch.results.runs import read_result
from batdispatch.runs.grid import Cell, fill, run_grid

HERE = Path(__file__).parent
PARTS = ("table", "cases", "slurm")
HOUR = 3600.0


def measure(cells: Mapping[str, Cell], seeds: int, out: Path, options: Mapping[str, Any]) -> dict[str, list[Measured]]:
    """Return what each cell did with the workload of each seed.

    Raises:
        SimulationError: the audit found something wrong with a run, or a job did not end by itself.
    """
    out.mkdir(parents=True, exist_ok=True)
    path = out / "esp.xml"
    write_whole(path, platform_of())
    machine = read_platform(path).machine
    found: dict[str, list[Measured]] = {label: [] for label in cells}
    for seed in range(seeds):
        name = "-".join(["esp", *(f"{key}={value}" for key, value in options.items()), str(seed)])
        workload = out / f"{name}.json"
        write_workload(esp(np.random.default_rng(seed), machine, **options), workload)
        rows = run_grid(path, machine, [workload], list(cells.values()), out, say=lambda text: print(text, flush=True))
        for label, row in zip(cells, rows, strict=True):
            metrics = read_result(row.folders[0]).metrics
            if row.violations or metrics["nb_jobs_success"] != 460:
                raise SimulationError(f"{row.folders[0]}: {row.violations} findings of the audit, or a job did not end")
            found[label].append(
                Measured(
                    wait=float(np.mean(row.waits)) / HOUR,
                    wait_std=float(np.std(row.waits)) / HOUR,
                    slowdown=float(np.mean(row.slowdowns)),
                    slowdown_std=float(np.std(row.slowdowns)),
                    utilisation=float(metrics["utilisation_core"] or 0),
                    fragmentation=float(metrics["fragmentation"] or 0),
                    cpu=row.cpu_seconds,
                )
            )
    return found


def main() -> None:
    """Run what was asked for, and print or write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="seeds of the table")
    parser.add_argument("--few", type=int, default=3, help="seeds of the assumptions")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--out", type=Path, default=HERE / "runs")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    sections: dict[str, str] = {}
    if "table" in asked.parts:
        sections["table"] = comparison_table(measure(ROWS, asked.seeds, asked.out, {}))
    if "cases" in asked.parts:
        cases = {case: measure(ROWS, asked.few, asked.out, options) for case, options in CASES.items()}
        sections["cases"] = cases_table(cases)
        if asked.write:
            picture(HERE / "wait.svg", cases, "wait", "mean wait (h)")
            picture(HERE / "utilisation.svg", cases, "utilisation", "utilisation of the cores")
    if "slurm" in asked.parts:
        changed = {
            (label, case): msgspec.structs.replace(cell, options={**cell.options, **options})
            for case, options in SLURM.items()
            for label, cell in ROWS.items()
            if cell.dispatcher == "slurm-backfill"
        }
        found = measure({f"{label}: {case}": cell for (label, case), cell in changed.items()}, asked.few, asked.out, {})
        sections["slurm"] = slurm_table({key: found[f"{key[0]}: {key[1]}"] for key in changed})
    for name, text in sections.items():
        print(f"\n{name}\n\n{text}")
    if asked.write:
        fill(HERE / "results.md", sections)


if __name__ == "__main__":
    sys.exit(main())
