"""Random runs of every feature that a run can have, each drawn from a seed: machines, queue rules, layers, outages.

What no dispatcher takes (a reservation under a layer, a task without its class) is refused when the run begins, and
drawn again.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from batdispatch.abilities.topology import generate as topologies
from batdispatch.core.errors import InputError
from batdispatch.inputs.platforms import read_platform
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from batdispatch_papers.dada.machine import hybrid
from sites import platform_of

Draw = np.random.Generator

PLAIN = ("fcfs", "easy", "filler", "conservative", "slurm-backfill", "best-list")
SOLVING = ("hcp19", "ipsched", "aucsched", "pcp19", "pcp20")
LAYERS = ("attempts", "resizing", "dmr", "stochastic-easy", "stochastic-batch", "stochastic-conservative")
TASKS = ("dada", "heft", "work-stealing")
#: Dispatcher, options: each that takes some time is drawn less often than the others.
DISPATCHERS: list[tuple[str, dict[str, str]]] = [
    *((name, {}) for name in PLAIN * 5),
    ("easy", {"reservation": "hosts"}),
    ("easy", {"placement": "contiguous"}),
    ("filler", {"placement": "connected"}),
    ("easy", {"ordering": "multifactor[age=1000,partition=1000,qos=2000]"}),
    *((name, {}) for name in LAYERS * 3),
    ("attempts", {"dispatcher": "conservative"}),
    ("resizing", {"dispatcher": "filler"}),
    ("dmr", {"mode": "async"}),
    *((name, {"time_limit": "1"} if name.startswith("pcp") else {}) for name in SOLVING),
    ("pinned-io", {}),
    *((name, {}) for name in TASKS),
]
PROPERTY = '<prop id="{}" value="{}"/>'


def honest_run(seed: int, folder: Path) -> Path | None:
    """Simulate the run of a seed and return its folder; None: its dispatcher refuses the machine or a job.

    Args:
        seed: of everything that is drawn.
        folder: where inputs and run are written.
    """
    spec = honest_spec(seed, folder)
    try:
        execute(spec, folder / "run")
    except InputError:
        return None
    return folder / "run"


def honest_spec(seed: int, folder: Path) -> RunSpec:
    """Write the inputs of a seed's run and return the run; the arguments are those of `honest_run`."""
    draw = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    dispatcher, options = DISPATCHERS[int(draw.integers(len(DISPATCHERS)))]
    layered = dispatcher in LAYERS
    shared = bool(draw.random() < 0.4) and dispatcher not in ("pinned-io", *TASKS)
    (folder / "platform.xml").write_bytes(_platform(draw, shared, queues=not layered, dispatcher=dispatcher))
    machine = read_platform(folder / "platform.xml").machine
    hosts = [host.name for host in machine.hosts if not host.storage]
    disks = [host.name for host in machine.storage]
    jobs, profiles = _jobs(draw, hosts, disks, shared, dispatcher)
    workload = {"nb_res": len(hosts), "jobs": jobs, "profiles": profiles}
    (folder / "workload.json").write_text(json.dumps(workload))
    return RunSpec(
        platform=str(folder / "platform.xml"),
        workload=str(folder / "workload.json"),
        dispatcher=dispatcher,
        options=options,
        seed=int(draw.integers(100)),
        # While a layer registers what is left of a job, others that wait for the job may be given up too early.
        decision_time=0.0 if layered else float(draw.choice([0.0, 0.0, 0.0, 0.5, 2.0])),
        clock=str(draw.choice(["together", "together", "batsim", "together" if layered else "apart"])),  # type: ignore[arg-type]
        external_events=_events(draw, folder, len(hosts)) if draw.random() < 0.3 else None,
        record=bool(draw.random() < 0.9),
    )


def _platform(draw: Draw, shared: bool, *, queues: bool, dispatcher: str) -> bytes:
    """Return a machine: flat, or of one of the topologies, with a master, disks, capacities, queues and licences."""
    kind = draw.choice(["flat", "flat", "hand", "torus", "mesh", "fattree", "dragonfly"])
    if dispatcher in TASKS:
        return hybrid(cores=3, gpus=2)
    if dispatcher == "pinned-io" or (kind == "torus" and not shared):
        return topologies.torus((3, 3), hosts_per_router=2, io=2)
    if kind == "mesh" and not shared:
        return topologies.mesh((3, 4), hosts_per_router=1, io=1)
    if kind == "fattree" and not shared:
        return topologies.fat_tree((4, 3), (1, 2), (1, 1))
    if kind == "dragonfly" and not shared:
        return topologies.dragonfly((2, 1), (2, 1), (2, 1), 2)
    return _by_hand(draw, int(draw.integers(4, 17)), shared, queues)


def _by_hand(draw: Draw, size: int, shared: bool, queues: bool) -> bytes:
    zone = [PROPERTY.format("licences", "matlab=2 ansys=1")]
    if queues and draw.random() < 0.5:
        zone.append(PROPERTY.format("queues", json.dumps(_queues(draw, size)).replace('"', "&quot;")))
    hosts = []
    for host in range(size):
        own = PROPERTY.format("capacity", f"core={4 + host % 2 * 4} gpu={host % 3} memory=64") if shared else ""
        hosts.append(f'<host id="n{host}" speed="1Gf">{own}</host>')
    hosts.append(f'<host id="disk" speed="1Gf">{PROPERTY.format("role", "storage")}</host>')
    if draw.random() < 0.5:
        hosts.append('<host id="master_host" speed="1Gf"/>')
    inner = "\n".join([*zone, *hosts])
    return platform_of(inner).encode()


def _queues(draw: Draw, size: int) -> dict[str, Any]:
    told: dict[str, Any] = {}
    half = size // 2
    if draw.random() < 0.7:
        told["partitions"] = [
            {"name": "batch", "hosts": [f"n[0-{half}]"], "default": bool(draw.random() < 0.7), "max_time": 400.0},
            {"name": "debug", "hosts": [f"n[{half}-{size - 1}]"], "max_nodes": 3, "priority": 20},
        ]
    if draw.random() < 0.5:
        told["qos"] = [{"name": "high", "priority": 9, "max_nodes": 4}, {"name": "low", "default": True}]
    for index in range(int(draw.integers(0, 3))):
        start = float(draw.integers(0, 300))
        window: dict[str, Any] = {"name": f"r{index}", "start": start, "end": start + float(draw.integers(20, 200))}
        window |= [{}, {"nodes": half}, {"hosts": [f"n[{half}-{size - 1}]"]}][int(draw.integers(3))]
        lets_in = [{}, {"users": ["ada"]}, {"accounts": ["physics"]}, {"users": ["-ada"]}]
        window |= lets_in[int(draw.integers(4))]
        if "partitions" in told and draw.random() < 0.4:
            window["partitions"] = ["batch"]
        told.setdefault("reservations", []).append(window)
    return told


def _events(draw: Draw, folder: Path, size: int) -> str:
    lines = []
    for _ in range(int(draw.integers(1, 4))):
        host, time = int(draw.integers(size)), float(draw.integers(0, 300))
        for kind, at in (("machine_unavailable", time), ("machine_available", time + float(draw.integers(5, 200)))):
            lines.append(json.dumps({"timestamp": at, "type": kind, "resources": str(host)}))
    lines.append(json.dumps({"timestamp": 50.0, "type": "note", "text": "hello"}))
    (folder / "events.txt").write_text("\n".join(lines) + "\n")
    return str(folder / "events.txt")


# ---------------------------------------------------------------------- jobs


def _jobs(
    draw: Draw, hosts: list[str], disks: list[str], shared: bool, dispatcher: str
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    profiles: dict[str, Any] = {f"d{seconds}": {"type": "delay", "delay": seconds} for seconds in (1, 7, 20, 61, 150)}
    profiles |= {"fails": {"type": "delay", "delay": 15, "ret": 3}, "blink": {"type": "delay", "delay": 0.5}}
    profiles["both"] = {"type": "composed", "seq": ["d1", "d7"], "repeat": 2}
    jobs: list[dict[str, Any]] = []
    for number in range(int(draw.integers(5, 26))):
        job: dict[str, Any] = {
            "id": str(number),
            "subtime": float(draw.choice([0, 0, 3, 10.5, 40, 90, 200, 201])),
            "res": int(
                draw.choice([1, 1, 2, 3, 4, len(hosts), len(hosts) + 1], p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.07, 0.03])
            ),
            "profile": str(draw.choice(list(profiles))),
        }
        if draw.random() < 0.85:
            job["walltime"] = float(draw.choice([5, 20, 62, 160, 500]))
        job |= _asks(draw, hosts, disks, shared) | _waits(draw, jobs)
        if dispatcher in LAYERS:
            job |= _flexible(draw, job)
        jobs.append({name: value for name, value in job.items() if value is not None})
    return sorted(jobs, key=lambda job: (job["subtime"], job["id"])), profiles


def _asks(draw: Draw, hosts: list[str], disks: list[str], shared: bool) -> dict[str, Any]:
    """Return some fields of what a job asks for and says of itself, most of them rare."""
    units = int(draw.integers(1, 5))
    fields: dict[str, Any] = {"user": str(draw.choice(["ada", "bob", "eve"]))} if draw.random() < 0.8 else {}
    rare: list[dict[str, Any]] = [
        {"name": "train", "dependencies": [{"kind": "singleton"}]},
        {"name": "train"},
        {"array": {"id": "a", "index": int(draw.integers(100)), "limit": 2}},
        {"partition": str(draw.choice(["batch", "debug", "none"]))},
        {"qos": str(draw.choice(["high", "low", "none"]))},
        {"reservation": str(draw.choice(["r0", "r1", "r9"]))},
        {"account": "physics"},
        {"licences": {"matlab": int(draw.integers(1, 4))}},
        {"node_list": [str(name) for name in draw.choice(hosts, size=min(3, len(hosts)), replace=False)]},
        {"exclude_nodes": [hosts[0]]},
        {"contiguous": True},
        {"io_node": disks[0]} if disks else {},
        {"nice": 10, "comment": "é", "figures": [1.25, 3]},
    ]
    if shared:
        demand = {"core": int(draw.integers(1, 5))}
        fields["demand"] = demand if draw.random() < 0.7 else {**demand, "gpu": 1, "memory": 16}
        if draw.random() < 0.15:
            del fields["demand"]
        rare += [
            {"per_node": {"gpu": 1}},
            {"nodes": [1, 3]},
            {"nodes": 2},
            {"units_per_node": 2, "res": 2 * units},
            {"whole_nodes": True},
            {"demand": {"gpu": 9}},
        ]
    for one in rare:
        if draw.random() < 0.07:
            fields |= one
    return fields


def _waits(draw: Draw, before: list[dict[str, Any]]) -> dict[str, Any]:
    if not before or draw.random() > 0.2:
        return {}
    kinds = ("afterok", "afterany", "afternotok", "after")
    names = draw.choice([job["id"] for job in before], size=min(2, len(before)), replace=False)
    some = names[: int(draw.integers(1, 3))]
    listed: list[Any] = [
        {"job": str(name), "kind": str(draw.choice(kinds)), "delay": float(draw.choice([0, 0, 12.5]))} for name in some
    ]
    return {"dependencies": listed if draw.random() < 0.7 else [str(name) for name in some]}


def _flexible(draw: Draw, job: dict[str, Any]) -> dict[str, Any]:
    """Return what stochastic and malleable jobs say; such a job neither waits for others nor is one of an array."""
    chosen = draw.random()
    alone = {"dependencies": None, "array": None}
    if chosen < 0.4:
        return {**alone, "runtime_law": "tnorm:0,80,20,8", "walltime": 1000.0, "profile": "d61"}
    if chosen < 0.8:
        least = int(draw.integers(1, 3))
        sizes = {"least": least, "most": 8 * least, "factor": 2, "kind": "malleable", "steps": 10, "period": 5.0}
        return {**alone, "sizes": sizes, "res": least * int(draw.choice([1, 2, 4])), "walltime": None}
    return {}
