"""``batdispatch requests``: what it prints, and what it refuses."""

import json

import pytest
from click.testing import CliRunner

from batdispatch.abilities.stochastic.question import QUESTION
from batdispatch.cli.questions import command_of
from batdispatch.core.errors import InputError


def run(*arguments: str) -> str:
    return CliRunner().invoke(command_of(QUESTION), arguments, catch_exceptions=False).stdout


def test_row_of_the_table_as_json() -> None:
    told = json.loads(run("--law", "tnorm:0,20,8,2", "--unit", "h", "--sequence", "toptimal[grid=200]", "--json"))
    assert told["requests"] == pytest.approx([10.8, 13.4, 15.4, 17.1, 18.7, 20.0])
    assert told["expected_cost"] == pytest.approx(11.937461, abs=1e-6)
    assert told["failure_probability"] == pytest.approx(0.0808, abs=5e-5)
    assert told["failures_per_job"] == pytest.approx(0.0843, abs=5e-5)
    assert told["unit"] == "h"


def test_answer_in_another_unit() -> None:
    told = json.loads(run("--law", "tnorm:0,20,8,2", "--zeta", "0.5", "--to", "min", "--json"))
    assert told["requests"] == pytest.approx([12.9661 * 60, 1200], abs=0.01)
    assert told["expected_cost"] == pytest.approx(16.686046 * 60, abs=1e-3)


def test_a_price() -> None:
    told = json.loads(run("--law", "tnorm:0,20,8,2", "--alpha", "0", "--beta", "1", "--to", "min", "--json"))
    assert told["sequence"] == "toptimal"
    assert told["requests"] == [1200]
    # Pay what you use: the mean run time.
    assert told["expected_cost"] == pytest.approx(8.000268 * 60, abs=1e-3)
    law = ("--law", "tnorm:0,20,8,2")
    costs = [
        json.loads(run(*law, "--sequence", name, "--beta", "1", "--gamma", "30", "--overhead", "0.5", "--json"))
        for name in ("toptimal", "hpc", "factor")
    ]
    assert costs[0]["price"] == {"alpha": 1, "beta": 1, "gamma": 30, "overhead": 0.5}
    assert [told["expected_cost"] for told in costs[1:]] >= [costs[0]["expected_cost"]] * 2
    # One request of 20 h: reserved, used on average, and once gamma; nothing starts anew.
    assert costs[1]["expected_cost"] == pytest.approx(20 + 8.000268 + 30, abs=1e-5)


def test_a_price_in_brackets_is_the_price_that_is_told() -> None:
    law = ("--law", "tnorm:0,20,8,2", "--json")
    inside = json.loads(run(*law, "--sequence", "toptimal[beta=1,least=12]"))
    outside = json.loads(run(*law, "--beta", "1", "--least", "12"))
    assert inside["requests"] == outside["requests"]
    assert inside["requests"][0] == 12
    assert inside["expected_cost"] == outside["expected_cost"]
    assert inside["price"]["beta"] == 1


def test_text_for_people() -> None:
    shown = run("--law", "tnorm:0,20,8,2", "--zeta", "0.1")
    assert "10.8932 13.9834 18.3045 20 h" in shown
    assert "12.0451 h" in shown


def test_plans_that_stop_short_go_on_until_surely_enough() -> None:
    told = json.loads(run("--law", "tnorm:0,20,8,2", "--sequence", "neuroscience", "--history", "6,9,7", "--json"))
    assert told["requests"] == pytest.approx([9, 13.5, 20.25])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--law", "tnorm:0,20,8"], "option --law"),
        (["--law", "beta:2,2", "--zeta", "2"], "option --zeta: 2, expected 0 to 1"),
        (["--law", "beta:2,2", "--sequence", "topt"], "no request sequence is called 'topt': did you mean"),
        (["--law", "beta:2,2", "--history", "1,x"], "option --history"),
        (["--law", "beta:2,2", "--sequence", "hpc[factor=1.000000001]"], "option factor='1.000000001' is not a number"),
        (["--law", "beta:2,2", "--zeta", "0.1", "--beta", "1"], "option --zeta: a price is of a job that is alone"),
        (["--law", "beta:2,2", "--alpha", "-1"], "option alpha='-1.0' is not a number at least 0"),
        (["--law", "beta:2,2", "--sequence", "hpc", "--alpha", "0"], "are all 0"),
        (["--law", "beta:2,2", "--sequence", "toptimal[beta=2]", "--beta", "1"], "option --beta: stands in --sequence"),
        (["--law", "beta:2,2", "--least", "nan"], "option least='nan' is not"),
        (["--law", "beta:2,2", "--zeta", "nan"], "option --zeta: nan"),
        (["--law", "tnrom:0,20,8,2"], "option --law: law 'tnrom:0,20,8,2': expected NAME:NUMBERS"),
        (["--law", "beta:2,2", "--history", "nan"], "option --history"),
        (["--law", "beta:2,2", "--sequence", "toptimal[grid=1000000]"], "option grid='1000000' is not"),
        (["--law", "beta:2,2", "--sequence", "neuroscience[runs=0]"], "option runs='0' is not"),
        (["--law", "beta:2,2", "--sequence", "atoptimal[grid=0]"], "option grid='0' is not"),
    ],
)
def test_wrong_options(arguments: list[str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        run(*arguments)
    assert message in str(caught.value)
