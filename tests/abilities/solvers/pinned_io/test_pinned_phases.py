"""Both phases of pinned-io: against the oracle's instances, by hand, against naive twins, and on random instances."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from batdispatch.abilities.solvers.pinned_io.job_ranges import dedicate, half
from batdispatch.abilities.solvers.pinned_io.line import Line, RangeFinder
from batdispatch.abilities.solvers.pinned_io.packing import pack
from batdispatch.abilities.solvers.pinned_io.pillars import dock, largest_load, schedule
from batdispatch.abilities.solvers.pinned_io.planning import plan
from batdispatch.abilities.solvers.pinned_io.ranges import Ranges, loads
from batdispatch.abilities.solvers.pinned_io.shares import LineLoad, best_shares
from batdispatch.abilities.solvers.solving import Limits
from batdispatch.core.capacity.granularity import space_of
from pinned import LIMITS, Pinned, conflicts, machine_of, naive_load, random_instance, ranges_at
from strategies import make_job

ORACLES = Path(__file__).parents[3] / "oracles" / "topology"
INSTANCES: list[dict[str, Any]] = json.loads((ORACLES / "pinned_io.json").read_text())
ABOVE_LOAD: list[dict[str, Any]] = json.loads((ORACLES / "makespan_above_load.json").read_text())
#: Shares of what is compared that sums of floats may be off by.
ROUNDING = 1e-6


@st.composite
def pinned_jobs(draw: st.DrawFn) -> Pinned:
    return random_instance(np.random.default_rng(draw(st.integers(0, 2**32))))


@st.composite
def dedicated_jobs(draw: st.DrawFn) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """(nodes, starts, stops, durations) of jobs on any ranges."""
    nodes = draw(st.integers(1, 12))
    ends = st.tuples(st.integers(0, nodes), st.integers(0, nodes)).filter(lambda pair: pair[0] < pair[1])
    jobs = draw(st.lists(st.tuples(ends, st.integers(1, 9)), min_size=1, max_size=25))
    starts, stops = np.array([list(ends) for ends, _ in jobs], dtype=np.int64).T
    return nodes, starts, stops, np.array([length for _, length in jobs], dtype=np.float64)


# The oracle of the topology family.


def oracle_ranges(instance: dict[str, Any]) -> list[Ranges]:
    machine = machine_of(instance["order"])
    asking = RangeFinder(Line(machine), space_of(machine))
    found = [asking.ranges(make_job("w0!1", job["q"], io_node=f"n{job['io']}")) for job in instance["jobs"]]
    assert all(ranges is not None for ranges in found)
    return [ranges for ranges in found if ranges is not None]


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda instance: instance["id"])
def test_instances_of_the_oracle(instance: dict[str, Any]) -> None:
    nodes = instance["order"].count("C")
    durations = np.array([job["p"] for job in instance["jobs"]], dtype=np.float64)
    ranges = oracle_ranges(instance)
    assert [those.starts.tolist() for those in ranges] == instance["candidates"]
    assert all(those.anchored for those in ranges)
    bound, integer = instance["lp_bound"], instance["least_largest_load"]
    for level in (False, True):
        made = plan(np.zeros(nodes), ranges, durations, LIMITS, level=level)
        assert made.lp_bound == pytest.approx(bound, rel=ROUNDING)
        assert made.shares.optimal
        assert integer <= made.largest_load <= min(2 * bound, 2 * integer) * (1 + ROUNDING)
        assert instance["least_makespan"] <= made.makespan <= 3 * made.largest_load * (1 + ROUNDING)
        assert made.bound <= instance["least_makespan"] * (1 + ROUNDING)
        assert not conflicts(made.times, made.starts, made.stops, durations)


def test_a_makespan_above_the_load_is_within_three_loads() -> None:
    for instance in ABOVE_LOAD:
        jobs = instance["jobs"]
        starts = np.array([job["start"] for job in jobs])
        stops = starts + np.array([job["q"] for job in jobs])
        durations = np.array([job["p"] for job in jobs], dtype=np.float64)
        assert largest_load(instance["nodes"], starts, stops, durations) == instance["largest_load"]
        timed = schedule(np.zeros(instance["nodes"]), starts, stops, durations)
        assert instance["least_makespan"] <= timed.makespan <= timed.stacked <= 3 * instance["largest_load"]
        # What ours finds here is the least makespan.
        assert timed.makespan == instance["least_makespan"]


# The guarantees, on random instances.


@pytest.mark.parametrize("hundred", range(3))
def test_the_guarantees_of_both_phases_on_hundreds_of_random_instances(hundred: int) -> None:
    rng = np.random.default_rng([7, hundred])
    for _ in range(100):
        nodes, ranges, durations = random_instance(rng)
        dedicated = dedicate(np.zeros(nodes), ranges, durations, LIMITS, level=bool(rng.integers(2)))
        assert dedicated.shares.optimal
        load = max(naive_load(nodes, dedicated.starts, dedicated.stops, durations))
        assert dedicated.shares.bound <= load * (1 + ROUNDING)
        assert load <= 2 * dedicated.shares.bound * (1 + ROUNDING)
        timed = schedule(np.zeros(nodes), dedicated.starts, dedicated.stops, durations)
        assert load <= timed.makespan * (1 + ROUNDING)
        assert timed.makespan <= timed.stacked * (1 + ROUNDING) <= 3 * load * (1 + 2 * ROUNDING)
        assert timed.makespan == (timed.starts + durations).max()
        assert not conflicts(timed.starts, dedicated.starts, dedicated.stops, durations)
        picked = zip(ranges, dedicated.starts.tolist(), dedicated.stops.tolist(), strict=True)
        assert all(
            (a, b) in set(zip(those.starts.tolist(), those.stops.tolist(), strict=True)) for those, a, b in picked
        )


@pytest.mark.parametrize("copies", [1, 4])
def test_rounding_is_tight_against_the_program_for_one_job_with_two_nodes_to_choose_from(copies: int) -> None:
    # One job of one node beside an I/O node: half of it goes to either side, and all of it is rounded to one.
    nodes = 2 * copies
    ranges = [ranges_at(2 * copy + 1, 1, nodes) for copy in range(copies)]
    found = dedicate(np.zeros(nodes), ranges, np.full(copies, 10.0), LIMITS)
    assert found.shares.bound == pytest.approx(5.0, rel=ROUNDING)
    assert found.load.max() == 10.0


# Phase 1.


def naive_bound(held: np.ndarray, ranges: list[Ranges], work: np.ndarray, spread: float) -> float:
    """Solve the program as it is printed: a variable for each range of each kind, a row for each node."""
    columns = [(kind, a, b) for kind, those in enumerate(ranges) for a, b in zip(*those, strict=True)]
    nodes, width = len(held), len(columns) + len(held) + 1
    loaded = np.zeros((nodes, width))
    shared = np.zeros((len(ranges) + 1, width))
    for index, (kind, a, b) in enumerate(columns):
        loaded[a:b, index] = work[kind]
        shared[kind, index] = 1.0
    loaded[:, len(columns) : -1] = np.eye(nodes)
    loaded[:, -1] = -1.0
    shared[-1, len(columns) : -1] = 1.0
    cost = np.zeros(width)
    cost[-1] = 1.0
    sides = np.append(np.ones(len(ranges)), spread)
    return float(linprog(cost, A_ub=loaded, b_ub=-held, A_eq=shared, b_eq=sides, method="highs-ds").fun)


@given(case=pinned_jobs(), seed=st.integers(0, 2**32))
def test_the_program_by_kinds_and_columns_is_that_of_all_ranges(case: Pinned, seed: int) -> None:
    rng = np.random.default_rng(seed)
    held = rng.integers(0, 20, size=case.nodes) * rng.integers(0, 2, size=case.nodes).astype(np.float64)
    spread = float(rng.integers(0, 3) * 17)
    loading = LineLoad(held, case.ranges, case.durations, spread)
    found = best_shares(loading, LIMITS)
    assert found.optimal
    expected = naive_bound(held, case.ranges, case.durations, spread)
    assert found.bound == pytest.approx(expected, rel=ROUNDING)
    assert found.cost == pytest.approx(expected, rel=ROUNDING)
    for amounts, work in zip(found.amounts, case.durations, strict=True):
        assert amounts.sum() == pytest.approx(work, rel=1e-5)


def large_jobs() -> tuple[list[Ranges], np.ndarray]:
    """60 jobs of 20 to 79 nodes on a line of 120, and their durations."""
    rng = np.random.default_rng(3)
    gaps = rng.integers(0, 121, 60).tolist()
    ranges = [ranges_at(gap, size, 120) for gap, size in zip(gaps, range(20, 80), strict=True)]
    return ranges, rng.integers(1, 100, size=60).astype(np.float64)


def test_columns_enter_where_the_first_ones_are_not_enough() -> None:
    ranges, work = large_jobs()
    found = best_shares(LineLoad(np.zeros(120), ranges, work, 0.0), LIMITS)
    assert found.rounds > 1
    assert found.optimal
    assert found.bound == pytest.approx(naive_bound(np.zeros(120), ranges, work, 0.0), rel=ROUNDING)


@pytest.mark.parametrize("work", [1, 60])
def test_a_program_that_is_stopped_leaves_a_bound_and_a_plan(work: int) -> None:
    ranges, durations = large_jobs()
    found = dedicate(np.zeros(120), ranges, durations, Limits(work=work, wall=60.0))
    assert not found.shares.optimal
    whole = dedicate(np.zeros(120), ranges, durations, LIMITS)
    assert 0 < found.shares.bound <= whole.shares.bound
    assert found.load.max() == max(naive_load(120, found.starts, found.stops, durations))


def test_jobs_go_to_the_first_share_by_which_half_of_them_is_done() -> None:
    # Shares of 6, 3 and 3 s; jobs of 4, 4 and 4 s are laid over them: 4 | 2 + 2 | 1 + 3.
    assert half(np.array([6.0, 3.0, 3.0]), np.array([4.0, 4.0, 4.0])).tolist() == [0, 0, 2]
    # A job of a single kind: shares of 0.3, 0.2 and 0.5 reach one half with the second one.
    assert half(np.array([3.0, 2.0, 5.0]), np.array([10.0])).tolist() == [1]
    assert half(np.array([2.9, 2.0, 5.1]), np.array([10.0])).tolist() == [2]


@given(case=pinned_jobs(), seed=st.integers(0, 2**32))
def test_levelling_and_what_is_held_never_break_the_guarantee(case: Pinned, seed: int) -> None:
    rng = np.random.default_rng(seed)
    held = rng.integers(0, 20, size=case.nodes).astype(np.float64)
    plain = dedicate(held, case.ranges, case.durations, LIMITS, level=False)
    level = dedicate(held, case.ranges, case.durations, LIMITS)
    assert level.load.max() <= plain.load.max() * (1 + ROUNDING)
    assert plain.load.max() <= 2 * plain.shares.bound * (1 + ROUNDING)
    for found in (plain, level):
        own = naive_load(case.nodes, found.starts, found.stops, case.durations)
        assert found.load.tolist() == pytest.approx((held + own).tolist())


def test_levelling_moves_a_job_to_nodes_that_are_free() -> None:
    # Both sides of the I/O node keep the largest load as it is, 50 s, but only on the right the job need not wait.
    found = dedicate(np.array([9.0, 0.0, 50.0]), [ranges_at(1, 1, 3)], np.array([3.0]), LIMITS)
    assert found.starts.tolist() == [1]


def test_jobs_that_may_go_anywhere_go_to_the_least_load_and_count_in_the_bound() -> None:
    anywhere = Ranges(np.arange(6), np.arange(6) + 1)
    pinned = ranges_at(3, 2, 6)
    found = dedicate(np.zeros(6), [anywhere, anywhere, pinned], np.array([4.0, 4.0, 9.0]), LIMITS)
    assert not anywhere.anchored
    assert found.load.max() == 9.0
    # 4 + 4 + 18 node-seconds on six nodes, of which the pinned job reaches four.
    assert found.shares.bound == pytest.approx(4.5, rel=ROUNDING)


# Phase 2.


@given(dedicated_jobs())
def test_the_invariants_of_pillars(case: tuple[int, np.ndarray, np.ndarray, np.ndarray]) -> None:
    nodes, starts, stops, durations = case
    load = np.array(naive_load(nodes, starts, stops, durations))
    tentative = dock(nodes, starts, stops, durations)
    # 1: each job on one pillar, which stands in its range.
    assert ((starts <= tentative.pillars) & (tentative.pillars < stops)).all()
    # 3: pillars are lower bounds of the load.
    assert (tentative.starts + durations <= load[tentative.pillars] + ROUNDING).all()
    # 2: jobs of one pillar, and of one colour, do not overlap.
    for one, other in conflicts(tentative.starts, starts, stops, durations):
        assert tentative.pillars[one] != tentative.pillars[other]
        assert tentative.colours[one] != tentative.colours[other]
    assert set(tentative.colours.tolist()) <= {0, 1, 2}


def test_gergov_pillars_by_hand() -> None:
    # A and B need one node each; C lies on both, and waits until one of the pillars is removed.
    starts, stops = np.array([0, 1, 0]), np.array([1, 2, 2])
    tentative = dock(2, starts, stops, np.array([5.0, 3.0, 4.0]))
    # At height 3, pillar 1 is the lower one; nothing is left that needs it alone, so it goes, and C docks on pillar 0.
    assert tentative.pillars.tolist() == [0, 1, 0]
    assert tentative.starts.tolist() == [0.0, 0.0, 5.0]
    timed = schedule(np.zeros(2), starts, stops, np.array([5.0, 3.0, 4.0]))
    assert timed.makespan == 9.0
    assert not conflicts(timed.starts, starts, stops, np.array([5.0, 3.0, 4.0]))


@given(case=dedicated_jobs(), seed=st.integers(0, 2**32))
def test_schedules_have_no_conflicts_and_keep_their_bounds(case: tuple[int, Any, Any, Any], seed: int) -> None:
    nodes, starts, stops, durations = case
    held = np.random.default_rng(seed).integers(0, 12, size=nodes).astype(np.float64)
    load = largest_load(nodes, starts, stops, durations)
    timed = schedule(held, starts, stops, durations)
    assert not conflicts(timed.starts, starts, stops, durations)
    soonest = np.array([held[a:b].max() for a, b in zip(starts, stops, strict=True)])
    assert (timed.starts >= soonest).all()
    assert load <= timed.makespan + ROUNDING
    assert timed.stacked <= 3 * load + ROUNDING
    assert timed.makespan <= held.max() + timed.stacked + ROUNDING


@given(case=dedicated_jobs(), seed=st.integers(0, 2**32))
def test_packing_starts_no_job_later_than_the_schedule_whose_order_it_takes(case: Any, seed: int) -> None:
    nodes, starts, stops, durations = case
    rng = np.random.default_rng(seed)
    # Any schedule: one job after the other, with pauses.
    given = np.empty(len(durations))
    now = 0.0
    for job in rng.permutation(len(durations)):
        now += int(rng.integers(0, 3))
        given[job] = now
        now += durations[job]
    times = pack(np.zeros(nodes), starts, stops, durations, np.argsort(given))
    assert (times <= given).all()
    assert not conflicts(times, starts, stops, durations)


def test_packing_uses_the_first_hole_that_is_long_enough() -> None:
    # On one node: A is held up until 4 by what runs, B goes behind it; C (2 s) fits nowhere before, D lies beside.
    held = np.array([4.0, 0.0])
    starts, stops, durations = np.array([0, 0, 1, 1]), np.array([1, 2, 2, 2]), np.array([3.0, 5.0, 2.0, 6.0])
    assert pack(held, starts, stops, durations, np.arange(4)).tolist() == [4.0, 7.0, 0.0, 12.0]


# Ranges.


@given(case=pinned_jobs(), seed=st.integers(0, 2**32))
def test_questions_about_ranges(case: Pinned, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 99, size=case.nodes).astype(np.float64)
    chosen = rng.integers(0, 4, size=case.nodes) > 0
    for those in case.ranges:
        ends = list(zip(those.starts.tolist(), those.stops.tolist(), strict=True))
        assert those.largest(values).tolist() == [values[a:b].max() for a, b in ends]
        assert those.all_of(chosen).tolist() == [bool(chosen[a:b].all()) for a, b in ends]
        assert those.within(chosen).starts.tolist() == [a for a, b in ends if chosen[a:b].all()]
    picked = [int(rng.integers(len(those.starts))) for those in case.ranges]
    starts = np.array([those.starts[index] for those, index in zip(case.ranges, picked, strict=True)])
    stops = np.array([those.stops[index] for those, index in zip(case.ranges, picked, strict=True)])
    found = loads(case.nodes, starts, stops, case.durations)
    assert found.tolist() == naive_load(case.nodes, starts, stops, case.durations)


def test_ranges_of_several_lengths() -> None:
    those = Ranges(np.array([0, 1, 3]), np.array([2, 5, 6]))
    assert those.largest(np.array([1.0, 5.0, 2.0, 7.0, 3.0, 9.0])).tolist() == [5.0, 7.0, 9.0]
    assert not those.anchored
    assert Ranges(np.array([0, 1, 2]), np.array([2, 5, 6])).anchored


def test_of_equal_makespans_the_one_whose_jobs_start_soonest_is_kept() -> None:
    """A job of 10 s on the first node, and of 5 and 1 s on the second: either may go first, and the short one does."""
    ends = np.array([0, 1, 1]), np.array([1, 2, 2])
    found = schedule(np.zeros(2), *ends, np.array([10.0, 5.0, 1.0]))
    assert (found.makespan, found.starts.tolist()) == (10.0, [0.0, 1.0, 0.0])
