"""What an outage of ten days before a log does to later jobs: each dispatcher over easy, with and without the outage.

    nice -n 15 .venv/bin/python benchmarks/outage.py LOG.swf[.xz|.gz]... [--dispatchers NAME,...]

In the outage, one job has the whole machine, and another one waits for it to end. Then the log begins. Only its jobs
count. Logs state the size of the machine in their headers (MaxProcs).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import batdispatch as bd
from batdispatch.api.results import LoadedRun
from batdispatch.core.line.options import split_list
from batdispatch.inputs.files import read_text

#: Length of the outage, s.
OUTAGE = 10 * 86_400
DISPATCHERS = "easy[ordering=guarded],easy[ordering=guarded[memory=1e12]]"
FIGURES = ("slowdown", "mean wait", "99 % wait", "longest wait")


def with_outage(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of an SWF file behind an outage."""
    header = [line for line in lines if line.startswith(";")]
    jobs = [line.split() for line in lines if line.strip() and not line.startswith(";")]
    size = next(line.split(":")[1].split()[0] for line in header if "MaxProcs" in line)
    first = min(int(float(job[1])) for job in jobs)
    most = max(int(job[0]) for job in jobs)
    yield from header
    for number, when, run, units in ((most + 1, 0, OUTAGE, size), (most + 2, 10, 60, "1")):
        yield f"{number} {when} -1 {run} {units} -1 -1 {units} {run} -1 1 -1 -1 -1 -1 -1 -1 -1"
    for job in jobs:
        yield " ".join([job[0], str(int(float(job[1])) - first + OUTAGE), *job[2:]])


def figures_of(run: LoadedRun, left_out: int) -> NDArray[np.float64]:
    """Return the figures of a run without its first jobs."""
    jobs = run.jobs.sort_values("submission_time", kind="stable")[left_out:]
    wait, ran = jobs["waiting_time"].to_numpy(), jobs["execution_time"].to_numpy()
    slowdown = np.maximum(1.0, (wait + ran) / np.maximum(ran, 10.0))
    return np.array([slowdown.mean(), wait.mean(), np.quantile(wait, 0.99), wait.max()])


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("logs", nargs="+", type=Path)
    read.add_argument("--dispatchers", default=DISPATCHERS)
    given = read.parse_args()
    names = ["easy", *split_list(given.dispatchers)]
    print(f"| {' / '.join(FIGURES)}, over easy | as it is | behind an outage |\n|---|---|---|")
    for log in given.logs:
        lines = read_text(log).splitlines()
        with tempfile.TemporaryDirectory() as folder:
            columns = []
            for left_out, text in ((0, lines), (2, list(with_outage(lines)))):
                path = Path(folder) / f"log-{left_out}.swf"
                path.write_text("\n".join(text) + "\n")
                runs = bd.compare(path, names, out=Path(folder) / f"runs-{left_out}", record=False, report=False)
                found = [figures_of(run, left_out) for run in runs.values()]
                columns.append([each / found[0] for each in found[1:]])
        for row, name in enumerate(names[1:]):
            cells = (" / ".join(f"{value:.2f}" for value in column[row]) for column in columns)
            print(f"| {log.name.partition('.')[0]}, `{name}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
