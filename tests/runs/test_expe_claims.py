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
    return Claim(claim="A waits", source="table 1", paper=paper, expected=expected, ours=ours)


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
        ("within 15 %", 2.0, [2.2, 2.22], "undecided"),
        ("within 15 %", 2.0, [2.5, 2.52], "does not hold"),
        ("within 15 %", 2.0, [2.31], "does not hold"),
        ("at most 2.3", "", [2.3], "holds"),
        ("at most 2.3", "", [2.1, 2.12], "holds"),
        ("at most 2.3", "", [2.2, 2.22], "undecided"),
        ("at most 2.2", "", [2.4, 2.42], "does not hold"),
        ("at least 2.3", "", [2.5, 2.52], "holds"),
        ("at least 2.3", "", [2.4, 2.42], "undecided"),
        ("at least 2.4", "", [2.2, 2.22], "does not hold"),
        ("above 1", "", [2.2, 2.4], "holds"),
        ("above 1.1", "", [2.2, 2.4], "undecided"),
        ("above 4", "", [2.2, 2.4], "does not hold"),
        ("below 4", "", [2.2, 2.4], "holds"),
        ("below 3.5", "", [2.2, 2.4], "undecided"),
        ("below 1", "", [2.2, 2.4], "does not hold"),
        ("above 1", "", [1.01], "holds"),
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
    verdict = judged(claim("below 0 %", over={"dispatcher": "B"}, each="workload", change=True), found)
    assert verdict == ("w: -50.00 ± 0.00 %<br>x: +50.00 ± 0.00 %", "", "holds in 1 of 2, does not hold in 1 of 2")
    among = claim("below 1", over={"dispatcher": "B"}, each="workload", among=["w"])
    assert judged(among, found) == ("w: 0.50 ± 0.00", "", "holds")
    largest = judged(claim("at most 3.3", each="workload", take="largest", unit=0.5), found)
    assert largest == ("w: 2.20<br>x: 6.60", "", "holds in 1 of 2, does not hold in 1 of 2")
    assert judged(claim("at most 1", take="smallest"), found) == ("1.00", "", "holds")
    halved = claim("at most 0.9", over={"dispatcher": "B"}, take="geometric mean")
    # Half on one workload and twice on the other are as much as nothing.
    assert judged(halved, rows(A=[1.0, 8.0], B=[2.0, 4.0])) == ("1.00", "", "does not hold")


def test_numbers_are_told_in_their_order() -> None:
    found = pd.concat(rows(A=[1.0]).assign(**{"platform.gpus": gpus}) for gpus in (10, 4, 8))
    verdict = judged(claim("", each="platform.gpus"), found)
    assert verdict is not None
    assert verdict.ours == "4: 1.00<br>8: 1.00<br>10: 1.00"


def test_what_was_not_run_is_not_judged() -> None:
    table = claims_table([claim("at most 1", 0.9)], rows(B=[1.0]))
    assert table.splitlines()[2] == "| A waits | table 1 | 0.9 | not run |  | at most 1 |  |"

    # Nor is a part whose columns are not there either.
    other = Figure(metric="wait", of={"part": "q"}, each="workload.rate")
    assert values_of(other, rows(A=[1.0])) == {}


def test_a_claim_that_does_not_say_which_run_is_refused() -> None:
    twice = pd.concat([rows(A=[1.0]), rows(A=[2.0])])
    with pytest.raises(InputError, match="stands for several runs"):
        judged(claim("at most 1"), twice)
    with pytest.raises(InputError, match="no column 'waits': did you mean 'wait'"):
        values_of(Figure(metric="waits", of={}), twice)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("claims: [{claim: a, source: b}]", "missing required field `ours`"),
        ("claims: [{claim: a, source: b, ours: {metric: c, of: {}}, expected: about 3}]", "found 'about 3', expected"),
        ("claims: [{claim: a, source: b, ours: {metric: c, of: {}}, expected: within 3 %}]", "and there is none"),
        ("claims: [{claim: a, source: b, ours: {metric: c, of: {}}, wy: d}]", "unknown field `wy`"),
        ("claims: [", "expected"),
    ],
)
def test_a_mistake_in_the_file_is_told(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=r"claims\.yaml") as told:
        read_claims(path)
    assert message in str(told.value)


def test_an_interval_of_one_value_is_that_value() -> None:
    assert interval([-0.001], 2, "+") == "+0.00"
    assert interval([1.0, 3.0], 1) == "2.0 ± 12.7"
    assert interval([5.0], 1) == "5.0"
