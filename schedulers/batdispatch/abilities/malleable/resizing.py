"""Resizing: the layer under which any dispatcher runs malleable jobs."""

from __future__ import annotations

import heapq
import math
from functools import partial
from typing import Any, ClassVar

import msgspec

from batdispatch.abilities.malleable.flexible import CLOSE, SHORTEST, Flexible
from batdispatch.abilities.malleable.points import Points
from batdispatch.abilities.malleable.policy import Action, Situation, make_policy
from batdispatch.abilities.malleable.redistribution import Actions, Costs, Stages, transfer_profile
from batdispatch.abilities.malleable.reshape import (
    free_if,
    grown_to,
    kept_by,
    of_size,
    power_beyond,
    scene_if,
    units_of_machine,
    without_power,
)
from batdispatch.abilities.malleable.resizing_options import MEASURED_COSTS, ResizingOptions
from batdispatch.abilities.malleable.segments import RESIZE_STATES, Resize, Segment, Segments, SegmentState
from batdispatch.abilities.malleable.situations import situation_of, sizes_in_time
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.job import Job, JobState, Stay
from batdispatch.core.jobs.request import Request
from batdispatch.core.jobs.transfer import told_of
from batdispatch.core.line.concerns.holds import Holds
from batdispatch.core.line.concerns.registration import Registration
from batdispatch.core.line.events import Event, JobsKilled, RequestedCall
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.core.line.scene import Scene
from batdispatch.core.line.ticks import TICK
from batdispatch.core.plans.moments import milliseconds
from batdispatch.layers.base import Layer, chain, rest_name, successor, successor_id


class Resizing(Layer):
    """Resizes malleable and evolving jobs while they run, under any dispatcher.

    At a job's reconfiguring points the layer asks the policy. Batsim has no resize. So the job is killed, what is left
    of it is registered as a job that continues it (`Job.parent`), and this job starts in the same message on nodes that
    the ledger has held for it. The dispatcher inside hears of the end of one segment and of the start of the next one
    at the same time, so that to its eyes the nodes never were free.

    Expansion: the nodes are held from the decision on. In mode `async` they may have gone when the decision is carried
    out. The job then waits for others up to `timeout`, and goes before all waiting jobs when enough are free. Shrink:
    the freed nodes leave when the redistribution is over. The waiting job for which the job was shrunk starts on them
    before any other.

    Typical use: to see what it would bring if some jobs of a workload could be resized, under any dispatcher.
    Limits: Batsim must be started with `--enable-dynamic-jobs`. A malleable job needs a profile of type `delay`, a
        sequence of delays, or `parallel_homogeneous_total`. `stochastic-batch` cannot stand inside, since its plan is
        rigid. Advance reservations are refused.
    Guarantee: each logical job ends exactly once. `|sum of the segments' work - work| <= 5e-7 work` for each resize,
        since Batsim tells the progress of a killed job in six decimals. A job never loses a node that it keeps, and
        nobody else starts there in between. A job is not resized if it has ended in the message that made the layer
        decide.
    Time: `O(q s)` for a check by the policy dmr with q waiting jobs and s sizes. A resize costs one message more, and
        two decisions of the dispatcher inside. On whole hosts, jobs are looked at only when something has happened that
        lets the policy act, if the policy and the dispatcher inside say when that is, as those of this package do whose
        orderings and predictions do not change with time.
    Deviations:
        - The time of checks without action is added to the next resize, since a running job cannot be delayed.
        - While freed nodes wait for the end of a redistribution, they count as idle. The dispatcher inside does not
          know that they come, so in this time, mostly under a second, it may start a job that it would not have started
          otherwise.
        - A job that waits for nodes takes them only when all of them are free. It does not collect them one by one.
        - Which nodes a shrinking job keeps, and which an expanding one gets, is up to the placement of the dispatcher
          inside, which must accept all nodes of the job together. If it does not, the job is not resized.
    References:
        [1] Iserte, Mayo, Quintana-Ortí, Beltran, Peña: "DMR API: improving cluster productivity by turning applications
            into malleable", Parallel Computing 78, 2018.
    """

    options_type: ClassVar[type[Options]] = ResizingOptions
    registers_jobs = True
    resizes = True

    def __init__(self, options: Options | None = None, seed: int = 0) -> None:
        super().__init__(options, seed)
        if any(isinstance(inside, Resizing) for inside in chain(self.inner)):
            raise InputError("dispatcher resizing: there is resizing inside it: both would resize the same jobs")
        if not all(inside.gives_way for inside in chain(self.inner)):
            raise InputError(
                f"dispatcher resizing: found {self.options.dispatcher} inside it, expected one that can do with jobs "
                "which are resized whatever was planned"
            )
        self.policy = make_policy(self.options.policy)
        chosen, (check, expand, shrink) = self.options, MEASURED_COSTS[self.options.mode]
        self._costs = Costs(
            check=check if chosen.check_cost is None else chosen.check_cost,
            expand=expand if chosen.expand_cost is None else chosen.expand_cost,
            shrink=shrink if chosen.shrink_cost is None else chosen.shrink_cost,
            unit=chosen.unit_cost,
            acknowledge=chosen.acknowledge_cost,
            bandwidth=chosen.bandwidth,
        )
        #: What becomes of the jobs that can be resized: see there for the states and moves.
        self.segments = Segments()
        self.actions = Actions()
        #: At which of their points running segments are looked at.
        self.points = Points(self.segments, self._rest, self._pass_checks)
        #: (time, id of a segment whose freed nodes leave then).
        self._leaving: list[tuple[float, str]] = []
        #: Waiting jobs that go before all others, with the places that they were promised.
        self._boosted: dict[str, Place | None] = {}
        self._whole: dict[Request, int] = {}
        #: The waiting jobs in order of priority; None: not worked out since something happened.
        self._line: list[Job] | None = None
        #: How many units each of these jobs asks for.
        self._needs: list[int] = []

    def begin(self, ledger: Ledger) -> None:
        if self._simulates_network and not ledger.machine.exclusive:
            raise InputError(
                "dispatcher resizing: redistribution=network needs jobs that take whole hosts, but the platform states "
                "what its hosts offer"
            )
        super().begin(ledger)
        self._anywhere = self.chooses_whenever_it_fits
        self._sorts_anew = self.orders_by_time

    @property
    def _simulates_network(self) -> bool:
        return bool(self.options.redistribution == "network")

    # ------------------------------------------------------------------ events

    def _change(self) -> None:
        """Note that something has happened that may let a policy act."""
        self.points.changed, self._line = True, None

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        self._change()
        segment = self.segments.get(job.id)
        if segment is not None and segment.state is SegmentState.COMING:
            self._go_on(ledger, job, segment)
            return
        if segment is not None:
            # It is shown anew, by a layer around this one.
            self.inner.on_submit(ledger, job)
            return
        sizes = job.request.sizes
        if sizes is not None and (sizes.resizable or self.options.moldable == "fitting"):
            flexible = Flexible(job, sizes, ledger.profiles.get(job.id.partition("!")[0], {}))
            flexible.longest = ledger.concerns.longest(job)
            self.segments.enter(Segment(job.id, flexible, SegmentState.WAITING))
            if self.reshapes(ledger, job):
                self._replace(ledger, job, self._possible_sizes(ledger, flexible, job)[0], None)
                return
        self.inner.on_submit(ledger, job)
        self.forget_rejected(ledger)

    def reshapes(self, ledger: Ledger, job: Job) -> bool:
        sizes = job.request.sizes
        if self.options.moldable == "asked" or sizes is None or job.parent or not ledger.why_impossible(job):
            return super().reshapes(ledger, job)
        flexible = Flexible(job, sizes, ledger.profiles.get(job.id.partition("!")[0], {}))
        return bool(self._possible_sizes(ledger, flexible, job))

    def _possible_sizes(self, ledger: Ledger, flexible: Flexible, job: Job) -> list[int]:
        """Return the sizes below the one that a job asks for on which it can run and end in time, largest first."""
        return [
            size
            for size in flexible.sizes.below(job.units)
            if not ledger.why_impossible(of_size(job, size)) and self._ends_in_time(flexible, size)
        ]

    def on_start(self, ledger: Ledger, stay: Stay) -> None:
        self._change()
        self.inner.on_start(ledger, stay)
        segment = self.segments.get(stay.job.id)
        if segment is None:
            return
        segment.flexible.begun = True
        if segment.after is not None:
            self.segments.move(segment, SegmentState.MOVING)
        elif not ledger.roll.has_begun(stay.job.id):
            self.segments.move(segment, SegmentState.BOOTING)
        elif segment.state is not SegmentState.SEEKING:
            self._work(ledger, segment)

    def _work(self, ledger: Ledger, segment: Segment) -> None:
        """Look at a segment at its points from now on, at which it runs."""
        self.segments.move(segment, SegmentState.WORKING)
        self.points.follow(segment, ledger.running[segment.name], ledger.now)

    def on_called_off(self, ledger: Ledger, stay: Stay) -> None:
        self._change()
        segment = self.segments.get(stay.job.id)
        if segment is not None:
            self.segments.move(segment, SegmentState.WAITING)
        super().on_called_off(ledger, stay)

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        self._change()
        name = stay.job.id
        segment = self.segments.get(name)
        if segment is not None:
            self.points.end(segment, stay, ledger.now)
        if segment is not None and segment.after is not None and stay.state is JobState.COMPLETED_FAILED:
            self._register_moved(ledger, segment, segment.after, stay)
            return
        if segment is not None and segment.state is SegmentState.STOPPING:
            assert segment.resize is not None, "it is stopped for one"
            if stay.state is JobState.COMPLETED_KILLED:
                # The dispatcher inside hears of it when the job goes on.
                segment.resize.ended = stay
                self.segments.move(segment, SegmentState.STOPPED)
                return
            # It ended while it was being stopped; whoever was promised its nodes finds them free.
            self._promise(segment.resize)
        self.segments.drop(name)
        Holds.of(ledger).release(name)
        self.inner.on_end(ledger, stay)

    def on_event(self, ledger: Ledger, event: Event) -> None:
        if not isinstance(event, RequestedCall):
            self._change()
        super().on_event(ledger, event)

    def on_withdrawn(self, ledger: Ledger, job: Job) -> None:
        self._change()
        super().on_withdrawn(ledger, job)

    def on_killed(self, ledger: Ledger, event: JobsKilled) -> None:
        self._change()
        stopped = [name for name in event.job_ids if name in self.segments.of(SegmentState.STOPPED)]
        others = [name for name in event.job_ids if name not in stopped]
        if others:
            progress = {name: told for name, told in event.progress.items() if name in others}
            self.inner.on_killed(ledger, msgspec.structs.replace(event, job_ids=others, progress=progress))
        for name in stopped:
            resize = self.segments[name].resize
            assert resize is not None, "it was stopped for one"
            assert resize.ended is not None, "its end is told before"
            self._register_rest(ledger, resize, resize.ended, event)

    def _register_rest(self, ledger: Ledger, resize: Resize, stay: Stay, event: JobsKilled) -> None:
        """Register what is left of a job that was stopped; it starts when the simulator has acknowledged it."""
        job, flexible = stay.job, self._over(stay.job.id)
        flexible.end_segment(
            event.time - stay.start, job.units, event.progress.get(job.id, {}), charge=self.options.charge
        )
        # Nothing left: it was stopped at its very end. A segment without work lets it end as it would have.
        done = 1.0 - flexible.done <= CLOSE
        flexible.overhead = 0.0 if done else resize.overhead
        flexible.owed = flexible.owed if resize.waits else 0.0
        if self._simulates_network and flexible.sizes.data > 0 and not (resize.waits or done):
            self._register_move(ledger, flexible, resize, stay)
        else:
            self._register(ledger, flexible, resize, job)

    def _register_move(self, ledger: Ledger, flexible: Flexible, resize: Resize, stay: Stay) -> None:
        """Register the redistribution of a job's data, on all hosts that it has before or after a resize."""
        assert resize.place is not None, "it was stopped for this place"
        before, after = stay.allocation, resize.place.allocation
        place = Place(before) if before.size > after.size else resize.place
        move = Resize(place.allocation.units, place, ended=stay, then=resize)
        self._register(ledger, flexible, move, stay.job, transfer_profile(flexible.sizes.data, before, after))

    def _register_moved(self, ledger: Ledger, segment: Segment, resize: Resize, stay: Stay) -> None:
        """Register what is left of a job whose data has been redistributed."""
        resize.ended, flexible = stay, self._over(segment.name)
        if self.options.charge:
            flexible.left -= ledger.now - stay.start
        self._register(ledger, flexible, resize, stay.job)

    def _register(
        self,
        ledger: Ledger,
        flexible: Flexible,
        resize: Resize,
        before: Job,
        told: dict[str, Any] | None = None,
    ) -> None:
        """Register the segment of a job that follows another one, with a profile other than that of what is left."""
        flexible.segments += 1
        first = flexible.job
        workload, name = first.id.partition("!")[0], successor_id(ledger, first, flexible.segments)
        profile = rest_name(name)
        Registration.of(ledger).register_profile(
            workload, profile, flexible.rest(resize.units) if told is None else told
        )
        self.segments.enter(Segment(name, flexible, SegmentState.COMING, resize))
        Registration.of(ledger).register_job(
            successor(
                ledger,
                # A layer that shares power says what it asks for of that.
                without_power(of_size(first, resize.units)),
                before,
                name,
                walltime=self._walltime(flexible, resize.units, before.units),
                profile=profile,
                extra=_leaving_of(flexible, resize),
            )
        )

    def _over(self, name: str) -> Flexible:
        """Forget a segment that is over, and return its job."""
        segment = self.segments.drop(name)
        assert segment is not None, "it is known as long as it is not over"
        return segment.flexible

    def _walltime(self, flexible: Flexible, units: int, before: int) -> float:
        """Return the walltime of a segment on some units that follows one on others, in seconds."""
        if self.options.walltime == "scaled":
            time = flexible.sizes.scalability.time
            flexible.left *= time(units) / time(before)
        walltime = round(max(flexible.left + (0.0 if self.options.charge else flexible.overhead), SHORTEST), 6)
        return min(walltime, flexible.longest)

    def _go_on(self, ledger: Ledger, job: Job, segment: Segment) -> None:
        """Start what is left of a job, on the nodes that were held for it."""
        flexible, resize = segment.flexible, segment.resize
        assert resize is not None, "it comes by one"
        place, segment.after = resize.place, resize.then
        if resize.ended is not None:
            self.inner.on_end(ledger, resize.ended)
        self.inner.on_submit(ledger, job)
        self._promise(resize)
        if job.id not in ledger.queue or place is None or not self._may_go_on(ledger, job, place):
            # A host, or power, went away at this very moment: it waits like any other job.
            self.segments.move(segment, SegmentState.WAITING)
            if resize.then is not None:
                resize.then.place = None
            Holds.of(ledger).release(job.parent)
            self.forget_rejected(ledger)
            return
        if resize.waits:
            until = milliseconds(ledger.now + self.options.timeout)
            segment.seeks = resize.waits, until
            self.segments.move(segment, SegmentState.SEEKING)
            ledger.wake_at(max(until, ledger.now + TICK))
        self.inner.give_way(ledger, job, place)
        ledger.start(job, place)
        if resize.then is not None:
            self._hold_beside(ledger, job, resize.then.beside)
        elif flexible.overhead > 0 and self._hold_beside(ledger, job, resize.frees):
            leave = milliseconds(ledger.now + flexible.overhead)
            heapq.heappush(self._leaving, (leave, job.id))
            ledger.wake_at(leave)

    def _may_go_on(self, ledger: Ledger, job: Job, place: Place) -> bool:
        """Return whether a place is still there; nothing is held for a job that was molded."""
        if place.allocation.mask & ledger.unavailable:
            return False
        return job.parent in Holds.of(ledger).holds or ledger.space.lacking(ledger.free, job, place.allocation) is None

    def _hold_beside(self, ledger: Ledger, job: Job, hosts: Allocation | None) -> bool:
        """Keep hosts from others as long as a running job redistributes data, and return whether there are any."""
        there = None if hosts is None else hosts.without(ledger.unavailable)
        if there is not None:
            Holds.of(ledger).hold(job, there)
        return there is not None

    def _promise(self, resize: Resize) -> None:
        if resize.boosted is not None:
            name, place = resize.boosted
            self._boosted[name] = place

    def forget(self, job_id: str) -> None:
        self._change()
        self.segments.drop(job_id)

    # ------------------------------------------------------------------ decisions

    def decide(self, ledger: Ledger) -> None:
        while self._leaving and self._leaving[0][0] <= ledger.now + TICK / 2:
            Holds.of(ledger).release(heapq.heappop(self._leaving)[1])
            self._change()
        for segment in list(self.segments.of(SegmentState.BOOTING).values()):
            if ledger.roll.has_begun(segment.name):
                self._work(ledger, segment)
                self._change()
        if self._sorts_anew:
            self._line = None
        if self.segments.of(SegmentState.COMING):
            # What is about to start keeps its nodes.
            self.points.block(ledger.now)
            return
        self._start_boosted(ledger)
        self._expand_waiting(ledger)
        self.inner.decide(ledger)
        self.forget_rejected(ledger)
        idle_until = self.inner.idle_until(ledger)
        if self.options.moldable == "fitting" and self._mold_first(ledger):
            # The dispatcher inside goes on with what that leaves when it is called next.
            idle_until = min(idle_until, ledger.now)
        self._check_due(ledger, idle_until)

    # ------------------------------------------------------------------ sizes at the start

    def _mold_first(self, ledger: Ledger) -> bool:
        """Start the first waiting job on fewer units than it asks for, and the next ones, as long as they can be.

        Return whether there were any.
        """
        molded = False
        while not self.segments.of(SegmentState.COMING):
            job = next(iter(self._waiting(ledger)), None)
            segment = None if job is None else self.segments.get(job.id)
            if job is None or segment is None or segment.flexible.begun or ledger.fits(job):
                return molded
            flexible = segment.flexible
            fitting = (size for size in flexible.sizes.below(job.units) if ledger.fits(of_size(job, size)))
            size = next((size for size in fitting if self._ends_in_time(flexible, size)), None)
            place = None if size is None else self.choose(Scene(ledger), of_size(job, size))
            if size is None or place is None:
                return molded
            self.mold(ledger, job, size, place)
            molded = True
        return molded

    def _ends_in_time(self, flexible: Flexible, units: int) -> bool:
        return (
            flexible.total is None
            or self.options.walltime == "scaled"
            or flexible.seconds(units) < flexible.job.walltime
        )

    def mold(self, ledger: Ledger, job: Job, units: int, place: Place) -> None:
        """Start a waiting job on another number of units than it asks for, at a place for so many.

        Batsim runs a job on no other number. So the job is rejected, and another one continues it, which is the same
        for all that looks at logical jobs. A dispatcher inside the layer may decide so, too.
        """
        self.inner.on_withdrawn(ledger, job)
        self._replace(ledger, job, units, place)

    def _replace(self, ledger: Ledger, job: Job, units: int, place: Place | None) -> None:
        """Reject a waiting job, and register one on another number of units that continues it; None: it waits."""
        flexible = self._over(job.id)
        name = successor_id(ledger, flexible.job, flexible.segments + 1)
        ledger.reject(job, f"it starts on {units} units, as job {name}")
        self._register(ledger, flexible, Resize(units, place), job)

    # ------------------------------------------------------------------ expansions that wait, and checks

    def _start_boosted(self, ledger: Ledger) -> None:
        """Start the jobs that running ones were shrunk for, as soon as their nodes are there."""
        for name, promised in list(self._boosted.items()):
            job = ledger.queue.get(name)
            if job is None:
                del self._boosted[name]
                self._change()
                continue
            place = promised
            if place is None or ledger.space.lacking(ledger.free, job, place.allocation) is not None:
                place = self.choose(Scene(ledger), job) if ledger.fits(job) else None
            if place is not None:
                del self._boosted[name]
                self.inner.give_way(ledger, job, place)
                ledger.start(job, place)

    def _expand_waiting(self, ledger: Ledger) -> None:
        """Give nodes to the jobs that wait for them, in the order in which they began to; drop who waited too long."""
        for name, segment in list(self.segments.of(SegmentState.SEEKING).items()):
            self._change()
            stay, flexible, (units, until) = ledger.running[name], segment.flexible, segment.seeks
            Holds.of(ledger).release(name)
            hosts = self._grown(ledger, flexible, stay, units)
            if hosts is not None:
                self.actions.did("expand", self._stages(flexible, stay, units), ledger.now - stay.start)
                self._stop(ledger, stay, Resize(units, Place(hosts), self._cost(flexible, stay, units)))
            elif ledger.now >= until - TICK:
                self.segments.move(segment, SegmentState.WORKING)
                self.actions.dropped += 1
                self.points.follow(segment, stay, ledger.now)

    def _check_due(self, ledger: Ledger, idle_until: float) -> None:
        """Ask the policy about the jobs that are at a reconfiguring point, in the order in which they came there.

        `idle_until`: as the dispatcher inside says, s. If a job that was molded is about to start, they are asked about
        once it has its hosts.
        """
        if self.segments.of(SegmentState.COMING):
            self.points.block(ledger.now)
            return
        for time, segment in self.points.due(ledger, idle_until):
            flexible, stay = segment.flexible, ledger.running[segment.name]
            decided, flexible.decided = flexible.decided, None
            if decided is None or not self._carry_out(ledger, flexible, stay, decided):
                self._check(ledger, segment, stay, time)

    def _check(self, ledger: Ledger, segment: Segment, stay: Stay, point: float) -> None:
        """Ask the policy about a job at a reconfiguring point, which may have been told a moment late."""
        flexible, waiting = segment.flexible, self._waiting(ledger)
        action = self.policy.answer(self._situation(ledger, flexible, stay))
        if action.kind != "ignored":
            flexible.checked = point
            self._pass_checks(segment, 1)
        acts = action.kind in ("expand", "shrink")
        flexible.meant = waiting[action.boosted].id if action.boosted is not None else ""
        if acts and self.options.mode == "sync" and self._carry_out(ledger, flexible, stay, action):
            return
        later = acts and self.options.mode == "async"
        flexible.decided = action if later else None
        self.points.follow(segment, stay, ledger.now, ignore=not later)

    def _pass_checks(self, segment: Segment, count: int) -> None:
        """Count checks of a job after which it goes on as before."""
        for _ in range(count):
            segment.flexible.owed += self._costs.check
        self.actions.checks += count

    def _rest(self, ledger: Ledger, segment: Segment) -> float:
        """Return until when the policy would do nothing with a job at its points (theory in `points`)."""
        flexible, stay = segment.flexible, ledger.running[segment.name]
        if flexible.decided is not None or not (self._anywhere and ledger.counts_hosts):
            # Other hosts may do for a job later.
            return -math.inf
        widest = self._situation(ledger, flexible, stay, in_time=False)
        if self.policy.rests(widest):
            return math.inf
        if self.options.walltime != "left":
            return -math.inf
        sizes, later = sizes_in_time(flexible, stay, ledger.now, partial(self._cost, flexible, stay))
        rests = later > -math.inf and self.policy.rests(msgspec.structs.replace(widest, sizes=sizes))
        return later if rests else -math.inf

    def _waiting(self, ledger: Ledger) -> list[Job]:
        """Return the waiting jobs in order of priority, without those that have been promised nodes."""
        if self._line is None:
            resizes = [segment.resize for state in RESIZE_STATES for segment in self.segments.of(state).values()]
            promised = {resize.boosted[0] for resize in resizes if resize is not None and resize.boosted is not None}
            promised.update(self._boosted, self.segments.of(SegmentState.COMING))
            self._line = self.in_order(ledger, [job for name, job in ledger.queue.items() if name not in promised])
            self._needs = [job.request.units for job in self._line]
        return self._line

    def _situation(self, ledger: Ledger, flexible: Flexible, stay: Stay, *, in_time: bool = True) -> Situation:
        """Return what the policy sees of a job at a reconfiguring point.

        `in_time`: without sizes at which the job would not end before its walltime.
        """
        if flexible.machine is None:
            request = flexible.job.request
            if request not in self._whole:
                self._whole[request] = units_of_machine(ledger, flexible.job)
            flexible.machine = self._whole[request]
        return situation_of(
            ledger,
            flexible,
            stay,
            self._waiting(ledger),
            self._needs,
            choose=self.choose,
            anywhere=self._anywhere,
            cost=partial(self._cost, flexible, stay),
            machine=flexible.machine,
            # A walltime that is scaled is no reason against a size.
            in_time=in_time and self.options.walltime == "left",
        )

    # ------------------------------------------------------------------ resizes

    def _cost(self, flexible: Flexible, stay: Stay, units: int) -> float:
        """Return the seconds that a resize takes, with those of the checks before it."""
        return self._stages(flexible, stay, units).whole

    def _stages(self, flexible: Flexible, stay: Stay, units: int) -> Stages:
        data = 0.0 if self._simulates_network else flexible.sizes.data
        return self._costs.of(stay.job.units, units, data, flexible.owed)

    def _carry_out(self, ledger: Ledger, flexible: Flexible, stay: Stay, action: Action) -> bool:
        """Resize a running job as was decided, and return whether it is resized or waits for nodes."""
        stages = self._stages(flexible, stay, action.units)
        if action.kind == "expand":
            hosts = self._grown(ledger, flexible, stay, action.units)
            if hosts is None:
                return self.options.mode == "async" and self._wait_for_nodes(ledger, stay, action.units)
            resize = Resize(action.units, Place(hosts), stages.whole)
        else:
            kept = kept_by(ledger, self.choose, stay, action.units)
            if kept is None:
                return False
            resize = Resize(action.units, Place(kept), stages.whole)
            freed = stay.allocation.without(kept.mask)
            resize.frees = freed if self.options.acknowledge else None
            # In mode async it may wait no longer.
            job = ledger.queue.get(flexible.meant)
            if job is not None:
                resize.boosted = (job.id, self._promised(ledger, stay, kept, job))
        self.actions.did(action.kind, stages)
        self._stop(ledger, stay, resize)
        return True

    def _grown(self, ledger: Ledger, flexible: Flexible, stay: Stay, units: int) -> Allocation | None:
        """Return the hosts of a running job for more units than it has; None: there are none, or never would be."""
        if ledger.why_impossible(of_size(flexible.job, units)):
            return None
        return grown_to(ledger, self.choose, stay, units)

    def _promised(self, ledger: Ledger, stay: Stay, kept: Allocation, job: Job) -> Place | None:
        """Return where a waiting job will start when a running one has shrunk, or None if that is not certain."""
        if not ledger.machine.exclusive:
            return None
        return self.choose(scene_if(ledger, stay, free_if(ledger, stay, kept), kept), job)

    def _stop(self, ledger: Ledger, stay: Stay, resize: Resize) -> None:
        """Stop a running job so that it goes on elsewhere, and hold the nodes for that."""
        promised = None if resize.boosted is None else resize.boosted[1]
        # What the waiting job gets beside the freed nodes stays free for it, too.
        resize.beside = None if promised is None else promised.allocation.without(stay.allocation.mask)
        if resize.frees is not None:
            resize.frees = resize.frees.joined(resize.beside)
        assert resize.place is not None, "it is stopped for this place"
        held = resize.place.allocation.joined(resize.frees or resize.beside)
        segment = self.segments[stay.job.id]
        segment.resize, segment.flexible.due = resize, math.inf
        self.segments.move(segment, SegmentState.STOPPING)
        Holds.of(ledger).hold(stay.job, held, power_beyond(stay.job, resize.units))
        ledger.kill([stay.job])
        self._change()

    def _wait_for_nodes(self, ledger: Ledger, stay: Stay, units: int) -> bool:
        """Let a job whose nodes have gone wait for others, without working, and return True."""
        self._stop(ledger, stay, Resize(stay.job.units, Place(stay.allocation), self.options.timeout, waits=units))
        return True

    # ------------------------------------------------------------------ the run

    def registration_done(self, ledger: Ledger) -> bool:
        return super().registration_done(ledger) and not self.segments

    def report(self) -> dict[str, Any]:
        return {**super().report(), "resizing": self.actions.report()}


def _leaving_of(flexible: Flexible, resize: Resize) -> dict[str, Any]:
    """Return the fields by which a segment says which hosts are kept free beside it while data is redistributed."""
    if resize.then is not None:
        to = "" if resize.then.boosted is None else resize.then.boosted[0]
        return told_of(resize.then.beside, None, to)
    to = "" if resize.boosted is None else resize.boosted[0]
    return told_of(resize.frees if flexible.overhead > 0 else None, flexible.overhead, to)
