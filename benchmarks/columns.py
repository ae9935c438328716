"""CPU seconds to read a jobs file, to compute its metrics, and to read a workload, each for 100,000 jobs.

Usage: ``python benchmarks/columns.py WORKLOAD.json JOBS.csv [--hosts N]``

The jobs file is that of a run of the workload, such as ``run --no-record`` writes. Each figure is the least of three.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from timing import least

from batdispatch.inputs.workloads import read_workload
from batdispatch.inputs.workloads.workload_file import WorkloadFile
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.metrics.compute import compute
from batdispatch.results.metrics.sample import sample_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workload", type=Path)
    parser.add_argument("jobs", type=Path)
    parser.add_argument("--hosts", type=int)
    given = parser.parse_args()
    columns = read_columns(given.jobs)
    works: dict[str, Callable[[], object]] = {
        "read_workload": lambda: read_workload(given.workload),
        "WorkloadFile.columns": lambda: WorkloadFile(given.workload).columns(),
        "read_columns (jobs.csv)": lambda: read_columns(given.jobs),
        # Rows are copied, since columns keep the hosts that they have read.
        "metrics": lambda: compute(sample_of(columns.take(columns.ran.nonzero()[0]), hosts=given.hosts)),
    }
    for name, work in works.items():
        spent = least(work)[0]
        print(f"{name}: {spent:.2f} CPU-s, {spent / len(columns) * 100_000:.2f} CPU-s per 100,000 jobs")


if __name__ == "__main__":
    main()
