"""What the network's metrics and maps cost: CPU seconds and memory on a torus, and on as many hosts without a network.

    python benchmarks/network_metrics.py [--jobs 30000 300000] [--dims 24,24,24] [--io 672] [--load 0.85]

Jobs of the Lublin-Feitelson model are simulated with easy and no recording on a torus with two hosts per router, and on
a flat platform of as many hosts, where the schedule is the same; then `check` and `report` take both folders. All are
processes of their own, one after the other, so the ratios are those of one machine and one hour.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from pathlib import Path

from timing import Usage, command


def main() -> None:
    """Simulate, audit and report on both platforms."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, nargs="+", default=[30_000])
    parser.add_argument("--dims", default="24,24,24")
    parser.add_argument("--io", type=int, default=672)
    parser.add_argument("--load", type=float, default=0.85)
    chosen = parser.parse_args()
    hosts = 2 * math.prod(map(int, chosen.dims.split(","))) - chosen.io
    for jobs in chosen.jobs:
        with tempfile.TemporaryDirectory() as scratch:
            root = Path(scratch)
            workload = str(root / "w.json")
            made = f"generate lublin --seed 1 --jobs {jobs} --hosts {hosts} --load {chosen.load} -o {workload}"
            command(*made.split())
            found: dict[str, list[Usage]] = {"run": [], "check": [], "report": []}
            results = []
            for name, words in (
                ("torus", f"platform generate torus --dims {chosen.dims} --io {chosen.io}"),
                ("flat", f"platform generate flat --hosts {hosts}"),
            ):
                platform, run = str(root / f"{name}.xml"), str(root / name)
                command(*words.split(), "-o", platform)
                simulate = ["--platform", platform, "--workload", workload, "--dispatcher", "easy", "--no-record"]
                found["run"].append(command("run", *simulate, "--out", run))
                found["check"].append(command("check", run, "--replay", "never"))
                found["report"].append(command("report", run, "-o", str(root / f"{name}.html")))
                results.append(json.loads((root / name / "result.json").read_text())["metrics"])
            torus, flat = results
            if any(
                torus[key] != flat[key] for key in ("mean_waiting_time", "makespan", "utilisation", "fragmentation")
            ):
                raise SystemExit("the two schedules differ, so nothing can be compared")
            size = (root / "torus.html").stat().st_size / 1e6
            print(f"{jobs:,} jobs on {hosts:,} hosts; utilisation {torus['utilisation']:.3f}; page {size:.1f} MB")
            for name, ((seconds, _, memory, _), (plain, _, little, _)) in found.items():
                print(
                    f"{name:>7}: {seconds:.1f} s CPU and {memory:.0f} MB with a network, {plain:.1f} s and "
                    f"{little:.0f} MB without, ratio {seconds / plain:.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
