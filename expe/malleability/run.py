"""Measures how much malleability buys on KTH-SP2, if 0, 25, 50 or 100 % of the jobs could resize.

Use: python expe/malleability/run.py --log KTH-SP2-1996-2.1-cln.swf.xz [--slices 28] [--parts shares,scalability,
assumptions] [--out expe/malleability/runs] [--write]. One process. Runs stay in `--out`, which is not under version
control, and are taken as they are when they are there. Each is audited. With --write the tables go into results.md
beside this file, and the picture too.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from grid import EASY, HOSTS, JOBS, PARTS, SLICES, Case
from show import Found, Measured, assumptions_table, base_table, picture, scalability_table, shares_table, summary

from batdispatch.core.errors import SimulationError
from batdispatch.inputs.files import write_whole
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.platforms.generate import flat
from batdispatch.inputs.workloads import Workload
from batdispatch.inputs.workloads.importing import import_log
from batdispatch.inputs.workloads.malleable import made_malleable
from batdispatch.inputs.workloads.writer import write_workload
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.lineage import FILE as LINEAGE
from batdispatch.results.lineage import logical, read_lineage
from batdispatch.results.runs import read_result
from batdispatch.runs.grid import Cell, publish, run_grid

HERE = Path(__file__).parent
#: Threshold of the bounded slowdown, s.
THRESHOLD = 10.0


class Campaign:
    """Runs cases on slices of a log."""

    def __init__(self, log: Path, slices: Sequence[int], out: Path) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self.out, self.slices = out, slices
        self.path = out / "kth.xml"
        write_whole(self.path, flat(HOSTS))
        self.machine = read_platform(self.path).machine
        whole, _ = import_log(log, machine=self.machine)
        whole.sort()
        self.rigid = {index: whole.part(index * JOBS, (index + 1) * JOBS) for index in slices}

    def measure(self, case: Case) -> list[Measured]:
        """Return what a case did on each slice, on average over its seeds."""
        found = []
        for index in self.slices:
            of_seeds = []
            for seed in case.seeds:
                rng = np.random.default_rng(seed)
                made, _ = made_malleable(rng, self.rigid[index], share=case.share, hosts=HOSTS, rule=case.rule)
                of_seeds.append(self._run(made, case.cell, f"{index:02}-{case.workload}-{seed}", index))
            found.append(Measured.mean(of_seeds))
        return found

    def measure_rigid(self) -> list[Measured]:
        """Return what easy did on each slice as it is in the log."""
        return [self._run(self.rigid[index], EASY, f"{index:02}-0", index) for index in self.slices]

    def _run(self, made: Workload, cell: Cell, name: str, index: int) -> Measured:
        """Return what a cell did on a workload.

        Raises:
            SimulationError: the audit found something wrong, or a job was lost.
        """
        file = self.out / f"{name}.json"
        if not file.exists():
            write_workload(made, file)
        (row,) = run_grid(self.path, self.machine, [file], [cell], self.out, say=lambda text: print(text, flush=True))
        if row.violations or len(row.waits) != JOBS:
            raise SimulationError(f"{row.folders[0]}: {row.violations} findings of the audit, or a job was lost")
        return measured(self.rigid[index], row.folders[0])


def measured(rigid: Workload, folder: Path) -> Measured:
    """Return what came of a run.

    Args:
        rigid: the jobs as they are in the log, which says how long each takes on the size that it asks for.
        folder: of the run.
    """
    columns = read_columns(folder / "jobs.csv")
    jobs = logical(columns, read_lineage(folder / LINEAGE, columns))
    runtimes = {job.id: min(float(rigid.profiles[job.profile]["delay"]), job.walltime) for job in rigid.jobs}
    usual = np.array([runtimes[str(name)] for name in jobs.job_id])
    slowdown = np.maximum(1.0, jobs.turnaround_time / np.maximum(usual, THRESHOLD))
    begin, end = rigid.jobs[0].submission, rigid.jobs[-1].submission
    spent = np.minimum(columns.finish_time, end) - np.maximum(columns.starting_time, begin)
    held = float(np.clip(spent, 0.0, None) @ columns.hosts.sizes)
    result = read_result(folder)
    resizes = result.report.get("resizing", {})
    return Measured(
        wait=float(jobs.waiting_time.mean()),
        slowdown=float(slowdown.mean()),
        utilisation=held / (HOSTS * (end - begin)),
        execution=float(jobs.execution_time.mean()),
        turnaround=float(jobs.turnaround_time.mean()),
        killed=float(result.metrics["nb_jobs_killed"] or 0),
        expansions=resizes.get("expand", {}).get("count", 0) / JOBS,
        shrinks=resizes.get("shrink", {}).get("count", 0) / JOBS,
        cpu=float(result.performance.get("cpu_seconds") or 0),
    )


def main() -> None:
    """Run what was asked for, and print or write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", type=Path, required=True, help="KTH-SP2-1996-2.1-cln.swf, perhaps compressed")
    parser.add_argument(
        "--slices", type=int, default=len(SLICES), help="take so many slices, evenly spread (%(default)s)"
    )
    parser.add_argument("--parts", default=",".join(PARTS), help="run these parts (%(default)s)")
    parser.add_argument("--out", type=Path, default=HERE / "runs")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    chosen = np.unique(np.linspace(0, len(SLICES) - 1, asked.slices).round().astype(int)).tolist()
    campaign = Campaign(asked.log, chosen, asked.out)
    rigid = campaign.measure_rigid()
    found: Found = {}
    for case in _cases(asked.parts.split(",")):
        found[case] = campaign.measure(case)
    sections = {"base": base_table(rigid)}
    if "shares" in asked.parts:
        sections |= {"summary": summary(rigid, found), "shares": shares_table(rigid, found)}
        if asked.write:
            picture(HERE / "gain.svg", rigid, found)
    if "scalability" in asked.parts:
        sections["scalability"] = scalability_table(rigid, found)
    if "assumptions" in asked.parts:
        sections["assumptions"] = assumptions_table(rigid, found)
    publish(HERE / "results.md", sections, write=asked.write)


def _cases(parts: Iterable[str]) -> list[Case]:
    """Return the cases of some parts, each once."""
    return list(dict.fromkeys(case for part in parts for case in PARTS[part]))


if __name__ == "__main__":
    sys.exit(main())
