"""A job whose size changes while it runs: how far it is, over all its segments."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from batdispatch.abilities.malleable.policy import Action
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.jobs.profiles import outcome_of
from batdispatch.core.jobs.sizes import Sizes
from batdispatch.core.line.ticks import TICK
from batdispatch.core.plans.moments import milliseconds

#: Batsim tells how far a killed job was in six decimals: up to so much of the job's work is unknown.
UNKNOWN = 5e-7
#: Shares of the work that are closer together than this are taken for one.
CLOSE = 1e-9
#: A step is over if it ends within so many seconds: a reconfiguring point is rounded to microseconds, and may be looked
#: at half a tick before it.
EARLY = 2 * TICK
#: Where steps last this many seconds, and there are no more than so many, each point is the end of one step: rounding
#: leaves out none.
LONG_STEP, MANY_STEPS = 0.01, 10**6
#: Shortest time that a simulator can be asked to run a job for, in seconds.
SHORTEST = 1e-6


class Flexible:
    """A job that can be resized; one segment of it at a time waits or runs. Times are seconds, work is a share of 1."""

    __slots__ = (
        *("_seconds", "begun", "called", "checked", "decided", "done", "due", "job", "left", "longest", "meant"),
        *("_ahead", "machine", "overhead", "owed", "profile", "profiles", "segments", "sizes", "total"),
    )

    def __init__(self, job: Job, sizes: Sizes, profiles: Mapping[str, Mapping[str, Any]]) -> None:
        """Begin with a job just submitted.

        Raises:
            InputError: what is left of its profile cannot be registered, or it does not say when it can be resized.
        """
        #: The job that was submitted.
        self.job = job
        self.sizes = sizes
        self.profiles = profiles
        self.profile = _profile_of(job, profiles)
        #: How long all of its work takes on as many units as it asks for; None: the platform decides.
        self.total = outcome_of(self.profile, profiles).seconds
        if sizes.resizable and self.total is None and (sizes.asks or not sizes.period):
            raise InputError(
                f"how long a step takes is not known, since its profile {job.profile!r} depends on the platform: it is "
                "checked every 'period' seconds, expected more than 0, and cannot ask for anything at a step",
                place=f"job {job.id}, field 'sizes'",
            )
        #: How many of its units the idle machine could take; None: not worked out yet.
        self.machine: int | None = None
        #: What `seconds` returned before.
        self._seconds: dict[int, float] = {}
        #: Work that was done before the current segment.
        self.done = 0.0
        #: How long the current segment runs before its work goes on: redistribution, and what the checks took.
        self.overhead = 0.0
        #: What is left of its walltime.
        self.left = job.walltime
        #: Longest walltime that its queues allow.
        self.longest = math.inf
        #: What checks took since the last resize.
        self.owed = 0.0
        #: Whether one of its segments has started.
        self.begun = False
        #: Segments so far.
        self.segments = 1
        #: When the last check was answered.
        self.checked: float | None = None
        #: What was decided at the last check and is to be done at the next reconfiguring point.
        self.decided: Action | None = None
        #: Id of the waiting job that this is done for; empty: none.
        self.meant = ""
        #: When the next reconfiguring point is; infinity: there is none that counts.
        self.due = math.inf
        #: The point for which a call was asked for, see `batdispatch.abilities.malleable.points`; infinity: none.
        self.called = math.inf
        #: What `first_point` found last: where the job was, and from which time on it is the first one.
        self._ahead: tuple[tuple[float | None, ...], float, float] = (), 0.0, 0.0

    # ------------------------------------------------------------------ work

    def seconds(self, units: int) -> float:
        """Return how long all of the work takes on some units; infinity if only the platform knows."""
        known = self._seconds.get(units)
        if known is None:
            time = self.sizes.scalability.time
            share = time(units) / time(self.job.units)
            known = self._seconds[units] = math.inf if self.total is None else self.total * share
        return known

    def share_after(self, elapsed: float, units: int) -> float:
        """Return how much of the work is done when the current segment has run for some time on some units."""
        return min(self.done + max(elapsed - self.overhead, 0.0) / self.seconds(units), 1.0)

    def end_segment(self, elapsed: float, units: int, progress: Mapping[str, Any], *, charge: bool) -> None:
        """Note that the current segment was stopped.

        Args:
            elapsed: how long it ran, by the clock.
            units: on how many units.
            progress: as the simulator tells it.
            charge: whether its overhead counts against the walltime.
        """
        self.left -= elapsed if charge else max(elapsed - self.overhead, 0.0)
        if self.total is None:
            part = round(float(progress["progress"]), 6)
            self.done += (1.0 - self.done) * part
            return
        told, error = self._told(elapsed, units, progress)
        # The clock is exact up to the latency of messages, and what is told up to its last digit.
        self.done = self.share_after(min(max(elapsed, told - error), told + error), units)

    def _told(self, elapsed: float, units: int, progress: Mapping[str, Any]) -> tuple[float, float]:
        """Return how long the segment ran by what the simulator tells, and how far this may be off."""
        if self.segments == 1:
            return _run(self.profile, self.profiles, progress) or (elapsed, 0.0)
        length = self.length(units)
        return float(progress["progress"]) * length, UNKNOWN * length

    def length(self, units: int) -> float:
        """Return for how long the segment that begins now on some units is registered."""
        return round(max(self.overhead + (1.0 - self.done) * self.seconds(units), SHORTEST), 6)

    def rest(self, units: int) -> dict[str, Any]:
        """Return the profile of what is left, on some units."""
        if self.total is None:
            left = 1.0 - self.done
            return {**self.profile, "cpu": self.profile["cpu"] * left, "com": self.profile["com"] * left}
        code = outcome_of(self.profile, self.profiles).code
        return {"type": "delay", "delay": self.length(units)} | ({"ret": code} if code else {})

    # ------------------------------------------------------------------ reconfiguring points

    def step_after(self, elapsed: float, units: int) -> int:
        """Return how many steps are over when the current segment has run for some time on some units."""
        if self.total is None:
            return 0
        return math.floor((self.share_after(elapsed + EARLY, units) + CLOSE) * self.sizes.steps)

    def next_point(self, start: float, now: float, units: int, *, ignore: bool = True) -> float:
        """Return when the next reconfiguring point is that counts; infinity if there is none.

        It is rounded up to milliseconds, so that all simulators call alike, and more than a tick after `now`.

        Args:
            start: of the current segment.
            now: the point is later than this.
            units: of the current segment.
            ignore: whether points within the period after the last check do not count.
        """
        if not self.sizes.resizable:
            return math.inf
        earliest = now if self.checked is None or not ignore else max(now, self.checked + self.sizes.period)
        if self.total is None:
            # Only the platform knows when a step is over.
            return milliseconds(max(earliest, now + max(self.sizes.period, EARLY)))
        seconds, steps, begin = self.seconds(units), self.sizes.steps, start + self.overhead
        done = max(self.done + (earliest - begin) / seconds, self.done)
        step = max(math.ceil((done - CLOSE) * steps), self.step_after(now - start, units) + 1)
        point = milliseconds(begin + (step / steps - self.done) * seconds)
        return point if point < begin + (1.0 - self.done) * seconds else math.inf

    def pass_points(self, stay: Stay, before: float) -> int:
        """Let the points before some time be checked without action, and return how many these are.

        Args:
            stay: the current segment.
            before: s.
        """
        start, units = stay.start, stay.job.units
        count = self._leap(start, units, before)
        while self.due < before:
            count += 1
            self.checked = self.due
            self.due = self.next_point(start, self.due, units)
        return count

    def _leap(self, start: float, units: int, before: float) -> int:
        """Pass all points but the last few where each is the end of the next step, and return how many are passed."""
        if self.total is None or self.sizes.period or self.due >= before:
            return 0
        seconds, steps = self.seconds(units), self.sizes.steps
        if seconds < LONG_STEP * steps or steps > MANY_STEPS:
            return 0
        first, last = self.step_after(self.due - start, units), self.step_after(before - start, units) - 1
        if last <= first:
            return 0
        self.checked = milliseconds(start + self.overhead + (last / steps - self.done) * seconds)
        self.due = self.next_point(start, self.checked, units)
        return last - first + 1

    def first_point(self, stay: Stay, time: float) -> float:
        """Return the first point from some time on, in seconds, if those before are checked without action."""
        due, checked = self.due, self.checked
        if due >= time:
            return due
        place = (self.segments, stay.start, due, checked)
        known, since, point = self._ahead
        if known != place or not since <= time <= point:
            self.pass_points(stay, time)
            point, self.due, self.checked = self.due, due, checked
            self._ahead = place, time, point
        return point


def _profile_of(job: Job, profiles: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return a job's profile, of which a rest can be registered.

    Raises:
        InputError: the simulator did not tell the profile, or the rest of it cannot be registered.
    """
    profile = profiles.get(job.profile)
    if profile is None:
        found = "is unknown, since the simulator does not forward it"
    elif profile.get("type") == "parallel_homogeneous_total" or _delays(profile, profiles):
        return profile
    else:
        found = f"is {profile.get('type')}" + (" of more than delays" if profile.get("type") == "composed" else "")
    raise InputError(
        "it is to be resized, which needs a profile of type delay, a sequence of delays, or "
        f"parallel_homogeneous_total; its profile {job.profile!r} {found}",
        place=f"job {job.id}",
    )


def _delays(profile: Mapping[str, Any], profiles: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether a profile is a delay, or a sequence of nothing else."""
    if profile.get("type") != "composed":
        return profile.get("type") == "delay"
    return all(_delays(profiles[name], profiles) for name in dict.fromkeys(profile["seq"]))


def _run(
    profile: Mapping[str, Any], profiles: Mapping[str, Mapping[str, Any]], progress: Mapping[str, Any]
) -> tuple[float, float] | None:
    """Return how long a job ran by its progress, and how far this may be off; None if it does not say."""
    inner = progress.get("current_task")
    if inner is None:
        length = outcome_of(profile, profiles).seconds
        told = progress.get("progress")
        return None if length is None or told is None else (float(told) * length, UNKNOWN * length)
    parts, index = profile["seq"], int(progress["current_task_index"])
    lengths = [outcome_of(profiles[name], profiles).seconds or 0.0 for name in parts]
    rounds, part = divmod(index, len(parts))
    found = _run(profiles[parts[part]], profiles, inner)
    return None if found is None else (rounds * sum(lengths) + sum(lengths[:part]) + found[0], found[1])
