"""The experiment on what malleability buys: a small log goes through it, and the page has what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from experiments import experiment, pictures_agree, sections

JOBS = 30


@pytest.fixture(scope="module")
def modules() -> Iterator[dict[str, ModuleType]]:
    with experiment("malleability", "grid", "show", "run") as found:
        yield found


Make = Callable[..., Any]


@pytest.fixture
def make(modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Make:
    """Makes a campaign on the second slice of a log of 60 jobs, of sizes in turns, which come faster than they run."""
    run = modules["run"]
    monkeypatch.setattr(run, "JOBS", JOBS)

    def make(*sizes: int) -> Any:
        lines = []
        for number in range(2 * JOBS):
            size, length = sizes[number % len(sizes)], 1200 + 60 * (number % 5)
            lines.append(
                f"{number + 1} {1000 + 400 * number} -1 {length} {size} -1 -1 {size} 7200 -1 1 1 1 -1 1 -1 -1 -1"
            )
        log = tmp_path / "log.swf"
        log.write_text("; MaxProcs: 100\n" + "\n".join(lines) + "\n")
        return run.Campaign(log, [1], tmp_path / "runs")

    return make


def test_a_small_log_goes_through_it_and_runs_are_taken_as_they_are(
    make: Make, modules: dict[str, ModuleType], tmp_path: Path
) -> None:
    grid, show = modules["grid"], modules["show"]
    campaign = make(64, 36)
    (rigid,) = campaign.measure_rigid()
    assert (round(rigid.execution), rigid.shrinks, rigid.expansions) == (1320, 0, 0)
    found = {case: campaign.measure(case) for case in (grid.Case(), grid.Case("dmr", 0.5))}
    made = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("result.json")}
    assert len(made) == 2 + len(grid.SEEDS)
    (whole,), (half,) = found.values()
    assert campaign.measure(grid.Case()) == [whole]
    assert made == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("result.json")}
    assert whole.shrinks > 0.1
    assert half.least <= half.wait <= half.most
    # The others are drawn from what is there.
    found |= {case: [whole] for case in grid.PARTS["shares"] if case not in found}
    assert show.shares_table([rigid], found).count("\n") == 1 + len(found)
    assert "`dmr`" in show.summary([rigid], found)
    show.picture(tmp_path / "gain.svg", [rigid], found)
    assert (tmp_path / "gain.svg").stat().st_size > 5000


def test_what_a_run_measures_is_right_by_hand(make: Make) -> None:
    """Jobs of half the machine, two at a time: whoever comes third waits."""
    campaign = make(50)
    workload = campaign.rigid[1]
    ends, waits, slow = [0.0, 0.0], [], []
    held = 0.0
    for number, job in enumerate(workload.jobs):
        assert job.submission == 400.0 * number
        length = 1200.0 + 60 * (number % 5)
        start = max(job.submission, min(ends))
        ends[ends.index(min(ends))] = start + length
        waits.append(start - job.submission)
        slow.append((start + length - job.submission) / length)
        held += 50 * max(0.0, min(start + length, 400.0 * 29) - start)
    (found,) = campaign.measure_rigid()
    assert found.wait == pytest.approx(np.mean(waits), abs=1e-3)
    assert found.slowdown == pytest.approx(np.mean(slow), abs=1e-6)
    assert found.utilisation == pytest.approx(held / (100 * 400.0 * 29), abs=1e-6)


def test_changes_are_paired(modules: dict[str, ModuleType]) -> None:
    show = modules["show"]

    def runs(waits: list[float]) -> list[Any]:
        return [show.Measured(*([wait] * 9)) for wait in waits]

    before = runs([100.0, 10.0, 1000.0, 50.0])
    halved = show.change(before, runs([50.0, 5.0, 500.0, 25.0]), "wait")
    # The slices differ by a factor of a hundred, the pairs by none.
    assert (halved.value, halved.low, halved.high) == pytest.approx((-0.5, -0.5, -0.5))
    less = show.difference(before, runs([90.0, 0.0, 990.0, 40.0]), "wait")
    assert (less.value, less.low, less.high) == pytest.approx((-10.0, -10.0, -10.0))
    mixed = show.change(before, runs([50.0, 20.0, 900.0, 60.0]), "wait")
    assert mixed.low < mixed.value < mixed.high


def test_the_page_has_what_was_measured() -> None:
    found = sections("malleability")
    assert set(found) == {"summary", "base", "shares", "scalability", "assumptions"}
    assert all(len(text) > 100 for text in found.values())
    assert pictures_agree("malleability")
