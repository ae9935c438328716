"""What a page on changes of a site says first, and what it measures, by hand on six windows."""

from dataclasses import replace

import numpy as np
import pytest

from batdispatch.abilities.campaigns.page.table import Block, RunMetric
from batdispatch.abilities.whatif.page import AIMS, Group, Variant, WhatIf, opening, text_of
from batdispatch.abilities.whatif.variants import _MEASURES, _natural, _size

LABELS = ("baseline", "hosts+10%", "dispatcher=filler")
BLOCKS = tuple(Block("log", f"window {number}") for number in range(6))
#: Waits of the baseline, s: 1 h in the mean.
WAITS = np.array([3000.0, 4200.0, 3600.0, 3900.0, 3300.0, 3600.0])


def table(metric: str, *factors: float) -> RunMetric:
    return RunMetric(metric, BLOCKS, LABELS, np.column_stack([WAITS * factor for factor in factors]))


def found() -> WhatIf:
    """More hosts halve waits and filling takes them to a fifth; small jobs wait three times as long with more hosts."""
    variants = [
        Variant(label, nodes, 3600.0 * factor, 3600.0 * factor * 1000)
        for label, nodes, factor in zip(LABELS, (100, 110, 100), (1.0, 0.5, 0.2), strict=True)
    ]
    groups = [
        Group("size", "1", 40, table("mean_waiting_time", 1.0, 3.0, 0.2)),
        Group("size", "2-4", 30, table("mean_waiting_time", 1.0, 0.4, 0.2)),
        # Longer in the mean, and shorter in half of the windows.
        Group("size", "5-8", 30, RunMetric("mean_waiting_time", BLOCKS, LABELS, _mixed())),
    ]
    tables = {aim: table(aim.metric, 1.0, 0.5, 0.2) for aim in AIMS}
    return WhatIf("log", variants, tables, groups, 24.0, 1000, 0, None, [])


def only(told: WhatIf, *places: int) -> WhatIf:
    """Return some of the variants, the first of which is the baseline, without groups."""
    labels = [LABELS[place] for place in places]
    return replace(
        told,
        variants=[told.variants[place] for place in places],
        tables={aim: one.only(labels) for aim, one in told.tables.items()},
        groups=[],
    )


def _mixed() -> np.ndarray:
    factors = np.array([0.5, 1.7, 0.6, 1.6, 0.7, 1.8])
    return np.column_stack([WAITS, WAITS * factors, WAITS * 0.2])


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_the_page_says_what_the_first_change_does_and_which_one_does_most() -> None:
    text = plain(opening(found()).text)
    assert text.startswith("With hosts+10% (+10 % nodes), jobs wait 30 min in the mean instead of 60 min with the ")
    assert "They wait least with dispatcher=filler: 12 min." in text
    # What may be chance is no loss.
    assert text.endswith("Worse off with hosts+10%, beyond chance: size 1.")


def test_the_page_says_what_a_change_costs() -> None:
    told = found()
    # 10 nodes for 24 h at 2 each are 480, for 1,000 jobs that wait half an hour less: 500 h.
    assert "The price: 10 nodes more and 0.96 for each hour of waiting saved." in plain(opening(told, 2.0).text)
    assert "The price: 10 nodes more." in plain(opening(told).text)
    text = plain(opening(only(told, 1, 0), 2.0).text)
    assert "(-9.09 % nodes), jobs wait 60 min in the mean instead of 30 min" in text
    assert "The price: 2.00 times the mean wait, 2.00 times the " in text
    assert "nodes more" not in text
    # Only the dispatcher is another, and all figures are better.
    assert "No price was found" in opening(only(told, 0, 2), 2.0).text


@pytest.mark.parametrize(("lost", "said"), [(1, "1 job does not run any more"), (78, "78 jobs do not run any more")])
def test_jobs_that_do_not_run_any_more_are_the_first_price(lost: int, said: str) -> None:
    told = found()
    more, filler = (variant._replace(lost=lost) for variant in told.variants[1:])
    dearer = replace(told, variants=[told.variants[0], more, filler])
    assert f"The price: {said} and 10 nodes more." in plain(opening(only(dearer, 0, 1)).text)
    # All figures of those that run are better.
    text = plain(opening(only(dearer, 0, 2)).text)
    assert f"The price: {said}." in text
    assert "No price" not in text


def test_a_change_by_which_some_lose_is_not_without_price() -> None:
    waits = table("mean_waiting_time", 1.0, 9.0, 3.0).only([LABELS[0], LABELS[2]])
    text = opening(replace(only(found(), 0, 2), groups=[Group("size", "1", 40, waits)])).text
    assert "No price" not in text
    assert text.endswith("Worse off with dispatcher=filler, beyond chance: size 1.")


def test_the_baseline_may_be_the_best() -> None:
    text = plain(opening(only(found(), 2, 0, 1)).text)
    assert "They wait least with dispatcher=filler: 12 min." in text


def test_the_terminal_says_the_answer_first() -> None:
    told = found()
    lines = text_of(told, 2.0).splitlines()
    assert lines[0] == opening(told, 2.0).text
    (row,) = [plain(line) for line in lines if line.startswith("size 1 ")]
    # Jobs, their mean wait in the baseline, and what the changes do to it.
    assert row.split()[2:6] == ["40", "60", "min", "*3.00"]


def test_if_every_change_makes_jobs_wait_longer_they_wait_least_with_the_baseline() -> None:
    told = found()
    hours = (1.0, 2.0, 1.5)
    worse = [site._replace(mean_wait=3600.0 * wait) for site, wait in zip(told.variants, hours, strict=True)]
    text = plain(opening(replace(told, variants=worse)).text)
    assert "They wait least with the baseline: 1 h." in text, text


@pytest.mark.parametrize(
    ("worse", "price"),
    [
        # All that are judged fall by half: nothing is a price.
        ({}, ""),
        # Waits of those who wait longest are one even if it may be chance, as the slowdown is not.
        ({"max_waiting_time": [2.0] * 6}, " and 2.00 times the longest wait"),
        ({"mean_bounded_slowdown": [0.5, 1.7, 0.6, 1.6, 0.7, 1.8]}, ""),
        (
            {"mean_bounded_slowdown": [3.0] * 6, "p99_waiting_time": [1.5] * 6},
            ", 3.00 times the mean bounded slowdown and 1.50 times the 99 % wait",
        ),
    ],
)
def test_the_price_of_a_change_is_what_gets_worse(worse: dict[str, list[float]], price: str) -> None:
    told = found()
    tables = dict(told.tables)
    for aim in AIMS:
        if aim.metric in worse:
            columns = np.column_stack([WAITS, WAITS * worse[aim.metric], WAITS * 0.2])
            tables[aim] = RunMetric(aim.metric, BLOCKS, LABELS, columns)
    text = plain(opening(replace(told, tables=tables)).text)
    said = text.partition(" The price: 10 nodes more")[2].partition(" They wait")[0]
    assert said == f"{price}.", text


def test_the_longest_wait_is_that_of_all_windows_and_the_slowdown_a_mean() -> None:
    shown = {heading: place for place, heading in enumerate(opening(found()).headings)}
    rows = [[plain(bar.text) for bar in bars] for _, _, bars in opening(found()).rows]
    # 4,200 s, half and a fifth of it; the mean of the windows is 3,600 s.
    assert [row[shown["longest wait"]] for row in rows] == ["70 min", "35 min", "14 min"]
    assert [row[shown["99 % wait"]] for row in rows] == ["60 min", "30 min", "12 min"]


def test_an_hour_less_to_wait_costs_what_the_nodes_cost_all_the_time() -> None:
    told = found()
    # 10 nodes for 24 h at 2 each are 480; 1,000 jobs wait half an hour less: 500 h.
    assert told.price_of_hour(told.variants[1], 2.0) == pytest.approx(480 / 500)
    # No node more costs nothing.
    assert told.price_of_hour(told.variants[2], 2.0) is None


def test_measures_of_a_window() -> None:
    wait, run = np.arange(101.0), np.full(101, 4.0)
    measured = {name: measure(wait, run) for name, measure in _MEASURES.items()}
    # A run time below 10 s counts as 10 s: (w + 4) / 10, and 1 at the least, which it is up to a wait of 6 s.
    slowdown = (7 * 1.0 + sum((each + 4) / 10 for each in range(7, 101))) / 101
    assert measured == {
        "mean_waiting_time": 50.0,
        "mean_bounded_slowdown": pytest.approx(slowdown),
        "p99_waiting_time": pytest.approx(99.0),
        "max_waiting_time": 100.0,
    }


def test_classes_of_sizes_include_their_ends() -> None:
    assert [_size(units) for units in (1, 2, 3, 4, 5)] == ["1", "2-4", "2-4", "2-4", "5-16"]


def test_groups_stand_by_their_sizes_and_the_largest_last() -> None:
    names = ["over 256", "129-256", "2-4", "1", "17-64", "5-16", "gpu", "257-300"]
    # "over 256" begins with 257, as a class from 257 on would; names without a number come first.
    assert sorted(names, key=_natural) == ["gpu", "1", "2-4", "5-16", "17-64", "129-256", "257-300", "over 256"]
    assert _natural("over 256") > _natural("256")
    assert [_size(units) for units in (1, 2, 4, 5, 16, 17, 256, 257)] == [
        "1", "2-4", "2-4", "5-16", "5-16", "17-64", "65-256", "over 256"
    ]  # fmt: skip


def test_the_change_that_does_most_is_the_one_with_the_shortest_mean_wait() -> None:
    told = found()
    # Of all jobs, those that do not count included, the first change has the least wait.
    first, second, third = told.variants
    variants = [first, second._replace(total_wait=1.0), third]
    text = plain(opening(replace(told, variants=variants)).text)
    assert "They wait least with dispatcher=filler: 12 min." in text
