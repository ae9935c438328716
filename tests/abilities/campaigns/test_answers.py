"""What a comparison says: choices, rivals, refusals, and the page that shows them."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from batdispatch.abilities.campaigns.page.aims import AIMS, Aim
from batdispatch.abilities.campaigns.page.answers import (
    Answer,
    Section,
    aims_of,
    answer,
    as_dict,
    is_price,
    sections,
    sentence,
    sentences,
)
from batdispatch.abilities.campaigns.page.facts import Facts
from batdispatch.abilities.campaigns.page.opening import opening
from batdispatch.abilities.campaigns.page.page import render, text_of, warnings
from batdispatch.abilities.campaigns.page.pairs import Pair
from batdispatch.abilities.campaigns.page.ranks import NoRanking, Ranking
from batdispatch.abilities.campaigns.page.table import Block, RunMetric
from batdispatch.abilities.campaigns.page.tidy import from_campaign
from batdispatch.abilities.campaigns.statistics.estimate import Estimate
from batdispatch.core.errors import InputError
from batdispatch.results.starvation import NO_EASY

WAIT, SLOWDOWN, LONGEST, _, STARVED, *_, UTILISATION = AIMS
#: Stands behind a choice that was made without a simple ordering.
ALONE = (
    ", the best of those compared (no simple ordering was beside it: unicef, wfp3, f1 to f4, aged-area, "
    "smallest-area or sjf)"
)
BASE = np.array([100.0, 220.0, 330.0, 90.0, 510.0, 400.0, 150.0, 280.0])


def table(**columns: np.ndarray) -> RunMetric:
    blocks = tuple(Block("log", f"seed {row}") for row in range(len(next(iter(columns.values())))))
    return RunMetric("x", blocks, tuple(columns), np.array(list(columns.values())).T)


def about(**columns: np.ndarray) -> Answer:
    return answer(table(**columns), SLOWDOWN, "easy", "slices")


def test_the_best_is_chosen_and_told_with_its_interval_and_how_often_it_won() -> None:
    found = about(easy=BASE, good=BASE * 0.5, bad=BASE * 2.0)
    assert (found.chosen, found.rivals, found.n) == ("good", (), 8)
    assert isinstance(found.ranking, Ranking)
    assert sentence(found, "slices") == (
        f"For the lowest mean bounded slowdown choose good{ALONE}: 0.50 times that of easy (95 % interval 0.50 to "
        "0.50), and better in 8 of 8 slices. It can be told apart from all others."
    )


def test_a_rival_that_wins_half_the_time_is_named() -> None:
    wobble = np.array([0.9, 1.12, 0.93, 1.08, 0.91, 1.11, 0.95, 1.04])
    found = about(easy=BASE, good=BASE * 0.5, as_good=BASE * 0.505 * wobble)
    assert (found.chosen, found.rivals) == ("good", ("as_good",))
    assert sentence(found, "slices").endswith("8 of 8 slices. It cannot be told apart from as_good.")


def test_where_the_baseline_is_a_rival_any_of_them_will_do() -> None:
    wobble = np.array([0.9, 1.08, 0.93, 1.08, 0.91, 1.09, 0.9, 1.04])
    found = about(easy=BASE, best=BASE * wobble, bad=BASE * 3.0)
    assert (found.chosen, found.rivals) == ("best", ("easy",))
    assert sentence(found, "slices").startswith(
        f"For the lowest mean bounded slowdown choose any of best and easy{ALONE}: they cannot be told apart. best "
        "has the "
    )


def test_a_dispatcher_that_another_one_is_better_than_is_none_of_those_to_choose() -> None:
    wild = np.array([0.2, 1.6, 0.25, 1.6, 0.2, 1.5, 0.22, 1.4])
    found = about(easy=BASE, wild=BASE * wild, steady=BASE * 0.8, bad=BASE * 3.0)
    # Nothing tells wild from easy, but steady is better than easy on each slice: easy is none of those to choose.
    assert {pair.ours: pair.apart for pair in found.pairs} == {"wild": False, "steady": True, "bad": True}
    assert (found.chosen, found.rivals) == ("wild", ("steady",))
    assert sentence(found, "slices").endswith("It cannot be told apart from steady.")


def plain(page: str) -> str:
    """Return a page without the headings that its cells carry for narrow windows."""
    return re.sub(r' data-heading="[^"]*"', "", page)


def test_the_first_table_of_the_page_names_all_that_will_do() -> None:
    wobble = np.array([0.9, 1.08, 0.93, 1.08, 0.91, 1.09, 0.9, 1.04])
    section = Section("log", "slices", (about(easy=BASE, best=BASE * wobble, bad=BASE * 3.0),))
    page = plain(render([section], Facts(title="x")))
    assert '<td class="chosen">any of best, easy</td>' in page


def test_the_baseline_itself_may_be_the_choice() -> None:
    found = about(easy=BASE, bad=BASE * 1.5, worse=BASE * 2.0)
    assert found.chosen == "easy"
    assert sentence(found, "slices") == (
        f"For the lowest mean bounded slowdown choose easy{ALONE}. It can be told apart from all others."
    )


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        (
            {"easy": BASE[:5], "good": BASE[:5] / 2},
            (
                "good has the best mean: 0.50 times that of easy, and better in 5 of 5 slices. "
                "Intervals need at least 6 slices, and there are 5."
            ),
        ),
        ({"easy": BASE, "same": BASE, "again": BASE}, "All dispatchers are equal."),
        ({"easy": BASE[:1], "same": BASE[:1]}, "All dispatchers are equal."),
        (
            {"easy": BASE, "other": BASE * np.array([0.9, 1.1] * 4)},
            "other has the best mean, and cannot be told apart from easy.",
        ),
        (
            {"easy": BASE, "gone": np.where(BASE > 500, np.nan, BASE)},
            "Only easy has a value on all slices, so it is compared with none.",
        ),
        ({"easy": BASE * np.nan}, "No dispatcher has a value on all slices."),
    ],
)
def test_what_cannot_be_said_is_not_said(columns: dict[str, np.ndarray], why: str) -> None:
    found = about(**columns)
    assert found.chosen is None
    assert found.rivals == ()
    assert sentence(found, "slices") == f"For the lowest mean bounded slowdown: no choice can be recommended. {why}"


def test_a_dispatcher_that_lacks_a_value_is_left_out_of_choice_and_ranks() -> None:
    found = about(easy=BASE, good=BASE * 0.5, bad=BASE * 2.0, gone=np.where(BASE > 500, np.nan, BASE * 0.1))
    assert found.chosen == "good"
    assert found.left_out == ("gone",)
    assert isinstance(found.ranking, Ranking)
    assert "gone" not in found.ranking.dispatchers
    assert [pair.n for pair in found.pairs] == [8, 8, 7]
    assert warnings([Section("log", "slices", (found,))], Facts(title="x")) == [
        "gone lacks values, so it is neither ranked nor chosen; its effects are those of the slices that it has."
    ]
    beside = about(easy=BASE, gone=BASE)
    (warning,) = warnings([Section("log", "slices", (found, beside))], Facts(title="x"))
    assert "gone lacks values of mean bounded slowdown, so it is neither ranked nor chosen by that; its" in warning


def runs(workloads: int = 1, replicates: int = 8, **factors: float) -> pd.DataFrame:
    """Runs whose waits are the baseline's times a factor, and utilisation the other way round."""
    rng = np.random.default_rng(5)
    rows = []
    for workload in range(workloads):
        for replicate in range(replicates):
            base = rng.uniform(100, 1000)
            for name, factor in factors.items():
                wait = base * factor * rng.uniform(0.95, 1.05)
                rows.append(
                    {
                        "workload": f"w{workload}",
                        "replicate": f"seed {replicate}",
                        "dispatcher": name,
                        "mean_waiting_time": wait,
                        "mean_bounded_slowdown": 1 + wait / 100,
                        "max_waiting_time": base * 10 / factor,
                        "utilisation": None,
                        "utilisation_core": 0.5,
                        "utilisation_gpu": 0.7,
                    }
                )
    return pd.DataFrame(rows)


def test_a_choice_has_its_price() -> None:
    (one,) = sections(runs(easy=1.0, good=0.5, bad=1.5), blocks="slices")
    assert [found.chosen for found in one.answers] == ["good", "good", "bad", None]
    told = sentences(one)
    assert len(told) == 4
    assert "better in 8 of 8 slices, at the price, against easy, of 2.0" in told[0]
    assert re.search(r"of 2\.0\d times the longest wait \(95 % interval .* to .*\)\.", told[1])
    assert re.search(r"of 1\.\d\d times the mean wait \(.*\) and 1\.\d\d times the mean bounded", told[2])


def test_more_that_starve_are_a_price_even_if_that_may_be_chance_and_are_no_goal() -> None:
    found = runs(easy=1.0, good=0.5, bad=2.0)
    found["nb_jobs_starved"] = 5.0 * ((found["dispatcher"] == "good") & found["replicate"].isin(["seed 1", "seed 2"]))
    (one,) = sections(found, blocks="slices")
    assert [answer.aim.metric for answer in one.answers] == [
        "mean_waiting_time",
        "mean_bounded_slowdown",
        "max_waiting_time",
        "nb_jobs_starved",
        "utilisation_gpu",
    ]
    assert "nb_jobs_starved" not in [answer.aim.metric for answer in one.goals]
    assert re.search(r"and \+1\.25 starved jobs \(95 % interval [^)]*, may be chance\)\.", sentences(one)[0])
    page, text = render([one], Facts(title="x")), text_of([one], Facts(title="x"))
    assert "starved jobs" in page
    assert NO_EASY not in page + text
    assert "Number of jobs j with" in page


@pytest.mark.parametrize(
    ("aim", "effect", "worse"),
    [
        (LONGEST, 1.004, False),
        (LONGEST, 1.006, True),
        (LONGEST, 0.5, False),
        (STARVED, 0.0, False),
        (STARVED, 0.4, True),
        (UTILISATION, 0.004, False),
        (UTILISATION, -0.004, True),
        (UTILISATION, -0.0004, False),
    ],
)
def test_what_reads_like_no_change_is_no_price(aim: Aim, effect: float, worse: bool) -> None:
    """Ratios are shown with two digits, jobs with those of the table, shares as percentage points with one."""
    found = Pair("good", "easy", Estimate(effect, effect, effect, 6, "t", 0.01), 6, 0, 0)
    assert is_price(aim, found) == worse


def test_over_workloads_the_best_has_the_least_product_and_not_the_least_sum() -> None:
    """1 and 100 are less than twice 20, since what is compared are ratios: 100 < 400, though 101 > 40."""
    blocks = tuple(Block(f"log {number}", "whole") for number in range(6))
    values = np.array([[1.0, 20.0], [100.0, 20.0]] * 3)
    found = answer(RunMetric("x", blocks, ("uneven", "even"), values), SLOWDOWN, "even", "workloads")
    assert found.best == "uneven"


def test_what_counts_no_starved_jobs_says_why() -> None:
    found = sections(runs(fcfs=1.0, good=0.5))
    assert NO_EASY in render(found, Facts(title="x"))
    assert NO_EASY in text_of(found, Facts(title="x"))


def test_the_best_mean_that_is_no_choice_has_a_price_too() -> None:
    (one,) = sections(runs(replicates=3, easy=1.0, good=0.5), blocks="slices")
    assert "The price of good, against easy: 2.0" in sentences(one)[0]
    assert '<td class="price">of good:<br>longest wait 2.0' in plain(render([one], Facts(title="x")))


def test_the_first_table_of_the_page_names_the_price_of_each_choice() -> None:
    (one,) = sections(runs(easy=1.0, good=0.5, bad=1.5), blocks="slices")
    page = plain(render([one], Facts(title="x")))
    prices = re.findall(r'<td class="chosen">(.*?)</td>.*?<td class="price">(.*?)</td>', page)
    assert [name for name, _ in prices] == ["good", "good", "bad", "no choice"]
    interval = r" \(\d\.\d\d to \d\.\d\d\)"
    assert re.fullmatch(rf"longest wait 2\.0\d..{interval}", prices[0][1])
    assert re.fullmatch(rf"mean wait 1\.\d\d..{interval}<br>mean bounded slowdown 1\.\d\d..{interval}", prices[2][1])


@pytest.mark.parametrize(
    ("name", "simple"),
    [
        ("easy[ordering=unicef]", True),
        ("easy,backfill=sjf", True),
        ("easy, smallest area first", True),
        ("easy, F1, last-two", True),
        ("easy[ordering=guarded[ordering=unicef]]", False),
        ("best-list", False),
    ],
)
def test_the_best_is_called_so_only_beside_a_simple_ordering(name: str, simple: bool) -> None:
    found = about(easy=BASE, **{name: BASE * 2}, good=BASE * 0.5)
    assert (ALONE not in sentence(found, "slices")) == simple


def test_utilisation_is_that_of_the_resource_that_is_used_most() -> None:
    assert [aim.metric for aim in aims_of(runs(easy=1.0))] == [
        "mean_waiting_time",
        "mean_bounded_slowdown",
        "max_waiting_time",
        "utilisation_gpu",
    ]
    whole = runs(easy=1.0).assign(utilisation=0.4, weighted_compactness=2.0)
    assert [aim.metric for aim in aims_of(whole)][3:] == ["utilisation", "weighted_compactness"]


def test_many_workloads_are_ranked_as_such_and_few_are_not() -> None:
    many = sections(runs(workloads=7, replicates=2, easy=1.0, good=0.5, bad=2.0), blocks="slices")
    assert [one.name for one in many] == ["", *(f"w{number}" for number in range(7))]
    assert (many[0].blocks, many[0].answers[0].n, many[0].answers[0].chosen) == ("workloads", 7, "good")
    assert many[1].answers[0].chosen is None
    # One that always wins five workloads may win by chance (2 / 2^5 > .05), and not one that wins six.
    for count, first in ((5, "w0"), (6, "")):
        assert sections(runs(workloads=count, easy=1.0, good=0.5))[0].name == first


def test_the_terminal_says_how_many_workloads_only_the_page_has() -> None:
    facts = Facts(title="x")
    text = text_of(sections(runs(workloads=5, easy=1.0, good=0.5)), facts, most=3)
    assert [name for name in (f"w{number}:" for number in range(5)) if name in text] == ["w0:", "w1:", "w2:"]
    assert "2 more workloads are on the page." in text
    assert "on the page" not in text_of(sections(runs(workloads=3, easy=1.0, good=0.5)), facts, most=3)


def test_json_chooses_nobody_where_no_sentence_does() -> None:
    # The best mean is not chosen: two replicates are too few, and a wild one may be best by chance.
    few, many = (sections(runs(replicates=count, easy=1.0, good=0.5)) for count in (2, 8))
    told = [as_dict(found, Path("page.html"))["workloads"][0]["answers"][0] for found in (few, many)]
    assert [(one["choose"], one["cannot_be_told_apart"]) for one in told] == [(None, ()), ("good", ())]
    assert "no choice can be recommended" in told[0]["sentence"]


def test_what_is_nothing_in_some_run_has_no_ratio() -> None:
    found = runs(easy=1.0, good=0.5)
    for least, told in ((0.0, False), (0.1, True)):
        found["energy"] = [least, *[2.0] * (len(found) - 1)]
        assert ("energy" in [aim.metric for aim in aims_of(found)]) == told
    # To waits some seconds are added, so that none is no obstacle.
    found["mean_waiting_time"] = 0.0
    assert aims_of(found)[0].metric == "mean_waiting_time"


def test_six_slices_tell_a_dispatcher_apart_that_always_wins_and_five_only_count() -> None:
    wobble = np.array([0.5, 0.9, 0.2, 0.7, 0.95, 0.4])
    six, five = (about(easy=BASE[:n], good=BASE[:n] * wobble[:n], bad=BASE[:n] * 2.0) for n in (6, 5))
    assert (six.chosen, six.rivals) == ("good", ())
    assert five.chosen is None
    assert "and better in 5 of 5 slices. Intervals need at least 6 slices, and there are 5." in five.why


def test_replicates_that_are_all_the_same_count_once() -> None:
    same = pd.concat([runs(replicates=1, easy=1.0, good=0.5).assign(replicate=f"seed {n}") for n in range(10)])
    (one,) = sections(same, blocks="seeds")
    assert one.answers[0].n == 1
    assert one.answers[0].chosen is None
    assert "All 10 seeds gave the same figures" in one.warnings[0]
    assert one.warnings[0] in " ".join(warnings([one], Facts(title="x")))


def test_the_page_is_complete_in_itself_and_the_same_each_time() -> None:
    found = sections(runs(**{"easy": 1.0, "good": 0.5, "<b>bad": 2.0}), blocks="slices")
    facts = Facts(
        title="Which & why",
        blocks="slices",
        how="Cut evenly.",
        who=[("good", "good[x=1]", "a family")],
        refused=[("malleable jobs", "no job can be resized")],
        failures=[("slice 3/gone", "it broke")],
        rerun=["batdispatch compare x"],
    )
    page = render(found, facts)
    assert page == render(sections(runs(**{"easy": 1.0, "good": 0.5, "<b>bad": 2.0}), blocks="slices"), facts)
    assert "default-src 'none'" in page
    assert "<script src" not in page
    assert not re.search(r"""(?:src|href)=["'](?!#)""", page.replace('xmlns:xlink="http', ""))
    assert "<b>bad" not in page
    assert "Which &amp; why" in page
    first = page.partition('<p class="answer">')[2].partition("</p>")[0]
    assert re.fullmatch(
        r"On 8 slices of w0, jobs wait least under good: 0\.5\d times as long in the mean as under easy "
        r"\(95 % interval 0\.\d\d to 0\.\d\d\)\. The price, against easy: longest wait 2\.\d\d times\.",
        first,
    ), first
    assert page.index(first) < page.index("<table")
    for text in (
        "no job can be resized",
        "it broke",
        "batdispatch compare x",
        "good[x=1]",
        "Cut evenly.",
        "1 run failed",
    ):
        assert text in page
    assert page.count("<svg") == 4 + 3
    text = text_of(found, facts)
    assert sentences(found[0])[0] in text


def test_a_page_of_one_replicate_says_that_nothing_can_be_said() -> None:
    found = sections(runs(replicates=1, easy=1.0, good=0.5, bad=2.0), blocks="slices")
    page = plain(render(found, Facts(title="x", blocks="slices")))
    assert page.count('<td class="chosen">no choice</td>') == 4
    assert "no dispatcher can be chosen for the lowest mean wait. good has the best mean: " in page
    assert page.count("Intervals need at least 6 slices, and there is one.") == 4
    assert "All dispatchers are equal." in page, "of the utilisation"
    assert isinstance(found[0].answers[0].ranking, NoRanking)


def test_a_page_of_several_workloads_says_on_how_many_the_best_wins() -> None:
    two = pd.concat([runs(easy=1.0, good=0.5).assign(workload=name) for name in ("log", "other")])
    first = opening(sections(two, blocks="slices"))
    assert first is not None
    assert first.text == "Jobs wait least in the mean under good on 2 of 2 workloads, beyond chance on 2 of these."
    assert first.headings == ["mean wait, log", "mean wait, other"]
    assert [[bar.share == 1 for bar in bars] for _, _, bars in first.rows] == [[True, True], [False, False]]


def test_the_page_begins_with_at_most_sixty_words_however_many_rivals_there_are() -> None:
    many = runs(easy=1.0, **{f"like-{number}": 0.5 + number / 1000 for number in range(9)})
    first = opening(sections(many, blocks="slices"))
    assert first is not None
    assert len(first.text.split()) <= 60


def campaign(**columns: list[object]) -> pd.DataFrame:
    count = len(next(iter(columns.values())))
    rows: dict[str, list[object]] = {
        "part": ["all"] * count,
        "platform": ["flat"] * count,
        "workload": ["kth"] * count,
        "replicate": ["slice 0"] * count,
        "dispatcher": ["easy"] * count,
        "seed": [0] * count,
        "mean_waiting_time": [float(row) for row in range(count)],
        "report.calls": [1] * count,
    }
    return pd.DataFrame({**rows, **columns})


def test_a_campaign_is_tidied_by_what_its_file_states() -> None:
    found = from_campaign(
        campaign(
            **{
                "workload.load": [0.7, 0.9, 0.7, 0.9],
                "workload.jobs": [20, 20, 20, 20],
                "workload.seed": [1, 1, 2, 2],
                "workload.from.slice": [1, 1, 2, 2],
                "replicate": ["seed 1", "seed 1", "seed 2", "seed 2"],
                "dispatcher.ordering": [None, None, None, "sjf"],
            }
        )
    )
    assert found["workload"].tolist() == ["kth,load=0.7", "kth,load=0.9", "kth,load=0.7", "kth,load=0.9"]
    assert found["replicate"].tolist() == ["seed 1", "seed 1", "seed 2", "seed 2"]
    assert found["dispatcher"].tolist() == ["easy", "easy", "easy", "easy,ordering=sjf"]
    assert list(found.columns) == ["workload", "replicate", "dispatcher", "mean_waiting_time"]


def test_seeds_of_the_run_are_one_replicate_and_failures_are_gaps() -> None:
    found = from_campaign(
        campaign(seed=[0, 1, 0], dispatcher=["easy", "easy", "fcfs"], mean_waiting_time=[1.0, 3.0, None])
    )
    assert found["mean_waiting_time"].tolist()[0] == 2.0
    assert np.isnan(found["mean_waiting_time"].tolist()[1])


def test_parts_and_platforms_make_workloads_where_they_differ() -> None:
    found = from_campaign(campaign(platform=["a", "b"]))
    assert found["workload"].tolist() == ["a / kth", "b / kth"]
    with pytest.raises(InputError, match="has no column 'replicate': run the campaign again"):
        from_campaign(campaign(platform=["a"]).drop(columns="replicate"))


def test_of_utilisation_more_is_better() -> None:
    found = answer(table(easy=BASE / 1000, busy=BASE / 900, idle=BASE / 1100), UTILISATION, "easy", "slices")
    assert found.chosen == "busy"
    assert sentence(found, "slices").startswith(
        f"For the highest utilisation choose busy{ALONE}: +2.9 percentage points against"
    )


def test_nearness_has_no_price_in_seconds() -> None:
    aim = Aim("weighted_compactness", "spread of a job's hosts")
    found = answer(table(easy=BASE, near=BASE * 0.5, far=BASE * 2), aim, "easy", "slices")
    assert sentence(found, "slices").startswith(
        f"For the lowest spread of a job's hosts choose near{ALONE}: 0.50 times"
    )
