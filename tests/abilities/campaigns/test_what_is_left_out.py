"""What a page over replicates lists in part, and what it does not doubt, by hand."""

import re
from types import SimpleNamespace
from typing import cast

import numpy as np

from batdispatch.abilities.campaigns.page.aims import AIMS, Aim
from batdispatch.abilities.campaigns.page.answers import answer
from batdispatch.abilities.campaigns.page.doubts import Effects, doubts
from batdispatch.abilities.campaigns.page.facts import Facts
from batdispatch.abilities.campaigns.page.page import _shown, render
from batdispatch.abilities.campaigns.page.pairs import against
from batdispatch.abilities.campaigns.page.table import Block, RunMetric
from batdispatch.report.comparison import KEY_METRICS, metric_rows
from batdispatch.results.runs import Run

LONGEST = next(aim for aim in AIMS if aim.metric == "max_waiting_time")


def windows(**columns: list[float]) -> RunMetric:
    blocks = tuple(Block("log", f"window {row}") for row in range(len(next(iter(columns.values())))))
    return RunMetric(LONGEST.metric, blocks, tuple(columns), np.array(list(columns.values())).T)


def test_a_longest_wait_grows_only_if_it_is_the_longer_one() -> None:
    # In the geometric mean of windows 0.1 of easy's, over all of them 0.5: more, and still shorter than under easy.
    shorter = windows(easy=[1000.0, 1000.0, 1000.0], a=[500.0, 20.0, 100.0])
    assert doubts([Effects(LONGEST, shorter, against(shorter, LONGEST, "easy"))]) == ()
    # 1 x in the mean of windows, 4 x over all: it grows.
    longer = windows(easy=[1000.0, 1000.0], a=[4000.0, 250.0])
    (text,) = doubts([Effects(LONGEST, longer, against(longer, LONGEST, "easy"))])
    numbers = list(map(float, re.findall(r"\d+\.\d\d", text)))
    added = np.exp((np.log(4010 / 1010) + np.log(260 / 1010)) / 2)
    assert numbers == [round(added, 2), 4.0]


def test_a_page_lists_twelve_failures_and_counts_the_others() -> None:
    def page(count: int) -> str:
        return render([], Facts(title="t", failures=[(f"run {row}", f"why {row}") for row in range(count)]))

    assert "more are not listed" not in page(12)
    assert "<p>3 more are not listed.</p>" in page(15)
    assert page(15).count("<strong>run ") == 12


def test_utilisation_of_a_resource_is_in_per_cent() -> None:
    cores = Aim("utilisation_core", "utilisation of core", "difference", better="higher")
    table = RunMetric(cores.metric, (Block("log", "seed 0"), Block("log", "seed 1")), ("a",), np.array([[0.5], [0.75]]))
    assert _shown(answer(table, cores, "a", "seeds")) == (["62.5", "50", "75"], "%")


def test_the_first_table_leaves_out_counts_of_jobs_that_are_zero_and_no_other_zeros() -> None:
    runs = [
        cast(Run, SimpleNamespace(metrics={"mean_waiting_time": 0.0, "nb_jobs_killed": 0, "nb_jobs_rejected": 2}))
        for _ in range(2)
    ]
    names = [row.metric.name for row in metric_rows(runs, only=KEY_METRICS)]
    assert names == ["mean_waiting_time", "nb_jobs_rejected"]
    assert "nb_jobs_killed" in [row.metric.name for row in metric_rows(runs)]
