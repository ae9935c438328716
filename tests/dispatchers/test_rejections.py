"""Whatever a dispatcher rejects has no place on the idle machine: all spreads of units over hosts are tried by hand."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.core.jobs.job import JobState
from batdispatch.core.line import registry
from batdispatch.core.line.dispatcher import GROUP
from batdispatch.core.machine.machine import Host, Machine
from naive import allowed, fits, most_units, offered
from simulating import Result, Task, audit, simulate


def machine_of(order: str, names: list[int] | None = None) -> Machine:
    """Hosts of these names: C a whole host, a digit a node of so many cores, I an I/O node."""
    return Machine(
        [
            Host(
                id=i,
                name=f"n{i if names is None else names[i]}",
                storage=mark == "I",
                properties={"capacity": f"core={mark}"} if mark.isdigit() else {},
            )
            for i, mark in enumerate(order)
        ]
    )


@st.composite
def askings(draw: st.DrawFn, disks: str = "") -> tuple[Machine, int, dict[str, Any]]:
    """A machine of up to five hosts, and a job's units and fields."""
    marks = draw(st.sampled_from(["C", "124"]))
    order = draw(st.text(marks + disks, min_size=1, max_size=5).filter(lambda text: set(text) & set(marks)))
    machine = machine_of(order, draw(st.permutations(range(len(order)))))
    names = [host.name for host in machine.hosts]
    optional: dict[str, st.SearchStrategy[Any]] = {
        "contiguous": st.just(True),
        "node_list": st.lists(st.sampled_from(names), min_size=1, unique=True),
        "exclude_nodes": st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True),
        "whole_nodes": st.just(True),
        "units_per_node": st.integers(1, 2),
        "nodes": st.integers(1, 3).flatmap(lambda least: st.integers(least, 4).map(lambda most: [least, most])),
    }
    fields = {name: draw(optional[name]) for name in draw(st.sets(st.sampled_from(sorted(optional)), max_size=2))}
    if not machine.exclusive and draw(st.integers(0, 3)):
        fields["demand"] = {"core": draw(st.integers(1, 2))}
    if machine.storage:
        pins = st.sampled_from([disk.name for disk in machine.storage])
        fields["io_node"] = draw(st.lists(pins, min_size=1, max_size=2, unique=True))
    return machine, draw(st.integers(1, 6)), fields


def run(machine: Machine, units: int, fields: dict[str, Any], name: str) -> Result:
    demand = fields.get("demand")
    tasks = [Task("A", 0.0, units, 5.0, 9.0, demand, extra={key: fields[key] for key in fields if key != "demand"})]
    result = simulate(machine, tasks, name)
    audit(machine, tasks, result)
    return result


def is_rejected(result: Result) -> bool:
    return result.rows["A"].state is JobState.REJECTED


@pytest.mark.parametrize("name", registry.names(GROUP))
@settings(max_examples=15)
@given(asking=askings())
def test_only_a_job_that_fits_nowhere_on_the_idle_machine_is_rejected(
    name: str, asking: tuple[Machine, int, dict[str, Any]]
) -> None:
    machine, units, fields = asking
    there = fits(machine, fields, units, offered(machine))
    assert is_rejected(run(machine, units, fields, name)) == (not there)


# ---------------------------------------------------------------------- beside I/O nodes


def places_beside(machine: Machine, units: int, fields: dict[str, Any]) -> Iterator[tuple[int, ...]]:
    """The hosts of all spreads of a job over neighbours on the line, which is by name, beside all of its I/O nodes."""
    full = sorted(machine.hosts, key=lambda host: int(host.name[1:]))
    compute = [host.id for host in full if not host.storage]
    around = {host.name: {host.id for host in full[max(i - 1, 0) : i + 2]} for i, host in enumerate(full)}
    free = offered(machine)
    most = [most_units(machine, fields, free[host], host, units) for host in range(len(free))]
    for counts in product(*(range(limit + 1) for limit in most)):
        spread = {host: count for host, count in enumerate(counts) if count}
        places = sorted(compute.index(host) for host in spread) if allowed(machine, fields, spread, units) else []
        if (
            places
            and places[-1] - places[0] + 1 == len(places)
            and all(around[name] & set(spread) for name in fields["io_node"])
        ):
            yield tuple(spread)


@settings(max_examples=100)
@given(asking=askings("II").filter(lambda asking: bool(asking[0].storage)))
def test_pinned_io_rejects_only_a_job_that_has_no_neighbouring_nodes_beside_its_io_nodes(
    asking: tuple[Machine, int, dict[str, Any]],
) -> None:
    machine, units, fields = asking
    there = set(places_beside(machine, units, fields))
    result = run(machine, units, fields, "pinned-io")
    assert is_rejected(result) == (not there)
    if there:
        assert tuple(sorted(result.rows["A"].units)) in there


def test_a_job_beside_two_io_nodes_takes_fewer_units_on_each_node_than_it_could() -> None:
    machine = machine_of("I444I")
    result = run(machine, 4, {"demand": {"core": 1}, "io_node": ["n0", "n4"]}, "pinned-io")
    assert result.rows["A"].units == {1: 2, 2: 1, 3: 1}
