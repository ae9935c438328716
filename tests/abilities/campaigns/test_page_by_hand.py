"""What stands in the tables and pictures of a comparison's page, by hand on six or eight replicates."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from batdispatch.abilities.campaigns.page.aims import AIMS
from batdispatch.abilities.campaigns.page.answers import Section, answer, chosen_baseline
from batdispatch.abilities.campaigns.page.opening import opening
from batdispatch.abilities.campaigns.page.page import _effect_rows, _shown, effect_cell
from batdispatch.abilities.campaigns.page.pairs import pair
from batdispatch.abilities.campaigns.page.pictures import BETTER, WORSE, _beats, colour
from batdispatch.abilities.campaigns.page.table import Block, RunMetric
from batdispatch.report.comparison import best_price
from batdispatch.report.style import FAINT
from batdispatch.results.runs import Run, read_run

WAIT, SLOWDOWN, LONGEST, *_, UTILISATION = AIMS
#: Of eight replicates.
BASE = np.array([100.0, 220.0, 330.0, 90.0, 510.0, 400.0, 150.0, 280.0])


def table(metric: str = "x", kind: str = "seed", log: str = "log", **columns: np.ndarray) -> RunMetric:
    blocks = tuple(Block(log, f"{kind} {row}") for row in range(len(next(iter(columns.values())))))
    return RunMetric(metric, blocks, tuple(columns), np.array(list(columns.values())).T)


def test_easy_is_the_usual_one_wherever_it_stands_and_else_the_first() -> None:
    assert chosen_baseline(table(a=BASE, easy=BASE, b=BASE)) == "easy"
    assert chosen_baseline(table(b=BASE, a=BASE)) == "b"


def test_mean_least_and_most_stand_in_this_order() -> None:
    values = np.array([2.0, 9.0, 4.0])
    texts, unit = _shown(answer(table("mean_bounded_slowdown", a=values, b=values + 1), SLOWDOWN, "a", "seeds"))
    assert (texts, unit) == (["5", "2", "9", "6", "3", "10"], "")


@pytest.mark.parametrize(
    ("factor", "mark", "shade"), [(0.5, "better", BETTER), (2.0, "worse", WORSE), (None, "", FAINT)]
)
def test_what_is_better_or_worse_beyond_chance_is_marked_so(factor: float | None, mark: str, shade: str) -> None:
    wobble = np.array([0.9, 1.12, 0.93, 1.08, 0.91, 1.11, 0.95, 1.04])
    ours = BASE * (wobble if factor is None else factor)
    rows = table(a=ours, easy=BASE)
    found = pair(rows, SLOWDOWN, "a", "easy")
    assert effect_cell(SLOWDOWN, found).mark == mark
    assert colour(found, answer(rows, SLOWDOWN, "easy", "seeds")) == shade
    # Of utilisation more is better.
    if factor is not None:
        other = {"better": "worse", "worse": "better"}[mark]
        assert effect_cell(UTILISATION, pair(rows, UTILISATION, "a", "easy")).mark == other


def test_a_dispatcher_is_beaten_by_one_that_is_better_in_one_thing_and_no_worse_in_the_other() -> None:
    assert _beats((1.0, 2.0), (1.0, 3.0))
    assert _beats((1.0, 2.0), (1.5, 2.0))
    assert not _beats((1.0, 2.0), (1.0, 2.0))
    assert not _beats((1.0, 3.0), (1.5, 2.0))


@pytest.mark.parametrize(("kind", "shown"), [("window", ["9", "8"]), ("seed", ["5", "6"])])
def test_the_longest_wait_of_windows_is_that_of_the_log_and_of_replicates_a_mean(kind: str, shown: list[str]) -> None:
    values = {"easy": np.array([1.0, 9.0, 5.0]), "a": np.array([4.0, 6.0, 8.0])}
    longest = answer(table(LONGEST.metric, kind, **values), LONGEST, "easy", "parts")
    mean = answer(table(WAIT.metric, kind, **values), WAIT, "easy", "parts")
    found = opening([Section("log", "parts", (mean, longest))])
    assert found is not None
    at = list(found.headings).index("longest wait")
    assert [bars[at].text.partition("\N{NO-BREAK SPACE}")[0] for _, _, bars in found.rows] == shown


def test_of_many_workloads_it_is_told_on_how_many_the_best_is_so_beyond_chance() -> None:
    wobble = np.array([0.8, 1.1, 0.85, 1.05, 0.9, 1.1, 0.95, 1.04])
    sections = []
    for number, factors in enumerate((0.5, 0.5, wobble, 2.0)):
        rows = table(WAIT.metric, log=f"log {number}", good=BASE * factors, easy=BASE)
        sections.append(Section(f"log {number}", "seeds", (answer(rows, WAIT, "easy", "seeds"),)))
    # `good` is best on three, on two of them in all replicates.
    found = opening(sections)
    assert found is not None
    assert found.text == "Jobs wait least in the mean under good on 3 of 4 workloads, beyond chance on 2 of these."


@pytest.mark.parametrize(
    ("longest", "told"), [(1004.0, ""), (1006.0, "1.01 times the longest wait of easy"), (9.0, "")]
)
def test_the_best_has_a_price_where_it_reads_as_one(write_jobs: Any, longest: float, told: str) -> None:
    runs: list[Run] = []
    for name, most in (("easy", 1000.0), ("best", longest)):
        waits = [*[5.0] * 199, most]
        folder: Path = write_jobs(
            {str(n): {"start": wait, "finish": wait + 10.0, "hosts": str(n)} for n, wait in enumerate(waits)}, name
        )
        run = read_run(folder)
        runs.append(replace(run, label=name, result=structs.replace(run.result, dispatcher=name)))
    assert best_price(runs, "best") == told


def test_a_line_says_how_often_a_dispatcher_was_better() -> None:
    # Better on five of eight, equal on one, worse on two.
    ours = BASE * np.array([0.5, 0.5, 0.5, 0.5, 0.5, 1.0, 2.0, 2.0])
    ((name, (cell,)),) = _effect_rows(
        Section("log", "seeds", (answer(table(a=ours, easy=BASE), SLOWDOWN, "easy", "seeds"),))
    )
    assert (name, cell.more.rpartition("; ")[2]) == ("a", "5 of 8, 1 equal")
