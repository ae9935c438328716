"""Run times of jobs alone on their hosts, against hand-worked cases."""

from pathlib import Path
from typing import Any

import pytest

from batdispatch.abilities.topology import generate as topologies
from batdispatch.core.errors import InputError
from batdispatch.inputs.platforms import generate
from batdispatch.results.jobs_file import read_columns
from batdispatch_papers.interference.alone import runtimes_alone
from sites import simulated
from with_simgrid import needs_simgrid

#: A row of 4 routers with two hosts each, n0 to n7; 1 GB/s everywhere, no latency. n1 is the I/O node.
LINKS = generate.Links(bw="1GBps", lat="0us")
SEND = {"type": "parallel", "cpu": [0, 0], "com": [0, 10e9, 0, 0]}
WRITE = {"type": "parallel_homogeneous_pfs", "bytes_to_read": 0, "bytes_to_write": 5e9, "storage": "n1"}
DELAY = {"type": "delay", "delay": 7}


ROW = topologies.mesh([4], hosts_per_router=2, io=1, links=LINKS)


def job(name: str, hosts: list[str], profile: str, submission: float = 0.0) -> dict[str, Any]:
    return {
        "id": name,
        "subtime": submission,
        "res": len(hosts),
        "walltime": 100,
        "profile": profile,
        "node_list": hosts,
    }


def run(folder: Path, jobs: list[dict[str, Any]]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the run time of each job in a run, and alone."""
    profiles = {"send": SEND, "write": WRITE, "both": {"type": "composed", "seq": ["send", "write"]}, "delay": DELAY}
    file = simulated(folder, "filler", ROW, jobs, profiles) / "jobs.csv"
    columns = read_columns(file)
    names = columns.job_id.tolist()
    alone = runtimes_alone(folder / "p.xml", folder / "run.json", file)
    return dict(zip(names, columns.execution_time.tolist(), strict=True)), dict(zip(names, alone, strict=True))


@needs_simgrid
def test_jobs_that_share_a_link_take_twice_as_long_as_alone(tmp_path: Path) -> None:
    # From router 0 to 3, and from router 1 to 2: both over the link from 1 to 2.
    together, alone = run(
        tmp_path, [job("a", ["n0", "n6"], "send"), job("b", ["n2", "n4"], "send"), job("c", ["n3", "n5"], "delay")]
    )
    assert together == pytest.approx({"a": 20.0, "b": 20.0, "c": 7.0}, rel=1e-4)
    assert alone == pytest.approx({"a": 10.0, "b": 10.0, "c": 7.0}, rel=1e-4)


@needs_simgrid
def test_a_job_that_comes_later_runs_alone_as_well(tmp_path: Path) -> None:
    together, alone = run(tmp_path, [job("a", ["n0", "n6"], "send"), job("b", ["n2", "n4"], "send", 1.0)])
    # For one second each has the link for itself.
    assert together == pytest.approx({"a": 19.0, "b": 19.0}, rel=1e-4)
    assert alone == pytest.approx({"a": 10.0, "b": 10.0}, rel=1e-4)


@needs_simgrid
def test_jobs_that_write_to_one_io_node_wait_for_its_link(tmp_path: Path) -> None:
    # Each writes 10 GB to n1. The messages before that share no link: routers 1 to 2, and inside router 3.
    together, alone = run(tmp_path, [job("a", ["n2", "n4"], "both"), job("b", ["n6", "n7"], "both")])
    assert together == pytest.approx({"a": 30.0, "b": 30.0}, rel=1e-4)
    assert alone == pytest.approx({"a": 20.0, "b": 20.0}, rel=1e-4)


def test_without_messages_no_simgrid_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("batdispatch.abilities.simgrid.engine.find_simgrid", lambda: None)
    jobs = [job("a", ["n2", "n4"], "delay"), job("b", ["n2", "n5"], "delay")]
    folder = simulated(tmp_path, "fcfs", ROW, jobs, {"delay": DELAY})
    alone = runtimes_alone(tmp_path / "p.xml", tmp_path / "run.json", folder / "jobs.csv")
    assert alone.tolist() == [7.0, 7.0]


def test_a_job_that_never_started_has_no_run_time_alone(tmp_path: Path) -> None:
    jobs = [job("a", ["n2"], "delay"), {**job("b", ["n2"], "delay"), "res": 9}]
    folder = simulated(tmp_path, "fcfs", ROW, jobs, {"delay": DELAY})
    with pytest.raises(InputError, match="job b never started"):
        runtimes_alone(tmp_path / "p.xml", tmp_path / "run.json", folder / "jobs.csv")
