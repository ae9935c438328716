"""When the reconfiguring points of running jobs are looked at, and which ones are passed without a call.

Theory of operation
-------------------

A running job that can be resized has one reconfiguring point after the other, as a rule one each minute. At nearly all
of them a policy does nothing, and would do nothing for as long as nothing happens. So a job *rests*: no call is asked
for at its points. They are counted later, as the checks without action that they would have been.

1. Whatever happens (`change`: a job comes, starts or ends, hosts come or go, nodes are held or released) wakes up all
   jobs. `Rest` says of each one until when it may rest now: for ever, if only a further event could let the policy act;
   up to some moment, if time alone could; not at all, if the policy would act at the next point.
2. A call is asked for at the first point of a job at which it rests no longer.
3. Points at the very moment of a message are looked at in the order (time, id), as if there had been a call at each of
   them: if the check of one job changes something, the jobs behind it are woken up, and those before it are not.
4. The dispatcher inside must do nothing at a moment at which nothing happens. `Dispatcher.idle_until` says so. If it
   may act from some moment on, a call comes at the first point of any job from then on; if it may always act, no job
   ever rests.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator

from batdispatch.abilities.malleable.segments import Segment, Segments, SegmentState
from batdispatch.core.jobs.job import Stay
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.ticks import TICK

#: ``rest(ledger, segment)``: until when nothing would be done with a running segment at its points if nothing happens,
#: in seconds; infinity: for ever; minus infinity: not even until the next one.
Rest = Callable[[Ledger, Segment], float]
#: ``count(segment, points)``: takes note of points at which nothing was done with a segment.
Count = Callable[[Segment, int], None]
#: A point: its time, s, and the id of the segment.
Point = tuple[float, str]


class Points:
    """The points at which segments in the state `WORKING` are looked at.

    Attributes:
        changed: whether something has happened since the jobs were woken up last.
    """

    def __init__(self, segments: Segments, rest: Rest, count: Count) -> None:
        self._segments = segments
        self._rest = rest
        self._count = count
        self.changed = False
        #: Points at which a call is asked for.
        self._heap: list[Point] = []
        #: Segments whose next point is another one than before.
        self._fresh: list[str] = []
        #: When points were looked at last, and since when nobody may look at any, s.
        self._looked, self._blocked = -math.inf, math.inf
        #: The moment for which a call was asked for the sake of the dispatcher inside, s.
        self._stirs = -math.inf

    def follow(self, segment: Segment, stay: Stay, now: float, *, ignore: bool = True) -> None:
        """Look at a running segment at its next point after `now`, in seconds; `ignore`: as for `next_point`."""
        flexible = segment.flexible
        flexible.due = flexible.next_point(stay.start, now, stay.job.units, ignore=ignore)
        flexible.called = math.inf
        if flexible.due < math.inf:
            self._fresh.append(segment.name)

    def block(self, now: float) -> None:
        """Look at no point now, in seconds, but as soon as possible."""
        self._blocked = min(self._blocked, now)

    def end(self, segment: Segment, stay: Stay, now: float) -> None:
        """Count the points of a segment that ends now, in seconds."""
        if segment.state is SegmentState.WORKING:
            self._pass(segment, stay, now)

    def due(self, ledger: Ledger, idle_until: float) -> Iterator[tuple[float, Segment]]:
        """Yield the points that are to be looked at now, with their segments, in order, and ask for calls at others.

        Args:
            ledger: the cluster.
            idle_until: as the dispatcher inside says, s.
        """
        may_rest = idle_until > -math.inf
        if self.changed:
            self._wake(ledger, None, may_rest=may_rest)
        while self._heap and self._heap[0][0] <= ledger.now + TICK / 2:
            point = heapq.heappop(self._heap)
            segment = self._segments.get(point[1])
            if segment is None or segment.state is not SegmentState.WORKING:
                continue
            self._pass(segment, ledger.running[segment.name], ledger.now)
            if segment.flexible.due != point[0]:
                continue
            segment.flexible.due = segment.flexible.called = math.inf
            yield point[0], segment
            if self.changed:
                self._wake(ledger, point, may_rest=may_rest)
        self._looked, self._blocked = ledger.now, math.inf
        fresh, self._fresh = self._fresh, []
        for name in fresh:
            segment = self._segments.get(name)
            if segment is not None and segment.state is SegmentState.WORKING:
                self._call(ledger, segment, None, may_rest=may_rest)
        if may_rest and idle_until < math.inf:
            self._call_for_inner(ledger, idle_until)

    def _wake(self, ledger: Ledger, after: Point | None, *, may_rest: bool) -> None:
        """Ask anew how long each job may rest; `after`: the point of this moment that is looked at, if any."""
        self.changed, self._fresh = False, []
        for segment in self._segments.of(SegmentState.WORKING).values():
            self._call(ledger, segment, after, may_rest=may_rest)

    def _call(self, ledger: Ledger, segment: Segment, after: Point | None, *, may_rest: bool) -> None:
        """Ask for a call at the first point at which a job rests no longer."""
        flexible, now = segment.flexible, ledger.now
        if flexible.due in (flexible.called, math.inf):
            return
        rests = self._rest(ledger, segment) if may_rest else -math.inf
        if rests == math.inf:
            return
        stay = ledger.running[segment.name]
        self._pass(segment, stay, now)
        if after is not None and flexible.due <= now + TICK / 2 and (flexible.due, segment.name) < after:
            self._count(segment, flexible.pass_points(stay, now + TICK))
        point = flexible.first_point(stay, rests)
        if point in (flexible.called, math.inf):
            return
        flexible.called = point
        heapq.heappush(self._heap, (point, segment.name))
        if point > now + TICK / 2:
            ledger.wake_at(max(point, now + TICK), at_once=True)

    def _pass(self, segment: Segment, stay: Stay, now: float) -> None:
        """Count the points before now, in seconds, at which a segment rested."""
        flexible = segment.flexible
        before = max(min(now, self._blocked) - TICK / 2, self._looked + TICK / 2)
        self._count(segment, flexible.pass_points(stay, min(before, flexible.called)))

    def _call_for_inner(self, ledger: Ledger, idle_until: float) -> None:
        """Ask for a call at the first point of any job from which on the dispatcher inside may act by itself."""
        begin = max(idle_until, ledger.now + TICK)
        points = (
            segment.flexible.first_point(ledger.running[segment.name], begin)
            for segment in self._segments.of(SegmentState.WORKING).values()
        )
        first = min(points, default=math.inf)
        if first < math.inf and first != self._stirs:
            self._stirs = first
            ledger.wake_at(first, at_once=True)
