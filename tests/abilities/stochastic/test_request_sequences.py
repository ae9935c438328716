"""Reservation sequences against the paper's table, closed forms and brute force."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.stochastic.requests import GROUP, make_sequence
from batdispatch.abilities.stochastic.requests.atoptimal import atoptimal, atoptimal_on_grid
from batdispatch.abilities.stochastic.requests.cost import (
    Price,
    expected_cost,
    expected_makespan,
    failure_probability,
    failures_per_job,
)
from batdispatch.abilities.stochastic.requests.laws import Empirical
from batdispatch.abilities.stochastic.requests.toptimal import cells, toptimal, toptimal_on_grid
from batdispatch.abilities.stochastic.requests.vocabulary import parse_law
from batdispatch.core.errors import InputError
from batdispatch.core.line import registry
from stochastic import SEQUENCES, with_options

TABLE = parse_law("tnorm:0,20,8,2")


# ------------------------------------------------------------------ the paper's table of requests


def test_table_toptimal() -> None:
    requests = toptimal_on_grid(TABLE, 200)
    assert requests == pytest.approx((10.8, 13.4, 15.4, 17.1, 18.7, 20.0), abs=1e-9)
    assert expected_cost(TABLE, requests) == pytest.approx(11.937461, abs=1e-6)


@pytest.mark.parametrize(
    ("zeta", "printed", "cost"),
    [
        (0.1, (10.86, 13.91, 18.69, 20.0), 12.045757),
        (0.5, (13.04, 20.0), 16.686939),
        (0.9, (17.39, 20.0), 80.006999),
        (1.0, (20.0,), 8.000268),
    ],
)
def test_table_atoptimal(zeta: float, printed: tuple[float, ...], cost: float) -> None:
    requests = atoptimal_on_grid(TABLE, zeta, 46)
    # The paper cuts to two decimals.
    assert tuple(np.floor(np.array(requests) * 100 + 1e-9) / 100) == pytest.approx(printed, abs=1e-9)
    assert expected_makespan(TABLE, printed, zeta) == pytest.approx(cost, abs=1e-6)


@pytest.mark.parametrize(
    ("zeta", "requests", "cost"),
    [
        (0.0, (10.8045, 13.3997, 15.4269, 17.1678, 18.7237, 20), 11.937451),
        (0.1, (10.8932, 13.9834, 18.3045, 20), 12.045098),
        (0.5, (12.9661, 20), 16.686046),
        (0.9, (17.2189, 20), 80.006973),
        (1.0, (20,), 8.000268),
    ],
)
def test_continuous_optimum(zeta: float, requests: tuple[float, ...], cost: float) -> None:
    found = atoptimal(TABLE, zeta)
    assert found == pytest.approx(requests, abs=2e-4)
    assert expected_makespan(TABLE, found, zeta) == pytest.approx(cost, rel=1e-6)


@pytest.mark.parametrize(("zeta", "cost"), [(0.1, 12.089411), (0.5, 17.026639), (0.9, 82.179316)])
def test_cost_on_the_grid_itself(zeta: float, cost: float) -> None:
    grid = np.arange(1, 47) * (20 / 46)
    mass = np.diff(TABLE.cdf(grid), prepend=0.0)
    requests = atoptimal_on_grid(TABLE, zeta, 46)
    total = 0.0
    for x, f in zip(grid, mass, strict=True):
        j = int(np.searchsorted(np.array(requests) + 1e-9, x))
        total += f * max(sum(requests[: j + 1]), (sum(requests[:j]) + x) / (1 - zeta))
    assert total == pytest.approx(cost, abs=1e-6)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=60), st.sampled_from([0.0, 0.5, 1.0]))
def test_the_best_limits_are_those_of_python(values: list[int], beta: float) -> None:
    """Few different numbers make ties."""
    law = Empirical([float(value) for value in values])
    grid, mass = cells(law, 60)
    assert grid.tolist() == sorted({float(value) for value in values})
    assert mass.tolist() == [values.count(int(value)) / len(values) for value in grid]
    price = Price(alpha=1.0, beta=beta, gamma=2.0)
    found = toptimal_on_grid(law, 60, price)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("batdispatch.abilities.stochastic.requests.toptimal._LIBRARY.loaded", None)
        assert found == toptimal_on_grid(law, 60, price)


def test_a_law_that_nobody_writes_has_its_text_when_it_is_asked_for() -> None:
    law = Empirical([3.0, 1.0])
    assert (law.text, repr(law)) == ("empirical:1,3", "Law('empirical:1,3')")


def test_failures_of_toptimal() -> None:
    requests = toptimal_on_grid(TABLE, 200)
    assert failures_per_job(TABLE, requests) == pytest.approx(0.0843, abs=5e-5)
    assert failure_probability(TABLE, requests) == pytest.approx(0.0808, abs=5e-5)


# ------------------------------------------------------------------ other laws


@pytest.mark.parametrize(
    ("law", "grid", "requests", "cost"),
    [
        ("texp:0,15,1", 1000, (0.75,), 2.36448),
        ("beta:2,2", 1000, (0.782, 0.979, 1.0), 0.902597),
        ("pareto:1,20,2.1", 1000, (1.969, 3.85, 7.422, 13.559, 20.0), 3.539670),
        ("tnorm:1,8,4,2", None, (6.119, 8.0), 7.19044),
        ("tnorm:0.1,6,1,1", None, (1.909, 3.092, 4.058, 4.902, 5.654, 6.0), 2.69510),
        ("tnorm:11,31,20,8", None, (29.312, 31.0), None),
        ("tnorm:1.5,3,1.7,0.5", None, (2.507, 3.0), None),
        ("tnorm:10,35,20,8", None, (29.487, 35.0), None),
    ],
)
def test_toptimal_of_other_laws(law: str, grid: int | None, requests: tuple[float, ...], cost: float | None) -> None:
    parsed = parse_law(law)
    found = toptimal(parsed) if grid is None else toptimal_on_grid(parsed, grid)
    assert found[: len(requests)] == pytest.approx(requests, abs=6e-4)
    if cost is not None:
        assert expected_cost(parsed, found) == pytest.approx(cost, abs=6e-6)


@pytest.mark.parametrize(
    ("law", "requests"),
    [
        ("tnorm:11,31,20,8", (31.0,)),
        ("tnorm:1.5,3,1.7,0.5", (2.634, 3.0)),
        ("tnorm:10,35,20,8", (31.737, 35.0)),
    ],
)
def test_atoptimal_of_the_neuroscience_applications(law: str, requests: tuple[float, ...]) -> None:
    assert atoptimal(parse_law(law), 0.21) == pytest.approx(requests, abs=6e-4)


@pytest.mark.parametrize("law", ["tnorm:0,20,8,2", "texp:0,15,1", "beta:2,2", "tlognorm:0,50,1,0.8"])
def test_condition_of_optimality(law: str) -> None:
    """t_{i+1} = (1 - F(t_{i-1})) / f(t_i), where there is mass enough to tell."""
    parsed = parse_law(law)
    requests = np.array(toptimal(parsed))
    before = 1 - parsed.cdf(np.concatenate(([parsed.lower], requests[:-2])))
    before[0] = 1.0
    wanted = before / parsed.pdf(requests[:-1])
    telling = before > 1e-4
    assert telling.any()
    assert requests[1:][telling] == pytest.approx(wanted[telling], rel=1e-3)


def test_pay_what_you_use_asks_for_the_most() -> None:
    assert toptimal_on_grid(TABLE, 100, Price(0.0, 1.0, 0.0)) == (20.0,)
    assert toptimal(TABLE, Price(0.0, 1.0, 0.0)) == (20.0,)


def test_a_price_of_each_attempt_makes_failures_rarer() -> None:
    rates = [failures_per_job(TABLE, toptimal(TABLE, Price(1.0, 0.0, gamma))) for gamma in (0.0, 5.0, 50.0)]
    assert rates == sorted(rates, reverse=True)
    assert rates[2] < rates[0] / 2


# ------------------------------------------------------------------ against brute force


def law_texts() -> st.SearchStrategy[str]:
    number = st.floats(0.5, 9).map(lambda x: round(x, 2))
    return st.one_of(
        st.builds(lambda mu, sigma: f"tnorm:0,10,{mu},{sigma}", number, number),
        st.builds(lambda mean: f"texp:0,10,{mean}", number),
        st.builds(lambda a, b: f"beta:{a},{b},0,10", number, number),
        st.builds(lambda alpha: f"pareto:1,10,{alpha}", number),
        st.builds(lambda sigma: f"tlognorm:0.5,10,1,{sigma}", number),
        st.lists(number, min_size=1, max_size=8).map(lambda values: "empirical:" + ",".join(map(str, values))),
    )


def prices() -> st.SearchStrategy[Price]:
    some = st.floats(0, 3).map(lambda x: round(x, 2))
    return st.builds(Price, some.map(lambda x: x + 0.1), some, some, some)


LEAST = st.sampled_from([0.0, 0.0, 0.2, 0.55, 0.999])


def least_of(text: str, share: float) -> float:
    """A least request somewhere in a law's support, or none."""
    law = parse_law(text)
    return share and law.lower + share * (law.upper - law.lower)


def grid_cost(grid: list[float], mass: list[float], requests: list[float], cost: Callable[..., float]) -> float:
    """The expected cost when the run time is one of the grid's points."""
    total = 0.0
    for x, f in zip(grid, mass, strict=True):
        j = next(i for i, t in enumerate(requests) if t >= x - 1e-9)
        total += f * cost(requests[: j + 1], x)
    return total


def by_grid(text: str, n: int, aligned: bool) -> tuple[list[float], list[float]]:
    law = parse_law(text)
    first = 0.0 if aligned else law.lower
    grid = first + np.arange(1, n + 1) * ((law.upper - first) / n)
    grid[-1] = law.upper
    if isinstance(law, Empirical) and not aligned:
        grid = np.unique(law.values)
    return grid.tolist(), np.diff(law.cdf(grid), prepend=0.0).tolist()


@given(text=law_texts(), price=prices(), share=LEAST)
def test_dp_finds_the_best_of_all_sequences_on_the_grid(text: str, price: Price, share: float) -> None:
    grid, mass = by_grid(text, 8, aligned=False)
    least = least_of(text, share)

    def cost(tried: list[float], x: float) -> float:
        once = sum(price.alpha * t + price.beta * min(t, x) + price.gamma for t in tried)
        return once + (len(tried) - 1) * (price.alpha + price.beta) * price.overhead

    allowed = [point for point in grid[:-1] if point >= least]
    if grid[0] < least < grid[-1] and least not in grid:
        allowed.insert(0, least)
    best = min(
        grid_cost(grid, mass, [*inner, grid[-1]], cost)
        for size in range(len(grid))
        for inner in itertools.combinations(allowed, size)
    )
    found = toptimal_on_grid(parse_law(text), 8, price, least)
    assert found[-1] == parse_law(text).upper
    assert found[0] >= min(least, found[-1])
    assert grid_cost(grid, mass, list(found), cost) == pytest.approx(best, rel=1e-9)


@given(text=law_texts(), zeta=st.sampled_from([0.0, 0.05, 0.21, 0.5, 0.9, 1.0]), share=LEAST)
def test_dp_with_backfilling_finds_the_best_of_all_sequences_on_the_grid(text: str, zeta: float, share: float) -> None:
    grid, mass = by_grid(text, 8, aligned=True)
    least = least_of(text, share)

    def cost(tried: list[float], x: float) -> float:
        return max((1 - zeta) * sum(tried), sum(tried[:-1]) + x)

    best = min(
        grid_cost(grid, mass, [*inner, grid[-1]], cost)
        for size in range(8)
        for inner in itertools.combinations([point for point in grid[:-1] if point >= least], size)
    )
    found = atoptimal_on_grid(parse_law(text), zeta, 8, least)
    assert found[-1] == parse_law(text).upper
    assert grid_cost(grid, mass, list(found), cost) == pytest.approx(best, rel=1e-9)


@given(
    text=law_texts(),
    zeta=st.sampled_from([0.0, 0.1, 0.5, 0.9, 0.99]),
    shares=st.lists(st.floats(0.01, 0.99), max_size=6),
)
def test_no_random_sequence_beats_the_continuous_optimum(text: str, zeta: float, shares: list[float]) -> None:
    law = parse_law(text)
    found = atoptimal(law, zeta)
    assert found[-1] == law.upper
    assert list(found) == sorted(set(found))
    rival = [*sorted({law.upper * share for share in shares}), law.upper]
    # Laws without density are optimised on a grid; others need not be convex, so the minimum may be a local one.
    slack = 1e-3 if law.smooth else 0.1
    assert expected_makespan(law, found, zeta) <= expected_makespan(law, rival, zeta) * (1 + slack)


@given(text=law_texts(), zeta=st.sampled_from([0.0, 0.3, 0.8]), shares=st.lists(st.floats(0.05, 0.95), max_size=4))
def test_closed_form_is_the_mean_over_draws(text: str, zeta: float, shares: list[float]) -> None:
    law = parse_law(text)
    requests = np.array([*sorted({law.upper * share for share in shares}), law.upper])
    drawn = law.ppf((np.arange(20_000) + 0.5) / 20_000)
    j = np.searchsorted(requests, np.minimum(drawn, law.upper))
    sums = requests.cumsum()
    costs = np.maximum(sums[j], (sums[j] - requests[j] + drawn) / (1 - zeta))
    assert expected_makespan(law, requests.tolist(), zeta) == pytest.approx(float(costs.mean()), rel=2e-3)
    if zeta == 0:
        assert expected_cost(law, requests.tolist()) == pytest.approx(expected_makespan(law, requests.tolist(), 0.0))


@given(text=law_texts(), price=prices(), shares=st.lists(st.floats(0.05, 0.95), max_size=4))
def test_expected_cost_is_the_mean_over_draws(text: str, price: Price, shares: list[float]) -> None:
    law = parse_law(text)
    requests = np.array([*sorted({law.upper * share for share in shares}), law.upper])
    drawn = np.minimum(law.ppf((np.arange(20_000) + 0.5) / 20_000), law.upper)
    j = np.searchsorted(requests, drawn)
    lost = np.concatenate(([0.0], requests.cumsum()))[j]
    costs = price.alpha * requests.cumsum()[j] + price.beta * (lost + drawn) + price.gamma * (j + 1)
    costs = costs + j * (price.alpha + price.beta) * price.overhead
    assert expected_cost(law, requests.tolist(), price) == pytest.approx(float(costs.mean()), rel=3e-3)


@given(text=law_texts(), price=prices(), share=LEAST, shares=st.lists(st.floats(0.01, 0.99), max_size=6))
def test_no_random_sequence_is_cheaper_than_the_continuous_optimum_of_a_price(
    text: str, price: Price, share: float, shares: list[float]
) -> None:
    law, least = parse_law(text), least_of(text, share)
    found = toptimal(law, price, least)
    assert found[-1] == law.upper
    assert min(found) >= min(least, law.upper)
    rival = [*sorted({law.upper * each for each in shares if law.upper * each >= least}), law.upper]
    slack = 1e-3 if law.smooth else 1e-9
    assert expected_cost(law, found, price) <= expected_cost(law, rival, price) * (1 + slack)


def test_a_least_request_beyond_nearly_all_run_times_is_asked_for_before_the_upper_bound() -> None:
    law, price = parse_law("tnorm:0,10,1,0.5"), Price(0.1, 0.0, 0.0, 0.0)
    assert toptimal(law, price, 5.5) == pytest.approx((5.5, 10.0))


# ------------------------------------------------------------------ request sequences by name


def test_sequences_are_registered() -> None:
    assert registry.names(GROUP) == [
        *("atoptimal", "checkpoints", "factor", "hpc", "learned-ratio", "list", "neuroscience", "toptimal", "walltime")
    ]


def test_baselines() -> None:
    assert make_sequence("hpc").limits(TABLE) == (20.0,)
    assert make_sequence("factor").limits(TABLE) == pytest.approx((8.000268,))
    neuroscience = make_sequence("neuroscience[runs=3]")
    assert neuroscience.limits(TABLE, history=[19, 6, 9, 7]) == (9,)
    assert neuroscience.limits(TABLE) == (20.0,)


@pytest.mark.parametrize("name", SEQUENCES)
def test_limits_grow_beyond_the_sequence(name: str) -> None:
    made = make_sequence(with_options(name, factor=2))
    assert [made.limit((4.0, 6.0), attempt) for attempt in range(4)] == [4.0, 6.0, 12.0, 24.0]
    assert make_sequence(name).limit((4.0,), 1) == 6.0


@pytest.mark.parametrize("name", SEQUENCES)
@pytest.mark.parametrize("least", [3.0, 12.0, 40.0])
def test_no_sequence_asks_for_less_than_the_least(name: str, least: float) -> None:
    made = make_sequence(with_options(name, least=least))
    for zeta in (0.0, 0.3, 1.0):
        found = made.ask(TABLE, zeta, [6.0, 7.0])
        assert found[0] >= least
        assert list(found) == sorted(set(found))
        free = make_sequence(name).ask(TABLE, zeta, [6.0, 7.0])
        if free[0] >= least:
            assert found == free


@pytest.mark.parametrize("more", ["", ",grid=80"])
def test_options_make_the_price(more: str) -> None:
    def ask(options: str) -> tuple[float, ...]:
        return make_sequence(f"toptimal[{options}{more}]").ask(TABLE)

    assert ask("alpha=0,beta=1") == (20.0,)
    assert ask("alpha=1") == make_sequence("toptimal[grid=80]" if more else "toptimal").ask(TABLE)
    # What a further attempt costs makes failures rarer; an overhead of o costs (alpha + beta) o.
    failures = [failures_per_job(TABLE, ask(f"alpha=1,beta=1,gamma={gamma}")) for gamma in (0, 5, 50)]
    assert failures[0] > failures[1] > failures[2]
    assert ask("alpha=1,beta=1,overhead=5") == ask("alpha=1,beta=1,gamma=10")
    # With a least request the optimum is not just the free optimum cut off.
    free, bound = ask("alpha=1"), ask("alpha=1,least=12")
    assert bound[0] == pytest.approx(12, abs=0.25)
    assert expected_cost(TABLE, bound) < expected_cost(TABLE, (bound[0], *(t for t in free if t > bound[0])))


def test_sequences_on_a_grid() -> None:
    assert make_sequence("toptimal[grid=200]").limits(TABLE) == toptimal_on_grid(TABLE, 200)
    assert make_sequence("atoptimal[grid=46]").limits(TABLE, 0.5) == atoptimal_on_grid(TABLE, 0.5, 46)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("topt", "no request sequence is called 'topt': did you mean 'toptimal'"),
        ("hpc[grid=9]", "request sequence hpc has no option 'grid'"),
        ("toptimal[grid=0]", "request sequence toptimal: option grid='0' is not a whole number at least 1 at most"),
        ("atoptimal[grid=1000]", "option grid='1000' is not"),
        ("neuroscience[runs=0]", "option runs='0' is not"),
        ("toptimal[alpha=0]", "alpha, beta and gamma are all 0: every sequence would cost the same"),
        ("toptimal[gamma=-1]", "option gamma='-1' is not a number at least 0 at most"),
        ("hpc[least=nan]", "option least='nan' is not"),
        ("atoptimal[beta=1]", "request sequence atoptimal has no option 'beta'"),
        ("factor[factor=1]", "option factor='1' is not a number at least 1.01 at most 100"),
        ("factor[factor=nan]", "option factor='nan' is not"),
    ],
)
def test_wrong_options(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make_sequence(text)
    assert message in str(caught.value)


@pytest.mark.parametrize("call", [lambda: toptimal_on_grid(TABLE, 0), lambda: atoptimal_on_grid(TABLE, 0.1, 1000)])
def test_unreasonable_grids(call: Callable[[], object]) -> None:
    with pytest.raises(InputError, match="grid of"):
        call()


@pytest.mark.parametrize("zeta", [-0.1, 1.1, float("nan")])
def test_unreasonable_rates(zeta: float) -> None:
    with pytest.raises(InputError, match="expected 0 to 1"):
        atoptimal(TABLE, zeta)


HEAVY = [
    "tlognorm:0.95,19312,5.017,3.113",
    "tlognorm:0.98,26633,4.922,2.296",
    "tlognorm:0.97,6648,3.939,2.205",
    "pareto:1,10000,1.5",
    "texp:0,1000,2",
    "tnorm:1,20,8,2",
]


@pytest.mark.parametrize("text", HEAVY)
def test_laws_with_a_long_tail(text: str) -> None:
    """As logs have: no grid of equal cells is fine enough, and the optimum is found all the same."""
    law = parse_law(text)
    alone = toptimal(law)
    assert expected_cost(law, alone) <= expected_cost(law, toptimal_on_grid(law, 4000)) * (1 + 1e-6)
    assert len(alone) < 20
    for zeta in (0.02, 0.2, 0.6, 0.95):
        found = expected_makespan(law, atoptimal(law, zeta), zeta)
        grid = expected_makespan(law, atoptimal_on_grid(law, zeta, 46), zeta)
        assert found <= min(grid, expected_makespan(law, alone, zeta), expected_makespan(law, (law.upper,), zeta)) * (
            1 + 1e-9
        )


@pytest.mark.parametrize("unit", [0.01, 0.1, 0.3, 0.7, 1.0, 3.0, 11.0])
def test_of_two_sequences_that_cost_the_same_atoptimal_takes_the_shorter_first_limit(unit: float) -> None:
    # A job takes 1 or 2 units, each as likely as the other, and no small work comes. (1, 2): half of the jobs take 1,
    # half of them 1 + 2, so 2 in the mean; (2): each ends its reservation after 2. In any unit it is a tie.
    law = Empirical([unit, 2 * unit])
    assert expected_makespan(law, (unit, 2 * unit), 0.0) == pytest.approx(expected_makespan(law, (2 * unit,), 0.0))
    assert atoptimal_on_grid(law, 0.0, 2) == pytest.approx((unit, 2 * unit))
    # One job more of 2 units makes (2) the better one: 1/3 x 1 + 2/3 x 3 = 2.33; one more of 1 unit the other: 1.67.
    assert atoptimal_on_grid(Empirical([unit, 2 * unit, 2 * unit]), 0.0, 2) == pytest.approx((2 * unit,))
    assert atoptimal_on_grid(Empirical([unit, unit, 2 * unit]), 0.0, 2) == pytest.approx((unit, 2 * unit))


@pytest.mark.parametrize("unit", [0.3, 1 / 3, 1.0])
def test_rounding_breaks_no_tie_of_atoptimal(unit: float) -> None:
    # Two of three jobs take 2 units, the third 4; small work fills a quarter. (2, 4) costs 2 / .75 for the two and
    # (2 + 4) / .75 for the third, 4.44 in the mean; (4) costs 4 for the two and 4 / .75 for the third, 4.44 as well.
    law = Empirical([2 * unit, 2 * unit, 4 * unit])
    costs = [expected_makespan(law, limits, 0.25) for limits in ((2 * unit, 4 * unit), (4 * unit,))]
    assert costs == pytest.approx([40 / 9 * unit] * 2)
    assert atoptimal_on_grid(law, 0.25, 2) == pytest.approx((2 * unit, 4 * unit))
