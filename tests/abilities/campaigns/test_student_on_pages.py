"""Effects over seeds as the page prints them, beside Student's test of SciPy on the logarithms, and counts by hand."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from batdispatch.abilities.campaigns.page.answers import sections
from batdispatch.abilities.campaigns.page.facts import Facts
from batdispatch.abilities.campaigns.page.page import render, text_of

#: Mean waits, s, on eight seeds.
EASY = [420.0, 700.0, 95.0, 310.0, 1250.0, 60.0, 505.0, 880.0]
OTHERS = {
    "shorter": [210.0, 390.0, 40.0, 170.0, 700.0, 33.0, 250.0, 430.0],
    "mixed": [400.0, 760.0, 80.0, 360.0, 1100.0, 75.0, 480.0, 930.0],
    "longer": [500.0, 700.0, 130.0, 400.0, 1500.0, 90.0, 640.0, 1000.0],
}


def table() -> pd.DataFrame:
    rows = [
        {"workload": "w", "replicate": f"seed {seed}", "dispatcher": name, "mean_waiting_time": wait}
        for name, waits in {"easy": EASY, **OTHERS}.items()
        for seed, wait in enumerate(waits)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize("name", OTHERS)
def test_ratio_interval_star_and_wins_are_those_of_students_test(name: str) -> None:
    told = sections(table(), "easy", blocks="seeds")
    (row,) = (line for line in text_of(told, Facts(title="t", blocks="seeds")).splitlines() if line.startswith(name))
    logs = np.log(np.array(OTHERS[name]) + 10) - np.log(np.array(EASY) + 10)
    test = stats.ttest_1samp(logs, 0.0)
    ends = test.confidence_interval(0.95)
    low, high = max(ends.low, logs.min()), min(ends.high, logs.max())
    ratio, first, last = map(float, re.findall(r"\d+\.\d+", row))
    assert ratio == pytest.approx(math.exp(logs.mean()), abs=0.005)
    assert (first, last) == (pytest.approx(math.exp(low), abs=0.005), pytest.approx(math.exp(high), abs=0.005))
    same_side = (logs > 0).all() or (logs < 0).all()
    p = min(test.pvalue, 2 / 2 ** len(logs)) if same_side else test.pvalue
    assert ("*" in row) == (p < 0.05) == (name != "mixed")
    wins = sum(one < other for one, other in zip(OTHERS[name], EASY, strict=True))
    ties = sum(one == other for one, other in zip(OTHERS[name], EASY, strict=True))
    page = render(told, Facts(title="t", blocks="seeds"))
    assert f"{wins} of 8" + (f", {ties} equal" if ties else "") in page


def test_what_is_said_to_choose_is_what_nobody_beats() -> None:
    (one,) = sections(table(), "easy", blocks="seeds")
    (found,) = one.answers
    # `shorter` beats each other beyond chance: by hand, all its eight logarithms of ratios are below 0.
    for waits in (EASY, OTHERS["mixed"], OTHERS["longer"]):
        assert all(mine < other for mine, other in zip(OTHERS["shorter"], waits, strict=True))
    assert (found.chosen, found.rivals) == ("shorter", ())
