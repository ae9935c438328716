"""What each dispatcher makes of a whole log, and on which jobs it loses most, as a table.

Usage: ``python benchmarks/whole_logs.py FOLDER``, where ``batdispatch compare LOG --dispatchers A,B,... --out FOLDER``
made the runs.

Printed for each run: mean bounded slowdown (threshold 10 s), mean and longest wait, CPU seconds of the run, what the
audit found, and the class of jobs with the largest share in the sum of what their bounded slowdowns exceed 1, with the
share that it has of the jobs. Classes are made of the run time and the units asked for.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.lineage import FILE, read_lineage
from batdispatch.results.metrics.sample import Sample, sample_of
from batdispatch.results.runs import read_result

#: Upper bounds of the classes of run times, s, and of units, and what the classes are called.
TIMES = ((60.0, "under 1 min"), (3600.0, "1 min to 1 h"), (np.inf, "1 h or more"))
UNITS = ((1.0, "1 unit"), (16.0, "2 to 16 units"), (np.inf, "more than 16 units"))
HEADER = "|  | slowdown | wait, mean (s) | longest (s) | CPU (s) | violations | loses most on |"


def worst_class(sample: Sample) -> str:
    """Return in words which jobs lose most."""
    excess = sample.bounded_slowdown - 1.0
    best, text = -1.0, ""
    times = np.searchsorted([bound for bound, _ in TIMES[:-1]], sample.run, side="right")
    units = np.searchsorted([bound for bound, _ in UNITS[:-1]], sample.units, side="left")
    for time, (_, length) in enumerate(TIMES):
        for size, (_, width) in enumerate(UNITS):
            mine = (times == time) & (units == size)
            share = float(excess[mine].sum() / max(excess.sum(), 1e-12))
            if share > best:
                best = share
                text = f"{length}, {width}: {share:.0%} of the excess, {mine.mean():.0%} of the jobs"
    return text


def main() -> None:
    """Print the table of one folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    auditor = Auditor()
    print(f"{HEADER}\n|---|" + "---:|" * 5 + "---|")
    for run in sorted(path.parent for path in folder.glob("*/result.json")):
        result, columns = read_result(run), read_columns(run / "jobs.csv")
        sample = sample_of(columns, lineage=read_lineage(run / FILE, columns))
        cells = [
            run.name,
            f"{sample.bounded_slowdown.mean():.2f}",
            f"{sample.wait.mean():,.0f}",
            f"{sample.wait.max():,.0f}",
            f"{float(result.performance.get('cpu_seconds') or 0):,.1f}",
            str(auditor.run(run).total),
            worst_class(sample),
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
