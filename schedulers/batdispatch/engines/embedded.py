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
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from batdispatch import __version__
from batdispatch.core import events as e
from batdispatch.core.errors import SimulationError
from batdispatch.core.job import Job, JobState
from batdispatch.core.machine import Machine
from batdispatch.core.messages import Message, Peer, Reply
from batdispatch.engines.execution import check_timed
from batdispatch.engines.orders import Orders
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.engines.timing import PlatformTimer
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
    ) -> None:
        """Check that every job can be simulated.

        Raises:
            InputError: a job's profile needs a timer and there is none, or cannot be simulated at all.
        """
        self.workload = workload
        self._external = sorted(external_events, key=lambda event: event.time)
        self._hosts_come_and_go = bool(self._external)
        checked: set[str] = set()
        for job in workload.jobs:
            if job.profile not in checked:
                check_timed(
                    job.profile, workload.profiles, checked, source=str(workload.path), platform=timer is not None
                )
        #: Submission times on the engine's clock, s.
        self._submissions = [round(job.submission, 6) for job in workload.jobs]
        self._next_job = 0
        self.scheduling_seconds = 0.0
        self.messages = 0
        self._world = World(machine, workload, outputs, options or EngineOptions(), timer, progress)
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
            SimulationError: jobs wait and nothing is left to happen.
        """
        began = time.perf_counter()
        world, timer = self._world, self._world.timer
        try:
            if timer is None:
                self._run(peer)
            else:
                timer.run(lambda: self._run(peer))
            world.outputs.finish(
                version=f"batdispatch {__version__} embedded" + (f", SimGrid {timer.version}" if timer else ""),
                scheduling_seconds=self.scheduling_seconds,
                simulation_seconds=time.perf_counter() - began,
            )
        except BaseException:
            world.outputs.discard()
            raise

    def _run(self, peer: Peer) -> None:
        world = self._world
        for event in self._external:
            world.schedule(round(event.time, 6), self._happen, event)
        if self._external:
            world.schedule(
                round(self._external[-1].time, 6), self._tell, e.NoMoreExternalEvents(self._external[-1].time)
            )
        world.told.append(self._begins())
        self._exchange(peer)
        while not self._is_over():
            if not world.told:
                due = self._next_due()
                if world.timer is not None and world.timer.running:
                    due = self._let_run(world.timer, due)
                if due == math.inf:
                    raise self._stuck()
                world.now = max(world.now, due)
                self._advance()
            if world.told:
                self._exchange(peer)
        world.told = [e.SimulationEnds(world.now)]
        self._exchange(peer)

    def _next_due(self) -> float:
        world = self._world
        due = world.calendar[0][0] if world.calendar else math.inf
        return min(due, self._submissions[self._next_job]) if self._next_job < len(self._submissions) else due

    def _let_run(self, timer: PlatformTimer, until: float) -> float:
        """Let activities run until one ends, at most until `until`; return the time it then is."""
        world = self._world
        ended = timer.advance(until)
        if not ended:
            return until
        now = max(round(timer.clock, 6), world.now)
        for record in ended:
            record.due = now
            world.schedule(now, world.job_due, record)
        return now

    def _advance(self) -> None:
        """Let everything happen that is due by now."""
        world = self._world
        now, calendar, submissions = world.now, world.calendar, self._submissions
        while self._next_job < len(submissions) and submissions[self._next_job] <= now:
            self._submit_static(self.workload.jobs[self._next_job])
        while calendar and calendar[0][0] <= now:
            _, _, action, subject = heapq.heappop(calendar)
            action(subject)

    def _exchange(self, peer: Peer) -> None:
        world = self._world
        if world.options.split_simultaneous:
            told, world.told = world.told[:1], world.told[1:]
        else:
            told, world.told = world.told, []
        for event in told if self._hosts_come_and_go else ():
            # Hosts go and come when the peer learns of it: what it decides before, it cannot know better.
            if isinstance(event, e.MachinesUnavailable):
                world.hosts.away |= event.hosts.mask
            elif isinstance(event, e.MachinesAvailable):
                world.hosts.away &= ~event.hosts.mask
        began = time.perf_counter()
        reply = peer.handle(Message(world.now, told))
        self.scheduling_seconds += time.perf_counter() - began
        self.messages += 1
        self._apply(reply)

    def _apply(self, reply: Reply) -> None:
        """Let decisions take effect at their times and go on to when the peer was ready again."""
        world = self._world
        if not reply.decisions and reply.now <= world.now:
            return
        until = round(reply.now, 6)
        carry_out = self._orders.carry_out
        for decision in reply.decisions:
            at = round(decision.time, 6)
            if at <= world.now:
                carry_out(decision)
            else:
                until = max(until, at)
                world.schedule(at, carry_out, decision)
        while until > world.now:
            due = max(min(self._next_due(), until), world.now)
            if world.timer is not None and world.timer.running:
                due = self._let_run(world.timer, due)
            world.now = due
            self._advance()

    def _is_over(self) -> bool:
        world = self._world
        return (
            self._next_job == len(self.workload.jobs)
            and not world.records
            and not world.told
            and not world.registering
            and not world.calls
            and not self._external
        )

    def _stuck(self) -> SimulationError:
        world = self._world
        waiting = [record for record in world.records.values() if record.state is JobState.SUBMITTED]
        if world.records:
            names = ", ".join(record.id for record in waiting[:5]) + (", ..." if len(waiting) > 5 else "")
            return SimulationError(
                f"at {world.now:.6f} s nothing is left to happen, but {len(world.records)} jobs have not ended: the "
                f"dispatcher neither started nor rejected {names or 'them'}"
            )
        return SimulationError(
            f"at {world.now:.6f} s nothing is left to happen, but the dispatcher never said that it finished "
            "registering jobs"
        )

    # ------------------------------------------------------------------ what happens

    def _begins(self) -> e.SimulationBegins:
        world = self._world
        options = world.options
        config = {
            "allow_compute_sharing": world.hosts.sharing,
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
            "sched-config": options.scheduler_config,
            "forward-unknown-events": options.forward_unknown_events,
        }
        # The peer's view of profiles is its own: what it registers comes back as decisions.
        profiles = {"w0": dict(self.workload.profiles)}
        return e.SimulationBegins(0.0, world.machine, config, {"w0": str(self.workload.path)}, profiles)

    def _submit_static(self, job: Job) -> None:
        world = self._world
        submission = self._submissions[self._next_job]
        self._next_job += 1
        world.submit(
            Job(
                id="w0!" + job.id,
                request=job.request,
                submission=submission,
                walltime=round(job.walltime, 6) if job.walltime < math.inf else math.inf,
                profile=job.profile,
                user=job.user,
                parent=job.parent,
                extra=job.extra,
            ),
            tell=True,
        )
        if self._next_job == len(self.workload.jobs):
            world.told.append(e.NoMoreStaticJobs(world.now))

    def _tell(self, event: e.Event) -> None:
        self._world.told.append(event)
        if isinstance(event, e.NoMoreExternalEvents):
            self._external = []

    def _happen(self, event: e.Event) -> None:
        world = self._world
        if not isinstance(event, e.Notified) or world.options.forward_unknown_events:
            world.told.append(event)
