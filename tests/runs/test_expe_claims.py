"""Claims held against rows: what is divided by what, and when a claim holds."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.errors import InputError
from expe.common.claims import Claim, Figure, claims_table, judged, read_claims, values_of
from expe.common.tables import interval


def rows(**waits: list[float]) -> pd.DataFrame:
    """A row for each dispatcher and seed; a dispatcher's name is the key."""
    return pd.DataFrame(
        {
            "part": "p",
            "platform": "m",
            "workload": "w",
            "workload.seed": seed,
            "dispatcher": name,
            "wait": wait,
            "seed": 0,
        }
        for name, values in waits.items()
        for seed, wait in enumerate(values)
    )


def claim(expected: str, paper: float | str = "", **figure: Any) -> Claim:
    ours = Figure(metric="wait", of={"part": "p", "dispatcher": "A"}, **figure)
    return Claim(claim="A waits", source="table 1", data=["w"], paper=paper, expected=expected, ours=ours)


@given(st.lists(st.tuples(st.floats(1, 1e6), st.floats(1, 1e6)), min_size=2, max_size=8), st.randoms())
def test_a_ratio_is_taken_between_runs_of_one_workload_and_seed(pairs: list[tuple[float, float]], chance: Any) -> None:
    found = rows(A=[ours for ours, _ in pairs], B=[base for _, base in pairs])
    order = list(range(len(found)))
    chance.shuffle(order)
    figure = Figure(metric="wait", of={"dispatcher": "A"}, over={"dispatcher": "B"})
    assert sorted(values_of(figure, found.iloc[order])[""]) == sorted(ours / base for ours, base in pairs)


@pytest.mark.parametrize(
    ("expected", "paper", "values", "said"),
    [
        # Half the width of the interval is 1.27 for values 0.2 apart, and 0.127 for values 0.02 apart.
        ("within 15 %", 2.0, [2.13, 2.15], "holds"),
        ("within 15 %", 2.0, [1.85, 1.87], "holds"),
        ("within 15 %", 2.0, [2.2, 2.22], "undecided"),
        ("within 15 %", 2.0, [2.5, 2.52], "does not hold"),
        ("within 15 %", 2.0, [1.5, 1.52], "does not hold"),
        ("within 15 %", -2.0, [-2.15, -2.13], "holds"),
        ("within 15 %", -2.0, [-2.52, -2.5], "does not hold"),
        ("at most 2.3", "", [2.1, 2.12], "holds"),
        ("at most 2.3", "", [2.2, 2.22], "undecided"),
        ("at most 2.2", "", [2.4, 2.42], "does not hold"),
        ("at least 2.3", "", [2.5, 2.52], "holds"),
        ("at least 2.3", "", [2.4, 2.42], "undecided"),
        ("at least 2.4", "", [2.2, 2.22], "does not hold"),
        ("at most 2.3", "", [2.3, 2.3], "holds"),
        # A single run has no interval.
        ("within 15 %", 2.0, [2.0], "undecided"),
        ("at most 2.3", "", [0.1], "undecided"),
        ("at least 2.3", "", [0.1], "undecided"),
        ("", "", [1.0], ""),
    ],
)
def test_when_a_claim_holds(expected: str, paper: float | str, values: list[float], said: str) -> None:
    verdict = judged(claim(expected, paper), rows(A=values))
    assert verdict is not None
    assert verdict.said == said
    assert verdict.difference == (f"{100 * np.mean(values) / paper - 100:+.0f} %" if isinstance(paper, float) else "")


def test_a_claim_about_several_values_is_judged_at_each() -> None:
    found = pd.concat([rows(A=[1.0, 1.1], B=[2.0, 2.2]), rows(A=[3.0, 3.3], B=[2.0, 2.2]).assign(workload="x")])
    verdict = judged(claim("at most 0 %", over={"dispatcher": "B"}, each="workload", change=True), found)
    assert verdict == ("w: -50.00 ± 0.00 %<br>x: +50.00 ± 0.00 %", "", "holds in 1 of 2, does not hold in 1 of 2")
    among = claim("at most 1", over={"dispatcher": "B"}, each="workload", among=["w"])
    assert judged(among, found) == ("w: 0.50 ± 0.00", "", "holds")


@pytest.mark.parametrize(
    ("expected", "take", "values", "verdict"),
    [
        ("at most 1.1", "every", [1.0, 1.1, 0.9], ("1.10, the most of 3", "", "holds")),
        ("at most 1.05", "every", [1.0, 1.1, 0.9], ("1.10, the most of 3", "", "does not hold")),
        ("at least 0.9", "every", [1.0, 1.1, 0.9], ("0.90, the least of 3", "", "holds")),
        ("at least 1", "every", [1.0, 1.1, 0.9], ("0.90, the least of 3", "", "does not hold")),
        ("at least 1.1", "some", [1.0, 1.1, 0.9], ("1.10, the most of 3", "", "holds")),
        ("at least 1.2", "some", [1.0, 1.1, 0.9], ("1.10, the most of 3", "", "does not hold")),
        ("at most 0.9", "some", [1.0, 1.1, 0.9], ("0.90, the least of 3", "", "holds")),
        ("at most 1", "every", [1.0], ("1.00", "", "holds")),
    ],
)
def test_a_claim_about_every_run_or_some_of_them_needs_no_interval(
    expected: str, take: str, values: list[float], verdict: tuple[str, str, str]
) -> None:
    assert judged(claim(expected, take=take), rows(A=values)) == verdict


def test_a_geometric_mean_has_students_interval_of_its_logarithms() -> None:
    def said(expected: str, ours: list[float]) -> tuple[str, str]:
        ratio = claim(expected, over={"dispatcher": "B"}, take="geometric mean")
        verdict = judged(ratio, rows(A=ours, B=[2.0] * len(ours)))
        assert verdict is not None
        return verdict.ours, verdict.said

    # Half on one run and twice on the other are as much as nothing: log 2 x 12.7062, Student's quantile, each way.
    assert said("at most 0.9", [1.0, 4.0]) == ("1.00 (0.00 to 6,682.65)", "undecided")
    # Logarithms log 0.5 and log 0.5 +- 0.01, so that half the width is 4.3027 x 0.01 / sqrt 3.
    near = [np.exp(shift) for shift in (-0.01, 0.0, 0.01)]
    assert said("at most 0.52", near) == ("0.50 (0.49 to 0.51)", "holds")
    assert said("at most 0.51", near) == ("0.50 (0.49 to 0.51)", "undecided")
    assert said("at most 0.48", near) == ("0.50 (0.49 to 0.51)", "does not hold")
    assert said("at most 0.9", [1.0]) == ("0.50, one run", "undecided")


def test_numbers_are_told_in_their_order() -> None:
    found = pd.concat(rows(A=[1.0]).assign(**{"platform.gpus": gpus}) for gpus in (10, 4, 8))
    verdict = judged(claim("", each="platform.gpus"), found)
    assert verdict is not None
    assert verdict.ours == "4: 1.00, one run<br>8: 1.00, one run<br>10: 1.00, one run"


def test_what_was_not_run_is_not_judged() -> None:
    table = claims_table([claim("within 1 %", 0.9)], rows(B=[1.0]), lacking=lambda _: [])
    assert table.splitlines()[2] == "| A waits | table 1 | 0.9 |  |  | within 1 % | not run |  |"

    # Nor is a part whose columns are not there either.
    other = Figure(metric="wait", of={"part": "q"}, each="workload.rate")
    assert values_of(other, rows(A=[1.0])) == {}


def test_a_claim_that_does_not_say_which_run_is_refused() -> None:
    twice = pd.concat([rows(A=[1.0]), rows(A=[2.0])])
    with pytest.raises(InputError, match="stands for several runs"):
        judged(claim("at most 1"), twice)
    with pytest.raises(InputError, match="no column 'waits': did you mean 'wait'"):
        values_of(Figure(metric="waits", of={}), twice)


#: A claim, as far as it has to say something.
GOOD = "source: b, data: [w], ours: {metric: c, of: {}}, "


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("source: b}", "missing required field `data`"),
        ("source: b, data: [w]}", "missing required field `ours`"),
        ("source: b, data: [], ours: {metric: c, of: {}}}", "data: found nothing, expected names of workloads"),
        (GOOD + "expected: about 3}", "found 'about 3', expected"),
        # More than nothing is no bar.
        (GOOD + "expected: above 1}", "found 'above 1', expected"),
        (GOOD + "expected: within 3 %}", "and there is none"),
        (GOOD + "paper: 2.18, expected: at least 1}", "expected within a share of the paper's figure"),
        (GOOD + "wy: d}", "unknown field `wy`"),
        ("source: b, data: [w], ours: {metric: c, of: {}, take: largest}}", "Invalid enum value 'largest'"),
        ("", "expected"),
    ],
)
def test_a_mistake_in_the_file_is_told(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text(f"claims: [{{claim: a, {text}]" if text else "claims: [")
    with pytest.raises(InputError, match=r"claims\.yaml") as told:
        read_claims(path)
    assert message in str(told.value)


def test_an_interval_of_one_value_is_that_value() -> None:
    assert interval([-0.001], 2, "+") == "+0.00"
    assert interval([1.0, 3.0], 1) == "2.0 ± 12.7"
    assert interval([5.0], 1) == "5.0"
