"""Auctions on hard windows end at ten times their limit, whatever it is that takes long, and say so."""

from typing import Any

import numpy as np
import pytest
from windows import carry_out, machine_of, problem_of, scaled, solve

from batdispatch.abilities.solvers.auction import interval_bids, search
from batdispatch.abilities.solvers.auction.auction_model import AuctionProgram
from batdispatch.abilities.solvers.auction.bids import Bids, Most, generate
from batdispatch.abilities.solvers.auction.groups import classes
from batdispatch.abilities.solvers.auction.problem import Problem
from batdispatch.abilities.solvers.auction.program import Program, entries_of
from batdispatch.abilities.solvers.auction.search import PlanSearch
from batdispatch.abilities.solvers.auction.settlement import LINK_ENTRIES, settle
from batdispatch.abilities.solvers.auction.sketches import groups_of, links
from batdispatch.abilities.solvers.solving import Effort, Limits
from batdispatch.abilities.solvers.solving.runner import MOST


def hard_window(nodes: int, jobs: int, kinds: int = 64) -> Problem:
    """Return jobs of mixed requests on nodes of which hardly two are alike."""
    rng = np.random.default_rng(1)
    machine = machine_of([(int(rng.integers(1, kinds)), int(rng.integers(0, 5))) for _ in range(nodes)])
    asked: list[tuple[int, int, dict[str, Any]]] = []
    for _ in range(jobs):
        units = int(rng.integers(1, nodes * 4))
        fields: dict[str, Any] = {"demand": {"core": int(rng.integers(1, 4))}}
        if rng.random() < 0.5:
            fields["per_node"] = {"gpu": int(rng.integers(1, 5))}
        asked.append((int(rng.integers(1, 2**31)), units, fields))
    return problem_of(machine, asked)


def bids_of(problem: Problem) -> Bids:
    return generate(problem, interval_bids.IntervalBids(500), interval_bids.LAST_RESORT, Most(15, 250))[0]


def entries_in(model: Program | AuctionProgram) -> int:
    """Return how many entries a model really has."""
    return sum(
        len(row.linear.vars) if row.has_linear() else len(row.at_most_one.literals)
        for row in model.cp.proto.constraints
    )


@pytest.mark.parametrize(("nodes", "jobs", "kinds"), [(32, 60, 64), (60, 30, 4)])
def test_entries_of_programs_are_known_before_they_are_built(nodes: int, jobs: int, kinds: int) -> None:
    problem = hard_window(nodes, jobs, kinds)
    able = problem.fitting()
    groups = classes(problem, able)
    pairs = sum(1 for group in groups for job in able if group.rooms[job])
    assert entries_in(Program(problem, able, groups)) == pytest.approx(entries_of(pairs), rel=0.5)
    bids = bids_of(problem)
    parts = groups_of(problem, bids)
    told = LINK_ENTRIES * links(problem, bids, parts)
    assert entries_in(AuctionProgram(problem, bids, parts)) == pytest.approx(told, rel=0.5)


@pytest.mark.parametrize("work", [0.02, 0.12])
def test_a_hard_window_is_searched_within_ten_limits(work: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a bound this search takes some 7 s of a processor, whatever the limit: its relaxations alone take 3."""
    problem = hard_window(64, 100)
    parts: list[float] = []
    relaxed = search.Relaxation.solve
    monkeypatch.setattr(
        search.Relaxation,
        "solve",
        lambda self, within, effort: parts.append(effort.spent) or relaxed(self, within, effort),
    )
    jobs = problem.fitting()
    greedy = problem.greedy()
    most = sum(asking.priority for asking in problem.askings) * 2 * len(problem.hosts)
    found = PlanSearch(problem, greedy, most, Limits(work=work, wall=1e9), lambda: 0.0)
    found.improve(jobs, single=False)
    effort = found.effort
    assert effort.beyond
    # The iterations of the simplex method are counted in whole numbers.
    assert 0 <= effort.spent <= MOST * work * 1.05
    assert bool(parts) == (work > 0.1), "what is too large is not even built, the rest is cut short"
    assert scaled(problem, found.choice) >= scaled(problem, greedy)
    assert scaled(problem, found.choice) <= found.bound <= most
    carry_out(problem, found.choice)


def test_a_decision_that_ends_at_the_bound_is_carried_out_and_marked() -> None:
    problem = hard_window(64, 100)
    found, counters, _ = solve(problem, work=0.005)
    assert (found.beyond, found.limited, found.status, counters["programs"]) == (True, False, "UNKNOWN", 0)
    assert any(one is not None for one in found.solution)
    again, _, _ = solve(hard_window(8, 8), work=5.0)
    assert not again.beyond


def test_an_auction_ends_at_ten_limits_over_all_its_solves() -> None:
    problem = hard_window(100, 60)
    bids = bids_of(problem)
    effort = Effort(Limits(work=0.02, wall=1e9), lambda: 0.0)
    rounds = 0
    while not effort.beyond and rounds < 50:
        found = settle(problem, bids, "lexicographic", 2, effort)
        rounds += 1
        carried = found.found
    assert effort.beyond
    assert rounds < 50
    assert carried.beyond
    assert effort.work <= effort.spent <= MOST * 0.02 * 1.05
    assert carried.cost <= carried.first, "no worse than the greedy plan"
