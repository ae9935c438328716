"""Windows of a workload: jobs that count, behind jobs that fill the machine, and before jobs that keep it full.

Windows count within one simulation of the whole workload (`WindowPlan.mark`), or each is a workload that is simulated
by itself (`take_window`).
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import structs

from batdispatch.core.errors import InputError
from batdispatch.inputs.generator_options import COOL_DOWN, WARM_UP, WINDOW
from batdispatch.inputs.workloads.model import WINDOW_FIELD, WINDOWS_FIELD, Window, Workload

#: Why windows are refused.
NOBODY = "no job counts: all jobs of the window are submitted at one moment"


class WindowPlan(NamedTuple):
    """Where windows lie in a workload.

    Attributes:
        jobs: of each window.
        warm_up: jobs before these.
        cool_down: jobs behind them.
        windows: how many.
        step: jobs from the first one of a window to that of the next.
        total: jobs of the workload.
        separate: whether each is simulated by itself.
        notes: what differs from what was asked for, or from what one would want, a sentence each.
    """

    jobs: int
    warm_up: int
    cool_down: int
    windows: int
    step: int
    total: int
    separate: bool
    notes: tuple[str, ...]

    @property
    def independent(self) -> int:
        """How many windows that share no job have room between the first job of the first and the last of the last."""
        return 1 + (self.windows - 1) * self.step // self.jobs if self.step < self.jobs else self.windows

    @property
    def text(self) -> str:
        """What the windows are, in a sentence, and what should be minded."""
        if self.separate:
            sizes = f"{self.jobs:,} jobs behind {self.warm_up:,} of warm-up and before {self.cool_down:,} of cool-down"
            told = f"Each counts {sizes}, and is simulated by itself: nobody waits there for longer than it lasts."
        else:
            told = (
                f"Each counts {self.jobs:,} jobs of one simulation of all {self.total:,}, of which the first "
                f"{self.warm_up:,} and the last {self.cool_down:,} count in none."
            )
        return " ".join([told, *self.notes])

    def mark(self, workload: Workload) -> Workload:
        """Return the workload that this is a plan for with its windows, which count in one simulation of all its jobs.

        Jobs that are submitted at the same moment stay on one side of a border. Each job is watched until it starts.

        Raises:
            InputError: a window counts no job, since all its jobs come at once.
        """
        times = [*(job.submission for job in workload.jobs), None]
        firsts = [self.warm_up + number * self.step for number in range(self.windows)]
        windows = [Window(begin=times[first], end=times[first + self.jobs]) for first in firsts]
        if any(window.begin == window.end for window in windows):
            raise InputError(NOBODY, source=str(workload.path))
        about = {name: value for name, value in workload.about.items() if name != WINDOW_FIELD}
        return structs.replace(workload, digest="", about={**about, WINDOWS_FIELD: [*map(structs.asdict, windows)]})

    def take(self, workload: Workload, number: int) -> Workload:
        """Return a window, which are numbered from 0, of the workload that this is a plan for."""
        first = self.warm_up + number * self.step
        return take_window(workload, first, jobs=self.jobs, warm_up=self.warm_up, cool_down=self.cool_down)


def plan_windows(
    total: int,
    count: int,
    *,
    jobs: float | None = None,
    warm_up: float = WARM_UP,
    cool_down: float = COOL_DOWN,
    separate: bool = False,
    source: str = "",
) -> WindowPlan:
    """Spread windows evenly over a workload; they overlap if it is too short for so many of a stated length.

    Args:
        total: jobs of the workload.
        count: of windows.
        jobs: of each window; below 1, a share of the workload's jobs; None: as many as there are for windows that share
            none, or of separate ones 10,000, or half of a shorter workload.
        warm_up: jobs that are simulated before them and do not count; below 1, a share of the window's jobs.
        cool_down: likewise behind them.
        separate: whether each is to be simulated by itself.
        source: the workload, for errors.

    Raises:
        InputError: the workload is too short for one window, or a number is no number of jobs.
    """
    notes, stated = [], jobs is not None
    if jobs is None and not separate:
        shares = [around for around in (warm_up, cool_down) if around < 1]
        fixed = sum(around for around in (warm_up, cool_down) if around >= 1)
        # Both borders may be rounded up, together by a job.
        jobs = max(int((total - fixed - 1) / (count + sum(shares))), 1)
    elif jobs is None:
        jobs = min(WINDOW, max(total // 2, 1))
        if jobs < WINDOW:
            notes.append(
                f"There are {total:,} jobs, so a window has {jobs:,} instead of {WINDOW:,}: expect longer longest waits"
                " on a longer log."
            )
    length = _number(jobs, total, "window")
    before, behind = _number(warm_up, length, "warm-up"), _number(cool_down, length, "cool-down")
    room = total - before - length - behind
    if room < 0 or length < 1:
        raise InputError(
            f"has {total:,} jobs, too few for a window of {length:,} behind {before:,} of warm-up and before "
            f"{behind:,} of cool-down: expected fewer (--window, --warm-up, --cool-down), or --replicate-by slices",
            source=source,
        )
    if count > room + 1:
        windows = "1 window" if room == 0 else f"{room + 1:,} windows"
        notes.append(f"There is room for {windows} instead of {count:,}.")
        count = room + 1
    step = room // (count - 1) if count > 1 else length
    if not stated and not separate:
        # What is left over is before the first one, so that no job is between two.
        before, step = before + room - (count - 1) * length, length
    plan = WindowPlan(length, before, behind, count, step, total, separate, ())
    if plan.step < plan.jobs:
        notes.append(
            f"Neighbouring windows overlap: there is room for {plan.independent:,} that share no job, and what the "
            f"{count:,} tell counts for no more. Windows of {max((total - before - behind) // count, 1):,} jobs "
            "(--window) would share none."
        )
    elif stated and not separate and plan.step > plan.jobs:
        notes.append(
            f"Between two of them are {plan.step - plan.jobs:,} jobs that count in none: who waits longest may be one."
        )
    return plan._replace(notes=tuple(notes))


def _number(given: float, whole: int, option: str) -> int:
    """Return a number of jobs, which may be given as a share."""
    if given >= 1 and given != int(given):
        expected = "expected a whole number of jobs, or a share below 1"
        raise InputError(f"found {given:g}, {expected}", source=f"option --{option}")
    return int(given) if given >= 1 else round(given * whole)


def take_window(workload: Workload, first: int, *, jobs: int, warm_up: int, cool_down: int) -> Workload:
    """Return a window of a workload with its warm-up and cool-down; its field `counted` says which jobs count.

    The first job of the warm-up is submitted at 0. A job no longer waits for jobs that are left out. Jobs that are
    submitted at the same moment stay on one side of a border, so that a window may have some jobs more or fewer.

    Args:
        workload: is not changed.
        first: position of the first job that counts, at least `warm_up`.
        jobs: that count, at least 1.
        warm_up: jobs before these.
        cool_down: jobs behind these.

    Raises:
        InputError: a number is out of range, the workload has no such jobs, or none counts since all come at once.
    """
    for option, value, least in (("warm-up", warm_up, 0), ("jobs", jobs, 1), ("cool-down", cool_down, 0)):
        if value < least:
            raise InputError(f"{value}, expected a whole number from {least}", source=f"option --{option}")
    if first < warm_up or first + jobs + cool_down > len(workload.jobs):
        raise InputError(
            f"has {len(workload.jobs):,} jobs: there is no window of {jobs:,} from job {first:,} on with {warm_up:,} "
            f"before and {cool_down:,} behind it",
            source=str(workload.path),
        )
    part = workload.part(first - warm_up, first + jobs + cool_down)
    times = [job.submission for job in part.jobs]
    window = Window(
        begin=times[warm_up] if warm_up else None,
        end=times[warm_up + jobs] if cool_down else None,
        until=times[-1] if cool_down else None,
    )
    if window.end is not None and window.end == times[warm_up]:
        raise InputError(NOBODY, source=str(workload.path))
    about = {**workload.about, WINDOW_FIELD: structs.asdict(window)}
    return structs.replace(part, about=about)
