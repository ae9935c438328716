"""Who holds what now, and what a dispatcher may do about it.

The ledger applies what the simulator tells, takes decisions through its methods, and refuses the impossible ones with
the job, the host, the resource and the time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from batdispatch.core import decisions as d
from batdispatch.core import events as e
from batdispatch.core import hostset
from batdispatch.core.allocation import Allocation
from batdispatch.core.errors import ImpossibleDecision, InputError
from batdispatch.core.filling import first_fit
from batdispatch.core.job import Job, JobState
from batdispatch.core.machine import Machine
from batdispatch.core.space import Space, space_of

#: Resolution of a simulator's clock, in seconds.
TICK = 1e-6


class Ledger:
    """The cluster as a dispatcher sees it. Created from the first event of a simulation.

    Attributes:
        machine: the machine.
        space: how its free capacity is represented.
        now: simulated time of the current message, in seconds.
        queue: waiting jobs by id, in order of arrival.
        running: running jobs by id, in order of start.
        free: what is neither allocated nor unavailable (a value of `space`).
        unavailable: mask of the hosts that are away.
        epoch: counts the events that changed capacity, starts excepted; a plan made at an equal count still holds.
        config: Batsim's configuration, see SimulationBegins.
        profiles: workload -> profile name -> profile, as far as the simulator told.
        static_jobs_done: True when no job will come any more but by registration.
    """

    def __init__(self, begins: e.SimulationBegins) -> None:
        self.machine: Machine = begins.machine
        self.space: Space[Any] = space_of(begins.machine)
        self.now = begins.time
        self.queue: dict[str, Job] = {}
        self.running: dict[str, Job] = {}
        self.free: Any = self.space.whole()
        self.unavailable = 0
        self.epoch = 0
        self.config = begins.config
        self.profiles = begins.profiles
        self.static_jobs_done = False
        #: (job id, reason) of every rejected job.
        self.rejections: list[tuple[str, str]] = []
        #: Called as `on_start(job)` after each start, for dispatchers that keep a plan.
        self.on_start: Callable[[Job], None] | None = None
        #: Called as `on_registered(job)` when a job enters the queue that the simulator will not announce.
        self.on_registered: Callable[[Job], None] | None = None
        #: Decisions taken since the last call of `take_decisions`.
        self._decisions: list[d.Decision] = []
        self._idle: Any = self.free
        self._rank = 0
        #: Jobs registered by the dispatcher that the simulator has yet to acknowledge.
        self._registered: set[str] = set()
        self._ended: set[str] = set()

    # ------------------------------------------------------------------ what the simulator tells

    def apply_submitted(self, event: e.JobSubmitted) -> Job:
        """Put a job into the queue and return it.

        Raises:
            InputError: the job is known already.
        """
        job = event.job
        if job.id in self.queue or job.id in self.running or job.id in self._ended:
            raise InputError(f"job {job.id} was submitted twice", place=f"time {event.time:g}")
        if event.profile is not None:
            workload = job.id.partition("!")[0]
            self.profiles.setdefault(workload, {})[job.profile] = event.profile
        job.rank = self._rank
        self._rank += 1
        job.state = JobState.SUBMITTED
        self.queue[job.id] = job
        self._registered.discard(job.id)
        return job

    def why_impossible(self, job: Job) -> str:
        """Return why a job can never run on this machine, or an empty text; resolves the job's request.

        Called for every job before a dispatcher may place it.
        """
        try:
            job.request = self.machine.resolve(job.demand)
        except InputError as problem:
            return str(problem)
        if not self.space.fits(self.space.whole(), job):
            what, most = "hosts", self.machine.size
            if job.request is not None:
                amounts = zip(self.machine.resources, job.request, strict=True)
                what = "units of " + ", ".join(f"{amount} {name}" for name, amount in amounts if amount)
                most = int(self.machine.room(self.space.whole(), job.request).sum())
            return f"asks for {job.units} {what}, the whole machine has room for {most}"
        return ""

    def apply_completed(self, event: e.JobCompleted) -> Job:
        """Free what a job held and return it.

        Raises:
            InputError: the job is not running.
        """
        job = self.running.pop(event.job_id, None)
        if job is None:
            state = self._state_of(event.job_id)
            raise InputError(f"job {event.job_id} was reported complete but is {state}", place=f"time {event.time:g}")
        assert job.allocation is not None
        job.state = event.state
        self._ended.add(job.id)
        self._idle = self.space.give(self._idle, job, job.allocation)
        self._refresh()
        self.epoch += 1
        return job

    def apply_unavailable(self, hosts: Allocation) -> None:
        """Take hosts away: nothing new may start there; what runs there goes on."""
        self.unavailable |= hosts.mask
        self._refresh()
        self.epoch += 1

    def apply_available(self, hosts: Allocation) -> None:
        """Bring hosts back."""
        self.unavailable &= ~hosts.mask
        self._refresh()
        self.epoch += 1

    def _refresh(self) -> None:
        self.free = self._idle if not self.unavailable else self.space.only(self._idle, ~self.unavailable)

    def _state_of(self, job_id: str) -> str:
        if job_id in self.queue:
            return "waiting"
        if job_id in self.running:
            return f"running since {self.running[job_id].start:g} s"
        if job_id in self._registered:
            return "registered but not acknowledged yet"
        return "ended or rejected already" if job_id in self._ended else "unknown"

    # ------------------------------------------------------------------ what a dispatcher decides

    def place(self, job: Job) -> Allocation | None:
        """Return the lowest hosts on which a job fits right now, or None."""
        return first_fit(self.space, self.free, job)

    def start(
        self,
        job: Job,
        allocation: Allocation,
        *,
        mapping: Mapping[int, int] | None = None,
        storage: Mapping[str, int] | None = None,
        io_job: d.IoJob | None = None,
    ) -> None:
        """Start a waiting job on an allocation.

        Raises:
            ImpossibleDecision: the job does not wait, a host does not exist, is away or lacks what the job needs, or
                the number of units is not the job's.
        """
        if self.queue.get(job.id) is not job:
            raise self._refusal(f"job {job.id} cannot start: it is {self._state_of(job.id)}")
        if allocation.mask & ~self.machine.compute or not allocation.mask:
            raise self._wrong_hosts(job, allocation)
        if allocation.mask & self.unavailable:
            host = hostset.ids(allocation.mask & self.unavailable)[0]
            raise self._refusal(f"job {job.id} cannot start on {allocation}: {self._host(host)} is unavailable")
        if (mapping is not None or allocation.units != job.units) and not self._units_agree(job, allocation, mapping):
            raise self._refusal(
                f"job {job.id} cannot start on {allocation}: it has {job.units} units, the allocation places "
                f"{allocation.units if mapping is None else len(mapping)}"
            )
        if mapping is not None and job.request is not None:
            placed = Counter(mapping.values())
            if [count for _, count in allocation.per_host()] != [placed[index] for index in range(allocation.size)]:
                raise self._refusal(
                    f"job {job.id} cannot start on {allocation}: the mapping does not put as many units on each host "
                    "as the allocation counts"
                )
        if (mapping is not None or allocation.counts is not None) + (storage is not None) + (io_job is not None) > 1:
            raise self._refusal(f"job {job.id}: Batsim accepts only one of mapping, storage mapping and I/O job")
        for label, host in (storage or {}).items():
            if not any(disk.id == host for disk in self.machine.storage):
                raise self._refusal(
                    f"job {job.id}: storage {label!r} is mapped to host {host}, which is no storage host"
                )
        lacking = self.space.lacking(self._idle, job, allocation)
        if lacking is not None:
            raise self._over_capacity(job, allocation, *lacking)
        del self.queue[job.id]
        self.running[job.id] = job
        job.state = JobState.RUNNING
        job.start = self.now
        job.allocation = allocation
        self._idle = self.space.take(self._idle, job, allocation)
        self._refresh()
        self._decisions.append(d.Execute(self.now, job.id, allocation, mapping, storage, io_job))
        if self.on_start is not None:
            self.on_start(job)

    def reject(self, job: Job, reason: str) -> None:
        """Refuse a waiting job for good."""
        if not isinstance(reason, str):
            raise self._refusal(f"job {job.id} cannot be rejected for {reason!r}: expected a text")
        if self.queue.get(job.id) is not job:
            raise self._refusal(f"job {job.id} cannot be rejected: it is {self._state_of(job.id)}")
        del self.queue[job.id]
        job.state = JobState.REJECTED
        self._ended.add(job.id)
        self.rejections.append((job.id, reason))
        self._decisions.append(d.Reject(self.now, job.id, reason))

    def kill(self, jobs: Iterable[Job]) -> None:
        """Stop running jobs; JobCompleted and JobsKilled with their progress follow."""
        listed = list(dict.fromkeys(job.id for job in jobs))
        for job_id in listed:
            if job_id not in self.running:
                raise self._refusal(f"job {job_id} cannot be killed: it is {self._state_of(job_id)}")
        if listed:
            self._decisions.append(d.Kill(self.now, listed))

    def wake_at(self, time: float) -> None:
        """Ask to be called at `time`, in seconds, later than now; simulators count microseconds."""
        if not self.now < time < math.inf:
            raise self._refusal(f"a call at {time:.6f} s was asked for, which is not later than now")
        self._decisions.append(d.CallMeLater(self.now, max(time, self.now + TICK)))

    def register_profile(self, workload: str, name: str, profile: dict[str, Any]) -> None:
        """Add a profile to a workload."""
        self._need("dynamic-jobs-enabled", "registering profiles", "--enable-dynamic-jobs")
        if profile.get("type") == "composed":
            raise self._refusal(
                f"profile {workload}!{name}: Batsim 4.2 crashes on composed profiles registered dynamically: flatten it"
            )
        known = self.profiles.setdefault(workload, {})
        if known.get(name, profile) != profile:
            raise self._refusal(f"profile {workload}!{name} is registered already and is another")
        known[name] = profile
        self._decisions.append(d.RegisterProfile(self.now, workload, name, profile))

    def register_job(self, job: Job) -> None:
        """Submit a job from the dispatcher.

        It enters the queue when the simulator acknowledges it or, where it does not, at once.

        Raises:
            ImpossibleDecision: registration is not enabled, the id is taken or malformed, or the job can never run.
        """
        self._need("dynamic-jobs-enabled", "registering jobs", "--enable-dynamic-jobs")
        if "!" not in job.id:
            raise self._refusal(f"job {job.id}: its id must be workload!name")
        if job.id in self._registered or self._state_of(job.id) != "unknown":
            raise self._refusal(f"job {job.id} cannot be registered: it is {self._state_of(job.id)}")
        if job.units < 1 or not job.walltime > 0:
            raise self._refusal(
                f"job {job.id} cannot be registered: it has {job.units} units and a walltime of {job.walltime:g} s, "
                "expected at least 1 and more than 0"
            )
        reason = self.why_impossible(job)
        if reason:
            raise self._refusal(f"job {job.id} cannot be registered: it {reason}")
        self._decisions.append(d.RegisterJob(self.now, job))
        if self.config.get("dynamic-jobs-acknowledged"):
            self._registered.add(job.id)
        else:
            self.apply_submitted(e.JobSubmitted(self.now, job))
            if self.on_registered is not None:
                self.on_registered(job)

    def set_state(self, hosts: Allocation, state: str) -> None:
        """Switch hosts to a power state (needs Batsim's energy option)."""
        if hosts.mask >> len(self.machine.hosts):
            raise self._refusal(f"hosts {hosts} are not all in the platform, which has 0-{len(self.machine.hosts) - 1}")
        self._decisions.append(d.SetResourceState(self.now, hosts, state))

    def query_energy(self) -> None:
        """Ask for the energy consumed so far (needs Batsim's energy option)."""
        self._decisions.append(d.QueryEnergy(self.now))

    def set_metadata(self, job: Job, text: str) -> None:
        """Write a text into the job's line of the jobs file."""
        if job.id not in self.queue and job.id not in self.running and job.id not in self._registered:
            raise self._refusal(f"job {job.id} cannot be given metadata: it is {self._state_of(job.id)}")
        if '"' in text:
            raise self._refusal(f"job {job.id}: metadata must not contain double quotes")
        self._decisions.append(d.SetMetadata(self.now, job.id, text))

    def send_message(self, job: Job, message: str) -> None:
        """Say something to a running job."""
        if job.id not in self.running:
            raise self._refusal(f"job {job.id} cannot be told anything: it is {self._state_of(job.id)}")
        self._decisions.append(d.SendMessage(self.now, job.id, message))

    def change_state(self, job: Job, state: str) -> None:
        """Overwrite a waiting job's state (Batsim 4); end states are refused as Batsim does."""
        if state not in (JobState.SUBMITTED, JobState.RUNNING) or job.id not in self.queue:
            raise self._refusal(
                f"job {job.id}: its state cannot become {state!r}: only SUBMITTED or RUNNING, of a waiting job"
            )
        self._decisions.append(d.ChangeState(self.now, job.id, state))

    def finish_registration(self) -> None:
        """Say that no further job will be registered."""
        self._need("dynamic-jobs-enabled", "finishing registration", "--enable-dynamic-jobs")
        self._decisions.append(d.FinishRegistration(self.now))

    def continue_registration(self) -> None:
        """Say that jobs may be registered again."""
        self._need("dynamic-jobs-enabled", "continuing registration", "--enable-dynamic-jobs")
        self._decisions.append(d.ContinueRegistration(self.now))

    def take_decisions(self) -> list[d.Decision]:
        """Return the decisions taken since the last call."""
        taken = self._decisions
        self._decisions = []
        return taken

    # ------------------------------------------------------------------ refusals

    def _need(self, key: str, what: str, option: str) -> None:
        if not self.config.get(key):
            raise self._refusal(f"{what} is not enabled in this simulation: Batsim 4 needs {option}, 5 the handshake")

    def _units_agree(self, job: Job, allocation: Allocation, mapping: Mapping[int, int] | None) -> bool:
        if mapping is not None:
            return sorted(mapping) == list(range(job.units)) and set(mapping.values()) <= set(range(allocation.size))
        workload = job.id.partition("!")[0]
        profile = self.profiles.get(workload, {}).get(job.profile, {})
        return spreads_freely(profile, self.profiles.get(workload, {}))

    def _wrong_hosts(self, job: Job, allocation: Allocation) -> ImpossibleDecision:
        if not allocation.mask:
            return self._refusal(f"job {job.id} cannot start on an empty allocation")
        host = hostset.ids(allocation.mask & ~self.machine.compute)[0]
        if host < len(self.machine.hosts):
            return self._refusal(f"job {job.id} cannot start on {allocation}: {self._host(host)} is a storage host")
        return self._refusal(
            f"job {job.id} cannot start on {allocation}: host {host} is outside the platform, "
            f"whose hosts are 0-{len(self.machine.hosts) - 1}"
        )

    def _over_capacity(
        self, job: Job, allocation: Allocation, host: int, resource: str, free: int, needed: int
    ) -> ImpossibleDecision:
        holders = [
            other.id for other in self.running.values() if other.allocation and other.allocation.mask >> host & 1
        ]
        shown = ", ".join(holders[:5]) + (", ..." if len(holders) > 5 else "")
        return self._refusal(
            f"job {job.id} cannot start on {allocation}: {self._host(host)} has {free} {resource} free, the job needs "
            f"{needed} there" + (f" (held by {shown})" if holders else "")
        )

    def _host(self, host: int) -> str:
        return f"host {host} ({self.machine.hosts[host].name})"

    def _refusal(self, text: str) -> ImpossibleDecision:
        return ImpossibleDecision(f"at {self.now:.6f} s: {text}")


def spreads_freely(profile: Mapping[str, Any], profiles: Mapping[str, Mapping[str, Any]], depth: int = 20) -> bool:
    """Return whether Batsim lets a job with this profile run on any number of hosts.

    True for parallel_homogeneous_total and for sequences of only those.
    """
    if profile.get("type") == "composed" and depth:
        parts = profile.get("seq") or ()
        return bool(parts) and all(spreads_freely(profiles.get(name, {}), profiles, depth - 1) for name in parts)
    return profile.get("type") == "parallel_homogeneous_total"
