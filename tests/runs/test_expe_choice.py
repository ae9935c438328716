"""The page that recommends a dispatcher: it names the price, what was not beside the best, and what was not counted."""

import pandas as pd
import pytest
import yaml

from batdispatch.results.starvation import NO_EASY
from expe.choice import show
from experiments import EXPE


def rows(part: str, baseline: str, starved: float | None, **more: str) -> pd.DataFrame:
    """Runs on eight replicates: the best serves short jobs in half the time, and its longest wait is thrice as long."""
    found = [
        {
            "part": part,
            "workload": "w",
            "replicate": f"seed {number}",
            "dispatcher": name,
            "mean_waiting_time": 1000.0 * (number + 1) * factor,
            "mean_bounded_slowdown": 10.0 * (number + 1) * factor,
            "max_waiting_time": 9000.0 * (number + 1) * late,
            "p99_waiting_time": 8000.0 * (number + 1),
            "nb_jobs_starved": None if starved is None else starved * (name == "best"),
            "decisions_seconds_total": 1.0,
            "decisions_count": 1000,
            "cell": f"{part}{starved}{name}{number}{more}",
        }
        for number in range(8)
        for name, factor, late in ((baseline, 1.0, 1.0), ("best", 0.5, 3.0), (more.get("other", "worse"), 2.0, 1.0))
    ]
    return pd.DataFrame(found)


def only(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    monkeypatch.setattr(show, "KINDS", {part: show.KINDS[part]})


def test_a_choice_names_its_price_and_what_was_not_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "walltimes")
    text = show.short(rows("walltimes", "easy", 7.0))
    assert "<br>Price: longest wait 3.00 (3.00-3.00); starved jobs 7 (7-7). |" in text
    assert "The best of those compared (no simple ordering was beside it: unicef" in text
    assert "no simple ordering" not in show.short(rows("walltimes", "easy", 7.0, other="easy[ordering=unicef]"))
    table = show.whole("walltimes")[1](rows("walltimes", "easy", 7.0))
    assert (
        "| `best` | 0.50 (0.50-0.50)\\* | 0.50 (0.50-0.50)\\* | 3.00 (3.00-3.00)\\* | 1.00 (1.00-1.00) | 7 (7-7)"
        in table
    )
    assert "| `easy` | 1 | 1 | 1 | 1 | 0 | 1.00 |" in table


def test_without_easy_starved_jobs_are_left_out_and_why_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "laws")
    table = show.whole("laws")[1](rows("laws", "stochastic-easy", None))
    assert "starved jobs |" not in table
    assert NO_EASY in table


def test_of_equals_the_one_that_searches_nothing_is_chosen_and_kernels_have_no_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    only(monkeypatch, "walltimes")
    runs = rows("walltimes", "easy", 7.0)
    same = runs[runs["dispatcher"] == "best"]
    waits = same["mean_waiting_time"] * ([0.9, 1.1] * 4)
    runs = pd.concat([runs, same.assign(dispatcher="look-ahead", mean_waiting_time=waits)])
    short = show.short(runs.assign(cell=runs["cell"] + runs["dispatcher"]))
    assert "short waits | `best` |" in short
    assert "As well: `look-ahead`." in short
    untimed = runs.assign(cell=runs["cell"] + "untimed", decisions_count=0)
    assert "ms per decision" not in show.whole("walltimes")[1](untimed)


def test_simple_orderings_are_in_the_campaign() -> None:
    file = yaml.safe_load((EXPE / "choice" / "campaign.yaml").read_text())
    for part in ("walltimes", "gpus", "at once"):
        assert "simple" in file["parts"][part]["dispatchers"]
