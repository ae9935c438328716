"""The embedded engine: Batsim 4's semantics for profiles whose time does not depend on the platform.

Everything that happens at one moment is told in one message; the answer's decisions take effect at their times, and
what happens until the answer's `now` is told in the next message. The clock counts microseconds, the resolution of
Batsim's messages, so that a schedule is the same in process and over a socket.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from batdispatch import __version__
from batdispatch.core import decisions as d
from batdispatch.core import events as e
from batdispatch.core import hostset
from batdispatch.core.allocation import Allocation
from batdispatch.core.errors import ImpossibleDecision, InputError, SimulationError
from batdispatch.core.job import Job, JobState
from batdispatch.core.ledger import spreads_freely
from batdispatch.core.machine import Machine
from batdispatch.core.messages import Message, Peer, Reply
from batdispatch.engines.execution import Execution, check_timed
from batdispatch.engines.outputs import Outputs

if TYPE_CHECKING:
    from batdispatch.workloads import Workload


class EngineOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Batsim's options that change what a scheduler may do or is told."""

    dynamic_jobs: bool = False
    acknowledge_dynamic_jobs: bool = True
    profile_reuse: bool = True
    forward_profiles: bool = False
    #: Several jobs on a host. None: where the platform states capacities, which the dispatcher then has to respect.
    compute_sharing: bool | None = None
    forward_unknown_events: bool = True
    #: Text handed to the scheduler as ``sched-config``.
    scheduler_config: str = ""


class _Record:
    """What the engine knows of a submitted job."""

    __slots__ = ("allocation", "due", "execution", "id", "job", "metadata", "profile", "start", "state")

    def __init__(self, job: Job) -> None:
        self.id = job.id
        self.job = job
        self.profile = job.profile
        self.state = JobState.SUBMITTED
        self.start = math.nan
        self.allocation: Allocation | None = None
        #: When the job's next calendar entry is due; entries with another time are stale.
        self.due = math.inf
        self.execution: Execution | None = None
        self.metadata = ""


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
    ) -> None:
        """Check that every job can be simulated.

        Raises:
            InputError: a job's profile needs a platform model.
        """
        self.machine = machine
        self.workload = workload
        self.outputs = outputs
        self.options = options or EngineOptions()
        self._external = sorted(external_events, key=lambda event: event.time)
        self._progress = progress
        self._profiles: dict[str, dict[str, dict[str, Any]]] = {"w0": workload.profiles}
        self._timed: dict[str, set[str]] = {"w0": set()}
        for job in workload.jobs:
            if job.profile not in self._timed["w0"]:
                check_timed(job.profile, workload.profiles, self._timed["w0"], source=str(workload.path))
        sharing = self.options.compute_sharing
        self._sharing = not machine.exclusive if sharing is None else sharing

        self.now = 0.0
        self.ended = 0
        self.scheduling_seconds = 0.0
        self.messages = 0
        self._calendar: list[tuple[float, int, Callable[[Any], None], Any]] = []
        self._sequence = 0
        self._told: list[e.Event] = []
        self._records: dict[str, _Record] = {}
        self._finished: set[str] = set()
        self._next_job = 0
        self._alive = 0
        self._calls = 0
        self._registering = self.options.dynamic_jobs
        self._busy = 0
        self._computing = 0
        self._on_host: dict[int, int] = {}
        self._away = 0
        self._size = machine.size
        self._take: dict[type[d.Decision], Callable[[Any], None]] = {
            d.Execute: self._execute,
            d.Reject: self._reject,
            d.Kill: self._kill,
            d.CallMeLater: self._call_later,
            d.RegisterProfile: self._register_profile,
            d.RegisterJob: self._register_job,
            d.SetMetadata: self._set_metadata,
            d.SendMessage: self._send_message,
            d.ChangeState: self._change_state,
            d.FinishRegistration: self._finish_registration,
            d.ContinueRegistration: self._continue_registration,
            d.SetResourceState: self._refuse_energy,
            d.QueryEnergy: self._refuse_energy,
        }

    # ------------------------------------------------------------------ the loop

    def run(self, peer: Peer) -> None:
        """Simulate to the end and write the output files; on any failure none appears.

        Raises:
            ImpossibleDecision: the peer decided something impossible.
            SimulationError: jobs wait and nothing is left to happen.
        """
        began = time.perf_counter()
        try:
            self._run(peer)
            self.outputs.finish(
                version=f"batdispatch {__version__} embedded",
                scheduling_seconds=self.scheduling_seconds,
                simulation_seconds=time.perf_counter() - began,
            )
        except BaseException:
            self.outputs.discard()
            raise

    def _run(self, peer: Peer) -> None:
        for event in self._external:
            self._schedule(event.time, self._happen, event)
        if self._external:
            self._schedule(self._external[-1].time, self._tell, e.NoMoreExternalEvents(self._external[-1].time))
        self._told.append(self._begins())
        self._exchange(peer)
        calendar, jobs = self._calendar, self.workload.jobs
        while not self._is_over():
            due = calendar[0][0] if calendar else math.inf
            if self._next_job < len(jobs):
                due = min(due, jobs[self._next_job].submission)
            if due == math.inf:
                raise self._stuck()
            self.now = max(self.now, due)
            self._advance()
            if self._told:
                self._exchange(peer)
        self._told.append(e.SimulationEnds(self.now))
        self._exchange(peer)

    def _advance(self) -> None:
        """Let everything happen that is due by now."""
        now, calendar, jobs = self.now, self._calendar, self.workload.jobs
        while self._next_job < len(jobs) and jobs[self._next_job].submission <= now:
            self._submit_static(jobs[self._next_job])
        while calendar and calendar[0][0] <= now:
            _, _, action, subject = heapq.heappop(calendar)
            action(subject)

    def _exchange(self, peer: Peer) -> None:
        told, self._told = self._told, []
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
        take = self._take
        for decision in reply.decisions:
            at = round(decision.time, 6)
            if at <= self.now:
                take[type(decision)](decision)
            else:
                until = max(until, at)
                self._schedule(at, self._take[type(decision)], decision)
        while until > self.now:
            due = self._calendar[0][0] if self._calendar else math.inf
            if self._next_job < len(self.workload.jobs):
                due = min(due, self.workload.jobs[self._next_job].submission)
            self.now = max(min(due, until), self.now)
            self._advance()

    def _schedule(self, at: float, action: Callable[[Any], None], subject: Any) -> None:
        self._sequence += 1
        heapq.heappush(self._calendar, (at, self._sequence, action, subject))

    def _is_over(self) -> bool:
        return (
            self._next_job == len(self.workload.jobs)
            and not self._alive
            and not self._told
            and not self._registering
            and not self._calls
            and not self._external
        )

    def _stuck(self) -> SimulationError:
        waiting = [record for record in self._records.values() if record.state is JobState.SUBMITTED]
        if self._alive:
            names = ", ".join(record.id for record in waiting[:5]) + (", ..." if len(waiting) > 5 else "")
            return SimulationError(
                f"at {self.now:.6f} s nothing is left to happen, but {self._alive} jobs have not ended: the dispatcher "
                f"neither started nor rejected {names or 'them'}"
            )
        return SimulationError(
            f"at {self.now:.6f} s nothing is left to happen, but the dispatcher never said that it finished registering jobs"
        )

    # ------------------------------------------------------------------ what happens

    def _begins(self) -> e.SimulationBegins:
        options = self.options
        config = {
            "allow_compute_sharing": self._sharing,
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
        self._next_job += 1
        self._submit(
            Job(
                id="w0!" + job.id,
                units=job.units,
                submission=job.submission,
                walltime=round(job.walltime, 6) if job.walltime < math.inf else math.inf,
                profile=job.profile,
                demand=job.demand,
                user=job.user,
                extra=job.extra,
            ),
            tell=True,
        )
        if self._next_job == len(self.workload.jobs):
            self._told.append(e.NoMoreStaticJobs(self.now))

    def _submit(self, job: Job, *, tell: bool) -> None:
        self._records[job.id] = _Record(job)
        self._alive += 1
        if tell:
            profile = None
            if self.options.forward_profiles:
                profile = self._profiles[job.id.partition("!")[0]][job.profile]
            self._told.append(e.JobSubmitted(self.now, job, profile))

    def _tell(self, event: e.Event) -> None:
        self._told.append(event)
        if isinstance(event, e.NoMoreExternalEvents):
            self._external = []

    def _happen(self, event: e.Event) -> None:
        if isinstance(event, e.MachinesUnavailable):
            self._away |= event.hosts.mask
        elif isinstance(event, e.MachinesAvailable):
            self._away &= ~event.hosts.mask
        elif not self.options.forward_unknown_events:
            return
        self._told.append(event)

    def _call(self, at: float) -> None:
        self._calls -= 1
        self._told.append(e.RequestedCall(self.now))

    def _plan(self, record: _Record, due: float | None) -> None:
        """Enter when a running job goes on or ends: by itself, or at its walltime, which wins a tie."""
        limit = record.start + record.job.walltime
        if due is None:
            due = self.now
        due = round(min(due, limit), 6) if min(due, limit) < math.inf else math.inf
        record.due = due
        if due < math.inf:
            self._schedule(due, self._job_due, record)

    def _job_due(self, record: _Record) -> None:
        if record.due != self.now or record.state is not JobState.RUNNING:
            return
        if round(record.start + record.job.walltime, 6) <= self.now:
            self._end(record, JobState.COMPLETED_WALLTIME_REACHED, -1)
            return
        execution = record.execution
        if execution is None:
            code = int(self.workload_profile(record).get("ret", 0))
        else:
            due = execution.resume(self.now)
            self._forward_messages(record, execution)
            if due is not None:
                self._plan(record, due)
                return
            code = execution.return_code
        self._end(record, JobState.COMPLETED_FAILED if code else JobState.COMPLETED_SUCCESSFULLY, code)

    def workload_profile(self, record: _Record) -> Mapping[str, Any]:
        """Return the profile of a job."""
        return self._profiles[record.id.partition("!")[0]][record.profile]

    def _forward_messages(self, record: _Record, execution: Execution) -> None:
        self._told.extend(e.JobMessage(self.now, record.id, message) for message in execution.outgoing)
        execution.outgoing.clear()

    def _end(self, record: _Record, state: JobState, code: int) -> None:
        record.state = state
        job, allocation = record.job, record.allocation
        assert allocation is not None
        self._release(allocation)
        self.outputs.ended(
            job_id=record.id,
            profile=record.profile,
            submission=job.submission,
            units=job.units,
            walltime=job.walltime,
            state=state,
            start=record.start,
            end=self.now,
            allocation=allocation,
            metadata=record.metadata,
        )
        self._told.append(e.JobCompleted(self.now, record.id, state, code, allocation))
        self._forget(record)

    def _forget(self, record: _Record) -> None:
        del self._records[record.id]
        self._finished.add(record.id)
        self._alive -= 1
        self.ended += 1
        if self._progress is not None:
            self._progress(self.ended)

    # ------------------------------------------------------------------ hosts

    def _occupy(self, allocation: Allocation) -> None:
        if self._sharing:
            for host in allocation.ids:
                self._on_host[host] = self._on_host.get(host, 0) + 1
            self._computing = len(self._on_host)
        else:
            self._computing += allocation.size
        self._busy |= allocation.mask
        self._write_states()

    def _release(self, allocation: Allocation) -> None:
        if self._sharing:
            for host in allocation.ids:
                left = self._on_host[host] - 1
                if left:
                    self._on_host[host] = left
                else:
                    del self._on_host[host]
                    self._busy &= ~(1 << host)
            self._computing = len(self._on_host)
        else:
            self._busy &= ~allocation.mask
            self._computing -= allocation.size
        self._write_states()

    def _write_states(self) -> None:
        away = (self._away & ~self._busy).bit_count() if self._away else 0
        self.outputs.states(self.now, self._size - self._computing - away, self._computing)

    # ------------------------------------------------------------------ decisions

    def _waiting(self, job_id: str, what: str) -> _Record:
        record = self._records.get(job_id)
        if record is None or record.state is not JobState.SUBMITTED:
            raise self._refusal(f"{what}: job {job_id} does not wait: it is {self._state_of(job_id)}")
        return record

    def _state_of(self, job_id: str) -> str:
        if job_id in self._records:
            return self._records[job_id].state.value
        return "ended" if job_id in self._finished else "unknown"

    def _refusal(self, text: str) -> ImpossibleDecision:
        return ImpossibleDecision(f"at {self.now:.6f} s: {text}")

    def _execute(self, decision: d.Execute) -> None:
        record = self._waiting(decision.job_id, "EXECUTE_JOB")
        allocation = decision.allocation
        self._check_hosts(record, allocation)
        optional = (decision.executors(), decision.storage, decision.io_job)
        if sum(part is not None for part in optional) > 1:
            raise self._refusal(
                f"EXECUTE_JOB: job {record.id}: only one of mapping, storage mapping and I/O job is allowed"
            )
        if decision.io_job is not None:
            raise self._refusal(
                f"EXECUTE_JOB: job {record.id}: an I/O job's time depends on the platform, which this engine does not simulate"
            )
        self._check_size(record, allocation, decision.executors())
        profile = self.workload_profile(record)
        record.state = JobState.RUNNING
        record.start = self.now
        record.allocation = allocation
        self._occupy(allocation)
        if profile["type"] == "delay":
            self._plan(record, self.now + profile["delay"])
            return
        record.execution = execution = Execution(self._profiles[record.id.partition("!")[0]])
        due = execution.begin(record.profile, self.now)
        self._forward_messages(record, execution)
        self._plan(record, due)

    def _check_hosts(self, record: _Record, allocation: Allocation) -> None:
        wrong = allocation.mask & ~self.machine.compute
        if wrong or not allocation.mask:
            host = hostset.ids(wrong)[0] if wrong else None
            raise self._refusal(
                f"EXECUTE_JOB: job {record.id}: allocation {str(allocation)!r} "
                + ("is empty" if host is None else f"names host {host}, which is no compute host of the platform")
            )
        taken = allocation.mask & self._busy
        if taken and not self._sharing:
            host = hostset.ids(taken)[0]
            holders = [r.id for r in self._records.values() if r.allocation and r.allocation.mask >> host & 1]
            raise self._refusal(
                f"EXECUTE_JOB: job {record.id}: host {host} ({self.machine.hosts[host].name}) is busy with "
                f"{', '.join(holders)} and hosts are not shared (--enable-compute-sharing)"
            )
        if allocation.mask & self._away:
            host = hostset.ids(allocation.mask & self._away)[0]
            raise self._refusal(
                f"EXECUTE_JOB: job {record.id}: host {host} ({self.machine.hosts[host].name}) is unavailable"
            )

    def _check_size(self, record: _Record, allocation: Allocation, mapping: Mapping[int, int] | None) -> None:
        placed = allocation.size if mapping is None else len(mapping)
        if placed == record.job.units:
            return
        profiles = self._profiles[record.id.partition("!")[0]]
        if mapping is None and spreads_freely(profiles[record.profile], profiles):
            return
        raise self._refusal(
            f"EXECUTE_JOB: job {record.id} asked for {record.job.units} resources, "
            f"{'the allocation' if mapping is None else 'the mapping'} gives {placed}"
        )

    def _reject(self, decision: d.Reject) -> None:
        record = self._waiting(decision.job_id, "REJECT_JOB")
        record.state = JobState.REJECTED
        job = record.job
        self.outputs.rejected(
            job_id=record.id,
            profile=record.profile,
            submission=job.submission,
            units=job.units,
            walltime=job.walltime,
            metadata=record.metadata,
        )
        self._forget(record)

    def _kill(self, decision: d.Kill) -> None:
        progress: dict[str, dict[str, Any]] = {}
        unreported = {event.job_id for event in self._told if isinstance(event, e.JobCompleted)}
        for job_id in decision.job_ids:
            record = self._records.get(job_id)
            if record is None and job_id in unreported:
                continue  # It ended by itself, and the peer could not know yet.
            if record is None or record.state is not JobState.RUNNING or record.allocation is None:
                raise self._refusal(f"KILL_JOB: job {job_id} does not run: it is {self._state_of(job_id)}")
            execution = record.execution
            if execution is None:
                length = self.workload_profile(record)["delay"]
                part = min((self.now - record.start) / length, 1.0)
                progress[job_id] = {"profile_name": record.profile, "progress": part}
            else:
                progress[job_id] = execution.progress(self.now)
            self._end(record, JobState.COMPLETED_KILLED, -1)
        self._told.append(e.JobsKilled(self.now, list(decision.job_ids), progress))

    def _call_later(self, decision: d.CallMeLater) -> None:
        at = round(decision.at, 6)
        if not self.now < at < math.inf:
            raise self._refusal(f"CALL_ME_LATER: asked for {decision.at:.6f} s, which is not later than now")
        self._calls += 1
        self._schedule(at, self._call, at)

    def _need_dynamic(self, what: str) -> None:
        if not self.options.dynamic_jobs:
            raise self._refusal(f"{what}: dynamic registration is not enabled (--enable-dynamic-jobs)")

    def _register_profile(self, decision: d.RegisterProfile) -> None:
        self._need_dynamic("REGISTER_PROFILE")
        where = f"{decision.workload}!{decision.name}"
        known = self._profiles.setdefault(decision.workload, {})
        if decision.name in known and known[decision.name] != decision.profile:
            raise self._refusal(f"REGISTER_PROFILE: profile {where} exists already and is another")
        kind = decision.profile.get("type")
        if kind == "composed":
            raise self._refusal(f"REGISTER_PROFILE: profile {where}: Batsim 4.2.1 crashes on dynamic composed profiles")
        try:
            check_profile(decision.name, decision.profile)
            check_timed(decision.name, {decision.name: decision.profile, **known}, set())
        except InputError as problem:
            raise self._refusal(f"REGISTER_PROFILE: {problem}") from None
        known[decision.name] = decision.profile

    def _register_job(self, decision: d.RegisterJob) -> None:
        self._need_dynamic("REGISTER_JOB")
        job = decision.job
        workload, mark, _ = job.id.partition("!")
        if not mark or job.id in self._records or job.id in self._finished:
            raise self._refusal(f"REGISTER_JOB: job {job.id} exists already or is not named workload!name")
        if job.profile not in self._profiles.get(workload, {}):
            raise self._refusal(f"REGISTER_JOB: job {job.id}: workload {workload!r} has no profile {job.profile!r}")
        # The peer's object is its own, as it would be behind a socket.
        copy = Job(
            id=job.id,
            units=job.units,
            submission=job.submission,
            walltime=round(job.walltime, 6) if job.walltime < math.inf else math.inf,
            profile=job.profile,
            demand=job.demand,
            user=job.user,
            extra=dict(job.extra),
        )
        self._submit(copy, tell=self.options.acknowledge_dynamic_jobs)

    def _set_metadata(self, decision: d.SetMetadata) -> None:
        record = self._records.get(decision.job_id)
        if record is None or '"' in decision.metadata:
            raise self._refusal(
                f"SET_JOB_METADATA: job {decision.job_id} is {self._state_of(decision.job_id)}, or the text has double quotes"
            )
        record.metadata = decision.metadata

    def _send_message(self, decision: d.SendMessage) -> None:
        record = self._records.get(decision.job_id)
        if record is None or record.state is not JobState.RUNNING:
            raise self._refusal(
                f"TO_JOB_MSG: job {decision.job_id} does not run: it is {self._state_of(decision.job_id)}"
            )
        if record.execution is not None:
            record.execution.inbox.append(decision.message)
            poll = record.execution.next_poll(self.now)
            if poll < math.inf:
                self._plan(record, poll)

    def _change_state(self, decision: d.ChangeState) -> None:
        record = self._records.get(decision.job_id)
        if record is None or record.allocation is not None or decision.state not in ("SUBMITTED", "RUNNING"):
            raise self._refusal(
                f"CHANGE_JOB_STATE: job {decision.job_id} ({self._state_of(decision.job_id)}) cannot become {decision.state!r}: "
                "only a job that was not executed, and only SUBMITTED or RUNNING"
            )
        record.state = JobState(decision.state)

    def _finish_registration(self, decision: d.FinishRegistration) -> None:
        self._need_dynamic("NOTIFY registration_finished")
        self._registering = False

    def _continue_registration(self, decision: d.ContinueRegistration) -> None:
        self._need_dynamic("NOTIFY continue_registration")
        self._registering = True

    def _refuse_energy(self, decision: d.Decision) -> None:
        raise self._refusal(
            f"{type(decision).__name__}: this engine does not simulate energy; Batsim does when started with --energy"
        )
