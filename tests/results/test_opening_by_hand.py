"""The first sentence's price, and by how much each job's wait changes, by hand."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from batdispatch.report.opening import gains, opening, wait_changes
from batdispatch.results.runs import Run, read_run, read_runs

Jobs = dict[str, dict[str, Any]]


def run_of(write_jobs: Any, name: str, waits: list[float], came: list[float] | None = None) -> Path:
    """Jobs of 10 s, each on a host of its own, that come 1 s apart and wait for so long."""
    came = [float(place) for place in range(len(waits))] if came is None else came
    jobs: Jobs = {
        str(number): {"submission": at, "start": at + wait, "finish": at + wait + 10.0, "hosts": str(number)}
        for number, (at, wait) in enumerate(zip(came, waits, strict=True))
    }
    folder: Path = write_jobs(jobs, name)
    return folder


@pytest.mark.parametrize(
    ("longest", "is_price"),
    # The base's longest wait is 10,000 s. Up to .5 % more is no price: 10,050 s.
    [(9_000.0, False), (10_000.0, False), (10_049.0, False), (10_051.0, True), (10_100.0, True)],
)
def test_half_a_percent_more_is_no_price(write_jobs: Any, longest: float, is_price: bool) -> None:
    # The mean wait is far shorter, and so are all others but the longest; slowdowns go with the waits.
    base = run_of(write_jobs, "base", [5_000.0] * 199 + [10_000.0])
    better = run_of(write_jobs, "better", [100.0] * 199 + [longest])
    found = opening(read_runs([base, better]))
    assert found is not None
    assert ("The price: longest wait" in found.text) == is_price, found.text
    assert ("no worse" in found.text) != is_price, found.text


def test_the_gravest_prices_stand_in_sixty_words(write_jobs: Any) -> None:
    runs = read_runs([run_of(write_jobs, name, [wait] * 5) for name, wait in (("base", 500.0), ("better", 100.0))])
    worse = {"nb_jobs_starved": 7, "energy": 9.0, "max_waiting_time": 900.0, "p99_waiting_time": 800.0}
    labels = ("base", "better")
    found = opening(
        [
            replace(run, label=label, metrics={**run.metrics, **dict.fromkeys(worse, 1), **more})
            for run, label, more in zip(runs, labels, ({}, worse), strict=True)
        ]
    )
    assert found is not None
    assert len(found.text.split()) <= 60
    # Of four prices the two gravest are left.
    assert "The price: 7 starved jobs and energy 9" in found.text, found.text
    assert "longest wait" not in found.text


def test_what_is_nothing_under_both_is_no_price(write_jobs: Any) -> None:
    runs = read_runs([run_of(write_jobs, name, [wait] * 5) for name, wait in (("base", 500.0), ("better", 100.0))])
    found = opening([replace(run, metrics={**run.metrics, "nb_jobs_starved": 0, "energy": 0.0}) for run in runs])
    assert found is not None
    assert "Its longest wait and slowdowns are no worse." in found.text


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        # Half a second more or less is no change.
        ([-0.5, 0.5, 0.0], "0 of 3 wait less, 0 longer."),
        ([-0.6, 0.6, 0.4], "1 of 3 wait less (median gain 600 ms, quartiles 600 and 600), 1 longer."),
        # Of 10, 20, 30, 40 and 50 s gained, half gain 30 s or more, a quarter 40 s or more.
        ([-10, -20, -30, -40, -50, 7, 8], "5 of 7 wait less (median gain 30 s, quartiles 20 and 40), 2 longer."),
    ],
)
def test_gains_are_counted_with_their_quartiles(seconds: list[float], said: str) -> None:
    assert gains(np.array(seconds)).replace("\N{NO-BREAK SPACE}", " ") == said


def changes(write_jobs: Any, base: list[float], other: list[float], came: list[float]) -> list[float]:
    runs: list[Run] = [
        read_run(run_of(write_jobs, name, waits, came)) for name, waits in (("base", base), ("other", other))
    ]
    return [round(change, 6) for change in wait_changes(*runs).tolist()]


def test_changes_stand_in_order_of_submission_and_not_of_the_file(write_jobs: Any) -> None:
    # The file has the jobs that came at 30, 10, 20, 0 s in this order; they wait 1, 2, 3, 4 s more.
    came, base = [30.0, 10.0, 20.0, 0.0], [5.0, 5.0, 5.0, 5.0]
    assert changes(write_jobs, base, [6.0, 7.0, 8.0, 9.0], came) == [4.0, 2.0, 3.0, 1.0]
    # Of those that came at once, the one that stands first in the file comes first.
    assert changes(write_jobs, base, [6.0, 7.0, 8.0, 9.0], [7.0, 7.0, 7.0, 0.0]) == [4.0, 1.0, 2.0, 3.0]


def test_a_change_has_the_sign_of_the_other_run_and_is_of_jobs_that_started_in_both(write_jobs: Any) -> None:
    whole: Jobs = {
        name: {"submission": at, "start": at + 50.0, "finish": at + 60.0, "hosts": name}
        for name, at in (("0", 2.0), ("1", 1.0), ("2", 0.0))
    }
    part = {
        "2": {"submission": 0.0, "start": 20.0, "finish": 30.0},
        "1": {"submission": 1.0, "state": "REJECTED"},
        "0": {"submission": 2.0, "start": 152.0, "finish": 162.0, "hosts": "1"},
    }
    base, other = read_run(write_jobs(whole, "base")), read_run(write_jobs(part, "other"))
    # Job 2 came first and waits 20 instead of 50 s, job 0 last and waits 150 instead of 50 s; job 1 is rejected.
    assert wait_changes(base, other).tolist() == pytest.approx([-30.0, 100.0])
    assert wait_changes(other, base).tolist() == pytest.approx([30.0, -100.0])


def text_of(*folders: Path) -> str:
    found = opening(read_runs(list(folders)))
    assert found is not None
    return found.text.replace("\N{NO-BREAK SPACE}", " ")


def test_the_one_that_waits_least_is_compared_with_the_first_other_one(write_jobs: Any) -> None:
    # Means of 100, 400 and 1,000 s: 100 is 75 % less than 400, which stands first of the others.
    folders = [run_of(write_jobs, name, [wait] * 400) for name, wait in (("b", 400.0), ("a", 100.0), ("c", 1000.0))]
    text = text_of(*folders)
    assert text.startswith("Jobs wait least under a: "), text
    assert "under b (\u221275 %). 400 of 400 wait less (median gain 5 min, quartiles 5 and 5), 0 longer." in text, text
    assert "under c" not in text, text


def test_gains_are_counted_from_half_a_second_on_with_their_quartiles_by_hand(write_jobs: Any) -> None:
    # Changes of -100, -200, -300, -400, -500, -0.4, 0.4 and +250 s: the five gains have quartiles of 200 and 400 s.
    base = [1000.0] * 8
    other = [900.0, 800.0, 700.0, 600.0, 500.0, 999.6, 1000.4, 1250.0]
    text = text_of(run_of(write_jobs, "base", base), run_of(write_jobs, "other", other))
    assert "5 of 8 wait less (median gain 5 min, quartiles 3.33 and 6.67), 1 longer." in text, text


@pytest.mark.parametrize(("wait", "waits"), [(0.4, False), (0.6, True)])
def test_below_half_a_second_in_the_mean_nothing_waits(write_jobs: Any, wait: float, waits: bool) -> None:
    text = text_of(*(run_of(write_jobs, name, [each] * 9) for name, each in (("a", 0.0), ("b", wait))))
    assert text.startswith("No job waits in any of these runs") != waits, text


def test_a_longer_turnaround_is_the_price_of_jobs_that_run_longer(write_jobs: Any) -> None:
    def jobs(name: str, wait: float, runs: float) -> Path:
        told = {str(n): {"start": wait, "finish": wait + runs, "hosts": str(n)} for n in range(20)}
        folder: Path = write_jobs(told, name)
        return folder

    # As if malleable jobs had shrunk: they wait 10 instead of 60 min, and take 130 instead of 120 min with their run.
    text = text_of(jobs("a", 3600.0, 3600.0), jobs("b", 600.0, 7200.0))
    assert "The price: mean turnaround 2.17 h instead of 2 h." in text, text
    text = text_of(jobs("c", 3600.0, 3600.0), jobs("d", 600.0, 3600.0))
    assert "turnaround" not in text, text


def test_rejected_jobs_are_told_of_both(write_jobs: Any) -> None:
    def with_rejected(name: str, wait: float, rejected: int) -> Path:
        jobs: Jobs = {
            str(n): {"submission": 0.0, "start": wait, "finish": wait + 10.0, "hosts": str(n)} for n in range(200)
        }
        jobs |= {str(n): {"submission": 0.0, "state": "REJECTED"} for n in range(rejected)}
        folder: Path = write_jobs(jobs, name)
        return folder

    text = text_of(with_rejected("a", 100.0, 7), with_rejected("b", 4_000.0, 2))
    assert "Rejected: 7 jobs instead of 2" in text, text


def test_bars_are_shares_of_the_largest_and_further_runs_are_counted(write_jobs: Any) -> None:
    # Mean waits of 100, 200, ... 1,000 s: ten runs, of which the picture shows eight.
    runs = read_runs([run_of(write_jobs, f"r{n}", [100.0 * n] * 9) for n in range(1, 11)])
    found = opening(runs)
    assert found is not None
    assert found.left_out == 2
    assert [label for label, _, _ in found.rows] == [f"r{n}" for n in range(1, 9)]
    assert [bars[0].share for _, _, bars in found.rows] == pytest.approx([n / 10 for n in range(1, 9)])
    few = opening(runs[:8])
    assert few is not None
    assert few.left_out == 0


def test_a_larger_machine_is_compared_with_the_smallest_one(write_jobs: Any) -> None:
    # 8 and 10 hosts: a quarter more. Means of 400 and 100 s. Utilisation as it was measured, 0.9 and 0.5.
    runs = [
        replace(run, hosts=hosts, metrics={**run.metrics, "utilisation": used})
        for run, hosts, used in zip(
            read_runs([run_of(write_jobs, "small", [400.0] * 9), run_of(write_jobs, "large", [100.0] * 9)]),
            (8, 10),
            (0.9, 0.5),
            strict=True,
        )
    ]
    for several in (runs, runs[::-1]):
        found = opening(several)
        assert found is not None
        text = found.text.replace("\N{NO-BREAK SPACE}", " ")
        assert text.startswith("With 10 hosts instead of 8 (+25 %), jobs wait 1.67 min instead of 6.67 min"), text
        assert "75 % less. 9 of 9 wait less" in text, text
        assert "Utilisation goes from 90 % to 50 %." in text, text


def test_of_a_run_alone_the_mean_99_of_100_and_the_longest_wait_are_told(write_jobs: Any) -> None:
    # Waits of 0 to 100 s: 99 of 100 are at most 99 s.
    text = text_of(run_of(write_jobs, "alone", [float(wait) for wait in range(101)]))
    assert text.startswith("Jobs wait 50 s in the mean; 99 of 100 wait 99 s or less, and none waits longer than 100 s.")
