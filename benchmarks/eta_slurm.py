"""`batdispatch eta` beside `squeue --start` of a real Slurm.

    python benchmarks/eta_slurm.py DIR [DIR ...]
    python benchmarks/eta_slurm.py --accounts DIR SITE [SITE ...]    the table of docs/eta.md

The folders hold what ``benchmarks/slurm.py --record`` made. Of recordings whose jobs share the cores of one partition,
waiting jobs are drawn for which squeue said a start. What an estimate learns of are the other recordings, one after
the other, and what its own recording showed until then. Both are held against the start that came. The pinball loss is
the mean over five levels, in s; squeue's one number stands for each.

With --accounts, DIR has a folder of each site with its sacct.txt, and in squeue.json.xz what squeue printed every ten
seconds. At each of these moments one waiting job is asked about, and nothing is known but what the site's own accounts
showed until then; then the same with the accounts of the site before it in the list as the history.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import lzma
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from eta import pinball

from batdispatch.abilities.sites.doors.eta.calibration import (
    FEWEST,
    INTERVALS,
    LEVELS,
    MOMENTS,
    PastMoments,
    ask_at,
    calibrate,
    coverage,
    moments_of,
    raw_quantiles,
)
from batdispatch.abilities.sites.doors.eta.estimate import estimate
from batdispatch.abilities.sites.doors.eta.experience import Experience, learn
from batdispatch.abilities.sites.doors.eta.futures import Futures
from batdispatch.abilities.sites.doors.eta.queue_moment import History, JobRows
from batdispatch.abilities.sites.doors.eta.sources import Source, of_accounts
from batdispatch.inputs.log_options import LogReading

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


# ---------------------------------------------------------------------- accounts, as operators have them


class Asked(NamedTuple):
    """Waiting jobs that were asked about."""

    #: Distance of the medians from the waits that came, s, float64 [job].
    error: np.ndarray
    #: For each interval: whether it was given, and whether it held the start, bool [job].
    given: list[np.ndarray]
    held: list[np.ndarray]

    def row(self, name: str, squeue: str) -> str:
        """Return a row of the table."""
        cells = [f"{len(self.error)}", f"{np.median(self.error):.0f}", squeue]
        for given, held in zip(self.given, self.held, strict=True):
            cells += [f"{given.sum()}", f"{held[given].mean():.2f}" if given.any() else "none given"]
        return f"| {name} | {' | '.join(cells)} |"


def in_cores(site: Path) -> Source:
    """Return the jobs of a site, and its machine."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return of_accounts(site / "sacct.txt", LogReading(), "", None, None)


def snapshots(site: Path) -> Iterator[tuple[float, dict[str, float]]]:
    """Yield when squeue was asked, and when it expected jobs to start, in seconds since 1970."""
    for moment, text in json.loads(lzma.decompress((site / "squeue.json.xz").read_bytes())):
        rows = (line.split("|")[:2] for line in text.splitlines())
        utc = datetime.UTC
        said = {job: datetime.datetime.fromisoformat(at).replace(tzinfo=utc) for job, at in rows if at[:1].isdigit()}
        yield moment, {job: at.timestamp() for job, at in said.items()}


def on_own_history(source: Source, moments: Sequence[float], dispatcher: str) -> Asked:
    """Ask at moments of a site's clock, each time with what its own accounts showed until then."""
    history, futures = History(source.jobs), Futures(dispatcher, source.units)
    waits = [at for at in moments if len(history.at(at).waiting.ids)]
    past = ask_at(history, futures, waits, float(source.jobs.end.max()), 1)
    quantiles, given = past.estimates(0), []
    for row, at in enumerate(past.at):
        records = PastMoments(past.at[:row], past.quantiles[:row], past.wait[:row]).records(float(at))
        given.append([row >= FEWEST and one.covers for one in records])
    held = [(past.wait >= quantiles[:, low]) & (past.wait <= quantiles[:, high]) for low, high in INTERVALS.values()]
    return Asked(np.abs(quantiles[:, 2] - past.wait), list(np.array(given).T), held)


def on_history_of(learned: Experience, source: Source, moments: Sequence[float]) -> Asked:
    """Ask about all jobs that wait at moments of a site's clock, with what was learned of another site."""
    history, futures = History(source.jobs), Futures(learned.dispatcher, learned.units)
    error, given, held = [], [], []
    starts = dict(zip(source.jobs.ids.tolist(), source.jobs.start.tolist(), strict=True))
    for at in moments:
        # An hour after what was learned.
        later = learned.until + 3600.0 - at
        there = history.at(at)
        if not len(there.waiting.ids) or there.running.units.sum() > learned.units:
            continue
        running, waiting = (
            rows._replace(
                submission=rows.submission + later, start=rows.start + later, end=np.full(len(rows.ids), np.nan)
            )
            for rows in (there.running, there.waiting)
        )
        for job in estimate(learned.moment(at + later, running, waiting), futures, learned, 1).jobs:
            wait = starts[job.job] - at
            ends = [np.inf if each is None else each for each in job.quantiles]
            error.append(abs(ends[2] - wait))
            given.append([job.interval_50 is not None, job.interval_90 is not None])
            held.append([ends[low] <= wait <= ends[high] for low, high in INTERVALS.values()])
    return Asked(np.array(error), list(np.array(given).T), list(np.array(held).T))


def print_sites(folder: Path, names: Sequence[str], dispatcher: str) -> None:
    """Print how well starts are estimated on sites, by their own accounts and by those of another one."""
    print("| queue | history | asked | error of the median, s | squeue's | with 50 % | held | with 90 % | held |")
    print("|---|---|---|---|---|---|---|---|---|")
    sources = {name: in_cores(folder / name) for name in names}
    for place, name in enumerate(names):
        source, other = sources[name], names[place - 1]
        begin = source.begin or 0.0
        said = list(snapshots(folder / name))
        moments = [at - begin for at, _ in said]
        starts = dict(zip(source.jobs.ids.tolist(), source.jobs.start.tolist(), strict=True))
        # What was cancelled before it started has no start.
        expected = [(job, start) for at, jobs in said for job, start in jobs.items() if start >= at and job in starts]
        wrong = [abs(start - begin - starts[job]) for job, start in expected]
        squeue = f"{np.median(wrong):.0f}"
        found = on_own_history(source, moments, dispatcher)
        print(found.row(f"{name} | its own", squeue), flush=True)
        there = sources[other]
        futures = Futures(dispatcher, there.units)
        until = float(there.jobs.submission[-1])
        learned = learn(there.jobs, futures, dispatcher=dispatcher, unit=there.unit, now=until, seed=1)
        asked = on_history_of(learned, source, moments[:: len(moments) // 12])
        print(asked.row(f"{name} | {other}", squeue), flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, help="with --accounts, names of sites")
    parser.add_argument("--accounts", type=Path, metavar="DIR")
    parser.add_argument("--dispatcher", default="easy")
    parser.add_argument("--moments", type=int, default=50)
    given = parser.parse_args()
    if given.accounts is not None:
        print_sites(given.accounts, [str(name) for name in given.folders], given.dispatcher)
        return
    found = [read(path) for folder in given.folders for path in sorted(folder.glob("*.starts.csv"))]
    recordings = [one for one in found if one is not None]
    print("| moments | in 50 % | in 90 % | loss, s | squeue's | error of the median, s | squeue's | squeue too late |")
    print("|---|---|---|---|---|---|---|---|")
    print(measure(recordings, given.dispatcher, given.moments))


if __name__ == "__main__":
    main()
