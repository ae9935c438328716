"""The page that recommends a dispatcher: it names the price, what was not beside the best, and what was not counted."""

from pathlib import Path

import pandas as pd
import pytest
import yaml

from batdispatch.results.starvation import NO_EASY
from expe.choice import show
from experiments import EXPE

#: Who takes part -> mean wait and slowdown, longest wait, 99 % wait: each of the baseline's.
PATIENT = {"best": (0.5, 1.2, 1.0), "worse": (2.0, 1.0, 1.0)}
STARVING = {"starves": (0.4, 3.0, 1.0), **PATIENT}


def rows(
    part: str, baseline: str, starved: float | None, others: dict[str, tuple[float, float, float]] = PATIENT
) -> pd.DataFrame:
    """Runs on eight replicates."""
    found = [
        {
            "part": part,
            "workload": "w",
            "replicate": f"seed {number}",
            "dispatcher": name,
            "mean_waiting_time": 1000.0 * (number + 1) * factor,
            "mean_bounded_slowdown": 10.0 * (number + 1) * factor,
            "max_waiting_time": 9000.0 * (number + 1) * longest,
            "p99_waiting_time": 8000.0 * (number + 1) * late,
            "nb_jobs_starved": None if starved is None else starved * (name != baseline),
            "nb_jobs": 500,
            "decisions_seconds_total": 1.0,
            "decisions_count": 1000,
            "cell": f"{part}{starved}{name}{number}{others}",
        }
        for number in range(8)
        for name, (factor, longest, late) in {baseline: (1.0, 1.0, 1.0), **others}.items()
    ]
    return pd.DataFrame(found)


def only(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    monkeypatch.setattr(show, "KINDS", {part: show.KINDS[part]})


def chosen(text: str, want: str) -> tuple[str, str]:
    """What a table recommends to who wants something, and what it says of that."""
    cells = next(line for line in text.splitlines() if f"| {want} |" in line).split(" | ")
    return cells[2].strip("`"), cells[3].removesuffix(" |")


def test_a_choice_names_its_price_and_what_was_not_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "walltimes")
    name, why = chosen(show.short(rows("walltimes", "easy", 7.0)), "short waits")
    assert name == "best"
    assert "<br>Price: longest wait 1.20 (1.20-1.20); starved of 1,000 jobs +14 (+14 to +14)." in why
    assert "The best of those compared (no simple ordering was beside it: unicef" in why
    simple = {**PATIENT, "easy[ordering=unicef]": (2.0, 1.0, 1.0)}
    assert "no simple ordering" not in show.short(rows("walltimes", "easy", 7.0, simple))
    table = show.whole("walltimes")[1](rows("walltimes", "easy", 7.0))
    shares = "0.50 (0.50-0.50)\\* | 0.50 (0.50-0.50)\\* | 1.20 (1.20-1.20)\\* | 1.00 (1.00-1.00)"
    assert f"| `best` | {shares} | +14 (+14 to +14)" in table
    assert "| `easy` | 1 | 1 | 1 | 1 | 0 | 1.00 |" in table


def test_whoever_starves_jobs_stands_beside_the_choice_with_the_price(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "walltimes")
    text = show.short(rows("walltimes", "easy", 7.0, STARVING))
    for want in ("short waits", "short jobs served soon"):
        name, why = chosen(text, want)
        assert name == "best"
        assert why.startswith("0.50 (0.50-0.50) times the mean ")
        assert why.endswith("<br>Less, but some wait for much longer: `starves` 0.40 (longest wait 3.00, 99 % 1.00).")
        assert "As well" not in why


@pytest.mark.parametrize(("longest", "late"), [(1.51, 1.0), (1.0, 1.51), (float("nan"), 1.0)])
def test_who_may_wait_for_half_as_long_again_is_patient_and_no_longer(
    monkeypatch: pytest.MonkeyPatch, longest: float, late: float
) -> None:
    only(monkeypatch, "walltimes")
    within = {"fast": (0.4, min(1.49, longest), min(1.49, late)), **PATIENT}
    assert chosen(show.short(rows("walltimes", "easy", 7.0, within)), "short waits")[0] == "fast"
    beyond = {"fast": (0.4, longest, late), **PATIENT}
    assert chosen(show.short(rows("walltimes", "easy", 7.0, beyond)), "short waits")[0] == "best"


def test_one_workload_on_which_jobs_starve_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "walltimes")
    calm = rows("walltimes", "easy", 7.0, {**STARVING, "starves": (0.4, 0.5, 1.0)}).assign(workload="calm")
    runs = pd.concat([calm, rows("walltimes", "easy", 7.0, STARVING)])
    # Four replicates of each: for more of them, tests with ties are by chance, which takes a second for each pair.
    runs = runs[runs["replicate"] < "seed 4"]
    name, why = chosen(show.short(runs.assign(cell=runs["cell"] + runs["workload"])), "short waits")
    assert name == "best"
    assert "`starves` 0.40 (longest wait 3.00," in why


def test_if_only_those_are_better_who_starve_jobs_the_usual_one_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "walltimes")
    both = {"starves": (0.4, 3.0, 1.0), "starves more": (0.6, 9.0, 1.0), "starves less": (0.7, 2.0, 1.6)}
    name, why = chosen(show.short(rows("walltimes", "easy", 7.0, both)), "short waits")
    assert name == "easy"
    assert why == (
        "Nothing is better beyond chance that lets nobody wait for much longer.<br>"
        "Less, but some wait for much longer: "
        "`starves` 0.40 (longest wait 3.00, 99 % 1.00), `starves less` 0.70 (longest wait 2.00, 99 % 1.60)."
    )


def test_claims_are_about_the_figures_of_whole_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = rows("walltimes", "easy", 7.0, {"late": (0.5, 2.0, 1.0)})
    windows = runs.assign(replicate=runs["replicate"].str.replace("seed", "window"))
    windows.loc[(windows["dispatcher"] == "late") & (windows["replicate"] == "window 0"), "max_waiting_time"] = 720_000
    monkeypatch.setattr(show, "read_rows", lambda folder: windows.to_dict("records"))
    late = next(row for row in show.others(tmp_path, quick=False) if row["dispatcher"] == "late")
    assert (late["part"], late["workload"]) == ("walltimes, over easy", "w")
    assert late["max_waiting_time"] == pytest.approx(720_010 / 72_010)
    assert late["mean_bounded_slowdown"] == pytest.approx(0.5)


def test_without_easy_starved_jobs_are_left_out_and_why_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "laws")
    table = show.whole("laws")[1](rows("laws", "stochastic-easy", None))
    assert "starved of 1,000 jobs |" not in table
    assert NO_EASY in table


def test_of_equals_the_one_that_searches_nothing_is_chosen_and_kernels_have_no_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    only(monkeypatch, "walltimes")
    runs = rows("walltimes", "easy", 7.0)
    same = runs[runs["dispatcher"] == "best"]
    waits = same["mean_waiting_time"] * ([0.9, 1.1] * 4)
    runs = pd.concat([runs, same.assign(dispatcher="best-list", mean_waiting_time=waits)])
    short = show.short(runs.assign(cell=runs["cell"] + runs["dispatcher"]))
    assert "short waits | `best` |" in short
    assert "As well: `best-list`." in short
    untimed = runs.assign(cell=runs["cell"] + "untimed", decisions_count=0)
    assert "ms per decision" not in show.whole("walltimes")[1](untimed)


def test_simple_orderings_are_in_the_campaign() -> None:
    file = yaml.safe_load((EXPE / "choice" / "campaign.yaml").read_text())
    for part in ("walltimes", "gpus", "at once"):
        assert "simple" in file["parts"][part]["dispatchers"]
    for prediction in ("last-two", "online-regression", "oracle"):
        assert f"simple[prediction={prediction}]" in file["parts"]["predictions"]["dispatchers"]
    for log in ("KTH-SP2", "CTC-SP2", "CEA-Curie"):
        assert "windows" in file["workloads"][log]
