"""A dispatcher that asks for calls forever: the run ends with a sentence, instead of filling the disk."""

from pathlib import Path

import pytest

from batdispatch.core.errors import DeadlockError
from batdispatch.engines import world
from sites import simulated

JOBS = [{"id": name, "subtime": 10, "res": 4, "profile": "p"} for name in ("one", "two")]
PROFILES = {"p": {"type": "delay", "delay": 5}}
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full">
<host id="master" speed="1f"><prop id="role" value="master"/></host>
<host id="a" speed="1f"/><host id="b" speed="1f"/><host id="c" speed="1f"/><host id="d" speed="1f"/>
</zone></platform>"""
WAITER = """
from batdispatch.core.line.dispatcher import Dispatcher


class Waiter(Dispatcher):
    \"\"\"Starts the first job at each fortieth call.\"\"\"

    def begin(self, ledger):
        self.calls = 0

    def decide(self, ledger):
        self.calls += bool(ledger.queue)
        if ledger.queue and self.calls % 40 == 0 and ledger.free:
            job = next(iter(ledger.queue.values()))
            place = ledger.place(job)
            if place is not None:
                ledger.start(job, place)
        if ledger.queue:
            ledger.wake_at(ledger.now + 0.01)
"""


@pytest.fixture
def waiter(tmp_path: Path) -> str:
    (tmp_path / "waiter.py").write_text(WAITER)
    return f"{tmp_path}/waiter.py:Waiter"


def test_calls_in_which_nothing_happens_come_to_an_end(
    tmp_path: Path, waiter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world, "MOST_CALLS", 39)
    with pytest.raises(DeadlockError, match=r"^at 10\.39\d+ s .* called 39 times in a row .* 2 jobs have not ended"):
        simulated(tmp_path, waiter, PLATFORM, JOBS, PROFILES)


def test_each_start_and_end_begins_the_count_anew(tmp_path: Path, waiter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Some 500 calls while the first job runs, counted from its start.
    monkeypatch.setattr(world, "MOST_CALLS", 520)
    run = simulated(tmp_path, waiter, PLATFORM, JOBS, PROFILES)
    assert (run / "jobs.csv").read_text().count("COMPLETED_SUCCESSFULLY") == 2
