"""Who holds what now, and what a dispatcher may do about it.

The ledger applies what the simulator tells, takes decisions through its methods, and refuses the impossible ones with
the job, the host, the resource and the time. Methods named `apply_...` and `check_...` are the session's. If an event
contradicts what was said or decided before, they raise `InputError` and change nothing. Methods that decide (`start`,
`reject`, `kill`, `hold`, ...) change the ledger and append to the decisions; all others only look.

Invariants, which `Ledger.check` verifies:

1. A job is in exactly one of: not known yet, registered, blocked, withheld, queued, running, over.
2. `free` is the machine's capacity less what running jobs use and what holds keep, and nothing on hosts that are away.
3. No host and no licence is used beyond its capacity.
4. Each hold belongs to a job that runs, or that has ended and whose successor has not started yet.
5. Jobs joined by `parent` form chains without circles.
"""

from __future__ import annotations

import math
from collections import ChainMap, Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from batdispatch.core.capacity.books import Snapshot, books_of
from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.capacity.impossible import why_never
from batdispatch.core.capacity.licences import LicensedSpace
from batdispatch.core.capacity.space import CACHE_SIZE, Space
from batdispatch.core.errors import ImpossibleDecision, InputError, SimulationError
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.job import Job, JobState, Stay
from batdispatch.core.jobs.profiles import spreads_freely
from batdispatch.core.jobs.request import Request
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.boots import Boots
from batdispatch.core.line.holds import Hold, beyond_own, hold_of
from batdispatch.core.line.periods import Periods
from batdispatch.core.line.roll import Roll
from batdispatch.core.line.ticks import DIGITS, DIGITS_OF_MILLISECONDS, TICK, tick_after, tick_before
from batdispatch.core.machine.host_states import HostStates
from batdispatch.core.machine.machine import Machine
from batdispatch.core.machine.openings import TOO_LATE, Openings
from batdispatch.core.machine.power import WATTS_PROPERTY
from batdispatch.core.machine.storages import Storages

#: Seconds from now to the soonest call that can be asked for. Decisions reach a simulator by messages, which take up to
#: this long on its links, and Batsim aborts when a call's time has passed before the request for it has come.
SOONEST = 1e-3
#: Seconds before its walltime at which a job may be reported to have reached it; printing with microseconds explains a
#: thousandth of this. There is no bound on the other side: a job may start later than it was decided.
EARLY = 1e-3
#: Looking it up in its class each time costs as much as a call.
_SUCCESS = JobState.COMPLETED_SUCCESSFULLY
#: Most jobs that a message lists.
_LISTED = 5


class Ledger:
    """The cluster as a dispatcher sees it. Created from the first event of a simulation.

    Attributes:
        machine: the machine.
        space: how its capacity is counted.
        site: its partitions and the like; None: it has none.
        openings: what reservations leave to the waiting jobs; None: there are none.
        now: simulated time of the current message, in seconds.
        queue: waiting jobs by id, in order of arrival.
        running: running jobs by id, in order of start.
        roll: which jobs there are, who continues whom, and who waits for whom.
        holds: capacity kept for jobs that will continue others, by the id of the job that is continued.
        unavailable: mask of the hosts on which nothing may start, because they are away, closed (`close`) or, unless
            they are woken for jobs (`wake_for_jobs`), sleep or switch.
        states: power states of the hosts, once one was decided; None: none was, or the machine states no watts.
        drawn: power that no job has taken and that is not free either, mW; see `draw`.
        lent: power that closed hosts lend to jobs, mW; `draw` counts it as well.
        boots: jobs that were started on hosts which have yet to wake up; None: only hosts that compute are free.
        epoch: counts the events that changed capacity, starts excepted; a plan made at an equal count still holds.
        plain: True as long as every job submitted has a plain request, so that counting hosts suffices.
        config: Batsim's configuration, see SimulationBegins.
        profiles: workload -> profile name -> profile, as far as the simulator told.
    """

    def __init__(self, begins: e.SimulationBegins) -> None:
        self.machine: Machine = begins.machine
        self.space: Space[Any] = space_of(begins.machine)
        self.site = begins.machine.site
        self.openings = None if self.site is None or not self.site.windows else Openings(self.site)
        self.now = begins.time
        self.queue: dict[str, Job] = {}
        self.running: dict[str, Stay] = {}
        self.roll = Roll()
        self.holds: dict[str, Hold] = {}
        self.unavailable = 0
        #: Masks of the hosts that are away, and of those that are kept closed.
        self._away, self._closed = 0, 0
        self.states: HostStates | None = None
        self.boots: Boots | None = None
        self.periods = Periods()
        #: Whether the simulation is to end whatever waits.
        self._stopped = False
        #: Stays that came to nothing, because a host went away that was waking up, since `take_called_off`.
        self._called_off: list[Stay] = []
        self.epoch = 0
        self.plain = True
        self.config = begins.config
        self._call_digits = DIGITS_OF_MILLISECONDS if begins.config.get("calls-in-milliseconds") else DIGITS
        self.profiles = begins.profiles
        #: How many jobs were started where the placement had to give something up for it, by what that was.
        self.given_up: Counter[str] = Counter()
        #: By job: the placement that found no place for it even on the idle machine, and could not prove that none is.
        self.overlooked: dict[str, str] = {}
        #: Whether it was said that no further job will be registered.
        self._registered_all = False
        self.roll.may_grow = bool(begins.config.get("dynamic-jobs-enabled"))
        #: The start or end of a reservation for which a call was asked last, s.
        self._opens = -math.inf
        #: When the call comes that was asked for last on behalf of blocked jobs, s.
        self._called = -math.inf
        #: (job id, reason) of every rejected job.
        self.rejections: list[tuple[str, str]] = []
        #: Called as `on_start(stay)` after each start; set by the session for dispatchers that want to know.
        self.on_start: Callable[[Stay], None] | None = None
        #: Called as `on_registered(job)` when a job enters the queue that the simulator will not announce.
        self.on_registered: Callable[[Job], None] | None = None
        #: Decisions taken since the last call of `take_decisions`.
        self._decisions: list[d.Decision] = []
        self._books = books_of(self.space)
        #: What is idle, and of that what is not away, as the books have it.
        self._idle: Any = self._books.whole()
        self._there: Any = self._idle
        #: The same as a value of `space`; None: not worked out yet.
        self._free: Any = None
        self._storages = Storages(begins.machine)
        self.drawn = self.lent = 0
        #: Jobs that were to be killed, by id; the answer may come after their end.
        self._killed: set[str] = set()
        #: Id of each job with an amended walltime that is not over -> the walltime that the simulator enforces.
        self._enforced: dict[str, float] = {}
        #: Request -> why it can never be met.
        self._never: dict[Request, str] = {}

    # ------------------------------------------------------------------ what the simulator tells

    def apply_submitted(self, event: e.JobSubmitted) -> Job:
        """Put a job into the queue, or among the blocked if it depends on others, and return it.

        On a machine with partitions it then asks for hosts of its own.

        Raises:
            InputError: the job is known already.
        """
        job = event.job
        if job.id in self.roll.ranks or job.id in self.roll.ended:
            raise _contradiction(event.time, f"job {job.id} was submitted twice")
        if event.profile is not None:
            workload = job.id.partition("!")[0]
            self.profiles.setdefault(workload, {})[job.profile] = event.profile
        if self.site is not None:
            job = self.site.fitted(job)
        if not job.request.plain:
            self.plain = False
        return job if self.roll.enter(job, self.now) else self._line_up(job)

    def _line_up(self, job: Job) -> Job:
        """Put a job into the queue, or keep it back while reservations leave it no place; return it as shown."""
        if self.openings is None:
            self.queue[job.id] = job
            return job
        shown = self.openings.enter(job, self.now)
        # Who can never start is shown, to be rejected.
        self._show_or_withhold(shown, rejected=bool(self.why_impossible(job)))
        return shown

    def _show_or_withhold(self, shown: Job, *, rejected: bool = False) -> bool:
        """Put a job into the queue as it is to be shown, or keep it back; return whether it is shown."""
        may = rejected or self._may_show(shown)
        if may:
            self.roll.show(shown.id)
            self.queue[shown.id] = shown
            self.plain &= shown.request.plain
        else:
            self.roll.withhold(self.at_best(shown))
        return may

    def _may_show(self, job: Job) -> bool:
        assert self.openings is not None
        return self.openings.planned or self.space.fits(self.space.whole(), job) or self._is_too_late(job)

    def _is_too_late(self, job: Job) -> bool:
        """Return whether reservations leave no place to a waiting job, as it is shown now, and never will."""
        assert self.openings is not None
        return self.openings.is_over(job.id, self.now) and not self.space.fits(self.space.whole(), job)

    def turn(self) -> list[tuple[Job | None, Job | None]]:
        """Show waiting jobs with the hosts that they may use, where reservations have closed or opened some by now.

        Return (job as it was shown before, job as it is shown from now on) for each of them; None: not at all.
        """
        openings, turned = self.openings, list[tuple[Job | None, Job | None]]()
        if openings is None:
            return turned
        for job_id in openings.due(self.now):
            before, shown = self.queue.get(job_id), openings.look(job_id, self.now)
            if before is not None and shown.request == before.request and not self._is_too_late(shown):
                continue
            self.queue.pop(job_id, None)
            may = self._show_or_withhold(shown)
            if may or before is not None:
                turned.append((before, shown if may else None))
        if turned:
            self._sort_queue()
            self._changed()
        return turned

    def call_for_openings(self) -> None:
        """Ask for a call when a reservation starts or ends for which a job may wait."""
        if not self.openings:
            return
        moment = self.openings.next_moment(self.now)
        if moment < math.inf and moment != self._opens:
            self._opens = moment
            self.wake_at(moment)

    def why_impossible(self, job: Job) -> str:
        """Return why a job can never run on this machine, or an empty text."""
        if job.parent and self.roll.continues_nobody(job):
            return f"continues job {job.parent}, which is unknown"
        if self.site is not None and (reason := self.site.refusal(job)):
            return reason
        entered = job if self.openings is None else self.at_best(job)
        known = self._never.get(entered.request)
        if known is None:
            if len(self._never) >= CACHE_SIZE:
                self._never.clear()
            known = self._never[entered.request] = why_never(self.space, entered)
        if known or entered is job or not self._is_too_late(job):
            return known
        return TOO_LATE

    def apply_completed(self, event: e.JobCompleted) -> Stay:
        """Free what a job held, apart from what is kept for its successor, and return its stay.

        A job that ended by itself has no successor: what was to be kept for one is free again.

        Raises:
            InputError: the job is not running, was started on other hosts, or cannot have ended in this state: killed
                without a decision to kill it, at a walltime that it does not have or has not reached yet.
        """
        stay = self.running.get(event.job_id)
        if stay is None:
            state = self._state_of(event.job_id)
            raise _contradiction(
                event.time, f"job {event.job_id} was reported complete ({event.state.value}) but is {state}"
            )
        job, told = stay.job, event.allocation
        if told is not None and not told.same_hosts(stay.allocation):
            raise _contradiction(
                event.time,
                f"job {job.id} was reported complete on hosts {told}, expected those it was started on, "
                f"{stay.allocation}",
            )
        if event.state is not _SUCCESS:
            self._check_failure(stay, event)
        del self.running[job.id]
        self._enforced.pop(job.id, None)
        stay.state = event.state
        self.roll.end(job.id, event.state, event.time)
        self._idle = self._books.give(self._idle, job, stay.allocation)
        hold = self.holds.get(job.id)
        if hold is not None:
            if event.state is not JobState.COMPLETED_KILLED:
                self._drop(self.holds.pop(job.id), own=False)
            elif hold.own is not None:
                self._idle = self._books.take(self._idle, job, hold.own)
        self._changed()
        return stay

    def _check_failure(self, stay: Stay, event: e.JobCompleted) -> None:
        """Check that a running job can have ended without success as a simulator says."""
        job, state = stay.job, event.state
        if state is JobState.COMPLETED_KILLED:
            if job.id not in self._killed:
                raise _contradiction(
                    event.time, f"job {job.id} was reported killed, expected another end: no decision was to kill it"
                )
        elif state is JobState.COMPLETED_WALLTIME_REACHED:
            walltime = self.enforced(job)
            if walltime == math.inf:
                raise _contradiction(
                    event.time,
                    f"job {job.id} was reported to have reached its walltime, expected another end: it has none",
                )
            if event.time < stay.start + walltime - EARLY:
                raise _contradiction(
                    event.time,
                    f"job {job.id} was reported to have reached its walltime, expected at "
                    f"{stay.start + walltime:.6f} s: it started at {stay.start:.6f} s and may run for {walltime:g} s",
                )
        elif state is not JobState.COMPLETED_FAILED:
            raise _contradiction(
                event.time, f"job {job.id} was reported complete as {state.value}, expected the end of a job that ran"
            )

    def apply_killed(self, event: e.JobsKilled) -> None:
        """Check and note the answer to a decision to kill.

        Raises:
            InputError: it names a job that was not to be killed, or that is running still.
        """
        for job_id in event.job_ids:
            if job_id not in self._killed:
                raise _contradiction(
                    event.time,
                    f"job {job_id} was reported killed, but no decision was to kill it: it is {self._state_of(job_id)}",
                )
            if job_id in self.running:
                raise _contradiction(
                    event.time,
                    f"job {job_id} was reported killed but is {self._state_of(job_id)}, expected its completion before",
                )
        self.roll.answer_kill(event.job_ids)

    def check_ran(self, event: e.JobMessage) -> None:
        """Check that a job which says something has begun to run.

        Raises:
            InputError: it has not.
        """
        if event.job_id not in self.running and event.job_id not in self.roll.ended:
            raise _contradiction(
                event.time,
                f"job {event.job_id} says something but is {self._state_of(event.job_id)}, expected a job that runs",
            )

    def check_hosts(self, hosts: Allocation, what: str) -> None:
        """Check that there are the hosts that an event names; `what`: what it says of them.

        Raises:
            InputError: the platform has no such host.
        """
        count = len(self.machine.hosts)
        beyond = hosts.mask >> count
        if beyond:
            host = count + hostset.ids(beyond)[0]
            raise _contradiction(
                self.now, f"host {host} was reported {what}, expected hosts of the platform, 0-{count - 1}"
            )

    def check_end(self, event: e.SimulationEnds) -> None:
        """Check that no job is left when the simulation ends.

        Raises:
            SimulationError: jobs run, wait, or are registered and not acknowledged.
        """
        left: dict[str, Mapping[str, object]] = {
            "running": self.running,
            "waiting": self.queue,
            "waiting for other jobs": self.roll.blocked,
            "waiting for hosts that reservations leave to them": self.roll.withheld,
            "registered but not acknowledged": self.roll.registered,
        }
        if any(left.values()) and not self._stopped:
            said = "; ".join(f"{len(jobs)} {what} ({_some(list(jobs))})" for what, jobs in left.items() if jobs)
            raise SimulationError(f"the simulation ended at {event.time:.6f} s with jobs left: {said}")

    def apply_static_jobs_done(self) -> None:
        """Note that no job will come any more but by registration."""
        self.roll.close()

    def apply_unavailable(self, hosts: Allocation) -> None:
        """Take hosts away: nothing new may start there; what runs there goes on.

        Raises:
            InputError: the platform has no such host.
        """
        self.check_hosts(hosts, "gone")
        self._away |= hosts.mask
        if self.boots is not None:
            for execute in self.boots.on(hosts.mask):
                self._call_off(self.running[execute.job_id])
        self._shut()

    def apply_available(self, hosts: Allocation) -> None:
        """Bring hosts back.

        Raises:
            InputError: the platform has no such host.
        """
        self.check_hosts(hosts, "back")
        self._away &= ~hosts.mask
        self._shut()

    def _call_off(self, stay: Stay) -> None:
        """Let a job wait again that was started on hosts of which one went away before it woke up."""
        job = stay.job
        del self.running[job.id]
        stay.state, stay.start = JobState.COMPLETED_KILLED, self.now
        self._idle = self._books.give(self._idle, job, stay.allocation)
        hold = self.holds.pop(job.id, None)
        if hold is not None:
            self._drop(hold, own=False)
        if self.boots is not None:
            self.boots.killed.discard(job.id)
        self.queue[job.id] = job
        self._sort_queue()
        self._called_off.append(stay)

    def _sort_queue(self) -> None:
        """Put the queue into the order of arrival."""
        waiting = sorted(self.queue.items(), key=lambda item: self.roll.ranks[item[0]])
        self.queue.clear()
        self.queue.update(waiting)

    def take_called_off(self) -> list[Stay]:
        """Return the stays that came to nothing since the last call: their jobs wait again."""
        called_off, self._called_off = self._called_off, []
        return called_off

    def apply_state(self, event: e.ResourceStateChanged) -> None:
        """Note that hosts are in the power state that was decided for them.

        Raises:
            InputError: the platform has no such host, or it was not to be in that power state.
        """
        self.check_hosts(event.hosts, f"in state {event.state!r}")
        states = self.states
        if states is not None:
            for _, _, state, hosts in states.targets(event.hosts.mask):
                if str(state) != event.state:
                    raise _contradiction(
                        event.time,
                        f"{self._host(hostset.ids(hosts)[0])} was reported in power state {event.state}, expected "
                        f"{state}, which was decided",
                    )
            states.end(event.hosts.mask & (states.falling | states.rising))
        if self.boots is None:
            self._shut()
        else:
            self._begin_booted(self.boots)

    def _begin_booted(self, boots: Boots) -> None:
        """Let the jobs run whose hosts are awake by now, and wake hosts that have just fallen asleep for others."""
        for execute in boots.ready(self._away):
            self.running[execute.job_id].start = self.now
            self.roll.begin(execute.job_id, self.now)
            self._decisions.append(msgspec.structs.replace(execute, time=self.now))
            if execute.job_id in boots.killed:
                boots.killed.discard(execute.job_id)
                self._decisions.append(d.Kill(self.now, [execute.job_id]))
        self.wake(boots.to_wake())

    def _shut(self) -> None:
        """Let nothing start on hosts that are away or, unless they are woken for jobs, do not compute."""
        asleep = 0 if self.states is None or self.boots is not None else self.states.away
        self.unavailable = self._away | self._closed | asleep
        self._changed()

    def _changed(self) -> None:
        """Capacity came or went otherwise than by a start."""
        self._refresh()
        self.epoch += 1

    def _refresh(self) -> None:
        """What is idle is another than before."""
        self._there = self._books.only(self._idle, ~self.unavailable) if self.unavailable else self._idle
        self._free = None

    def unblock(self) -> list[Job]:
        """Let the jobs into the queue that have nothing to wait for any more, and return them, in order of arrival."""
        ready = self.roll.take_ready(self.now + TICK)
        ready = [self._line_up(job) for job in ready]
        due = self.roll.due
        if due < math.inf and not self.now < self._called <= self.call_from(due):
            self._called = self.wake_at(due)
        return ready

    def settle(self, *, decided: bool = True) -> None:
        """Note that what ended and was not continued by now is over.

        Args:
            decided: whether the dispatcher has decided about what it heard of. The decision after the answer to a kill
                may still continue what was killed.
        """
        if self.roll.unsettled:
            self.roll.settle(decided=decided)

    def reject_hopeless(self) -> list[Job]:
        """Reject the blocked jobs that can never start, since what they wait for cannot succeed, and return them."""
        rejected = []
        for job, reason in self.roll.take_hopeless():
            self.queue[job.id] = job
            self.reject(job, reason)
            rejected.append(job)
        return rejected

    # ------------------------------------------------------------------ questions

    @property
    def free(self) -> Any:
        """What is neither used, held nor unavailable, a value of `space`; worked out once after each change.

        On a large machine of whole hosts this value takes microseconds. `place`, `fits`, `plausible` and
        `free_hosts` do without it.
        """
        if self._free is None:
            self._free = self._books.value(self._there)
        return self._free

    def snapshot(self) -> Snapshot:
        """Return what is free now for who may look at it later."""
        return Snapshot(self._books, self._there)

    @property
    def counts_hosts(self) -> bool:
        """Whether the number of free hosts tells which jobs fit, since all jobs so far asked for any whole hosts."""
        return self.plain and self.machine.exclusive

    @property
    def free_hosts(self) -> int:
        """How many hosts are free, on a machine of whole hosts."""
        return self._books.count(self._there)

    @property
    def idle_hosts(self) -> int:
        """Mask of the hosts that are there, and on which nothing runs or is held."""
        if self.machine.exclusive:
            return int(self.space.nodes(self.free))
        used = self.unavailable
        for stay in self.running.values():
            used |= stay.allocation.mask
        for hold in self.holds.values():
            used |= 0 if hold.hosts is None else hold.hosts.mask
        return self.machine.compute & ~used

    @property
    def free_awake(self) -> Any:
        """What of that is free now is on hosts that compute: those that sleep or switch are woken for jobs."""
        away = 0 if self.boots is None else self.boots.states.away
        return self.space.only(self.free, ~away) if away else self.free

    def is_booting(self, job_id: str) -> bool:
        """Return whether a job that was started waits for its hosts to wake up."""
        return self.boots is not None and job_id in self.boots.waiting

    def fits(self, job: Job) -> bool:
        """Return whether all units of a job find a place now, wherever."""
        return self._books.fits(self._there, job)

    def plausible(self, jobs: Sequence[Job]) -> list[Job]:
        """Return the jobs that pass a quick necessary test of fitting now, in the same order."""
        return self._books.plausible(self._there, jobs)

    @property
    def blocked(self) -> Mapping[str, Job]:
        """Jobs that came and are not shown yet, by id: they wait for others, or for hosts that reservations open."""
        roll = self.roll
        return ChainMap(roll.blocked, roll.withheld) if roll.withheld else roll.blocked

    @property
    def parents(self) -> Mapping[str, str]:
        """Id of each job that continues another one -> id of that one."""
        return self.roll.parents

    @property
    def static_jobs_done(self) -> bool:
        """Whether no job will come any more but by registration."""
        return self.roll.no_more

    def at_best(self, job: Job) -> Job:
        """Return a waiting job as it will be shown when no reservation closes hosts to it."""
        entered = None if self.openings is None else self.openings.entered(job.id)
        return job if entered is None else entered

    def longest(self, job: Job) -> float:
        """Return the longest walltime that the queues of a job allow, in seconds, or infinity."""
        return math.inf if self.site is None else self.site.longest(job)

    def root(self, job_id: str) -> str:
        """Return the id of the logical job that a job belongs to: the first one of the chain of parents."""
        return self.roll.root(job_id)

    def rank(self, job: Job) -> int:
        """Return a job's position in the order of arrival, for ties; it counts jobs that are not over."""
        return self.roll.ranks[job.id]

    def place(self, job: Job) -> Place | None:
        """Return the lowest hosts on which a job fits right now, or None."""
        allocation = self._books.lowest(self._there, job)
        return None if allocation is None else Place(allocation)

    def enforced(self, job: Job) -> float:
        """Return the walltime of a job that the simulator enforces, whatever it was amended to, in s, or infinity."""
        return self._enforced.get(job.id, job.walltime)

    def held_for(self, job: Job) -> Allocation | None:
        """Return the hosts that are kept for a job because it continues another one, or None."""
        hold = self.holds.get(self.roll.parents.get(job.id, ""))
        if hold is None or hold.job.id in self.running:
            return None
        return hold.hosts

    def _state_of(self, job_id: str) -> str:
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
                number of units is not the job's, or the allocation is not what its request asks for.
        """
        place = where if isinstance(where, Place) else Place(where)
        job_id, allocation = job.id, place.allocation
        if self.queue.get(job_id) is not job:
            raise self._refusal(f"job {job_id} cannot start: it is {self._state_of(job_id)}")
        # What is cleared at once needs no closer look at its hosts.
        closely = self.unavailable or self.holds
        left = None if closely else self._books.cleared(self._idle, job, allocation)
        if left is None:
            self._check_hosts(job, allocation)
        mapping = place.mapping
        if (mapping is not None or allocation.units != job.request.units) and not self._units_agree(
            job, allocation, mapping
        ):
            raise self._refusal(
                f"job {job.id} cannot start on {allocation}: it has {job.units} units, the allocation places "
                f"{allocation.units if mapping is None else len(mapping)}"
            )
        if not job.request.plain and (wrong := self.space.mismatch(job, allocation)):
            raise self._refusal(f"job {job.id} cannot start on {allocation}: {wrong}")
        if mapping is not None or place.storage is not None or place.io_job is not None:
            self._check_extras(job, place)
        hold = None
        if left is None:
            left, hold = self._taken(job, allocation)
        del self.queue[job.id]
        boots = self.boots
        booting = boots is not None and bool(allocation.mask & boots.states.away)
        start = boots.awake_at(allocation.mask, self.now) if boots is not None and booting else self.now
        stay = self.running[job.id] = Stay(job=job, start=start, allocation=allocation, rank=self.roll.ranks[job.id])
        self._idle = left
        if not booting:
            self.roll.begin(job.id, self.now)
        if self.openings is not None:
            self.openings.leave(job.id)
        if hold is not None:
            del self.holds[hold.job.id]
            self._changed()
        else:
            self._refresh()
        storage = place.storage
        if storage is None and self.machine.storage and mapping is None and place.io_job is None:
            storage = self._storage_of(job, allocation)
        if place.given_up:
            self.given_up.update(place.given_up)
        execute = d.Execute(self.now, job.id, allocation, mapping, storage, place.io_job)
        if boots is not None and booting:
            boots.waiting[job.id] = execute
            self.wake(allocation.mask & boots.states.asleep)
        else:
            self._decisions.append(execute)
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
            if self.boots is None and self.states is not None and allocation.mask & self.states.away:
                why = self.states.why_not_computing(allocation.mask)
                raise self._refusal(f"job {job.id} cannot start on {allocation}: {why}")
            host = hostset.ids(allocation.mask & self.unavailable)[0]
            raise self._refusal(f"job {job.id} cannot start on {allocation}: {self._host(host)} is unavailable")

    def _taken(self, job: Job, allocation: Allocation) -> tuple[Any, Hold | None]:
        """Return what is idle less what a job takes, and the hold that the job makes use of, if any.

        Raises:
            ImpossibleDecision: the job that it continues runs, or a host lacks what the job needs.
        """
        idle = self._idle
        hold = self.holds.get(self.roll.parents.get(job.id, "")) if self.holds else None
        if hold is not None:
            if hold.job.id in self.running:
                raise self._refusal(f"job {job.id} cannot start: job {hold.job.id}, which it continues, is running")
            idle = self._given_back(hold, own=True)
        lacking = self._books.lacking(idle, job, allocation)
        if lacking is not None:
            raise self._over_capacity(job, allocation, *lacking)
        return self._books.take(idle, job, allocation), hold

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
                raise self._refusal(
                    f"job {job.id} cannot start on {allocation}: the mapping does not put as many units on each host "
                    "as the allocation counts"
                )
        mapped = mapping is not None or allocation.counts is not None
        if mapped + (place.storage is not None) + (place.io_job is not None) > 1:
            raise self._refusal(f"job {job.id}: Batsim accepts only one of mapping, storage mapping and I/O job")
        for label, host in (place.storage or {}).items():
            if not any(disk.id == host for disk in self.machine.storage):
                raise self._refusal(
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
            raise self._refusal(f"job {job.id} cannot be amended: it is {self._state_of(job.id)}")
        if rank is not None:
            self.roll.ranks[job.id] = rank
        if walltime is not None:
            self._enforced.setdefault(job.id, job.walltime)
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
            raise self._refusal(f"job {job.id} cannot be rejected for {reason!r}: expected a text")
        if self.queue.get(job.id) is not job:
            raise self._refusal(f"job {job.id} cannot be rejected: it is {self._state_of(job.id)}")
        del self.queue[job.id]
        self._enforced.pop(job.id, None)
        if self.openings is not None:
            self.openings.leave(job.id)
        self.roll.end(job.id, JobState.REJECTED, self.now)
        self.rejections.append((job.id, reason))
        self._decisions.append(d.Reject(self.now, job.id, reason))

    def kill(self, jobs: Iterable[Job]) -> None:
        """Stop running jobs; JobCompleted and JobsKilled with their progress follow."""
        listed = list(dict.fromkeys(job.id for job in jobs))
        for job_id in listed:
            if job_id not in self.running:
                raise self._refusal(f"job {job_id} cannot be killed: it is {self._state_of(job_id)}")
        if listed:
            self._killed.update(listed)
            if self.boots is not None and self.boots.waiting:
                # The simulator has yet to hear of those that wait for their hosts.
                self.boots.killed.update(job_id for job_id in listed if job_id in self.boots.waiting)
                listed = [job_id for job_id in listed if job_id not in self.boots.waiting]
        if listed:
            self._decisions.append(d.Kill(self.now, listed))

    # ------------------------------------------------------------------ holds

    def hold(self, job: Job, hosts: Allocation, power: int = 0) -> None:
        """Keep hosts for the job that will continue a running one; a second call takes the place of the first.

        Hosts of the job's own are kept from its end on, others from now on; on shared nodes, as many units of the job
        as `hosts` counts. If the job ends by itself (not killed), it has no successor and nothing is kept. Otherwise
        the hold lasts until a job whose `parent` this one is starts, or until `release`. Where power is shared, that
        of the job is kept with its own hosts, and `power`, in mW, beside.

        Raises:
            ImpossibleDecision: the job does not run, or a host is not its own and not free.
        """
        stay = self.running.get(job.id)
        if stay is None:
            raise self._refusal(f"job {job.id} can have no successor: it is {self._state_of(job.id)}")
        too_many = beyond_own(stay, hosts)
        if too_many is not None:
            host, count, its = too_many
            raise self._refusal(
                f"{count} units cannot be kept on {self._host(host)} for the successor of job {job.id}: it has "
                f"{its} there"
            )
        hold = hold_of(stay, hosts, power)
        before = self.holds.get(job.id)
        idle = self._idle if before is None else self._given_back(before, own=False)
        if hold.more is not None:
            kept = f"hosts {hold.more} cannot be kept for the successor of job {job.id}"
            if hold.more.mask & (~self.machine.compute | self.unavailable):
                raise self._refusal(f"{kept}: not all of them are there and run jobs")
            lacking = self._books.lacking(idle, hold.beyond, hold.more)
            if lacking is not None:
                host, resource, free, needed = lacking
                raise self._refusal(f"{kept}: {self._host(host)} has {free} {resource} free, {needed} are to be kept")
            idle = self._books.take(idle, hold.beyond, hold.more)
        self._idle = idle
        self.holds[job.id] = hold
        if before is None:
            self._refresh()
        else:
            self._changed()

    def release(self, job_id: str) -> None:
        """Give up what is held for the successor of a job; nothing happens if nothing is."""
        hold = self.holds.pop(job_id, None)
        if hold is not None:
            self._drop(hold, own=job_id not in self.running)
            self._changed()

    def _drop(self, hold: Hold, *, own: bool) -> None:
        self._idle = self._given_back(hold, own=own)

    def _given_back(self, hold: Hold, *, own: bool) -> Any:
        """Return what is idle with what a hold keeps; `own`: also of the job's own hosts, which it no longer uses."""
        idle = self._idle
        if own and hold.own is not None:
            idle = self._books.give(idle, hold.job, hold.own)
        if hold.more is not None:
            idle = self._books.give(idle, hold.beyond, hold.more)
        return idle

    # ------------------------------------------------------------------ calls, registrations, messages
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
            raise self._refusal(f"a call at {time:.6f} s was asked for, which is not later than now")
        notice = TICK if at_once and self.config.get("calls-at-once") else SOONEST
        at = self.call_from(max(tick_after(time), round(self.now + notice, 6)))
        self._decisions.append(d.CallMeLater(self.now, at))
        return at

    def call_from(self, time: float) -> float:
        """Return the first moment from a time on at which a call can come, in seconds."""
        return tick_after(time, self._call_digits)

    def call_by(self, time: float) -> float:
        """Return the last moment until a time at which a call can come, in seconds."""
        return tick_before(time, self._call_digits)

    def register_profile(self, workload: str, name: str, profile: dict[str, Any]) -> None:
        """Add a profile to a workload."""
        self._may_register("profiles", f"profile {workload}!{name}")
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
            ImpossibleDecision: registration is not enabled, the id is taken or malformed, the job that it continues is
                unknown, or the job can never run.
        """
        self._may_register("jobs", f"job {job.id}")
        if "!" not in job.id:
            raise self._refusal(f"job {job.id}: its id must be workload!name")
        if job.id in self.roll.registered or self._state_of(job.id) != "unknown":
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
        self.roll.register(job)
        if not self.config.get("dynamic-jobs-acknowledged"):
            entered = self.apply_submitted(e.JobSubmitted(self.now, job))
            if self.on_registered is not None:
                self.on_registered(entered)

    def set_state(self, hosts: Allocation, state: str) -> None:
        """Switch hosts to a power state (needs Batsim's energy option).

        Nothing may start on a host that sleeps or switches. When all the hosts are in the power state, that is told.

        Raises:
            ImpossibleDecision: on a machine that states watts, a host cannot be set to this power state; see
                `core.machine.host_states`.
        """
        if hosts.mask >> len(self.machine.hosts):
            raise self._refusal(f"hosts {hosts} are not all in the platform, which has 0-{len(self.machine.hosts) - 1}")
        self.know_states()
        virtual_states = set()
        if self.states is not None:
            busy = 0
            # Nothing runs on hosts that sleep.
            for stay in self.running.values() if hosts.mask & ~self.states.asleep else ():
                busy |= stay.allocation.mask
            problem = self.states.refusal(hosts.mask, state, busy, self._away)
            if problem is not None:
                raise self._refusal(problem)
            for group in self.states.alike(hosts.mask):
                virtual = self.states.begin(group, int(state))
                virtual_states.add(virtual is not None)
                if self.boots is not None and virtual is not None:
                    self.boots.switch(group.hosts, 1 / group.power.states[virtual].speed, self.now)
            if self.boots is None:
                self._shut()
        switched = None if len(virtual_states) > 1 else True in virtual_states
        self._decisions.append(d.SetResourceState(self.now, hosts, state, switched))

    def know_states(self) -> HostStates | None:
        """Return the power states of all hosts, which are looked after from now on; None: the machine states no watts.

        Raises:
            InputError: a host states no watts, or wrong ones, while another one does.
        """
        if self.states is None and any(WATTS_PROPERTY in host.properties for host in self.machine.hosts):
            self.states = HostStates(self.machine)
            self._shut()
        return self.states

    def wake_for_jobs(self) -> None:
        """Let hosts that sleep or switch count as free from now on: they are woken for the jobs that start there.

        Such a job runs, to the dispatcher, from its start on, and its stay begins when its hosts are expected to be
        awake; see `core.line.boots`.

        Raises:
            InputError: a host states no watts, or wrong ones.
        """
        if self.states is None:
            self.states = HostStates(self.machine)
        self.boots = Boots(self.states)
        self._shut()

    def wake(self, hosts: int) -> None:
        """Wake hosts that sleep; `hosts` is a mask. Needs `know_states` or `wake_for_jobs`."""
        assert self.states is not None, "the power states are known"
        for group, state in self.states.switch_groups(hosts, awake=True):
            self.set_state(group, state)

    def let_sleep(self, hosts: int) -> None:
        """Let idle hosts sleep that can, each in its deepest state; `hosts` is a mask. Needs the same."""
        assert self.states is not None, "the power states are known"
        for group, state in self.states.switch_groups(hosts, awake=False):
            self.set_state(group, state)

    def close(self, hosts: int, power: int) -> None:
        """Let nothing start on some hosts, a mask, which lend power to jobs, in mW, until the next call says others."""
        if hosts != self._closed:
            self._closed, self.lent = hosts, power
            self._shut()

    def cap_power(self, power: int) -> None:
        """Let jobs share an amount of power, in mW (`Request.power`), from now on; before any job has come."""
        self.machine = self.machine.capped(power)
        self.space = space_of(self.machine)
        self._books = books_of(self.space)
        self._idle = self._books.whole()
        self._changed()

    def draw(self, power: int) -> None:
        """Note how much of that power is drawn by no job, in mW. Needs `cap_power`."""
        if power != self.drawn:
            assert isinstance(self.space, LicensedSpace), "power is shared"
            self._idle = self.space.drawn(self._idle, power - self.drawn)
            self.drawn = power
            self._changed()

    def with_lent(self, whole: Any) -> Any:
        """Return the capacity of the idle machine with the power that closed hosts lend."""
        if not self.lent:
            return whole
        assert isinstance(self.space, LicensedSpace), "power is shared"
        return self.space.drawn(whole, -self.lent)

    def reconsider(self) -> None:
        """Let no plan hold that was made before: what waiting jobs ask for has changed."""
        self._changed()

    def keep_back(self, job: Job) -> None:
        """Let no dispatcher see a waiting job until `bring_back`."""
        del self.queue[job.id]
        self.roll.withhold(job)

    def bring_back(self, job: Job) -> None:
        """Let a job wait again, in the order of arrival, that was kept back."""
        self.roll.show(job.id)
        self.queue[job.id] = job
        self._sort_queue()

    def query_energy(self) -> None:
        """Ask for the energy consumed so far (needs Batsim's energy option)."""
        self._decisions.append(d.QueryEnergy(self.now))

    def call_every(self, call_id: str, period: float, times: int | None = None) -> None:
        """Ask to be called at each multiple of `period`, in seconds; see `core.line.periods` (Batsim 5 only).

        Args:
            call_id: a name, which comes back with each call.
            period: s.
            times: how often; None: until `stop_calls`.
        """
        self._begin_periodic("call", call_id, period, times)
        self._decisions.append(d.CallEvery(self.now, call_id, period, times))

    def stop_calls(self, call_id: str) -> None:
        """Ask for no more of the calls of this name that were asked for with `call_every`."""
        self._stop_periodic("call", call_id)
        self._decisions.append(d.StopCalls(self.now, call_id))

    def probe(
        self,
        probe_id: str,
        hosts: Allocation,
        period: float,
        times: int | None = None,
        *,
        aggregate: e.Aggregate = "",
    ) -> None:
        """Ask for the joules that hosts have burnt since 0 s, at each multiple of `period` (Batsim 5 with energy).

        They are told by `events.ProbeData`.

        Args:
            probe_id: a name, which comes back with the joules.
            hosts: those that are probed.
            period: s.
            times: how often; None: until `stop_probe`.
            aggregate: "sum" or "mean" of the hosts instead of each one's joules.
        """
        if not hosts.mask or hosts.mask >> len(self.machine.hosts):
            last = len(self.machine.hosts) - 1
            raise self._refusal(f"hosts {str(hosts)!r} of probe {probe_id!r} are not all in the platform: 0-{last}")
        self._begin_periodic("probe", probe_id, period, times)
        self._decisions.append(d.CreateProbe(self.now, probe_id, hosts, period, times, aggregate))

    def stop_probe(self, probe_id: str) -> None:
        """Ask for no more of a probe's joules."""
        self._stop_periodic("probe", probe_id)
        self._decisions.append(d.StopProbe(self.now, probe_id))

    def _begin_periodic(self, kind: str, name: str, period: float, times: int | None) -> None:
        problem = self.periods.problem(kind, name, period, times)
        if problem is not None:
            raise self._refusal(problem)
        self.periods.begin(kind, name, period, times)

    def _stop_periodic(self, kind: str, name: str) -> None:
        if not self.periods.stop(kind, name):
            raise self._refusal(f"there is no {kind} {name!r} that comes again and again")

    def stop_simulation(self) -> None:
        """End the simulation now, whatever waits (Batsim 5 only)."""
        if self.running:
            raise self._refusal(f"the simulation cannot end while jobs run: {_some(list(self.running))}")
        self._stopped = True
        self._decisions.append(d.StopSimulation(self.now))

    def set_metadata(self, job: Job, text: str) -> None:
        """Write a text into the job's line of the jobs file."""
        if job.id not in self.queue and job.id not in self.running and job.id not in self.roll.registered:
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
        self._need_registration("finishing registration")
        self._registered_all = True
        self.roll.may_grow = False
        self._decisions.append(d.FinishRegistration(self.now))

    def continue_registration(self) -> None:
        """Say that jobs may be registered again."""
        self._need_registration("continuing registration")
        self._registered_all = False
        self.roll.may_grow = True
        self._decisions.append(d.ContinueRegistration(self.now))

    def take_decisions(self) -> list[d.Decision]:
        """Return the decisions taken since the last call."""
        taken = self._decisions
        self._decisions = []
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
        space, idle = self.space, self.space.whole()
        if self.drawn:
            assert isinstance(space, LicensedSpace), "power is shared"
            idle = space.drawn(idle, self.drawn)
        for stay in self.running.values():
            assert space.lacking(idle, stay.job, stay.allocation) is None, f"{stay} is beyond capacity"
            idle = space.take(idle, stay.job, stay.allocation)
        for job_id, hold in self.holds.items():
            assert job_id in self.running or roll.ended.get(job_id) is JobState.COMPLETED_KILLED, f"stale hold {hold}"
            for job, part in ((hold.job, None if job_id in self.running else hold.own), (hold.beyond, hold.more)):
                if part is not None:
                    assert space.lacking(idle, job, part) is None, f"{hold} is beyond capacity"
                    idle = space.take(idle, job, part)
        assert space.same(idle, self._books.value(self._idle)), "what is idle does not add up"
        assert space.same(self.free, space.only(idle, ~self.unavailable)), "what is free does not add up"
        for job_id in roll.parents:
            seen = {job_id}
            while (job_id := roll.parents.get(job_id, "")) and job_id not in seen:
                seen.add(job_id)
            assert not job_id, "a job continues itself"

    # ------------------------------------------------------------------ refusals

    def _need_registration(self, what: str) -> None:
        if not self.config.get("dynamic-jobs-enabled"):
            raise self._refusal(
                f"{what} is not enabled in this simulation: Batsim 4 needs --enable-dynamic-jobs, 5 the handshake"
            )

    def _may_register(self, kind: str, what: str) -> None:
        """Check that something of a kind can be registered.

        Raises:
            ImpossibleDecision: it is not enabled, or it was said that nothing more will be registered.
        """
        self._need_registration(f"registering {kind}")
        if self._registered_all:
            raise self._refusal(
                f"{what} cannot be registered: it was said that the registration is finished, expected "
                "continue_registration before"
            )

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
        if host < 0:
            return self._refusal(
                f"job {job.id} cannot start: the machine has {free} {resource} free, the job needs {needed}"
            )
        holders = [other.job.id for other in self.running.values() if other.allocation.mask >> host & 1]
        holders += [
            f"the successor of {hold.job.id}"
            for hold in self.holds.values()
            for part in (hold.own, hold.more)
            if part is not None and part.mask >> host & 1 and hold.job.id not in holders
        ]
        return self._refusal(
            f"job {job.id} cannot start on {allocation}: {self._host(host)} has {free} {resource} free, the job needs "
            f"{needed} there" + (f" (held by {_some(holders)})" if holders else "")
        )

    def _host(self, host: int) -> str:
        return f"host {host} ({self.machine.hosts[host].name})"

    def _refusal(self, text: str) -> ImpossibleDecision:
        return ImpossibleDecision(f"at {self.now:.6f} s: {text}")


def _contradiction(time: float, text: str) -> InputError:
    return InputError(text, place=f"event at {time:.6f} s")


def _some(ids: list[str]) -> str:
    return ", ".join(ids[:_LISTED]) + (", ..." if len(ids) > _LISTED else "")
