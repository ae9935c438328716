"""Laws of run times: their texts, their functions, and what is refused."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

from batdispatch.abilities.stochastic.requests.atoptimal import atoptimal, atoptimal_on_grid
from batdispatch.abilities.stochastic.requests.cost import expected_makespan, failures_per_job
from batdispatch.abilities.stochastic.requests.toptimal import toptimal, toptimal_on_grid
from batdispatch.abilities.stochastic.requests.vocabulary import MAX_VALUES, parse_law
from batdispatch.core.errors import InputError

LAWS = [
    "tnorm:0,20,8,2",
    "tnorm:0.1,6,1,1",
    "texp:0,15,1",
    "texp:2,9,4",
    "beta:2,2",
    "beta:0.7,3,5,9",
    "pareto:1,20,2.1",
    "pareto:1,20,1",
    "tlognorm:0,50,1,0.8",
    "tlognorm:2,9,1,0.8",
    "tgamma:0,50,2.5,3",
    "tgamma:4,9,0.6,5",
    "tweibull:0,50,0.7,6",
    "tweibull:2,9,3,5",
    "uniform:3,8",
    "mixture:0.3*tlognorm:1,20,0.5,0.4;0.7*tgamma:2,30,9,1.5",
]


@pytest.mark.parametrize("text", LAWS)
def test_functions_agree_with_the_integral_of_the_density(text: str) -> None:
    law = parse_law(text)
    for t in np.linspace(law.lower, law.upper, 7)[1:]:
        mass, _ = integrate.quad(law.pdf, law.lower, t)
        first, _ = integrate.quad(lambda x: x * law.pdf(x), law.lower, t)
        assert float(law.cdf(t)) == pytest.approx(mass, abs=1e-6)
        assert float(law.moment(t)) == pytest.approx(first, abs=1e-5)
        assert law.at(float(t)) == (float(law.cdf(t)), float(law.moment(t)))
    assert float(law.cdf(law.lower - 1)) == 0
    assert float(law.cdf(law.upper + 1)) == 1
    assert float(law.pdf(law.upper + 1)) == 0


@pytest.mark.parametrize("text", [*LAWS, "empirical:3,1,4,1,5"])
def test_draws_follow_the_law(text: str) -> None:
    law = parse_law(text)
    drawn = law.draw(np.random.default_rng(5), 4000)
    assert drawn.min() >= law.lower
    assert drawn.max() <= law.upper
    spread = drawn.std() / np.sqrt(4000)
    assert abs(drawn.mean() - law.mean) < 5 * spread
    middle = float(law.ppf(0.5))
    assert abs((drawn <= middle).mean() - law.at(middle)[0]) < 5 * 0.5 / np.sqrt(4000)


@given(text=st.sampled_from([*LAWS, "empirical:3,1,4,1,5"]), factor=st.sampled_from([60.0, 3600.0, 0.5]))
def test_change_of_unit(text: str, factor: float) -> None:
    law = parse_law(text)
    other = law.scaled(factor)
    times = np.linspace(law.lower, law.upper, 9)
    if not law.smooth:
        times = times + 0.25
    assert other.cdf(times * factor) == pytest.approx(law.cdf(times), abs=1e-9)
    assert other.mean == pytest.approx(law.mean * factor)
    assert parse_law(other.text).upper == pytest.approx(law.upper * factor)


def test_equal_texts_are_one_law() -> None:
    assert parse_law("beta:2,2") is parse_law("beta:2,2")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected NAME:NUMBERS"),
        ("weibull:1,2", "expected NAME:NUMBERS"),
        ("tweibull:0,20,1e4,2", "shape is 10000, expected 0.05 to 1000"),
        ("tgamma:0,20,2,0", "scale is 0"),
        ("uniform:3,3", "expected 0 <= lower < upper"),
        ("mixture:1*uniform:1,2", "found 1 laws, expected WEIGHT*LAW;WEIGHT*LAW"),
        ("mixture:0.5*uniform:1,2;uniform:1,2", "found 'uniform:1,2', expected WEIGHT*LAW"),
        ("mixture:0.5*uniform:1,2;0.4*uniform:1,3", "weights add up to 0.9, expected 1"),
        ("mixture:1.5*uniform:1,2;-0.5*uniform:1,3", "weight -0.5, expected more than 0"),
        ("mixture:0.5*uniform:1,2;0.5*empirical:1,3", "found a law empirical, expected laws with a density"),
        ("mixture:0.5*uniform:1,2;0.5*mixture:1,3", "found a law mixture, expected laws with a density"),
        ("mixture:0.5*uniform:1,2;0.5*uniform:4,3", "expected 0 <= lower < upper"),
        ("tnorm", "expected NAME:NUMBERS"),
        ("tnorm:0,20,8", "found 3 numbers, expected tnorm:LOWER,UPPER,MU,SIGMA"),
        ("tnorm:0,20,8,two", "found 'two', expected a number"),
        ("tnorm:0,20,8,nan", "found 'nan', expected a number"),
        ("tnorm:0,20,8,1_0", "found '1_0', expected a number"),
        ("tnorm:20,0,8,2", "expected 0 <= lower < upper"),
        ("tnorm:-1,20,8,2", "expected 0 <= lower < upper"),
        ("tnorm:0,1e10,8,2", "expected 0 <= lower < upper"),
        ("tnorm:0,20,8,0", "sigma is 0"),
        ("tnorm:0,20,900,2", "of the distribution's mass"),
        ("texp:0,15,-1", "mean is -1"),
        ("beta:0,2", "alpha is 0"),
        ("beta:1,2,3", "found 3 numbers"),
        ("pareto:0,20,2", "lower bound 0"),
        ("tlognorm:0,20,99,2", "of the logarithm"),
        ("empirical:", "expected a number"),
        ("empirical:1,-2", "run time -2"),
        ("empirical:" + ",".join(["1"] * (MAX_VALUES + 1)), "at most 10,000"),
        ("empirical:" + "1" * 300_000, "longer than"),
    ],
)
def test_wrong_laws_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=r"job 7.*law ") as caught:
        parse_law(text, source="w.json", place="job 7")
    assert message in str(caught.value)
    assert len(str(caught.value)) < 300


NUMBERS = st.one_of(
    st.sampled_from(
        ["0", "1e-9", "1e-3", "0.5", "1", "3.7", "20", "1e3", "1e6", "1e9", "-5", "1e400", "nan", "-inf", ""]
    ),
    st.floats(1e-6, 1e9).map(repr),
)
#: A mixture, to be completed by the numbers of its last law.
LAST_OF_TWO = "mixture:0.2*uniform:0.5,40;0.8*tgamma"


@settings(max_examples=100)
@given(
    st.sampled_from(
        ["tnorm", "texp", "beta", "pareto", "tlognorm", "tgamma", "tweibull", "uniform", "empirical", LAST_OF_TWO]
    ),
    st.lists(NUMBERS, min_size=1, max_size=5),
)
def test_any_text_is_refused_or_is_a_law(name: str, numbers: list[str]) -> None:
    """Whatever the numbers: no sequence with a hole, no infinite cost, no draw outside the bounds."""
    try:
        law = parse_law(f"{name}:{','.join(numbers)}")
    except InputError:
        return
    assert law.lower * (1 - 1e-9) <= law.mean <= law.upper * (1 + 1e-9)
    drawn = law.draw(np.random.default_rng(0), 20)
    assert np.all((drawn >= law.lower) & (drawn <= law.upper))
    for sequence in (toptimal(law), atoptimal(law, 0.3), toptimal_on_grid(law, 50), atoptimal_on_grid(law, 0.3, 15)):
        assert all(before < after for before, after in pairwise((0.0, *sequence)))
        assert sequence[-1] == law.upper
        assert 0 < expected_makespan(law, sequence, 0.3) < math.inf
        assert 0 <= failures_per_job(law, sequence) < math.inf
