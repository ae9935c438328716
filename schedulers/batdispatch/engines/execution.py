"""How a job's profile runs over time.

Semantics follow Batsim 4.2.1 as its recordings show them: a sequence stops at the first non-zero return code; `recv`
looks at once, then (without a `timeout` profile) every `polltime` seconds.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from batdispatch.core.errors import ImpossibleDecision, InputError
from batdispatch.core.jobs.profile_versions import BATSIM5_TYPES
from batdispatch.engines.activities import PLATFORM_TYPES, Activity, Placement, only_computes
from batdispatch.engines.ranks import RankDelay, TraceReplay
from batdispatch.engines.timing import PlatformTimer
from batdispatch.engines.traces import Traces

#: Profile types that run without a platform model.
TIMED_TYPES = frozenset({"delay", "composed", "send", "recv"})
#: Batsim's defaults, in seconds.
SEND_SLEEP = 1e-7
RECV_POLL = 0.005

Profiles = Mapping[str, Mapping[str, Any]]


def check_timed(
    name: str,
    profiles: Profiles,
    checked: set[str],
    *,
    traces: Traces | None = None,
    source: str = "",
    timer: PlatformTimer | None = None,
) -> None:
    """Check that a profile and all it refers to can run.

    Args:
        name: the profile.
        profiles: all profiles of its workload, already validated and acyclic.
        checked: names found good before; extended.
        traces: of the workload; those of the profiles are read. None: they are beside the current folder.
        source: where the workload was read from, for the message.
        timer: times activities; None: none can be timed.

    Raises:
        InputError: a profile cannot be simulated, or not without a platform model; a trace is malformed.
    """
    traces = traces or Traces(Path())
    pending = [name]
    while pending:
        current = pending.pop()
        if current in checked:
            continue
        checked.add(current)
        profile = profiles[current]
        kind = profile["type"]
        place = f"profile {current!r}"
        if kind in PLATFORM_TYPES and (timer is None or not (timer.sends or only_computes(profile))):
            raise InputError(
                f"type {kind!r}: its run time depends on the platform's {'speeds and ' if timer is None else ''}links, "
                "which only SimGrid simulates, and this simulation runs without it (--simgrid always)",
                source=source,
                place=place,
            )
        if kind == "smpi":
            raise InputError(
                "type 'smpi': only Batsim replays what MPI processes compute and send: run this workload there "
                "(--engine batsim4, --engine batsim5, or batdispatch serve)",
                source=source,
                place=place,
            )
        if kind == "usage_trace":
            traces.of(profile)
        if kind in BATSIM5_TYPES:
            raise InputError(
                f"type {kind!r}: its amounts are spread over the executors, and jobs of several sizes use it: give "
                "the jobs of each size a profile of their own, or run them in Batsim 5 (--engine batsim5)",
                source=source,
                place=place,
            )
        if kind not in PLATFORM_TYPES and kind not in TIMED_TYPES:
            raise InputError(
                f"type {kind!r} is not simulated here, expected one of "
                f"{', '.join(sorted(TIMED_TYPES | PLATFORM_TYPES))}. "
                "Run this workload against Batsim (batdispatch serve)",
                source=source,
                place=place,
            )
        pending.extend(profile.get("seq", ()))
        pending.extend(target for key in ("success", "failure", "timeout") if (target := profile.get(key)))


class Site:
    """What lets a job's activities run on the platform: where its executors are, and who times them."""

    __slots__ = ("io", "placement", "rank_delay", "subject", "timer", "traces")

    def __init__(
        self,
        timer: PlatformTimer,
        placement: Placement,
        subject: Any,
        io: Mapping[str, Any] | None,
        traces: Traces,
        rank_delay: RankDelay,
    ) -> None:
        self.timer = timer
        self.traces, self.rank_delay = traces, rank_delay
        self.placement = placement
        #: What the timer reports when an activity of the job has ended.
        self.subject = subject
        #: Profile of the I/O job that runs along.
        self.io = io


class _Sequence:
    """A composed profile in progress. `index` counts across repeats, as Batsim reports it."""

    __slots__ = ("index", "io", "name", "parts", "total")

    def __init__(self, name: str, parts: list[str], repeat: int, io: list[str] | None) -> None:
        self.name = name
        self.parts = parts
        #: The parts of the I/O job, one beside each.
        self.io = io
        self.total = len(parts) * repeat
        self.index = 0


class Execution:
    """One job's walk through its profile.

    The engine calls `begin`, then `resume` whenever the returned time has come. `outgoing` collects messages for the
    scheduler, `inbox` holds those from it. An activity on the platform is waited for without an end in sight: whoever
    times it says when.
    """

    __slots__ = (
        "_activity",
        "_began",
        "_busy",
        "_duration",
        "_leaf",
        "_polls_from",
        "_profiles",
        "_replay",
        "_site",
        "_stack",
        "inbox",
        "outgoing",
        "return_code",
    )

    def __init__(self, profiles: Profiles, site: Site | None = None) -> None:
        self._profiles = profiles
        self._site = site
        #: Handle of the activity that runs on the platform.
        self._activity: int | None = None
        #: What it was.
        self._busy: Activity | None = None
        #: The trace that runs.
        self._replay: TraceReplay | None = None
        self._stack: list[_Sequence] = []
        self._leaf = ""
        self._began = 0.0
        self._duration = 0.0
        self._polls_from: float | None = None
        self.inbox: deque[str] = deque()
        self.outgoing: list[Any] = []
        self.return_code = 0

    def begin(self, name: str, now: float) -> float | None:
        """Start a profile and return when to resume: a time, infinity while waiting for something, None when over."""
        return self._begin(name, now, None if self._site is None else self._site.io)

    def _begin(self, name: str, now: float, io: Mapping[str, Any] | None) -> float | None:
        while True:
            profile = self._profiles[name]
            kind = profile["type"]
            if kind == "composed":
                parts = None if io is None else list(io["seq"])
                self._stack.append(_Sequence(name, list(profile["seq"]), int(profile.get("repeat", 1)), parts))
                name = profile["seq"][0]
                io = None if parts is None else self._profiles[parts[0]]
                continue
            self._leaf, self._began = name, now
            if kind in PLATFORM_TYPES:
                site = self._site
                assert site is not None, "such profiles are refused without a timer"
                self._duration = math.inf
                if kind == "usage_trace":
                    trace = site.traces.of(profile)
                    self._replay = replay = TraceReplay(
                        trace, site.placement, site.timer, site.subject, site.rank_delay, now
                    )
                    return replay.end if replay.over else math.inf
                try:
                    activity = site.placement.activity(name, profile, io)
                except ImpossibleDecision as problem:
                    raise ImpossibleDecision(f"at {now:.6f} s: {problem}") from None
                self._busy = activity
                self._activity = site.timer.start(activity, site.subject, now)
                return math.inf
            if kind == "delay":
                self._duration = float(profile["delay"])
                return now + self._duration
            if kind == "send":
                self.outgoing.append(profile["msg"])
                self._duration = float(profile.get("sleeptime", SEND_SLEEP))
                return now + self._duration
            target = self._receive(profile)
            if target is None:
                self._polls_from, self._duration = now, math.inf
                return math.inf
            if not target:
                return self._finish_leaf(now)
            name = target

    def _receive(self, profile: Mapping[str, Any]) -> str | None:
        """Return the profile that a recv goes on with, an empty text for none, or None to wait."""
        if not self.inbox:
            return profile.get("timeout") or None
        message = self.inbox.popleft()
        matches = re.fullmatch(profile.get("regex", ".*"), message) is not None
        return str(profile.get("success" if matches else "failure", ""))

    @property
    def activity(self) -> Activity | None:
        """What runs on the platform, or has just run; None: nothing does."""
        return None if self._activity is None else self._busy

    def next_poll(self, now: float) -> float:
        """Return when a waiting recv will see a message that arrived `now`; infinity if nothing waits."""
        if self._polls_from is None:
            return math.inf
        step = float(self._profiles[self._leaf].get("polltime", RECV_POLL))
        return self._polls_from + max(math.floor((now - self._polls_from) / step) + 1, 1) * step

    def resume(self, now: float) -> float | None:
        """Go on after a delay, a send, a poll, or an activity; returns as `begin`."""
        self._activity = self._replay = None
        if self._polls_from is not None:
            self._polls_from = None
            target = self._receive(self._profiles[self._leaf])
            if target:
                return self.begin(target, now)
        return self._finish_leaf(now)

    def _finish_leaf(self, now: float) -> float | None:
        self.return_code = int(self._profiles[self._leaf].get("ret", 0))
        while self._stack and self.return_code == 0:
            sequence = self._stack[-1]
            sequence.index += 1
            if sequence.index < sequence.total:
                part = sequence.index % len(sequence.parts)
                io = None if sequence.io is None else self._profiles[sequence.io[part]]
                return self._begin(sequence.parts[part], now, io)
            self._stack.pop()
            self.return_code = int(self._profiles[sequence.name].get("ret", 0))
        return None

    def stop(self, now: float) -> tuple[dict[str, Any], bool]:
        """End at once; return the progress as Batsim nests it, and whether an activity was under way.

        A trace has no progress.
        """
        if self._replay is not None:
            self._replay.cancel()
        if self._activity is not None and self._site is not None:
            part = self._site.timer.cancel(self._activity)
            self._activity = None
            active = True
        else:
            part = (now - self._began) / self._duration if 0 < self._duration < math.inf else 0.0
            active = False
        report: dict[str, Any] = {"profile_name": self._leaf, "progress": min(part, 1.0)}
        for sequence in reversed(self._stack):
            report = {
                "profile_name": sequence.name,
                "current_task_index": sequence.index,
                "current_task": report,
            }
        return report, active
