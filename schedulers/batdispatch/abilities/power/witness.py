"""Speaks of waits in the place of `powered`."""

from __future__ import annotations

from batdispatch.abilities.power.power_saving import PowerSaving
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.hindsight import Hindsight, Reason, plain
from batdispatch.core.line.ledger import Ledger


class PowerWitness(Dispatcher):
    """Speaks of the cap and the price that `powered` keeps, without sharing power or keeping jobs back."""

    def __init__(self, asked: PowerSaving) -> None:
        super().__init__()
        self._asked = asked
        #: Until when each job is kept back, s.
        self._until: dict[str, float] = {}

    def begin(self, ledger: Ledger) -> None:
        self._asked.measure(ledger)

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        self._until[job.id] = self._asked.kept_until(ledger, job)

    def decide(self, ledger: Ledger) -> None:
        """Decide nothing."""

    def why_waited(self, job: Job, decision: Hindsight) -> Reason | None:
        until = self._until.get(job.id, 0.0)
        if until > decision.ledger.now:
            return Reason("it was kept back for a cheaper hour", f"until {plain(until)} s")
        return self._asked.why_waited(job, decision)


def witness(dispatcher: Dispatcher) -> Dispatcher | None:
    """Return what speaks of waits under `powered`; None: the dispatcher is another one."""
    return PowerWitness(dispatcher) if isinstance(dispatcher, PowerSaving) else None
