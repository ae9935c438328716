"""Reruns the ESP experiment of Soner and Ozturan (2012): IPSCHED and Slurm's backfilling; writes tables and pictures.

Use: python expe/esp/run.py [--seeds 10] [--few 3] [--few-programs 1] [--parts table,cases,slurm] [--out expe/esp/runs].
One process. Runs stay in `--out`, which is not under version control, and are taken as they are when they are there.
Each is audited. With --write the tables go into results.md beside this file, and the pictures too.
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
from show import (
    Measured,
    cases_table,
    comparison_table,
    decisions_table,
    picture,
    reduction_table,
    sizes_table,
    slurm_table,
)

from batdispatch.core.errors import SimulationError
from batdispatch.inputs.files import write_whole
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.platforms.generate import esp as platform_of
from batdispatch.inputs.workloads.esp import esp
from batdispatch.inputs.workloads.writer import write_workload
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.runs import read_result
from batdispatch.runs.grid import Cell, publish, run_grid

HERE = Path(__file__).parent
PARTS = ("table", "cases", "slurm")
HOUR = 3600.0
#: Cores that jobs of a quarter of the machine ask for.
QUARTER = 2048


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
            result = read_result(row.folders[0])
            metrics, decisions = result.metrics, result.decisions
            columns = read_columns(row.folders[0] / "jobs.csv")
            large = columns.requested_number_of_resources >= QUARTER
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
                    large=float(columns.waiting_time[large].mean()) / HOUR,
                    small=float(columns.waiting_time[~large].mean()) / HOUR,
                    cpu=row.cpu_seconds,
                    median=float(decisions["seconds_p50"] or 0),
                    worst=float(decisions["seconds_max"] or 0),
                    statuses=result.report.get("statuses", {}),
                )
            )
    return found


def parted(cells: Mapping[str, Cell]) -> tuple[dict[str, Cell], dict[str, Cell]]:
    """Return the cells of IPSCHED, and those of Slurm."""
    programs = {label: cell for label, cell in cells.items() if cell.dispatcher == "ipsched"}
    return programs, {label: cell for label, cell in cells.items() if label not in programs}


def main() -> None:
    """Run what was asked for, and print or write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="seeds of the table")
    parser.add_argument("--few", type=int, default=3, help="seeds of the assumptions")
    parser.add_argument("--few-programs", type=int, default=1, help="seeds of the assumptions for IPSCHED")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--out", type=Path, default=HERE / "runs")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    sections: dict[str, str] = {}
    if "table" in asked.parts:
        found = measure(ROWS, asked.seeds, asked.out, {})
        sections["table"], sections["decisions"] = comparison_table(found), decisions_table(found)
        sections["reduction"], sections["sizes"] = reduction_table(found), sizes_table(found)
    if "cases" in asked.parts:
        programs, others = parted(ROWS)
        cases = {}
        for case, options in CASES.items():
            found = measure(others, asked.few, asked.out, options)
            found |= measure(programs, asked.few_programs, asked.out, options)
            cases[case] = {label: found[label] for label in ROWS}
        sections["cases"] = cases_table(cases)
        if asked.write:
            picture(HERE / "wait.svg", cases, "wait", "mean wait (h)")
            picture(HERE / "utilisation.svg", cases, "utilisation", "utilisation of the cores")
    if "slurm" in asked.parts:
        changed = {
            (label, case): msgspec.structs.replace(cell, options={**cell.options, **options})
            for case, options in SLURM.items()
            for label, cell in parted(ROWS)[1].items()
        }
        found = measure({f"{label}: {case}": cell for (label, case), cell in changed.items()}, asked.few, asked.out, {})
        sections["slurm"] = slurm_table({key: found[f"{key[0]}: {key[1]}"] for key in changed})
    publish(HERE / "results.md", sections, write=asked.write)


if __name__ == "__main__":
    sys.exit(main())
