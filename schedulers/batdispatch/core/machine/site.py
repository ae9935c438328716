"""What a site says of its queues: partitions, qualities of service, and reservations of hosts for some time.

A machine tells its site in properties of its hosts, so that whoever is told the machine, over whatever protocol or from
a recording, knows its site as well:

=============  ========================================================================================================
``partition``  the partitions that a host is in, their names separated by spaces or commas
``features``   what the host has that jobs may require, separated by spaces or commas (`core.machine.features`)
``queues``     all that is said beside, as JSON (see `QueuesProperty`); if several hosts state it, they state it alike
=============  ========================================================================================================

Jobs name a partition, a quality of service, a reservation and features in their fields ``partition``, ``qos``,
``reservation`` and ``constraint``. A job that may run in any of several partitions names all of them in ``partition``,
with commas in between, or in ``partitions``, which counts before it unless it is empty; all its hosts lie in one of
them. A field means something only on a machine whose site says something of that kind: logs have partitions of machines
that are long gone.

References:
    Slurm documentation, slurm.conf(5) (PartitionName), https://slurm.schedmd.com/slurm.conf.html; Quality of Service,
    https://slurm.schedmd.com/qos.html.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, NamedTuple, Protocol, TypeVar

import msgspec

from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.names import expand
from batdispatch.core.jobs.fields import MAX_MOMENT
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.machine.features import CONSTRAINT, FEATURES_PROPERTY, largest, ways

PARTITION_PROPERTY = "partition"
#: Field of a job that names several partitions.
PARTITIONS = "partitions"
SITE_PROPERTY = "queues"
#: By how much a job may reach into a reservation, or come too early for one, s: the resolution of simulators' clocks.
TICK = 1e-6
#: Largest priority: Slurm's own limit.
MAX_PRIORITY = 2**32 - 2

_BETWEEN = re.compile(r"[\s,]+")
T = TypeVar("T", bound="Class")
PreemptMode = Literal["", "off", "cancel", "requeue", "suspend"]


class Class(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What partitions and qualities of service have in common."""

    name: str
    #: Longest walltime allowed, s; None: any, also none.
    max_time: float | None = None
    #: Most nodes that a job may have; None: any number.
    max_nodes: int | None = None
    #: What a job gains by it under an ordering that looks at it.
    priority: int = 0
    #: What becomes of its jobs if others preempt them; empty: as the dispatcher says, which only `slurm-backfill` does.
    preempt_mode: PreemptMode = ""
    #: For how long its jobs run on once they are preempted, s.
    grace_time: Annotated[float, msgspec.Meta(ge=0)] = 0.0


class Partition(Class, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Hosts that jobs ask for by a name; partitions may overlap."""

    #: Names, see `core.hosts.names`; None: the hosts whose property says so.
    hosts: list[str] | None = None
    #: Whether it is meant by jobs that name none.
    default: bool = False
    #: Jobs of partitions with a larger tier go first (Slurm's PriorityTier); only `slurm-backfill` looks at it.
    tier: int = 1


class Qos(Class, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A quality of service."""

    #: Whether it is meant by jobs that name none.
    default: bool = False
    #: Names of those whose jobs its jobs may preempt.
    preempts: list[str] = []


class Window(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An advance reservation: hosts that only some jobs may use for some time. Without such jobs: maintenance."""

    name: str
    #: Seconds of simulated time.
    start: float
    end: float
    #: Names, see `core.hosts.names`; None: `nodes` hosts, or all.
    hosts: list[str] | None = None
    #: This many of the hosts, the first ones in order of their ids; None: all.
    nodes: int | None = None
    #: Whose jobs are let in, by the jobs' fields; of ``-bob``, everybody's but Bob's.
    users: list[str] = []
    accounts: list[str] = []
    partitions: list[str] = []


class Closure(NamedTuple):
    """Hosts on which a job must not start from `begin` on and before `end`, in seconds."""

    begin: float
    end: float
    hosts: int


class Ban(NamedTuple):
    """Hosts on which jobs must not run after `before`, nor start before `end`, in seconds."""

    before: float
    end: float
    hosts: int

    def closure(self, walltime: float) -> Closure:
        """Return when the hosts are closed to a job with a walltime, in seconds."""
        return Closure(self.before - walltime + TICK, self.end, self.hosts)


class QueuesProperty(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the property ``queues`` says."""

    partitions: list[Partition] = []
    qos: list[Qos] = []
    reservations: list[Window] = []


class HostLike(Protocol):
    """A host with its properties."""

    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def properties(self) -> Mapping[str, str]: ...


class Site:
    """The queues of a machine.

    Attributes:
        told: as it was said.
        partitions: by name.
        qos: by name.
        hosts: mask of the hosts of each partition, by its name.
        windows: the reservations.
        reserved: mask of the hosts of each reservation, by its name.
        compute: mask of all hosts that run jobs.
        features: mask of the hosts with each feature, by its name.
    """

    def __init__(
        self,
        told: QueuesProperty,
        by_property: Mapping[str, int],
        hosts: Mapping[str, int],
        compute: int,
        features: Mapping[str, int] = {},
        *,
        whole_hosts: bool = True,
    ) -> None:
        """Check what was said.

        Args:
            told: what the property ``queues`` says.
            by_property: mask of the hosts that name a partition, by its name.
            hosts: host name -> id.
            compute: mask of the hosts that run jobs.
            features: mask of the hosts with each feature, by its name.
            whole_hosts: whether jobs take whole hosts.

        Raises:
            InputError: something is said twice, out of bounds, or of no host.
        """
        self.told = told
        self.partitions = _by_name(told.partitions, "partition")
        self.qos = _by_name(told.qos, "QOS")
        for name in by_property:
            self.partitions.setdefault(name, Partition(name=name))
        self.hosts: dict[str, int] = {}
        for name, partition in self.partitions.items():
            mask = by_property.get(name, 0)
            if partition.hosts is not None:
                mask = _mask(partition.hosts, hosts, compute, f"partition {name!r}")
            if not mask:
                raise InputError(f"partition {name!r} has no host")
            self.hosts[name] = mask
        self.compute = compute
        self._whole_hosts = whole_hosts
        self.features = dict(features)
        self._constrained: dict[str, tuple[int, ...]] = {}
        self.windows = tuple(told.reservations)
        self._windows = {window.name: window for window in self.windows}
        self.reserved = {window.name: self._reserved(window, hosts) for window in self.windows}
        self._requests: dict[tuple[Request, int, int | None, tuple[int, ...]], Request] = {}

    def _reserved(self, window: Window, hosts: Mapping[str, int]) -> int:
        """Return the mask of the hosts of a reservation.

        Raises:
            InputError: it is wrong.
        """
        what = f"reservation {window.name!r}"
        if [other.name for other in self.windows].count(window.name) > 1:
            raise InputError(f"{what} is there twice")
        if not 0 <= window.start < window.end <= MAX_MOMENT:
            expected = f"expected a start before its end, and an end of at most {MAX_MOMENT:g} s"
            raise InputError(f"{what} lasts from {window.start:g} to {window.end:g} s, {expected}")
        for name in window.partitions:
            if name not in self.partitions:
                raise InputError(f"{what} lets in partition {name!r}, which is not there")
        if window.hosts is not None and window.nodes is not None:
            raise InputError(f"{what} names hosts and a number of nodes, expected one of them")
        mask = self.compute if window.hosts is None else _mask(window.hosts, hosts, self.compute, what)
        if window.nodes is not None:
            if not 1 <= window.nodes <= mask.bit_count():
                raise InputError(f"{what} has {window.nodes} nodes, expected 1 to {mask.bit_count()}")
            mask = hostset.mask_of(hostset.ids(mask)[: window.nodes])
        if not mask:
            raise InputError(f"{what} has no host")
        return mask

    # ------------------------------------------------------------------ what a job is in

    def partition_of(self, job: Job) -> Partition | None:
        """Return the partition that a job names, or else the default one; None if the site has no such partition.

        Of several, it is the first of those that take the job, or of all.
        """
        if not names_several(job):
            return _named(self.partitions, job.extra.get("partition"))
        named = self.partitions_of(job)
        return next((one for one in named if not self._refusal_by(one, job)), named[0] if named else None)

    def partitions_of(self, job: Job) -> tuple[Partition, ...]:
        """Return the partitions that a job names, of those that the site has, or else the default one.

        Those of higher tiers come first, as Slurm tries them.
        """
        if not names_several(job):
            one = self.partition_of(job)
            return () if one is None else (one,)
        named = (self.partitions[name] for name in partition_names(job) if name in self.partitions)
        return tuple(sorted(named, key=lambda one: -one.tier))

    def entries(self, job: Job) -> tuple[Job, ...]:
        """Return a waiting job once for each partition in which it may run, as one that names that one alone."""
        if not names_several(job):
            return (job,)
        found = []
        for one in self.partitions_of(job):
            there = self.hosts[one.name] if job.request.allowed is None else self.hosts[one.name] & job.request.allowed
            # A job to which reservations leave no host now is tried nevertheless: its plan looks further.
            if not self._refusal_by(one, job) and (there or job.request.allowed == 0):
                extra = {name: value for name, value in job.extra.items() if name != PARTITIONS}
                alone = msgspec.structs.replace(job, extra={**extra, "partition": one.name})
                found.append(self.asking(alone, there))
        return tuple(found) or (job,)

    def qos_of(self, job: Job) -> Qos | None:
        """Return the quality of service that a job names, or else the default one; None if the site has none such."""
        return _named(self.qos, job.extra.get("qos"))

    def longest(self, job: Job) -> float:
        """Return the longest walltime that the queues of a job allow, in seconds, or infinity."""
        longest = max(map(_most_time, self.partitions_of(job)), default=math.inf)
        return min(longest, _most_time(self.qos_of(job)))

    def longest_there(self, job: Job) -> float:
        """Return the longest walltime that a job may have on whichever of the hosts that it asks for now, in seconds.

        One that is shown again may come to another of its partitions: `longest` says what these allow.
        """
        taking = [one for one in self.partitions_of(job) if not self._refused_by_limits(one, "partition", job)]
        found = self.longest(job)
        for mask in job.request.choices or (self.compute if job.request.allowed is None else job.request.allowed,):
            touched = [one for one in taking if mask & self.hosts[one.name]]
            around = [_most_time(one) for one in touched if mask & ~self.hosts[one.name] == 0]
            found = min(found, max(around) if around else min(map(_most_time, touched), default=math.inf))
        return found

    def refusal(self, job: Job) -> str:
        """Return why no queue of the site takes a job, or an empty text."""
        listed = _listed(job)
        if self.partitions and not isinstance(listed, list | str | None):
            return f"names its partitions {str(listed)[:60]}, expected a list of names"
        for kind, classes, field in (("partition", self.partitions, "partition"), ("QOS", self.qos, "qos")):
            named = job.extra.get(field)
            found: Class | None = self.partition_of(job) if kind == "partition" else self.qos_of(job)
            named = ", ".join(partition_names(job)) if kind == "partition" and names_several(job) else named
            if found is None and classes:
                there = f"the site has {', '.join(sorted(classes))}"
                if named is not None:
                    return f"asks for {kind} {named!s}, {there}"
                if kind == "partition":
                    return f"names no {kind} and there is no default, {there}"
            if found is not None and (reason := self._refused_by_limits(found, kind, job)):
                return reason
        if self.features and CONSTRAINT in job.extra and not self._parts_of(job):
            return f"requires {str(job.extra[CONSTRAINT])[:60]!r}, which no host has that it may use"
        return self._refused_by_reservation(job) if self.windows and "reservation" in job.extra else ""

    def _refused_by_limits(self, found: Class, kind: str, job: Job) -> str:
        """Return how a job exceeds a limit of a partition or quality of service, or an empty text."""
        if found.max_time is not None and job.walltime > found.max_time:
            said = "no walltime" if math.isinf(job.walltime) else f"{job.walltime:g} s"
            return f"asks for {said}, {kind} {found.name} allows {found.max_time:g} s"
        least = job.units if self._whole_hosts else job.request.least_nodes
        if found.max_nodes is not None and least > found.max_nodes:
            return f"asks for {least} nodes, {kind} {found.name} allows {found.max_nodes}"
        return ""

    def _refusal_by(self, partition: Partition, job: Job) -> str:
        """Return why one of the partitions that a job names does not take it, or an empty text."""
        reason = self._refused_by_limits(partition, "partition", job)
        if not reason and not self._within(job, self.hosts[partition.name]):
            reason = f"requires what no host of partition {partition.name} has"
        return reason

    def _parts_of(self, job: Job) -> tuple[int, ...]:
        """Return the masks of the parts of the machine that a job may choose from; none: there is no host for it."""
        if not self.partitions or not names_several(job):
            partition = self.partition_of(job)
            return self._within(job, self.compute if partition is None else self.hosts[partition.name])
        taking = (one for one in self.partitions_of(job) if not self._refused_by_limits(one, "partition", job))
        return largest(mask for one in taking for mask in self._within(job, self.hosts[one.name]))

    def _within(self, job: Job, mask: int) -> tuple[int, ...]:
        """Return what a job's reservation and required features leave of some hosts, as parts to choose from."""
        if self.windows and "reservation" in job.extra:
            mask &= self.reserved.get(str(job.extra["reservation"]), -1)
        parts = self._having(str(job.extra[CONSTRAINT])) if self.features and CONSTRAINT in job.extra else (-1,)
        return largest(mask & part for part in parts)

    def _having(self, text: str) -> tuple[int, ...]:
        """Return the parts of the machine that have what a constraint requires; none if it cannot be read."""
        if text not in self._constrained:
            self._constrained[text] = ways(text, self.features, self.compute)
        return self._constrained[text]

    def _refused_by_reservation(self, job: Job) -> str:
        name = str(job.extra["reservation"])
        window = self._windows.get(name)
        if window is None:
            return f"asks for reservation {name}, the site has {', '.join(sorted(self._windows))}"
        if (window.users or window.accounts or window.partitions) and not self._lists(window, job):
            return f"asks for reservation {name}, which lets in others"
        if job.walltime > window.end - window.start:
            said = "no walltime" if math.isinf(job.walltime) else f"{job.walltime:g} s"
            return f"asks for {said}, reservation {name} lasts {window.end - window.start:g} s"
        return ""

    def _lists(self, window: Window, job: Job) -> bool:
        partition = self.partition_of(job)
        told = (
            (job.user, window.users),
            (str(job.extra.get("account", "")), window.accounts),
            ("" if partition is None else partition.name, window.partitions),
        )
        if any(f"-{name}" in listed for name, listed in told if name):
            return False
        entries = [one for _, listed in told for one in listed]
        lets_others_in = bool(entries) and all(one.startswith("-") for one in entries)
        return lets_others_in or any(name in listed for name, listed in told if name)

    def window_of(self, job: Job) -> Window | None:
        """Return the reservation that a job asks for; None: it asks for none that there is."""
        return self._windows.get(str(job.extra["reservation"])) if "reservation" in job.extra else None

    def closures(self, job: Job) -> tuple[Closure, ...]:
        """Return when which hosts are closed to a job that no queue refuses, by its walltime."""
        return tuple(ban.closure(job.walltime) for ban in self.bans(job))

    def bans(self, job: Job) -> tuple[Ban, ...]:
        """Return which hosts are closed to a job that no queue refuses, whatever its walltime."""
        own = self.window_of(job)
        found = [
            Ban(window.start, window.end - TICK, self.reserved[window.name])
            for window in self.windows
            if window is not own and not self._lists(window, job)
        ]
        if own is not None:
            found.append(Ban(-math.inf, own.start - TICK, self.compute))
            found.append(Ban(own.end, math.inf, self.compute))
        return tuple(found)

    @property
    def moments(self) -> list[float]:
        """When reservations start and end, ascending, in seconds."""
        return sorted({moment for window in self.windows for moment in (window.start, window.end)})

    def fitted(self, job: Job) -> Job:
        """Return a job that asks, beside all else, for hosts of its partition and reservation, within limits."""
        parts, qos = self._parts_of(job), self.qos_of(job)
        mask = reduce(or_, parts, 0)
        bounds = [one.max_nodes for one in (self._widest(job), qos) if one is not None and one.max_nodes is not None]
        sizes, most = job.request.sizes, min(bounds, default=None)
        if self._whole_hosts and sizes is not None and most is not None and sizes.least <= most < sizes.most:
            sizes = msgspec.structs.replace(sizes, most=most)
            job = msgspec.structs.replace(job, request=msgspec.structs.replace(job.request, sizes=sizes))
        most = None if self._whole_hosts else most
        if job.request.nodes is not None and most is not None and job.request.nodes[1] <= most:
            most = None
        # One node is always in one of the parts, if it stays one.
        units = job.units if sizes is None else max(job.units, sizes.most)
        several = units > 1 and (job.request.nodes is None or job.request.nodes[1] > 1)
        choices = parts if len(parts) > 1 and several else ()
        return self.asking(job, mask, most, choices)

    def _widest(self, job: Job) -> Partition | None:
        """Return the partition in which a job may have most nodes, of those that take it; None: it is in none."""
        if not names_several(job):
            return self.partition_of(job)
        taking = [one for one in self.partitions_of(job) if not self._refusal_by(one, job)]
        return max(taking, key=lambda one: math.inf if one.max_nodes is None else one.max_nodes, default=None)

    def asking(self, job: Job, mask: int, most: int | None = None, choices: tuple[int, ...] | None = None) -> Job:
        """Return a job that may only use the hosts of a mask, and at most so many of them.

        Args:
            job: the job.
            mask: the hosts.
            most: the number; None: any.
            choices: parts of the machine, in one of which all its hosts lie; None: as it has them, within the mask.
        """
        allowed = None if mask == self.compute else mask
        if choices is None:
            choices = largest(part & mask for part in job.request.choices)
            choices = choices if len(choices) > 1 else ()
        if most is None and job.request.allowed == allowed and job.request.choices == choices:
            return job
        key = (job.request, mask, most, choices)
        request = self._requests.get(key)
        if request is None:
            if len(self._requests) > 100_000:
                self._requests.clear()
            request = msgspec.structs.replace(job.request, allowed=allowed, choices=choices)
            # Units that are whole nodes may contradict the nodes asked for, which is to be found later.
            least = job.request.nodes[0] if job.request.nodes else job.request.least_nodes
            if most is not None and least <= most:
                request = msgspec.structs.replace(request, nodes=(least, most))
            self._requests[key] = request
        return msgspec.structs.replace(job, request=request)

    # ------------------------------------------------------------------ what it gains by it

    def partition_factor(self, job: Job) -> float:
        """Return the priority of a job's partition over the largest of all partitions, from 0 to 1."""
        return max((_factor(one, self.partitions) for one in self.partitions_of(job)), default=0.0)

    def qos_factor(self, job: Job) -> float:
        """Return the priority of a job's quality of service over the largest of all, from 0 to 1."""
        return _factor(self.qos_of(job), self.qos)


def partition_names(job: Job) -> tuple[str, ...]:
    """Return the names of the partitions in one of which a job runs; none: it names none."""
    listed = _listed(job)
    told = job.extra.get("partition") if listed is None else listed
    if told is None:
        return ()
    names = told if isinstance(told, list) else str(told).split(",")
    return tuple(dict.fromkeys(str(name).strip() for name in names))


def names_several(job: Job) -> bool:
    """Return whether a job may name several partitions."""
    return _listed(job) is not None or "," in str(job.extra.get("partition", ""))


def _listed(job: Job) -> Any:
    """Return what a job says in its list of partitions; None: nothing, as where the list is empty."""
    told = job.extra.get(PARTITIONS)
    return None if told in ([], "") else told


def site_of(hosts: Sequence[HostLike], compute: int, whole_hosts: bool) -> Site | None:
    """Return the site that hosts tell in their properties; None: they tell of none.

    Args:
        hosts: of the machine.
        compute: mask of those that run jobs.
        whole_hosts: whether jobs take whole hosts.

    Raises:
        InputError: what they tell is wrong or contradicts itself.
    """
    by_property: dict[str, list[int]] = {}
    having: dict[str, list[int]] = {}
    texts: dict[str, str] = {}
    for host in hosts:
        properties = host.properties
        if PARTITION_PROPERTY in properties and compute >> host.id & 1:
            for name in filter(None, _BETWEEN.split(properties[PARTITION_PROPERTY])):
                by_property.setdefault(name, []).append(host.id)
        if FEATURES_PROPERTY in properties and compute >> host.id & 1:
            for name in filter(None, _BETWEEN.split(properties[FEATURES_PROPERTY])):
                having.setdefault(name, []).append(host.id)
        if SITE_PROPERTY in properties:
            texts.setdefault(properties[SITE_PROPERTY], host.name)
    if not (by_property or texts or having):
        return None
    if len(texts) > 1:
        raise InputError(f"hosts {' and '.join(texts.values())} state different queues")
    told = QueuesProperty()
    for text, name in texts.items():
        try:
            told = msgspec.json.decode(text, type=QueuesProperty)
        except (msgspec.MsgspecError, RecursionError) as problem:
            raise InputError(f"host {name}: its queues are no description of any: {problem}") from None
    named, features = ({name: hostset.mask_of(ids) for name, ids in each.items()} for each in (by_property, having))
    return Site(told, named, {host.name: host.id for host in hosts}, compute, features, whole_hosts=whole_hosts)


def _mask(names: Sequence[str], hosts: Mapping[str, int], compute: int, what: str) -> int:
    """Return the mask of the hosts of some names, which `what` has."""
    ids = set()
    for name in expand(*names):
        if name not in hosts or not compute >> hosts[name] & 1:
            raise InputError(f"{what} has host {name!r}, which {'runs no jobs' if name in hosts else 'is not there'}")
        ids.add(hosts[name])
    return hostset.mask_of(ids)


def _by_name(classes: Sequence[T], kind: str) -> dict[str, T]:
    found: dict[str, T] = {}
    for one in classes:
        what = f"{kind} {one.name!r}"
        if not one.name or _BETWEEN.search(one.name):
            raise InputError(f"{what}: expected a name without spaces and commas")
        if one.name in found:
            raise InputError(f"{what} is there twice")
        if one.max_time is not None and not 0 < one.max_time < math.inf:
            raise InputError(f"{what}: max_time is {one.max_time:g}, expected seconds above 0")
        if one.max_nodes is not None and one.max_nodes < 1:
            raise InputError(f"{what}: max_nodes is {one.max_nodes}, expected at least 1")
        if not 0 <= one.priority <= MAX_PRIORITY:
            raise InputError(f"{what}: priority is {one.priority}, expected 0 to {MAX_PRIORITY}")
        found[one.name] = one
    defaults = [one.name for one in classes if getattr(one, "default", False)]
    if len(defaults) > 1:
        raise InputError(f"{kind} {defaults[0]!r} and {defaults[1]!r} are both the default")
    return found


def _named(classes: Mapping[str, T], name: Any) -> T | None:
    if name is not None:
        return classes.get(str(name))
    if len(classes) == 1:
        return next(iter(classes.values()))
    return next((one for one in classes.values() if getattr(one, "default", False)), None)


def _most_time(one: Class | None) -> float:
    return math.inf if one is None or one.max_time is None else one.max_time


def _factor(one: Class | None, classes: Mapping[str, Class]) -> float:
    largest = max((each.priority for each in classes.values()), default=0)
    return one.priority / largest if one is not None and largest else 0.0
