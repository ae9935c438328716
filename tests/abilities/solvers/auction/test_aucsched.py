"""AUCSCHED as a dispatcher: window, halving, bids that are cut off, and what a run tells."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from auctions import Asked, nodes_of, problem_of
from batdispatch.abilities.solvers.auction import aucsched
from batdispatch.abilities.solvers.auction.aucsched import Aucsched
from batdispatch.abilities.solvers.auction.bids import Bids
from batdispatch.abilities.solvers.auction.problem import Problem
from batdispatch.abilities.solvers.auction.settlement import AuctionResult, settle
from batdispatch.abilities.solvers.solving.effort import Effort
from batdispatch.core.errors import InputError
from batdispatch.core.line.dispatcher import create
from batdispatch.core.machine.machine import Machine
from simulating import Task, audit, simulate

CORES = {"core": 1}
NODES = "core=8 gpu=2"


def task(name: str, units: int, submission: float = 0.0, runtime: float = 10.0, **fields: Any) -> Task:
    return Task(name, submission, units, runtime, runtime, CORES, "", fields)


def made(**options: Any) -> Aucsched:
    found = create("aucsched", options)
    assert isinstance(found, Aucsched)
    return found


@pytest.mark.parametrize(
    ("variant", "window", "period", "each", "bids"), [("2", 100, 3.0, 15, 250), ("3", 250, 5.0, 500, 25_000)]
)
def test_what_is_not_given_is_as_published(variant: str, window: int, period: float, each: int, bids: int) -> None:
    options = made(variant=variant).options
    assert (options.window, options.period, options.bids_per_job, options.bids, options.classes) == (
        window,
        period,
        each,
        bids,
        500,
    )
    assert made(variant=variant, window="7", period="0").options.window == 7
    assert made(variant=variant, window="7", period="0").options.period == 0.0


def test_wrong_options_are_refused() -> None:
    for options in (
        {"variant": "1"},
        {"alpha": "half"},
        {"bids": "0"},
        {"priorities": "sjf"},
        {"window": "0"},
        {"work": "-1"},
    ):
        with pytest.raises(InputError):
            made(**options)


@pytest.mark.parametrize("variant", ["2", "3"])
def test_the_worked_example_starts_all_three_jobs_where_backfilling_starts_two(variant: str) -> None:
    tasks = [
        task("J1", 32),
        task("J2", 16, per_node={"gpu": 2}, nodes=4),
        task("J3", 16, per_node={"gpu": 2}, nodes=4),
    ]
    machine = Machine.flat(8, NODES)
    result = simulate(machine, tasks, "aucsched", options={"variant": variant})
    audit(machine, tasks, result)
    assert result.starts() == {"J1": 0.0, "J2": 0.0, "J3": 0.0}
    assert simulate(machine, tasks, "easy").starts()["J3"] == 10.0


def test_jobs_are_decided_about_once_in_a_period_and_no_more_than_fit_the_window() -> None:
    tasks = [task(str(number), 1) for number in range(5)]
    starts = simulate(Machine.flat(4, NODES), tasks, "aucsched", options={"window": "2", "period": "4"}).starts()
    assert starts == {"0": 0.0, "1": 0.0, "2": 4.0, "3": 4.0, "4": 8.0}


def test_the_highest_priorities_start_and_the_others_wait() -> None:
    # Slurm's basic priorities: the first to come is the first to go, if the number of jobs is the same.
    tasks = [task(name, 4) for name in ("A", "B", "C")]
    starts = simulate(Machine.flat(1, NODES), tasks, "aucsched").starts()
    assert starts == {"A": 0.0, "B": 0.0, "C": 10.0}


def test_jobs_whose_bids_are_cut_off_are_counted_and_have_their_turn() -> None:
    tasks = [task(str(number), 1, nodes=1) for number in range(6)]
    result = simulate(
        Machine.flat(6, NODES), tasks, "aucsched", options={"bids": "4", "bids_per_job": "2", "period": "1"}
    )
    assert result.starts() == {"0": 0.0, "1": 0.0, "2": 1.0, "3": 1.0, "4": 2.0, "5": 2.0}
    report = result.session.dispatcher.report()
    assert (report["cut_off"], report["bids"]) == (4 + 2, 4 + 4 + 4)
    assert report["statuses"] == {"BOUND": 3}


def test_what_a_run_tells() -> None:
    tasks = [task(name, 4, nodes=2, per_node={"gpu": 2}) for name in ("A", "B")]
    dispatcher = simulate(Machine.flat(4, NODES), tasks, "aucsched").session.dispatcher
    (line,) = [json.loads(line) for line in dispatcher.notes()]
    # Both bid at the ends of the idle machine.
    assert (line["jobs"], line["started"], line["preference"], line["cut_off"], line["halved"]) == (2, 2, 2.0, 0, 0)
    assert line["cost"] == line["bound"] == -(4294901760 + 4294901759)


# ---------------------------------------------------------------------- halving


def sixteen_jobs() -> Problem:
    asked: list[Asked] = [(8, {"demand": CORES, "nodes": 2})] * 16
    return problem_of(nodes_of([(8, 2)] * 8), asked, [100 - number for number in range(16)])


def auction(
    problem: Problem, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Bids, AuctionResult], AuctionResult]
) -> Any:
    """Let a dispatcher decide while some of its rounds fail; return it, its counters, what was found and the rounds."""
    rounds: list[list[int]] = []

    def failing(problem: Problem, bids: Bids, *others: Any) -> AuctionResult:
        rounds.append(list(bids))
        return spoil(bids, settle(problem, bids, *others))

    monkeypatch.setattr(aucsched, "settle", failing)
    dispatcher = made(bids_per_job="4", work="0.5")
    dispatcher.begin(problem.ledger)
    counters: dict[str, int] = {}
    return dispatcher, counters, dispatcher.choose(problem, counters), rounds


def test_at_a_time_out_the_window_is_halved_and_solved_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(bids: Bids, found: AuctionResult) -> AuctionResult:
        late = len(bids) > 4
        empty = msgspec.structs.replace(found.found, solution={}, cost=0, first=0, status="UNKNOWN")
        return AuctionResult(empty, (0, 0), True) if late else found

    dispatcher, counters, found, rounds = auction(sixteen_jobs(), monkeypatch, spoil)
    assert rounds == [list(range(16)), list(range(8)), list(range(4))]
    assert counters["halved"] == 2
    # Those of the last window start, and the next auction is about a full one.
    assert [one is not None for one in found.solution] == [True] * 4 + [False] * 12
    assert found.status == "FEASIBLE"
    assert dispatcher.window.size == 100


def test_the_best_plan_of_all_rounds_is_carried_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The greedy plan of the whole window starts more than the best one of a few of its jobs."""

    def spoil(bids: Bids, found: AuctionResult) -> AuctionResult:
        return found._replace(timed_out=len(bids) > 2)

    _, counters, found, rounds = auction(sixteen_jobs(), monkeypatch, spoil)
    assert [len(jobs) for jobs in rounds] == [16, 8, 4, 2]
    assert counters["halved"] == 3
    assert sum(one is not None for one in found.solution) > 2


def test_a_solver_that_has_no_time_leaves_the_greedy_plan_and_counts_a_fallback_and_that_it_went_beyond() -> None:
    sizes = [4, 8, 16, 32, 64, 8, 4, 16, 32, 8]
    tasks = [
        task(str(number), size, **({"per_node": {"gpu": 2}} if number % 2 else {}))
        for number, size in enumerate(sizes * 2)
    ]
    machine = Machine.flat(16, NODES)
    result = simulate(machine, tasks, "aucsched", options={"work": "0.000001"})
    audit(machine, tasks, result)
    report = result.session.dispatcher.report()
    assert report["halved"] == 0
    assert report["beyond_limit"] >= report["fallbacks"] > 0
    assert report["means"]["improvement"] == 0.0


@pytest.mark.parametrize(("gain", "status"), [(0, "UNKNOWN"), (1, "FEASIBLE")])
def test_after_halving_only_a_plan_better_than_the_greedy_one_is_feasible(
    gain: int, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The greedy plan of the whole window costs -1000. A plan that costs the same is no news of the solver's.
    def spoil(bids: Bids, found: AuctionResult) -> AuctionResult:
        late = len(bids) > 8
        told = msgspec.structs.replace(found.found, cost=-1000 if late else -1000 - gain, first=-1000, status="OPTIMAL")
        return AuctionResult(told, (1000,) if late else (1000 + gain,), late)

    _, counters, found, rounds = auction(sixteen_jobs(), monkeypatch, spoil)
    assert [len(jobs) for jobs in rounds] == [16, 8]
    assert (found.status, found.cost, counters["halved"]) == (status, -1000 - gain, 1)


def test_a_solver_that_finds_what_the_greedy_plan_is_worth_has_timed_out() -> None:
    # No time for the solver: what is left is the greedy plan, at its cost, and nothing is proven.
    problem = sixteen_jobs()
    dispatcher = made(bids_per_job="4", work="0.000001")
    dispatcher.begin(problem.ledger)
    bids, _ = dispatcher._bids(problem)
    found = settle(problem, bids, "lexicographic", 3, Effort(dispatcher.limits, lambda: 0.0))
    assert found.found.cost == found.found.first
    assert found.found.status == "UNKNOWN"
    assert found.timed_out
