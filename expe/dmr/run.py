"""Reruns the experiments of the DMR paper (Iserte et al., 2018): its tables 1, 2 and 4, and figures 4 to 8.

Use: python expe/dmr/run.py [--seeds 10] [--few 5] [--sizes 50,100,200,400] [--out expe/dmr/runs]
[--parts table,jobs,schedulers,curves,load,fs] [--write]. One process. Runs stay in `--out`, which is not under version
control, and are taken as they are when they are there. Each is audited. With --write the tables go into results.md
beside this file, and the pictures too.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from draw import differences_picture, evolution_picture, gains_picture, jobs_picture, load_picture, modes_picture
from grid import (
    CURVES,
    FIXED_UTILISATION,
    FS_BETWEEN,
    FS_HOSTS,
    FS_JOBS,
    FS_MEANS,
    FS_NEAR,
    GAPS,
    HOSTS,
    MODES,
    NEAR,
    PAIR,
    SCHEDULERS,
    SIZES,
    VARIED,
)
from show import (
    History,
    Measured,
    Pairs,
    actions_table,
    curves_table,
    expectations_table,
    fs_load_table,
    fs_near_table,
    history_of,
    load_table,
    modes_table,
    pattern_table,
    schedulers_table,
    table_4,
)

from batdispatch.core.errors import SimulationError
from batdispatch.inputs.files import write_whole
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.platforms.generate import flat
from batdispatch.inputs.workloads.dmr import Times, dmr
from batdispatch.inputs.workloads.writer import write_workload
from batdispatch.results.runs import read_result
from batdispatch.runs.grid import Cell, publish, run_grid

HERE = Path(__file__).parent
PARTS = ("table", "jobs", "schedulers", "curves", "load", "fs")


def one(out: Path, dispatcher: str, seed: int, jobs: int, *, share: float = 1.0, **options: Any) -> Measured:
    """Return what a dispatcher did with a workload.

    Args:
        out: where runs are kept.
        dispatcher: with its options.
        seed: of the workload.
        jobs: their number.
        share: of the jobs that are malleable.
        options: further ones of the workload.

    Raises:
        SimulationError: the audit found something wrong with the run, or a job did not end by itself.
    """
    hosts = options.get("hosts", HOSTS)
    path = out / f"{hosts}.xml"
    if not path.exists():
        out.mkdir(parents=True, exist_ok=True)
        write_whole(path, flat(hosts))
    told = [
        f"{key}={'-'.join(map(str, value)) if isinstance(value, tuple) else value}" for key, value in options.items()
    ]
    file = out / ("-".join(["dmr", str(jobs), f"share={share:g}", *told, str(seed)]).replace(":", "") + ".json")
    workload = dmr(np.random.default_rng(seed), jobs=jobs, share=share, **options)
    write_workload(workload, file)
    cell = Cell(dispatcher=dispatcher)
    row = run_grid(path, read_platform(path).machine, [file], [cell], out, say=lambda text: print(text, flush=True))[0]
    result = read_result(row.folders[0])
    if row.violations or result.metrics["nb_jobs_success"] != jobs:
        raise SimulationError(f"{row.folders[0]}: {row.violations} findings of the audit, or a job did not end")
    known = {name: math.nan if value is None else float(value) for name, value in result.metrics.items()}
    wait, completion = known["mean_waiting_time"], known["mean_turnaround_time"]
    return Measured(
        utilisation=known["utilisation"],
        wait=wait,
        execution=completion - wait,
        completion=completion,
        workload_time=known["makespan"],
        jobs=jobs,
        resizing=result.report.get("resizing", {}),
        folder=row.folders[0],
    )


def pairs(
    out: Path, seeds: Sequence[int], jobs: int, dispatchers: tuple[str, str] = tuple(PAIR.values()), **options: Any
) -> Pairs:
    """Return what became of the same jobs of each seed, fixed and malleable."""
    fixed, malleable = dispatchers
    return [
        (one(out, fixed, seed, jobs, share=0.0, **options), one(out, malleable, seed, jobs, **options))
        for seed in seeds
    ]


def scaled(out: Path, seeds: Sequence[int]) -> float:
    """Return the mean run time of flexible sleeps with which fixed ones use as much as the paper's on average, s.

    Raises:
        SimulationError: no run time does.
    """
    low, high = FS_BETWEEN
    tried: dict[float, float] = {}
    # Utilisation rises with run times, but not at every single step.
    while len(tried) < 12 and min(tried.values(), default=1.0) > NEAR / 5:
        mean = round(math.sqrt(low * high), 1)
        used = float(np.mean([sleeps(out, "fixed", seed, mean).utilisation for seed in seeds]))
        tried[mean] = abs(used - FIXED_UTILISATION)
        low, high = (mean, high) if used < FIXED_UTILISATION else (low, mean)
    best = min(tried, key=lambda mean: tried[mean])
    if tried[best] > NEAR:
        raise SimulationError(f"no mean run time gives a utilisation of {FIXED_UTILISATION:.3f}")
    return best


def sleeps(out: Path, mode: str, seed: int, mean: float) -> Measured:
    """Return what became of the flexible sleeps of a seed, of some mean run time in seconds."""
    options: dict[str, Any] = {"hosts": FS_HOSTS, "applications": ("fs",), "times": Times(fs_runtime=mean)}
    return one(out, MODES[mode], seed, FS_JOBS, share=0.0 if mode == "fixed" else 1.0, **options)


def main() -> None:
    """Run what was asked for, and print or write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--few", type=int, default=5, help="seeds of what is varied (%(default)s)")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of jobs (%(default)s)")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--out", type=Path, default=HERE / "runs")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    out, parts = asked.out, asked.parts.split(",")
    many, few = range(1, asked.seeds + 1), range(1, asked.few + 1)
    sections: dict[str, str] = {}
    if "table" in parts:
        measured = {int(size): pairs(out, many, int(size)) for size in asked.sizes.split(",")}
        sections["table-4"], sections["expected"] = table_4(measured), expectations_table(measured)
        if asked.write:
            gains_picture(HERE / "figure-4.svg", measured, "workload_time", "workload time (h)")
            gains_picture(HERE / "figure-5.svg", measured, "wait", "mean wait (h)")
    if "jobs" in parts:
        sections["pattern"] = pattern_table(
            {
                case: [history_of(one(out, malleable, seed, SIZES[0], walltime_factor=factor)) for seed in many]
                for case, (_, malleable, factor) in SCHEDULERS.items()
            }
        )
        histories: dict[str, History] = {
            kind: history_of(measured) for kind, measured in zip(PAIR, pairs(out, few[:1], SIZES[0])[0], strict=True)
        }
        if asked.write:
            evolution_picture(HERE / "figure-6.svg", histories)
            jobs_picture(HERE / "figure-7-execution.svg", histories, "execution")
            jobs_picture(HERE / "figure-7-wait.svg", histories, "wait")
            differences_picture(HERE / "figure-8.svg", histories)
    if "schedulers" in parts:
        sections["schedulers"] = schedulers_table(
            {
                (case, size): pairs(out, few, size, (fixed, malleable), walltime_factor=factor)
                for size in (SIZES[0], SIZES[-1])
                for case, (fixed, malleable, factor) in SCHEDULERS.items()
            }
        )
    if "curves" in parts:
        sections["curves"] = curves_table(
            {
                label: pairs(out, few, VARIED, times=Times(scalability=most, nbody_scalability=nbody))
                for label, (most, nbody) in CURVES.items()
            }
        )
    if "load" in parts:
        loads = {gap: pairs(out, few, VARIED, gap=gap) for gap in GAPS}
        sections["load"] = load_table(loads)
        if asked.write:
            load_picture(HERE / "load.svg", loads)
    if "fs" in parts:
        mean = scaled(out, many)
        modes = {mode: [sleeps(out, mode, seed, mean) for seed in many] for mode in MODES}
        sections["table-1"], sections["table-2"] = actions_table(modes), modes_table(modes, mean)
        near = {
            scale: {mode: [sleeps(out, mode, seed, scale) for seed in many] for mode in MODES}
            for scale in (round(mean * factor, 1) for factor in FS_NEAR)
        }
        sections["fs-near"] = fs_near_table(near)
        varied = {mean: {mode: [sleeps(out, mode, seed, mean) for seed in few] for mode in MODES} for mean in FS_MEANS}
        sections["fs-load"] = fs_load_table(varied)
        if asked.write:
            modes_picture(HERE / "fs-load.svg", varied)
    publish(HERE / "results.md", sections, write=asked.write)


if __name__ == "__main__":
    sys.exit(main())
