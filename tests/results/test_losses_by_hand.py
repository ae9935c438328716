"""Where a run loses: shares, halves, order and ties, on six jobs by hand."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs

from batdispatch.report import losses
from batdispatch.report.losses import _costs, _loser, begin_losses, best_of, jobs_that_lose, started_jobs
from batdispatch.results.runs import Run, read_run

#: Each job runs for 100 s, so 1 s of waiting is .01 of bounded slowdown: 1 + wait / 100.
WAITS = {"a": (0, 900), "b": (0, 300), "c": (100, 400), "d": (0, 0), "e": (700, 100), "f": (0, 5)}


def run_of(write_jobs: Any, name: str, which: int) -> Run:
    jobs = {}
    for place, (job, waits) in enumerate(WAITS.items()):
        # `c` comes before `b`, and both after `d`; each has a host of its own.
        came = {"b": 60.0, "c": 50.0}.get(job, float(place))
        jobs[job] = {"submission": came, "start": came + waits[which], "finish": came + waits[which] + 100.0}
        jobs[job]["hosts"] = str(place)
    folder: Path = write_jobs(jobs, name)
    return read_run(folder)


@pytest.fixture
def runs(write_jobs: Any) -> tuple[Run, Run]:
    return run_of(write_jobs, "best", 0), run_of(write_jobs, "worse", 1)


def test_the_best_has_the_lower_mean_and_is_the_first_of_equals(runs: tuple[Run, Run]) -> None:
    best, worse = runs
    # Waits of 800 s in all under `best`, of 1,705 s under `worse`.
    assert best_of([worse, best]) is best
    assert best_of([best, worse]) is best
    assert best_of([best, best]) is best
    assert best_of([worse]) is None


def test_a_run_with_jobs_of_its_own_is_not_compared(runs: tuple[Run, Run]) -> None:
    best, worse = runs

    def told(jobs: int) -> Run:
        workload = structs.replace(best.result.workload, jobs=jobs)
        return replace(best, result=structs.replace(best.result, dynamic_jobs=True, workload=workload))

    # What it registered continues the workload's six jobs, or is a sixth job to the workload's five.
    same, other = told(6), told(5)
    assert best_of([same, worse]) is same
    assert best_of([other, worse]) is None


def test_shares_are_of_what_is_lost_less_what_is_won(runs: tuple[Run, Run]) -> None:
    best, worse = (started_jobs(run) for run in runs)
    costs = _costs(worse, best)
    # a loses 9.00, b and c lose 3.00 each, f loses .05, d nothing, and e wins 6.00: 9.05 in all.
    ids = [name.removeprefix("w0!") for name in costs.here.ids]
    assert ids == ["a", "b", "c", "f", "d", "e"]
    assert costs.difference.tolist() == pytest.approx([9.0, 3.0, 3.0, 0.05, 0.0, -6.0])
    # b and c cost the same: they stand by name, whichever the file has first.
    assert _costs(worse.take(range(5, -1, -1)), best).here.ids == costs.here.ids
    assert [costs.dearest(most) for most in (2, 10)] == [2, 4]
    told = _loser(runs[1], costs, 3, None, {name: f"why {name}" for name in costs.here.ids}, "")
    assert told.jobs == 6
    # 9.05 / 6 = 1.508.
    assert told.difference == "1.51"
    # 15 / 9.05; the first alone makes up more than half of 9.05.
    assert told.share == pytest.approx(15 / 9.05)
    assert told.half == 1
    assert [(loss.job, loss.share) for loss in told.losses] == [
        ("w0!a", pytest.approx(9 / 9.05)),
        ("w0!b", pytest.approx(3 / 9.05)),
        ("w0!c", pytest.approx(3 / 9.05)),
    ]
    # Slowdowns 1 + wait / 100, here and under the best.
    assert [(loss.slowdown, loss.best) for loss in told.losses] == [("10", "1"), ("4", "1"), ("5", "2")]
    assert [(loss.wait, loss.best_wait) for loss in told.losses] == [
        ("15\N{NO-BREAK SPACE}min", "0\N{NO-BREAK SPACE}s"),
        ("5\N{NO-BREAK SPACE}min", "0\N{NO-BREAK SPACE}s"),
        ("6.67\N{NO-BREAK SPACE}min", "100\N{NO-BREAK SPACE}s"),
    ]
    assert [loss.why for loss in told.losses] == ["why w0!a", "why w0!b", "why w0!c"]


def test_half_of_the_difference_takes_as_many_jobs_as_reach_it(runs: tuple[Run, Run], write_jobs: Any) -> None:
    def half(*more: float) -> int:
        jobs = {
            name: [{"start": wait, "finish": wait + 100.0, "hosts": str(place)} for place, wait in enumerate(waits)]
            for name, waits in (("none", [0.0] * len(more)), ("some", list(more)))
        }
        first, second = (
            started_jobs(read_run(write_jobs({str(i): job for i, job in enumerate(rows)}, f"{name}{more}")))
            for name, rows in jobs.items()
        )
        return _loser(runs[1], _costs(second, first), 5, None, {}, "").half

    # Of 10: 4 + 3 reach 5. Of 12: 5 does not reach 6, 5 + 4 do. Of 9: 5 reaches 4.5.
    assert half(400.0, 300.0, 200.0, 100.0) == 2
    assert half(300.0, 500.0, 400.0) == 2
    assert half(100.0, 500.0, 300.0) == 1
    # Of 10, alike: three of five reach 5.
    assert half(200.0, 200.0, 200.0, 200.0, 200.0) == 3


def test_jobs_that_wait_longer_stand_by_how_much_and_then_by_when_they_came(runs: tuple[Run, Run]) -> None:
    best, worse = (started_jobs(run) for run in runs)
    # a waits 900 s longer, b and c 300 s, of which c came first; f 5 s; d as long, and e 600 s less.
    assert jobs_that_lose(worse, best) == ["w0!a", "w0!c", "w0!b", "w0!f"]
    assert jobs_that_lose(best, worse) == ["w0!e"]


@pytest.mark.parametrize(("later", "counts"), [(0.4, False), (0.5, False), (0.6, True), (2.0, True)])
def test_half_a_second_is_no_longer_wait(write_jobs: Any, later: float, counts: bool) -> None:
    first, second = (
        started_jobs(read_run(write_jobs({"a": {"start": start, "finish": start + 10.0}}, f"run{start}")))
        for start in (20.0, 20.0 + later)
    )
    assert jobs_that_lose(second, first) == (["w0!a"] if counts else [])


def test_runs_that_were_not_recorded_lose_nothing_that_could_be_explained(runs: tuple[Run, Run]) -> None:
    assert begin_losses(runs)() == ("best", [], {})


def test_of_several_segments_the_one_that_waited_longest_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(losses, "sentence", lambda part, unit: f"{part.job} was held.")
    parts: Any = [SimpleNamespace(job=f"1_{number}", wait=wait) for number, wait in enumerate((5.0, 70.0, 60.0))]
    assert losses._why(parts, None) == "It ran in 3 segments, of which 1_1 waited longest. 1_1 was held."
    assert losses._why(parts[:1], None) == "1_0 was held."
