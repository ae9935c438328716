"""Holds jobs.csv of kernels against that of the dispatchers in Python, for each log and dispatcher, as a table.

Usage: ``python benchmarks/same_bytes.py --logs DIR [--first 3000] [--dispatchers TEXT ...]``

Each log in DIR is read as whole hosts, and its first jobs are simulated with ``--compiled always`` and ``never``. A
line of the table says whether the two files are equal, else the first line that differs, or why no kernel does it.
Without ``--dispatchers``, all that are registered are compared, and those that have a kernel also with options that
change what it does. The command fails if any files differ.
"""

from __future__ import annotations

import argparse
import tempfile
from itertools import zip_longest
from pathlib import Path

from compiled import platform_of

from batdispatch.core.errors import InputError
from batdispatch.core.line import registry
from batdispatch.core.line.dispatcher import GROUP
from batdispatch.inputs.workloads import write_workload
from batdispatch.inputs.workloads.importers import read_log
from batdispatch.inputs.workloads.logs import Selection
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec

SHARE = "multifactor[age=100000,size=100000,fairshare=1000000"
VARIANTS = [
    *("fcfs[ordering=sjf]", "fcfs[ordering=wfp3]", "filler[ordering=f1]", "filler[ordering=unicef]"),
    *("easy[reservation=hosts]", "easy[ordering=smallest-area]", "easy[ordering=slowdown]", "easy[ordering=aged-area]"),
    *("easy[ordering=guarded]", "easy[backfill=sjf]", "easy[prediction=last-two,correction=steps,backfill=sjf]"),
    *("easy[prediction=online-regression,correction=doubling]", "easy[default_walltime=3600,rjms_delay=5]"),
    *(f"easy[ordering={SHARE}]]", f"easy[backfill={SHARE},fair_tree=true,period=300]]"),
    *("conservative[ordering=f4]", "conservative[rjms_delay=5]", "slurm-backfill[ordering=unicef,depth=50]"),
    *("slurm-backfill[prediction=last-two,placement=first-fit]", f"slurm-backfill[ordering={SHARE},period=300]]"),
]


def compare(platform: Path, workload: Path, dispatcher: str, folder: Path) -> tuple[bool, str]:
    """Return whether a dispatcher's files do not differ, and what the table says of them."""
    files = []
    for compiled in ("always", "never"):
        out = folder / compiled
        spec = RunSpec(
            platform=str(platform), workload=str(workload), dispatcher=dispatcher, record=False, compiled=compiled
        )
        try:
            execute(spec, out)
        except InputError as problem:
            return True, f"no kernel: {str(problem).removeprefix('option --compiled always: ')}"
        files.append((out / "jobs.csv").read_text().splitlines())
    for number, (ours, python) in enumerate(zip_longest(*files), 1):
        if ours != python:
            return False, f"line {number}: {ours} compiled, {python} in Python"
    return True, f"equal: {len(files[0]) - 1:,} jobs"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=Path, required=True)
    parser.add_argument("--first", type=int)
    parser.add_argument("--dispatchers", nargs="*", default=sorted([*registry.names(GROUP), *VARIANTS]))
    options = parser.parse_args()
    print("| log | dispatcher | jobs.csv |\n|---|---|---|")
    same = True
    for log in sorted(path for path in options.logs.iterdir() if ".swf" in path.suffixes):
        with tempfile.TemporaryDirectory() as name:
            made, folder = read_log(log, selection=Selection(first=options.first))[0], Path(name)
            write_workload(made, folder / "w.json")
            platform = platform_of(made.nb_res or 1, folder)
            for number, dispatcher in enumerate(options.dispatchers):
                equal, said = compare(platform, folder / "w.json", dispatcher, folder / str(number))
                same &= equal
                print(f"| {log.name.partition('.')[0]} | `{dispatcher}` | {said} |", flush=True)
    if not same:
        raise SystemExit("some files differ")


if __name__ == "__main__":
    main()
