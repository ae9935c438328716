"""The embedded engine: Batsim 4's semantics, with SimGrid for what depends on the platform.

Everything that happens at one moment is told in one message; the answer's decisions take effect at their times, and
what happens until the answer's `now` is told in the next message. The clock counts microseconds, the resolution of
Batsim's messages, so that a schedule is the same in process and over a socket.

Delays and everything else that has a known end stand in the engine's own calendar. A timer, if there is one, lets time
pass while activities run on the platform, at most until the calendar's next entry.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from batdispatch import __version__
from batdispatch.core import events as e
from batdispatch.core.allocation import Allocation
from batdispatch.core.errors import SimulationError
from batdispatch.core.job import Job, JobState
from batdispatch.core.machine import Machine
from batdispatch.core.messages import Message, Peer, Reply
from batdispatch.engines.execution import Execution, check_timed
from batdispatch.engines.occupancy import Occupancy
from batdispatch.engines.orders import Orders
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions, Record
from batdispatch.engines.timing import PlatformTimer

if TYPE_CHECKING:
    from batdispatch.inputs.workloads import Workload


class EmbeddedEngine:
    """Simulates one workload on one machine for one peer.

    Use: ``EmbeddedEngine(machine, workload, outputs).run(peer)``.

    Attributes:
        now: simulated time in seconds.
        ended: number of jobs that ended or were rejected.
        scheduling_seconds: wall-clock seconds spent waiting for the peer.
        messages: number of messages exchanged.
    """

    def __init__(
        self,
        machine: Machine,
        workload: Workload,
        outputs: Outputs,
        *,
        options: EngineOptions | None = None,
        external_events: Iterable[e.Event] = (),
        progress: Callable[[int], None] | None = None,
        timer: PlatformTimer | None = None,
    ) -> None:
        """Check that every job can be simulated.

        Raises:
            InputError: a job's profile needs a timer and there is none, or cannot be simulated at all.
        """
        self.timer = timer
        self.machine = machine
        self.workload = workload
        self.outputs = outputs
        self.options = options or EngineOptions()
        self._external = sorted(external_events, key=lambda event: event.time)
        self._hosts_come_and_go = bool(self._external)
        self._progress = progress
        self.profiles: dict[str, dict[str, dict[str, Any]]] = {"w0": workload.profiles}
        self._timed: dict[str, set[str]] = {"w0": set()}
        for job in workload.jobs:
            if job.profile not in self._timed["w0"]:
                check_timed(
                    job.profile,
                    workload.profiles,
                    self._timed["w0"],
                    source=str(workload.path),
                    platform=timer is not None,
                )
        sharing = self.options.compute_sharing
        self.hosts = Occupancy(machine, sharing=not machine.exclusive if sharing is None else sharing)
        #: Submission times on the engine's clock, s.
        self._submissions = [round(job.submission, 6) for job in workload.jobs]

        self.now = 0.0
        self.ended = 0
        self.scheduling_seconds = 0.0
        self.messages = 0
        self._calendar: list[tuple[float, int, Callable[[Any], None], Any]] = []
        self._sequence = 0
        self.told: list[e.Event] = []
        self.records: dict[str, Record] = {}
        self.finished: set[str] = set()
        self._next_job = 0
        self._alive = 0
        self.calls = 0
        self.registering = self.options.dynamic_jobs
        self._orders = Orders(self)

    # ------------------------------------------------------------------ the loop

    def run(self, peer: Peer) -> None:
        """Simulate to the end and write the output files; on any failure none appears.

        Raises:
            ImpossibleDecision: the peer decided something impossible.
            SimulationError: jobs wait and nothing is left to happen.
        """
        began = time.perf_counter()
        timer = self.timer
        try:
            if timer is None:
                self._run(peer)
            else:
                timer.run(lambda: self._run(peer))
            self.outputs.finish(
                version=f"batdispatch {__version__} embedded" + (f", SimGrid {timer.version}" if timer else ""),
                scheduling_seconds=self.scheduling_seconds,
                simulation_seconds=time.perf_counter() - began,
            )
        except BaseException:
            self.outputs.discard()
            raise

    def _run(self, peer: Peer) -> None:
        for event in self._external:
            self.schedule(round(event.time, 6), self._happen, event)
        if self._external:
            self.schedule(
                round(self._external[-1].time, 6), self._tell, e.NoMoreExternalEvents(self._external[-1].time)
            )
        self.told.append(self._begins())
        self._exchange(peer)
        while not self._is_over():
            if not self.told:
                due = self._next_due()
                if self.timer is not None and self.timer.running:
                    due = self._let_run(self.timer, due)
                if due == math.inf:
                    raise self._stuck()
                self.now = max(self.now, due)
                self._advance()
            if self.told:
                self._exchange(peer)
        self.told = [e.SimulationEnds(self.now)]
        self._exchange(peer)

    def _next_due(self) -> float:
        due = self._calendar[0][0] if self._calendar else math.inf
        return min(due, self._submissions[self._next_job]) if self._next_job < len(self._submissions) else due

    def _let_run(self, timer: PlatformTimer, until: float) -> float:
        """Let activities run until one ends, at most until `until`; return the time it then is."""
        ended = timer.advance(until)
        if not ended:
            return until
        now = max(round(timer.clock, 6), self.now)
        for record in ended:
            record.due = now
            self.schedule(now, self._job_due, record)
        return now

    def _advance(self) -> None:
        """Let everything happen that is due by now."""
        now, calendar, submissions = self.now, self._calendar, self._submissions
        while self._next_job < len(submissions) and submissions[self._next_job] <= now:
            self._submit_static(self.workload.jobs[self._next_job])
        while calendar and calendar[0][0] <= now:
            _, _, action, subject = heapq.heappop(calendar)
            action(subject)

    def _exchange(self, peer: Peer) -> None:
        if self.options.split_simultaneous:
            told, self.told = self.told[:1], self.told[1:]
        else:
            told, self.told = self.told, []
        for event in told if self._hosts_come_and_go else ():
            # Hosts go and come when the peer learns of it: what it decides before, it cannot know better.
            if isinstance(event, e.MachinesUnavailable):
                self.hosts.away |= event.hosts.mask
            elif isinstance(event, e.MachinesAvailable):
                self.hosts.away &= ~event.hosts.mask
        began = time.perf_counter()
        reply = peer.handle(Message(self.now, told))
        self.scheduling_seconds += time.perf_counter() - began
        self.messages += 1
        self._apply(reply)

    def _apply(self, reply: Reply) -> None:
        """Let decisions take effect at their times and go on to when the peer was ready again."""
        if not reply.decisions and reply.now <= self.now:
            return
        until = round(reply.now, 6)
        carry_out = self._orders.carry_out
        for decision in reply.decisions:
            at = round(decision.time, 6)
            if at <= self.now:
                carry_out(decision)
            else:
                until = max(until, at)
                self.schedule(at, carry_out, decision)
        while until > self.now:
            due = max(min(self._next_due(), until), self.now)
            if self.timer is not None and self.timer.running:
                due = self._let_run(self.timer, due)
            self.now = due
            self._advance()

    def schedule(self, at: float, action: Callable[[Any], None], subject: Any) -> None:
        """Let ``action(subject)`` happen at `at`, in seconds; what is entered first happens first."""
        self._sequence += 1
        heapq.heappush(self._calendar, (at, self._sequence, action, subject))

    def _is_over(self) -> bool:
        return (
            self._next_job == len(self.workload.jobs)
            and not self._alive
            and not self.told
            and not self.registering
            and not self.calls
            and not self._external
        )

    def _stuck(self) -> SimulationError:
        waiting = [record for record in self.records.values() if record.state is JobState.SUBMITTED]
        if self._alive:
            names = ", ".join(record.id for record in waiting[:5]) + (", ..." if len(waiting) > 5 else "")
            return SimulationError(
                f"at {self.now:.6f} s nothing is left to happen, but {self._alive} jobs have not ended: the dispatcher "
                f"neither started nor rejected {names or 'them'}"
            )
        return SimulationError(
            f"at {self.now:.6f} s nothing is left to happen, but the dispatcher never said that it finished "
            "registering jobs"
        )

    # ------------------------------------------------------------------ what happens

    def _begins(self) -> e.SimulationBegins:
        options = self.options
        config = {
            "allow_compute_sharing": self.hosts.sharing,
            "allow_storage_sharing": True,
            "redis-enabled": False,
            "redis-hostname": "127.0.0.1",
            "redis-port": 6379,
            "redis-prefix": "default",
            "profiles-forwarded-on-submission": options.forward_profiles,
            "dynamic-jobs-enabled": options.dynamic_jobs,
            "dynamic-jobs-acknowledged": options.dynamic_jobs and options.acknowledge_dynamic_jobs,
            "profile-reuse-enabled": options.profile_reuse,
            "sched-config": options.scheduler_config,
            "forward-unknown-events": options.forward_unknown_events,
        }
        # The peer's view of profiles is its own: what it registers comes back as decisions.
        profiles = {"w0": dict(self.workload.profiles)}
        return e.SimulationBegins(0.0, self.machine, config, {"w0": str(self.workload.path)}, profiles)

    def _submit_static(self, job: Job) -> None:
        submission = self._submissions[self._next_job]
        self._next_job += 1
        self.submit(
            Job(
                id="w0!" + job.id,
                units=job.units,
                submission=submission,
                walltime=round(job.walltime, 6) if job.walltime < math.inf else math.inf,
                profile=job.profile,
                demand=job.demand,
                user=job.user,
                extra=job.extra,
            ),
            tell=True,
        )
        if self._next_job == len(self.workload.jobs):
            self.told.append(e.NoMoreStaticJobs(self.now))

    def submit(self, job: Job, *, tell: bool) -> None:
        """Enter a job, and tell the peer unless it registered the job itself and wants no acknowledgement."""
        self.records[job.id] = Record(job)
        self._alive += 1
        if tell:
            profile = None
            if self.options.forward_profiles:
                profile = self.profiles[job.id.partition("!")[0]][job.profile]
            self.told.append(e.JobSubmitted(self.now, job, profile))

    def _tell(self, event: e.Event) -> None:
        self.told.append(event)
        if isinstance(event, e.NoMoreExternalEvents):
            self._external = []

    def _happen(self, event: e.Event) -> None:
        if not isinstance(event, e.Notified) or self.options.forward_unknown_events:
            self.told.append(event)

    def call(self, call_id: str) -> None:
        """Answer a CALL_ME_LATER."""
        self.calls -= 1
        self.told.append(e.RequestedCall(self.now, call_id))

    def plan(self, record: Record, due: float | None) -> None:
        """Enter when a running job goes on or ends: by itself, or at its walltime, which wins a tie."""
        limit = record.start + record.walltime
        if due is None:
            due = self.now
        due = round(min(due, limit), 6) if min(due, limit) < math.inf else math.inf
        record.due = due
        if due < math.inf:
            self.schedule(due, self._job_due, record)

    def _job_due(self, record: Record) -> None:
        if record.due != self.now or record.state is not JobState.RUNNING:
            return
        if round(record.start + record.walltime, 6) <= self.now:
            self.end(record, JobState.COMPLETED_WALLTIME_REACHED, -1)
            return
        execution = record.execution
        if execution is None:
            code = int(self.workload_profile(record).get("ret", 0))
        else:
            due = execution.resume(self.now)
            self.forward_messages(record, execution)
            if due is not None:
                self.plan(record, due)
                return
            code = execution.return_code
        self.end(record, JobState.COMPLETED_FAILED if code else JobState.COMPLETED_SUCCESSFULLY, code)

    def workload_profile(self, record: Record) -> Mapping[str, Any]:
        """Return the profile of a job."""
        return self.profiles[record.id.partition("!")[0]][record.profile]

    def forward_messages(self, record: Record, execution: Execution) -> None:
        """Tell the peer what a job said."""
        self.told.extend(e.JobMessage(self.now, record.id, message) for message in execution.outgoing)
        execution.outgoing.clear()

    def end(self, record: Record, state: JobState, code: int) -> None:
        """End a running job: free its hosts, write its row, tell the peer."""
        record.state = state
        allocation = record.allocation
        assert allocation is not None
        if record.execution is not None:
            record.execution.stop(self.now)
        self.hosts.release(allocation)
        self._write_states()
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
        )
        self.told.append(e.JobCompleted(self.now, record.id, state, code, allocation))
        self.forget(record)

    def forget(self, record: Record) -> None:
        """Drop what is known of a job that is over."""
        del self.records[record.id]
        self.finished.add(record.id)
        self._alive -= 1
        self.ended += 1
        if self._progress is not None:
            self._progress(self.ended)

    def occupy(self, allocation: Allocation) -> None:
        """Let a job's hosts compute."""
        self.hosts.occupy(allocation)
        self._write_states()

    def _write_states(self) -> None:
        self.outputs.states(self.now, self.hosts.idle, self.hosts.computing)
