"""The segments of jobs that can be resized: which state each one is in, and which moves there are.

Theory of operation
-------------------

Batsim has no resize. So a logical job is a chain of *segments*, jobs of the simulator's each of which continues the one
before it. One segment of each logical job is known here at a time, and is in one of these states:

==========  ====================================================  ==================================================
state       what holds                                            what ends it
==========  ====================================================  ==================================================
`WAITING`   It waits in the ledger.                               It starts: `WORKING`, or `MOVING` if it is to move
                                                                  data; `BOOTING` if its hosts have to wake up. It is
                                                                  rejected: it is over.
`BOOTING`   It has its hosts, which wake up.                      All are awake: `WORKING`. One goes away: `WAITING`.
`WORKING`   It runs; its reconfiguring points are looked at.      A resize is decided: `STOPPING`.
`SEEKING`   It runs without working, until nodes are free.        Nodes are free: `STOPPING`. Its time for that is
                                                                  over: `WORKING`.
`MOVING`    It runs, and only redistributes data.                 It ends: it is over, and what is left of the job
                                                                  is registered. A host goes away that was to wake
                                                                  up for it: `WAITING`.
`STOPPING`  It runs, a decision kills it, hosts are held.         It ends by the kill: `STOPPED`.
`STOPPED`   It has ended; how far it was is yet to be told.       That is told: it is over, and what is left of the
                                                                  job, or a move of its data, is registered.
`COMING`    It is registered. Once it is in the queue, it         It starts: as from `WAITING`, or `SEEKING`. A
            starts on hosts that are held.                        host has gone: `WAITING`.
==========  ====================================================  ==================================================

Any segment that runs may end by itself, and is over then. `MOVES` is this table for the machine: `Segments.move`
refuses any other move, and `Segments.check` verifies what holds in each state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from batdispatch.abilities.malleable.flexible import Flexible
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.job import Stay
from batdispatch.core.line.ledger import Ledger

#: States are keys at every turn, and whole numbers are hashed fastest.
SegmentState = IntEnum("SegmentState", "WAITING BOOTING WORKING SEEKING MOVING STOPPING STOPPED COMING")

#: State -> the states that follow it, apart from being over.
MOVES: Mapping[SegmentState, frozenset[SegmentState]] = {
    SegmentState.WAITING: frozenset({SegmentState.BOOTING, SegmentState.WORKING, SegmentState.MOVING}),
    SegmentState.BOOTING: frozenset({SegmentState.WORKING, SegmentState.WAITING}),
    SegmentState.WORKING: frozenset({SegmentState.STOPPING}),
    SegmentState.SEEKING: frozenset({SegmentState.STOPPING, SegmentState.WORKING}),
    SegmentState.MOVING: frozenset({SegmentState.WAITING}),
    SegmentState.STOPPING: frozenset({SegmentState.STOPPED}),
    SegmentState.STOPPED: frozenset(),
    SegmentState.COMING: frozenset(
        {SegmentState.BOOTING, SegmentState.WORKING, SegmentState.SEEKING, SegmentState.MOVING, SegmentState.WAITING}
    ),
}
#: States in which a segment runs, and those in which it knows the resize that it ends for or begins with.
RUN_STATES = (
    SegmentState.BOOTING,
    SegmentState.WORKING,
    SegmentState.SEEKING,
    SegmentState.MOVING,
    SegmentState.STOPPING,
)
RESIZE_STATES = (SegmentState.STOPPING, SegmentState.STOPPED, SegmentState.COMING)


@dataclass(slots=True, eq=False)
class Resize:
    """How a job goes on in its next segment."""

    units: int
    #: Where; None: a host went away, so that it waits like any other job.
    place: Place | None
    #: Seconds for which the next segment does not work.
    overhead: float = 0.0
    #: Hosts that leave when the redistribution is over; None: none, or they leave at once.
    frees: Allocation | None = None
    #: Free hosts that the waiting job gets beside those; None: none.
    beside: Allocation | None = None
    #: The waiting job that gets nodes by it, and where it goes.
    boosted: tuple[str, Place | None] | None = None
    #: Units that the job goes on waiting for, of an expansion whose nodes have gone; 0: none.
    waits: int = 0
    #: The segment that ended for it.
    ended: Stay | None = None
    #: Of a segment that only redistributes data, how the job goes on when this is over.
    then: Resize | None = None


@dataclass(slots=True, eq=False)
class Segment:
    """One segment, by its id in the simulation."""

    name: str
    flexible: Flexible
    state: SegmentState
    #: In the states `RESIZE_STATES`: what it ends for, or begins with.
    resize: Resize | None = None
    #: How the job goes on after this segment, if it only redistributes data.
    after: Resize | None = None
    #: While it is `SEEKING`: the units that it wants, and until when, s.
    seeks: tuple[int, float] = (0, 0.0)


class Segments:
    """All segments that are not over, by id and by state."""

    def __init__(self) -> None:
        self._known: dict[str, Segment] = {}
        self._in: dict[SegmentState, dict[str, Segment]] = {state: {} for state in SegmentState}

    def __len__(self) -> int:
        return len(self._known)

    def __getitem__(self, name: str) -> Segment:
        return self._known[name]

    def get(self, name: str) -> Segment | None:
        """Return a segment that is not over, or None."""
        return self._known.get(name)

    def of(self, state: SegmentState) -> Mapping[str, Segment]:
        """Return the segments in a state, by id, in the order in which they came into it."""
        return self._in[state]

    def enter(self, segment: Segment) -> None:
        """Take up a segment in the state in which it begins."""
        self._known[segment.name] = self._in[segment.state][segment.name] = segment

    def move(self, segment: Segment, state: SegmentState) -> None:
        """Let a segment go into another state.

        Raises:
            RuntimeError: there is no such move.
        """
        if state not in MOVES[segment.state]:
            raise RuntimeError(f"segment {segment.name} cannot go from {segment.state.name} to {state.name}")
        del self._in[segment.state][segment.name]
        segment.state = state
        self._in[state][segment.name] = segment

    def drop(self, name: str) -> Segment | None:
        """Forget a segment that is over, and return it; None: there is none of that id."""
        segment = self._known.pop(name, None)
        if segment is not None:
            del self._in[segment.state][name]
        return segment

    def check(self, ledger: Ledger) -> None:
        """Verify what holds in each state; for tests, after a decision.

        Raises:
            AssertionError: something does not hold.
        """
        for name, segment in self._known.items():
            state, roll = segment.state, ledger.roll
            assert self._in[state][name] is segment, f"{name} is in two states"
            assert (name in ledger.running) == (state in RUN_STATES), (
                f"{name} is {state.name}, and does not run or does"
            )
            assert state is not SegmentState.WAITING or name in ledger.queue or name in ledger.blocked, (
                f"{name} waits nowhere"
            )
            assert state is not SegmentState.STOPPED or name in roll.ended, f"{name} has not ended"
            assert state is not SegmentState.COMING or name in roll.registered or name in ledger.queue, (
                f"{name} never comes"
            )
            assert state not in RESIZE_STATES or segment.resize is not None, f"{name} knows no resize"
            assert state is not SegmentState.MOVING or segment.after is not None, f"{name} leads nowhere"
