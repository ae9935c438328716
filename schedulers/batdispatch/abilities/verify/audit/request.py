"""What a job asks of a machine and its queues (`docs/queues.md`), and what it takes where it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.verify.audit.hosts import HostSets, Ints, Slots
from batdispatch.abilities.verify.audit.machine import Machine, expand
from batdispatch.abilities.verify.audit.workload import Job

#: Partitions or qualities of service, by name.
_Classes = Mapping[str, Mapping[str, Any]]
#: More units than any job has: how many units that need nothing a node can take.
_COUNTLESS = 2**31
#: Slots that are looked at together: enough for numpy, little enough for the memory.
_BLOCK = 1 << 18


class Window(NamedTuple):
    """A reservation: what the site says of it, and its hosts, bool [compute host]."""

    said: Mapping[str, Any]
    hosts: NDArray[np.bool_]


class Queues:
    """The queues of a machine.

    Attributes:
        windows: the reservations by name.
        limits: kind of class (``partition``, ``qos``) -> the classes of that kind by name.
        hosts: of each partition, bool [compute host].
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        told = machine.queues
        named = {one["name"]: one for one in told.get("partitions", [])}
        self.limits: dict[str, _Classes] = {
            "partition": {**named, **{name: {"name": name} for name in machine.partitions if name not in named}},
            "qos": {one["name"]: one for one in told.get("qos", [])},
        }
        self.hosts = {name: self._mask(one.get("hosts"), name) for name, one in self.limits["partition"].items()}
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
        if kind == "partition" and (several := self.listed(job)) is not None:
            able = [one for one in several if not _exceeds(one, job)]
            # That of those that take it which allows most nodes: its hosts say which one it ran in, if any.
            return max(able or several, key=lambda one: one.get("max_nodes") or np.inf, default=None)
        if named is not None:
            return classes.get(str(named))
        usual = [one for one in classes.values() if one.get("default") or len(classes) == 1]
        return usual[0] if usual else None

    def listed(self, job: Job) -> list[Mapping[str, Any]] | None:
        """Return the partitions that there are of those that a job lists; None: it lists none."""
        told = job.partition if job.partitions in (None, [], "") else job.partitions
        if told is job.partition and "," not in str(told):
            return None
        names = told if isinstance(told, list) else told.split(",") if isinstance(told, str) else []
        names = [str(name).strip() for name in names]
        return [self.limits["partition"][name] for name in names if name in self.limits["partition"]]

    def lists(self, window: Window, job: Job) -> bool:
        """Return whether a reservation lets a job in."""
        partition, said = self.class_of(job, "partition"), window.said
        names = {
            "users": str(job.user),
            "accounts": "" if job.account is None else str(job.account),
            "partitions": "" if partition is None else partition["name"],
        }
        lets_in, wanted, excluded = False, False, False
        for kind, name in names.items():
            for entry in said.get(kind, []):
                excludes = entry.startswith("-")
                if name and excludes and entry[1:] == name:
                    return False
                wanted, excluded = wanted or not excludes, excluded or excludes
                lets_in = lets_in or (name != "" and entry == name)
        return lets_in or (excluded and not wanted)

    def own(self, job: Job) -> Window | None:
        """Return the reservation that a job names; None: it names none that there is."""
        return None if job.reservation is None else self.windows.get(str(job.reservation))

    def places_of(self, job: Job) -> list[NDArray[np.bool_]]:
        """Return the hosts of a job's partition and reservation, bool [compute host], each choice that it has."""
        partition, window = self.class_of(job, "partition"), self.own(job)
        found = [np.ones(self._machine.size, dtype=bool) if partition is None else self.hosts[partition["name"]]]
        if several := self.listed(job):
            found = [self.hosts[one["name"]] for one in several if not _exceeds(one, job)] or found
        if window is not None:
            found = [hosts & window.hosts for hosts in found]
        if job.constraint is not None and self._machine.features:
            found = [hosts & having for hosts in found for having in self.having(job)]
        return found

    def having(self, job: Job) -> list[NDArray[np.bool_]]:
        """Return the hosts with the features that a job requires, bool [compute host], each choice that it has.

        In brackets stand choices, of which all hosts have the same one.
        """
        pieces = re.split(r"\[([^\[\]]*)\]", str(job.constraint))
        options = [re.split(r"\|(?![^(]*\))", piece) if at % 2 else [piece] for at, piece in enumerate(pieces)]
        texts = ("".join(f"({one})" if at % 2 else one for at, one in enumerate(way)) for way in product(*options))
        return [self._having(text) for text in texts]

    def _having(self, text: str) -> NDArray[np.bool_]:
        """Return the hosts with the features of a text, bool [compute host].

        Slurm evaluates from left to right, so each operator gets everything before it in parentheses.
        """
        words = re.findall(r"[&|(),]|[^&|(),\s]+", text)
        stack: list[tuple[NDArray[np.bool_] | None, str]] = [(None, "&")]
        for word in words:
            before, sign = stack[-1]
            if word in "&,|":
                stack[-1] = (before, "|" if word == "|" else "&")
            elif word == "(":
                stack.append((None, "&"))
            else:
                mask = self._mask_of_feature(word)
                if word == ")":
                    inner = stack.pop()[0]
                    before, sign = stack[-1]
                    mask = mask if inner is None else inner
                joined = mask if before is None else before | mask if sign == "|" else before & mask
                stack[-1] = (joined, "&")
        found = stack[-1][0]
        return np.zeros(self._machine.size, dtype=bool) if found is None else found

    def _mask_of_feature(self, name: str) -> NDArray[np.bool_]:
        return np.isin(np.arange(self._machine.size), self._machine.features.get(name, []))

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
        if job.constraint is not None and self._machine.features and not any(one.any() for one in self.places_of(job)):
            return f"requires {job.constraint}, which no host has that it may use"
        return self._refused_by_reservation(job) if self.windows and job.reservation is not None else ""

    def _refused_by_reservation(self, job: Job) -> str:
        """Return why the reservation that a job names does not take it."""
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


class Demands:
    """What jobs ask of one machine and its queues."""

    def __init__(self, machine: Machine, queues: Queues) -> None:
        self._machine = machine
        self._queues = queues
        self._idle = np.ones(machine.size, dtype=bool)

    def why_never(self, job: Job) -> str:
        """Return why neither the idle machine nor its queues can take a job; empty: they can."""
        return (
            self._queues.refusal(job, self._nodes(job)[0])
            or self._contradiction(job)
            or self.lack(job)
            or ("" if self.fits(job, self._idle) else f"asks for {job.res} units, more than there is room for")
        )

    def fits(self, job: Job, there: NDArray[np.bool_]) -> bool:
        """Return whether a job has room on some hosts, bool [compute host], with nothing else on them."""
        machine = self._machine
        if machine.exclusive and job.is_placed_freely and not (machine.queues or machine.features):
            return job.res <= int(there.sum())
        return any(self._fits_on(job, hosts & there) for hosts in self._open(job))

    def _fits_on(self, job: Job, hosts: NDArray[np.bool_]) -> bool:
        least, most = self._nodes(job)
        room = np.where(hosts, self._room(job), 0)
        if job.units_per_node:
            room = np.where(room >= job.units_per_node, job.units_per_node, 0)
        best = _in_a_row(room, least, most, job.res) if job.contiguous else np.sort(room[room > 0])[::-1][:most]
        return len(best) >= least and int(best.sum()) >= job.res

    def _fixed_nodes(self, job: Job) -> int | None:
        """Return how many nodes a job takes in any case; None: it may take more or fewer."""
        if self._machine.exclusive or job.demand is None:
            return job.res
        return job.res // job.units_per_node if job.units_per_node else None

    def _nodes(self, job: Job) -> tuple[int, int]:
        """Return the least and most nodes that a job may have."""
        fixed = self._fixed_nodes(job)
        least, most = (job.node_range or (1, job.res)) if fixed is None else (fixed, fixed)
        allowed = None if self._machine.exclusive else self._queues.most_nodes(job)
        return least, most if allowed is None else min(most, allowed)

    def _contradiction(self, job: Job) -> str:
        """Return how a job contradicts itself."""
        each, span, fixed = job.units_per_node, job.node_range, self._fixed_nodes(job)
        if each and ((fixed == job.res and each > 1) or job.res % each):
            return f"asks for {each} of its {job.res} units on each node"
        if span and (span[0] > job.res or (fixed is not None and not span[0] <= fixed <= span[1])):
            return f"asks for {span[0]} to {span[1]} nodes, its {job.res} units take other numbers"
        return ""

    def lack(self, job: Job) -> str:
        """Return what a job names that the machine does not have, or not often enough."""
        machine = self._machine
        if not machine.exclusive:
            for name, amount in [*(job.demand or {}).items(), *job.per_node.items()]:
                if amount and name not in machine.resources:
                    return f"needs resource {name!r}, which the machine does not have"
        for name, amount in job.licences.items():
            if amount > machine.licences.get(name, 0):
                return f"asks for {amount} {name}, the machine has {machine.licences.get(name, 0)}"
        for name in (*job.node_list, *job.exclude_nodes):
            if name not in machine.ids:
                return f"names host {name!r}, which the machine does not have"
        for name in job.io_nodes:
            if name not in machine.storage:
                return f"is pinned to I/O node {name!r}, which is no storage host"
        return ""

    def _open(self, job: Job) -> list[NDArray[np.bool_]]:
        """Return the hosts that a job may use by its lists and the queues, bool [compute host], each choice it has."""
        listed = np.ones(self._machine.size, dtype=bool)
        listed = listed & self._machine.mask(job.node_list) if job.node_list else listed
        listed = listed & ~self._machine.mask(job.exclude_nodes) if job.exclude_nodes else listed
        return [hosts & listed for hosts in self._queues.places_of(job)]

    def _room(self, job: Job) -> Ints:
        """Return how many units each idle host takes, int64 [compute host]."""
        machine = self._machine
        one = np.ones(machine.size, dtype=np.int64)
        if machine.exclusive:
            return one
        left = machine.capacity - np.array(_along(machine, job.per_node))
        room = one if job.demand is None else one * _COUNTLESS
        for axis, amount in enumerate(_along(machine, job.demand or {})):
            room = np.minimum(room, left[:, axis] // amount) if amount else room
        return np.where((left >= 0).all(axis=1), room, 0)


def _along(machine: Machine, amounts: Mapping[str, int]) -> list[int]:
    """Return amounts by name along the machine's resources."""
    return [amounts.get(name, 0) for name in machine.resources]


def _in_a_row(room: Ints, least: int, most: int, units: int) -> Ints:
    """Return the room of neighbours, as many as may be, that have the most of it; none without enough neighbours."""
    best = room[:0]
    ends = np.flatnonzero(np.diff(np.concatenate(([0], (room > 0).astype(np.int8), [0]))))
    for first, end in ends.reshape(-1, 2).tolist():
        count = min(most, end - first)
        if count < least:
            continue
        total = np.concatenate(([0], np.cumsum(np.minimum(room[first:end], units))))
        sums = total[count:] - total[:-count]
        at = first + int(sums.argmax())
        if int(sums.max()) > int(best.sum()):
            best = room[at : at + count]
    return best


def holdings(machine: Machine, asking: Sequence[Job | None], hosts: HostSets, units: Ints) -> Iterator[Slots]:
    """Yield what the job of each row takes of the hosts of a machine, in blocks of hosts.

    A log of 39,000 jobs on 9,000 hosts has tens of millions of slots.

    Args:
        machine: whose hosts are shared; on whole hosts, and without a request, a job takes whole nodes.
        asking: the job whose request each row has.
        hosts: of each row.
        units: along the hosts of all rows.
    """
    each, once = np.zeros((2, len(asking), len(machine.resources)), dtype=np.int64)
    shares = np.zeros(len(asking), dtype=bool)
    for at, job in enumerate(() if machine.exclusive else asking):
        if job is not None and job.demand is not None and not job.whole_nodes:
            shares[at], each[at], once[at] = True, _along(machine, job.demand), _along(machine, job.per_node)
    begins = np.cumsum(hosts.length) - hosts.length
    highest = int(hosts.last.max(initial=-1)) + 1
    width = max(1, highest // (int(hosts.length.sum()) // _BLOCK + 1))
    for low in range(0, highest, width):
        part, of = hosts.inside(low, min(low + width, highest) - 1)
        host, row = part.slots()
        slot = np.repeat(begins[of] - hosts.first[of], part.length) + host
        there, shared = host < machine.size, shares[row]
        amount = machine.capacity[np.where(there, host, 0)]
        amount[~there] = 0
        amount[shared] = units[slot][shared, None] * each[row[shared]] + once[row[shared]]
        yield Slots(host, row, amount)


def _exceeds(one: Mapping[str, Any], job: Job) -> bool:
    """Return whether a job asks for more time or nodes than a partition allows."""
    nodes = job.res if job.demand is None else job.node_range[0] if job.node_range else 1
    longest, most = one.get("max_time"), one.get("max_nodes")
    return (longest is not None and job.limit > longest) or (most is not None and nodes > most)
