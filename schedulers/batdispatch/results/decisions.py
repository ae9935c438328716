"""How a run decided, decision by decision: how long each took, and what the solver of each plan achieved.

``decision_times.csv`` has a row for each decision, ``time,seconds``: the simulated time, s, and how long the dispatcher
took by the run's clock, s. ``solver.jsonl`` has a line for each plan (see `Account` of the solvers).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job_table import Floats
from batdispatch.inputs.files import read_all, write_whole
from batdispatch.results.run_files import find

#: Names of the files in a run's folder.
TIMES, PLANS = "decision_times.csv", "solver.jsonl"
#: Fields of a plan that a clock measured, which are others each time.
CLOCKED_FIELDS = ("build_seconds", "solve_seconds")
#: What the solver says of a plan that is proven to be the best, and where it found none (`SolverResult`).
_PROVEN, _WITHOUT = ("OPTIMAL", "BOUND"), ("UNKNOWN", "INFEASIBLE")
#: Values of `Plans.status`.
PROVEN, INCUMBENT, NONE = range(3)
_HEADER = b"time,seconds"


@dataclass(frozen=True)
class DecisionTimes:
    """How long decisions took, in order of time.

    Attributes:
        time: simulated time of each, s, float64 [decision].
        seconds: that each took, float64 [decision].
    """

    time: Floats
    seconds: Floats


@dataclass(frozen=True)
class Plans:
    """What solvers achieved, in order of time.

    Attributes:
        time: simulated time of each plan, s, float64 [plan].
        status: `PROVEN`, `INCUMBENT` or `NONE`, int64 [plan].
        gap: how far the cost may be above the least one, as a share of it, float64 [plan]; NaN: no plan or no bound.
    """

    time: Floats
    status: np.ndarray[tuple[int], np.dtype[np.int64]]
    gap: Floats


class SolvedPlan(msgspec.Struct):
    """One plan: the fields of a line of solver.jsonl that pages show.

    Attributes:
        now: simulated time, s.
        status: the solver's word.
        jobs: how many it planned.
        variables: of its model.
        constraints: of its model.
        gap: as `Plans.gap`; None: no plan, or no bound.
        improvement: by how much the plan costs less than the one that the solver began with, as a share; None: no plan.
        build_seconds: that making the model took, s.
        solve_seconds: that solving it took, s.
    """

    now: float
    status: str = ""
    jobs: int | None = None
    variables: int | None = None
    constraints: int | None = None
    gap: float | None = None
    improvement: float | None = None
    build_seconds: float | None = None
    solve_seconds: float | None = None

    @property
    def achieved(self) -> int:
        """What came of it: `PROVEN`, `INCUMBENT` or `NONE`."""
        return PROVEN if self.status in _PROVEN else NONE if self.status in _WITHOUT else INCUMBENT


def write_decision_times(times: Sequence[float], seconds: Sequence[float], path: Path) -> None:
    """Write how long decisions took; if none was timed, remove what an earlier run left.

    Args:
        times: simulated time of each decision, s.
        seconds: that each took.
        path: of the file.
    """
    if not times:
        path.unlink(missing_ok=True)
        return
    rows = [f"{time:.6f},{took:.9f}" for time, took in zip(times, seconds, strict=True)]
    write_whole(path, "\n".join([_HEADER.decode(), *rows, ""]).encode())


def read_decision_times(folder: Path) -> DecisionTimes | None:
    """Read how long the decisions of a run took; None: its folder does not say it.

    Raises:
        InputError: the file is malformed.
    """
    path = find(folder, TIMES)
    if path is None:
        return None
    header, _, rows = read_all(path)[0].partition(b"\n")
    if header.strip() != _HEADER:
        raise InputError(f"found {header[:80]!r}, expected time,seconds", source=str(path), place="line 1")
    try:
        lines = rows.splitlines()
        if any(line.count(b",") != 1 for line in lines):
            raise ValueError
        values = np.array(b",".join(lines).split(b",") if lines else [], dtype=np.float64).reshape(-1, 2)
    except ValueError:
        raise InputError("expected two numbers in each line: time,seconds", source=str(path)) from None
    if not np.isfinite(values).all() or (values[:, 1] < 0).any() or (np.diff(values[:, 0]) < 0).any():
        raise InputError("expected finite numbers, ascending times and no negative seconds", source=str(path))
    return DecisionTimes(values[:, 0], values[:, 1])


def plans_of(lines: Sequence[SolvedPlan]) -> Plans:
    """Return what came of each plan, as columns."""
    status = np.array([line.achieved for line in lines], dtype=np.int64)
    gap = np.array([np.nan if line.gap is None else line.gap for line in lines], dtype=np.float64)
    return Plans(np.array([line.now for line in lines], dtype=np.float64), status, gap)


def read_solved_plans(folder: Path) -> list[SolvedPlan] | None:
    """Read each plan of a run, in order of time; None: its dispatcher does not plan, or its folder does not say it.

    Raises:
        InputError: the file is malformed.
    """
    path = find(folder, PLANS)
    if path is None:
        return None
    lines: list[SolvedPlan] = []
    for number, line in enumerate(read_all(path)[0].splitlines(), start=1):
        try:
            lines.append(msgspec.json.decode(line, type=SolvedPlan))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
            raise InputError(str(problem), source=str(path), place=f"line {number}") from None
    if any(later.now < line.now for line, later in pairwise(lines)):
        raise InputError("expected plans in order of time", source=str(path))
    return lines
