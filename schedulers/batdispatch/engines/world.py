"""What an engine simulates: jobs, hosts, the calendar of what will happen, and what the peer has yet to be told.

The loop (`batdispatch.engines.embedded`) lets time pass in it, and the peer's decisions (`batdispatch.engines.orders`)
change it.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from batdispatch.core.errors import DeadlockError
from batdispatch.core.hosts import hostruns
from batdispatch.core.hosts.hostruns import Bounds
from batdispatch.core.jobs.job import Job, JobState
from batdispatch.core.line import events as e
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.execution import Execution
from batdispatch.engines.facet import EngineFacet
from batdispatch.engines.machine_times import MachineTimes
from batdispatch.engines.mail import EARLY, Mail
from batdispatch.engines.occupancy import Occupancy
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.ranks import Rank
from batdispatch.engines.records import EngineOptions, Record
from batdispatch.engines.ticker import Ticker
from batdispatch.engines.timing import PlatformTimer
from batdispatch.engines.traces import Traces

if TYPE_CHECKING:
    from batdispatch.inputs.workloads import Workload

#: Seconds within which two times of a clock that counts microseconds are the same.
HALF_TICK = 5e-7
#: After so many calls in a row in which no job was submitted, started or ended, the dispatcher is taken to ask forever.
MOST_CALLS = 1_000_000


class World:
    """The state of one simulation.

    Attributes:
        now: simulated time in seconds.
        profiles: workload -> profile name -> profile, those that were registered included.
        hosts: which hosts compute, are idle, or are away as far as the peer knows.
        absent: mask of the hosts that are away. The peer hears of it only when it has decided.
        times: how long hosts computed, were idle and were away.
        mail: brings news to where the peer is told of them; None: they are there at once.
        told: events that the next message to the peer will hold.
        records: jobs that wait or run, by id.
        finished: ids of the jobs that are over.
        ended: number of jobs that are over.
        calls: number of calls that the peer asked for and that are to come.
        registering: whether the peer may still register jobs.
        ticker: what the peer is told again and again.
        facet: states of hosts, such as power states; None: there are none.
        traces: that profiles name.
        calendar: heap of what will happen: time, order of entry, action, its subject.
    """

    def __init__(
        self,
        machine: Machine,
        workload: Workload,
        outputs: Outputs,
        options: EngineOptions,
        timer: PlatformTimer | None,
        progress: Callable[[int], None] | None,
        mail: Mail | None = None,
        facet: EngineFacet | None = None,
        traces: Traces | None = None,
    ) -> None:
        self.machine = machine
        self.traces = traces or Traces(Path())
        self.outputs = outputs
        self.options = options
        self.timer = timer
        self._progress = progress
        self.profiles: dict[str, dict[str, dict[str, Any]]] = {"w0": workload.profiles}
        sharing = options.compute_sharing
        self.hosts = Occupancy(machine, sharing=not machine.exclusive if sharing is None else sharing)
        self.absent = 0
        self.times = MachineTimes(machine.compute)
        self.now = 0.0
        self.mail = mail
        self.facet = facet
        self.told: list[e.Event] = []
        self.records: dict[str, Record] = {}
        self.finished: set[str] = set()
        self.ended = 0
        self.calls = 0
        self._calls_in_a_row = 0
        self.registering = options.dynamic_jobs
        #: Whether the peer has ended the simulation.
        self.stopped = False
        self.ticker = Ticker(self)
        self.calendar: list[tuple[float, int, Callable[[Any], None], Any]] = []
        self._sequence = 0

    def rounded(self, time: float) -> float:
        """Return a time as this clock counts: in microseconds, unless messages take time."""
        return round(time, 6) if self.mail is None and time < math.inf else time

    def schedule(self, at: float, action: Callable[[Any], None], subject: Any) -> None:
        """Let ``action(subject)`` happen at `at`, in seconds; what is entered first happens first."""
        self._sequence += 1
        heapq.heappush(self.calendar, (at, self._sequence, action, subject))

    def tell(self, *events: e.Event, host: int | None = None, then: Callable[[], None] | None = None) -> None:
        """Tell the peer of events, or send news of them from a host (None: the master host) to where that is done.

        Whoever sends the news goes on with `then` once they are there.
        """
        if self.mail is None:
            self.told.extend(events)
        else:
            self.mail.post(self.now, host, lambda: self._hear(events), then=then, events=events)

    def post(self, host: int, arrive: Callable[[], None]) -> None:
        """Let a host send word of something, which does `arrive` where the peer is told.

        Jobs that end in the very step of SimGrid's in which it arrives do so before.
        """
        if self.mail is None:
            arrive()
        else:
            self.mail.post(self.now, host, lambda: None, then=arrive)

    def rank_delay(self, host: int, first: int) -> float:
        """Return how long word of the end of a job's rank takes from its host to the job's first one, in seconds."""
        mail, timer = self.mail, self.timer
        if mail is None or timer is None or self.options.turns_hosts:
            return 0.0
        # Who does not know the links between two hosts takes those to the master host.
        delay = timer.delay(host, first) if timer.sends else mail.delay(host)
        return delay.latency + delay.byte

    def _hear(self, events: tuple[e.Event, ...]) -> None:
        self.told.extend(msgspec.structs.replace(event, time=self.now) for event in events)

    def untold(self) -> Iterator[e.Event]:
        """Yield what happened and the peer does not know."""
        yield from self.told
        if self.mail is not None:
            yield from self.mail.events()

    def submit(self, job: Job, *, tell: bool) -> None:
        """Enter a job, and tell the peer unless it registered the job itself and wants no acknowledgement."""
        profiles = self.profiles[job.id.partition("!")[0]]
        self.records[job.id] = Record(job, profiles)
        self._calls_in_a_row = 0
        if self.facet is not None:
            self.facet.submitted(self.now)
        if tell:
            profile = profiles[job.profile] if self.options.forward_profiles else None
            self.told.append(e.JobSubmitted(self.now, job, profile))

    def call(self, call_id: str) -> None:
        """Answer a CALL_ME_LATER.

        Raises:
            DeadlockError: for `MOST_CALLS` calls in a row, no job was submitted, started or ended.
        """
        self.calls -= 1
        self.count_call()
        self.tell(e.RequestedCall(self.now, call_id))

    def count_call(self) -> None:
        """Note that the peer is called and nothing else happens.

        Raises:
            DeadlockError: for `MOST_CALLS` calls in a row, no job was submitted, started or ended.
        """
        self._calls_in_a_row += 1
        if self._calls_in_a_row >= MOST_CALLS:
            raise DeadlockError(
                f"at {self.now:.6f} s the dispatcher had been called {MOST_CALLS:,} times in a row as it had asked, "
                f"and no job was submitted, started or ended in the meantime; {len(self.records)} jobs have not ended"
            )

    def note_states(self, changed: Bounds) -> None:
        """Note how many hosts compute now, and which have changed (see `MachineTimes.change` for who may miss)."""
        self._calls_in_a_row = 0
        hosts, now = self.hosts, self.now
        self.enter(changed)
        if self.facet is None:
            self.outputs.states(now, hosts.idle, hosts.computing)
        else:
            absent = self.absent
            computing = (hosts.busy & ~absent).bit_count() if absent else hosts.computing
            away = (absent & ~self.facet.resting).bit_count() if absent else 0
            self.outputs.power_states(now, self.facet.counts(self.machine.size - computing - away, computing))

    def plan(self, record: Record, due: float | None) -> None:
        """Enter when a running job goes on or ends: by itself, or at its walltime, which wins a tie."""
        if due is None:
            due = self.now
        limit = record.start + record.walltime
        due = min(due, limit)
        if due < math.inf:
            # Whole seconds, as in most logs, need no rounding.
            if due % 1.0 and self.mail is None:
                due = round(due, 6)
            self.schedule(due, self.job_due, record)
        record.due = due

    def job_due(self, record: Record) -> None:
        """Let a running job go on or end, unless this entry of the calendar is stale."""
        # What happens up to EARLY before its time is not stale; a sum of doubles may miss that by their last digit.
        if not abs(record.due - self.now) < 2 * EARLY or record.state is not JobState.RUNNING:
            return
        if record.start + record.walltime <= self.now + HALF_TICK:
            self._end_itself(record, JobState.COMPLETED_WALLTIME_REACHED, -1)
            return
        execution = record.execution
        if execution is None:
            code = int(record.profiles[record.profile].get("ret", 0))
        else:
            if self.facet is not None:
                self.facet.phase_ends(record, self.now)
            due = execution.resume(self.now)
            if due is not None:
                self.go_on(record, execution, due)
                return
            code = execution.return_code
        self._end_itself(record, JobState.COMPLETED_FAILED if code else JobState.COMPLETED_SUCCESSFULLY, code)

    def activity_ended(self, subject: Any) -> None:
        """Let a job (a `Record`), a `Rank` or a host of the facet's go on or end, whose activity has ended."""
        if isinstance(subject, Record):
            self.job_due(subject)
        elif isinstance(subject, Rank):
            replay = subject.replay
            if replay.step_ended(subject, self.now):
                self.plan(replay.subject, replay.end)
        elif self.facet is not None:
            self.facet.activity_ended(self, subject)

    def _end_itself(self, record: Record, state: JobState, code: int) -> None:
        event = self.end(record, state, code)
        if self.mail is None:
            self.told.append(event)
        else:
            self.tell(event, host=record.first_host)

    def go_on(self, record: Record, execution: Execution, due: float | None) -> None:
        """Tell the peer what a running job says, and enter when the job goes on or ends.

        `due` is for messages that take no time. A job whose message takes time goes on only when it has arrived.
        """
        said = [e.JobMessage(self.now, record.id, message) for message in execution.outgoing]
        execution.outgoing.clear()
        if said and self.mail is not None:
            rest = 0.0 if due is None else due - self.now
            self.tell(*said, host=record.first_host, then=lambda: self.plan(record, self.now + rest))
            return
        self.told.extend(said)
        self.plan(record, due)

    def end(self, record: Record, state: JobState, code: int) -> e.JobCompleted:
        """End a running job: free its hosts, write its row; return what the peer is to be told."""
        record.state = state
        allocation = record.allocation
        assert allocation is not None
        joules = -1.0 if self.facet is None else self.facet.end(record, self.now)
        if record.execution is not None:
            record.execution.stop(self.now)
        self.note_states(self.hosts.release(allocation))
        self.outputs.ended(
            job_id=record.id,
            profile=record.profile,
            submission=record.submission,
            units=record.units,
            walltime=record.walltime,
            state=state,
            start=record.start,
            end=self.now,
            allocation=allocation,
            metadata=record.metadata,
            joules=joules,
        )
        self.forget(record)
        return e.JobCompleted(self.now, record.id, state, code, allocation)

    def forget(self, record: Record) -> None:
        """Drop what is known of a job that is over."""
        del self.records[record.id]
        self.finished.add(record.id)
        self.ended += 1
        if self._progress is not None:
            self._progress(self.ended)

    def go_away(self, mask: int) -> None:
        """Let hosts be unavailable."""
        changed = mask & self.machine.compute & ~self.absent
        self.absent |= changed
        self.enter(hostruns.bounds_of(changed))

    def come_back(self, mask: int) -> None:
        """Let hosts be available again."""
        changed = mask & self.absent
        self.absent &= ~changed
        self.enter(hostruns.bounds_of(changed))

    def enter(self, changed: Bounds) -> None:
        """Note how many hosts compute and are away from now on, and which have changed."""
        hosts = self.hosts
        away, computing = 0, hosts.computing
        if self.absent:
            absent = self.absent if self.facet is None else self.absent & ~self.facet.resting
            away, computing = absent.bit_count(), (hosts.busy & ~self.absent).bit_count()
        self.times.change(self.now, changed, computing, away)
