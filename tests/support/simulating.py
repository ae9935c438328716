"""Small simulations, as authors of plug-ins have them."""

from typing import Any

from batdispatch.core.line.ledger import Ledger
from batdispatch.testing.simulation import Result, Row, Task, audit, check_absences, micro, simulate

__all__ = ["Result", "Row", "Task", "audit", "check_absences", "exact", "micro", "reasons", "simulate", "start_all"]


def exact(
    name: str, submission: float, units: int, runtime: float, demand: dict[str, int] | None = None, **fields: Any
) -> Task:
    """Return a task that asks for exactly the time it takes, with further fields of its request."""
    return Task(name, float(submission), units, float(runtime), float(runtime), demand, "", fields)


def reasons(result: Result) -> dict[str, str]:
    """Return why jobs were rejected, by their ids."""
    ledger = result.ledger
    ledger.check()
    return {name.removeprefix("w0!"): reason for name, reason in ledger.rejections}


def start_all(ledger: Ledger) -> None:
    """Start each waiting job that fits, in order of arrival."""
    for job in list(ledger.queue.values()):
        place = ledger.place(job)
        if place is not None:
            ledger.start(job, place)
