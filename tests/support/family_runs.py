"""Runs on machines that have more to show than hosts: a torus with I/O nodes, and nodes that jobs share."""

from collections.abc import Sequence
from pathlib import Path

from batdispatch.abilities.topology import generate as topologies
from batdispatch.inputs.platforms import generate, read_platform
from batdispatch.results.runs import Run, read_runs
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from sites import simulated

ROOT = Path(__file__).parents[2]
#: Hosts that are away for a while, and some that never come back.
EVENTS = (
    '{"timestamp": 5, "type": "machine_unavailable", "resources": "19"}\n'
    '{"timestamp": 50, "type": "machine_available", "resources": "19"}\n'
    '{"timestamp": 60, "type": "machine_unavailable", "resources": "3-4"}\n'
)
#: (hosts, submission, seconds, I/O nodes) on a torus of 4 x 3 routers with two hosts each, 4 of them I/O nodes.
JOBS = [
    (9, 0.0, 90.0, ["a"]),
    (1, 0.0, 30.0, []),
    (6, 0.0, 90.0, ["b"]),
    (2, 40.0, 20.0, ["a", "b"]),
    (99, 1.0, 5.0, []),
]


def torus_run(
    folder: Path,
    dispatcher: str = "fcfs",
    jobs: Sequence[tuple[int, float, float, Sequence[str]]] = JOBS,
    *,
    events: str = "",
    dims: Sequence[int] = (4, 3),
) -> Run:
    """Run jobs on a torus whose first and third I/O node are called a and b."""
    platform = folder / "torus.xml"
    platform.write_bytes(topologies.torus(tuple(dims), hosts_per_router=2, io=4))
    machine = read_platform(platform).machine
    names = [host.name for host in machine.storage]
    known = {"a": names[0], "b": names[2]}
    listed = [
        {"id": f"{i}", "subtime": when, "res": hosts, "profile": f"p{i}", "walltime": 1000, "user": f"u{i % 3}"}
        | ({"io_node": [known[each] for each in nodes]} if nodes else {})
        for i, (hosts, when, _, nodes) in enumerate(jobs)
    ]
    profiles = {f"p{i}": {"type": "delay", "delay": seconds} for i, (_, _, seconds, _) in enumerate(jobs)}
    (folder / "events.txt").write_text(events)
    away = {"external_events": str(folder / "events.txt")} if events else {}
    return read_runs([simulated(folder, dispatcher, platform, listed, profiles, out=dispatcher, **away)])[0]


def shared_run(folder: Path, dispatcher: str) -> Run:
    """Run jobs that ask for cores, GPUs and memory of nodes that they share."""
    platform, workload = ROOT / "platforms" / "eurora.xml", ROOT / "workloads" / "multiresource16.json"
    execute(RunSpec(platform=str(platform), workload=str(workload), dispatcher=dispatcher), folder / dispatcher)
    return read_runs([folder / dispatcher])[0]


def licensed_run(folder: Path) -> Run:
    """Run jobs that ask for some of three licences on four plain hosts."""
    text = generate.flat(4).decode()
    stated = 'router_id="nodes_1_router"><prop id="licences" value="solver=3"/></cluster>'
    platform = text.replace('router_id="nodes_1_router"/>', stated)
    jobs = [
        {"id": f"{i}", "subtime": 5 * i, "res": 1, "profile": "p", "walltime": 50, "licences": {"solver": i % 3}}
        for i in range(9)
    ]
    folder = simulated(folder, "easy", platform, jobs, {"p": {"type": "delay", "delay": 30}}, out="licensed")
    return read_runs([folder])[0]
