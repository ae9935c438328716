"""Coverage and pinball loss of `batdispatch eta`: ``python benchmarks/eta.py LOG [LOG ...] [--moments 500]``.

The truth is a simulation of each log under a dispatcher with a kernel. Moments are drawn evenly over the time of the
log's second half at which jobs wait, and one waiting job at each of them. As many moments of the first half calibrate;
behind them, each moment of the second half learns of what showed by then of those before it, as the command does of
accounts. Rivals: EASY's own plan (all run for their walltimes, nobody comes), the median wait of jobs of like
size that waited as long already, and the median wait of the last 50 jobs that started. The pinball loss is the mean
over five levels, in s; a rival that is one number stands for each level.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from batdispatch.abilities.sites.doors.eta.calibration import INTERVALS, LEVELS, PastMoments, coverage, raw_quantiles
from batdispatch.abilities.sites.doors.eta.futures import Futures
from batdispatch.abilities.sites.doors.eta.queue_moment import History, JobRows, QueueMoment
from batdispatch.inputs.log_options import LogReading
from batdispatch.inputs.workloads.columns import JobColumns, columns_of
from batdispatch.runs.engines import queue_simulation
from batdispatch.runs.inputs import read_log_as

Floats = np.ndarray
HEADINGS = (
    *("| log", "in 50 %", "in 90 %", "width of 50 %, min", "of 90 %", "pinball loss, s"),
    *("EASY's plan", "like jobs", "last waits |"),
)


def simulated(log: Path, dispatcher: str, hosts: int | None) -> tuple[History, int]:
    """Return the jobs of a log as a dispatcher starts them, and the number of hosts."""
    workload = read_log_as(log, LogReading(units="hosts")).workload.workload()
    columns = columns_of(workload)
    assert isinstance(columns, JobColumns), columns
    units = hosts or workload.nb_res
    assert units is not None
    start = queue_simulation(dispatcher).starts(columns, units)
    end = start + np.minimum(columns.runtime, columns.walltime)
    users = np.array(columns.users, dtype=object)[columns.user]
    ids = np.array(columns.ids.tolist(), dtype=object)
    return History(JobRows(ids, users, columns.units, columns.submission, columns.walltime, start, end)), units


def like_jobs(moment: QueueMoment, row: int) -> float:
    """Return the median wait from now on of started jobs of at most twice and at least half the size."""
    came, size = moment.came, moment.waiting.units[row]
    elapsed = moment.now - moment.waiting.submission[row]
    alike = (came.start <= moment.now) & (came.units <= 2 * size) & (2 * came.units >= size)
    waits = (came.start - came.submission)[alike]
    longer = waits[waits > elapsed]
    return float(np.median(longer) - elapsed) if len(longer) else float(elapsed)


def last_waits(moment: QueueMoment) -> float:
    """Return the median wait of the last 50 jobs that started."""
    started = moment.came.take(moment.came.start <= moment.now)
    latest = np.argsort(started.start, kind="stable")[-50:]
    waits = (started.start - started.submission)[latest]
    return float(np.median(waits)) if len(waits) else 0.0


def pinball(wait: Floats, quantiles: Floats) -> float:
    """Return the mean pinball loss over levels and moments: waits [moment], quantiles [moment, level]."""
    levels, over = np.array(LEVELS), wait[:, None] - quantiles
    return float(np.maximum(levels * over, (levels - 1) * over).mean())


def draw(history: History, first: float, last: float, count: int, rng: np.random.Generator) -> list[float]:
    """Return moments at which jobs wait, ascending."""
    found: list[float] = []
    while len(found) < count:
        at = float(rng.uniform(first, last))
        if len(history.at(at).waiting.ids):
            found.append(at)
    return sorted(found)


def measure(log: Path, dispatcher: str, moments: int, hosts: int | None) -> str:
    """Return a row of the table."""
    history, units = simulated(log, dispatcher, hosts)
    submission, rng = history.jobs.submission, np.random.default_rng(1)
    middle, last = float(submission[len(submission) // 2]), float(submission[-1])
    times = draw(history, float(submission[len(submission) // 20]), middle, moments, rng)
    times += draw(history, middle, last, moments, rng)
    futures = Futures(dispatcher, units)
    raw, waits, rivals = np.empty((len(times), len(LEVELS))), np.empty(len(times)), np.empty((3, len(times)))
    for number, at in enumerate(times):
        own = np.random.default_rng((1, number))
        moment = history.at(at)
        row = int(own.integers(len(moment.waiting.ids)))
        raw[number] = raw_quantiles(futures.starts(moment, own, row))[0]
        waits[number] = moment.waiting.start[row] - at
        rivals[:, number] = futures.planned(moment)[row], like_jobs(moment, row), last_waits(moment)
    final = PastMoments(np.array(times), raw, waits).estimates(moments)
    waits, rivals = waits[moments:], rivals[:, moments:]
    inside = [coverage(final, waits, ends) for ends in INTERVALS.values()]
    width = [np.median(final[:, high] - final[:, low]) / 60 for low, high in INTERVALS.values()]
    losses = [pinball(waits, final)]
    losses += [pinball(waits, np.tile(rival[:, None], len(LEVELS))) for rival in rivals]
    figures = [f"{share:.3f}" for share in inside]
    # Without walltimes, a plan has no end.
    figures += [f"{value:,.0f}" if np.isfinite(value) else "-" for value in (*width, *losses)]
    return " | ".join([f"| {log.name.split('.')[0]}", *figures]) + " |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="+", type=Path)
    parser.add_argument("--dispatcher", default="easy")
    parser.add_argument("--moments", type=int, default=500)
    parser.add_argument("--hosts", type=int)
    given = parser.parse_args()
    print(" | ".join(HEADINGS))
    print("|---" * (len(HEADINGS)) + "|")
    for log in given.logs:
        print(measure(log, given.dispatcher, given.moments, given.hosts), flush=True)


if __name__ == "__main__":
    main()
