"""What users wait against what energy is burnt: drawn where runs tell it; who is beaten in both is left out."""

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from batdispatch.abilities.campaigns.page import caps, pictures
from batdispatch.abilities.campaigns.page.answers import sections
from batdispatch.abilities.campaigns.page.facts import Facts
from batdispatch.abilities.campaigns.page.page import render
from batdispatch.abilities.campaigns.page.table import COLUMNS, DISPATCHER, REPLICATE, WORKLOAD

#: Dispatcher -> times the wait of easy, and its energy.
FACTORS = {"easy": (1.0, 1.0), "fast": (0.5, 1.5), "frugal": (2.0, 0.5), "bad": (3.0, 2.0)}


def runs(*metrics: str, factors: Mapping[str, tuple[float, float]] = FACTORS) -> pd.DataFrame:
    chance = np.random.default_rng(1)
    rows = []
    for seed in range(8):
        wait, energy = chance.uniform(50, 500), chance.uniform(1, 9)
        for name, (slower, more) in factors.items():
            values = {"mean_waiting_time": wait * slower, "mean_bounded_slowdown": 3.0, "energy": energy * more}
            known = {metric: value for metric, value in values.items() if metric in metrics}
            rows.append({WORKLOAD: "log", REPLICATE: f"seed {seed}", DISPATCHER: name, **known})
    assert set(COLUMNS) <= rows[0].keys()
    return pd.DataFrame(rows)


def test_who_is_beaten_in_both_is_not_joined() -> None:
    (found,) = sections(runs("mean_waiting_time", "energy"), "easy")
    wait, energy = found.answers
    assert (wait.aim.metric, energy.aim.metric, energy.aim.goal) == ("mean_waiting_time", "energy", False)
    points = [(1.0, 1.0), (0.5, 1.5), (2.0, 0.5), (3.0, 2.0)]
    kept = [not any(pictures._beats(other, one) for other in points) for one in points]
    assert kept == [True, True, True, False]
    drawing = pictures.trade_off(wait, energy, "p")
    assert drawing is not None
    assert drawing.title == "Energy against mean wait"
    for name in FACTORS:
        assert re.search(rf">\s*{name}\s*<", drawing.svg) or name in drawing.svg
    # The line of those that nobody beats goes through three points.
    assert drawing.svg == pictures.trade_off(wait, energy, "p").svg


def test_who_is_as_good_in_one_and_worse_in_the_other_is_not_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    # slow waits twice as long as easy for the same energy, hungry burns twice as much for the same wait.
    factors = {"easy": (1.0, 1.0), "slow": (2.0, 1.0), "hungry": (1.0, 2.0), "frugal": (4.0, 0.5)}
    (found,) = sections(runs("mean_waiting_time", "energy", factors=factors), "easy")
    figures: list[Figure] = []
    monkeypatch.setattr(pictures.style, "to_svg", lambda figure, *_: figures.append(figure) or "")
    pictures.trade_off(*found.answers, "p")
    blue = [line for line in figures[0].axes[0].lines if line.get_color() == pictures.BETTER]
    joined, *points = [list(zip(*line.get_data(), strict=True)) for line in blue]
    # Neither slow nor hungry: easy, and frugal, which waits longer for half the energy.
    assert [round(energy, 6) for _, energy in joined] == [1.0, 0.5]
    assert sorted(point for (point,) in points) == joined


def test_long_names_that_begin_alike_are_told_apart() -> None:
    names = [f"powered[dispatcher=easy,sleep={rule},after=300]" for rule in ("idle", "quiet")]
    short = [pictures._short(name) for name in names]
    assert len({*short}) == 2
    assert [len(name) for name in short] == [26, 26]
    assert all(name.startswith("powered[") and name.endswith("after=300]") for name in short)
    assert pictures._short("easy") == "easy"


def test_the_page_has_it_only_where_energy_was_counted() -> None:
    facts = Facts(title="t", blocks="replicates")
    for metrics, drawn in ((("mean_waiting_time", "energy"), True), (("mean_waiting_time",), False)):
        page = render(sections(runs(*metrics), "easy"), facts)
        assert ("Energy against mean wait" in page) is drawn


def capped(cap: str, inside: str = "easy") -> str:
    return f"powered[dispatcher={inside},cap={cap}]"


def test_effects_stand_by_the_value_of_the_cap() -> None:
    factors = {
        **{"easy": (1.0, 1.0), capped("90%"): (2.0, 0.9), capped("60%"): (4.0, 0.6), capped("70%", "fcfs"): (3.0, 1.1)},
        **{capped("80%", "fcfs"): (2.5, 1.2), capped("5e3"): (5.0, 0.5), capped("caps.csv:watts"): (1.5, 0.7)},
    }
    table = runs("mean_waiting_time", "energy", factors=factors)
    (found,) = sections(table, "easy")
    wait, energy = found.answers
    drawn = {name: [(cap, pair.ours) for cap, pair in points] for name, points in caps.lines(wait).items()}
    assert drawn == {
        capped("…%"): [(60.0, capped("60%")), (90.0, capped("90%"))],
        capped("…%", "fcfs"): [(70.0, capped("70%", "fcfs")), (80.0, capped("80%", "fcfs"))],
    }
    drawing = caps.along_caps(energy, "p")
    assert (drawing.title, drawing.caption) == ("Energy by cap", "Lower is better.")
    assert "cap, % of what all hosts can burn" in drawing.svg
    page = render(sections(table, "easy"), Facts(title="t", blocks="replicates"))
    assert all(f"{what} by cap" in page for what in ("Energy", "Mean wait"))


def test_one_cap_is_no_sweep() -> None:
    table = runs("mean_waiting_time", factors={"easy": (1.0, 1.0), capped("90%"): (2.0, 0.9), capped("50"): (3.0, 1.0)})
    (found,) = sections(table, "easy")
    assert not caps.lines(found.answers[0])
