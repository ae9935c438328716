"""Futures of a queue, each simulated by a kernel."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.sites.doors.eta.queue_moment import Floats, Ints, JobRows, QueueMoment
from batdispatch.abilities.sites.doors.eta.run_times import draw_run_times
from batdispatch.core.errors import InputError
from batdispatch.inputs.workloads.columns import JobColumns
from batdispatch.native.texts import PackedTexts
from batdispatch.runs.engines import queue_simulation

#: Jobs that come one behind the other as they once came, and the most such series in a future.
ARRIVALS, SERIES = 300, 32
#: Futures that are drawn for each estimate.
SAMPLES = 60
#: A job that has outlived its walltime is expected to end in so many seconds.
LATE = 1.0
#: How long a job without a walltime is taken to run where all run for their walltimes, s: thousands of them can be told
#: from never.
ENDLESS = 1e9


class Futures:
    """Draws futures of a queue on a machine of equal units, and simulates them.

    Every future has the jobs of the moment with run times of its own, and behind them jobs that come as they came from
    some moment of the past on; after `ARRIVALS` of them, as from another moment on, until the jobs asked about have
    started [1]. It is simulated from before the first submission: one more job holds all that was free until now, so
    that jobs start from now on, with the waits that they really had.

    Deviations: units are whole and alike. Which nodes run a job, partitions, priorities that no job's submission, size
    or walltime says, and what a prediction learned before are left out. Conservative's plan is made anew: places that
    it promised earlier are not known. After `SERIES` series nobody comes. `calibration` answers for all that.
    Time: O(samples) simulations of the jobs of the moment and twice those that come before the last start.

    References:
        [1] H. R. Künsch. The jackknife and the bootstrap for general stationary observations. Annals of Statistics 17,
            1989: blocks of what happened, one behind the other.
    """

    def __init__(self, dispatcher: str, units: int, samples: int = SAMPLES) -> None:
        """Prepare simulations.

        Args:
            dispatcher: name with options in brackets; it must have a kernel.
            units: of the machine.
            samples: futures of each moment.

        Raises:
            InputError: there is no such dispatcher, or it has no kernel.
        """
        self.units, self.samples = units, samples
        self._kernel = queue_simulation(dispatcher)

    def starts(self, moment: QueueMoment, rng: np.random.Generator, row: int | None = None) -> Floats:
        """Return when each waiting job starts in each future, seconds from now, float64 [waiting job, sample].

        A job that never starts, since it is larger than the machine, has infinity.

        Args:
            moment: the queue.
            rng: source of chance.
            row: the one waiting job that is asked about, whose row alone is returned; None: all.

        Raises:
            InputError: more units are in use than the machine has.
        """
        running, waiting = moment.running, moment.waiting
        elapsed = moment.now - running.start
        lasts = draw_run_times(running, elapsed, moment.ended, self.samples, rng)
        waiting_lasts = draw_run_times(waiting, np.zeros(len(waiting.ids)), moment.ended, self.samples, rng)
        past = _with_run_times(moment, rng)
        asked = slice(None) if row is None else slice(row, row + 1)
        starts, series = np.empty((len(waiting.ids), self.samples))[asked], 1
        for sample, seed in enumerate(rng.integers(2**32, size=self.samples).tolist()):
            series = max(series // 2, 1)
            while True:
                coming = arrivals_of(past, moment.now, series, np.random.default_rng(seed))
                found = self._simulate(moment, lasts[:, sample], waiting_lasts[:, sample], coming)[asked]
                last = coming.submission[-1] - moment.now if len(coming.ids) else np.inf
                if series >= SERIES or not (found[np.isfinite(found)] > last).any():
                    break
                series *= 2
            starts[:, sample] = found
        return starts

    def planned(self, moment: QueueMoment) -> Floats:
        """Return when each waiting job starts if all run for their walltimes and no job comes, seconds from now.

        A job that waits for one without a walltime has infinity.
        """
        limit = np.maximum(np.minimum(moment.running.walltime, ENDLESS), moment.now - moment.running.start + LATE)
        waiting = np.minimum(moment.waiting.walltime, ENDLESS)
        starts = self._simulate(moment, limit, waiting, moment.running.take(slice(0)))
        return np.where(starts < ENDLESS / 2, starts, np.inf)

    def _simulate(self, moment: QueueMoment, lasts: Floats, waiting_lasts: Floats, coming: JobRows) -> Floats:
        running, waiting, now = moment.running, moment.waiting, moment.now
        free = self.units - int(running.units.sum())
        if free < 0:
            raise InputError(
                f"the running jobs hold {self.units - free:,} units, and the machine has {self.units:,}",
                source="the queue",
            )
        before = min(waiting.submission.min(initial=now), running.start.min(initial=now)) - 1.0
        blocks = np.ones(int(free > 0))
        late = np.maximum(running.walltime, now - running.start + LATE)
        since, block, nobody = running.start - before, (now - before) * blocks, np.full(len(blocks), "", dtype=object)
        parts = (
            (np.full(len(lasts), before), running.units, since + lasts, since + late, running.users),
            (before * blocks, free * blocks.astype(np.int64), block, block, nobody),
            (waiting.submission, waiting.units, waiting_lasts, waiting.walltime, waiting.users),
            (coming.submission, coming.units, coming.end - coming.start, coming.walltime, coming.users),
        )
        submission, units, delay, walltime, users = map(np.concatenate, zip(*parts, strict=True))
        first = len(lasts) + len(blocks)
        order = np.argsort(submission, kind="stable")
        found = np.empty(len(order))
        # A kernel is quicker with whole seconds.
        times = np.rint(submission[order] - before), np.rint(walltime[order])
        columns = columns_of(times[0], units[order], times[1], delay[order], users[order])
        found[order] = self._kernel.starts(columns, self.units)
        starts = found[first : first + len(waiting_lasts)] + before - now
        return np.where(np.isnan(starts), np.inf, np.maximum(starts, 0.0))


def columns_of(
    submission: Floats, units: Ints, walltime: Floats, delay: Floats, users: NDArray[np.object_]
) -> JobColumns:
    """Return jobs in order of submission, named after their positions."""
    count = len(submission)
    numbers: dict[str, int] = {}
    who = [numbers.setdefault(user, len(numbers)) for user in users.tolist()]
    return JobColumns(
        ids=_positions(count),
        submission=submission,
        units=units,
        walltime=walltime,
        profile=np.arange(count, dtype=np.int32),
        profiles=[""] * count,
        delay=np.minimum(delay, 1e12),
        code=np.zeros(count, dtype=np.int64),
        user=np.array(who, dtype=np.int32),
        users=list(numbers),
    )


@functools.lru_cache(maxsize=8)
def _positions(count: int) -> PackedTexts:
    return PackedTexts.of(list(map(str, range(count))))


def _with_run_times(moment: QueueMoment, rng: np.random.Generator) -> JobRows:
    """Return the jobs that came, those that have not ended with a run time drawn: without them, few large jobs come."""
    came = moment.came
    open_ends = ~np.isfinite(came.end)
    jobs = came.take(open_ends)
    start, end = came.start.copy(), came.end.copy()
    start[open_ends] = 0.0
    end[open_ends] = draw_run_times(jobs, np.zeros(len(jobs.ids)), moment.ended, 1, rng)[:, 0]
    return came._replace(start=start, end=end)


def arrivals_of(past: JobRows, now: float, series: int, rng: np.random.Generator) -> JobRows:
    """Return jobs that come as they came from some moments of the past on; none if too few are known.

    Args:
        past: jobs that came.
        now: s.
        series: of up to `ARRIVALS` jobs each; with more of them, the first ones are the same.
        rng: source of chance.
    """
    count = min(ARRIVALS, len(past.ids) // 2)
    left = rng.random()
    first = 1 + (rng.random(series if count else 0) * (len(past.ids) - count - 1)).astype(np.int64)
    rows = (first[:, None] + np.arange(count)).ravel()
    gaps = past.submission[rows] - past.submission[rows - 1]
    # Now is somewhere in the first gap.
    gaps[:1] *= left
    return past.take(rows)._replace(submission=now + np.maximum(np.cumsum(gaps), 1e-3))
