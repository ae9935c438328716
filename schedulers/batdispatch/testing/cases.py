"""The cases that every dispatcher must pass: small machines and workloads, each with a thing that often goes wrong."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

#: Of each host, for dispatchers that set power states: it computes in state 0, sleeps in state 1, takes 2 s to fall
#: asleep and 4 s to wake up.
SPEEDS = "1Gf,1f,0.5f,0.25f"
POWER = '<prop id="wattage_per_state" value="95:190,10:10,100:100,125:125"/><prop id="sleep_pstates" value="1:2:3"/>'


@dataclass(frozen=True)
class Case:
    """A machine, a workload and what happens besides.

    Attributes:
        name: in words with hyphens.
        about: what often goes wrong here.
        capacity: of every host, such as ``core=4 gpu=1``; empty: jobs take whole hosts.
        jobs: of the workload, with Batsim's fields and ours.
        profiles: of the workload.
        events: external events, as ``--events`` reads them.
        hosts: number of compute hosts.
        licences: of the machine, such as ``matlab=2``; empty: none.
        queues: of the machine, as the property ``queues`` says it (`batdispatch.core.machine.site`); empty: none.
        settings: further arguments of a run, such as a decision time.
    """

    name: str
    about: str
    jobs: list[dict[str, Any]]
    profiles: dict[str, dict[str, Any]]
    capacity: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)
    hosts: int = 8
    licences: str = ""
    queues: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name

    def write(self, folder: Path) -> tuple[Path, Path, Path | None]:
        """Write the case as files and return the paths of platform, workload, and events if there are any."""
        folder.mkdir(parents=True, exist_ok=True)
        platform, workload, events = folder / "platform.xml", folder / "workload.json", folder / "events.txt"
        offered = f'<prop id="capacity" value="{self.capacity}"/>' if self.capacity else ""
        licences = f'<prop id="licences" value="{self.licences}"/>' if self.licences else ""
        told = quoteattr(json.dumps(self.queues))
        about = licences + (f'<prop id="queues" value={told}/>' if self.queues else "")
        hosts = "".join(
            f'<host id="n{host}" speed="{SPEEDS}">{offered}{POWER}'
            f'<prop id="coordinates" value="{host % 2},{host // 2}"/></host>'
            for host in range(self.hosts)
        )
        platform.write_text(
            '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
            '<platform version="4.1">'
            f'<zone id="z" routing="Full">{about}<host id="master_host" speed="1Gf"/>{hosts}</zone></platform>\n'
        )
        workload.write_text(json.dumps({"nb_res": self.hosts, "jobs": self.jobs, "profiles": self.profiles}))
        if not self.events:
            return platform, workload, None
        events.write_text("".join(f"{json.dumps(event)}\n" for event in self.events))
        return platform, workload, events


#: Run times in seconds; not whole, so that few events coincide.
_LENGTHS = (31.7, 7.3, 12.9, 3.1, 55.3, 18.7, 9.1, 23.3, 5.9, 41.1)
_SIZES = (1, 3, 2, 8, 5, 1, 4, 6, 2, 3, 7)


def _profiles(lengths: tuple[float, ...] = _LENGTHS) -> dict[str, dict[str, Any]]:
    return {f"d{index}": {"type": "delay", "delay": length} for index, length in enumerate(lengths)}


def _stream(
    count: int = 30, *, limit: tuple[float, ...] = (1.5, 2.0, 4.0, 1.25), **fields: Any
) -> list[dict[str, Any]]:
    """Return jobs that come three at a time, build up a queue, and come again after it has run dry.

    Args:
        count: how many.
        limit: walltimes over run times, in turn.
        fields: of each job; a list is gone through in turn.
    """
    found = []
    for number in range(count):
        profile = number % len(_LENGTHS)
        job: dict[str, Any] = {
            "id": f"j{number:02}",
            "subtime": number // 3 * 4.3 + (150.0 if number >= count * 2 // 3 else 0.0),
            "res": _SIZES[number % len(_SIZES)],
            "walltime": round(_LENGTHS[profile] * limit[number % len(limit)], 3),
            "profile": f"d{profile}",
            "user": ("ada", "bob", "eve")[number % 3],
        }
        for name, value in fields.items():
            chosen = value[number % len(value)] if isinstance(value, list) else value
            if chosen is not None:
                job[name] = chosen
        found.append(job)
    return found


def _without(name: str, jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in job.items() if key != name} for job in jobs]


def _whole_seconds(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [job | {"subtime": round(job["subtime"] / 4), "walltime": 10, "profile": "d0"} for job in jobs]


_NODES = "core=4 gpu=1 memory=64"
_QUEUES = {
    "partitions": [
        {"name": "batch", "hosts": ["n[0-4]"], "default": True, "priority": 10},
        {"name": "short", "hosts": ["n[3-6]"], "max_time": 60.0, "max_nodes": 3, "priority": 20},
        {"name": "wide", "hosts": ["n[0-7]"]},
    ],
    "qos": [{"name": "high", "priority": 5}, {"name": "low", "max_nodes": 2}],
}
_RESERVATIONS = [
    {"name": "course", "start": 30.0, "end": 70.0, "hosts": ["n[0-3]"], "users": ["ada", "bob"]},
    {"name": "night", "start": 60.0, "end": 160.0, "nodes": 2},
    {"name": "repair", "start": 200.0, "end": 260.0},
]
#: Job 6 fails, 3 and 13 have long run times.
_CONDITIONS: tuple[list[Any], ...] = (
    [{"job": "j04", "kind": "afterany"}],
    [{"job": "j06", "kind": "afternotok", "delay": 3.3}],
    [{"job": "j13", "kind": "after", "delay": 20}],
    [{"kind": "singleton"}],
    [{"job": "j00", "delay": 30.5}, {"job": "j01", "kind": "afterany"}],
    [{"job": "j00", "kind": "afternotok"}],
)
_DEMANDS = [{"core": 1}, {"core": 2, "memory": 8}, {"gpu": 1}, {"core": 3, "gpu": 1}]

#: All cases.
CASES: tuple[Case, ...] = (
    Case("whole-hosts", "A queue builds up, runs dry, and builds up again.", _stream(), _profiles()),
    Case("shared-nodes", "Jobs share nodes with several resources.", _stream(demand=_DEMANDS), _profiles(), _NODES),
    Case(
        "everything-at-once",
        "All jobs are there at time 0, and most end together.",
        [job | {"subtime": 0} for job in _whole_seconds(_stream())],
        _profiles((10.0,)),
    ),
    Case("whole-seconds", "Submissions and ends coincide.", _whole_seconds(_stream(45)), _profiles((4.0,))),
    Case("no-walltimes", "Nobody says how long a job takes.", _without("walltime", _stream()), _profiles()),
    Case("killed-at-the-walltime", "Every second job asks for too little.", _stream(limit=(0.5, 1.5)), _profiles()),
    Case(
        "failing-and-composed",
        "Jobs fail, and jobs are sequences of others.",
        [*_stream(), {"id": "sequence", "subtime": 11.1, "res": 2, "walltime": 100, "profile": "twice"}],
        _profiles()
        | {
            "d6": {"type": "delay", "delay": 9.1, "ret": 2},
            "twice": {"type": "composed", "repeat": 2, "seq": ["d3", "d8"]},
        },
    ),
    Case(
        "too-large",
        "Some jobs can never run on the machine.",
        _stream(res=[1, 900, 8, 9, 2]),
        _profiles(),
    ),
    Case(
        "hosts-that-come-and-go",
        "Hosts go away, also while jobs run there, and come back.",
        _stream(res=[1, 3, 2, 5]),
        _profiles(),
        events=[
            {"type": "machine_unavailable", "resources": "0-3", "timestamp": 6.0},
            {"type": "machine_available", "resources": "0-3", "timestamp": 40.0},
            {"type": "machine_unavailable", "resources": "2 6-7", "timestamp": 61.5},
            {"type": "machine_available", "resources": "2 6-7", "timestamp": 200.0},
        ],
    ),
    Case(
        "shared-nodes-that-come-and-go",
        "Nodes that several jobs share go away and come back.",
        _stream(demand=_DEMANDS, res=[1, 3, 2, 5]),
        _profiles(),
        _NODES,
        events=[
            {"type": "machine_unavailable", "resources": "0-5", "timestamp": 6.0},
            {"type": "machine_available", "resources": "0-5", "timestamp": 60.0},
        ],
    ),
    Case(
        "requests-of-every-form",
        "Jobs ask for named nodes, numbers of nodes, amounts per node and licences.",
        _stream(
            res=[1, 2, 4, 2],
            demand={"core": 1},
            nodes=[None, None, [1, 2], None, None, None, None],
            per_node=[None, {"gpu": 1}, None],
            exclude_nodes=[None, None, None, ["n0"], None],
            node_list=[None] * 6 + [["n3"]],
            licences=[None, None, {"solver": 1}, None, {"solver": 2}],
        ),
        _profiles(),
        _NODES,
        licences="solver=2",
    ),
    Case(
        "jobs-that-wait-for-others",
        "A job may depend on jobs that fail or run long.",
        [
            job | ({"dependencies": [f"j{number - 3:02}"]} if number % 4 == 3 else {})
            for number, job in enumerate(_stream())
        ],
        _profiles() | {"d6": {"type": "delay", "delay": 9.1, "ret": 2}},
    ),
    Case(
        "conditions-of-every-kind",
        "Jobs wait for starts, ends, failures, some time after these, their namesakes, and other tasks of an array.",
        [
            job
            | ({"dependencies": _CONDITIONS[number % len(_CONDITIONS)]} if number % 3 == 2 else {})
            | ({"array": {"id": "sweep", "index": number, "limit": 2}} if number % 4 == 0 else {})
            for number, job in enumerate(_stream(name=["sim", "post"]))
        ],
        _profiles() | {"d6": {"type": "delay", "delay": 9.1, "ret": 2}},
    ),
    Case(
        "partitions",
        "Jobs may use a part of the hosts only, some of them none, and there are limits.",
        _stream(partition=["batch", "short", "wide", None, "batch", "gone"], qos=[None, "high", None, None, "low"]),
        _profiles(),
        queues=_QUEUES,
    ),
    Case(
        "partitions-of-shared-nodes",
        "Jobs share the nodes of partitions that overlap.",
        _stream(demand=_DEMANDS, res=[1, 3, 2, 5], partition=["batch", "short", "wide", None]),
        _profiles(),
        _NODES,
        queues=_QUEUES,
    ),
    Case(
        "several-partitions",
        "Jobs name several partitions, of which some let them in, and run in one of them.",
        _stream(
            partition=["batch,short", "short,wide", "wide", None, "short,gone", "gone,batch"],
            qos=[None, None, "low", None, "high"],
        ),
        _profiles(),
        queues=_QUEUES,
    ),
    Case(
        "several-partitions-of-shared-nodes",
        "Jobs that share nodes run in one of several partitions, of which reservations close some hosts.",
        _stream(
            demand=_DEMANDS, res=[1, 3, 9, 5], nodes=[None, None, 3], partition=["batch,short", "wide", "short,batch"]
        ),
        _profiles(),
        _NODES,
        queues=_QUEUES | {"reservations": _RESERVATIONS[:2]},
    ),
    Case(
        "reservations",
        "Hosts are kept for some users and jobs for some time, and once for nobody; some jobs could never keep out.",
        [
            job | ({"reservation": ("course", "night", "gone")[number % 3]} if number % 5 == 1 else {})
            for number, job in enumerate(_stream())
        ],
        _profiles(),
        queues={"reservations": _RESERVATIONS},
    ),
    Case(
        "reservations-of-shared-nodes",
        "Nodes that jobs share are kept for some jobs; jobs wait for others, too, and decisions take time.",
        [
            job | ({"dependencies": [{"job": f"j{number - 2:02}", "kind": "afterany"}]} if number % 5 == 2 else {})
            for number, job in enumerate(_stream(demand=_DEMANDS, res=[1, 3, 2, 5], partition=["batch", "wide"]))
        ],
        _profiles(),
        _NODES,
        queues=_QUEUES | {"reservations": _RESERVATIONS},
        settings={"decision_time": 0.5},
    ),
    Case(
        "slow-decisions",
        "Each decision takes 2 s, and events gather in the meantime.",
        _stream(),
        _profiles(),
        settings={"decision_time": 2.0},
    ),
    Case(
        "told-apart",
        "Events of one moment are told one by one.",
        _whole_seconds(_stream(45)),
        _profiles((4.0,)),
        settings={"clock": "apart"},
    ),
)
