"""What a job asks of the platform: how much each host computes, and how much each sends to each.

Matrices follow Batsim 4.2.1: executors stand in the order of the job's hosts (ascending ids, or the mapping's order), a
storage host comes last, and an I/O job is added host by host to the job that it runs along with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import ImpossibleDecision
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.machine.machine import Machine
from batdispatch.core.machine.storages import storage_host

#: Profile types whose run time the platform decides.
PLATFORM_TYPES = frozenset(
    {
        "parallel",
        "parallel_homogeneous",
        "parallel_homogeneous_total",
        "parallel_homogeneous_pfs",
        "data_staging",
        "usage_trace",
    }
)
#: Those that say by themselves which hosts they use, so that they can run as an I/O job.
_ON_GIVEN_HOSTS = frozenset({"parallel", "parallel_homogeneous", "parallel_homogeneous_total"})

Profile = Mapping[str, Any]
Profiles = Mapping[str, Profile]
Amounts = NDArray[np.float64]


def only_computes(profile: Profile) -> bool:
    """Return whether a profile sends nothing from host to host."""
    if profile["type"] not in _ON_GIVEN_HOSTS:
        return bool(profile["type"] == "usage_trace")
    traffic = profile["com"]
    return not any(traffic) if isinstance(traffic, list) else not traffic


class Activity(NamedTuple):
    """Work that starts on all its hosts at once and ends when all of it is done."""

    #: Host ids; one may stand several times.
    hosts: tuple[int, ...]
    #: Flop of each: [host].
    flops: Amounts
    #: Bytes from each to each: [from, to]; None: no traffic.
    traffic: Amounts | None


def merge_activities(first: Activity, second: Activity) -> Activity:
    """Return both activities as one, on their hosts in ascending order."""
    hosts = tuple(sorted({*first.hosts, *second.hosts}))
    place = {host: index for index, host in enumerate(hosts)}
    flops = np.zeros(len(hosts))
    traffic = np.zeros((len(hosts), len(hosts)))
    for part in (first, second):
        index = np.array([place[host] for host in part.hosts])
        np.add.at(flops, index, part.flops)
        if part.traffic is not None:
            np.add.at(traffic, (index[:, None], index[None, :]), part.traffic)
    return Activity(hosts, flops, traffic if traffic.any() else None)


class Placement:
    """Where the executors and storages of one running job are."""

    __slots__ = ("_hosts", "_io_hosts", "_job", "_machine", "_storage")

    def __init__(
        self,
        job: str,
        machine: Machine,
        allocation: Allocation,
        *,
        mapping: Mapping[int, int] | None = None,
        storage: Mapping[str, int] | None = None,
        io: Allocation | None = None,
    ) -> None:
        """Resolve the hosts.

        Args:
            job: its id, for messages.
            machine: whose hosts the ids are.
            allocation: of the job.
            mapping: executor -> index within the allocation; None: one executor a host, by ascending id.
            storage: storage label -> host id.
            io: hosts of the I/O job that runs along.

        Raises:
            ImpossibleDecision: the mapping or a host of the I/O job does not exist.
        """
        self._job = job
        self._machine = machine
        self._storage = storage
        ids = tuple(allocation.ids)
        if mapping is not None:
            last = len(ids) - 1
            if sorted(mapping) != list(range(len(mapping))) or not all(0 <= i <= last for i in mapping.values()):
                raise self._refusal(
                    f"its mapping must give each executor 0-{len(mapping) - 1} an index 0-{last} in the allocation"
                )
            ids = tuple(ids[mapping[executor]] for executor in range(len(mapping)))
        self._hosts = ids
        self._io_hosts: tuple[int, ...] = () if io is None else tuple(io.ids)
        if self._io_hosts and self._io_hosts[-1] >= len(machine.hosts):
            raise self._refusal(f"its I/O job names host {self._io_hosts[-1]}, which the platform has not")

    def _refusal(self, text: str) -> ImpossibleDecision:
        return ImpossibleDecision(f"job {self._job}: {text}")

    def host_of(self, executor: int) -> int:
        """Return the host of an executor; those beyond the last one start again with the first host."""
        return self._hosts[executor % len(self._hosts)]

    def step(self, host: int, usage: float, flops: float) -> Activity:
        """Return what a step of a usage trace does on a host: so many flop on each of a share of its cores."""
        cores = max(1, int(usage * self._machine.hosts[host].cores + 0.5))
        return Activity((host,) * cores, np.full(cores, flops), None)

    def activity(self, name: str, profile: Profile, io: Profile | None) -> Activity:
        """Return what a profile does here, together with its part of the I/O job.

        Raises:
            ImpossibleDecision: the profile does not fit the hosts, or names a storage that is not there.
        """
        kind = profile["type"]
        if kind == "parallel_homogeneous_pfs":
            found = self._with_storage(name, profile)
        elif kind == "data_staging":
            ends = (self._storage_host(name, profile["from"]), self._storage_host(name, profile["to"]))
            found = Activity(ends, np.zeros(2), np.array([[0.0, float(profile["nb_bytes"])], [0.0, 0.0]]))
        else:
            found = self._on(self._hosts, name, profile)
        if io is not None:
            found = merge_activities(found, self._on(self._io_hosts, f"{name} (I/O)", io))
            for host, flops in zip(found.hosts, found.flops, strict=True):
                if flops > 0 and self._machine.hosts[host].storage:
                    raise self._refusal(
                        f"{flops:g} flop of its I/O job fall to {self._machine.hosts[host].name}, a storage host"
                    )
        return found

    def _on(self, hosts: tuple[int, ...], name: str, profile: Profile) -> Activity:
        count = len(hosts)
        if profile["type"] == "parallel":
            flops = np.array(profile["cpu"], dtype=np.float64)
            if len(flops) != count:
                raise self._refusal(f"profile {name!r} is for {len(flops)} executors, the job has {count}")
            traffic = np.array(profile["com"], dtype=np.float64).reshape(count, count)
            return Activity(hosts, flops, traffic if traffic.any() else None)
        share = count if profile["type"] == "parallel_homogeneous_total" else 1
        flops = np.full(count, float(profile["cpu"]) / share)
        if not profile["com"]:
            return Activity(hosts, flops, None)
        traffic = np.full((count, count), float(profile["com"]) / share)
        np.fill_diagonal(traffic, 0.0)
        return Activity(hosts, flops, traffic)

    def _with_storage(self, name: str, profile: Profile) -> Activity:
        hosts = (*self._hosts, self._storage_host(name, profile.get("storage", "pfs")))
        traffic = np.zeros((len(hosts), len(hosts)))
        traffic[:-1, -1] = float(profile["bytes_to_write"])
        traffic[-1, :-1] = float(profile["bytes_to_read"])
        return Activity(hosts, np.zeros(len(hosts)), traffic if traffic.any() else None)

    def _storage_host(self, name: str, label: str) -> int:
        """Return the host of a label: as mapped or, for a scheduler that maps nothing, as `storage_host` says."""
        disks = self._machine.storage
        if self._storage is not None and label in self._storage:
            host = self._storage[label]
            if any(disk.id == host for disk in disks):
                return host
            raise self._refusal(f"storage {label!r} is mapped to host {host}, which is no storage host")
        if not self._storage:
            found = storage_host(label, self._machine)
            if found is not None:
                return found
        known = ", ".join(disk.name for disk in disks[:5]) or "none"
        raise self._refusal(
            f"profile {name!r} uses storage {label!r}, which is neither mapped to a host nor the name of a storage "
            f"host (storage hosts: {known}{', ...' if len(disks) > 5 else ''})"
        )


def io_problem(profile: Profile, io: Profile, profiles: Profiles, depth: int = 64) -> str:
    """Say why an I/O profile cannot run along with a profile; empty if it can.

    Each part of a sequence has its own part of the I/O job, so sequences must be alike.
    """
    if profile["type"] == "composed":
        if io["type"] != "composed" or len(io["seq"]) != len(profile["seq"]) or not depth:
            return f"the job is a sequence of {len(profile['seq'])} profiles, the I/O job is not"
        for part, io_part in zip(profile["seq"], io["seq"], strict=True):
            if io_part not in profiles:
                return f"profile {io_part!r} is not in the workload"
            problem = io_problem(profiles[part], profiles[io_part], profiles, depth - 1)
            if problem:
                return problem
        return ""
    if profile["type"] == "usage_trace":
        return "nothing can run along with a usage trace"
    if io["type"] not in _ON_GIVEN_HOSTS:
        return f"type {io['type']!r} cannot run as an I/O job, {', '.join(sorted(_ON_GIVEN_HOSTS))} can"
    return ""
