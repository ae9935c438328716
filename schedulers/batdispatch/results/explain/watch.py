"""Follows some jobs of a recorded run while they wait."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from batdispatch.core import decisions as d
from batdispatch.core import events as e
from batdispatch.core.job import Job
from batdispatch.core.ledger import Ledger
from batdispatch.core.messages import Message
from batdispatch.links.retrace import Retraced
from batdispatch.results.explain.records import Kind, Line
from batdispatch.results.explain.view import Sight, State, line, see


class Stay:
    """A started job, what it held [resource], and when: ``[since, until)`` as the dispatcher knew."""

    __slots__ = ("amounts", "end", "job", "since", "start", "until")

    def __init__(self, job: Job, amounts: list[int], since: float) -> None:
        self.job = job
        self.amounts = amounts
        self.since = since
        self.until = math.inf
        self.start = job.start
        #: None while it runs.
        self.end: float | None = None


class Episode:
    """A phase in the making; lists are [resource]."""

    def __init__(self, sight: Sight, start: float, queue: Line | None) -> None:
        count = len(sight.state.held)
        self.kind: Kind = sight.kind
        self.short = sight.short
        self.start = self.end = start
        self.room = (sight.room, sight.room)
        self.least = list(sight.state.pooled)
        self.most = list(sight.state.pooled)
        #: Integrals over time of what was free, and of what was held.
        self.free = [0.0] * count
        self.held = [0.0] * count
        self.line = queue

    def extend(self, sight: Sight, end: float) -> None:
        """Go on with the same reason until `end`."""
        seconds = end - self.end
        self.end = end
        self.room = (min(self.room[0], sight.room), max(self.room[1], sight.room))
        for axis, (free, held) in enumerate(zip(sight.state.pooled, sight.state.held, strict=True)):
            self.least[axis] = min(self.least[axis], free)
            self.most[axis] = max(self.most[axis], free)
            self.free[axis] += free * seconds
            self.held[axis] += held * seconds


class Wait:
    """What is known of a job that is followed. Its episodes cover the time from `submission` to `until`."""

    def __init__(self, job: Job, submission: float, ahead: int, registered: bool) -> None:
        self.job = job
        self.submission = submission
        self.ahead = ahead
        self.registered = registered
        self.until = math.nan
        self.reason = ""
        #: When it ended, once it has.
        self.end: float | None = None
        self.episodes: list[Episode] = []
        #: Jobs that ran during the wait.
        self.stays: list[Stay] = []
        #: (job, whether there was room for this one before it was started).
        self.overtakers: list[tuple[Stay, bool]] = []
        #: (time, ids of the jobs that took the room).
        self.chances: list[tuple[float, list[str]]] = []
        #: What it lacks since `since`.
        self.sight: Sight | None = None
        self.since = submission
        #: Who waits ahead, while there is room; seen again when the first of them has been started.
        self.queue: Line | None = None

    def turn(self, sight: Sight | None, time: float, queue: Line | None = None) -> None:
        """See something else from `time` on; what was seen until then joins the episodes.

        Args:
            sight: what is seen; None when the wait is over.
            time: s; before the submission counts as at it.
            queue: who waits ahead, if now there is room.
        """
        time = max(time, self.since)
        old = self.sight
        if old is not None and time > self.since:
            last = self.episodes[-1] if self.episodes else None
            if last is None or (last.kind, last.short, last.line) != (old.kind, old.short, self.queue):
                last = Episode(old, self.since, self.queue)
                self.episodes.append(last)
            last.extend(old, time)
        self.sight, self.since, self.queue = sight, time, queue


class Watcher(Retraced):
    """Follows the jobs of a run whose ids, or numbers within their workload, are `wanted`.

    Each message costs a constant for each of them that waits; nothing is kept of jobs that ran while none did.

    Attributes:
        waits: what was found, by job id.
        starts: start of every job of the run, NaN if it never did.
        cluster: the ledger.
    """

    def __init__(self, wanted: Iterable[str]) -> None:
        super().__init__()
        self.waits: dict[str, Wait] = {}
        self.starts: dict[str, float] = {}
        self._wanted = frozenset(wanted)
        self._waiting: list[Wait] = []
        self._running: dict[str, Stay] = {}
        #: Jobs that ended in the current message.
        self._ended: list[Stay] = []
        #: Job -> time, of the current message.
        self._submitted: dict[str, float] = {}
        self._completed: dict[str, float] = {}
        self._registered: set[str] = set()
        self._registering: dict[str, float] = {}
        #: What held between the decisions before the current message and it: (from when, free, held), oldest first.
        self._before: tuple[tuple[float, Any, list[int]], ...] = ()
        self._now = 0.0

    def begin(self, cluster: Ledger) -> None:
        self.cluster = cluster
        self._held = [0] * len(cluster.machine.resources)
        self._state = State(cluster.space, cluster.free, self._held)
        self._before = ((-math.inf, cluster.free, self._held),)

    # ------------------------------------------------------------------ what is told

    def hear(self, message: Message) -> None:
        self._now = message.now
        self._ended.clear()
        self._completed.clear()
        self._submitted.clear()
        for event in message.events:
            if isinstance(event, e.JobCompleted):
                self._completed[event.job_id] = event.time
            elif isinstance(event, e.JobSubmitted):
                self._submitted[event.job.id] = event.time
                self.starts[event.job.id] = math.nan
                if self._wants(event.job.id):
                    # Not known to `on_submit` if it can never run.
                    self.waits[event.job.id] = Wait(event.job, event.time, 0, event.job.id in self._registered)

    def _wants(self, job_id: str) -> bool:
        return job_id in self._wanted or job_id.partition("!")[2] in self._wanted

    def on_submit(self, cluster: Ledger, job: Job) -> None:
        if job.id in self._registering:
            self.starts[job.id] = math.nan
        if not self._wants(job.id):
            return
        wait = self.waits.get(job.id)
        if wait is None:
            wait = self.waits[job.id] = Wait(job, self._registering.get(job.id, cluster.now), 0, True)
        wait.ahead = len(cluster.queue) - 1
        wait.stays = list(self._ended)
        self._waiting.append(wait)
        if wait.submission < cluster.now:
            # The dispatcher was deciding, and was told afterwards.
            for start, free, held in self._before:
                state = State(cluster.space, free, held)
                sight = see(cluster.machine, state, job)
                wait.turn(Sight("deciding", (), sight.room, state), start)

    def on_end(self, cluster: Ledger, job: Job) -> None:
        stay = self._running.pop(job.id)
        stay.until = cluster.now
        stay.end = self._completed.get(job.id, cluster.now)
        self._held = [held - amount for held, amount in zip(self._held, stay.amounts, strict=True)]
        for wait in self._waiting:
            wait.stays.append(stay)
        self._ended.append(stay)
        if job.id in self.waits:
            self.waits[job.id].end = stay.end

    # ------------------------------------------------------------------ what was decided

    def decide(self, cluster: Ledger) -> None:
        now, recorded = cluster.now, self.recorded
        at = now
        starts: Sequence[str] = ()
        if recorded:
            at = max(now, recorded[-1].time)
            starts = [decision.job_id for decision in recorded if isinstance(decision, d.Execute)]
            registered = (decision for decision in recorded if isinstance(decision, d.RegisterJob))
            self._registering = {decision.job.id: decision.time for decision in registered}
            self._registered.update(self._registering)
        look = (-math.inf, cluster.free, self._held)
        waiting = list(self._waiting)
        sights: list[Sight] = []
        if waiting and (starts or at > now):
            # What there was before the decisions matters where something is started, or where deciding took time.
            state = self._current(cluster)
            sights = [see(cluster.machine, state, wait.job) for wait in waiting]
            if at > now:
                for wait, sight in zip(waiting, sights, strict=True):
                    self._turn(cluster, wait, sight, now)
        super().decide(cluster)
        if recorded:
            self._registering = {}
        started = [self._start(cluster, job_id, at) for job_id in starts]
        if self._waiting:
            self._settle(cluster, zip(waiting, sights, strict=False), started, at)
        if self._submitted:
            self._refused(cluster, at)
        self._before = (look, (at, cluster.free, self._held))

    def _settle(self, cluster: Ledger, seen: Iterable[tuple[Wait, Sight]], started: list[Stay], at: float) -> None:
        """Let the jobs that wait see what the decisions left."""
        now, after = cluster.now, self._current(cluster)
        for wait, sight in seen:
            if wait.job.id in cluster.queue:
                _passed_over(wait, sight, started, now, see(cluster.machine, after, wait.job))
        for wait in list(self._waiting):
            if wait.job.id not in cluster.queue:
                self._waiting.remove(wait)
                self._close(cluster, wait, now, at)
            elif wait.sight is None or wait.sight.state is not after or wait.sight.kind == "deciding":
                self._turn(cluster, wait, see(cluster.machine, after, wait.job), at)

    def _refused(self, cluster: Ledger, at: float) -> None:
        """Close the waits of jobs that can never run, which are rejected before a dispatcher is told of them."""
        for job_id in self._submitted:
            wait = self.waits.get(job_id)
            if wait is not None and wait.sight is None and math.isnan(wait.until) and job_id not in cluster.queue:
                self._close(cluster, wait, cluster.now, at)

    def finish(self) -> None:
        """Close the waits that the recording does not see the end of."""
        for wait in self._waiting:
            wait.until = self._now
            wait.turn(None, self._now)
            wait.stays.extend(self._running.values())
        self._waiting.clear()

    def _current(self, cluster: Ledger) -> State:
        old = self._state
        if old.free is not cluster.free or old.held is not self._held:
            self._state = State(cluster.space, cluster.free, self._held)
        return self._state

    def _turn(self, cluster: Ledger, wait: Wait, sight: Sight, time: float) -> None:
        queue = None
        if sight.kind == "room":
            queue = wait.queue
            if queue is None or (queue.first and queue.first not in cluster.queue):
                queue = line(cluster, wait.job)
        wait.turn(sight, time, queue)

    def _start(self, cluster: Ledger, job_id: str, at: float) -> Stay:
        job = cluster.running[job_id]
        assert job.allocation is not None
        exclusive = cluster.machine.exclusive
        amounts = [job.allocation.size] if exclusive else cluster.space.pooled_use(job, job.allocation).tolist()
        stay = self._running[job_id] = Stay(job, amounts, at)
        self._held = [held + amount for held, amount in zip(self._held, amounts, strict=True)]
        self.starts[job_id] = job.start
        return stay

    def _close(self, cluster: Ledger, wait: Wait, now: float, at: float) -> None:
        job = wait.job
        wait.until = job.start if job.id in cluster.running else at
        if wait.until > now or wait.sight is None:
            # Its start took effect when the dispatcher had finished deciding.
            state = self._current(cluster) if wait.sight is None else wait.sight.state
            room = 0 if wait.sight is None else wait.sight.room
            wait.turn(Sight("deciding", (), room, state), wait.submission if wait.sight is None else now)
        wait.turn(None, wait.until)
        wait.stays.extend(self._running.values())
        if job.id not in cluster.running:
            wait.reason = next((reason for other, reason in reversed(cluster.rejections) if other == job.id), "")


def _passed_over(wait: Wait, before: Sight, started: list[Stay], now: float, after: Sight) -> None:
    """Keep who was started while a job waited on, and whether there was room for it until then."""
    room = before.kind == "room"
    wait.overtakers.extend((stay, room) for stay in started if stay.job.rank > wait.job.rank)
    if room and after.kind != "room":
        wait.chances.append((now, [stay.job.id for stay in started]))
