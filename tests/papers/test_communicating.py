"""Parallel jobs that send messages: how much they send, to whom, and when they come."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.topology.generate.torus import torus as torus_of
from batdispatch.cli.generate import command as generate
from batdispatch.core.errors import InputError
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.inputs.workloads import Workload, read_workload
from batdispatch.inputs.workloads.writer import write_workload
from batdispatch_papers.interference.workload import Traffic, communicating, nearest_cube

MACHINE = Machine(
    [Host(id=i, name=f"n{i}", speed=2e9) for i in range(64)]
    + [Host(id=64 + i, name=f"io{i}", storage=True, speed=2e9) for i in range(3)]
)


def make(seed: int = 1, jobs: int = 300, machine: Machine = MACHINE, **options: Any) -> Workload:
    return communicating(np.random.default_rng(seed), machine, jobs=jobs, **options)


def messages(profile: dict[str, Any], size: int) -> np.ndarray:
    """Bytes from each executor to each."""
    if profile["type"] == "parallel_homogeneous":
        return profile["com"] * (1 - np.eye(size))
    return np.array(profile["com"], dtype=float).reshape(size, size)


def test_the_busiest_host_sends_for_the_nominal_run_time_and_computes_for_half_of_it() -> None:
    workload = make(traffic=Traffic(bandwidth=1e8, intensity=1.5))
    for job in workload.jobs:
        runtime, profile = job.extra["nominal_runtime"], workload.profiles[job.profile]
        sent = messages(profile, job.units)
        assert sent.sum(axis=1).max() == pytest.approx(1.5e8 * runtime, rel=1e-6)
        assert not np.diagonal(sent).any()
        assert np.unique(sent[sent > 0]).size == 1
        assert np.all(np.array(profile["cpu"]) == runtime * 1e9)
        assert job.walltime == 10 * runtime


def test_each_pattern_sends_to_its_partners() -> None:
    workload = make()
    seen = set()
    for job in workload.jobs:
        kind, size = job.extra["name"], job.units
        sent = messages(workload.profiles[job.profile], size) > 0
        assert (sent == sent.T).all()
        partners = sent.sum(axis=1)
        if kind == "all-to-all":
            assert (partners == size - 1).all()
        elif kind == "ring":
            assert (partners == min(2, size - 1)).all()
            assert sent[0, 1]
            assert sent[0, size - 1]
        else:
            a, b, c = nearest_cube(size)
            # As many pairs as there are faces between two places of the box.
            assert sent.sum() == 2 * ((a - 1) * b * c + a * (b - 1) * c + a * b * (c - 1))
            assert a == 1 or sent[0, 1]
        seen.add(kind)
    assert seen == {"all-to-all", "ring", "halo"}


@given(size=st.integers(1, 512))
def test_the_box_of_a_halo_has_the_least_surface(size: int) -> None:
    a, b, c = nearest_cube(size)
    assert a >= b >= c >= 1
    assert a * b * c == size
    divisors = [side for side in range(1, size + 1) if size % side == 0]
    pairs = [(x, y) for x in divisors for y in divisors if size % (x * y) == 0]
    surfaces = [x * y + (x + y) * (size // (x * y)) for x, y in pairs]
    assert a * b + b * c + a * c == min(surfaces)


def test_the_boxes_of_powers_of_two() -> None:
    assert [nearest_cube(2**k) for k in range(7)] == [
        (1, 1, 1),
        (2, 1, 1),
        (2, 2, 1),
        (2, 2, 2),
        (4, 2, 2),
        (4, 4, 2),
        (4, 4, 4),
    ]
    assert nearest_cube(7) == (7, 1, 1)
    assert nearest_cube(18) == (3, 3, 2)


def test_sizes_arrivals_and_run_times_are_as_described() -> None:
    workload = make(jobs=4000, load=0.5, largest=0.25)
    sizes = np.array([job.units for job in workload.jobs])
    runtimes = np.array([job.extra["nominal_runtime"] for job in workload.jobs])
    assert (sizes.min(), sizes.max()) == (2, 16)
    # Three quarters by choice, and of the others those whose drawn size happens to be one.
    assert 0.75 < np.mean(sizes & (sizes - 1) == 0) < 0.9
    assert 30 <= runtimes.min() <= runtimes.max() <= 1800
    assert np.median(runtimes) == pytest.approx(300, rel=0.05)
    last = workload.jobs[-1].submission
    assert float(sizes @ runtimes) / (64 * last) == pytest.approx(0.5, rel=0.01)


def test_pinned_jobs_write_to_an_io_node_when_their_messages_are_sent() -> None:
    workload = make(jobs=2000, traffic=Traffic(bandwidth=1e8, io_share=0.4, io_load=0.2))
    pinned = [job for job in workload.jobs if job.request.io_nodes]
    assert len(pinned) == pytest.approx(800, rel=0.1)
    assert {job.request.io_nodes for job in pinned} == {("io0",), ("io1",), ("io2",)}
    for job in pinned:
        first, then = workload.profiles[job.profile]["seq"]
        assert workload.profiles[first]["type"].startswith("parallel")
        write = workload.profiles[then]
        assert (write["type"], write["storage"], write["bytes_to_read"]) == (
            "parallel_homogeneous_pfs",
            job.request.io_nodes[0],
            0,
        )
        assert write["bytes_to_write"] * job.units == pytest.approx(0.2e8 * job.extra["nominal_runtime"], rel=1e-4)
    others = [job for job in workload.jobs if not job.request.io_nodes]
    assert all(workload.profiles[job.profile]["type"] != "composed" for job in others)


def test_what_is_written_reads_as_it_was(tmp_path: Path) -> None:
    workload = make(traffic=Traffic(io_share=0.5))
    write_workload(workload, tmp_path / "w.json")
    again = read_workload(tmp_path / "w.json")
    assert [(job.id, job.request, job.submission) for job in again.jobs] == [
        (job.id, job.request, job.submission) for job in workload.jobs
    ]
    assert again.profiles == workload.profiles


def test_same_seed_same_bytes_by_the_command(tmp_path: Path) -> None:
    torus = tmp_path / "torus.xml"
    torus.write_bytes(torus_of([3, 3], io=2))
    for name, seed in (("a", "5"), ("b", "5"), ("c", "6")):
        arguments = ["communicating", "-o", str(tmp_path / name), "--seed", seed, "--platform", str(torus)]
        result = CliRunner().invoke(generate, [*arguments, "--jobs", "30", "--io-share", "0.5"], catch_exceptions=False)
        assert "30 jobs in " in result.stdout
    first, again, other = ((tmp_path / name).read_bytes() for name in "abc")
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jobs": 0}, "--jobs: 0, expected 1 to 100000"),
        ({"load": 0.0}, "--load: 0, expected 0.001 to 1000"),
        ({"largest": 1.5}, "--largest: 1.5, expected 0 to 1"),
        ({"traffic": Traffic(bandwidth=0.0)}, "--bandwidth: 0, expected 1"),
        ({"machine": Machine.flat(8, "core=4")}, "at least 2 hosts that jobs take whole"),
        ({"machine": Machine.flat(8), "traffic": Traffic(io_share=0.1)}, "has no storage host"),
    ],
)
def test_what_cannot_be_made(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as problem:
        make(**options)
    assert message in str(problem.value)
