"""What held a job while it waited: the records that `wait_causes.explain` returns.

Times and lengths are seconds of simulated time. Amounts are by the name of the resource or licence; on a machine of
whole hosts the only resource is ``host``. Times are the dispatcher's: what ended while it was deciding ends when it
was told.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Amounts = dict[str, int]
#: What says how long jobs will run, in a run without a prediction.
WALLTIMES = "the walltimes"

#: Why a job did not start: ``short``, less of a resource or licence is free than it asks for; ``scattered``, enough is
#: free but not together on nodes; ``elsewhere``, it would fit, but not on the nodes that it may use; ``form``, it would
#: fit, but not in the form that it asks for; ``placement``, it would fit, but the run's placement finds no place;
#: ``room``, it would fit; ``blocked``, it depends on jobs that have not succeeded yet; ``waking``, it has its
#: hosts, some of which have yet to wake up; ``deciding``, the dispatcher has not been told of it yet, or is spending
#: time on the decision that starts it.
Kind = Literal["short", "scattered", "elsewhere", "form", "placement", "room", "blocked", "waking", "deciding"]
#: The kinds of which the jobs that run are the reason, by what they hold.
BUSY: tuple[Kind, ...] = ("short", "scattered", "elsewhere", "form", "placement")


class Free(msgspec.Struct, frozen=True, kw_only=True):
    """What was free of a resource during a phase: neither held nor on hosts that are away."""

    least: int
    most: int
    #: Over time.
    mean: float


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """A running job that held resources or licences during a phase."""

    job: str
    #: What it held, all the time it ran.
    amounts: Amounts
    hosts: int
    #: How much of the phase it ran for.
    seconds: float
    start: float
    #: When it was expected to end by the run's prediction, or by its walltime; None: nothing says.
    expected_end: float | None
    #: When it ended; None: not before the recording did.
    end: float | None
    #: None: it ran on these hosts. Else it was leaving them, a resized job whose data is redistributed: the id of the
    #: job for which they are kept meanwhile, or empty for whoever comes first. `start` to `end` is that time.
    leaving: str | None = None


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """The queue when a phase of ``room`` began: what the room may have been kept for.

    `first` waits all the phase; another one after it has been started begins another phase.
    """

    #: Waiting jobs that were submitted earlier.
    ahead: int
    #: The one of them that was submitted first; empty when there is none, as all that follows then.
    first: str = ""
    asked: Amounts = {}
    #: When it could start if what ran took as long as expected; None: nothing says.
    due: float | None = None
    #: What said how long jobs were expected to run: ``the walltimes``, or a prediction.
    by: str = WALLTIMES
    #: Whether the job, started then and running as long as expected, would have left too little for `first` when due.
    delays: bool | None = None
    #: When `first` started; None: it never did.
    start: float | None = None


class Phase(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a wait with one reason."""

    kind: Kind
    start: float
    end: float
    #: Which resources and licences; ``node`` stands for wholly idle nodes. Several may be enough each, but not on the
    #: same nodes: then it is empty, and the kind ``scattered``.
    short: list[str]
    #: What else stands behind the kind: for ``short`` the licences among what is short, for ``form`` the form asked for
    #: in words, for ``placement`` the placement, for ``blocked`` the jobs that it waits for.
    by: list[str] = []
    #: How many of the job's units had a place: least and most, never above what it asked for.
    room: tuple[int, int]
    free: dict[str, Free]
    #: Mean amounts on hosts that were away and held by no job.
    away: dict[str, float]
    #: Largest first: by amount of what was short (share of the machine's) times `seconds`.
    holders: list[Holder]
    #: Other running jobs: how many, and what they held on average.
    others: int
    others_held: dict[str, float]
    #: For ``room``.
    line: Line | None = None

    @property
    def seconds(self) -> float:
        """Length of the phase."""
        return self.end - self.start


class Overtaker(msgspec.Struct, frozen=True, kw_only=True):
    """A job that was submitted later and started earlier."""

    job: str
    submission: float
    start: float
    end: float | None
    expected_end: float | None
    asked: Amounts
    #: Whether there was room for the waiting job when this one was chosen: then it was preferred, else it fitted where
    #: the other did not.
    preferred: bool


class Chance(msgspec.Struct, frozen=True, kw_only=True):
    """A moment at which there was room for the job until others were started in it."""

    time: float
    started: list[str]


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the dispatcher itself says of successive decisions that left the job waiting for the same reason."""

    why: str
    #: What was behind it at the first of them.
    how: str
    #: Times of the first and the last.
    first: float
    last: float
    decisions: int = 1


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """What held a job, from its submission until it was started or rejected, or the recording ended."""

    job: str
    submission: float
    #: When the wait ended.
    until: float
    outcome: Literal["started", "rejected", "waiting"]
    #: Of a rejection, where it is known.
    reason: str
    #: A dispatcher's own job, such as a further attempt.
    registered: bool
    #: Ids of the other segments of the same logical job, as the recorded ``parent`` of registered jobs says.
    attempts: list[str]
    units: int
    #: What one unit needs on a node; None: a whole host.
    demand: Amounts | None
    #: What all units ask for, licences included; ``node``: whole nodes.
    asked: Amounts
    walltime: float | None
    #: Where it ran, as Batsim writes it.
    hosts: str
    end: float | None
    #: Batsim's name of the state in which it was last seen.
    state: str
    #: Waiting jobs that had been submitted before it, when it was submitted.
    ahead: int
    capacity: Amounts
    phases: list[Phase]
    #: By start.
    overtakers: list[Overtaker]
    chances: list[Chance]
    #: Empty if the dispatcher has nothing to add to what the recording shows.
    verdicts: list[Verdict] = []
    #: Why the dispatcher started it before others; None: it has nothing to add.
    at_start: Verdict | None = None

    @property
    def wait(self) -> float:
        """Length of the wait."""
        return self.until - self.submission

    def seconds(self, *kinds: Kind) -> float:
        """Return how long phases of some kinds lasted together."""
        return sum((phase.seconds for phase in self.phases if phase.kind in kinds), 0.0)
