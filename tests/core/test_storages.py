"""Which storage host serves a label: one rule, and what is told to the simulator follows from it."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.core.machine.storages import Storages, storage_host

PFS = {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1, "bytes_to_write": 2}


def machine(*disks: str) -> Machine:
    names = ["n0", *disks]
    return Machine([Host(id=i, name=name, storage=i > 0) for i, name in enumerate(names)])


@pytest.mark.parametrize(
    ("disks", "expected"),
    [(("pfs", "nfs"), 1), (("nfs", "pfs"), 2), (("nfs",), 1), (("nfs", "scratch"), None), ((), None)],
)
def test_the_host_of_that_name_else_the_only_one(disks: tuple[str, ...], expected: int | None) -> None:
    assert storage_host("pfs", machine(*disks)) == expected


@pytest.mark.parametrize(
    ("pins", "expected"), [(("nfs",), {"pfs": 2}), (("nfs", "scratch"), None), (("scratch",), {"pfs": 1})]
)
def test_a_job_that_is_pinned_to_one_io_node_uses_it_for_labels_that_name_no_host(
    pins: tuple[str, ...], expected: dict[str, int] | None
) -> None:
    storages = Storages(machine("scratch", "nfs"))
    assert storages.mapping("w0", "io", {"io": PFS}) is None
    assert storages.mapping("w0", "io", {"io": PFS}, pins) == expected
    # A label that names a host means that host, wherever the job is pinned.
    assert storages.mapping("w0", "named", {"named": {**PFS, "storage": "nfs"}}, pins) == {"nfs": 2}


def test_a_pinned_job_is_started_with_its_io_node() -> None:
    ledger = Ledger(e.SimulationBegins(0.0, machine("scratch", "nfs"), profiles={"w0": {"io": PFS}}))
    job = Job(id="w0!1", request=Request(io_nodes=("nfs",)), profile="io")
    ledger.apply_submitted(e.JobSubmitted(0.0, job))
    ledger.start(job, Allocation.parse("0"))
    (decision,) = ledger.take_decisions()
    assert isinstance(decision, d.Execute)
    assert decision.storage == {"pfs": 2}


def test_labels_are_found_in_all_parts_of_a_profile() -> None:
    profiles = {
        "outer": {"type": "composed", "seq": ["inner", "d"]},
        "inner": {"type": "composed", "seq": ["io", "stage"]},
        "io": PFS,
        "stage": {"type": "data_staging", "nb_bytes": 1, "from": "a", "to": "nowhere"},
        "d": {"type": "delay", "delay": 1},
    }
    storages = Storages(machine("pfs", "a"))
    assert storages.mapping("w0", "outer", profiles) == {"pfs": 1, "a": 2}
    assert storages.mapping("w0", "d", profiles) is None
    # Profiles of one name in two workloads are two profiles.
    assert storages.mapping("w1", "d", {"d": {**PFS, "storage": "a"}}) == {"a": 2}
    assert storages.mapping("w1", "unknown", {}) is None
    assert Storages(machine()).mapping("w0", "outer", profiles) is None


ANY = st.recursive(
    st.none() | st.integers() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3), max_leaves=4
)


@given(
    st.dictionaries(
        st.text(max_size=2),
        st.fixed_dictionaries(
            {},
            optional={
                "type": st.sampled_from(["composed", "data_staging", "parallel_homogeneous_pfs", "recv", 3]),
                **dict.fromkeys(("seq", "storage", "from", "to", "success"), ANY),
            },
        ),
        min_size=1,
    )
)
def test_profiles_that_nobody_checked_do_no_harm(profiles: Mapping[str, Mapping[str, Any]]) -> None:
    """A scheduler is told profiles as they stand in the workload."""
    storages = Storages(machine("disk"))
    for name in profiles:
        assert set((storages.mapping("w0", name, profiles) or {"": 1}).values()) == {1}
