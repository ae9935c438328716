"""What jobs ask of the platform: matrices as Batsim makes them, I/O jobs added host by host."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.errors import ImpossibleDecision
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.profiles import leaves
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.engines.activities import Activity, Placement, io_problem, merge_activities

DISKS = [Host(id=4, name="nfs", storage=True), Host(id=5, name="pfs", storage=True)]
MACHINE = Machine([*(Host(id=number, name=f"c{number}") for number in range(4)), *DISKS])
ONE_DISK = Machine([Host(id=0, name="c0"), Host(id=1, name="c1"), Host(id=2, name="disk", storage=True)])


def place(text: str = "0-1", machine: Machine = MACHINE, **options: object) -> Placement:
    return Placement("w0!j", machine, Allocation.parse(text), **options)  # type: ignore[arg-type]


def test_homogeneous_traffic_goes_to_everyone_but_oneself() -> None:
    found = place("0 2-3").activity("p", {"type": "parallel_homogeneous", "cpu": 3, "com": 5}, None)
    assert found.hosts == (0, 2, 3)
    assert found.flops.tolist() == [3, 3, 3]
    assert found.traffic is not None
    assert found.traffic.tolist() == [[0, 5, 5], [5, 0, 5], [5, 5, 0]]


def test_totals_are_divided_among_executors() -> None:
    placement = place("1-2", mapping={0: 0, 1: 0, 2: 1, 3: 1})
    found = placement.activity("p", {"type": "parallel_homogeneous_total", "cpu": 8, "com": 4}, None)
    assert found.hosts == (1, 1, 2, 2)
    assert found.flops.tolist() == [2, 2, 2, 2]
    assert found.traffic is not None
    assert found.traffic.sum() == 12


def test_parallel_matrices_are_read_row_by_row_from_sender_to_receiver() -> None:
    found = place("0-1").activity("p", {"type": "parallel", "cpu": [1, 2], "com": [0, 7, 8, 9]}, None)
    assert found.flops.tolist() == [1, 2]
    assert found.traffic is not None
    assert found.traffic[0, 1] == 7
    assert found.traffic[1, 0] == 8


def test_no_traffic_is_none_at_all() -> None:
    for profile in (
        {"type": "parallel_homogeneous", "cpu": 1, "com": 0},
        {"type": "parallel", "cpu": [1, 1], "com": [0, 0, 0, 0]},
        {"type": "parallel_homogeneous_pfs", "bytes_to_read": 0, "bytes_to_write": 0},
    ):
        assert place().activity("p", profile, None).traffic is None


def test_reads_come_from_the_storage_and_writes_go_there() -> None:
    profile = {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1, "bytes_to_write": 2, "storage": "pfs"}
    found = place(storage={"pfs": 4}).activity("p", profile, None)
    assert found.hosts == (0, 1, 4)
    assert found.traffic is not None
    assert found.traffic.tolist() == [[0, 0, 2], [0, 0, 2], [1, 1, 0]]


def test_staging_uses_the_storages_alone() -> None:
    found = place().activity("p", {"type": "data_staging", "nb_bytes": 9, "from": "pfs", "to": "nfs"}, None)
    assert found.hosts == (5, 4)
    assert found.traffic is not None
    assert found.traffic.tolist() == [[0, 9], [0, 0]]


def test_a_storage_label_is_a_mapping_a_name_or_the_only_storage() -> None:
    profile = {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1, "bytes_to_write": 2}
    assert place(storage={"pfs": 4}).activity("p", profile, None).hosts[-1] == 4
    assert place().activity("p", profile, None).hosts[-1] == 5
    assert place(machine=ONE_DISK).activity("p", profile, None).hosts[-1] == 2


@pytest.mark.parametrize(
    ("options", "label", "message"),
    [
        ({}, "tape", r"profile 'p' uses storage 'tape', .* \(storage hosts: nfs, pfs\)"),
        ({"storage": {"nfs": 4}}, "pfs", "neither mapped to a host nor"),
        ({"storage": {"pfs": 0}}, "pfs", "mapped to host 0, which is no storage host"),
    ],
)
def test_a_storage_that_is_not_there_is_refused(options: dict[str, object], label: str, message: str) -> None:
    profile = {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1, "bytes_to_write": 2, "storage": label}
    with pytest.raises(ImpossibleDecision, match=f"job w0!j: .*{message}"):
        place(**options).activity("p", profile, None)


@pytest.mark.parametrize("mapping", [{0: 0, 1: 2}, {0: 0, 2: 1}, {0: -1}])
def test_a_mapping_out_of_range_is_refused(mapping: dict[int, int]) -> None:
    with pytest.raises(ImpossibleDecision, match="its mapping must give each executor"):
        place(mapping=mapping)


def test_executors_and_matrix_must_agree() -> None:
    with pytest.raises(ImpossibleDecision, match="is for 2 executors, the job has 3"):
        place("0-2").activity("p", {"type": "parallel", "cpu": [1, 2], "com": [0] * 4}, None)


def test_an_io_job_is_added_host_by_host() -> None:
    placement = place("0 3", io=Allocation.parse("3-4"))
    io = {"type": "parallel", "cpu": [10, 0], "com": [0, 1, 2, 0]}
    found = placement.activity("p", {"type": "parallel_homogeneous", "cpu": 5, "com": 7}, io)
    assert found.hosts == (0, 3, 4)
    assert found.flops.tolist() == [5, 15, 0]
    assert found.traffic is not None
    assert found.traffic.tolist() == [[0, 7, 0], [7, 0, 1], [0, 2, 0]]


def test_storage_hosts_do_not_compute() -> None:
    placement = place("0 3", io=Allocation.parse("3-4"))
    with pytest.raises(ImpossibleDecision, match="5 flop of its I/O job fall to nfs, a storage host"):
        placement.activity(
            "p",
            {"type": "parallel_homogeneous", "cpu": 5, "com": 7},
            {"type": "parallel_homogeneous", "cpu": 5, "com": 0},
        )


def test_an_io_job_outside_the_platform_is_refused() -> None:
    with pytest.raises(ImpossibleDecision, match="names host 9, which the platform has not"):
        place(io=Allocation.parse("9"))


@st.composite
def activities(draw: st.DrawFn) -> Activity:
    hosts = draw(st.lists(st.integers(0, 8), min_size=1, max_size=5))
    amounts = st.integers(0, 100)
    count = len(hosts)
    flops = np.array(draw(st.lists(amounts, min_size=count, max_size=count)), dtype=float)
    traffic = np.array(draw(st.lists(amounts, min_size=count**2, max_size=count**2)), dtype=float)
    return Activity(tuple(hosts), flops, traffic.reshape(count, count) if draw(st.booleans()) else None)


def amounts_of(activity: Activity) -> tuple[dict[int, float], dict[tuple[int, int], float]]:
    """Return flop by host and bytes by pair of hosts, counted in the plainest way."""
    flops: dict[int, float] = {}
    traffic: dict[tuple[int, int], float] = {}
    for row, host in enumerate(activity.hosts):
        flops[host] = flops.get(host, 0) + activity.flops[row]
        for column, other in enumerate(activity.hosts if activity.traffic is not None else ()):
            assert activity.traffic is not None
            traffic[host, other] = traffic.get((host, other), 0) + activity.traffic[row, column]
    return flops, {pair: amount for pair, amount in traffic.items() if amount}


@given(activities(), activities())
def test_merging_loses_and_invents_nothing(first: Activity, second: Activity) -> None:
    found = merge_activities(first, second)
    assert list(found.hosts) == sorted(set(first.hosts + second.hosts))
    parts = [amounts_of(first), amounts_of(second)]
    flops, traffic = amounts_of(found)
    for host in found.hosts:
        assert flops[host] == sum(part[0].get(host, 0) for part in parts)
    for pair in {*parts[0][1], *parts[1][1], *traffic}:
        assert traffic.get(pair, 0) == sum(part[1].get(pair, 0) for part in parts)


PROFILES = {
    "d": {"type": "delay", "delay": 1},
    "h": {"type": "parallel_homogeneous", "cpu": 1, "com": 1},
    "inner": {"type": "composed", "seq": ["h", "d"]},
    "outer": {"type": "composed", "seq": ["d", "inner"]},
    "r": {"type": "recv", "success": "h", "failure": "d"},
    "pfs": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1, "bytes_to_write": 1},
    "both": {"type": "composed", "seq": ["h", "h"]},
    "seq-pfs": {"type": "composed", "seq": ["pfs", "pfs"]},
}


def test_leaves_follow_sequences_and_messages() -> None:
    assert {name for name, _ in leaves("outer", PROFILES)} == {"d", "h"}
    assert {name for name, _ in leaves("r", PROFILES)} == {"r", "d", "h"}


@pytest.mark.parametrize(
    ("profile", "io", "problem"),
    [
        ("h", "h", ""),
        ("d", "h", ""),
        ("inner", "inner", "type 'delay' cannot run as an I/O job"),
        ("inner", "both", ""),
        ("outer", "outer", "type 'delay' cannot run as an I/O job"),
        ("inner", "h", "the job is a sequence of 2 profiles, the I/O job is not"),
        ("h", "pfs", "type 'parallel_homogeneous_pfs' cannot run as an I/O job"),
        ("inner", "seq-pfs", "cannot run as an I/O job"),
    ],
)
def test_io_jobs_must_be_shaped_like_their_job(profile: str, io: str, problem: str) -> None:
    found = io_problem(PROFILES[profile], PROFILES[io], PROFILES)
    assert problem in found if problem else not found
