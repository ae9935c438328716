"""`greenfilling`: what runs ahead of the head of the queue takes the less of what is free, the dirtier the power is."""

import math
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.abilities.power.dispatchers.green_easy import GreenEasy
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Machine
from batdispatch.testing.simulation import Task
from simulating import audit, exact, simulate
from strategies import absences, machines, workloads


def series(folder: Path, *values: float, name: str = "grid.csv") -> Path:
    path = folder / name
    path.write_text("time,value\n" + "".join(f"{10 * number},{value}\n" for number, value in enumerate(values)))
    return path


@pytest.mark.parametrize(
    ("value", "tau", "ahead"),
    [(0, 0.1, 4), (300, 0.1, 0), (300, 0.5, 2), (100, 0, 2), (225, 0, 1)],
)
def test_jobs_ahead_of_the_head_take_a_share_of_what_is_free(
    value: float, tau: float, ahead: int, tmp_path: Path
) -> None:
    # At 10 s, 4 of 10 hosts are free: half of those would be 2, and a quarter 1. The head waits for 8.
    path = series(tmp_path, 0, value, 300)
    tasks = [exact("a", 0, 6, 100), exact("b", 0, 4, 10), exact("head", 1, 8, 10)]
    tasks += [exact(f"c{number}", 2, 1, 5) for number in range(4)]
    result = simulate(Machine.flat(10), tasks, f"greenfilling[carbon={path},tau={tau}]")
    assert [row.start for name, row in result.rows.items() if name.startswith("c")].count(10_000_000) == ahead
    assert result.rows["head"].start == 100_000_000


def test_the_dirtier_of_two_series_counts(tmp_path: Path) -> None:
    carbon, water = series(tmp_path, 0, 4), series(tmp_path, 0, 3, 6, name="water.csv")
    dispatcher = create(f"greenfilling[carbon={carbon},water={water}]")
    assert isinstance(dispatcher, GreenEasy)
    assert [max(each.level(now) for each in dispatcher._series) for now in (0.0, 10.0, 25.0)] == [0, 1, 1]


def test_the_head_starts_whenever_it_fits(tmp_path: Path) -> None:
    path = series(tmp_path, 300, 300, 0)
    result = simulate(
        Machine.flat(4), [exact("a", 0, 4, 10), exact("b", 1, 4, 3)], f"greenfilling[carbon={path},tau=0]"
    )
    assert result.rows["b"].start == 10_000_000


def test_a_series_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.csv"):
        create(f"greenfilling[carbon={tmp_path / 'nowhere.csv'}]")


class Watched(GreenEasy):
    """Holds each decision against the formula of the card."""

    def decide(self, ledger: Ledger) -> None:
        free = ledger.space.pooled(ledger.free)
        dirt = max((each.level(ledger.now) for each in self._series), default=0.0)
        self.most = [math.floor(each * max(self.options.tau, 1 - dirt) + 1e-9) for each in free.tolist()]
        self.taken = [0] * len(self.most)
        super().decide(ledger)

    def _backfill(self, ledger: Ledger, job: Job, head: Job | None) -> bool:
        started = super()._backfill(ledger, job, head)
        if started:
            used = ledger.space.sums_needed(job)
            self.taken = [before + one for before, one in zip(self.taken, used, strict=True)]
        assert all(one <= most for one, most in zip(self.taken, self.most, strict=True))
        return started


@settings(max_examples=40)
@given(data=st.data())
def test_no_job_is_lost_and_what_runs_ahead_keeps_to_the_formula(data: st.DataObject) -> None:
    values = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=6), label="values")
    machine = data.draw(machines(), label="machine")
    tasks: list[Task] = data.draw(workloads(machine), label="tasks")
    tau = data.draw(st.sampled_from(["0", "0.1", "0.5"]), label="tau")
    events = data.draw(absences(machine), label="absences")
    with tempfile.TemporaryDirectory() as folder:
        options = f"carbon={series(Path(folder), *values)},tau={tau}"
        result = simulate(machine, tasks, f"{Watched.__module__}:{Watched.__name__}[{options}]", events=events)
    audit(machine, tasks, result)


@settings(max_examples=20)
@given(data=st.data())
def test_without_a_series_it_decides_as_easy(data: st.DataObject) -> None:
    machine = data.draw(machines(), label="machine")
    tasks: list[Task] = data.draw(workloads(machine), label="tasks")
    assert simulate(machine, tasks, "greenfilling").files == simulate(machine, tasks, "easy").files
