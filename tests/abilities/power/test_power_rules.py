"""The rules of the page on power, each written by a stranger, decide in runs."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from batdispatch.abilities.power.cheap_hours import CheapHours
from batdispatch.abilities.power.machine.series import Series
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.line.decisions import SetResourceState
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.engines.records import EngineOptions
from batdispatch.parts.prediction import Predictions
from manual import ROOT, blocks
from simulating import Result, Task, simulate

HOUR = 3600.0


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "my.py"
    path.write_text("\n\n".join(block for block in blocks(ROOT / "docs/power.md", "python") if "--8<--" not in block))
    return path


def run(options: str, *tasks: Task) -> Result:
    properties = {"wattage_per_state": "100:110:200,10:10,120:120,140:140", "sleep_pstates": "1:2:3"}
    host = Host(id=0, name="h", properties=properties, speed=1e9, speeds=(1e9, 1.0, 1.0, 1.0))
    return simulate(Machine([host]), tasks, f"powered[{options}]", engine=EngineOptions(energy="exact"))


def test_a_sleep_rule_of_ones_own(rules: Path) -> None:
    """The simulation begins at midnight: the host sleeps at once, and wakes for the jobs of 5 and 12 o'clock alone."""
    tasks = [Task("1", 5 * HOUR, 1, 60.0, 60.0), Task("2", 12 * HOUR, 1, 60.0, 60.0), Task("3", 13 * HOUR, 1, 1.0, 1.0)]
    result = run(f"sleep={rules}:AtNight,after=300", *tasks)
    states = [
        (decision.time, decision.state)
        for _, reply in result.exchanges
        for decision in reply.decisions
        if isinstance(decision, SetResourceState)
    ]
    woken = 5 * HOUR + 1
    assert states == [(300.0, "1"), (5 * HOUR, "0"), (woken + 60 + 300, "1"), (12 * HOUR, "0")]


def test_a_start_rule_of_ones_own(rules: Path, tmp_path: Path) -> None:
    """Day 0 is a Monday: a job of two days waits until Saturday if it may."""
    price = tmp_path / "price.csv"
    price.write_text("time,price\n0,1\n86400,2\n")
    long = Task("1", HOUR, 1, 60.0, 48 * HOUR, extra={"may": 7 * 24 * HOUR})
    result = run(f"price={price},start={rules}:Weekend,slack=may", long, Task("2", HOUR, 1, 60.0, 60.0))
    assert result.starts() == {"2": HOUR, "1": 5 * 24 * HOUR}


def test_what_continues_a_job_is_not_kept_back_for_a_cheaper_hour() -> None:
    """The price falls by half after an hour; a job may wait for two. What is left of one has waited already."""
    hours = CheapHours(Series((0.0, HOUR), (2.0, 1.0)), "cheapest", "7200", Predictions("requested"))
    first = Job(id="w0!1", request=Request(units=1), submission=0.0, walltime=60.0)
    assert hours.until(first, 0.0) == HOUR
    assert hours.until(replace(first, id="w0!1~2", parent="w0!1"), 0.0) == 0.0


@pytest.mark.parametrize(("chosen", "until"), [(100.0, 400.0), (400.0, 700.0), (600.0, 800.0), (-1.0, 300.0)])
def test_a_rule_keeps_no_job_back_for_longer_than_it_may_wait(tmp_path: Path, chosen: float, until: float) -> None:
    """A job comes at 300 s and may wait for 500 s, whatever its rule says."""
    (tmp_path / "late.py").write_text(
        "from batdispatch.abilities.power.start.base import Flexibility, StartRule\n\n\n"
        "class Late(StartRule):\n"
        "    def choose(self, wait: Flexibility) -> float:\n"
        f"        return wait.now + {chosen}\n"
    )
    hours = CheapHours(Series.constant(1.0), f"{tmp_path / 'late.py'}:Late", "500", Predictions("requested"))
    job = Job(id="w0!1", request=Request(units=1), submission=300.0, walltime=60.0)
    assert hours.until(job, 300.0) == until
