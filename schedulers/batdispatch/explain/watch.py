"""Follows some jobs of a recorded run while they wait."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress

import msgspec

from batdispatch.core.errors import ImpossibleDecision, InputError
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.jobs.transfer import read_leaving
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.concerns.holds import Holds
from batdispatch.core.line.hindsight import Reason
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.messages import Message
from batdispatch.core.line.scene import Choose
from batdispatch.core.line.ticks import TICK
from batdispatch.core.machine.machine import Machine
from batdispatch.core.plans.moments import milliseconds
from batdispatch.explain.records import WALLTIMES, Kind, Line, Verdict
from batdispatch.explain.view import Sight, State, line, see
from batdispatch.explain.witness import Witness, WitnessedRetrace
from batdispatch.parts.placement import Placement
from batdispatch.parts.prediction import Predictions


class Visit:
    """A started job, what it held [pooled resource], and when: ``[since, until)`` as the dispatcher knew."""

    __slots__ = ("amounts", "due", "end", "hosts", "job", "leaving", "rank", "since", "start", "until")

    def __init__(self, stay: Stay, rank: int, amounts: list[int], since: float, expected: float) -> None:
        self.job = stay.job
        #: Its position in the order of arrival.
        self.rank = rank
        self.amounts = amounts
        self.hosts = stay.allocation
        self.since = since
        self.until = math.inf
        self.start = stay.start
        #: When it is expected to end; infinity: nothing says.
        self.due = stay.start + expected
        #: None while it runs.
        self.end: float | None = None
        #: Of hosts that it leaves, the id of the job that gets them, empty for whoever comes first; else None.
        self.leaving: str | None = None


class Episode:
    """A phase in the making; lists are [pooled resource]."""

    def __init__(self, sight: Sight, start: float, queue: Line | None) -> None:
        count = len(sight.state.held)
        self.kind: Kind = sight.kind
        self.short = sight.short
        self.by = sight.by
        self.start = self.end = start
        self.room = (sight.room, sight.room)
        self.least = list(sight.state.seen.pooled)
        self.most = list(sight.state.seen.pooled)
        #: Integrals over time of what was free, and of what was held.
        self.free = [0.0] * count
        self.held = [0.0] * count
        self.line = queue

    def extend(self, sight: Sight, end: float) -> None:
        """Go on with the same reason until `end`."""
        seconds = end - self.end
        self.end = end
        self.room = (min(self.room[0], sight.room), max(self.room[1], sight.room))
        for axis, (free, held) in enumerate(zip(sight.state.seen.pooled, sight.state.held, strict=True)):
            self.least[axis] = min(self.least[axis], free)
            self.most[axis] = max(self.most[axis], free)
            self.free[axis] += free * seconds
            self.held[axis] += held * seconds


class Wait:
    """What is known of a job that is followed. Its episodes cover the time from `submission` to `until`."""

    def __init__(self, job: Job, submission: float, registered: bool) -> None:
        self.job = job
        self.submission = submission
        self.ahead = 0
        self.registered = registered
        self.until = math.nan
        self.reason = ""
        #: When it ended, once it has.
        self.end: float | None = None
        self.episodes: list[Episode] = []
        #: Its position in the order of arrival, once the ledger knows it.
        self.rank = -1
        #: Where it ran, once it was started.
        self.stay: Stay | None = None
        #: Jobs that ran during the wait.
        self.visits: list[Visit] = []
        #: (job, whether there was room for this one before it was started).
        self.overtakers: list[tuple[Visit, bool]] = []
        #: (time, ids of the jobs that took the room).
        self.chances: list[tuple[float, list[str]]] = []
        #: What the dispatcher says of the decisions that left it waiting.
        self.verdicts: list[Verdict] = []
        #: And of the one that started it.
        self.at_start: Verdict | None = None
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
            if last is None or (last.kind, last.short, last.by, last.line) != (
                old.kind,
                old.short,
                old.by,
                self.queue,
            ):
                last = Episode(old, self.since, self.queue)
                self.episodes.append(last)
            last.extend(old, time)
        self.sight, self.since, self.queue = sight, time, queue


class Watcher(WitnessedRetrace):
    """Follows the jobs of a run whose ids, or numbers within their workload, are `wanted`.

    Each message costs a constant for each of them that waits; nothing is kept of jobs that ran while none did.

    Attributes:
        waits: what was found, by job id.
        starts: start of every job of the run, NaN if it never did.
        ledger: the ledger.
    """

    def __init__(
        self,
        wanted: Iterable[str],
        placement: Placement | None = None,
        witness: Witness | None = None,
        machine: Machine | None = None,
        predictions: Predictions | None = None,
    ) -> None:
        """Follow some jobs.

        Args:
            wanted: their ids or numbers.
            placement: the run's, where it may find no place for a job for which there is room.
            witness: the run's dispatcher, if it can say why it left a job waiting.
            machine: the run's with its network, if that is known.
            predictions: the run's, unless it took walltimes as they were.
        """
        super().__init__(witness)
        self._predictions = predictions
        self._machine = machine
        self.waits: dict[str, Wait] = {}
        self.starts: dict[str, float] = {}
        self._placement = placement
        self._choose: Choose | None = None
        self._wanted = frozenset(wanted)
        self._waiting: list[Wait] = []
        self._running: dict[str, Visit] = {}
        #: Hosts that nobody uses while the data of a resized job is redistributed, by the job's id.
        self._leaving: dict[str, Visit] = {}
        #: Jobs that ended in the current message.
        self._ended: list[Visit] = []
        #: Job -> time, of the current message.
        self._submitted: dict[str, float] = {}
        self._completed: dict[str, float] = {}
        self._registered: set[str] = set()
        self._registering: dict[str, float] = {}
        #: What held between the decisions before the current message and it, with its beginning, s; oldest first.
        self._before: tuple[tuple[float, State], ...] = ()
        self._now = 0.0
        #: Ids of the jobs that have their hosts since some of these began to wake up for them.
        self._waking: set[str] = set()

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self.ledger = ledger
        if self._predictions is not None:
            self._predictions.begin(ledger)
        self._held = [0] * len(ledger.space.pools)
        self._state = State(ledger.idle.snapshot(), self._held)
        self._before = ((-math.inf, self._state),)
        if self._placement is not None:
            known = self._machine
            same = known is not None and [host.name for host in known.hosts] == [
                host.name for host in ledger.machine.hosts
            ]
            # One that needs what neither the recording nor the platform file tells cannot be asked.
            with suppress(InputError):
                self._placement.begin(known if known is not None and same else ledger.machine)
                self._choose = self._placement.place_in_choice

    def _expected(self, job: Job) -> float:
        """Return how long the run's dispatcher expected a job to run, in seconds."""
        return job.walltime if self._predictions is None else self._predictions.of(job)

    # ------------------------------------------------------------------ what is told

    def hear(self, message: Message) -> None:
        self._now = message.now
        if self.recorded:
            registered = (decision for decision in self.recorded if isinstance(decision, d.RegisterJob))
            self._registering = {decision.job.id: decision.time for decision in registered}
            self._registered.update(self._registering)
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
                    self.waits[event.job.id] = Wait(event.job, event.time, event.job.id in self._registered)

    def _wants(self, job_id: str) -> bool:
        return job_id in self._wanted or job_id.partition("!")[2] in self._wanted

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        self._came(ledger, job)
        # The run's dispatcher may reject it again.
        super().on_submit(ledger, job)

    def _came(self, ledger: Ledger, job: Job) -> None:
        # Predictions are made at submission.
        self._expected(job)
        if job.id in self._registering:
            self.starts[job.id] = math.nan
        if not self._wants(job.id):
            return
        wait = self.waits.get(job.id)
        if wait is None:
            wait = self.waits[job.id] = Wait(job, self._registering.get(job.id, ledger.now), True)
        # A job that waited for others is followed already.
        if wait.rank < 0:
            self._follow(ledger, wait)

    def _follow(self, ledger: Ledger, wait: Wait) -> None:
        """Begin to follow a job that the ledger knows."""
        job = wait.job
        wait.rank = ledger.rank(job)
        wait.ahead = sum(1 for other in ledger.queue.values() if ledger.rank(other) < wait.rank)
        wait.visits = list(self._ended)
        self._waiting.append(wait)
        if wait.submission < ledger.now:
            # The dispatcher was deciding, and was told afterwards.
            for start, state in self._before:
                wait.turn(Sight("deciding", (), (), self._see(ledger, state, job).room, state), start)

    def _see(self, ledger: Ledger, state: State, job: Job) -> Sight:
        if job.id in ledger.blocked:
            return Sight("blocked", (), tuple(ledger.roll.waits_for(job)), 0, state)
        return see(ledger, state, job, self._choose)

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        super().on_end(ledger, stay)
        if self._predictions is not None:
            self._predictions.ended(stay, ledger.now)
        visit = self._running.pop(stay.job.id)
        self._over(visit, ledger.now, self._completed.get(stay.job.id, ledger.now))
        self._release(ledger, stay.job.id, ledger.now)
        if stay.job.id in self.waits:
            self.waits[stay.job.id].end = visit.end

    def _over(self, visit: Visit, now: float, end: float) -> None:
        """Note that a job has left hosts at `end`, which the dispatcher knows since `now`."""
        visit.until, visit.end = now, end
        self._held = [held - amount for held, amount in zip(self._held, visit.amounts, strict=True)]
        for wait in self._waiting:
            wait.visits.append(visit)
        self._ended.append(visit)

    # ------------------------------------------------------------------ what was decided

    def decide(self, ledger: Ledger) -> None:
        early = self.bring_forward(ledger) if self.early else ()
        now, recorded = ledger.now, self.recorded
        at = now
        starts: Sequence[str] = ()
        self._let_go(ledger)
        if recorded:
            at = max(now, recorded[-1].time)
            starts = [decision.job_id for decision in recorded if isinstance(decision, d.Execute)]
        look = (-math.inf, self._current(ledger))
        self._follow_blocked(ledger, self._submitted)
        waiting = list(self._waiting)
        sights: list[Sight] = []
        if waiting and (starts or at > now):
            # What there was before the decisions matters where something is started, or where deciding took time.
            sights = [self._see(ledger, look[1], wait.job) for wait in waiting]
            if at > now:
                for wait, sight in zip(waiting, sights, strict=True):
                    self._turn(ledger, wait, sight, now)
        for wait in self._waiting:
            if (said := self.testimony(ledger, wait.job)) is not None:
                _keep(wait, said, now)
            elif (said := self.testimony_of_start(ledger, wait.job)) is not None:
                wait.at_start = Verdict(why=said.why, how=said.how, first=now, last=now)
        super().decide(ledger)
        # Where the simulator does not announce registered jobs, they depend on others from now on.
        for job_id in self._registering:
            if job_id in ledger.blocked and self._wants(job_id) and job_id not in self.waits:
                self.starts[job_id] = math.nan
                self.waits[job_id] = Wait(ledger.blocked[job_id], self._registering[job_id], True)
        self._follow_blocked(ledger, self._registering)
        if recorded:
            self._registering = {}
        # The others are freed by these, and start when the dispatcher has decided once more.
        fresh = [job_id for job_id in starts if job_id in ledger.running and job_id not in self._running]
        started = [self._start(ledger, job_id, at) for job_id in fresh]
        self._waking.update(early)
        if self._waiting:
            refused = {decision.job_id for decision in recorded if isinstance(decision, d.Reject)}
            self._settle(ledger, zip(waiting, sights, strict=False), started, refused, at)
        if self._submitted:
            self._refused(ledger, at)
        self._before = (look, (at, self._current(ledger)))

    def _follow_blocked(self, ledger: Ledger, job_ids: Iterable[str]) -> None:
        """Follow the jobs among `job_ids` that wait for others before they enter the queue."""
        if ledger.blocked:
            for job_id in job_ids:
                wait = self.waits.get(job_id)
                if job_id in ledger.blocked and wait is not None and wait.rank < 0:
                    self._follow(ledger, wait)

    def _settle(
        self,
        ledger: Ledger,
        seen: Iterable[tuple[Wait, Sight]],
        started: list[Visit],
        refused: Collection[str],
        at: float,
    ) -> None:
        """Let the jobs that wait see what the decisions left."""
        now, after = ledger.now, self._current(ledger)
        for wait, sight in seen:
            if wait.job.id in ledger.queue:
                _passed_over(wait, sight, started, now, self._see(ledger, after, wait.job))
        for wait in list(self._waiting):
            job_id = wait.job.id
            # The session rejects those that wait for jobs which have failed when all is decided.
            if job_id not in ledger.queue and (job_id not in ledger.blocked or job_id in refused):
                self._waiting.remove(wait)
                self._close(ledger, wait, now, at)
            elif wait.sight is None or wait.sight.state is not after or wait.sight.kind in ("deciding", "blocked"):
                self._turn(ledger, wait, self._see(ledger, after, wait.job), at)

    def _refused(self, ledger: Ledger, at: float) -> None:
        """Close the waits of jobs that can never run, which are rejected before a dispatcher is told of them."""
        for job_id in self._submitted:
            wait = self.waits.get(job_id)
            if wait is not None and wait.sight is None and math.isnan(wait.until) and job_id not in ledger.queue:
                self._close(ledger, wait, ledger.now, at)

    def finish(self) -> None:
        """Close the waits that the recording does not see the end of."""
        for wait in self._waiting:
            wait.until = self._now
            wait.turn(None, self._now)
            wait.visits.extend([*self._running.values(), *self._leaving.values()])
        self._waiting.clear()
        if self.waits:
            reasons = dict(self.ledger.rejections)
            for job_id, wait in self.waits.items():
                wait.reason = reasons.get(job_id, "")

    def _current(self, ledger: Ledger) -> State:
        old = self._state
        now = ledger.idle.snapshot()
        if old.seen.entry is not now.entry or old.held is not self._held:
            self._state = State(now, self._held)
        return self._state

    def _turn(self, ledger: Ledger, wait: Wait, sight: Sight, time: float) -> None:
        queue = None
        if sight.kind == "room":
            queue = wait.queue
            if queue is None or (queue.first and queue.first not in ledger.queue):
                by = WALLTIMES if self._predictions is None else f"prediction {self._predictions.name}"
                queue = line(ledger, wait.job, self._expected, by)
        wait.turn(sight, time, queue)

    def _start(self, ledger: Ledger, job_id: str, at: float) -> Visit:
        stay = ledger.running[job_id]
        amounts = ledger.space.pooled_use(stay.job, stay.allocation).tolist()
        visit = self._running[job_id] = Visit(stay, ledger.rank(stay.job), amounts, at, self._expected(stay.job))
        self._held = [held + amount for held, amount in zip(self._held, amounts, strict=True)]
        self.starts[job_id] = stay.start
        wait = self.waits.get(job_id)
        if wait is not None:
            wait.stay = stay
        self._hold_leaving(ledger, stay, at)
        return visit

    # ------------------------------------------------------------------ hosts that leave a resized job

    def _hold_leaving(self, ledger: Ledger, stay: Stay, at: float) -> None:
        """Keep the hosts that a segment of a resized job has said to leave when its data is redistributed."""
        told = read_leaving(stay.job.extra)
        # What is said may be nonsense: a recording is a file like others.
        if told is None or told[1].mask & stay.allocation.mask:
            return
        leaving, hosts = told
        with suppress(ImpossibleDecision):
            Holds.of(ledger).hold(stay.job, hosts)
            amounts = ledger.space.pooled_use(stay.job, hosts).tolist()
            visit = self._leaving[stay.job.id] = Visit(stay, ledger.rank(stay.job), amounts, at, math.inf)
            visit.hosts, visit.leaving = hosts, leaving.to
            visit.due = math.inf if leaving.seconds is None else milliseconds(stay.start + leaving.seconds)
            self._held = [held + amount for held, amount in zip(self._held, amounts, strict=True)]

    def _let_go(self, ledger: Ledger) -> None:
        """Free the hosts whose time has come, and those on which the dispatcher has started somebody."""
        if not self._leaving:
            return
        taken = 0
        for decision in self.recorded or ():
            if isinstance(decision, d.Execute):
                taken |= decision.allocation.mask
        for job_id, visit in list(self._leaving.items()):
            if visit.due <= ledger.now + TICK / 2 or visit.hosts.mask & taken:
                self._release(ledger, job_id, ledger.now)

    def _release(self, ledger: Ledger, job_id: str, now: float) -> None:
        visit = self._leaving.pop(job_id, None)
        if visit is not None:
            Holds.of(ledger).release(job_id)
            self._over(visit, now, now)

    def _close(self, ledger: Ledger, wait: Wait, now: float, at: float) -> None:
        wait.until = at if wait.stay is None else wait.stay.start
        if wait.until > now or wait.sight is None:
            # Its start took effect when the dispatcher had finished deciding.
            state = self._current(ledger) if wait.sight is None else wait.sight.state
            room = 0 if wait.sight is None else wait.sight.room
            kind: Kind = "waking" if wait.job.id in self._waking else "deciding"
            wait.turn(Sight(kind, (), (), room, state), wait.submission if wait.sight is None else now)
        wait.turn(None, wait.until)
        wait.visits.extend([*self._running.values(), *self._leaving.values()])


def _keep(wait: Wait, said: Reason, now: float) -> None:
    """Keep what the dispatcher says of a decision that leaves a job waiting."""
    last = wait.verdicts[-1] if wait.verdicts else None
    if last is not None and last.why == said.why:
        wait.verdicts[-1] = msgspec.structs.replace(last, last=now, decisions=last.decisions + 1)
    else:
        wait.verdicts.append(Verdict(why=said.why, how=said.how, first=now, last=now))


def _passed_over(wait: Wait, before: Sight, started: list[Visit], now: float, after: Sight) -> None:
    """Keep who was started while a job waited on, and whether there was room for it until then."""
    room = before.kind == "room"
    wait.overtakers.extend((visit, room) for visit in started if visit.rank > wait.rank)
    if room and after.kind != "room":
        wait.chances.append((now, [visit.job.id for visit in started]))
