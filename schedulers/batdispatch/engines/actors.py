"""Who writes to Batsim's server by `batdispatch.engines.mail`, beside the jobs: submitters, and who carries a reply."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from batdispatch.core.line.decisions import Decision
from batdispatch.core.line.messages import Reply
from batdispatch.engines.mail import Mail
from batdispatch.engines.world import World


class Submitter:
    """Tells the server of what has a date, date by date, and in the end that nothing more will come.

    It counts the time to the next date from when it woke for the last one, although it goes to sleep only when its
    message has arrived, and so comes late by what that message took.
    """

    def __init__(
        self,
        world: World,
        mail: Mail,
        dates: Sequence[float],
        submit: Callable[[int], None],
        bye: Callable[[], None],
    ) -> None:
        """Say hello; the rest follows.

        Args:
            world: where time passes.
            mail: the server's.
            dates: s, ascending.
            submit: called when the message arrives that tells of an entry, with the entry's index.
            bye: called when the last message arrives.
        """
        self._world = world
        self._mail = mail
        self._dates = dates
        self._submit = submit
        self._bye = bye
        self._next = 0
        mail.post(world.now, None, lambda: None, then=lambda: self._tell(0))

    def _wake(self, _: object) -> None:
        # It may be woken a nanosecond before the date that it slept for.
        self._tell(1)

    def _tell(self, slept_for: int) -> None:
        """Tell of the entries that it slept for, and of everything else that has come."""
        woke = self._world.now
        first = self._next
        self._next += slept_for
        while self._next < len(self._dates) and self._dates[self._next] <= woke:
            self._next += 1
        come = range(first, self._next)

        def arrive() -> None:
            for index in come:
                self._submit(index)

        if come:
            self._mail.post(woke, None, arrive, then=lambda: self._sleep(woke))
        else:
            self._sleep(woke)

    def _sleep(self, woke: float) -> None:
        now = self._world.now
        if self._next == len(self._dates):
            self._mail.post(now, None, self._bye)
        else:
            self._world.schedule(now + (self._dates[self._next] - woke), self._wake, None)


class Carrier:
    """Carries a reply to the server: each decision at its time, and then that the scheduler is ready."""

    def __init__(self, world: World, mail: Mail, reply: Reply, carry_out: Callable[[Decision], None]) -> None:
        """Set out.

        Args:
            world: where time passes.
            mail: the server's.
            reply: what the scheduler answered.
            carry_out: called with each decision when its message arrives.
        """
        self._world = world
        self._mail = mail
        self._decisions = iter(reply.decisions)
        self._until = reply.now
        self._carry_out = carry_out
        self._go_on()

    def _go_on(self) -> None:
        decision = next(self._decisions, None)
        at = round(self._until if decision is None else decision.time, 6)
        if at > self._world.now:
            self._world.schedule(at, self._post, decision)
        else:
            self._post(decision)

    def _post(self, decision: Decision | None) -> None:
        now = self._world.now
        if decision is None:
            self._mail.post(now, None, self._mail.answered)
        else:
            self._mail.post(now, None, lambda: self._carry_out(decision), then=self._go_on)
