"""States of hosts as decisions of a dispatcher: what is sent, and what is refused."""

import pytest

from batdispatch.core.errors import ImpossibleDecision
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Host, Machine


def ledger_at(now: float) -> Ledger:
    """Return the ledger of four hosts and a disk (4)."""
    hosts = [Host(id=number, name=f"n{number}", storage=number == 4) for number in range(5)]
    ledger = Ledger(e.SimulationBegins(0.0, Machine(hosts), {}))
    ledger.now = now
    return ledger


def test_a_state_becomes_a_decision() -> None:
    ledger = ledger_at(2.0)
    ledger.set_state(Allocation.parse("0-1"), "1")
    assert ledger.take_decisions() == [d.SetResourceState(2.0, Allocation.parse("0-1"), "1")]


def test_states_outside_the_machine_are_refused() -> None:
    ledger = ledger_at(17.5)
    with pytest.raises(ImpossibleDecision, match=r"at 17\.500000 s: .*hosts 4-5.*which has 0-4"):
        ledger.set_state(Allocation.parse("4-5"), "1")
    assert ledger.take_decisions() == []
