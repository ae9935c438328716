"""A dispatcher that has itself called without end is told so; one that polls is left alone."""

import pytest

from batdispatch.core.errors import SimulationError
from batdispatch.core.line import idle_calls
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.idle_calls import MOST, WITHIN
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Machine
from simulating import Task, simulate, start_all


class Polling(Dispatcher):
    """Starts jobs as they come, and asks to be called `every` so many seconds as long as a job runs or waits."""

    every = 1e-6
    calls = 0

    def decide(self, ledger: Ledger) -> None:
        start_all(ledger)
        if ledger.running or ledger.queue:
            self.calls += 1
            ledger.wake_at(ledger.now + self.every)


def test_calls_as_soon_as_can_be_end_in_an_error_that_says_so() -> None:
    dispatcher = Polling()
    with pytest.raises(SimulationError) as caught:
        simulate(Machine.flat(2), [Task("1", 3.0, 1, 3600.0)], dispatcher)
    assert dispatcher.calls == MOST + 1
    text = str(caught.value)
    assert text.startswith("dispatcher Polling does not get on at 13.000000 s: it has been called 10,000 times in a ")
    assert "since 3.001000 s" in text
    assert "the next one at 13.001000 s" in text
    assert "ask wake_at for that moment once: what is asked for twice comes twice" in text


def test_who_polls_once_in_a_while_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_calls, "MOST", 50)
    dispatcher = Polling()
    # Fifty calls take a little longer than the span.
    dispatcher.every = WITHIN / 48
    result = simulate(Machine.flat(2), [Task("1", 0.0, 1, 2000.0)], dispatcher)
    assert dispatcher.calls > 4000
    assert result.starts() == {"1": 0.0}


def test_what_happens_in_between_counts_as_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_calls, "MOST", 50)
    dispatcher = Polling()
    dispatcher.every = 0.001
    tasks = [Task(str(number), number * 0.04, 1, 0.02) for number in range(50)]
    assert len(simulate(Machine.flat(2), tasks, dispatcher).starts()) == 50
