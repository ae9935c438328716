"""What a page is told of networks, I/O nodes and shared nodes, held against the runs in naive ways."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.explorer import data as data_module
from batdispatch.abilities.explorer import families as module
from batdispatch.abilities.explorer.data import Table, page_data
from batdispatch.abilities.explorer.families import families
from batdispatch.abilities.explorer.parts import parts_of, scales
from batdispatch.abilities.topology import generate as topologies
from batdispatch.abilities.topology.networks import Grid
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line import events as e
from batdispatch.report.page import shared_runs
from batdispatch.results.outages import absences
from batdispatch.results.runs import Run, read_runs
from batdispatch.results.sites import Sites
from batdispatch.results.usage import Slots
from family_runs import EVENTS, JOBS, shared_run, torus_run
from page_streams import Read

OF_NETWORKS = ("plane", "column", "row", "router", "one", "other")


@pytest.fixture
def torus(tmp_path: Path) -> Callable[..., Run]:
    return lambda dispatcher="fcfs", events="": torus_run(tmp_path, dispatcher, events=events)


def told(runs: Sequence[Run]) -> tuple[dict[str, Any], Read]:
    sites = Sites()
    shared, _ = shared_runs(runs, sites)
    table = page_data(runs, {}, lambda table: families(table, sites, shared))
    assert table is not None
    found = table["families"]
    return found, Read(found)


def jobs(run: Run) -> list[str]:
    """Names of a run's jobs in the order of its page."""
    table = Table([run], {})
    names = np.array(run.logical.job_id, dtype=object)
    return names[np.argsort(table.places[0])].tolist()


def test_a_page_of_plain_hosts_is_told_nothing(write_jobs: Callable[..., Path]) -> None:
    runs = read_runs([write_jobs({"a": {}})])
    table = page_data(runs, {}, lambda table: families(table, Sites(), {}))
    assert table is not None
    assert "families" not in table


def test_the_network_of_a_torus_is_told_host_by_host(torus: Callable[..., Run]) -> None:
    run = torus()
    found, read = told([run])
    machine = Sites().machine(run)
    assert machine is not None
    network = machine.topology
    assert isinstance(network, Grid)
    facts = found["machines"][0]
    assert facts["network"]["planes"] == [""]
    assert (facts["network"]["wide"], facts["network"]["high"]) == (4, 3)
    assert (facts["hosts"], facts["resources"], facts["licences"]) == (len(machine.hosts), [], [])
    assert facts["storage"] == [[host.id, host.name] for host in machine.storage]
    assert read.summed("plane", signed=True) == [0 if router < 0 else 1 for router in network.router_of]
    columns = read.summed("column", signed=True)
    rows = read.summed("row", signed=True)
    x, y = network.coordinates(np.maximum(network.router_of, 0)).T
    assert [column // facts["network"]["across"] for column in columns] == x.tolist()
    assert [row // facts["network"]["up"] for row in rows] == y.tolist()
    assert read.summed("router", signed=True) == (network.router_of + 1).tolist()
    cables = set(zip(read.summed("one"), read.summed("other", signed=True), strict=True))
    assert cables == {(min(ends), max(ends)) for ends in network.link_ends.tolist()}


def test_io_nodes_absences_and_links_are_told_of_each_run(torus: Callable[..., Run]) -> None:
    run = torus(events=EVENTS)
    found, read = told([run])
    read.without(*OF_NETWORKS)
    assert found["asking"] == 1
    assert found["runs"] == [{"machine": 0, "asking": 0}]
    counts, nodes = read.next("asked"), iter(read.next("node"))
    asked = {int(name): [next(nodes) for _ in range(count)] for name, count in zip(jobs(run), counts, strict=True)}
    places = {"a": 0, "b": 2}
    assert asked == {job: [places[name] for name in names] for job, (*_, names) in enumerate(JOBS)}
    end = float(run.columns.finish_time[run.columns.ran].max())
    away = zip(read.summed("away"), read.next("length"), read.next("host"), strict=True)
    assert sorted(away) == [(5, 45, 19), (60, end - 60, 3), (60, end - 60, 4)]
    used, shared, busiest = (read.summed(name, signed=True) for name in ("used", "shared", "busiest"))
    ran = np.flatnonzero(run.columns.ran).tolist()
    hosts: dict[int, list[int]] = {row: [] for row in ran}
    for row, first, last in run.columns.hosts.by_rows(np.array(ran)):
        hosts[row] += range(first, last + 1)
    machine = Sites().machine(run)
    assert machine is not None
    network = machine.topology
    assert network is not None
    start, finish = run.columns.starting_time, run.columns.finish_time
    moments = sorted({float(time) for row in ran for time in (start[row], finish[row])})
    assert len(moments) == len(used)
    for place, moment in enumerate(moments):
        running = [network.links_within(hosts[row]) for row in ran if start[row] <= moment < finish[row]]
        users = sum((each.astype(int) for each in running), np.zeros(network.links, dtype=int))
        assert (used[place], shared[place], busiest[place]) == ((users > 0).sum(), (users > 1).sum(), users.max())
    assert not read.streams


def test_two_runs_of_one_machine_tell_it_once(torus: Callable[..., Run]) -> None:
    found, read = told([torus("fcfs"), torus("easy")])
    assert [run["machine"] for run in found["runs"]] == [0, 0]
    assert [run["asking"] for run in found["runs"]] == [0, 0]
    assert [name for name, _ in read.streams].count("plane") == 1


def test_links_that_would_take_too_long_to_follow_are_left_out(
    torus: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_LINKS", 3)
    found, read = told([torus()])
    assert found["runs"] == [{"machine": 0, "asking": 0}]
    assert "busiest" not in [name for name, _ in read.streams]


def test_a_run_whose_platform_has_changed_is_told_nothing(torus: Callable[..., Run], tmp_path: Path) -> None:
    run = torus()
    (tmp_path / "torus.xml").write_bytes(topologies.torus((3, 4), hosts_per_router=2, io=4))
    table = page_data([run], {}, lambda table: families(table, Sites(), {}))
    assert table is not None
    assert "families" not in table


@pytest.fixture
def multiresource(tmp_path: Path) -> Run:
    return shared_run(tmp_path, "easy")


def test_what_jobs_hold_of_each_resource_is_told_node_by_node(
    multiresource: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = multiresource
    found, read = told([run])
    machine = Sites().machine(run)
    assert machine is not None
    facts = found["machines"][0]
    assert facts["resources"] == list(machine.resources)
    if facts["network"] is not None:
        read.streams = [
            one for one in read.streams if one[0] not in ("plane", "column", "row", "router", "one", "other")
        ]
    for axis in range(len(machine.resources)):
        assert read.summed(f"capacity {machine.resources[axis]}", signed=True) == machine.capacity[:, axis].tolist()
    read.streams = [
        one for one in read.streams if one[0] not in ("away", "length", "host", "used", "shared", "busiest")
    ]
    counts = read.next("parts")
    first, more = read.summed("first", signed=True), read.next("more")
    amounts = [read.next(f"amount {name}") for name in machine.resources]
    # result.json says the utilisation: amounts times run times over the machine and the time of the run.
    order = np.lexsort((run.columns.starting_time, run.columns.submission_time))
    assert len(counts) == len(order)
    duration = np.repeat(segment_lengths(run), counts)
    begin, end = run.columns.submission_time.min(), run.columns.finish_time.max()
    for axis, name in enumerate(machine.resources):
        area = sum(
            (extra + 1) * amount * seconds
            for extra, amount, seconds in zip(more, amounts[axis], duration.tolist(), strict=True)
        )
        share = area / (machine.total()[axis] * (end - begin))
        assert share == pytest.approx(run.metrics[f"utilisation_{name}"], rel=1e-3)
    assert max(low + extra for low, extra in zip(first, more, strict=True)) < len(machine.hosts)
    monkeypatch.setattr(module, "MOST_PARTS", len(first) - 1)
    assert "parts" not in [name for name, _ in told([run])[1].streams]


def segment_lengths(run: Run) -> Any:
    """Seconds of each segment, in order of submission, each job having one."""
    order = np.argsort(run.columns.submission_time, kind="stable")
    return (run.columns.finish_time - run.columns.starting_time)[order]


@given(
    st.lists(st.dictionaries(st.integers(0, 9), st.tuples(st.integers(0, 2), st.integers(0, 2))), max_size=6), st.data()
)
def test_parts_hold_what_the_slots_hold(rows: list[dict[int, tuple[int, int]]], data: st.DataObject) -> None:
    order = np.array(data.draw(st.permutations(range(len(rows)))), dtype=np.int64)
    chosen = order[: data.draw(st.integers(0, len(rows)))]
    slots = [(row, host, amount) for row, held in enumerate(rows) for host, amount in held.items()]
    parts = parts_of(
        Slots(
            np.array([host for _, host, _ in slots], dtype=np.int64),
            np.array([row for row, _, _ in slots], dtype=np.int64),
            np.ones(len(slots), dtype=np.int64),
            np.array([amount for _, _, amount in slots], dtype=np.int64).reshape(-1, 2),
        ),
        chosen,
    )
    place = 0
    for row, count in zip(chosen.tolist(), parts.count.tolist(), strict=True):
        found: dict[int, tuple[int, ...]] = {}
        for part in range(place, place + count):
            for host in range(parts.first[part], parts.first[part] + parts.more[part] + 1):
                assert host not in found
                found[host] = tuple(parts.amount[part].tolist())
        place += count
        assert found == rows[row]
        # As few parts as there can be.
        joints = [host for host in rows[row] if rows[row].get(host - 1) == rows[row][host]]
        assert count == len(rows[row]) - len(joints)
    assert place == len(parts.first)


def test_amounts_that_numbers_of_a_page_cannot_count_are_divided() -> None:
    assert scales([2**53 - 1, 2**53, 2**62, 0]).tolist() == [1, 2, 1024, 1]


def test_hosts_share_rows_of_a_chart_unless_a_map_shows_each(
    torus: Callable[..., Run], write_jobs: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_module, "MAX_ROWS", 5)
    plain = read_runs([write_jobs({"a": {"hosts": "0-19"}})])[0]
    assert [Table([run], {}).scale for run in (plain, torus())] == [4, 1]


def test_a_host_is_away_from_when_it_leaves_until_it_returns() -> None:
    def event(kind: Any, time: float, hosts: str) -> Any:
        return kind(time=time, hosts=Allocation(hostset.from_text(hosts)))

    gone, back = e.MachinesUnavailable, e.MachinesAvailable
    # Host 1 leaves twice before it returns; host 2 returns without having left, host 4 leaves after all is over.
    story = [
        event(gone, 1.0, "0-1"),
        event(gone, 2.0, "1"),
        event(back, 3.0, "1-2"),
        event(gone, 4.0, "1"),
        event(gone, 9.0, "4"),
    ]
    assert absences(story, 8.0) == [(1.0, 3.0, 1), (1.0, 8.0, 0), (4.0, 8.0, 1)]
