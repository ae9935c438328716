"""Laws fitted by maximum likelihood: parameters are found again, truncation is respected, the true family is chosen."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from batdispatch.abilities.stochastic.requests.laws import Empirical
from batdispatch.abilities.stochastic.requests.vocabulary import parse_law
from batdispatch_papers.stochastic.likelihood import FAMILIES, distance, fit_family, held_out, split, support_of

#: Family -> a law of it that truncation changes much.
TRUE = {
    "uniform": "uniform:3,80",
    "exponential": "texp:5,400,200",
    "normal": "tnorm:200,2000,800,500",
    "lognormal": "tlognorm:20,4000,6,1.2",
    "gamma": "tgamma:10,600,3,100",
    "weibull": "tweibull:100,3000,2.5,2000",
    "mixture": "mixture:0.3*tlognorm:5,5000,3.5,0.4;0.7*tlognorm:5,5000,7,0.5",
}


def draw(family: str, count: int = 4000, seed: int = 7) -> np.ndarray:
    return parse_law(TRUE[family]).draw(np.random.default_rng(seed), count)


def numbers(text: str) -> list[float]:
    """Weights and parameters of a law as it is written, without its bounds; a mixture's shorter law first."""
    if text.startswith("mixture:"):
        parts = [part.partition("*") for part in text.partition(":")[2].split(";")]
        listed = sorted([*numbers(law), float(weight)] for weight, _, law in parts)
        return [value for each in listed for value in each]
    return [float(value) for value in text.partition(":")[2].split(",")[2:]]


@pytest.mark.parametrize("family", FAMILIES)
def test_parameters_are_found_again(family: str) -> None:
    law = fit_family(family, draw(family, 8000))
    assert law.text.partition(":")[0] == TRUE[family].partition(":")[0]
    assert numbers(law.text) == pytest.approx(numbers(TRUE[family]), rel=0.1)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_support_is_that_of_the_runs_and_the_mean_that_of_the_law(family: str) -> None:
    runs, true = draw(family), parse_law(TRUE[family])
    law = fit_family(family, runs)
    assert (law.lower, law.upper) == pytest.approx(support_of(runs), rel=1e-9)
    assert law.upper == pytest.approx(true.upper, rel=0.1)
    drawn = law.draw(np.random.default_rng(1), 2000)
    assert law.lower <= drawn.min()
    assert drawn.max() <= law.upper
    assert law.mean == pytest.approx(runs.mean(), rel=0.02)
    assert law.mean == pytest.approx(true.mean, rel=0.05)
    assert distance(law, runs) < 0.03


def test_the_moments_of_the_logarithms_do_not_fit_a_truncated_law() -> None:
    """Why likelihood: the same runs, with the moments of their logarithms as the parameters."""
    runs = draw("lognormal")
    logs = np.log(runs)
    lower, upper = support_of(runs)
    moments = parse_law(f"tlognorm:{lower},{upper},{logs.mean()},{logs.std()}")
    assert moments.mean / runs.mean() < 0.95
    assert fit_family("lognormal", runs).mean / runs.mean() == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("family", FAMILIES)
def test_no_law_nearby_makes_the_runs_more_likely(family: str) -> None:
    """The density is the vocabulary's, so that the two say the same."""
    runs = draw(family, 500)
    support = support_of(runs)
    law = fit_family(family, runs, support)
    best = np.log(law.pdf(runs)).mean()
    name, _, rest = law.text.partition(":")
    if family == "mixture":
        assert best > np.log(parse_law(TRUE[family]).pdf(runs)).mean()
        return
    values = [float(value) for value in rest.split(",")]
    for place in range(2, len(values)):
        for factor in (0.98, 1.02):
            other = [value * factor if n == place else value for n, value in enumerate(values)]
            text = f"{name}:{','.join(map(repr, other))}"
            assert np.log(parse_law(text).pdf(runs)).mean() < best


def test_a_support_that_is_wider_than_the_runs() -> None:
    law = fit_family("exponential", draw("exponential"), (0.5, 4000.0))
    assert (law.lower, law.upper) == pytest.approx((0.5, 4000.0))
    # With so much room and no run in it, a shorter mean is more likely than that of the law cut at 400.
    assert numbers(law.text)[0] < 180


@pytest.mark.parametrize("family", FAMILIES)
def test_the_later_runs_are_judged_under_a_fit_to_the_earlier_ones(family: str) -> None:
    runs = np.concatenate((draw("gamma", 120), draw("weibull", 60) / 4))
    earlier, later = split(runs)
    assert (len(earlier), len(later)) == (120, 60)
    law = fit_family(family, earlier, support_of(runs))
    assert held_out(runs, [family])[family] == pytest.approx(np.log(law.pdf(later)).mean(), rel=1e-6)
    # The order matters: it is a split in time.
    assert held_out(runs[::-1], ["gamma"])["gamma"] != pytest.approx(held_out(runs, ["gamma"])["gamma"], rel=0.01)


@pytest.mark.parametrize("family", ["normal", "gamma", "weibull", "mixture"])
def test_the_true_family_is_chosen(family: str) -> None:
    chosen = []
    for seed in range(3):
        judged = held_out(draw(family, 3000, seed))
        chosen.append(max(judged, key=judged.__getitem__))
    assert chosen.count(family) >= 2


@pytest.mark.parametrize("family", ["uniform", "exponential", "lognormal"])
def test_families_that_others_contain_lose_nothing(family: str) -> None:
    judged = held_out(draw(family))
    assert judged[family] == pytest.approx(max(judged.values()), abs=0.003)


def test_a_mixture_needs_runs() -> None:
    runs = draw("mixture", 44)
    assert "mixture" not in held_out(runs)
    assert "mixture" in held_out(draw("mixture", 45))


@settings(max_examples=25)
@given(
    family=st.sampled_from(list(FAMILIES)),
    runs=st.lists(st.sampled_from([1.0, 2.0, 3.0, 60.0, 61.0, 3600.0, 1e5, 3e6]), min_size=2, max_size=20),
)
def test_whatever_the_runs_there_is_a_law_that_holds_them(family: str, runs: list[float]) -> None:
    x = np.array(runs)
    law = fit_family(family, x)
    assert parse_law(law.text).upper == law.upper
    assert law.lower <= x.min()
    assert law.upper >= x.max()
    assert law.lower <= law.mean <= law.upper
    assert 0 <= distance(law, x) <= 1
    # A family may have no density left where the later runs are; then it is the worst.
    assert all(value < np.inf for value in held_out(x).values())


def test_the_distance_is_kolmogorovs() -> None:
    runs, law = draw("gamma", 200), parse_law(TRUE["weibull"])
    assert distance(law, runs) == pytest.approx(stats.kstest(runs, law.cdf).statistic)
    assert distance(Empirical(runs.tolist()), runs) == pytest.approx(0)
    assert distance(Empirical([1.0, 3.0]), np.array([1.0, 2.0, 3.0, 3.0])) == pytest.approx(0.25)
