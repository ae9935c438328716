"""Who holds what now, and what a dispatcher may do about it.

The ledger applies what the simulator tells, takes decisions through its methods, and refuses the impossible ones with
the job, the host, the resource and the time. Methods named `apply...` are the session's. If an event contradicts what
was said or decided before, they raise `InputError` and change nothing. Methods that decide (`start`, `reject`, `kill`,
...) change the ledger and append to the decisions; all others only look, but for those that concerns alone call
(`line_up`, `shut`).

The ledger knows jobs that come, wait, run and end, hosts that are there or away, and what is idle. Whatever else has a
say is a concern (`core.line.concern`): holds, reservations, dependencies, registrations, power states and so on. The
ledger asks those that have joined, and knows none of them.

Invariants, which `Ledger.check` verifies:

1. A job is in exactly one of: not known yet, registered, blocked, withheld, queued, running, over.
2. What is idle is the machine's capacity less what running jobs use and what concerns keep. What is free is what of
   that is on hosts that are not unavailable.
3. No host and no licence is used beyond its capacity.
4. Unavailable are the hosts that are away, and those that concerns which have joined close; no others.
5. Jobs joined by `parent` form chains without circles.
6. Those of each concern, which stand at the top of its file.
"""

from __future__ import annotations

import math
from collections import ChainMap, Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any, ClassVar

import msgspec

from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.capacity.impossible import why_never
from batdispatch.core.capacity.space import CACHE_SIZE, Space
from batdispatch.core.errors import ImpossibleDecision, InputError, SimulationError
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.job import Job, JobState, Stay
from batdispatch.core.jobs.profiles import spreads_freely
from batdispatch.core.jobs.request import Request
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line import registry
from batdispatch.core.line.concern import GROUP, Concern, Concerns, Rejection
from batdispatch.core.line.idle_capacity import IdleCapacity
from batdispatch.core.line.roll import Roll
from batdispatch.core.line.ticks import DIGITS, DIGITS_OF_MILLISECONDS, TICK, tick_after, tick_before
from batdispatch.core.machine.machine import Machine
from batdispatch.core.machine.storages import Storages

#: Seconds from now to the soonest call that can be asked for. Decisions reach a simulator by messages, which take up to
#: this long on its links, and Batsim aborts when a call's time has passed before the request for it has come.
SOONEST = 1e-3
#: Seconds before its walltime at which a job may be reported to have reached it; printing with microseconds explains a
#: thousandth of this. There is no bound on the other side: a job may start later than it was decided.
EARLY = 1e-3
#: Looking it up in its class each time costs as much as a call.
_SUCCESS = JobState.COMPLETED_SUCCESSFULLY
#: Events after which other hosts are there than before.
_COMINGS = (e.MachinesUnavailable, e.MachinesAvailable)
#: Most jobs that a message lists.
_LISTED = 5


class Ledger:
    """The cluster as a dispatcher sees it. Created from the first event of a simulation.

    Attributes:
        machine: the machine.
        space: how its capacity is counted.
        now: simulated time of the current message, in seconds.
        queue: waiting jobs by id, in order of arrival.
        running: running jobs by id, in order of start.
        roll: which jobs there are, who continues whom, and who waits for whom.
        concerns: what else has a say in starts and ends.
        idle: what of the capacity is idle, and what of that is free.
        plain: True as long as every job submitted has a plain request, so that counting hosts suffices.
        config: Batsim's configuration, see SimulationBegins.
        profiles: workload -> profile name -> profile, as far as the simulator told.
        decisions: those taken since the last call of `take_decisions`.
        rejections: (job id, reason) of every rejected job.
        given_up: how many jobs were started where the placement had to give something up for it, by what that was.
        overlooked: by job: the placement that found no place for it even on the idle machine, and could not prove that
            none is.
        on_start: called as `on_start(stay)` after each start; set by the session for dispatchers that want to know.
    """

    def __init__(self, begins: e.SimulationBegins) -> None:
        self.machine: Machine = begins.machine
        self.space: Space[Any] = space_of(begins.machine)
        self.now = begins.time
        self.queue: dict[str, Job] = {}
        self.running: dict[str, Stay] = {}
        self.roll = Roll()
        self.idle = IdleCapacity(self.space)
        self.plain = True
        self.config = begins.config
        self.profiles = begins.profiles
        self.decisions: list[d.Decision] = []
        self.rejections: list[tuple[str, str]] = []
        self.given_up: Counter[str] = Counter()
        self.overlooked: dict[str, str] = {}
        self.on_start: Callable[[Stay], None] | None = None
        self._storages = Storages(begins.machine)
        #: Request -> why it can never be met.
        self._never: dict[Request, str] = {}
        self.roll.may_grow = bool(begins.config.get("dynamic-jobs-enabled"))
        self.concerns = Concerns(self)
        for kind in announced_concerns():
            kind.of(self)

    # ------------------------------------------------------------------ what the simulator tells

    def apply_submitted(self, event: e.JobSubmitted) -> Job:
        """Put a job into the queue, or among the blocked if it depends on others, and return it.

        On a machine with partitions it then asks for hosts of its own.

        Raises:
            InputError: the job is known already.
        """
        job = event.job
        if job.id in self.roll.ranks or job.id in self.roll.ended:
            raise contradiction(event.time, f"job {job.id} was submitted twice")
        if event.profile is not None:
            workload = job.id.partition("!")[0]
            self.profiles.setdefault(workload, {})[job.profile] = event.profile
        for terms in self.concerns.terms:
            job = terms.admit(job)
        if not job.request.plain:
            self.plain = False
        return job if self.roll.enter(job, self.now) else self.line_up(job)

    def line_up(self, job: Job) -> Job:
        """Put a job into the queue that waits for no other, unless a concern keeps it back; return it as shown."""
        for terms in self.concerns.terms:
            shown = terms.line_up(job)
            if shown is not None:
                return shown
        self.queue[job.id] = job
        return job

    def apply_completed(self, event: e.JobCompleted) -> Stay:
        """Free what a job held, apart from what a concern keeps for its successor, and return its stay.

        Raises:
            InputError: the job is not running, was started on other hosts, or cannot have ended in this state: killed
                without a decision to kill it, at a walltime that it does not have or has not reached yet.
        """
        stay = self.running.get(event.job_id)
        if stay is None:
            state = self.state_of(event.job_id)
            raise contradiction(
                event.time, f"job {event.job_id} was reported complete ({event.state.value}) but is {state}"
            )
        job, told = stay.job, event.allocation
        if told is not None and not told.same_hosts(stay.allocation):
            raise contradiction(
                event.time,
                f"job {job.id} was reported complete on hosts {told}, expected those it was started on, "
                f"{stay.allocation}",
            )
        if event.state is not _SUCCESS:
            self._check_failure(stay, event)
        del self.running[job.id]
        stay.state = event.state
        self.roll.end(job.id, event.state, event.time)
        idle = self.idle
        idle.entry = idle.books.give(idle.entry, job, stay.allocation)
        for concern in self.concerns.active:
            concern.on_end(stay)
        idle.change()
        return stay

    def _check_failure(self, stay: Stay, event: e.JobCompleted) -> None:
        """Check that a running job can have ended without success as a simulator says."""
        job, state = stay.job, event.state
        if state is JobState.COMPLETED_KILLED:
            if job.id not in self.roll.to_kill:
                raise contradiction(
                    event.time, f"job {job.id} was reported killed, expected another end: no decision was to kill it"
                )
        elif state is JobState.COMPLETED_WALLTIME_REACHED:
            walltime = self.roll.enforced(job)
            if walltime == math.inf:
                raise contradiction(
                    event.time,
                    f"job {job.id} was reported to have reached its walltime, expected another end: it has none",
                )
            if event.time < stay.start + walltime - EARLY:
                raise contradiction(
                    event.time,
                    f"job {job.id} was reported to have reached its walltime, expected at "
                    f"{stay.start + walltime:.6f} s: it started at {stay.start:.6f} s and may run for {walltime:g} s",
                )
        elif state is not JobState.COMPLETED_FAILED:
            raise contradiction(
                event.time, f"job {job.id} was reported complete as {state.value}, expected the end of a job that ran"
            )

    def apply(self, event: e.Event) -> None:
        """Apply an event other than a submission and an end: check it, and let the concerns hear of it.

        Hosts that went away take nothing new; what runs there goes on.

        Raises:
            InputError: it contradicts what was said or decided before, or names a host that the platform lacks.
            SimulationError: the simulation ends, and jobs run, wait, or are registered and not acknowledged.
        """
        effect = self._EFFECTS.get(type(event))
        if effect is not None:
            effect(self, event)
        self.concerns.tell(event)
        if type(event) in _COMINGS:
            self.shut()

    def _killed(self, event: e.JobsKilled) -> None:
        """Check and note the answer to a decision to kill; a job of it that still runs cannot have been killed."""
        for job_id in event.job_ids:
            if job_id not in self.roll.to_kill:
                raise contradiction(
                    event.time,
                    f"job {job_id} was reported killed, but no decision was to kill it: it is {self.state_of(job_id)}",
                )
            if job_id in self.running:
                raise contradiction(
                    event.time,
                    f"job {job_id} was reported killed but is {self.state_of(job_id)}, expected its completion before",
                )
        self.roll.answer_kill(event.job_ids)

    def _check_ran(self, event: e.JobMessage) -> None:
        """Check that a job which says something has begun to run."""
        if event.job_id not in self.running and event.job_id not in self.roll.ended:
            raise contradiction(
                event.time,
                f"job {event.job_id} says something but is {self.state_of(event.job_id)}, expected a job that runs",
            )

    def _check_reported(self, hosts: Allocation, what: str) -> None:
        """Check that there are the hosts that an event names; `what`: what it says of them."""
        count = len(self.machine.hosts)
        beyond = hosts.mask >> count
        if beyond:
            host = count + hostset.ids(beyond)[0]
            raise contradiction(
                self.now, f"host {host} was reported {what}, expected hosts of the platform, 0-{count - 1}"
            )

    def _went(self, event: e.MachinesUnavailable) -> None:
        self._check_reported(event.hosts, "gone")
        self.idle.away |= event.hosts.mask

    def _came_back(self, event: e.MachinesAvailable) -> None:
        self._check_reported(event.hosts, "back")
        self.idle.away &= ~event.hosts.mask

    def _switched(self, event: e.ResourceStateChanged) -> None:
        self._check_reported(event.hosts, f"in state {event.state!r}")

    def _check_end(self, event: e.SimulationEnds) -> None:
        """Check that no job is left when the simulation ends."""
        left: dict[str, Mapping[str, object]] = {
            "running": self.running,
            "waiting": self.queue,
            "waiting for other jobs": self.roll.blocked,
            "waiting for hosts that reservations leave to them": self.roll.withheld,
            "registered but not acknowledged": self.roll.registered,
        }
        if any(left.values()) and not self.roll.stopped:
            said = "; ".join(f"{len(jobs)} {what} ({some_of(jobs)})" for what, jobs in left.items() if jobs)
            raise SimulationError(f"the simulation ended at {event.time:.6f} s with jobs left: {said}")

    #: What an event does to the ledger itself, or what is checked with it, before concerns hear of it.
    _EFFECTS: ClassVar[dict[type[e.Event], Callable[[Any, Any], None]]] = {
        e.JobsKilled: _killed,
        e.JobMessage: _check_ran,
        e.MachinesUnavailable: _went,
        e.MachinesAvailable: _came_back,
        e.ResourceStateChanged: _switched,
        e.NoMoreStaticJobs: lambda ledger, event: ledger.roll.close(),
        e.SimulationEnds: _check_end,
    }

    def shut(self) -> None:
        """Let nothing start on hosts that are away or that a concern closes; concerns call it when a mask changes."""
        self.idle.shut(self.idle.away | self.concerns.mask())

    # ------------------------------------------------------------------ questions

    @property
    def free(self) -> Any:
        """What is neither used, held nor unavailable, a value of `space`; worked out once after each change.

        On a large machine of whole hosts this value takes microseconds. `place`, `fits`, `plausible` and
        `free_hosts` do without it.
        """
        return self.idle.free

    @property
    def free_at_once(self) -> Any:
        """What of that a job can use at once: on other hosts a job that is started begins to run later."""
        late = self.concerns.late()
        return self.space.only(self.free, ~late) if late else self.free

    @property
    def unavailable(self) -> int:
        """Mask of the hosts on which nothing may start: they are away, or a concern closes them."""
        return self.idle.unavailable

    @property
    def epoch(self) -> int:
        """Counts the events that changed capacity, starts excepted; a plan made at an equal count still holds."""
        return self.idle.epoch

    @property
    def counts_hosts(self) -> bool:
        """Whether the number of free hosts tells which jobs fit, since all jobs so far asked for any whole hosts."""
        return self.plain and self.machine.exclusive

    @property
    def free_hosts(self) -> int:
        """How many hosts are free, on a machine of whole hosts."""
        return self.idle.books.count(self.idle.there)

    @property
    def idle_hosts(self) -> int:
        """Mask of the hosts that are there, and on which nothing runs or is held."""
        if self.machine.exclusive:
            return int(self.space.nodes(self.free))
        used = self.unavailable
        for stay in self.running.values():
            used |= stay.allocation.mask
        for hosts, _ in self.concerns.held():
            used |= hosts
        return self.machine.compute & ~used

    def fits(self, job: Job) -> bool:
        """Return whether all units of a job find a place now, wherever."""
        return self.idle.books.fits(self.idle.there, job)

    def plausible(self, jobs: Sequence[Job]) -> list[Job]:
        """Return the jobs that pass a quick necessary test of fitting now, in the same order."""
        return self.idle.books.plausible(self.idle.there, jobs)

    def place(self, job: Job) -> Place | None:
        """Return the lowest hosts on which a job fits right now, or None."""
        allocation = self.idle.books.lowest(self.idle.there, job)
        return None if allocation is None else Place(allocation)

    def why_impossible(self, job: Job) -> str:
        """Return why a job can never run on this machine, or an empty text."""
        if job.parent and self.roll.continues_nobody(job):
            return f"continues job {job.parent}, which is unknown"
        why: Callable[[Job], str] = self._unfit
        for terms in self.concerns.terms:
            why = partial(terms.why_never, unfit=why)
        return why(job)

    def _unfit(self, job: Job) -> str:
        """Return why a job's request fits no idle machine, or an empty text."""
        known = self._never.get(job.request)
        if known is None:
            if len(self._never) >= CACHE_SIZE:
                self._never.clear()
            known = self._never[job.request] = why_never(self.space, job)
        return known

    @property
    def blocked(self) -> Mapping[str, Job]:
        """Jobs that came and are not shown yet, by id: they wait for others, or for hosts that reservations open."""
        roll = self.roll
        return ChainMap(roll.blocked, roll.withheld) if roll.withheld else roll.blocked

    def root(self, job_id: str) -> str:
        """Return the id of the logical job that a job belongs to: the first one of the chain of parents."""
        return self.roll.root(job_id)

    def rank(self, job: Job) -> int:
        """Return a job's position in the order of arrival, for ties; it counts jobs that are not over."""
        return self.roll.ranks[job.id]

    def state_of(self, job_id: str) -> str:
        """Return where a job is, in words."""
        if job_id in self.queue:
            return "waiting"
        if job_id in self.running:
            return f"running since {self.running[job_id].start:g} s"
        roll = self.roll
        if job_id in roll.blocked:
            return f"waiting for {', '.join(roll.waits_for(roll.blocked[job_id])) or 'its time'}"
        if job_id in roll.withheld:
            return "waiting for hosts that reservations leave to it"
        if job_id in roll.registered:
            return "registered but not acknowledged yet"
        return "ended or rejected already" if job_id in roll.ended else "unknown"

    # ------------------------------------------------------------------ what a dispatcher decides

    def start(self, job: Job, where: Place | Allocation) -> Stay:
        """Start a waiting job at a place (or on an allocation, where nothing else needs saying).

        A job that continues another may also use what is held for it; what it does not use of that is free again.

        Raises:
            ImpossibleDecision: the job does not wait, a host does not exist, is away or lacks what the job needs, the
                number of units is not the job's, the allocation is not what its request asks for, or a concern forbids
                it.
        """
        place = where if isinstance(where, Place) else Place(where)
        job_id, allocation = job.id, place.allocation
        if self.queue.get(job_id) is not job:
            raise self.refusal(f"job {job_id} cannot start: it is {self.state_of(job_id)}")
        idle, concerns = self.idle, self.concerns.active
        entry = idle.entry
        for concern in concerns:
            entry = concern.may_start(job, allocation, entry)
        # What is cleared at once needs no closer look at its hosts.
        left = None if idle.unavailable else idle.books.cleared(entry, job, allocation)
        if left is None:
            self._check_hosts(job, allocation)
        mapping = place.mapping
        if (mapping is not None or allocation.units != job.request.units) and not self._units_agree(
            job, allocation, mapping
        ):
            raise self.refusal(
                f"job {job.id} cannot start on {allocation}: it has {job.units} units, the allocation places "
                f"{allocation.units if mapping is None else len(mapping)}"
            )
        if not job.request.plain and (wrong := self.space.mismatch(job, allocation)):
            raise self.refusal(f"job {job.id} cannot start on {allocation}: {wrong}")
        if mapping is not None or place.storage is not None or place.io_job is not None:
            self._check_extras(job, place)
        if left is None:
            lacking = idle.books.lacking(entry, job, allocation)
            if lacking is not None:
                raise self._over_capacity(job, allocation, *lacking)
            left = idle.books.take(entry, job, allocation)
        del self.queue[job_id]
        stay = self.running[job_id] = Stay(job=job, start=self.now, allocation=allocation, rank=self.roll.ranks[job_id])
        idle.entry = left
        idle.refresh()
        for concern in concerns:
            concern.on_start(stay)
        storage = place.storage
        if storage is None and self.machine.storage and mapping is None and place.io_job is None:
            storage = self._storage_of(job, allocation)
        if place.given_up:
            self.given_up.update(place.given_up)
        execute = d.Execute(self.now, job_id, allocation, mapping, storage, place.io_job)
        if not concerns or self.concerns.let_through(execute) is not None:
            self.roll.begin(job_id, self.now)
            self.decisions.append(execute)
        if self.on_start is not None:
            self.on_start(stay)
        return stay

    def _check_hosts(self, job: Job, allocation: Allocation) -> None:
        """Check that there are hosts, that they run jobs, and that none is away.

        Raises:
            ImpossibleDecision: it is not so.
        """
        if not allocation.mask or allocation.mask & self.machine.compute != allocation.mask:
            raise self._wrong_hosts(job, allocation)
        if allocation.mask & self.unavailable:
            host = hostset.ids(allocation.mask & self.unavailable)[0]
            raise self.refusal(f"job {job.id} cannot start on {allocation}: {self.machine.label(host)} is unavailable")

    def _storage_of(self, job: Job, allocation: Allocation) -> Mapping[str, int] | None:
        """Return where the storage of a job is that was placed without a word on it; see `core.machine.storages`.

        Batsim 4 takes no such mapping beside the one that puts several units on a host, and then guesses by itself.
        """
        if allocation.counts is not None:
            return None
        workload = job.id.partition("!")[0]
        return self._storages.mapping(workload, job.profile, self.profiles.get(workload, {}), job.request.io_nodes)

    def _check_extras(self, job: Job, place: Place) -> None:
        """Check what a place says beyond its allocation.

        Raises:
            ImpossibleDecision: Batsim would refuse it.
        """
        allocation, mapping = place.allocation, place.mapping
        if mapping is not None and not self.machine.units_are_hosts(job.request):
            placed = Counter(mapping.values())
            if [count for _, count in allocation.per_host()] != [placed[index] for index in range(allocation.size)]:
                raise self.refusal(
                    f"job {job.id} cannot start on {allocation}: the mapping does not put as many units on each host "
                    "as the allocation counts"
                )
        mapped = mapping is not None or allocation.counts is not None
        if mapped + (place.storage is not None) + (place.io_job is not None) > 1:
            raise self.refusal(f"job {job.id}: Batsim accepts only one of mapping, storage mapping and I/O job")
        for label, host in (place.storage or {}).items():
            if not any(disk.id == host for disk in self.machine.storage):
                raise self.refusal(
                    f"job {job.id}: storage {label!r} is mapped to host {host}, which is no storage host"
                )

    def amend(
        self,
        job: Job,
        *,
        walltime: float | None = None,
        submission: float | None = None,
        rank: int | None = None,
        request: Request | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Job:
        """Put a waiting job with other values of what is given in its place, and return it.

        For layers: what is planned with may differ from what the simulator enforces, and a further attempt may keep the
        place in the queue that the job had. The job that was submitted stays as it is.
        """
        if self.queue.get(job.id) is not job:
            raise self.refusal(f"job {job.id} cannot be amended: it is {self.state_of(job.id)}")
        if rank is not None:
            self.roll.ranks[job.id] = rank
        if walltime is not None:
            self.roll.limits.setdefault(job.id, job.walltime)
        changed = msgspec.structs.replace(
            job,
            walltime=job.walltime if walltime is None else walltime,
            submission=job.submission if submission is None else submission,
            request=job.request if request is None else request,
            extra=job.extra if extra is None else dict(extra),
        )
        self.plain &= changed.request.plain
        self.queue[job.id] = changed
        return changed

    def reject(self, job: Job, reason: str) -> None:
        """Refuse a waiting job for good."""
        if not isinstance(reason, str):
            raise self.refusal(f"job {job.id} cannot be rejected for {reason!r}: expected a text")
        if self.queue.get(job.id) is not job:
            raise self.refusal(f"job {job.id} cannot be rejected: it is {self.state_of(job.id)}")
        del self.queue[job.id]
        if self.concerns.active:
            self.concerns.tell(Rejection(job))
        self.roll.end(job.id, JobState.REJECTED, self.now)
        self.rejections.append((job.id, reason))
        self.decisions.append(d.Reject(self.now, job.id, reason))

    def kill(self, jobs: Iterable[Job]) -> None:
        """Stop running jobs; JobCompleted and JobsKilled with their progress follow."""
        listed = list(dict.fromkeys(job.id for job in jobs))
        for job_id in listed:
            if job_id not in self.running:
                raise self.refusal(f"job {job_id} cannot be killed: it is {self.state_of(job_id)}")
        if not listed:
            return
        self.roll.to_kill.update(listed)
        decision = self.concerns.let_through(d.Kill(self.now, listed))
        if decision is not None:
            self.decisions.append(decision)

    def wake_at(self, time: float, *, at_once: bool = False) -> float:
        """Ask to be called at `time`, in seconds, later than now; return the moment at which the call is to come, in s.

        That is the first moment from `time` on at which a call can come (`call_from`), and at the soonest a millisecond
        (`SOONEST`) from now. Whoever compares the clock with the moment of a call compares it with what was returned.

        Each call that is asked for comes, also a second one for the same moment: ask once for each moment.

        Args:
            time: s.
            at_once: the call may come sooner than in a millisecond, if the simulator says that it can.
        """
        if not self.now < time < math.inf:
            raise self.refusal(f"a call at {time:.6f} s was asked for, which is not later than now")
        notice = TICK if at_once and self.config.get("calls-at-once") else SOONEST
        at = self.call_from(max(tick_after(time), round(self.now + notice, 6)))
        self.decisions.append(d.CallMeLater(self.now, at))
        return at

    def call_from(self, time: float) -> float:
        """Return the first moment from a time on at which a call can come, in seconds."""
        return tick_after(time, self._call_digits())

    def call_by(self, time: float) -> float:
        """Return the last moment until a time at which a call can come, in seconds."""
        return tick_before(time, self._call_digits())

    def _call_digits(self) -> int:
        return DIGITS_OF_MILLISECONDS if self.config.get("calls-in-milliseconds") else DIGITS

    def take_decisions(self) -> list[d.Decision]:
        """Return the decisions taken since the last call."""
        taken = self.decisions
        self.decisions = []
        return taken

    # ------------------------------------------------------------------ invariants

    def check(self) -> None:
        """Verify the invariants that this file opens with; for tests, linear in jobs times hosts.

        Raises:
            AssertionError: one does not hold.
        """
        roll = self.roll
        here = [*self.queue, *self.running, *roll.blocked, *roll.withheld]
        ids = [*here, *roll.registered, *roll.ended]
        assert len(ids) == len(set(ids)), "a job is in two places"
        assert set(roll.ranks) == set(here), "ranks are kept of other jobs"
        space, idle = self.space, self.concerns.check(self.space.whole())
        for stay in self.running.values():
            assert space.lacking(idle, stay.job, stay.allocation) is None, f"{stay} is beyond capacity"
            idle = space.take(idle, stay.job, stay.allocation)
        assert space.same(idle, self.idle.books.value(self.idle.entry)), "what is idle does not add up"
        assert self.unavailable == self.idle.away | self.concerns.mask(), "hosts are closed by nobody, or open again"
        assert space.same(self.free, space.only(idle, ~self.unavailable)), "what is free does not add up"
        for job_id in roll.parents:
            seen = {job_id}
            while (job_id := roll.parents.get(job_id, "")) and job_id not in seen:
                seen.add(job_id)
            assert not job_id, "a job continues itself"

    # ------------------------------------------------------------------ refusals

    def _units_agree(self, job: Job, allocation: Allocation, mapping: Mapping[int, int] | None) -> bool:
        if mapping is not None:
            return sorted(mapping) == list(range(job.units)) and set(mapping.values()) <= set(range(allocation.size))
        workload = job.id.partition("!")[0]
        profile = self.profiles.get(workload, {}).get(job.profile, {})
        return spreads_freely(profile, self.profiles.get(workload, {}))

    def _wrong_hosts(self, job: Job, allocation: Allocation) -> ImpossibleDecision:
        if not allocation.mask:
            return self.refusal(f"job {job.id} cannot start on an empty allocation")
        host = hostset.ids(allocation.mask & ~self.machine.compute)[0]
        if host < len(self.machine.hosts):
            return self.refusal(
                f"job {job.id} cannot start on {allocation}: {self.machine.label(host)} is a storage host"
            )
        return self.refusal(
            f"job {job.id} cannot start on {allocation}: host {host} is outside the platform, "
            f"whose hosts are 0-{len(self.machine.hosts) - 1}"
        )

    def _over_capacity(
        self, job: Job, allocation: Allocation, host: int, resource: str, free: int, needed: int
    ) -> ImpossibleDecision:
        if host < 0:
            return self.refusal(
                f"job {job.id} cannot start: the machine has {free} {resource} free, the job needs {needed}"
            )
        holders = [other.job.id for other in self.running.values() if other.allocation.mask >> host & 1]
        holders += [
            f"the successor of {job_id}"
            for hosts, job_id in self.concerns.held()
            if hosts >> host & 1 and job_id not in holders
        ]
        return self.refusal(
            f"job {job.id} cannot start on {allocation}: {self.machine.label(host)} has {free} {resource} free, the "
            f"job needs {needed} there" + (f" (held by {some_of(holders)})" if holders else "")
        )

    def refusal(self, text: str) -> ImpossibleDecision:
        """Return the refusal of a decision, to be raised."""
        return ImpossibleDecision(f"at {self.now:.6f} s: {text}")


def contradiction(time: float, text: str) -> InputError:
    """Return what is wrong with an event, to be raised."""
    return InputError(text, place=f"event at {time:.6f} s")


def some_of(ids: Iterable[str]) -> str:
    """Return some ids in words, few enough for a message."""
    listed = list(ids)
    return ", ".join(listed[:_LISTED]) + (", ..." if len(listed) > _LISTED else "")


class _Offer:
    """A name of a concern that is asked of the ledger as well."""

    def __init__(self, kind: type[Concern], name: str) -> None:
        self.kind, self._name = kind, name

    def __get__(self, ledger: Ledger | None, owner: type[Ledger]) -> Any:
        if ledger is None:
            return getattr(self.kind, self._name, self)
        return getattr(self.kind.of(ledger), self._name)

    def __set__(self, ledger: Ledger, value: object) -> None:
        setattr(self.kind.of(ledger), self._name, value)


@cache
def announced_concerns() -> tuple[type[Concern], ...]:
    """Return the concerns that packages announce, by name; from now on every ledger can be asked for what they offer.

    Raises:
        InputError: one cannot be loaded, is no concern, or offers a name that is taken.
    """
    kinds = tuple(registry.find(GROUP, name, Concern, "concern") for name in registry.names(GROUP))
    for kind in kinds:
        for name in kind.offers:
            taken = vars(Ledger).get(name)
            if taken is not None:
                other = f"concern {taken.kind.__name__}" if isinstance(taken, _Offer) else "the ledger"
                raise InputError(f"concern {kind.__name__} offers {name!r}, which {other} has already")
            setattr(Ledger, name, _Offer(kind, name))
    return kinds
