"""Futures of a queue, each simulated by a kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.inputs.workloads.columns import JobColumns
from batdispatch.native.texts import PackedTexts
from batdispatch.runs.engines import KernelSimulation
from batdispatch.runs.eta.queue_moment import Floats, Ints, JobRows, QueueMoment
from batdispatch.runs.eta.run_times import draw_run_times

#: Jobs that come in each future.
ARRIVALS = 300
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
    some moment of the past on. It is simulated from before the first submission: one more job holds all that was free
    until now, so that jobs start from now on, with the waits that they really had.

    Deviations: units are whole and alike. Which nodes run a job, partitions, priorities that no job's submission, size
    or walltime says, and what a prediction learned before are left out. Conservative's plan is made anew: places that
    it promised earlier are not known. `calibration` answers for all that.
    Time: O(samples) simulations of the jobs of the moment and `ARRIVALS` more.
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
        self._kernel = KernelSimulation(dispatcher)

    def starts(self, moment: QueueMoment, rng: np.random.Generator) -> Floats:
        """Return when each waiting job starts in each future, seconds from now, float64 [waiting job, sample].

        A job that never starts, since it is larger than the machine, has infinity.

        Raises:
            InputError: more units are in use than the machine has.
        """
        running, waiting, now = moment.running, moment.waiting, moment.now
        elapsed = now - running.start
        lasts = draw_run_times(running, elapsed, moment.ended, self.samples, rng)
        waiting_lasts = draw_run_times(waiting, np.zeros(len(waiting.ids)), moment.ended, self.samples, rng)
        known = moment.came.take(np.isfinite(moment.came.end))
        chance = rng.random((self.samples, 2))
        starts = np.empty((len(waiting.ids), self.samples))
        for sample in range(self.samples):
            coming = _arrivals(known, now, *chance[sample])
            starts[:, sample] = self._simulate(moment, lasts[:, sample], waiting_lasts[:, sample], coming)
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
        submission = np.concatenate(
            (np.full(len(lasts), before), before * blocks, waiting.submission, coming.submission)
        )
        units = np.concatenate((running.units, free * blocks.astype(np.int64), waiting.units, coming.units))
        delay = np.concatenate(
            (running.start - before + lasts, (now - before) * blocks, waiting_lasts, coming.end - coming.start)
        )
        walltime = np.concatenate(
            (running.start - before + late, (now - before) * blocks, waiting.walltime, coming.walltime)
        )
        first = len(lasts) + len(blocks)
        order = np.argsort(submission, kind="stable")
        found = np.empty(len(order))
        users = np.concatenate((running.users, np.full(len(blocks), "", dtype=object), waiting.users, coming.users))
        columns = columns_of(submission[order] - before, units[order], walltime[order], delay[order], users[order])
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
        ids=PackedTexts.of(list(map(str, range(count)))),
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


def _arrivals(known: JobRows, now: float, at: float, gap: float) -> JobRows:
    """Return jobs that came from some moment of the past on, as if that were now; none if too few are known.

    Args:
        known: jobs that came and ended.
        now: s.
        at: where in the past, from 0 to 1.
        gap: how much of the first gap is left, from 0 to 1.
    """
    count = min(ARRIVALS, len(known.ids) // 2)
    first = 1 + int(at * (len(known.ids) - count - 1)) if count else 0
    jobs = known.take(slice(first, first + count))
    if not count:
        return jobs
    before = known.submission[first - 1]
    moved = jobs.submission - before - (1.0 - gap) * (jobs.submission[0] - before)
    return jobs._replace(submission=now + np.maximum(moved, 1e-3))
