"""Which jobs change most between two runs, and what held them in the one where they wait longer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor
from itertools import permutations

import numpy as np

from batdispatch.explain.waiting import recording_of
from batdispatch.report.losses import begin_explained, started
from batdispatch.results.runs import Run

#: Most jobs named of each kind for a pair of runs; the explorer names as many.
MOST = 8
#: Among so many runs, the first ones that were recorded, each pair has reasons: they are a page's most costly part.
MOST_RUNS = 4
#: A wait that changes by less, s, counts as the same.
_SAME = 0.5


def losing(run: Run, other: Run, most: int = MOST) -> list[str]:
    """Return the full ids of the jobs that wait longer in a run than in another one, those that lose most first.

    Of jobs that lose the same, the one that was submitted first comes first.
    """
    both = started(run).merge(started(other), on="job", suffixes=("", "_other"))
    # What the explorer knows is rounded too.
    change = np.round(both["wait"] - both["wait_other"], 3)
    ranked = both.assign(change=-change, submission=both["start"] - both["wait"])
    ranked = ranked[change > _SAME].sort_values(["change", "submission"], kind="stable")
    return [str(job) for job in ranked["job"].head(most)]


def begin_reasons(runs: Sequence[Run], *, workers: Executor | None = None) -> dict[str, Callable[[], dict[str, str]]]:
    """Return for each run that was recorded what returns the reasons: full id of a job -> what held it, in words.

    The jobs are those that lose most in it against one of the other runs. Runs beyond `MOST_RUNS` are left out. Each
    recording is gone through once.

    Args:
        runs: the runs.
        workers: where the recordings are gone through, meanwhile; None: in this process, when it is asked for.
    """
    recorded = [run for run in runs if recording_of(run.folder) is not None][:MOST_RUNS]
    wanted: dict[str, dict[str, None]] = {}
    for run, other in permutations(recorded, 2):
        wanted.setdefault(run.label, {}).update(dict.fromkeys(losing(run, other)))
    return {run.label: _begun(run, list(jobs), workers) for run, jobs in _of(recorded, wanted)}


def _of(runs: Sequence[Run], wanted: dict[str, dict[str, None]]) -> Iterator[tuple[Run, dict[str, None]]]:
    yield from ((run, wanted[run.label]) for run in runs if wanted.get(run.label))


def _begun(run: Run, jobs: list[str], workers: Executor | None) -> Callable[[], dict[str, str]]:
    starts = started(run).set_index("job")["start"]
    finish = begin_explained(run, jobs, [float(starts[job]) for job in jobs], workers)

    def finished() -> dict[str, str]:
        try:
            reasons, _ = finish()
        except BrokenExecutor:
            reasons = []
        return dict(zip(jobs, reasons, strict=False))

    return finished
