"""``batdispatch requests``: what it prints, and what it refuses."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from batdispatch.cli.requests import command
from batdispatch.core.errors import InputError


def run(*arguments: str) -> str:
    return CliRunner().invoke(command, arguments, catch_exceptions=False).stdout


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
