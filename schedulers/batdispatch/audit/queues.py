"""What the queues of a site allow: partitions, qualities of service, and reservations, as `docs/queues.md` says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.audit.machine import Machine, expand
from batdispatch.audit.workload import Job

Classes = Mapping[str, Mapping[str, Any]]


class Window(NamedTuple):
    """A reservation: what the site says of it, and its hosts, bool [compute host]."""

    said: Mapping[str, Any]
    hosts: NDArray[np.bool_]


class Queues:
    """The queues of a machine.

    Attributes:
        windows: the reservations by name.
        limits: kind of class (``partition``, ``qos``) -> the classes of that kind by name.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        told = machine.queues
        named = {one["name"]: one for one in told.get("partitions", [])}
        self.limits: dict[str, Classes] = {
            "partition": {**named, **{name: {"name": name} for name in machine.partitions if name not in named}},
            "qos": {one["name"]: one for one in told.get("qos", [])},
        }
        self._hosts = {name: self._mask(one.get("hosts"), name) for name, one in self.limits["partition"].items()}
        self.windows = {one["name"]: Window(one, self._reserved(one)) for one in told.get("reservations", [])}

    def _mask(self, texts: list[str] | None, partition: str) -> NDArray[np.bool_]:
        if texts is not None:
            return self._machine.mask(name for text in texts for name in expand(text))
        return np.isin(np.arange(self._machine.size), self._machine.partitions.get(partition, []))

    def _reserved(self, said: Mapping[str, Any]) -> NDArray[np.bool_]:
        if said.get("hosts") is not None:
            return self._mask(said["hosts"], "")
        most = self._machine.size if said.get("nodes") is None else int(said["nodes"])
        return np.arange(self._machine.size) < most

    def class_of(self, job: Job, kind: str) -> Mapping[str, Any] | None:
        """Return the partition or quality of service that a job is in; None: in none that there is."""
        classes = self.limits[kind]
        named = getattr(job, kind)
        if named is not None:
            return classes.get(str(named))
        usual = [one for one in classes.values() if one.get("default") or len(classes) == 1]
        return usual[0] if usual else None

    def lists(self, window: Window, job: Job) -> bool:
        """Return whether a reservation lets a job in."""
        partition, said = self.class_of(job, "partition"), window.said
        return (
            (job.user != "" and str(job.user) in said.get("users", []))
            or (job.account is not None and str(job.account) in said.get("accounts", []))
            or (partition is not None and partition["name"] in said.get("partitions", []))
        )

    def own(self, job: Job) -> Window | None:
        """Return the reservation that a job names; None: it names none that there is."""
        return None if job.reservation is None else self.windows.get(str(job.reservation))

    def partition_hosts(self, name: str) -> NDArray[np.bool_]:
        """Return the hosts of a partition, bool [compute host]."""
        return self._hosts[name]

    def hosts_of(self, job: Job) -> NDArray[np.bool_]:
        """Return the hosts of a job's partition and reservation, bool [compute host]."""
        partition, window = self.class_of(job, "partition"), self.own(job)
        found = np.ones(self._machine.size, dtype=bool) if partition is None else self._hosts[partition["name"]]
        return found if window is None else found & window.hosts

    def most_nodes(self, job: Job) -> int | None:
        """Return how many nodes a job may have at most by its classes; None: any number."""
        both = [self.class_of(job, kind) for kind in self.limits]
        return min((one["max_nodes"] for one in both if one and one.get("max_nodes") is not None), default=None)

    def refusal(self, job: Job, least_nodes: int) -> str:
        """Return why no queue takes a job that needs so many nodes; empty: one does."""
        for kind, classes in self.limits.items():
            one, named = self.class_of(job, kind), getattr(job, kind)
            if one is None:
                if classes and (named is not None or kind == "partition"):
                    return f"asks for {kind} {named}, which the site does not have"
                continue
            longest, most = one.get("max_time"), one.get("max_nodes")
            if longest is not None and job.limit > longest:
                return f"asks for {job.limit:g} s, {kind} {one['name']} allows {longest:g} s"
            if most is not None and least_nodes > most:
                return f"asks for {least_nodes} nodes, {kind} {one['name']} allows {most}"
        return self._refused_by_reservation(job) if self.windows and job.reservation is not None else ""

    def _refused_by_reservation(self, job: Job) -> str:
        window = self.own(job)
        if window is None:
            return f"asks for reservation {job.reservation}, which the site does not have"
        said = window.said
        if any(said.get(kind) for kind in ("users", "accounts", "partitions")) and not self.lists(window, job):
            return f"asks for reservation {job.reservation}, which lets in others"
        length = said["end"] - said["start"]
        if job.limit > length:
            return f"asks for {job.limit:g} s, reservation {job.reservation} lasts {length:g} s"
        return ""
