"""What jobs make of the network: against hand-worked schedules and naive twins that look at every moment."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.abilities.topology.networks import Dragonfly, FatTree, Flat, Grid, Topology
from batdispatch.abilities.topology.networks.measures import compactness, fewest_routers, locality, proximity
from batdispatch.abilities.topology.results import allocations, free
from batdispatch.abilities.topology.results import links as followed_links
from batdispatch.abilities.topology.results.load import LinkLoad, link_load
from batdispatch.abilities.topology.results.use import NetworkUse, network_use
from batdispatch.core.hosts import hostsets
from batdispatch.core.jobs.fields import read_request
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.job_table import JobTable
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.results.metrics.compute import compute
from batdispatch.results.metrics.sample import sample_of
from columns import columns_of


def machine(topology: Topology, storage: Sequence[int] = ()) -> Machine:
    count = len(topology.router_of)
    return Machine([Host(id=i, name=f"n{i}", storage=i in storage) for i in range(count)], topology)


#: Two hosts a router, and the last four hosts are storage: on the ring of the torus, and one outside of the mesh.
MACHINES: dict[str, Machine] = {
    "torus": machine(Grid(np.arange(24) // 2, (4, 3)), range(20, 24)),
    "mesh": machine(Grid([0, 0, 1, 2, 3, 3, 4, 5, 6, -1], (7,), wrap=False), [8, 9]),
    "fat tree": machine(FatTree(range(12), (3, 4), (1, 2), (1, 1))),
    "dragonfly": machine(Dragonfly(np.arange(24) // 2, 2, 2, 3)),
}


def columns(jobs: Mapping[str, Mapping[str, Any]]) -> JobTable:
    """Columns of jobs that ran from 0 to 10, unless said otherwise."""
    rows = []
    for job, fields in jobs.items():
        given = {"start": 0.0, "finish": 10.0, "hosts": "", "state": "COMPLETED_SUCCESSFULLY"} | fields
        ran = given["state"] != "REJECTED"
        rows.append(
            {
                "job_id": job,
                "submission_time": 0.0,
                "requested_number_of_resources": 1,
                "final_state": given["state"],
                "starting_time": given["start"] if ran else np.nan,
                "finish_time": given["finish"] if ran else np.nan,
                "allocated_resources": given["hosts"],
            }
        )
    return columns_of(pd.DataFrame(rows))


def values(found: NetworkUse, read: JobTable, **given: Any) -> dict[str, Any]:
    return compute(sample_of(read, measured={"network": found}, **given))


# By hand.


def test_two_jobs_on_a_line_share_a_link_while_both_run() -> None:
    """Job a uses the cable between routers 1 and 2 from 0 to 10; b, on routers 0 to 2, from 6 to 26; c uses no link."""
    line = machine(Grid(range(6), [6], wrap=False), [5])
    read = columns(
        {
            "a": {"hosts": "1-2", "start": 0.0, "finish": 10.0},
            "b": {"hosts": "0 3", "start": 6.0, "finish": 26.0},
            "c": {"hosts": "4", "start": 0.0, "finish": 8.0},
        },
    )
    use = network_use(read, line)
    assert use is not None
    assert use.links.tolist() == [2, 6, 0]
    assert use.compactness.tolist() == [1.0, 3.0, 0.0]
    assert use.shared.tolist() == pytest.approx([4 / 10, 4 / 20 * 2 / 6, 0.0])
    assert use.busy.tolist() == pytest.approx([4 / 10, 4 / 20, 0.0])
    found = values(use, read)
    assert found["mean_compactness"] == pytest.approx(4 / 3)
    # Node-seconds: 20, 40 and 8.
    assert found["weighted_compactness"] == pytest.approx((20 * 1 + 40 * 3) / 68)
    assert found["weighted_shared_time"] == pytest.approx((20 * 0.4 + 40 * 0.2) / 68)
    assert found["mean_proximity"] is None
    assert found["mean_locality_factor"] == 1.0
    # Free hosts of 5: 2 from 0 to 6 (0 and 3), none from 6 to 8, 1 from 8 to 10, 3 of which 2 beside each other to 26.
    assert found["free_fragmentation"] == pytest.approx(1 - (6 * 1 + 2 * 1 + 16 * 2) / (6 * 2 + 2 * 1 + 16 * 3))
    assert found["line_fragmentation"] == pytest.approx(found["free_fragmentation"])


def test_rho_counts_the_farthest_io_node_that_a_job_asks_for() -> None:
    line = machine(Grid([1, 2, 3, 4, 0, -1], [5], wrap=False), [4, 5])
    read = columns({"a": {"hosts": "0-1"}, "b": {"hosts": "2"}, "c": {"hosts": "3"}})
    jobs = [
        Job(id=name, request=read_request(1, {"io_node": nodes} if nodes else {}))
        for name, nodes in (("a", ["n4", "n0"]), ("b", []), ("c", ["n4", "n5"]))
    ]
    use = network_use(read, line, jobs)
    assert use is not None
    assert use.proximity[0] == (1 + 2) / 2
    # No I/O node asked for, and one that is not in the network.
    assert np.isnan(use.proximity[1:]).all()
    assert values(use, read)["mean_proximity"] == 1.5


def test_a_row_of_neighbours_is_one_piece_on_a_torus_and_two_along_the_line() -> None:
    ring = machine(Grid(range(5), [5]))
    read = columns({"a": {"hosts": "1"}, "b": {"hosts": "3"}})
    use = network_use(read, ring)
    assert use is not None
    found = values(use, read)
    assert found["free_fragmentation"] == pytest.approx(1 / 3)
    assert found["line_fragmentation"] == pytest.approx(2 / 3)


def test_a_machine_without_a_network_or_with_one_router_has_no_such_metrics() -> None:
    read = columns({"a": {"hosts": "1"}})
    assert network_use(read, Machine([Host(id=0, name="a"), Host(id=1, name="b")])) is None
    assert network_use(read, machine(Flat([True, True]))) is None
    names = ("mean_compactness", "weighted_shared_links", "free_fragmentation", "line_fragmentation")
    assert [compute(sample_of(read))[name] for name in names] == [None] * 4


def test_rejected_jobs_and_jobs_of_no_length_share_nothing() -> None:
    read = columns(
        {
            "a": {"hosts": "0 2", "finish": 10.0},
            "b": {"hosts": "1 3", "start": 5.0, "finish": 5.0},
            "c": {"state": "REJECTED"},
        },
    )
    use = network_use(read, machine(Grid(range(4), [4], wrap=False)))
    assert use is not None
    assert use.shared[0] == use.busy[0] == 0.0
    assert np.isnan(use.shared[1:]).all()
    assert np.isnan(use.compactness).tolist() == [False, False, True]


def test_a_run_without_jobs_has_no_values() -> None:
    read = columns({"a": {"state": "REJECTED"}})
    use = network_use(read, MACHINES["torus"])
    assert use is not None
    found = values(use, read)
    assert all(found[name] is None for name in found if name.startswith(("weighted_", "mean_comp", "free_", "line_")))


# Naive twins.


@st.composite
def schedules(draw: st.DrawFn) -> tuple[Machine, list[tuple[list[int], float, float]]]:
    """A machine, and jobs with their hosts, starts and ends, which may lie on each other's hosts."""
    where = MACHINES[draw(st.sampled_from(sorted(MACHINES)))]
    jobs = []
    for _ in range(draw(st.integers(1, 6))):
        hosts = draw(st.lists(st.integers(0, where.size - 1), min_size=1, max_size=6, unique=True))
        start = draw(st.integers(0, 8))
        jobs.append((sorted(hosts), float(start), float(start + draw(st.integers(0, 6)))))
    return where, jobs


def as_columns(jobs: Sequence[tuple[list[int], float, float]]) -> JobTable:
    lines = {
        f"j{i}": {"hosts": " ".join(map(str, hosts)), "start": start, "finish": finish, "units": len(hosts)}
        for i, (hosts, start, finish) in enumerate(jobs)
    }
    return columns(lines)


def links_of(topology: Topology, hosts: Sequence[int]) -> set[int]:
    return {link for a, b in itertools.permutations(hosts, 2) for link in topology.route(a, b)}


@settings(max_examples=100)
@given(schedules())
def test_shared_links_agree_with_a_look_at_every_second(
    drawn: tuple[Machine, list[tuple[list[int], float, float]]],
) -> None:
    where, jobs = drawn
    topology = where.topology
    assert topology is not None
    use = network_use(as_columns(jobs), where)
    assert use is not None
    links = [links_of(topology, hosts) for hosts, _, _ in jobs]
    for number, (hosts, start, finish) in enumerate(jobs):
        assert use.compactness[number] == pytest.approx(compactness(topology, hosts))
        assert use.locality[number] == locality(topology, hosts, fewest_routers(topology, range(where.size)))
        if start == finish:
            assert np.isnan(use.shared[number])
            continue
        shares = []
        for second in range(int(start), int(finish)):
            others = [
                links[other] for other, (_, begin, end) in enumerate(jobs) if other != number and begin <= second < end
            ]
            shares.append(len(links[number] & set().union(*others)))
        assert use.links[number] == len(links[number])
        assert use.shared[number] == pytest.approx(np.mean(shares) / max(len(links[number]), 1))
        assert use.busy[number] == pytest.approx(np.mean(np.array(shares) > 0))


@settings(max_examples=100)
@given(schedules(), st.sampled_from([3, 1000]))
def test_free_nodes_agree_with_a_look_at_every_moment(
    drawn: tuple[Machine, list[tuple[list[int], float, float]]],
    most: int,
) -> None:
    where, jobs = drawn
    topology = where.topology
    assert topology is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(free, "MOMENTS", most)
        use = network_use(as_columns(jobs), where)
    assert use is not None
    found = use.free
    end = max(finish for _, _, finish in jobs)
    assert found.weight.sum() == pytest.approx(end)
    if most == 3 and end:
        assert len(found.moments) <= 3
    for index, moment in enumerate(found.moments.tolist()):
        busy = {host for hosts, start, finish in jobs if start <= moment < finish for host in hosts}
        idle = [host for host in range(where.size) if host not in busy]
        assert found.free[index] == len(idle)
        assert found.piece[index] == max(map(len, naive_pieces(topology, idle)), default=0)
        runs = [[host - place for place, host in enumerate(idle)].count(key) for key in range(where.size)]
        assert found.run[index] == max(runs)


def load_of(where: Machine, read: JobTable, most: int | None = None) -> LinkLoad | None:
    topology = where.topology
    assert topology is not None
    found = allocations.distinct(read.hosts, where, topology)
    routers = allocations.measure(found, where, topology).routers
    return link_load(found, topology, routers, read.starting_time, read.finish_time, most)


@given(schedules())
def test_loads_of_links_agree_with_a_look_at_every_second(
    drawn: tuple[Machine, list[tuple[list[int], float, float]]],
) -> None:
    where, jobs = drawn
    topology = where.topology
    assert topology is not None
    load = load_of(where, as_columns(jobs))
    assert load is not None
    assert (np.diff(load.moments) > 0).all()
    used = [links_of(topology, hosts) for hosts, _, _ in jobs]
    for second in range(15):
        running = [used[job] for job, (_, start, end) in enumerate(jobs) if start <= second < end]
        users = [sum(link in each for each in running) for link in range(topology.links)]
        place = int(np.searchsorted(load.moments, second, side="right")) - 1
        found = (0, 0, 0) if place < 0 else (load.used[place], load.shared[place], load.busiest[place])
        assert found == (sum(n > 0 for n in users), sum(n > 1 for n in users), max(users, default=0))


def test_many_jobs_on_one_link_are_all_counted() -> None:
    line = machine(Grid(range(2), [2], wrap=False))
    read = columns({f"j{number}": {"hosts": "0-1", "start": float(number), "finish": 100.0} for number in range(40)})
    load = load_of(line, read)
    assert load is not None
    assert load.busiest.tolist() == [*range(1, 41), 0]
    # Each job uses both directions: 80 links in all.
    assert load_of(line, read, 80) is not None
    assert load_of(line, read, 79) is None


def naive_pieces(topology: Topology, hosts: Sequence[int]) -> list[set[int]]:
    """Merge hosts that are on one router, or on neighbours, or below the same switches, until nothing changes."""
    empty = set(range(topology.routers)) - set(topology.router_of.tolist())
    pieces: list[tuple[set[int], set[int]]] = [({host}, {int(topology.router_of[host])}) for host in hosts]
    pieces += [(set(), {router}) for router in empty]
    cables = {tuple(ends) for ends in topology.link_ends.tolist()}
    merged = True
    while merged:
        merged = False
        for one, other in itertools.combinations(range(len(pieces)), 2):
            routers, theirs = pieces[one][1], pieces[other][1]
            if routers & theirs or any((a, b) in cables for a in routers for b in theirs):
                pieces[one] = (pieces[one][0] | pieces[other][0], routers | theirs)
                del pieces[other]
                merged = True
                break
    return [members for members, _ in pieces if members]


@given(st.data())
def test_proximities_are_those_of_each_row_alone(data: st.DataObject) -> None:
    where = MACHINES[data.draw(st.sampled_from(["torus", "mesh"]))]
    topology = where.topology
    assert topology is not None
    storage = [host.id for host in where.storage]
    rows = data.draw(
        st.lists(
            st.tuples(
                st.sampled_from([[0], [0, 1], [2, 5, 6], [3, 4]]), st.lists(st.sampled_from(storage), max_size=2)
            ),
            max_size=8,
        )
    )
    texts = [" ".join(map(str, hosts)) for hosts, _ in rows]
    found = allocations.distinct(hostsets.parse_many(texts), where, topology)
    assert found.sets.rows == len(set(texts))
    rho = allocations.proximities(found, topology, [asked for _, asked in rows])
    for (hosts, asked), value in zip(rows, rho.tolist(), strict=True):
        if asked and all(topology.router_of[host] >= 0 for host in asked):
            assert value == pytest.approx(proximity(topology, hosts, asked))
        else:
            assert np.isnan(value)


def test_an_allocation_beyond_the_network_is_not_measured() -> None:
    """A jobs file may name hosts that the platform lacks, and storage hosts: the audit says so."""
    read = columns({"a": {"hosts": "0 9"}, "b": {"hosts": "30-31"}, "c": {"hosts": "7"}, "d": {"hosts": "8"}})
    use = network_use(read, MACHINES["mesh"])
    assert use is not None
    assert np.isnan(use.compactness).tolist() == [True, True, False, True]


@pytest.mark.parametrize("name", sorted(MACHINES))
def test_blocks_change_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    where = MACHINES[name]
    jobs = []
    for start in range(40):
        hosts = sorted(rng.choice(where.size, rng.integers(1, 6), replace=False).tolist())
        jobs.append((hosts, float(start), float(start + rng.integers(1, 9))))
    read = as_columns(jobs)
    whole = network_use(read, where)
    monkeypatch.setattr(allocations, "BLOCK", 7)
    parts = network_use(read, where)
    assert whole is not None
    assert parts is not None
    for field in ("compactness", "locality", "shared", "busy", "links"):
        assert getattr(whole, field).tolist() == getattr(parts, field).tolist()


def test_where_routes_would_take_too_long_shared_links_are_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed_links, "MOST_ROUTES", 3)
    read = columns({"a": {"hosts": "0 3 6"}})
    for name, known in (("torus", True), ("fat tree", False), ("dragonfly", False)):
        use = network_use(read, MACHINES[name])
        assert use is not None
        found = values(use, read)
        assert (found["mean_shared_links"] is not None) == (found["weighted_shared_time"] is not None) == known
        assert found["mean_compactness"] is not None


@pytest.mark.parametrize(("most", "known"), [(8, True), (7, False)])
def test_where_all_jobs_use_too_many_links_shared_ones_are_not_known(
    monkeypatch: pytest.MonkeyPatch, most: int, known: bool
) -> None:
    monkeypatch.setattr(followed_links, "MOST_LINKS", most)
    line = machine(Grid(range(4), [4], wrap=False))
    use = network_use(columns({"a": {"hosts": "0 1"}, "b": {"hosts": "0 3"}}), line)
    assert use is not None
    assert np.isnan(use.shared).all() != known
