"""`batdispatch eta` beside `squeue --start` of a real Slurm: ``python benchmarks/eta_slurm.py DIR [DIR ...]``.

The folders hold what ``benchmarks/slurm.py --record`` made. Of recordings whose jobs share the cores of one partition,
waiting jobs are drawn for which squeue said a start. What an estimate learns of are the other recordings, one after
the other, and what its own recording showed until then. Both are held against the start that came. The pinball loss is
the mean over five levels, in s; squeue's one number stands for each.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from eta import pinball

from batdispatch.abilities.sites.doors.eta.calibration import (
    INTERVALS,
    LEVELS,
    MOMENTS,
    ask_at,
    calibrate,
    coverage,
    moments_of,
    raw_quantiles,
)
from batdispatch.abilities.sites.doors.eta.futures import Futures
from batdispatch.abilities.sites.doors.eta.queue_moment import History, JobRows

CORES = 32
#: Between two recordings, s.
GAP = 60.0


class Recorded(NamedTuple):
    """A recording, and when squeue expected which job to start; times in s."""

    jobs: JobRows
    #: (moment, job, expected start).
    said: list[tuple[float, str, float]]


def read(path: Path) -> Recorded | None:
    """Return a recording of one partition whose jobs share cores; None: it is another."""
    rows = list(csv.DictReader(path.with_name(path.name.replace(".starts", "")).read_text().splitlines()))
    if any(row["whole"] == "1" or row["partition"] or row["licences"] for row in rows):
        return None
    told = csv.DictReader(path.read_text().splitlines())
    said = [(float(row["moment"]), row["job"], float(row["expected"] or "-1")) for row in told]
    names = {"submission": "submit", "start": "start", "end": "end"}
    jobs = JobRows(
        ids=np.array([row["job"] for row in rows], dtype=object),
        users=np.full(len(rows), "", dtype=object),
        units=np.array([int(row["asked"]) for row in rows], dtype=np.int64),
        walltime=np.array([60.0 * float(row["limit_min"]) for row in rows]),
        **{name: np.array([float(row[column]) for row in rows]) for name, column in names.items()},
    )
    return Recorded(jobs, [one for one in said if one[2] >= one[0]])


def after(recordings: Sequence[Recorded], last: Recorded) -> tuple[History, float]:
    """Return the jobs of recordings and behind them those of the last one, and when that begins, s."""
    begin, parts = 0.0, []
    for one in (*recordings, last):
        moved = {name: getattr(one.jobs, name) + begin for name in ("submission", "start", "end")}
        ids = one.jobs.ids if one is last else np.full(len(one.jobs.ids), "", dtype=object)
        parts.append(one.jobs._replace(ids=ids, **moved))
        start, begin = begin, float(parts[-1].end.max()) + GAP
    joined = JobRows(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    return History(joined.take(np.argsort(joined.submission, kind="stable"))), start


def measure(recordings: Sequence[Recorded], dispatcher: str, count: int) -> str:
    """Return what both are worth, as a row of the table."""
    futures = Futures(dispatcher, CORES)
    asked = [(number, *said) for number, one in enumerate(recordings) for said in one.said]
    chosen = np.random.default_rng(1).choice(len(asked), count, replace=False)
    quantiles, waits, squeue = np.empty((count, len(LEVELS))), np.empty(count), np.empty(count)
    learned = {}
    for row, (number, moment, job, expected) in enumerate(asked[one] for one in sorted(chosen)):
        own = recordings[number]
        history, begin = after([one for one in recordings if one is not own], own)
        if number not in learned:
            moments = moments_of(history, begin, MOMENTS, 1)
            learned[number] = ask_at(history, futures, moments, begin, 1).residuals(begin)
        now = history.at(begin + moment)
        at = now.waiting.ids.tolist().index(job)
        raw = raw_quantiles(futures.starts(now, np.random.default_rng((1, row)), at))
        quantiles[row] = calibrate(raw, learned[number])[0]
        waits[row], squeue[row] = now.waiting.start[at] - now.now, expected - moment
    inside = [coverage(quantiles, waits, ends) for ends in INTERVALS.values()]
    losses = pinball(waits, quantiles), pinball(waits, np.tile(squeue[:, None], len(LEVELS)))
    middle = np.abs(waits - quantiles[:, 2]), np.abs(waits - squeue)
    late = np.mean(squeue > waits)
    figures = [*(f"{share:.2f}" for share in inside), *(f"{loss:.1f}" for loss in losses)]
    figures += [f"{each.mean():.0f}" for each in middle] + [f"{late:.2f}"]
    return f"| {count} | {' | '.join(figures)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--dispatcher", default="easy")
    parser.add_argument("--moments", type=int, default=50)
    given = parser.parse_args()
    found = [read(path) for folder in given.folders for path in sorted(folder.glob("*.starts.csv"))]
    recordings = [one for one in found if one is not None]
    print("| moments | in 50 % | in 90 % | loss, s | squeue's | error of the median, s | squeue's | squeue too late |")
    print("|---|---|---|---|---|---|---|---|")
    print(measure(recordings, given.dispatcher, given.moments))


if __name__ == "__main__":
    main()
