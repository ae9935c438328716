"""Dispatchers compared on many workloads that no option was chosen by, in pairs, with confidence intervals.

Usage: ``python benchmarks/constraint_samples.py eurora|kit [--log LOG.swf --system SYSTEM.json] [--seeds N] [--jobs N]
[--processes N] NAME[key=value,...] ...``

With LOG in the peers' layout (see constraint.py) the workloads are its sessions resampled, otherwise sessions of
invented users (see samples.py). Printed are means over the workloads of mean slowdown, mean wait and CPU milliseconds a
decision with waiting jobs; and the ratio of each dispatcher's mean slowdown to the first one's: its geometric mean with
a 95 % interval (Student's t of the paired logarithms), and on how many workloads it was lower and higher.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import math
from pathlib import Path

import numpy as np
from constraint import machine_of, simulate, workload_of
from samples import KINDS, machine_of_kind, resampled, sessions

from batdispatch.abilities.campaigns.statistics.student import mean_by_student
from batdispatch.runs.compare import entrant_of
from batdispatch.runs.workers import workers_beside

#: Student's 97.5 % quantiles as tables in books print them, by degrees of freedom: the manual's tables were made so.
PRINTED = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 7: 2.36, 9: 2.26, 11: 2.20, 14: 2.14, 19: 2.09, 29: 2.05}


def printed_quantile(freedom: int) -> float:
    """Return the quantile of `PRINTED`; where that has none, the next larger one, for less freedom."""
    return PRINTED[max(row for row in PRINTED if row <= freedom)]


def outcome(arguments: argparse.Namespace, text: str, seed: int) -> tuple[float, float, float]:
    """Return mean slowdown, mean wait in s and CPU ms a decision of one dispatcher on one workload."""
    if arguments.log:
        machine = machine_of(arguments.system)
        workload = resampled(workload_of(arguments.log, machine, arguments.jobs), machine, seed)
    else:
        machine = machine_of_kind(KINDS[arguments.kind])
        workload = sessions(KINDS[arguments.kind], machine, arguments.jobs or 2000, seed)
    entrant = entrant_of(text)
    run = simulate(machine, workload, entrant.name, entrant.options)
    return float(run.slowdown.mean()), float(run.wait.mean()), float(run.busy.mean())


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("--log", type=Path)
    parser.add_argument("--system", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("dispatchers", nargs="+")
    arguments = parser.parse_args()
    base: np.ndarray | None = None
    print(f"{'dispatcher':50}  slowdown   wait s     ms  ratio           95 %  lower higher")
    # A worker imports this file, which as a script has no name.
    by_name = importlib.import_module("constraint_samples")
    with workers_beside(max(arguments.processes, 1)) as pool:
        assert pool is not None
        for text in arguments.dispatchers:
            one = functools.partial(by_name.outcome, arguments, text)
            found = np.array(list(pool.map(one, range(1, arguments.seeds + 1))))
            base = found if base is None else base
            ratios = np.log(found[:, 0] / base[:, 0])
            mean = mean_by_student(ratios, printed_quantile).transform(math.exp)
            low, high = (0.0, math.inf) if mean.low is None else (mean.low, mean.high)
            print(
                f"{text:50} {found[:, 0].mean():9.3f} {found[:, 1].mean():8.0f} {found[:, 2].mean():6.2f} "
                f"{mean.value:6.3f} {low:6.3f} - {high:5.3f} {(ratios < -1e-3).sum():6} {(ratios > 1e-3).sum():6}",
                flush=True,
            )


if __name__ == "__main__":
    main()
