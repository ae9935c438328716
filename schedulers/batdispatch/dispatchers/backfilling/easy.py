"""EASY backfilling."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar, Literal

from batdispatch.core.capacity.space import HostCount, HostSpace, Space
from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.core.line.roles import Gap
from batdispatch.core.line.scene import Scene
from batdispatch.core.line.ticks import TICK
from batdispatch.core.plans.moments import end_of
from batdispatch.dispatchers.backfilling.lanes import Longest
from batdispatch.dispatchers.backfilling.queue import Ends, PlanningQueue, PlanOptions
from batdispatch.parts.ordering import make_ordering
from batdispatch.parts.ordering.window import in_order

#: What nothing is reserved on.
_NEVER = ((-1, 0), "")
#: Shortest gap that is offered to layers, in seconds.
SHORTEST = 1.0


class EasyOptions(PlanOptions, frozen=True, kw_only=True):
    """Options of EASY.

    reservation: Reserve this for the head of the queue at its shadow time. `count`: a number of hosts (on shared nodes:
        that it can be placed), as in the literature. `hosts`: particular hosts, as Batsim's easy_bf does. A job that
        would outlive the shadow time then stays off these hosts.
    backfill: Let jobs run ahead of the head in this order (`batdispatch list orderings`). Unless given, they do so in
        the order of `ordering`. `sjf` is the literature's EASY-SJBF.
    """

    reservation: Literal["count", "hosts"] = "count"
    backfill: str = ""


class Easy(PlanningQueue):
    """Starts jobs in order. When the head of the queue does not fit, others may run ahead if they do not delay it.

    The shadow time is the earliest moment at which enough running jobs have reached their expected end for the head to
    start. A job may run ahead of the head if it fits now and either ends by the shadow time, or uses only what the head
    leaves spare at that time.

    Typical use: the backfilling that most production schedulers are compared with, for logs with walltimes or a
        prediction.
    Limits: jobs without a walltime are expected to run for ever. If no job has a walltime, the head has no shadow time.
        Then every job that fits starts, as under `filler`, and the head may starve. To avoid this, set
        `default_walltime`.
    Guarantee: `start(head) <= shadow(head)` from the moment at which a job becomes the head of the queue, in the
        default order and if no job outlives its expected end. There is no guarantee for the jobs behind the head.
    Time: `O(r + l + c (log l + n))` when capacity was freed, for r running jobs, c jobs that are tried, and l groups of
        jobs that ask alike, of at most n jobs each. With an ordering that changes over time it is `O(q + r)` for q
        waiting jobs. When nothing was freed, only new jobs are tried.
    Deviations:
        - On nodes with several resources the reservation is per node and resource. The literature counts processors.
        - `reservation=hosts` reserves particular hosts, as batsched's easy_bf does. This is another algorithm than
          `count`.
        - When a job outlives its expected end, `correction` says when it is expected to end from then on. The
          literature without predictions knows no such jobs.
        - In batsched's easy_bf_fast no job ever runs beside the reservation. There is no option for that.
    References:
        [1] Lifka: "The ANL/IBM SP scheduling system", JSSPP 1995. doi:10.1007/3-540-60153-8_35
        [2] Mu'alem, Feitelson: "Utilization, predictability, workloads, and user runtime estimates in scheduling the
            IBM SP2 with backfilling", IEEE TPDS 12(6), 2001, pp. 529-543, section 2.1. doi:10.1109/71.932708
        [3] Tsafrir, Etsion, Feitelson: "Backfilling using system-generated predictions rather than user runtime
            estimates", IEEE TPDS 18(6), 2007, pp. 789-803. doi:10.1109/TPDS.2007.70606 (`backfill=sjf`)
    """

    options_type: ClassVar[type[Options]] = EasyOptions
    searches: ClassVar[bool] = True
    heeds_choices = True

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self.ends = Ends()
        self._counts = self.options.reservation == "count"
        self._ahead = make_ordering(self.options.backfill) if self.options.backfill else None
        if self._ahead is not None:
            self._ahead.begin(ledger)
        #: Whether it matters for the reservation who holds which hosts, beside how many are free where.
        self._looks_at_places = not (self._counts and self.placement.complete)
        #: Whether the reservation sees a mere number of hosts, and the space that says so.
        self._pooled = self._counts and self.placement.complete and isinstance(ledger.space, HostSpace)
        self._space: Space[Any] = HostCount(ledger.machine) if self._pooled else ledger.space
        self._basis: tuple[tuple[int, int], str] = _NEVER
        self._shadow = math.inf
        #: For whom room is reserved: the head of the queue, unless the ordering says otherwise.
        self._reserved: Job | None = None
        #: Number of free hosts, where hosts are counted.
        self._free = 0
        #: Free at the shadow time: all of it for `count`, without the head's own hosts for `hosts`.
        self._at_shadow: Any = None
        #: Who holds something then, the head for `hosts` included: for placements that may refuse a place.
        self._held: list[tuple[Job, Place]] = []

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        super().on_submit(ledger, job)
        if self._pooled and not ledger.plain:
            # From now on it matters which hosts are free, not only how many.
            self._pooled, self._space, self._basis = False, ledger.space, _NEVER

    def on_start(self, ledger: Ledger, stay: Stay) -> None:
        self.ends.add(stay, end_of(stay.start, self.booked(stay.job)))

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        super().on_end(ledger, stay)
        if self._ahead is not None:
            self._ahead.ended(stay, ledger.now)
        self.ends.remove(stay.job.id)

    def decide(self, ledger: Ledger) -> None:
        if not self.waiting:
            return
        fresh = not (
            self.correct(self.ends) or self.ordering.dynamic or (self.epoch(ledger), self.waiting[0].id) != self._basis
        )
        if not fresh:
            self.start_from_head(ledger)
            if len(self.waiting) < 2:
                self._basis = _NEVER
                self.forget_started([])
                return
            self._reserved = self.first_reserving(ledger)
            self._reserve(ledger, self._reserved)
            self._basis = (self.epoch(ledger), self.waiting[0].id)
        if self._pooled:
            if fresh and not self.fresh:
                return
            self._free = ledger.free_hosts
            if not self._free:
                self.forget_started([])
                return
        self.call_if_missed(self._shadow)
        head = self._reserved
        candidates: Iterable[Job] = self.candidates(ledger, self._longest(ledger, head), fresh=fresh)
        if self._ahead is not None:
            candidates = in_order(ledger, self._ahead, list(candidates), self.expected)
        self.forget_started([job for job in candidates if job is not head and self._backfill(ledger, job, head)])

    def _longest(self, ledger: Ledger, head: Job | None) -> Longest:
        """Return how long a job may run at most to start now: for who does not fit what the head leaves spare.

        Only where hosts are counted; elsewhere it takes a place to see who would delay the head.
        """
        if not self._pooled:
            return lambda job: math.inf if ledger.fits(job) else -1.0
        # A tick more than exactly, since ends are rounded; `_backfill` decides.
        until_shadow = self._shadow - ledger.now - self.lateness.delay + TICK

        def longest(job: Job) -> float:
            units = job.request.units
            if units > self._free:
                return -1.0
            return math.inf if head is None or units <= self._at_shadow - head.units else until_shadow

        return longest

    def _backfill(self, ledger: Ledger, job: Job, head: Job | None) -> bool:
        """Start a job if it does not delay the head."""
        outlives = end_of(ledger.now, self.booked(job)) > self._shadow
        if outlives and not self._counts:
            free = ledger.space.meet(ledger.free, self._at_shadow)
            # It must not be in the way of those that run now, nor of the head.
            place = self._place(Scene(ledger, free, lambda: (*Scene(ledger).held, *self._held)), job)
        else:
            place = self.choose_now(job)
        if place is None:
            return False
        if outlives and head is not None:
            left = self._space.take(self._at_shadow, job, place.allocation)
            held = [*self._held, (job, place)] if self._looks_at_places else []
            if self._counts and not self._head_fits(left, head, self._shadow, held):
                return False
            self._at_shadow, self._held = left, held
        self._free -= place.allocation.size
        ledger.start(job, place)
        return True

    def _reserve(self, ledger: Ledger, head: Job | None) -> None:
        """Find the head's shadow time and what, or how many hosts, are free then."""
        if head is None:
            self._shadow = math.inf
            return
        count, shadow, free = self._first_room(ledger, head)
        if not self._looks_at_places:
            self._shadow, self._at_shadow = shadow, free
            return
        ends = [(end, stay) for end, _, stay in self.ends]
        if shadow < math.inf and not self.placement.complete:
            count, shadow, free = self._first_place(ledger, head, ends, count)
        self._shadow, self._at_shadow = shadow, free
        self._held = self._holding(ends[count:])
        if not self._counts:
            place = self._place(Scene(ledger, free, lambda: self._held, None, shadow), head)
            if place is not None:
                self._at_shadow = self._space.take(free, head, place.allocation)
                self._held.append((head, place))

    def _first_room(self, ledger: Ledger, head: Job) -> tuple[int, float, Any]:
        """Return after how many ends, when, and with what free there is room for the head, wherever."""
        add, fits = self._with, self._space.fits
        free = ledger.free_hosts if self._pooled else ledger.free
        count, shadow = 0, math.inf
        for end, _, stay in self.ends:
            # All jobs that end at the shadow time leave room, not only as many as the head needs.
            if end > shadow:
                break
            free = add(free, stay)
            count += 1
            if shadow == math.inf and fits(free, head):
                shadow = end
        return count, shadow, free

    def _first_place(
        self, ledger: Ledger, head: Job, ends: list[tuple[float, Stay]], count: int
    ) -> tuple[int, float, Any]:
        """Return after how many ends, when, and with what free the placement finds the head a place.

        A place stays one when more jobs end, so that few numbers of ends have to be tried.

        Args:
            ledger: the cluster.
            head: the head of the queue.
            ends: expected ends of the running jobs, soonest first.
            count: number of ends after which there is room for the head.
        """

        numbers = [
            number
            for number in range(count, len(ends) + 1)
            if number == len(ends) or ends[number][0] != ends[number - 1][0]
        ]

        def after(index: int) -> tuple[bool, tuple[int, float, Any]]:
            number = numbers[index]
            end, free = ends[number - 1][0], ledger.free
            for _, stay in ends[:number]:
                free = self._with(free, stay)
            fits = self._head_fits(free, head, end, self._holding(ends[number:]))
            return fits, (number, end if fits else math.inf, free)

        # Twice as far each time, until there is a place; then halving in between.
        below, above, step = -1, 0, 1
        fits, best = after(above)
        while not fits:
            if above == len(numbers) - 1:
                return best
            below, above, step = above, min(above + step, len(numbers) - 1), 2 * step
            fits, best = after(above)
        while above - below > 1:
            middle = (below + above) // 2
            fits, found = after(middle)
            if fits:
                above, best = middle, found
            else:
                below = middle
        return best

    def _with(self, free: Any, stay: Stay) -> Any:
        """Return what is free once a running job has ended."""
        away = self.ledger.unavailable
        if self._pooled:
            hosts = stay.allocation
            return free + ((hosts.mask & ~away).bit_count() if away else hosts.size)
        free = self._space.give(free, stay.job, stay.allocation)
        return self._space.only(free, ~away) if away else free

    def _holding(self, ends: list[tuple[float, Stay]]) -> list[tuple[Job, Place]]:
        return [] if self.placement.complete else [(stay.job, Place(stay.allocation)) for _, stay in ends]

    def _head_fits(self, free: Any, head: Job, time: float, held: list[tuple[Job, Place]]) -> bool:
        if not self._space.fits(free, head):
            return False
        scene = Scene(self.ledger, free, lambda: held, None, time)
        return self.placement.complete or self._place(scene, head) is not None

    def give_way(self, ledger: Ledger, job: Job, place: Place) -> None:
        super().give_way(ledger, job, place)
        # What the head leaves spare is less than it was.
        self._basis = _NEVER

    # ------------------------------------------------------------------ questions of layers

    def planned_starts(self, ledger: Ledger) -> list[tuple[float, int]]:
        """When the head of the queue may start, and where."""
        head = self._reserved if self._reserved is not None and self._reserved.id in ledger.queue else None
        head = head or next(iter(self.waiting), None)
        shadow = math.inf if head is None else self._first_room(ledger, head)[1]
        if head is None or shadow == math.inf:
            return []
        free, space, held = ledger.free, ledger.space, []
        for end, _, stay in self.ends:
            if end <= shadow:
                free = space.give(free, stay.job, stay.allocation)
            else:
                held.append((stay.job, Place(stay.allocation)))
        free = space.only(free, ~ledger.unavailable)
        place = self._place(Scene(ledger, free, lambda: held, None, shadow), head)
        return [] if place is None else [(shadow, place.allocation.mask)]

    def gaps(self, ledger: Ledger) -> list[Gap]:
        """What is free until the head of the queue may start."""
        length = self._shadow - ledger.now - self.lateness.delay if len(self.waiting) > 1 else 0.0
        return [Gap(ledger.space, ledger.free, length)] if SHORTEST <= length < math.inf else []
