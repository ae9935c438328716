"""Random machines with nodes that jobs share or queues, and jobs for them."""

import json
import math
from random import Random
from typing import Any

from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.capacity.impossible import why_never
from batdispatch.core.jobs.job import Job
from batdispatch.core.machine.machine import Host, Machine
from simulating import Task

QOS: list[dict[str, Any]] = [{"name": "low", "default": True}, {"name": "high", "priority": 3}]


def random_machine(random: Random, *, reserves: bool = True) -> Machine:
    """Up to seven hosts that jobs share or not, with GPUs, weights, features, or without.

    The site has up to three partitions and reservations, and licences or none.
    """
    count, shared = random.randint(1, 7), random.random() < 0.8
    names = [f"h{number}" for number in range(count)]
    partitions = [_partition(random, name, names) for name in ("a", "b", "c")[: random.choice([0, 1, 2, 3])]]
    reserved = random.choice([0, 0, 1, 2, 3]) if reserves else 0
    windows = [_window(random, name, names, partitions) for name in ("r", "s", "t")[:reserved]]
    licences = random.choice(["", "", "m=2", "m=1 n=3"])
    hosts = []
    for number, name in enumerate(names):
        queues = json.dumps({"partitions": partitions, "qos": QOS if partitions else [], "reservations": windows})
        properties = {"queues": queues} if partitions or windows or not (shared or licences) else {}
        properties |= {"licences": licences} if licences else {}
        if shared:
            gpus = f" gpu={random.randint(0, 3)}" if random.random() < 0.5 else ""
            properties["capacity"] = f"core={random.choice([1, 2, 4, 8])} memory={random.choice([8, 16])}{gpus}"
        properties |= {"weight": str(random.randint(1, 3))} if random.random() < 0.3 else {}
        properties |= {"features": random.choice(["x", "x,y", "y"])} if random.random() < 0.4 else {}
        hosts.append(Host(id=number, name=name, properties=properties))
    return Machine(hosts)


def _partition(random: Random, name: str, hosts: list[str]) -> dict[str, Any]:
    partition = {"name": name, "tier": random.randint(1, 2), "default": name == "a", "priority": random.randint(0, 3)}
    partition["hosts"] = sorted(random.sample(hosts, random.randint(1, len(hosts))))
    partition |= {"max_time": float(random.randint(3, 12))} if random.random() < 0.3 else {}
    return partition | ({"max_nodes": random.randint(1, 4)} if random.random() < 0.3 else {})


def _window(random: Random, name: str, hosts: list[str], partitions: list[dict[str, Any]]) -> dict[str, Any]:
    start = random.randint(0, 40) + random.choice([0, 0, 0.5, 0.001])
    window = {"name": name, "start": start, "end": start + random.choice([0.5, 3, 8, 30])}
    window |= {"hosts": sorted(random.sample(hosts, random.randint(1, len(hosts))))} if random.random() < 0.7 else {}
    window |= {"users": [f"u{random.randint(0, 2)}"]} if random.random() < 0.4 else {}
    window |= {"accounts": ["lab"]} if random.random() < 0.3 else {}
    named = [random.choice(partitions)["name"]] if partitions and random.random() < 0.3 else []
    return {**window, "partitions": named}


def random_demand(random: Random, machine: Machine) -> dict[str, Any]:
    """What a job may ask for; it need not fit."""
    shared = not machine.exclusive
    fields: dict[str, Any] = {"res": random.randint(1, 5)}
    if shared and random.random() < 0.85:
        fields["demand"] = {"core": random.choice([0, 1, 1, 1, 2]), "memory": random.choice([0, 0, 1, 3, 5])}
        fields |= {"whole_nodes": True} if random.random() < 0.2 else {}
    if shared and random.random() < 0.3:
        fields["per_node"] = {random.choice(machine.resources): random.randint(0, 2)}
    if random.random() < 0.3:
        least = random.randint(1, 3)
        fields["nodes"] = [least, least + random.randint(0, 2)]
    fields |= {"units_per_node": random.randint(1, 3)} if random.random() < 0.15 else {}
    if machine.licences and random.random() < 0.5:
        fields["licences"] = {random.choice("mmn"): random.randint(0, 2)}
    names = [host.name for host in machine.hosts]
    for field in ("node_list", "exclude_nodes"):
        if random.random() < 0.1:
            fields[field] = random.sample(names, random.randint(1, len(names)))
    return fields


def random_tasks(random: Random, machine: Machine) -> list[Task]:
    """Up to forty jobs of up to six kinds, most of which can run, and most of which fit a partition."""
    demands = [random_demand(random, machine) for _ in range(60)]
    space = space_of(machine)
    able = [each for each in demands if not why_never(space, Job(id="x", request=_task(each, 1, 1).request()))][:6]
    kinds = [*able, demands[0]]
    broken, last = random.random() < 0.3, random.choice([0, 4, 20, 40])
    parts = list(machine.site.partitions) if machine.site is not None else []
    windows = list(machine.site.windows) if machine.site is not None else []
    tasks = []
    for number in range(random.randint(1, 40)):
        runtime = random.randint(1, 9) + (random.choice([0, 0.1, 0.005, 0.7]) if broken else 0)
        walltime = max(runtime + random.choice([0, 0, 0, 1, 2, 5, -1, 40]), 1) if random.random() < 0.95 else math.inf
        fields = dict(random.choice(kinds))
        fields |= {"partition": random.choice([*parts, *parts, "c"])} if parts and random.random() < 0.7 else {}
        fields |= {"qos": random.choice(QOS)["name"]} if parts and random.random() < 0.5 else {}
        fields |= {"account": random.choice(["lab", "other"])} if random.random() < 0.3 else {}
        fields |= {"reservation": random.choice(windows).name} if windows and random.random() < 0.25 else {}
        fields |= {"constraint": random.choice(["x", "y", "x&y", "x|y"])} if random.random() < 0.1 else {}
        submission = random.randint(0, last) + (random.choice([0, 0.5, 1e-6]) if broken else 0)
        tasks.append(_task(fields, runtime, walltime)._replace(id=f"j{number}", submission=submission))
    return tasks


def _task(fields: dict[str, Any], runtime: float, walltime: float) -> Task:
    extra = {name: value for name, value in fields.items() if name not in ("res", "demand")}
    return Task("j", 0, fields["res"], runtime, walltime, fields.get("demand"), extra=extra)
