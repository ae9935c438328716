"""Whether a queue looks like the history from which its starts are estimated."""

from __future__ import annotations

import numpy as np

from batdispatch.abilities.sites.doors.eta.queue_moment import Floats, Ints, JobRows, QueueMoment, join

#: Fewest jobs of a queue and of a history that are held against each other.
FEWEST = 10
#: Shares of a queue's jobs from which on it is unlike its history.
HALF, SOME = 0.5, 0.1
#: How far two distributions may lie apart: the largest difference of their shares (Kolmogorov, Smirnov). A queue holds
#: long and large jobs for longer than others, so that some difference is usual.
APART = 0.9
#: How many times the most that ever waited in the history may wait in the queue.
LONGER = 1.5
#: For how long a job has waited that a scheduler should have started by now, s.
PATIENCE = 120.0
#: Moments of the history that are looked at.
MOMENTS = 50


def misfit(moment: QueueMoment, units: int, unit: str, most_waiting: int | None = None) -> str:
    """Return in what a queue is unlike its history, in words; empty: in nothing that is looked at.

    Args:
        moment: the queue, and what is known of jobs that came and ended.
        units: of the machine, as the history has it.
        unit: ``hosts`` or ``cores``.
        most_waiting: how many units the waiting jobs of the history asked for at most; None: it is unknown.
    """
    waiting = moment.waiting
    length = "" if most_waiting is None else _length(int(waiting.units.sum()), most_waiting, unit)
    return "; ".join(filter(None, (_machine(moment, units, unit), _jobs(moment), _waits(moment, waiting), length)))


def _machine(moment: QueueMoment, units: int, unit: str) -> str:
    waiting = moment.waiting
    count = len(waiting.ids)
    if not count:
        return ""
    larger = int((waiting.units > units).sum())
    if larger > SOME * count:
        return f"{larger:,} of {count:,} waiting jobs ask for more than the {units:,} {unit} of the history's machine"
    known = moment.came
    if not len(known.ids):
        return ""
    # Evenly in time: at a submission, a job has just come. Before the middle, jobs run that came earlier.
    moments = np.linspace(known.submission[len(known.ids) // 2], known.submission[-1], MOMENTS)
    past = [found for at in moments.tolist() if (found := _is_idle(known, at, units)) is not None]
    there = join(moment.running, waiting)
    if len(past) >= FEWEST and sum(past) <= SOME * len(past) and _is_idle(there, moment.now, units):
        free = units - int(moment.running.units.sum())
        return (
            f"all its jobs wait while {free:,} of the history's {units:,} {unit} are free: its machine may be smaller"
        )
    return ""


def _is_idle(jobs: JobRows, now: float, units: int) -> bool | None:
    """Return whether each job that has waited for a while would fit into what is free; None: there is no such job."""
    runs = (jobs.start <= now) & ~(jobs.end <= now)
    waits = (jobs.submission < now - PATIENCE) & ~(jobs.start <= now)
    if not waits.any():
        return None
    return bool(jobs.units[waits].max() <= units - jobs.units[runs].sum())


def _jobs(moment: QueueMoment) -> str:
    there, known = join(moment.running, moment.waiting), moment.came
    if min(len(there.ids), len(known.ids)) < FEWEST:
        return ""
    found = []
    named = [user for user in there.users.tolist() if user]
    users = {user for rows in (known, moment.ended) for user in rows.users.tolist() if user}
    strange = sum(user not in users for user in named)
    if users and len(named) >= FEWEST and strange > HALF * len(named):
        found.append(f"{strange:,} of its {len(named):,} jobs are of users whom the history does not know")
    if distance(there.units, known.units) > APART:
        found.append("its jobs are of other sizes")
    if distance(there.walltime, known.walltime) > APART:
        found.append("its jobs have other walltimes")
    return "; ".join(found)


def _waits(moment: QueueMoment, waiting: JobRows) -> str:
    waits = np.concatenate([rows.start - rows.submission for rows in (moment.came, moment.ended)])
    waits = waits[np.isfinite(waits)]
    if min(len(waiting.ids), len(waits)) < FEWEST:
        return ""
    longer = int((moment.now - waiting.submission > waits.max()).sum())
    if longer > HALF * len(waiting.ids):
        return f"{longer:,} of {len(waiting.ids):,} waiting jobs have waited longer than any job of the history"
    return ""


def _length(waiting: int, most: int, unit: str) -> str:
    if waiting <= LONGER * most:
        return ""
    return f"its waiting jobs ask for {waiting:,} {unit}, and those of the history for {most:,} at most"


def distance(some: Floats | Ints, others: Floats | Ints) -> float:
    """Return the largest difference between the shares of two samples that are at most some value, from 0 to 1."""
    values = np.concatenate([some, others])
    below = [np.sort(sample).searchsorted(values, side="right") / len(sample) for sample in (some, others)]
    return float(np.abs(below[0] - below[1]).max())
