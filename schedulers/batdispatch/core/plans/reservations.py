"""Reservations on a timeline: the plan that every planning dispatcher keeps, made from a list of jobs.

Taking jobs from a list in order and reserving each its earliest start is *serial* list scheduling (the schedules are
active: no job could start earlier without delaying one that stands before it in the list). Conservative backfilling,
the batch scheduler of stochastic jobs and `best-list` are this with different lists.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import Any, NamedTuple

from batdispatch.core.capacity.space import Space, present
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.scene import Choose, Scene
from batdispatch.core.plans.moments import end_of
from batdispatch.core.plans.returns import Returns
from batdispatch.core.plans.timeline import Chooser, Timeline


class Reservation(NamedTuple):
    """What is kept for a job: from `start` to `end`, in seconds, at `place`.

    If the job is expected to end a moment later, when the next reservation of its hosts has begun, `cut` says by how
    many seconds.
    """

    #: For which it is kept.
    job: Job
    #: From when on, s.
    start: float
    #: Until when, s.
    end: float
    #: Where.
    place: Place
    #: By how much it is shorter than the job, s.
    cut: float = 0.0

    @property
    def expected_end(self) -> float:
        """When the job is expected to end, in seconds."""
        return end_of(self.end, self.cut)

    def whole(self) -> Reservation:
        """Return the reservation up to the job's expected end."""
        return self._replace(end=self.expected_end, cut=0.0)


class Reservations:
    """Who is to hold what and until when: jobs that run, and jobs that wait and have a planned start.

    Commands (`reserve`, `replan`, `withdraw`, `begin`, `hold`, `end`, `settle`, `renew`) change the plan; everything
    else only looks.

    Ends that are told a moment late would otherwise break a plan in which one job follows another: the next one starts
    late, so that it no longer fits before the one after it, and would go to the end of the plan. Therefore a job may
    have a place that is too short for it by up to `slack` seconds. Its reservation is cut there, and `settle` moves
    later ones by as little as makes all whole again.

    Attributes:
        timeline: what is free when nothing but the plan happens.
        planned: reservations of jobs that wait, by a key that the owner chooses (a job's id, as a rule).
        held: reservations of jobs that run, by id.
        away: masks of hosts that are not there from one time to another, s, such as hosts that are waking up.
    """

    def __init__(
        self,
        ledger: Ledger,
        choose: Choose,
        space: Space[Any] | None = None,
        *,
        slack: float = 0.0,
        patience: Callable[[Job, float], float] = lambda job, now: math.inf,
    ) -> None:
        """Begin with an empty plan, of a machine on which nothing runs.

        Args:
            ledger: the cluster.
            choose: a placement's `place` (`self.placement.place` in a `QueueDispatcher`), or a function like it.
            space: how capacity is planned; the ledger's own unless a coarser one suffices.
            slack: seconds by which a place may be too short for its job.
            patience: returns the next moment after some time, both in seconds, from which on `choose` takes places for
                a job that it refuses before.
        """
        self._slack = slack
        self._patience = patience
        #: Whether there may be a reservation that is cut.
        self._unsettled = False
        self._choose = choose
        self.space = ledger.space if space is None else space
        self._pooled = self.space is not ledger.space
        self.planned: dict[str, Reservation] = {}
        self.held: dict[str, Reservation] = {}
        self.away: list[tuple[int, float, float]] = []
        #: Reservations of jobs that are tried before them.
        self._aside: dict[str, Reservation] = {}
        self._returns = Returns()
        self._ledger = ledger
        self.timeline = self._empty(away=True)

    def _empty(self, *, away: bool) -> Timeline[Any]:
        ledger = self._ledger
        whole = present(ledger.space, ledger.unavailable) if away else ledger.space.whole()
        if self._pooled:
            return Timeline(self.space, ledger.now, whole.bit_count())
        return Timeline(self.space, ledger.now, ledger.concerns.lends(whole), ledger.concerns.opener())

    # ------------------------------------------------------------------ jobs that wait

    def earliest(self, job: Job, duration: float, *, whole: bool = False) -> Reservation | None:
        """Return a job's earliest start, from now on, as a reservation that is yet to be `put`; None: there is none.

        `whole`: the place is long enough for all of the job, so that no other start has to move for it.
        """
        least, after, latest = duration if whole else self._least(duration), self._ledger.now, math.inf
        found = None
        while after < latest:
            sooner = self.timeline.earliest(job, least, self._place, after=after, latest=latest)
            if sooner is not None and sooner[0] < latest:
                found, latest = sooner, sooner[0]
            after = self._patience(job, after)
        if found is None:
            return None
        start, place = found
        if whole:
            return Reservation(job, start, end_of(start, duration), place)
        return self._reservation(job, duration, start, place)

    def _least(self, duration: float) -> float:
        """Return how long a place must be free for a job, in seconds."""
        # A job that is hardly longer than the slack is not worth cutting.
        return duration - self._slack if duration > 2 * self._slack else duration

    def _reservation(self, job: Job, duration: float, start: float, place: Place) -> Reservation:
        """Return the reservation of a job at a place; it is cut where the place is free for too short a time."""
        least, end = self._least(duration), end_of(start, duration)
        if least == duration:
            return Reservation(job, start, end, place)
        until = self.timeline.free_until(job, place.allocation, end_of(start, least), end)
        return Reservation(job, start, until, place, end - until if until < end else 0.0)

    def _place(self, free: Any, job: Job, start: float, end: float) -> Place | None:
        if self._pooled:
            return _anywhere(job.request.units) if job.request.units <= free else None
        return self._choose(Scene(self._ledger, free, lambda: self.overlapping(start, end), None, start), job)

    def overlapping(self, start: float, end: float) -> Iterator[tuple[Job, Place]]:
        """Return who holds what at any moment from `start` to `end`, as (job, place)."""
        return reservations_between((*self.held.values(), *self.planned.values(), *self._aside.values()), start, end)

    def reserve(
        self, key: str, job: Job, duration: float, before: float = math.inf, *, whole: bool = False
    ) -> Reservation | None:
        """Reserve a job's earliest start, from now on, and return it; None if it would end after `before`.

        `whole`: as for `earliest`.
        """
        found = self.earliest(job, duration, whole=whole)
        if found is None or (found.end > before and before < math.inf):
            return None
        return self.put(key, found)

    def put(self, key: str, kept: Reservation) -> Reservation:
        """Enter a reservation of a job that waits."""
        self.timeline.reserve(kept.job, kept.place.allocation, kept.start, kept.end)
        self.planned[key] = kept
        self._unsettled |= kept.cut > 0
        return kept

    def replan(self, key: str, job: Job, duration: float, *, keep: bool, stable: bool) -> Reservation | None:
        """Reserve and return a job's earliest start; None, and no longer any, if there is none.

        Args:
            key: of the job, which may have a reservation.
            job: the job.
            duration: s.
            keep: whether a job that cannot start earlier keeps the reservation that it has.
            stable: whether nothing but what was returned makes a start possible, and another place better.
        """
        before = self.planned.pop(key, None)
        if before is None:
            found = self.earliest(job, duration)
        else:
            # All that was returned since the job was placed last lies before this.
            until = self._returns.since(key, before) if stable else math.inf
            found = self._moved(before, job, duration, keep, until)
        if found is None:
            return None
        self._returns.placed(key, found)
        if found is before:
            self.planned[key] = found
            return found
        return self.put(key, found)

    def _moved(self, before: Reservation, job: Job, duration: float, keep: bool, until: float) -> Reservation | None:
        """Return the reservation itself if it is to stay, else give it back and return the next one, or None.

        What was returned since the job was placed last lies before `until`, in seconds.
        """
        timeline, start, end, allocation = self.timeline, before.start, before.end, before.place.allocation
        now, found = self._ledger.now, None
        if before.job is job and start > now and not before.cut and end_of(start, duration) == end:
            least = self._least(duration)
            found = timeline.earlier(job, allocation, start, end, least, self._place, after=now, before=until)
            if found is None and self._patience(job, now) >= start:
                if keep or until <= start:
                    return before
                least_end = end_of(start, least)
                others = timeline.all_along(start, least_end)
                if until < math.inf and isinstance(others, int) and not others:
                    # It has the only hosts there are.
                    return before
                shown = job if timeline.opened is None else timeline.opened(job, start)[0]
                place = self._place(self.space.give(others, job, allocation), shown, start, least_end)
                if place == before.place:
                    return before
                found = None if place is None else (start, place)
        timeline.release(before.job, allocation, start, end)
        after = self.earliest(job, duration) if found is None else self._reservation(job, duration, *found)
        if after is not None and keep and after.start >= start:
            timeline.reserve(before.job, allocation, start, end)
            return before
        back = start
        if after is not None and after.start <= back and after.place.allocation == allocation:
            back = max(back, after.end)
        self._returns.add(back, end)
        return after

    def withdraw(self, key: str) -> Reservation | None:
        """Give a waiting job's reservation back and return the reservation, or None if the job has none."""
        kept = self.planned.pop(key, None)
        if kept is not None:
            self._release(kept, kept.start)
        return kept

    def _release(self, kept: Reservation, start: float) -> None:
        """Give back what a reservation holds from `start` on, in seconds."""
        self.timeline.release(kept.job, kept.place.allocation, start, kept.end)
        self._returns.add(start, kept.end)

    def may_move_up(self, key: str) -> bool:
        """Return whether a planned job might start earlier: False only if it surely cannot."""
        kept, now = self.planned[key], self._ledger.now
        return kept.start > now and self.timeline.may_move_up(kept.job, kept.start, kept.end, now)

    # ------------------------------------------------------------------ jobs that run

    def begin(self, key: str) -> None:
        """Note that a planned job starts now, as planned or a moment later."""
        kept = self.planned.pop(key)
        late = self._ledger.now - kept.start
        if self._slack and late > 0:
            kept = kept._replace(start=self._ledger.now, cut=kept.cut + late)
            self._unsettled = True
        self.held[kept.job.id] = kept

    def delay(self, job_id: str, start: float) -> None:
        """Note that a job which has its hosts begins to run at `start` only, in seconds: they have to wake up."""
        kept = self.held[job_id]
        kept = kept._replace(start=start, cut=kept.cut + start - kept.start)
        allocation, end = kept.place.allocation, kept.expected_end
        if not self._pooled and self.timeline.free_until(kept.job, allocation, kept.end, end) == end:
            # Nobody is in the way.
            self.timeline.reserve(kept.job, allocation, kept.end, end)
            self.held[job_id] = kept.whole()
            return
        # At once: what is planned next, in the same decision, must not count on an earlier end.
        self.held[job_id] = kept
        self._unsettled = True
        self.settle()

    def hold(self, job: Job, place: Place, end: float) -> None:
        """Note that a job starts now outside the plan and is expected to end at `end`, in seconds."""
        now = self._ledger.now
        if self._pooled:
            place = _anywhere(job.request.units)
        self.timeline.occupy(job, place.allocation, now, end)
        self.held[job.id] = Reservation(job, now, end, place)

    def extend(self, job_id: str, end: float) -> None:
        """Expect a running job to end at `end`, in seconds. The timeline changes only when it is made anew."""
        self.held[job_id] = self.held[job_id]._replace(end=end, cut=0.0)

    def end(self, job_id: str) -> Reservation:
        """Forget a job that ended and return its reservation; what it was to hold from now on is free again."""
        kept = self.held.pop(job_id)
        self._release(kept, self._ledger.now)
        return kept

    def lend(self, key: str) -> Reservation | None:
        """Set a waiting job's reservation aside, without giving it back, while the job is tried before it; None: none.

        `put_back` or `give_back` says what becomes of it.
        """
        kept = self.planned.pop(key, None)
        if kept is not None:
            self._aside[key] = kept
        return kept

    def put_back(self, key: str, again: str, job: Job) -> None:
        """Let the job that continues another one have the reservation that was set aside, if there is one."""
        kept = self._aside.pop(key, None)
        if kept is not None:
            self.planned[again] = kept._replace(job=job)

    def give_back(self, key: str) -> bool:
        """Give up a reservation that was set aside; return whether there was one."""
        kept = self._aside.pop(key, None)
        if kept is not None:
            self._release(kept, kept.start)
        return kept is not None

    # ------------------------------------------------------------------ all

    def renew(self) -> None:
        """Make the timeline anew from what the running jobs hold; jobs that wait lose their reservations."""
        self.planned.clear()
        self._aside.clear()
        self._keep_running()

    def settle(self) -> list[str]:
        """Make cut reservations whole: where one is in the way of another that began before it, it begins later.

        Return the keys of the waiting jobs whose reservations have moved.

        Time: O(n s) for n reservations in a plan of s steps; nothing if none is cut.
        """
        moved: list[str] = []
        if not self._unsettled:
            return moved
        waiting = [
            (kept.start, number, kept.whole(), key, among)
            for among in (self.planned, self._aside)
            for number, (key, kept) in enumerate(among.items())
        ]
        self._keep_running()
        for start, _, kept, key, among in sorted(waiting, key=itemgetter(0, 1)):
            found = self.timeline.earliest(
                kept.job, kept.end - start, self._same_place(kept.place), after=max(start, self._ledger.now)
            )
            if found is None:
                del among[key]
                continue
            kept = among[key] = kept._replace(start=found[0], end=end_of(found[0], kept.end - start))
            self.timeline.reserve(kept.job, kept.place.allocation, kept.start, kept.end)
            if among is self.planned and kept.start != start:
                moved.append(key)
        return moved

    def _same_place(self, place: Place) -> Chooser[Any]:
        """Return a chooser that chooses a place if the place is free and open to the job, and nothing otherwise."""
        lacking, mask = self.space.lacking, place.allocation.mask

        def choose(free: Any, job: Job, start: float, end: float) -> Place | None:
            allowed = job.request.allowed
            is_open = allowed is None or not mask & ~allowed
            return place if is_open and lacking(free, job, place.allocation) is None else None

        return choose

    def _keep_running(self) -> None:
        """Make the timeline anew with nothing but what the running jobs hold, up to their expected ends."""
        ledger = self._ledger
        self._unsettled = False
        self._returns.clear()
        self.timeline = self._empty(away=self._pooled)
        for job_id, kept in self.held.items():
            if kept.cut:
                kept = self.held[job_id] = kept.whole()
            stay = ledger.running.get(job_id) if self._pooled else None
            if stay is not None:
                # A job that runs on hosts that are away gives nothing back there when it ends.
                there = stay.allocation.mask & ~ledger.unavailable
                kept = self.held[job_id] = kept._replace(place=_anywhere(there.bit_count()))
            self.timeline.occupy(kept.job, kept.place.allocation, ledger.now, kept.end)
        if (ledger.unavailable or self.away) and not self._pooled:
            # After the reservations: a job goes on where it runs, and gives nothing back there when it ends.
            coming = 0
            for hosts, start, end in self.away:
                coming |= hosts
                self.timeline.restrict(~hosts, start, end)
            self.timeline.restrict(~(ledger.unavailable & ~coming))


def reservations_between(kept: Iterable[Reservation], start: float, end: float) -> Iterator[tuple[Job, Place]]:
    """Yield (job, place) of the reservations for any moment from `start` to `end`, in seconds."""
    return ((one.job, one.place) for one in kept if one.start < end and start < one.end)


def _anywhere(hosts: int) -> Place:
    """Return a place of this many hosts, for plans that only count hosts."""
    return Place(Allocation((1 << hosts) - 1))
