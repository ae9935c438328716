"""The audit and the report of large runs: CPU seconds and memory, and how they grow with the number of jobs.

    python benchmarks/audit.py [--jobs 30000 100000 300000] [--hosts 100000] [--replay]

Workloads of the Lublin-Feitelson model are simulated with easy; then `check` and `report` take each run's folder, in
processes of their own. `--replay` lets the dispatcher decide again, too. Several `--jobs` also give the exponent of
the time between the first and the last of them.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path

from timing import command


def main() -> None:
    """Generate, simulate, audit and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, nargs="+", default=[39_000])
    parser.add_argument("--hosts", type=int, default=9_216)
    parser.add_argument("--replay", action="store_true")
    chosen = parser.parse_args()
    figures: dict[str, list[float]] = {"check": [], "report": []}
    for jobs in chosen.jobs:
        with tempfile.TemporaryDirectory() as scratch:
            root = Path(scratch)
            platform, workload, run = str(root / "p.xml"), str(root / "w.json"), str(root / "run")
            for words in (
                ["platform", "generate", "flat", "--hosts", str(chosen.hosts), "-o", platform],
                f"generate lublin --seed 1 --jobs {jobs} --hosts {chosen.hosts} --load 0.9 -o {workload}".split(),
                ["run", "--platform", platform, "--workload", workload, "--dispatcher", "easy", "--out", run],
            ):
                command(*words)
            for name, words in (
                ("check", ["check", run, "--replay", "always" if chosen.replay else "never"]),
                ("report", ["report", run, "-o", str(root / "page.html")]),
            ):
                seconds, _, memory, _ = command(*words)
                figures[name].append(seconds)
                print(f"{name}, {jobs:,} jobs on {chosen.hosts:,} hosts: {seconds:.1f} s CPU, {memory:.0f} MB")
    if len(chosen.jobs) > 1:
        factor = math.log(chosen.jobs[-1] / chosen.jobs[0])
        for name, found in figures.items():
            print(f"{name}: exponent {math.log(found[-1] / found[0]) / factor:.2f}")


if __name__ == "__main__":
    main()
