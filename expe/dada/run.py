"""DADA against HEFT and work stealing on tile factorisations, with 1 to 8 GPUs; writes tables and pictures.

Use: python expe/dada/run.py [--kernels cholesky,lu,qr] [--gpus 1,8] [--parts gpus,alpha,transfers]
[--out expe/dada/runs] [--write]. One process at a time. Copies share links in SimGrid, which must be installed. Runs
stay in `--out`, which is not under version control, and are taken as they are when they are there. Each is audited.
With --write the tables go into results.md beside this file, and the pictures too.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from grid import ALPHAS, GPUS, ROWS, SIZE, SWEEP, SWEEP_GPUS, TILE, Row, dada
from show import Measured, alpha_picture, alpha_table, claim_table, gpus_picture, gpus_table, transfers_table

from batdispatch.core.errors import SimulationError
from batdispatch.inputs.files import write_whole
from batdispatch.inputs.platforms.generate import hybrid
from batdispatch.inputs.workloads.tiles import tiles
from batdispatch.inputs.workloads.writer import write_workload
from batdispatch.results.audit.run import Auditor
from batdispatch.results.runs import read_result
from batdispatch.runs.grid import publish
from batdispatch.runs.run import RunSpec, execute, is_made

HERE = Path(__file__).parent
PARTS = ("gpus", "alpha", "transfers")


def measure(row: Row, kernel: str, gpus: int, out: Path, transfers: str = "simulated") -> Measured:
    """Return what a row did with a factorisation, on average over its seeds.

    Raises:
        SimulationError: the audit found something wrong, or a task did not succeed.
    """
    platform, workload = out / f"{gpus}.xml", out / f"{kernel}.json"
    if not platform.exists():
        write_whole(platform, hybrid(gpus=gpus))
    if not workload.exists():
        write_workload(tiles(kernel, size=SIZE, tile=TILE), workload)
    found = []
    for seed in range(row.seeds):
        spec = RunSpec(
            platform=str(platform),
            workload=str(workload),
            dispatcher=row.dispatcher,
            options={**row.options, "transfers": transfers},
            seed=seed,
            simgrid="always" if transfers == "simulated" else "auto",
        )
        folder = out / kernel / str(gpus) / f"{spec.label}-{seed}"
        if not is_made(spec, folder):
            execute(spec, folder)
            if violations := Auditor().run(folder).total:
                # So that it is not taken the next time.
                (folder / "result.json").unlink()
                raise SimulationError(f"{folder}: {violations} findings of the audit")
        report = read_result(folder).report
        if sum(report["tasks"].values()) != len(workload.read_bytes().split(b'"runtimes"')) - 1:
            raise SimulationError(f"{folder}: a task did not succeed")
        on_cpu = report["tasks"].get("cpu", 0) / sum(report["tasks"].values())
        found.append(Measured(report["gflops"], report["bytes_moved"] / 1e9, on_cpu))
        print(f"{kernel} {gpus} {spec.label} {seed}: {found[-1]}", flush=True)
    return Measured(*(sum(values) / len(found) for values in zip(*found, strict=True)))


def main() -> None:
    """Run what was asked for, and print or write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", default=",".join(GPUS))
    parser.add_argument("--gpus", help="numbers of GPUs  [default: those of grid.py]")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--out", type=Path, default=HERE / "runs")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    kernels = asked.kernels.split(",")
    counts = {
        kernel: [int(text) for text in asked.gpus.split(",")] if asked.gpus else GPUS[kernel] for kernel in kernels
    }
    sections: dict[str, str] = {}
    if "gpus" in asked.parts:
        curves = {
            kernel: {
                label: {gpus: measure(row, kernel, gpus, asked.out) for gpus in counts[kernel]}
                for label, row in ROWS.items()
            }
            for kernel in kernels
        }
        sections["claim"] = claim_table(curves)
        for kernel, found in curves.items():
            sections[kernel] = gpus_table(found)
            if asked.write:
                gpus_picture(HERE / f"{kernel}.svg", kernel, found)
    if "alpha" in asked.parts:
        sweep = {
            kernel: {
                (alpha, cp): measure(dada(alpha, communication=cp), kernel, SWEEP_GPUS, asked.out)
                for cp in (False, True)
                for alpha in ALPHAS
            }
            for kernel in kernels
            if kernel in SWEEP
        }
        sections["alpha"] = alpha_table(sweep)
        if asked.write:
            alpha_picture(HERE / "alpha.svg", sweep)
    if "transfers" in asked.parts:
        shown = {label: row for label, row in ROWS.items() if row.seeds == 1}
        forms = {
            (label, form): {gpus: measure(row, "cholesky", gpus, asked.out, form) for gpus in (4, 8)}
            for label, row in shown.items()
            for form in ("simulated", "estimated")
        }
        sections["transfers"] = transfers_table(forms)
    publish(HERE / "results.md", sections, write=asked.write)


if __name__ == "__main__":
    sys.exit(main())
