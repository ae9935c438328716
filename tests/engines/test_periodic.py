"""Calls and probes that come again and again, and an early end, in process: what the ledger takes the engine does."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batdispatch.abilities.power.machine.facet import HostPowers
from batdispatch.core.errors import ImpossibleDecision
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line import events as e
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.periods import Periods, first_multiple
from batdispatch.core.line.session import Session
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import read_workload
from recorded_energy import ENERGY
from workloads_of_cases import write_workload

JOBS = [{"id": str(n), "subtime": 40 * n, "res": 1, "profile": "p"} for n in range(3)]


class Watch(Dispatcher):
    """Starts what fits, does something at the beginning, and keeps what it hears."""

    needs_energy = True

    def __init__(self, first: Callable[[Ledger], None], then: Callable[[Ledger, e.Event], None] | None = None) -> None:
        super().__init__()
        self.first, self.then = first, then
        self.heard: list[e.Event] = []

    def begin(self, ledger: Ledger) -> None:
        self.first(ledger)

    def on_event(self, ledger: Ledger, event: e.Event) -> None:
        self.heard.append(event)
        if self.then is not None:
            self.then(ledger, event)

    def decide(self, ledger: Ledger) -> None:
        for job in [*ledger.queue.values()]:
            place = ledger.place(job)
            if place is not None:
                ledger.start(job, place)


def run(folder: Path, watch: Watch) -> list[Any]:
    write_workload(folder / "w.json", JOBS, {"p": {"type": "delay", "delay": 25}})
    platform = read_platform(ENERGY / "platforms" / "homo8.xml")
    platform.facet(HostPowers)
    engine = EmbeddedEngine(
        platform.machine, read_workload(folder / "w.json"), Outputs(folder, 8), options=EngineOptions(energy="exact")
    )
    engine.run(Session(watch))
    return [event for event in watch.heard if isinstance(event, e.RequestedCall | e.ProbeData)]


def test_calls_come_at_multiples_and_the_last_says_so(tmp_path: Path) -> None:
    def begin(ledger: Ledger) -> None:
        ledger.call_every("tens", 10.0, 3)
        ledger.call_every("twenties", 20.0)

    def stop(ledger: Ledger, event: e.Event) -> None:
        if event.time == 60.0:
            ledger.stop_calls("twenties")

    found = [(call.time, call.call_id, call.last) for call in run(tmp_path, Watch(begin, stop))]
    assert found == [
        (10.0, "tens", False),
        (20.0, "tens", False),
        (20.0, "twenties", False),
        (30.0, "tens", True),
        (40.0, "twenties", False),
        (60.0, "twenties", False),
    ]


def test_endless_calls_keep_no_simulation_alive_and_finite_ones_do(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    endless = run(tmp_path / "a", Watch(lambda ledger: ledger.call_every("a", 50.0)))
    assert [call.time for call in endless] == [50.0, 100.0]
    finite = run(tmp_path / "b", Watch(lambda ledger: ledger.call_every("a", 50.0, 4)))
    assert [call.time for call in finite] == [50.0, 100.0, 150.0, 200.0]


def test_probes_tell_joules_of_each_host_or_of_all(tmp_path: Path) -> None:
    def begin(ledger: Ledger) -> None:
        ledger.probe("each", Allocation.of([6, 7]), 10.0, 1)
        ledger.probe("mean", Allocation.of([6, 7]), 10.0, 1, aggregate="mean")
        ledger.probe("sum", Allocation.of([6, 7]), 10.0, 1, aggregate="sum")

    found = {probe.probe_id: probe.joules for probe in run(tmp_path, Watch(begin))}
    idle = found["mean"][0]
    assert idle > 0
    assert found == {"each": [idle, idle], "mean": [idle], "sum": [2 * idle]}


def test_a_simulation_ends_early_but_not_while_jobs_run(tmp_path: Path) -> None:
    def end(ledger: Ledger, event: e.Event) -> None:
        if isinstance(event, e.RequestedCall) and event.time == 70.0:
            ledger.stop_simulation()

    run(tmp_path, Watch(lambda ledger: ledger.call_every("a", 35.0), end))
    # The third job comes at 80 s.
    assert len((tmp_path / "jobs.csv").read_text().splitlines()) == 1 + 2

    def too_early(ledger: Ledger, event: e.Event) -> None:
        if isinstance(event, e.RequestedCall):
            ledger.stop_simulation()

    (tmp_path / "b").mkdir()
    with pytest.raises(ImpossibleDecision, match=r"the simulation cannot end while jobs run: w0!0"):
        run(tmp_path / "b", Watch(lambda ledger: ledger.call_every("a", 10.0), too_early))


@pytest.mark.parametrize(
    ("period", "now", "multiple"), [(10.0, 0.0, 1), (10.0, 1e-10, 1), (10.0, 1.0, 2), (10.0, 10.0, 2), (0.3, 0.6, 3)]
)
def test_the_first_one_comes_when_a_period_has_passed(period: float, now: float, multiple: int) -> None:
    assert first_multiple(period, now) == multiple


def test_what_cannot_begin_and_what_has_ended(tmp_path: Path) -> None:
    periods = Periods()
    periods.begin("call", "a", 4.0, 2)
    assert periods.problem("call", "a", 8.0, None) == "there is a call 'a' already"
    assert "one of two periods must divide the other" in str(periods.problem("probe", "b", 6.0, None))
    for period, times in ((8.0, 0), (0.0, 1), (5e-324, 1), (math.nan, 1), (math.inf, 1)):
        assert "expected at least 1 time and 0.001 s" in str(periods.problem("probe", "b", period, times))
    assert periods.problem("probe", "b", 0.1, None) is None
    assert [periods.came("call", "a"), periods.came("call", "a")] == [False, True]
    assert periods.problem("probe", "b", 6.0, None) is None
    assert not periods.stop("call", "a")
