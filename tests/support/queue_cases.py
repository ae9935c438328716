"""Random cases for all rules of a queue, as plain dictionaries: made here, and written as a platform and a workload.

Interface, together with `queue_twin`:

    case = generate(seed)                       # the same seed gives the same case
    platform, workload = write(case, folder)    # files for `batdispatch run`
    outcomes = queue_twin.simulate(case, "easy")

A case has `hosts` (a number), `jobs` in order of arrival, and lists of `partitions`, `qos` and `reservations`.
Jobs have the fields of a workload file, but `runtime` in place of a profile. Hosts stand as numbers; all times are
whole seconds. Nothing here imports the package.
"""

import json
from pathlib import Path
from random import Random
from typing import Any
from xml.sax.saxutils import quoteattr

Case = dict[str, Any]
Fields = dict[str, Any]

KINDS = ("afterok", "afterany", "afternotok", "after")
USERS, NAMES, ACCOUNTS = ("ada", "bob"), ("train", "test"), ("lab", "shop")


def generate(seed: int) -> Case:
    """Return a random case: up to 18 jobs on up to 8 hosts, with some of the rules that there are."""
    random = Random(seed)
    hosts = random.randint(2, 8)
    partitions = _partitions(random, hosts) if random.random() < 0.5 else []
    qos = _qos(random, hosts) if random.random() < 0.3 else []
    windows = [_reservation(random, hosts, f"r{number}", partitions) for number in range(random.choice([0, 0, 1, 2]))]
    submissions = sorted(random.randint(0, random.choice([0, 10, 40])) for _ in range(random.randint(2, 18)))
    jobs = [_job(random, f"j{number:02}", time, hosts) for number, time in enumerate(submissions)]
    limits = {"A": random.randint(1, 3), "B": random.choice([0, 1])}
    busy = random.choice([0.1, 0.4, 0.8])
    for job in jobs:
        _place_in_queues(random, job, partitions, qos, windows)
        if random.random() < busy / 2:
            _add_array(random, job, limits)
    _add_dependencies(random, jobs, busy)
    return {
        "seed": seed, "hosts": hosts, "partitions": partitions, "qos": qos, "reservations": windows, "jobs": jobs,
    }  # fmt: skip


# ---------------------------------------------------------------------- what the site says


def _some_hosts(random: Random, hosts: int) -> list[int]:
    return sorted(random.sample(range(hosts), random.randint(1, hosts)))


def _limits(random: Random, hosts: int) -> Fields:
    found: Fields = {}
    if random.random() < 0.3:
        found["max_time"] = random.randint(5, 30)
    if random.random() < 0.3:
        found["max_nodes"] = random.randint(1, hosts)
    return found


def _partitions(random: Random, hosts: int) -> list[Fields]:
    names = ["batch", "debug", "big"][: random.randint(1, 3)]
    found = [{"name": name, "hosts": _some_hosts(random, hosts), **_limits(random, hosts)} for name in names]
    if random.random() < 0.7:
        random.choice(found)["default"] = True
    return found


def _qos(random: Random, hosts: int) -> list[Fields]:
    found = [{"name": name, **_limits(random, hosts)} for name in ["normal", "high"][: random.randint(1, 2)]]
    if random.random() < 0.5:
        random.choice(found)["default"] = True
    return found


def _reservation(random: Random, hosts: int, name: str, partitions: list[Fields]) -> Fields:
    start = random.randint(0, 50)
    found: Fields = {"name": name, "start": start, "end": start + random.randint(1, 40)}
    found["hosts"] = _some_hosts(random, hosts)
    if random.random() < 0.4:
        found["users"] = [random.choice(["", "", "-"]) + random.choice(USERS)]
    if random.random() < 0.2:
        found["accounts"] = [random.choice(ACCOUNTS)]
    if partitions and random.random() < 0.2:
        found["partitions"] = [random.choice(partitions)["name"]]
    return found


# ---------------------------------------------------------------------- what the jobs say


def _job(random: Random, name: str, submission: int, hosts: int) -> Fields:
    """Return a job that asks for hosts and time; now and then for more hosts than there are, or for no time."""
    size = hosts + 1 if random.random() < 0.04 else random.randint(1, random.choice([1, 2, hosts]))
    job: Fields = {"id": name, "subtime": submission, "res": size, "runtime": random.randint(1, 20)}
    if random.random() < 0.9:
        job["walltime"] = max(1, job["runtime"] + random.choice([-4, 0, 1, 2, 5, 10]))
    if random.random() < 0.7:
        job["user"] = random.choice(USERS)
    if random.random() < 0.5:
        job["name"] = random.choice(NAMES)
    if random.random() < 0.2:
        job["account"] = random.choice(ACCOUNTS)
    return job


def _place_in_queues(
    random: Random, job: Fields, partitions: list[Fields], qos: list[Fields], windows: list[Fields]
) -> None:
    for field, named in (("partition", partitions), ("qos", qos), ("reservation", windows)):
        often = 0.25 if field == "reservation" else 0.7
        if random.random() < often and named:
            job[field] = random.choice(named)["name"]
        elif random.random() < 0.03:
            job[field] = "elsewhere"


def _add_array(random: Random, job: Fields, limits: dict[str, int]) -> None:
    name = random.choice(list(limits))
    job["array"] = {"id": name, "index": int(job["id"][1:])}
    if limits[name]:
        job["array"]["limit"] = limits[name]


def _add_dependencies(random: Random, jobs: list[Fields], often: float) -> None:
    """Let jobs wait for others, also for later ones, in no circle that a workload file would show."""
    order = random.sample(jobs, len(jobs))
    for place, job in enumerate(order):
        asked: list[Any] = []
        if place and random.random() < often:
            others = random.sample(order[:place], min(place, random.choice([1, 1, 2, 3])))
            asked += [_dependency(random, other["id"]) for other in others]
        if "name" in job and random.random() < often / 2:
            asked.append({"kind": "singleton"})
        if asked:
            job["dependencies"] = asked


def _dependency(random: Random, other: str) -> Any:
    kind = random.choice(KINDS)
    if kind == "afterok" and random.random() < 0.5:
        return other
    return {"job": other, "kind": kind, **({"delay": random.randint(1, 15)} if random.random() < 0.3 else {})}


# ---------------------------------------------------------------------- files


def write(case: Case, folder: Path) -> tuple[Path, Path]:
    """Write the platform and the workload of a case into a folder that exists, and return their paths."""
    platform, workload = folder / "platform.xml", folder / "workload.json"
    platform.write_text(_platform(case))
    profiles = {f"d{job['runtime']}": {"type": "delay", "delay": job["runtime"]} for job in case["jobs"]}
    jobs = [
        {name: value for name, value in job.items() if name != "runtime"} | {"profile": f"d{job['runtime']}"}
        for job in case["jobs"]
    ]
    workload.write_text(json.dumps({"nb_res": case["hosts"], "jobs": jobs, "profiles": profiles}))
    return platform, workload


def _platform(case: Case) -> str:
    queues = {
        kind: [{**one, "hosts": [f"n{host}" for host in one["hosts"]]} if "hosts" in one else one for one in case[kind]]
        for kind in ("partitions", "qos", "reservations")
    }
    told = f'<prop id="queues" value={quoteattr(json.dumps(queues))}/>' if any(queues.values()) else ""
    hosts = "\n".join(f'<host id="n{number}" speed="1Gf"/>' for number in range(case["hosts"]))
    return (
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
        f'<platform version="4.1"><zone id="all" routing="Full">\n{told}\n{hosts}\n</zone></platform>\n'
    )
