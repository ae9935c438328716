"""Which queue takes a job, and which hosts are open to it when: read naively from a case of `queue_cases`."""

import math
from typing import Any

Fields = dict[str, Any]


def walltime(job: Fields) -> float:
    """How long a job may run, in seconds."""
    return float(job.get("walltime", math.inf))


def named(classes: list[Fields], name: str | None) -> Fields | None:
    """The partition or quality of service that a job is in by the name that it states or does not."""
    if name is not None:
        return next((one for one in classes if one["name"] == name), None)
    if len(classes) == 1:
        return classes[0]
    return next((one for one in classes if one.get("default")), None)


def own_reservation(case: Fields, job: Fields) -> Fields | None:
    """The reservation that a job names, if it is there."""
    return next((one for one in case["reservations"] if one["name"] == job.get("reservation")), None)


def lets_in(case: Fields, window: Fields, job: Fields) -> bool:
    """Whether a reservation lists a job by its user, its account, or the partition that it is in."""
    partition = named(case["partitions"], job.get("partition"))
    own = {"users": job.get("user"), "accounts": job.get("account")}
    own["partitions"] = None if partition is None else partition["name"]
    named_there = {(kind, name) for kind in own for name in window.get(kind, [])}
    if any((kind, f"-{name}") in named_there for kind, name in own.items()):
        return False
    if named_there and all(name.startswith("-") for _, name in named_there):
        return True
    return any((kind, name) in named_there for kind, name in own.items())


def hosts_ever(case: Fields, job: Fields) -> set[int]:
    """The hosts of the partition and the reservation of a job that no queue refuses."""
    hosts = set(range(case["hosts"]))
    for place in (named(case["partitions"], job.get("partition")), own_reservation(case, job)):
        if place is not None:
            hosts &= set(place["hosts"])
    return hosts


def is_refused(case: Fields, job: Fields) -> bool:
    """Whether no queue takes a job, or it asks for more hosts than it may ever have."""
    for kind, field in (("partitions", "partition"), ("qos", "qos")):
        found = named(case[kind], job.get(field))
        if found is None and case[kind] and (field in job or kind == "partitions"):
            return True
        if found is not None and (
            walltime(job) > found.get("max_time", math.inf) or job["res"] > found.get("max_nodes", math.inf)
        ):
            return True
    if case["reservations"] and "reservation" in job and not _may_use(case, job):
        return True
    return bool(job["res"] > len(hosts_ever(case, job)))


def _may_use(case: Fields, job: Fields) -> bool:
    """Whether a job may use the reservation that it names."""
    window = own_reservation(case, job)
    if window is None:
        return False
    open_to_all = not any(window.get(who) for who in ("users", "accounts", "partitions"))
    return (open_to_all or lets_in(case, window, job)) and walltime(job) <= window["end"] - window["start"]


def is_too_late(case: Fields, job: Fields, now: float) -> bool:
    """Whether the reservation that a job names ends too soon for it."""
    own = own_reservation(case, job)
    return own is not None and now + walltime(job) > own["end"]


def hosts_now(case: Fields, job: Fields, now: float) -> set[int]:
    """The hosts on which a job may start now, whoever holds them."""
    own = own_reservation(case, job)
    if own is not None and (now < own["start"] or is_too_late(case, job, now)):
        return set()
    hosts = hosts_ever(case, job)
    for window in case["reservations"]:
        reaches_in = now < window["end"] and now + walltime(job) > window["start"]
        if window is not own and not lets_in(case, window, job) and reaches_in:
            hosts -= set(window["hosts"])
    return hosts
