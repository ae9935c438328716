"""What a site lets jobs do: its partitions and queues, and the hosts that reservations leave to each waiting job.

`core.machine.site` holds the rules, `core.machine.openings` which hosts are open to whom and when. Here the ledger's
waiting jobs are shown by them: a job that enters the queue asks for hosts that are open to it, is kept back while there
are none, and is shown anew when some open or close.

Invariant: where there are reservations, these know exactly the jobs that are in the queue or withheld.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from batdispatch.core.capacity.impossible import why_never
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line.concern import Introduction, News, Opener, QueueTerms, Rejection, ReplyDue
from batdispatch.core.line.dispatcher import GROUP, Dispatcher
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.registry import name_of
from batdispatch.core.machine.openings import TOO_LATE, Openings


class SiteRules(QueueTerms):
    """The rules of the site of a ledger's machine. It has a say from the beginning if the machine has a site.

    Attributes:
        site: the machine's partitions and the like; None: it has none.
        openings: what reservations leave to the waiting jobs; None: there are none.
    """

    offers = ("at_best", "call_for_openings", "longest", "openings", "turn")
    ledger: Ledger

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        self.site = ledger.machine.site
        self.openings = None if self.site is None or not self.site.windows else Openings(self.site)
        #: The start or end of a reservation for which a call was asked last, s.
        self._called = -math.inf
        #: Whether a job that may choose among parts of the machine is left the largest one alone in which it can run.
        self._narrows = False
        if self.site is not None:
            self.join()

    def _meet(self, dispatcher: Dispatcher, delay: float | None) -> None:
        """Refuse a dispatcher that cannot do with reservations, and let these know the other ones."""
        self._narrows = not dispatcher.heeds_choices
        if self.openings is None:
            return
        if not dispatcher.heeds_reservations:
            name = name_of(GROUP, type(dispatcher))
            raise InputError(
                f"the machine has reservations, and {name} cannot do with waiting jobs that "
                "come again with other hosts: take another dispatcher, or a platform without reservations"
            )
        if delay is None:
            raise InputError("the machine has reservations, and decisions that take measured time could break them")
        self.openings.lead, self.openings.planned = delay, dispatcher.plans_openings

    def longest(self, job: Job) -> float:
        """Return the longest walltime that the queues of a job allow, in seconds, or infinity."""
        return math.inf if self.site is None else self.site.longest(job)

    def at_best(self, job: Job) -> Job:
        """Return a waiting job as it will be shown when no reservation closes hosts to it."""
        entered = None if self.openings is None else self.openings.entered(job.id)
        return job if entered is None else entered

    def call_for_openings(self) -> None:
        """Ask for a call when a reservation starts or ends for which a job may wait."""
        if not self.openings:
            return
        moment = self.openings.next_moment(self.ledger.now)
        if moment < math.inf and moment != self._called:
            self._called = moment
            self.ledger.wake_at(moment)

    def _show_or_withhold(self, shown: Job, *, rejected: bool = False) -> bool:
        """Put a job into the queue as it is to be shown, or keep it back; return whether it is shown."""
        ledger = self.ledger
        may = rejected or self._may_show(shown)
        if may:
            ledger.roll.show(shown.id)
            ledger.queue[shown.id] = shown
            ledger.plain &= shown.request.plain
        else:
            ledger.roll.withhold(self.at_best(shown))
        return may

    def _may_show(self, job: Job) -> bool:
        assert self.openings is not None
        space = self.ledger.space
        return self.openings.planned or space.fits(space.whole(), job) or self._is_too_late(job)

    def _is_too_late(self, job: Job) -> bool:
        """Return whether reservations leave no place to a waiting job, as it is shown now, and never will."""
        assert self.openings is not None
        space = self.ledger.space
        return self.openings.is_over(job.id, self.ledger.now) and not space.fits(space.whole(), job)

    # ------------------------------------------------------------------ what it has to say

    def admit(self, job: Job) -> Job:
        if self.site is None:
            return job
        job = self.site.fitted(job)
        if self._narrows and job.request.choices:
            parts = sorted(job.request.choices, key=int.bit_count, reverse=True)
            alone = [self.site.asking(job, part, None, ()) for part in parts]
            return next((one for one in alone if not why_never(self.ledger.space, one)), alone[0])
        return job

    def line_up(self, job: Job) -> Job | None:
        if self.openings is None:
            return None
        shown = self.openings.enter(job, self.ledger.now)
        # A job that can never start is shown, to be rejected.
        self._show_or_withhold(shown, rejected=bool(self.ledger.why_impossible(job)))
        return shown

    def turn(self) -> list[tuple[Job | None, Job | None]]:
        """Show waiting jobs with the hosts that they may use, where reservations have closed or opened some by now.

        Return (job as it was shown before, job as it is shown from now on) for each of them; None: not at all.
        """
        openings, ledger, turned = self.openings, self.ledger, list[tuple[Job | None, Job | None]]()
        if openings is None:
            return turned
        for job_id in openings.due(ledger.now):
            before, shown = ledger.queue.get(job_id), openings.look(job_id, ledger.now)
            if before is not None and shown.request == before.request and not self._is_too_late(shown):
                continue
            ledger.queue.pop(job_id, None)
            may = self._show_or_withhold(shown)
            if may or before is not None:
                turned.append((before, shown if may else None))
        if turned:
            ledger.roll.sort(ledger.queue)
            ledger.idle.change()
        return turned

    def why_never(self, job: Job, unfit: Callable[[Job], str]) -> str:
        if self.site is not None and (reason := self.site.refusal(job)):
            return reason
        entered = self.at_best(job)
        reason = unfit(entered)
        if reason or entered is job or not self._is_too_late(job):
            return reason
        return TOO_LATE

    def opener(self) -> Opener | None:
        return None if self.openings is None else self.openings.opened

    def on_start(self, stay: Stay) -> None:
        if self.openings is not None:
            self.openings.leave(stay.job.id)

    def on_event(self, event: News) -> None:
        if isinstance(event, Introduction):
            self._meet(event.dispatcher, event.delay)
        elif self.openings is None:
            return
        elif isinstance(event, Rejection):
            self.openings.leave(event.job.id)
        elif isinstance(event, ReplyDue):
            self.call_for_openings()

    def check(self, idle: Any) -> Any:
        ledger = self.ledger
        assert self.openings is None or self.openings.ids == ledger.queue.keys() | ledger.roll.withheld.keys(), (
            "reservations know other jobs than those that wait"
        )
        return idle
