"""What others than the session ask of a dispatcher. `Dispatcher` has all of these roles and plays none, by default.

A dispatcher that only decides need not read this. Each role says who asks: the session if jobs are registered, concerns
that show waiting jobs anew, layers that stand around the dispatcher, and explain-wait.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NamedTuple

from batdispatch.core.capacity.space import Space
from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job, Resumption
from batdispatch.core.line.hindsight import Hindsight, Reason
from batdispatch.core.line.ledger import Ledger


class Gap(NamedTuple):
    """Capacity `free`, a value of `space`, that is free from now on and for `length` seconds."""

    space: Space[Any]
    free: Any
    length: float


class RegistersJobs:
    """What the session and the files of a run ask of a dispatcher that registers jobs."""

    #: Whether it registers jobs of its own; if so the simulation goes on until `registration_done`.
    registers_jobs: ClassVar[bool] = False
    #: Whether jobs that it registers may use profiles of jobs that have ended, which Batsim otherwise forgets.
    reuses_profiles: ClassVar[bool] = False

    def registration_done(self, ledger: Ledger) -> bool:
        """Say whether no further job will be registered (asked after each decision if `registers_jobs`)."""
        return ledger.roll.no_more and not (ledger.queue or ledger.running or ledger.blocked)

    def resumed(self) -> Mapping[str, Resumption]:
        """Return, by id, how jobs that continue others went on from a checkpoint; the others start anew."""
        return {}


class IsShownJobs:
    """What concerns and layers that show waiting jobs in another form ask of the dispatcher that sees them."""

    #: Whether it can do with waiting jobs that come again with other hosts open to them: first `on_withdrawn`, then
    #: `on_submit`. Reservations (`core.machine.openings`) do this to jobs.
    heeds_reservations: ClassVar[bool] = True
    #: Whether it takes care that all hosts of a job lie in one of the parts of the machine that the job may choose from
    #: (`Request.choices`); to others, such a job is shown with the largest of these parts alone in which it can run.
    heeds_choices: ClassVar[bool] = False
    #: Whether it plans with timelines that are told which hosts open and close when, and then does with waiting jobs to
    #: which no host is open now.
    plans_openings: ClassVar[bool] = False

    def reshapes(self, ledger: Ledger, job: Job) -> bool:
        """Return whether `on_submit` puts another job in the place of one that can never run as it asks."""
        return False

    def on_withdrawn(self, ledger: Ledger, job: Job) -> None:
        """Learn that a layer has taken a waiting job out of the queue, or that a reservation closes its hosts.

        Another job, or the same one with other hosts open to it, may come in its place.

        A dispatcher that keeps a list or a plan of its own takes the job out of it here.
        """


class StandsInLayers:
    """What layers ask of the dispatcher inside: what it leaves free, what it plans, and that it puts up with starts."""

    #: Whether it can do with jobs that a layer starts whatever was planned, see `give_way`.
    gives_way: ClassVar[bool] = True
    #: Whether it ends running jobs for others, which no layer can do with.
    preempts: ClassVar[bool] = False

    def idle_until(self, ledger: Ledger) -> float:
        """Return until when `decide` does nothing, however often it is called, if nothing happens; in seconds.

        Infinity: until something happens. Minus infinity: a layer may not leave out any call. Asked after `decide`.
        """
        return -math.inf

    def gaps(self, ledger: Ledger) -> Iterable[Gap] | None:
        """Return the capacity that this dispatcher leaves free from now on and until when, for layers that may use it.

        In the order in which they are to be filled. None: it cannot tell.
        """
        return None

    def may_lend(self, ledger: Ledger, job: Job, gap: Gap) -> bool:
        """Say whether a layer may start a waiting job in a gap; not if the job has better to expect before its end."""
        return True

    def lend(self, ledger: Ledger, job: Job, gap: Gap, place: Place) -> None:
        """Learn that a layer is about to start a waiting job in a gap, to be stopped at its end.

        A dispatcher that keeps a list or a plan of its own takes the job out of it here.
        """

    def give_way(self, ledger: Ledger, job: Job, place: Place) -> None:
        """Learn that a layer is about to start a waiting job that goes before all others, whatever was planned.

        A dispatcher that keeps a list or a plan of its own takes the job out of it, and makes the plan anew, here.
        """

    def planned_starts(self, ledger: Ledger) -> Iterable[tuple[float, int]]:
        """Return when waiting jobs are to start, in seconds, and the mask of the hosts for each, as far as it is known.

        Asked after `decide`, by layers that wake hosts in time.
        """
        return ()


class ExplainsWaits:
    """What explain-wait asks of a dispatcher, when a run is over."""

    def notes(self) -> list[bytes]:
        """Return a line of JSON a decision with facts about it, for solver.jsonl; none: the file is not written."""
        return []

    def why_waited(self, job: Job, decision: Hindsight) -> Reason | None:
        """Return why a recorded decision of this dispatcher left a job waiting, for explain-wait; None: nothing to add.

        What the jobs that run hold is told without this. It is asked of a dispatcher with the run's options that heard
        of all events before the decision and was never asked to decide.

        Args:
            job: the job; it is in the queue before and after the decision.
            decision: the decision.
        """
        return None

    def why_started(self, job: Job, ledger: Ledger) -> Reason | None:
        """Return why a recorded decision started a job before others, for explain-wait; None: nothing to add.

        It is asked as `why_waited` is, before the job starts.
        """
        return None
