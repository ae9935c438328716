"""What an engine simulates: jobs, hosts, the calendar of what will happen, and what the peer has yet to be told.

The loop (`batdispatch.engines.embedded`) lets time pass in it, and the peer's decisions (`batdispatch.engines.orders`)
change it.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from batdispatch.core import events as e
from batdispatch.core.allocation import Allocation
from batdispatch.core.job import Job, JobState
from batdispatch.core.machine import Machine
from batdispatch.engines.execution import Execution
from batdispatch.engines.occupancy import Occupancy
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions, Record
from batdispatch.engines.timing import PlatformTimer

if TYPE_CHECKING:
    from batdispatch.inputs.workloads import Workload


class World:
    """The state of one simulation.

    Attributes:
        now: simulated time in seconds.
        profiles: workload -> profile name -> profile, those that were registered included.
        hosts: which hosts compute, are idle, or are away.
        told: events that the next message to the peer will hold.
        records: jobs that wait or run, by id.
        finished: ids of the jobs that are over.
        ended: number of jobs that are over.
        calls: number of calls that the peer asked for and that are to come.
        registering: whether the peer may still register jobs.
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
    ) -> None:
        self.machine = machine
        self.outputs = outputs
        self.options = options
        self.timer = timer
        self._progress = progress
        self.profiles: dict[str, dict[str, dict[str, Any]]] = {"w0": workload.profiles}
        sharing = options.compute_sharing
        self.hosts = Occupancy(machine, sharing=not machine.exclusive if sharing is None else sharing)
        self.now = 0.0
        self.told: list[e.Event] = []
        self.records: dict[str, Record] = {}
        self.finished: set[str] = set()
        self.ended = 0
        self.calls = 0
        self.registering = options.dynamic_jobs
        self.calendar: list[tuple[float, int, Callable[[Any], None], Any]] = []
        self._sequence = 0

    def schedule(self, at: float, action: Callable[[Any], None], subject: Any) -> None:
        """Let ``action(subject)`` happen at `at`, in seconds; what is entered first happens first."""
        self._sequence += 1
        heapq.heappush(self.calendar, (at, self._sequence, action, subject))

    def submit(self, job: Job, *, tell: bool) -> None:
        """Enter a job, and tell the peer unless it registered the job itself and wants no acknowledgement."""
        self.records[job.id] = Record(job)
        if tell:
            profile = None
            if self.options.forward_profiles:
                profile = self.profiles[job.id.partition("!")[0]][job.profile]
            self.told.append(e.JobSubmitted(self.now, job, profile))

    def call(self, call_id: str) -> None:
        """Answer a CALL_ME_LATER."""
        self.calls -= 1
        self.told.append(e.RequestedCall(self.now, call_id))

    def occupy(self, allocation: Allocation) -> None:
        """Let a job's hosts compute."""
        self.hosts.occupy(allocation)
        self._write_states()

    def plan(self, record: Record, due: float | None) -> None:
        """Enter when a running job goes on or ends: by itself, or at its walltime, which wins a tie."""
        limit = record.start + record.walltime
        if due is None:
            due = self.now
        due = round(min(due, limit), 6) if min(due, limit) < math.inf else math.inf
        record.due = due
        if due < math.inf:
            self.schedule(due, self.job_due, record)

    def job_due(self, record: Record) -> None:
        """Let a running job go on or end, unless this entry of the calendar is stale."""
        if record.due != self.now or record.state is not JobState.RUNNING:
            return
        if round(record.start + record.walltime, 6) <= self.now:
            self.end(record, JobState.COMPLETED_WALLTIME_REACHED, -1)
            return
        execution = record.execution
        if execution is None:
            code = int(self.profile_of(record).get("ret", 0))
        else:
            due = execution.resume(self.now)
            self.forward_messages(record, execution)
            if due is not None:
                self.plan(record, due)
                return
            code = execution.return_code
        self.end(record, JobState.COMPLETED_FAILED if code else JobState.COMPLETED_SUCCESSFULLY, code)

    def profile_of(self, record: Record) -> Mapping[str, Any]:
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
        self.ended += 1
        if self._progress is not None:
            self._progress(self.ended)

    def _write_states(self) -> None:
        self.outputs.states(self.now, self.hosts.idle, self.hosts.computing)
