"""What a dispatcher answers. `time` is when the decision takes effect, in seconds.

Decisions, like events, refer to nothing that refers to them, so the garbage collector leaves them alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from batdispatch.core.hosts.allocation import Allocation, IoJob
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.events import Aggregate


class Decision(msgspec.Struct, frozen=True, gc=False):
    """Base of all decisions."""

    time: float


class Execute(Decision, frozen=True):
    """Start a job. Batsim accepts at most one of `mapping`, `storage` and `io_job`."""

    job_id: str
    allocation: Allocation
    #: Executor number -> index within the allocation; None: executors along ascending host ids, one each.
    mapping: Mapping[int, int] | None = None
    #: Storage label of the profile -> host id.
    storage: Mapping[str, int] | None = None
    io_job: IoJob | None = None
    #: Profile name -> hosts on which this part of the job runs instead (Batsim 5 only).
    overrides: Mapping[str, Allocation] | None = None
    #: Whether executors fill the cores of one host after the other, without a mapping (Batsim 5 only).
    fill: bool = False

    def executors(self) -> Mapping[int, int] | None:
        """Return the mapping Batsim must be given: `mapping`, or one that follows the units of the allocation.

        Units are numbered along ascending host ids. None when each host carries one unit, Batsim's default.
        """
        if self.mapping is not None or self.allocation.counts is None:
            return self.mapping
        indices = [index for index, count in enumerate(self.allocation.counts) for _ in range(count)]
        return dict(enumerate(indices))


class Reject(Decision, frozen=True):
    """Refuse a waiting job for good. The reason stays with the run; Batsim has no field for it."""

    job_id: str
    reason: str = ""


class Kill(Decision, frozen=True):
    """Stop running jobs."""

    job_ids: list[str]


class CallMeLater(Decision, frozen=True):
    """Ask to be called at `at`, which must be later than `time`."""

    at: float
    #: A name that comes back with the call (Batsim 5); empty: one is made up where the protocol wants it.
    call_id: str = ""


class CallEvery(Decision, frozen=True):
    """Ask to be called at each multiple of `period`, in seconds from 0 s, once a period has passed (Batsim 5 only)."""

    call_id: str
    period: float
    #: How often; None: until StopCalls. The simulation does not wait for such calls.
    times: int | None = None


class StopCalls(Decision, frozen=True):
    """Ask to be called no more by a CallEvery (Batsim 5 only)."""

    call_id: str


class CreateProbe(Decision, frozen=True):
    """Ask for the joules that hosts have burnt, at each multiple of `period`, as CallEvery (Batsim 5 with energy)."""

    probe_id: str
    hosts: Allocation
    period: float
    times: int | None = None
    aggregate: Aggregate = ""


class StopProbe(Decision, frozen=True):
    """Let a probe tell no more (Batsim 5 only)."""

    probe_id: str


class RegisterProfile(Decision, frozen=True):
    """Add a profile to a workload, which is created if needed."""

    workload: str
    name: str
    profile: dict[str, Any]


class RegisterJob(Decision, frozen=True):
    """Submit a job from the dispatcher (needs dynamic jobs to be enabled)."""

    job: Job


class SetResourceState(Decision, frozen=True):
    """Switch hosts to a power state (needs Batsim's energy option)."""

    hosts: Allocation
    state: str
    #: Whether the hosts are turned on or off, for which Batsim 5 has an event of its own; None: some are, some are not.
    switched: bool | None = False


class QueryEnergy(Decision, frozen=True):
    """Ask for the energy consumed so far (needs Batsim's energy option)."""


class SetMetadata(Decision, frozen=True):
    """Write a text into the job's line of the jobs file; no double quotes."""

    job_id: str
    metadata: str


class SendMessage(Decision, frozen=True):
    """Say something to a running job (profile type ``recv``)."""

    job_id: str
    message: str


class ChangeState(Decision, frozen=True):
    """Overwrite a job's state without running it (Batsim 4 only, never to an end state)."""

    job_id: str
    state: str


class FinishRegistration(Decision, frozen=True):
    """No further job will be registered: the simulation may end."""


class ContinueRegistration(Decision, frozen=True):
    """Jobs may be registered again after FinishRegistration."""


class StopSimulation(Decision, frozen=True):
    """End the simulation now, whatever waits (Batsim 5 only); no job may run."""
