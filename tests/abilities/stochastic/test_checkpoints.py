"""Plans with checkpoints against brute force over all of them, and their two special cases."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.stochastic.requests import make_sequence
from batdispatch.abilities.stochastic.requests.base import Plan
from batdispatch.abilities.stochastic.requests.checkpoints import best_plan
from batdispatch.abilities.stochastic.requests.cost import Price, expected_cost
from batdispatch.abilities.stochastic.requests.laws import Floats, Law
from batdispatch.abilities.stochastic.requests.toptimal import toptimal_on_grid
from batdispatch.abilities.stochastic.requests.vocabulary import parse_law
from batdispatch.core.errors import InputError

TABLE = parse_law("tnorm:0,20,8,2")


def naive_cost(grid: Floats, mass: Floats, plan: Plan, price: Price) -> float:
    """The expected cost, attempt by attempt for each possible run time, as a user would add it up."""
    total = 0.0
    for x, f in zip(grid, mass, strict=True):
        saved = cost = 0.0
        for attempt, limit in enumerate(plan.limits):
            reads = plan.restart if saved else 0.0
            asked = reads + limit - saved + (plan.checkpoint if plan.saves[attempt] else 0.0)
            used = reads + x - saved if x <= limit else asked
            cost += price.alpha * asked + price.beta * used + price.gamma
            cost += (price.alpha + price.beta) * price.overhead if attempt else 0.0
            if x <= limit:
                break
            saved = limit if plan.saves[attempt] else saved
        else:
            raise AssertionError("the plan ends before the law")
        total += f * cost
    return total


def expected_plan_cost(law: Law, plan: Plan, price: Price) -> float:
    """Return the expected cost of a plan whose last limit is at least the law's upper bound."""
    total, saved, before = price.gamma - price.again, 0.0, (0.0, 0.0)
    for index, limit in enumerate(plan.limits):
        here = law.at(limit)
        begun = (plan.restart if saved else 0.0) - saved
        asked = plan.length(index, saved)
        ended = here[0] - before[0]
        total += (1.0 - before[0]) * (price.alpha * asked + price.again)
        total += price.beta * (here[1] - before[1] + begun * ended + (1.0 - here[0]) * asked)
        saved = limit if plan.keeps(index) else saved
        before = here
    return total


def all_plans(grid: Floats, checkpoint: float, restart: float, when: str) -> list[Plan]:
    """Every choice of limits that ends with the last point, with every choice of checkpoints that is allowed."""
    plans = []
    for size in range(len(grid)):
        for inner in itertools.combinations(grid[:-1].tolist(), size):
            for saves in itertools.product((False, True), repeat=size):
                if when == "best" or saves == (when == "always",) * size:
                    plans.append(Plan((*inner, float(grid[-1])), (*saves, False), checkpoint, restart))
    return plans


@st.composite
def laws(draw: st.DrawFn) -> tuple[Floats, Floats]:
    count = draw(st.integers(1, 6))
    points = draw(st.lists(st.integers(1, 60), min_size=count, max_size=count, unique=True))
    weights = np.array(draw(st.lists(st.integers(1, 9), min_size=count, max_size=count)), dtype=np.float64)
    return np.sort(np.array(points, dtype=np.float64)), weights / weights.sum()


def prices() -> st.SearchStrategy[Price]:
    some = st.sampled_from([0.0, 0.1, 1.0, 3.0])
    return st.builds(Price, st.sampled_from([0.05, 1.0, 2.0]), some, some, some)


@given(law=laws(), price=prices(), checkpoint=st.sampled_from([0.0, 0.5, 4.0, 100.0]), data=st.data())
def test_no_plan_is_better(law: tuple[Floats, Floats], price: Price, checkpoint: float, data: st.DataObject) -> None:
    grid, mass = law
    restart = data.draw(st.sampled_from([0.0, 0.5, 4.0, 100.0]))
    when = data.draw(st.sampled_from(["best", "always", "never"]))
    found = best_plan(grid, mass, price, checkpoint, restart, when)
    plans = all_plans(grid, checkpoint, restart, when)
    assert found in plans
    best = min(naive_cost(grid, mass, plan, price) for plan in plans)
    assert naive_cost(grid, mass, found, price) == pytest.approx(best, rel=1e-9)


@given(law=laws(), price=prices(), data=st.data())
def test_no_request_but_a_lengthened_last_one_is_below_the_least(
    law: tuple[Floats, Floats], price: Price, data: st.DataObject
) -> None:
    grid, mass = law
    least = data.draw(st.sampled_from([2.0, 9.0, 30.0]))
    found = best_plan(grid, mass, price, 1.0, 2.0, "best", least)
    saved = 0.0
    for attempt, limit in enumerate(found.limits[:-1]):
        assert found.length(attempt, saved) >= least
        saved = limit if found.keeps(attempt) else saved


@given(law=laws(), price=prices())
def test_never_is_toptimal(law: tuple[Floats, Floats], price: Price) -> None:
    grid, mass = law
    values = np.repeat(grid, np.round(mass * 1e6).astype(int) // 50_000 + 1)
    text = parse_law("empirical:" + ",".join(map(str, values)))
    options = f"alpha={price.alpha},beta={price.beta},gamma={price.gamma},overhead={price.overhead}"
    found = make_sequence(f"checkpoints[when=never,{options}]").plan(text)
    assert not any(found.saves)
    toptimal = toptimal_on_grid(text, 100, price)
    assert expected_cost(text, found.limits, price) == pytest.approx(expected_cost(text, toptimal, price), rel=1e-9)
    assert expected_plan_cost(text, found, price) == pytest.approx(expected_cost(text, found.limits, price), rel=1e-9)


def test_what_a_checkpoint_costs_decides_whether_there_are_any() -> None:
    def ask(options: str) -> Plan:
        return make_sequence(f"checkpoints[grid=200,{options}]").plan(TABLE)

    free, dear = ask("checkpoint=0,restart=0"), ask("checkpoint=100,restart=100")
    # For nothing, every attempt saves: the job pays its own time and what is reserved beyond its end.
    assert all(free.saves[:-1])
    assert not any(dear.saves)
    assert dear.limits == pytest.approx((10.8, 13.4, 15.4, 17.1, 18.7, 20.0), abs=1e-9)
    price = Price()
    costs = [
        expected_plan_cost(TABLE, ask(f"checkpoint={size},restart={size}"), price) for size in (0, 0.1, 0.5, 2, 100)
    ]
    assert costs == sorted(costs)
    assert costs[0] < 8.2, "the mean run time is 8.0"
    assert costs[-1] == pytest.approx(11.9374, abs=1e-3)
    for when in ("always", "never"):
        rival = ask(f"checkpoint=0.5,restart=0.5,when={when}")
        assert expected_plan_cost(TABLE, rival, price) >= costs[2]


def test_by_hand() -> None:
    """C = R = 1, reserved time counts. 10 or 100: 11 + 0.5 (1 + 90) = 56.5 with a checkpoint, 10 + 0.5 100 without."""
    half = np.array([0.5, 0.5])
    found = best_plan(np.array([10.0, 100.0]), half, Price(), 1.0, 1.0)
    assert found == Plan((10.0, 100.0), (True, False), 1.0, 1.0)
    assert naive_cost(np.array([10.0, 100.0]), half, found, Price()) == 56.5
    # After one second a checkpoint costs more than it saves.
    assert best_plan(np.array([1.0, 100.0]), half, Price(), 1.0, 1.0).saves == (False, False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("checkpoints[checkpoint=-1]", "option checkpoint='-1' is not a number at least 0"),
        ("checkpoints[when=sometimes]", "option when='sometimes' is not one of best, always, never"),
        ("checkpoints[grid=5000]", "option grid='5000' is not"),
    ],
)
def test_wrong_options(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("[", "\\[")):
        make_sequence(text)
