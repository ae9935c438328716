"""IPSCHED against a naive twin that tries every spread of every job, on small windows of all kinds of requests."""

from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from windows import carry_out, problem_of, scaled, solve

import naive
from batdispatch.core.errors import InputError
from batdispatch.core.machine.machine import Host, Machine

Asked = tuple[int, int, dict[str, Any]]

NODES = ["core=4 gpu=2", "core=3 gpu=1", "core=2", "core=4 gpu=2"]
LICENCES = 2


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    """Up to four nodes of few kinds, or whole hosts."""
    count = draw(st.integers(2, 4))
    licences = {"licences": f"matlab={LICENCES}"}
    if draw(st.integers(0, 5)) == 0:
        return Machine([Host(id=i, name=f"n{i}", properties=licences) for i in range(count)])
    texts = draw(st.lists(st.sampled_from(NODES), min_size=count, max_size=count))
    return Machine(
        [Host(id=i, name=f"n{i}", properties={"capacity": text, **licences}) for i, text in enumerate(texts)]
    )


@st.composite
def jobs(draw: st.DrawFn, machine: Machine) -> Asked:
    fields: dict[str, Any] = {}
    if not machine.exclusive and draw(st.integers(0, 7)):
        demands: list[dict[str, int]] = [{"core": 1}, {"core": 1}, {"core": 2}]
        if "gpu" in machine.resources:
            demands.append({"core": 1, "gpu": 1})
            gpus = draw(st.integers(0, 2))
            if gpus:
                fields["per_node"] = {"gpu": gpus}
        fields["demand"] = draw(st.sampled_from(demands))
        if draw(st.integers(0, 6)) == 0:
            fields["units_per_node"] = draw(st.integers(1, 2))
        if draw(st.integers(0, 8)) == 0:
            fields["whole_nodes"] = True
    if draw(st.integers(0, 2)) == 0:
        fields["nodes"] = draw(st.sampled_from([1, 2, 3, [1, 2], [2, 3]]))
    if draw(st.integers(0, 5)) == 0:
        fields["exclude_nodes"] = ["n0"]
    if draw(st.integers(0, 5)) == 0:
        fields["node_list"] = ["n0", "n1"]
    if draw(st.integers(0, 3)) == 0:
        fields["licences"] = {"matlab": draw(st.integers(1, LICENCES))}
    return draw(st.sampled_from([1, 2, 3, 50, 4294901760, 4294901759])), draw(st.integers(1, 5)), fields


@st.composite
def windows(draw: st.DrawFn) -> tuple[Machine, list[Asked]]:
    machine = draw(machines())
    asked = draw(st.lists(jobs(machine), min_size=1, max_size=4))
    return machine, sorted(asked, key=lambda one: -one[0])


def spreads(machine: Machine, units: int, fields: dict[str, Any]) -> list[dict[int, int]]:
    """Return every spread of a job's units over the idle machine."""
    idle = naive.offered(machine)
    most = [naive.most_units(machine, fields, idle[host], host, units) for host in range(len(machine.hosts))]
    counts = (dict(enumerate(counts)) for counts in product(*(range(limit + 1) for limit in most)))
    return [
        {host: count for host, count in spread.items() if count}
        for spread in counts
        if naive.allowed(machine, fields, spread, units)
    ]


def best(machine: Machine, asked: list[Asked]) -> int:
    """Return the largest sum p_j (2 N s_j - T_j), trying everything."""
    twice = 2 * len(machine.hosts)
    choices = [
        sorted(spreads(machine, units, fields), key=len) if licensed(fields) <= LICENCES else []
        for _, units, fields in asked
    ]

    def beyond(index: int, free: naive.Amounts, licences: int) -> int:
        if index == len(asked):
            return 0
        priority, _, fields = asked[index]
        value = beyond(index + 1, free, licences)
        if licensed(fields) > licences:
            return value
        for spread in choices[index]:
            used = naive.use_of(machine, fields, spread)
            if any(amount > free[host].get(name, 0) for host in spread for name, amount in used[host].items()):
                continue
            left = [dict(there) for there in free]
            for host in spread:
                for name, amount in used[host].items():
                    left[host][name] = left[host].get(name, 0) - amount
            started = priority * (twice - len(spread))
            value = max(value, started + beyond(index + 1, left, licences - licensed(fields)))
        return value

    return beyond(0, naive.offered(machine), LICENCES)


def licensed(fields: dict[str, Any]) -> int:
    amount: int = fields.get("licences", {}).get("matlab", 0)
    return amount


def possible(machine: Machine, asked: Asked) -> bool:
    """Return whether a request contradicts neither itself nor the machine."""
    try:
        problem_of(machine, [asked])
    except InputError:
        return False
    return True


def check(window: tuple[Machine, list[Asked]]) -> None:
    """Both formulations find the optimum and prove it; the ledger accepts the plan; the greedy plan is a floor."""
    machine, asked = window[0], [one for one in window[1] if possible(window[0], one)]
    expected = best(machine, asked)
    for formulation in ("classes", "nodes"):
        problem = problem_of(machine, asked)
        found, _, dispatcher = solve(problem, formulation=formulation)
        assert scaled(problem, found.solution) == expected
        assert found.status in ("OPTIMAL", "BOUND")
        assert -found.cost >= -found.first
        assert -found.bound >= -found.cost * (1 - 1e-12)
        assert dispatcher.facts()["class_bound"] >= -found.cost * (1 - 1e-12)
        carry_out(problem, found.solution)


@settings(suppress_health_check=list(HealthCheck))
@given(window=windows())
def test_classes_nodes_and_brute_force_agree(window: tuple[Machine, list[Asked]]) -> None:
    check(window)


@pytest.mark.slow
@settings(max_examples=500, suppress_health_check=list(HealthCheck))
@given(window=windows())
def test_classes_nodes_and_brute_force_agree_on_many_windows(window: tuple[Machine, list[Asked]]) -> None:
    check(window)
