"""How long jobs may run, drawn from those that ended before."""

from __future__ import annotations

import math

import numpy as np

from batdispatch.abilities.sites.doors.eta.queue_moment import Floats, JobRows

#: Weight of a job of the same user beside one of somebody else.
OWN = 20.0
#: By what the weight of a job falls with each one that ended after it.
FADE = 0.999
#: Walltimes are alike if one is at most so many times the other: the same user's job then runs as long as it did.
ALIKE = 2.0
#: How long a job without a walltime runs, if no job has ended yet, s.
UNKNOWN = 3600.0


def draw_run_times(jobs: JobRows, elapsed: Floats, ended: JobRows, samples: int, rng: np.random.Generator) -> Floats:
    """Return how long each job may run in each sample, s, float64 [job, sample]; never less than it has run already.

    A job that ended is drawn with a weight: by how alike the two walltimes are, more if the user is the same, and less
    the longer ago it ended. Only those count that, in its place, would still run. It is taken to run for the same time
    if the user is the same and the walltime alike, else for the same share of its own walltime. A job that has outlived
    all of them may end at any time until its walltime, or until twice its time so far.

    Args:
        jobs: what runs or waits.
        elapsed: for how long each has run, s, float64 [job].
        ended: jobs that ended, the latest last.
        samples: how many run times to draw of each.
        rng: source of chance; draws as many numbers whatever is known.
    """
    chance = rng.random((len(jobs.ids), samples))
    ran = ended.end - ended.start
    limited = np.isfinite(ended.walltime)
    share = np.ones(len(ran))
    np.divide(ran, ended.walltime, out=share, where=limited)
    recent = FADE ** np.arange(len(ran))[::-1]
    lasts = np.empty_like(chance)
    for row, walltime in enumerate(jobs.walltime.tolist()):
        same = ended.users == jobs.users[row] if jobs.users[row] else np.zeros(len(ran), dtype=bool)
        if math.isfinite(walltime):
            ratio = np.zeros(len(ran))
            np.divide(ended.walltime, walltime, out=ratio, where=limited)
            alike = np.minimum(ratio, 1.0 / np.maximum(ratio, 1e-9))
            runs = np.where(same & (alike >= 1.0 / ALIKE), ran, share * walltime)
        else:
            alike, runs = np.ones(len(ran)), ran
        runs = np.minimum(runs, walltime)
        total = np.cumsum(alike * np.where(same, OWN, 1.0) * recent * (runs > elapsed[row]))
        if len(total) and total[-1] > 0.0:
            lasts[row] = runs[np.minimum(total.searchsorted(chance[row] * total[-1], side="right"), len(total) - 1)]
        else:
            lasts[row] = _until_the_limit(walltime, float(elapsed[row]), chance[row])
    return np.maximum(lasts, np.maximum(elapsed + 1.0, 1.0)[:, None])


def _until_the_limit(walltime: float, elapsed: float, chance: Floats) -> Floats:
    if not elapsed:
        return np.full(len(chance), walltime if math.isfinite(walltime) else UNKNOWN)
    limit = walltime if elapsed < walltime < math.inf else 2.0 * elapsed
    return elapsed + chance * (limit - elapsed)
