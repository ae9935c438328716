"""The machine of a site and its queues, worked out from accounts, and the platform file that says both.

What is worked out is said: what it is, from what, and how sure that is, a line each (`Inference`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import msgspec
import numpy as np
from lxml import etree
from msgspec import UNSET

from batdispatch.core.errors import InputError
from batdispatch.core.hosts.names import fold
from batdispatch.core.machine.features import FEATURES_PROPERTY
from batdispatch.core.machine.machine import CAPACITY_PROPERTY, LICENCES_PROPERTY
from batdispatch.core.machine.site import SITE_PROPERTY, Partition, QueuesProperty, Window
from batdispatch.inputs.workloads.log_columns import LogColumns
from batdispatch.inputs.workloads.logs import LogInfo
from batdispatch.inputs.workloads.moments import Clock
from batdispatch.inputs.workloads.node_use import NodeUse
from batdispatch.inputs.workloads.report import ImportReport

#: Share of alike nodes that must have reached an amount for it to be the size of a class of nodes.
_CLASS = 0.05
#: Share of a machine that was never in use at a time, from which its size is doubted.
_IDLE = 0.1
#: Seconds that a job may run beyond its limit until it is ended.
_LATE = 120.0
#: Chance that the next job of a partition runs on a node that none of its jobs ran on, up to which its nodes are known.
_SURE, _LIKELY = 0.001, 0.05

Sure = Literal["sure", "likely", "a guess"]


class Inference(NamedTuple):
    """One thing that was worked out."""

    what: str
    source: str
    sure: Sure

    def __str__(self) -> str:
        """Return it as a line."""
        return f"{self.what} (from {self.source}; {self.sure})"


class SiteNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node of a site.

    Attributes:
        name: of the host.
        capacity: what it offers, by resource; empty: whole hosts are given out.
        features: what jobs may require of it.
        properties: what else its host says, such as a weight.
    """

    name: str
    capacity: Mapping[str, int] = {}
    features: tuple[str, ...] = ()
    properties: Mapping[str, str] = {}


class SiteFiles(Protocol):
    """The files that describe a site, such as those of its Slurm.

    Attributes:
        log_format: the format of the logs that tell what this site ran.
        logs: what these logs are, in words.
        counts_memory: whether jobs are given memory.
    """

    log_format: str
    logs: str
    counts_memory: bool

    def draft(
        self,
        use: NodeUse,
        clock: Clock,
        origin: float,
        *,
        shared: bool,
        licences: Mapping[str, int],
        least: Mapping[str, int],
        last: float,
    ) -> SiteDraft:
        """Return the site.

        Args:
            use: of the nodes, by the log.
            clock: tells what moments the site's times are.
            origin: moment of the simulation's 0 s.
            shared: whether jobs share hosts.
            licences: the most that jobs held at a time, by the log.
            least: what a job had on one node at least, by resource and the log.
            last: when the last job of the log came, s of simulated time: until then, reservations repeat.

        Raises:
            InputError: a file of the site is wrong, or contradicts the log.
        """

    def options_beside(self, dispatcher: str, options: dict[str, str], stated: Mapping[str, str]) -> dict[str, str]:
        """Return what the files add to the options of a dispatcher that imitates the site; others get nothing.

        Args:
            dispatcher: its name.
            options: as texts, which count first.
            stated: those that people state, before files that they name are read.

        Raises:
            InputError: the files say something that the dispatcher cannot do.
        """

    def options_by_log(
        self, dispatcher: str, options: Mapping[str, str], origin: float, jobs: LogColumns, info: LogInfo
    ) -> tuple[dict[str, str], str]:
        """Return what the log tells of how the site schedules, as options of a dispatcher that has the files', and how.

        Those that it has stay; the text is empty if nothing is added.

        Args:
            dispatcher: its name.
            options: all that it has, as texts, with those of the files.
            origin: moment of the simulation's 0 s.
            jobs: of the log, in order of submission.
            info: what the log tells of them.
        """


#: Entry-point group of what reads the files of a site: by the name of its option, from a folder and the name of the
#: cluster (empty: the only one) to `SiteFiles`.
GROUP = "batdispatch.sites"


class SiteDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A machine with its queues.

    Attributes:
        nodes: in order of their names.
        queues: partitions and the like.
        inferences: how all this is known.
        warnings: what to doubt, a sentence each.
        exclusive: partitions whose jobs get whole nodes.
        licences: what exists once for the whole machine.
        default_times: walltime of jobs that state none, by partition, s.
        threads: CPUs of a core, which jobs get as a whole.
    """

    nodes: Sequence[SiteNode]
    queues: QueuesProperty
    inferences: Sequence[Inference] = ()
    warnings: Sequence[str] = ()
    exclusive: frozenset[str] = frozenset()
    licences: Mapping[str, int] = {}
    default_times: Mapping[str, float] = {}
    threads: int = 1

    def platform(self) -> bytes:
        """Return the platform file."""
        return with_licences(named_platform(self.nodes, self.queues), self.licences)


# ---------------------------------------------------------------------- from accounts alone


def draft_of_use(use: NodeUse, *, shared: bool, partitions: bool = True, licences: Mapping[str, int] = {}) -> SiteDraft:
    """Return the machine that jobs of a log were seen to use.

    Args:
        use: of the nodes.
        shared: whether jobs share hosts; otherwise hosts have no capacities.
        partitions: whether its partitions are kept.
        licences: the most that jobs held at a time.
    """
    everywhere = all(use.partition_of(node) for node in range(len(use.names)))
    inferences: list[Inference] = []
    none: dict[str, int] = {}
    capacity = _capacities(use, inferences) if shared else [none] * len(use.names)
    nodes = [SiteNode(name=name, capacity=each) for name, each in zip(use.names, capacity, strict=True)]
    queues = QueuesProperty()
    # A single partition with all nodes restricts nothing.
    if partitions and (len(use.uses) > 1 or not everywhere):
        queues = QueuesProperty(partitions=[_partition(use, name, inferences) for name in sorted(use.uses)])
    return SiteDraft(
        nodes=sorted(nodes, key=lambda node: node.name),
        queues=queues,
        inferences=[*inferences, *licence_inferences(licences)],
        warnings=unused_together(nodes, use) if shared else (),
        licences=licences,
    )


def licence_inferences(used: Mapping[str, int]) -> list[Inference]:
    """Return how many licences there are by the most that jobs held at a time."""
    source = "the most that jobs held at a time (ReqTRES, AllocTRES, Licenses)"
    return [Inference(f"licence {name}: at least {amount:,}", source, "a guess") for name, amount in used.items()]


def _partition(use: NodeUse, name: str, inferences: list[Inference]) -> Partition:
    """Return a partition with the nodes that its jobs used.

    The chance that its next job uses a node that none used before is estimated by the share of uses that are the only
    ones of their node (I. J. Good, "The population frequencies of species", Biometrika 40, 1953).
    """
    uses = use.uses[name]
    unseen = float((uses == 1).sum()) / float(uses.sum())
    hosts = fold(use.names[node] for node in np.flatnonzero(uses).tolist())
    sure: Sure = "sure" if unseen <= _SURE else "likely" if unseen <= _LIKELY else "a guess"
    what = f"partition {name} has {int((uses > 0).sum()):,} nodes, {','.join(hosts)}"
    inferences.append(Inference(what, f"Partition and NodeList of {use.jobs[name]:,} jobs", sure))
    return Partition(name=name, hosts=hosts)


def _capacities(use: NodeUse, inferences: list[Inference]) -> list[dict[str, int]]:
    """Return what each node offers: what was in use on it at a time, or on nodes that are alike.

    Nodes are alike if jobs of the same partition use them most and they have the same kinds of devices. An amount that
    some share of them reached is the size of a class, and a node that was never used so far is of the next larger one.
    """
    kinds = sorted(name for name in use.peak if name not in ("core", "memory"))
    groups: dict[tuple[object, ...], list[int]] = {}
    for node in range(len(use.names)):
        groups.setdefault((use.partition_of(node), *(use.peak[kind][node] > 0 for kind in kinds)), []).append(node)
    found: list[dict[str, int]] = [{} for _ in use.names]
    for group in groups.values():
        sizes = {name: _levels(use.peak[name][group].tolist()) for name in ("core", *kinds)}
        alike: dict[tuple[int, ...], list[int]] = {}
        for node in group:
            key = tuple(min(one for one in sizes[name] if one >= use.peak[name][node]) for name in sizes)
            alike.setdefault(key, []).append(node)
        for key, nodes in sorted(alike.items()):
            offer = {name: amount for name, amount in zip(sizes, key, strict=True) if amount}
            if memory := int(use.peak["memory"][nodes].max()):
                offer["memory"] = memory
            for node in nodes:
                found[node] = offer
            reached = sum(
                all(use.peak[name][node] == size for name, size in zip(sizes, key, strict=True)) for node in nodes
            )
            inferences.append(_inference(use, nodes, offer, reached))
    return found


def _levels(amounts: Sequence[int]) -> list[int]:
    """Return the amounts that make classes of nodes."""
    count = Counter(amounts)
    return [amount for amount in count if amount == max(count) or count[amount] >= max(2, _CLASS * len(amounts))]


def _inference(use: NodeUse, nodes: Sequence[int], offer: Mapping[str, int], reached: int) -> Inference:
    what = f"{','.join(fold(use.names[node] for node in nodes))}: at least {amounts_text(offer)} each"
    by = "" if reached == len(nodes) else f", in full on {reached:,} of {len(nodes):,}"
    sure: Sure = "likely" if reached == len(nodes) else "a guess"
    return Inference(what, f"the most that was in use on each at a time (AllocTRES, NodeList){by}", sure)


def amounts_text(amounts: Mapping[str, int]) -> str:
    """Return amounts as a platform file states them."""
    return " ".join(f"{name}={amount}" for name, amount in amounts.items())


def unused_together(nodes: Iterable[SiteNode], use: NodeUse) -> list[str]:
    """Say which capacities the log never used together; nothing if it does not tell which nodes jobs used."""
    total: Counter[str] = Counter()
    for node in nodes:
        total.update(node.capacity)
    return [
        f"the machine has {amount:,} {name}, of which the log never used more than {use.together.get(name, 0):,} at a "
        "time: a part may have been away"
        for name, amount in total.items()
        # Of what the log never tells, nothing is known.
        if use.names and name != "memory" and 0 < use.together.get(name, 0) < (1 - _IDLE) * amount
    ]


# ---------------------------------------------------------------------- jobs and partitions


def check_partitions(jobs: Mapping[str, int], there: Iterable[str], where: str) -> None:
    """Refuse a machine on which partitions of a log would be ignored.

    Args:
        jobs: of each partition of the log.
        there: the partitions of the machine.
        where: what the machine is read from.

    Raises:
        InputError: a partition of the log is not there, and the log has more than one, or the machine has others.
    """
    known = set(there)
    missing = {name: count for name, count in jobs.items() if name not in known}
    if missing and (known or len(jobs) > 1):
        said = ", ".join(f"{name} ({count:,} jobs)" for name, count in missing.items())
        raise InputError(
            f"says nothing of partition {said}: state the machine with it, or let all jobs use all nodes (--partitions "
            "ignore)",
            source=where,
        )


def with_limits_of(draft: SiteDraft, jobs: LogColumns) -> SiteDraft:
    """Return a site whose partitions allow as much time as jobs had that ran: limits change, and some are exempt."""
    longest: dict[str, float] = {}
    #: Of jobs that had no limit.
    ran: dict[str, float] = {}
    for name, walltime, runtime in zip(
        jobs.texts("partition"), jobs.walltime.tolist(), jobs.runtime.tolist(), strict=True
    ):
        if longest.get(name, 0.0) < walltime < math.inf:
            longest[name] = walltime
        elif math.isinf(walltime):
            ran[name] = max(ran.get(name, 0.0), runtime)
    partitions, warnings = [], list(draft.warnings)
    for one in draft.queues.partitions:
        most = longest.get(one.name, 0.0)
        if one.max_time is not None and ran.get(one.name, 0.0) > one.max_time + _LATE:
            most = max(most, ran[one.name])
        if one.max_time is not None and most > one.max_time:
            warnings.append(
                f"partition {one.name} allows {one.max_time:g} s, and jobs that may take up to {most:g} s ran in it: "
                f"{most:g} s taken"
            )
            one = msgspec.structs.replace(one, max_time=most)
        partitions.append(one)
    queues = msgspec.structs.replace(draft.queues, partitions=partitions)
    return msgspec.structs.replace(draft, queues=queues, warnings=warnings)


def fit_jobs(
    jobs: LogColumns, draft: SiteDraft, report: ImportReport, source: Path, unlimited: Collection[str] = frozenset()
) -> None:
    """Let jobs ask for what their site gives them. **This changes the jobs.**

    In partitions of whole nodes they take whole nodes, and whole cores where these have several threads. Without a
    walltime they get the default one of their partition, or else its longest; not one that they outran, which was none
    of theirs. A reservation or QOS of which nothing is known is forgotten. Of a reservation that repeats, a job gets
    the first one that is not over too soon for it.

    Args:
        jobs: of a log.
        draft: the site.
        report: what happens to each job is counted here.
        source: the log.
        unlimited: ids of jobs that had no limit, which get none but the longest of their partition.

    Raises:
        InputError: a job asks for more than any workload may say.
    """
    longest = {one.name: one.max_time for one in draft.queues.partitions}
    known = {one.name.partition("~")[0] for one in draft.queues.reservations}
    levels = {one.name for one in draft.queues.qos}
    for row, (name, partition) in enumerate(zip(jobs.ids, jobs.texts("partition"), strict=True)):
        table = jobs.tables[row]
        # Jobs without a demand take whole nodes.
        if partition in draft.exclusive and "demand" in table:
            jobs.put("whole_nodes", {row: True})
        if "reservation" in table and known and str(table["reservation"]) not in known:
            jobs.put("reservation", {row: UNSET})
            report.change("name a reservation of which nothing is known: they run outside of it", name)
        elif "reservation" in table and known:
            jobs.put("reservation", {row: _next_of(str(table["reservation"]), jobs, row, draft.queues.reservations)})
        if "qos" in table and levels and str(table["qos"]) not in levels:
            jobs.put("qos", {row: UNSET})
            report.change("name a QOS of which nothing is known: they have that of jobs that name none", name)
        usual = None if name in unlimited else draft.default_times.get(partition)
        limit = _limit_of(jobs, row, usual, longest.get(partition))
        if limit is not None:
            jobs.walltime[row] = limit
            report.change("without a time limit: that of their partition taken", name)
        if draft.threads > 1 and _round_up(jobs, row, draft.threads, source):
            report.change(f"have CPUs of cores with {draft.threads} threads: they take whole cores", name)


def _limit_of(jobs: LogColumns, row: int, *likely: float | None) -> float | None:
    """Return the first of some limits that a job ran no longer than; None: there is none, or it has its own."""
    if not math.isinf(jobs.walltime[row]):
        return None
    runtime = float(jobs.runtime[row])
    return next((one for one in likely if one is not None and runtime <= one + _LATE), None)


def _next_of(name: str, jobs: LogColumns, row: int, windows: Sequence[Window]) -> str:
    """Return the name of the first reservation, of those that repeat under a name, that a job can still run in."""
    walltime = float(jobs.walltime[row]) if math.isfinite(jobs.walltime[row]) else 0.0
    submission = float(jobs.submission[row])
    later = (
        one.name
        for one in windows
        if one.name.partition("~")[0] == name and one.end - min(walltime, one.end - one.start) >= submission
    )
    return next(later, name)


def _round_up(jobs: LogColumns, row: int, threads: int, source: Path) -> bool:
    """Let a job of cores take whole ones, of so many threads each; return whether it does. **This changes it.**"""
    (request,) = jobs.requests([row], source)
    demand = request.demand or {}
    if demand.get("core") != 1 or request.units_per_node is not None:
        return False
    units = max(-(-request.units // threads), request.nodes[0] if request.nodes else 1)
    # What a job needs of the other resources stays the same in all.
    shares = {name: -(-amount * request.units // units) for name, amount in demand.items() if name != "core"}
    jobs.put("demand", {row: {"core": threads, **shares}})
    jobs.units[row] = units
    return True


# ---------------------------------------------------------------------- the file


def with_licences(platform: bytes, licences: Mapping[str, int]) -> bytes:
    """Return a platform file that states licences; without any, it is left as it is."""
    if not licences:
        return platform
    root = etree.fromstring(platform)
    zone = root.find("zone")
    assert zone is not None
    zone.insert(0, etree.Element("prop", id=LICENCES_PROPERTY, value=amounts_text(licences)))
    etree.indent(root)
    return etree.tostring(root.getroottree(), xml_declaration=True, encoding="UTF-8")


def named_platform(nodes: Sequence[SiteNode], queues: QueuesProperty) -> bytes:
    """Return a platform of hosts of any names, without a network between them, and with queues."""
    from batdispatch.inputs.platforms.generate.document import Links, render

    links = Links()
    root = etree.Element("platform", version="4.1")
    world = etree.SubElement(root, "zone", id="site", routing="Full")
    if queues != QueuesProperty():
        etree.SubElement(world, "prop", id=SITE_PROPERTY, value=queues_text(queues))
    zone = etree.SubElement(world, "zone", id="nodes", routing="None")
    for node in nodes:
        host = etree.SubElement(zone, "host", id=node.name, speed=links.speed)
        for name, value in (
            (CAPACITY_PROPERTY, amounts_text(node.capacity)),
            (FEATURES_PROPERTY, " ".join(node.features)),
            *node.properties.items(),
        ):
            if value:
                etree.SubElement(host, "prop", id=name, value=value)
    return render(root, world, [], links, f"{len(nodes)} nodes of a site, written by batdispatch")


def queues_text(queues: QueuesProperty) -> str:
    """Return queues as the text of the property."""
    told = {key: [_said(one) for one in entries] for key, entries in msgspec.structs.asdict(queues).items() if entries}
    return msgspec.json.encode(told).decode()


def _said(one: msgspec.Struct) -> dict[str, Any]:
    """Return what an entry says, without what it leaves open."""
    defaults = dict(zip(one.__struct_fields__[::-1], one.__struct_defaults__[::-1], strict=False))
    fields = msgspec.structs.asdict(one)
    return {name: value for name, value in fields.items() if name == "name" or value != defaults.get(name)}
