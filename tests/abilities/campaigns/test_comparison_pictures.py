"""Pictures of a comparison: ticks that people can read, and names that stay within the picture."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.campaigns.page.aims import Aim
from batdispatch.abilities.campaigns.page.pictures import _round_ticks, ranks
from batdispatch.abilities.campaigns.page.ranks import Ranking, rank
from batdispatch.abilities.campaigns.page.table import Block, RunMetric
from browsing import needs_browser, opened

AUC = Aim("auc", "AUC", "difference", better="higher")
OPTIONS = "[ordering=multifactor[fairshare=1000,age=200,size=500,qos=2]]"


@given(st.floats(-300, 0), st.floats(0, 300))
def test_an_axis_of_ratios_has_few_ticks_which_lie_apart(down: float, up: float) -> None:
    low, high = 10.0**down, 10.0**up
    ticks = _round_ticks(low, high)
    assert len(ticks) <= 9
    assert all(low <= tick <= high for tick in ticks)
    assert 1.0 in ticks
    apart = np.diff(np.log10(ticks))
    # Of ten that share the axis evenly, none is closer than half of that.
    assert len(ticks) < 4 or apart.min() > (up - down) / 25


@needs_browser
@pytest.mark.parametrize("many", [3, 6])
def test_long_names_stay_within_the_picture_of_ranks(many: int, tmp_path: Path) -> None:
    names = tuple(f"{name}{OPTIONS}" for name in ("easy", "fcfs", "filler", "conservative", "guarded", "unicef")[:many])
    values = np.arange(12.0)[:, None] + np.arange(many) + np.random.default_rng(1).normal(0, 0.4, (12, many))
    blocks = tuple(Block("log", str(index)) for index in range(12))
    found = rank(RunMetric("x", blocks, names, values), AUC)
    assert isinstance(found, Ranking)
    picture = ranks(found, "AUC", "slices", "p").svg
    with opened(
        f"<!doctype html><meta charset=utf-8><body style='margin:80px'>{picture}", tmp_path, width=900
    ) as shown:
        over = shown.evaluate(
            """() => {
              const box = document.querySelector("svg").getBoundingClientRect();
              const outside = (of) => of.left < box.left || of.right > box.right || of.bottom > box.bottom;
              const texts = [...document.querySelectorAll("svg text")];
              return texts.filter((text) => outside(text.getBoundingClientRect())).map((text) => text.textContent);
            }"""
        )
        assert over == []
    assert len(re.findall(r"conserv|easy", picture)) >= 1
