"""What the ledger asks of a concern: something that has a say in starts and ends, and stands in a file of its own.

The ledger itself knows jobs, hosts that are there, and what is idle. Everything else that keeps capacity, closes hosts
or holds starts back is a `Concern`: an object of a ledger that joins it when there is something to see to, and leaves
it when there is not. A ledger without such things asks no concern, which is the usual case and costs nothing.

Each concern is announced in the entry-point group `GROUP`, ours as a stranger's. Only files that use it import it:
``Holds.of(ledger)`` returns the holds of a ledger. What it names in `Concern.offers` can be asked of the ledger
as well, so that a dispatcher writes ``ledger.hold(job, hosts)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e

#: Entry-point group in which a package announces its concerns.
GROUP = "batdispatch.concerns"

#: Returns, of a waiting job and a time in s, the job as one that may use the hosts open to it if it is started then,
#: and when that changes next.
Opener = Callable[[Job, float], tuple[Job, float]]

C = TypeVar("C", bound="Concern")
D = TypeVar("D", d.Execute, d.Kill)


class Introduction(NamedTuple):
    """The dispatcher that will decide, before any job has come; a concern may refuse it by an InputError."""

    dispatcher: Any
    #: Seconds that a decision takes; None: the measured ones.
    delay: float | None


class Rejection(NamedTuple):
    """A waiting job was rejected."""

    job: Job


class ReplyDue(NamedTuple):
    """A reply is about to be sent: the last decisions before it can be taken."""


#: What a concern learns of besides starts and ends.
News = e.Event | Introduction | Rejection | ReplyDue


class Concern:
    """Something that has a say in starts and ends. A subclass overrides what it has to say; nothing else is asked.

    It is made with its ledger, and may join at once. One that says on what terms jobs wait is a `QueueTerms`.

    Attributes:
        ledger: the `Ledger` that it belongs to; a subclass says so.
    """

    #: Names of its own that can be asked of the ledger as well.
    offers: ClassVar[tuple[str, ...]] = ()

    def __init__(self, ledger: Any) -> None:
        self.ledger = ledger

    @classmethod
    def of(cls, ledger: Any) -> Self:
        """Return the concern of this kind of a ledger."""
        concerns: Concerns = ledger.concerns
        return concerns.of(cls)

    def join(self) -> None:
        """Have a say from now on, until `Concerns.leave`."""
        self.ledger.concerns.join(self)

    # ------------------------------------------------------------------ hosts and capacity

    def mask(self) -> int:
        """Return the mask of the hosts on which nothing may start on its behalf; after a change, call `Ledger.shut`."""
        return 0

    def late(self) -> int:
        """Return the mask of the hosts on which a job that is started begins to run later."""
        return 0

    def held(self) -> Iterable[tuple[int, str]]:
        """Return (mask of hosts, id of a job) of what is kept for the job that will continue that one."""
        return ()

    def lends(self, whole: Any) -> Any:
        """Return the capacity of the idle machine with what it lends, values of the ledger's space."""
        return whole

    # ------------------------------------------------------------------ what happens to jobs

    def may_start(self, job: Job, allocation: Allocation, entry: Any) -> Any:
        """Return what is idle, an entry of `IdleCapacity.books`, with what is kept for a job that is to start.

        Raises:
            ImpossibleDecision: the job may not start.
        """
        return entry

    def on_start(self, stay: Stay) -> None:
        """Learn of a job that was started."""

    def let_through(self, decision: D) -> D | None:
        """Return what the simulator hears now of a decision to start or to kill jobs; None: nothing.

        A concern that keeps a start back takes the decision when the job can begin.
        """
        return decision

    def on_end(self, stay: Stay) -> None:
        """Learn of a job that ended, when what it used is idle again."""

    def on_event(self, event: News) -> None:
        """Learn of an event other than a submission and an end, when the ledger has checked it, or of other news.

        If the event undid a start, so that the job waits again, its stay is added to `Concerns.called_off`.

        Raises:
            InputError: it contradicts what was said or decided before.
        """

    def check(self, idle: Any) -> Any:
        """Verify its invariants, and return what is idle beside what it keeps; for `Ledger.check`.

        Raises:
            AssertionError: one does not hold.
        """
        return idle


class QueueTerms(Concern):
    """A concern that says on what terms jobs wait: in what form they are shown, and for how long they may run."""

    def admit(self, job: Job) -> Job:
        """Return a job that was submitted as it is to wait."""
        return job

    def line_up(self, job: Job) -> Job | None:
        """Put a job into the queue, or keep it back, and return it as it is shown; None: that is left to the ledger."""
        return None

    def turn(self) -> Iterable[tuple[Job | None, Job | None]]:
        """Show waiting jobs in another form where that is due, before the dispatcher decides.

        Return (job as it was shown before, job as it is shown from now on) for each of them; None: not at all.
        """
        return ()

    def why_never(self, job: Job, unfit: Callable[[Job], str]) -> str:
        """Return why a job can never start, or an empty text; `unfit` says why its request fits no idle machine."""
        return unfit(job)

    def at_best(self, job: Job) -> Job:
        """Return a waiting job as it will be shown when most hosts are open to it."""
        return job

    def longest(self, job: Job) -> float:
        """Return the longest walltime that it allows a job, in seconds."""
        return math.inf

    def opener(self) -> Opener | None:
        """Return what says which hosts are open to a waiting job; None: always all that it asks for."""
        return None


class Concerns:
    """The concerns of a ledger, and what they say together.

    Attributes:
        active: those that have joined, in the order in which they did.
        terms: those of them that say on what terms jobs wait.
        called_off: stays that came to nothing by the last event: their jobs wait again.
    """

    def __init__(self, ledger: Any) -> None:
        self._ledger = ledger
        self._made: dict[type[Concern], Concern] = {}
        #: Replaced, never changed: a concern may join or leave while others are asked.
        self.active: tuple[Concern, ...] = ()
        self.terms: tuple[QueueTerms, ...] = ()
        self.called_off: list[Stay] = []

    def of(self, kind: type[C]) -> C:
        """Return the concern of a kind; the first time it is made."""
        made: Any = self._made.get(kind)
        if made is None:
            made = self._made[kind] = kind(self._ledger)
        return made  # type: ignore[no-any-return]

    def join(self, concern: Concern) -> None:
        """Let a concern have a say."""
        if concern not in self.active:
            self._activate((*self.active, concern))

    def leave(self, concern: Concern) -> None:
        """Let a concern have no say any more, until it joins again."""
        self._activate(tuple(other for other in self.active if other is not concern))

    def _activate(self, concerns: tuple[Concern, ...]) -> None:
        self.active = concerns
        self.terms = tuple(each for each in concerns if isinstance(each, QueueTerms))

    def tell(self, news: News) -> None:
        """Let all learn of something."""
        for concern in self.active:
            concern.on_event(news)

    def let_through(self, decision: D) -> D | None:
        """Return what the simulator hears now of a decision to start or to kill jobs; None: nothing."""
        left: D | None = decision
        for concern in self.active:
            if left is not None:
                left = concern.let_through(left)
        return left

    def mask(self) -> int:
        """Return the mask of the hosts on which nothing may start on behalf of any."""
        mask = 0
        for concern in self.active:
            mask |= concern.mask()
        return mask

    def late(self) -> int:
        """Return the mask of the hosts on which a job that is started begins to run later."""
        mask = 0
        for concern in self.active:
            mask |= concern.late()
        return mask

    def held(self) -> Iterable[tuple[int, str]]:
        """Return (mask of hosts, id of a job) of what is kept for the job that will continue that one."""
        return [each for concern in self.active for each in concern.held()]

    def lends(self, whole: Any) -> Any:
        """Return the capacity of the idle machine with what they lend."""
        for concern in self.active:
            whole = concern.lends(whole)
        return whole

    def at_best(self, job: Job) -> Job:
        """Return a waiting job as it will be shown when most hosts are open to it."""
        for terms in self.terms:
            job = terms.at_best(job)
        return job

    def longest(self, job: Job) -> float:
        """Return the longest walltime that all allow a job, in seconds."""
        return min((terms.longest(job) for terms in self.terms), default=math.inf)

    def opener(self) -> Opener | None:
        """Return what says which hosts are open to a waiting job; None: always all that it asks for."""
        return next((opener for terms in self.terms if (opener := terms.opener()) is not None), None)

    def check(self, idle: Any) -> Any:
        """Verify the invariants of all, and return what is idle beside what they keep."""
        for concern in self._made.values():
            idle = concern.check(idle)
        return idle
