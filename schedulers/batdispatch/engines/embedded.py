"""The embedded engine: Batsim 4's semantics, with SimGrid for what depends on the platform.

Everything that happens at one moment is told in one message; the answer's decisions take effect at their times, and
what happens until the answer's `now` is told in the next message. The clock counts microseconds, the resolution of
Batsim's messages, so that a schedule is the same in process and over a socket.

That is the default. With the delays of Batsim's messages (`batdispatch.engines.mail`) what happens is told as Batsim
tells it: later, message by message, and several events together only when they meet on the way.

Delays and everything else that has a known end stand in the engine's own calendar. A timer, if there is one, lets time
pass while activities run on the platform, at most until the calendar's next entry.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import msgspec

from batdispatch import __version__
from batdispatch.core.errors import DeadlockError
from batdispatch.core.jobs.fields import MAX_MOMENT
from batdispatch.core.jobs.job import Job, JobState
from batdispatch.core.line import events as e
from batdispatch.core.line.messages import Message, Peer, Reply
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.actors import Carrier, Submitter
from batdispatch.engines.execution import check_timed
from batdispatch.engines.facet import EngineFacet, make_facet
from batdispatch.engines.mail import EARLY, Delays, Mail
from batdispatch.engines.orders import Orders
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.engines.simulation import time_is_over
from batdispatch.engines.timing import PlatformTimer
from batdispatch.engines.traces import Traces
from batdispatch.engines.world import World

if TYPE_CHECKING:
    from batdispatch.inputs.workloads import Workload


class EmbeddedEngine:
    """Simulates one workload on one machine for one peer.

    Use: ``EmbeddedEngine(machine, workload, outputs).run(peer)``.

    Attributes:
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
        delays: Delays | None = None,
    ) -> None:
        """Check that every job can be simulated.

        Args:
            machine: the hosts.
            workload: the jobs.
            outputs: collects what happens.
            options: Batsim's.
            external_events: in any order.
            progress: called with the number of jobs that have ended.
            timer: times what depends on the platform.
            delays: of Batsim's messages; None: they take no time.

        Raises:
            ValueError: events are to be told one by one although messages take time.
            InputError: a job's profile needs a timer and there is none, or cannot be simulated at all.
        """
        if delays is not None and options is not None and options.split_simultaneous:
            raise ValueError("messages that take time decide by themselves which events are told together")
        self.workload = workload
        self._external = sorted(external_events, key=lambda event: event.time)
        self._hosts_come_and_go = bool(self._external)
        options = options or EngineOptions()
        facet: EngineFacet | None = None
        if options.energy is not None:
            facet, timer = make_facet(machine, options.energy, timer, outputs)
        traces = Traces(workload.path.parent)
        _check_profiles(workload, traces, timer)
        #: Submission times on the engine's clock, s; infinity behind the last one.
        self._submissions = [*(round(job.submission, 6) for job in workload.jobs), math.inf]
        self._next_job = 0
        self.scheduling_seconds = 0.0
        self.messages = 0
        mail = None if delays is None else Mail(delays)
        if mail is not None and timer is not None:
            timer.follow()
        self._world = World(machine, workload, outputs, options, timer, progress, mail, facet, traces)
        self._orders = Orders(self._world)

    @property
    def now(self) -> float:
        """Simulated time in seconds."""
        return self._world.now

    # ------------------------------------------------------------------ the loop

    def run(self, peer: Peer) -> None:
        """Simulate to the end and write the output files; on any failure none appears.

        Raises:
            ImpossibleDecision: the peer decided something impossible.
            DeadlockError: jobs wait and nothing is left to happen.
            SimulationError: something is to happen after `MAX_MOMENT`.
        """
        began = time.perf_counter()
        world, timer = self._world, self._world.timer
        try:
            if timer is None:
                self._run(peer)
            else:
                timer.run(lambda: self._run(peer))
            times = world.times.totals(world.absent)
            world.outputs.finish(
                version=f"batdispatch {__version__} embedded"
                + (f", SimGrid {timer.version}" if timer and timer.version else ""),
                scheduling_seconds=self.scheduling_seconds,
                simulation_seconds=time.perf_counter() - began,
                times=times,
                power={} if world.facet is None else world.facet.totals(times[0]),
            )
        except BaseException:
            world.outputs.discard()
            raise

    def _run(self, peer: Peer) -> None:
        world = self._world
        mail, timer = world.mail, world.timer
        if world.facet is not None:
            world.facet.begin_simulation()
        if mail is not None:
            self._let_submit(mail)
        elif self._external:
            for event in self._external:
                world.schedule(round(event.time, 6), self._happen, event)
            world.schedule(round(self._external[-1].time, 6), self._no_more_external, None)
        world.told.append(self._begins())
        if mail is not None and world.options.turns_hosts:
            # Batsim 5 writes when the submitters have said hello.
            mail.answered()
        else:
            self._exchange(peer)
        if mail is None and not self.workload.jobs:
            self._no_more_static()
        while True:
            if world.told and (mail is None or mail.turn):
                self._exchange(peer)
                continue
            if self._is_over() or world.stopped:
                break
            due = self._next_due()
            if timer is not None and timer.running:
                due = self._let_run(timer, due)
            if due == math.inf:
                raise self._stuck()
            if due > MAX_MOMENT:
                raise time_is_over(due)
            world.now = max(world.now, due)
            self._advance()
        world.told = [e.SimulationEnds(world.now)]
        self._exchange(peer)

    def _let_submit(self, mail: Mail) -> None:
        """Let jobs and external events be submitted by mail."""
        world = self._world
        Submitter(world, mail, self._submissions[:-1], self._submit_static, self._no_more_static)
        if self._external:
            dates = [round(event.time, 6) for event in self._external]
            Submitter(world, mail, dates, lambda index: self._happen(self._external[index]), self._no_more_external)

    def _next_due(self) -> float:
        world = self._world
        first = self._submissions[self._next_job] if world.mail is None else world.mail.due
        calendar = world.calendar
        return calendar[0][0] if calendar and calendar[0][0] < first else first

    def _let_run(self, timer: PlatformTimer, until: float) -> float:
        """Let activities run until one ends, at most until `until`; return the time it then is."""
        world = self._world
        ended = timer.advance(until)
        if not ended:
            return until
        now = max(world.rounded(timer.clock), world.now)
        at_once = world.mail is not None and world.facet is not None
        if at_once:
            # An activity has begun before the message that arrives at its end, and SimGrid ends it first.
            world.now = now
        for record in ended:
            record.due = now
            if at_once:
                world.activity_ended(record)
            else:
                world.schedule(now, world.activity_ended, record)
        return now

    def _advance(self) -> None:
        """Let everything happen that is due by now."""
        world = self._world
        if world.mail is not None:
            self._advance_with_mail(world.mail)
            return
        now, calendar, submissions = world.now, world.calendar, self._submissions
        while submissions[self._next_job] <= now:
            self._submit_static(self._next_job)
            if submissions[self._next_job] == math.inf:
                self._no_more_static()
        while calendar and calendar[0][0] <= now:
            _, _, action, subject = heapq.heappop(calendar)
            action(subject)

    def _advance_with_mail(self, mail: Mail) -> None:
        """Let a message arrive that is due, and then what else ends by now, in the order in which it began."""
        world = self._world
        calendar, horizon = world.calendar, world.now + EARLY
        go_on = mail.receive(world.now) if mail.due <= world.now else None
        ended = []
        while calendar and calendar[0][0] <= horizon:
            ended.append(heapq.heappop(calendar))
        for _, _, action, subject in sorted(ended, key=_in_time if world.options.turns_hosts else _as_entered):
            action(subject)
        if go_on is not None:
            go_on()

    def _exchange(self, peer: Peer) -> None:
        world = self._world
        if world.options.split_simultaneous:
            told, world.told = world.told[:1], world.told[1:]
        else:
            told, world.told = world.told, []
        for event in told if self._hosts_come_and_go else ():
            # Starts are refused on hosts that went away when the peer has learnt of it: before, it cannot know better.
            if isinstance(event, e.MachinesUnavailable):
                world.hosts.away |= event.hosts.mask & world.machine.compute
            elif isinstance(event, e.MachinesAvailable):
                world.hosts.away &= ~event.hosts.mask
        now = world.now
        if world.mail is not None:
            # As Batsim prints it.
            now = round(now, 6)
            told = [msgspec.structs.replace(event, time=round(event.time, 6)) for event in told]
        began = time.perf_counter()
        reply = peer.handle(Message(now, told))
        self.scheduling_seconds += time.perf_counter() - began
        self.messages += 1
        if world.mail is None:
            self._apply(reply)
        else:
            world.mail.written()
            Carrier(world, world.mail, reply, self._orders.carry_out)

    def _apply(self, reply: Reply) -> None:
        """Let decisions take effect at their times and go on to when the peer was ready again."""
        world = self._world
        now, until = world.now, reply.now
        carry_out = self._orders.carry_out
        # The clock stands on a microsecond: only what is later needs to be rounded to one.
        for decision in reply.decisions:
            if decision.time <= now or (at := round(decision.time, 6)) <= now:
                carry_out(decision)
            else:
                until = max(until, at)
                world.schedule(at, carry_out, decision)
        if until <= now:
            return
        until = round(until, 6)
        while until > world.now:
            due = max(min(self._next_due(), until), world.now)
            if world.timer is not None and world.timer.running:
                due = self._let_run(world.timer, due)
            world.now = due
            self._advance()

    def _is_over(self) -> bool:
        world = self._world
        return (
            not world.records
            and self._next_job == len(self.workload.jobs)
            and not world.told
            and (world.mail is None or world.mail.idle)
            and not world.registering
            and not world.calls
            and not self._external
            and (world.facet is None or not world.facet.switching)
        )

    def _stuck(self) -> DeadlockError:
        world = self._world
        waiting = [record for record in world.records.values() if record.state is JobState.SUBMITTED]
        if world.records:
            names = ", ".join(record.id for record in waiting[:5]) + (", ..." if len(waiting) > 5 else "")
            return DeadlockError(
                f"at {world.now:.6f} s nothing is left to happen, but {len(world.records)} jobs have not ended: the "
                f"dispatcher neither started nor rejected {names or 'them'}"
            )
        return DeadlockError(
            f"at {world.now:.6f} s nothing is left to happen, but the dispatcher never said that it finished "
            "registering jobs"
        )

    # ------------------------------------------------------------------ what happens

    def _begins(self) -> e.SimulationBegins:
        world = self._world
        return beginning(
            world.machine, self.workload, world.options, sharing=world.hosts.sharing, at_once=world.mail is None
        )

    def _submit_static(self, index: int) -> None:
        self._next_job = index + 1
        self._world.submit(as_submitted(self.workload.jobs[index], self._submissions[index]), tell=True)

    def _no_more_static(self) -> None:
        self._world.told.append(e.NoMoreStaticJobs(self._world.now))

    def _no_more_external(self, _: object = None) -> None:
        self._external = []
        self._world.told.append(e.NoMoreExternalEvents(self._world.now))

    def _happen(self, event: e.Event) -> None:
        world = self._world
        if isinstance(event, e.MachinesUnavailable):
            world.go_away(event.hosts.mask)
        elif isinstance(event, e.MachinesAvailable):
            world.come_back(event.hosts.mask)
        if not isinstance(event, e.Notified) or world.options.forward_unknown_events:
            world.told.append(event if world.mail is None else msgspec.structs.replace(event, time=world.now))


def beginning(
    machine: Machine, workload: Workload, options: EngineOptions, *, sharing: bool, at_once: bool
) -> e.SimulationBegins:
    """Return the first event of a simulation.

    Args:
        machine: the hosts.
        workload: the jobs.
        options: Batsim's.
        sharing: whether a host may run several jobs.
        at_once: whether messages take no time.
    """
    config = {
        "allow_compute_sharing": sharing,
        "allow_storage_sharing": True,
        "redis-enabled": False,
        "redis-hostname": "127.0.0.1",
        "redis-port": 6379,
        "redis-prefix": "default",
        "profiles-forwarded-on-submission": options.forward_profiles,
        "dynamic-jobs-enabled": options.dynamic_jobs,
        "dynamic-jobs-acknowledged": options.dynamic_jobs and options.acknowledge_dynamic_jobs,
        # Profiles are never forgotten here.
        "profile-reuse-enabled": True,
        # Only layers that register jobs ask for calls that soon.
        **({"calls-at-once": True} if options.dynamic_jobs and at_once else {}),
        "sched-config": options.scheduler_config,
        "forward-unknown-events": options.forward_unknown_events,
    }
    # The peer's view of profiles is its own: what it registers comes back as decisions.
    profiles = {"w0": dict(workload.profiles)}
    return e.SimulationBegins(0.0, machine, config, {"w0": str(workload.path)}, profiles)


def as_submitted(job: Job, submission: float) -> Job:
    """Return a job of a workload as it is submitted, with its submission on the engine's clock, s."""
    return msgspec.structs.replace(job, id="w0!" + job.id, submission=submission, walltime=round(job.walltime, 6))


def _as_entered(entry: tuple[float, int, object, object]) -> int:
    """Return by what entries of the calendar are sorted that a step of SimGrid 3.32 takes together: order of entry."""
    return entry[1]


def _in_time(entry: tuple[float, int, object, object]) -> tuple[float, int]:
    """Return the same for SimGrid 4.1, on which Batsim 5 is built: time, and order of entry."""
    return round(entry[0], 11), entry[1]


def _check_profiles(workload: Workload, traces: Traces, timer: PlatformTimer | None) -> None:
    checked: set[str] = set()
    source = str(workload.path)
    for job in workload.jobs:
        if job.profile not in checked:
            check_timed(job.profile, workload.profiles, checked, traces=traces, source=source, timer=timer)
