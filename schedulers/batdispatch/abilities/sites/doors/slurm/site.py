"""The machine and the queues of a site, from its slurm.conf, gres.conf, and what scontrol and sinfo print.

Of what several say, `scontrol` is believed first, then slurm.conf, then `sinfo`. What the accounts of the same site
say of its nodes is held against that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from batdispatch.abilities.sites.doors.slurm.conf import Entry, SlurmConf, node_line, read_conf, read_gres_setting
from batdispatch.abilities.sites.doors.slurm.json_records import is_site_json, json_records
from batdispatch.abilities.sites.doors.slurm.left_out import PARTITION_LEFT_OUT
from batdispatch.abilities.sites.doors.slurm.lines import ConfLines
from batdispatch.abilities.sites.doors.slurm.records import (
    config_settings,
    is_config,
    is_qos,
    is_scontrol,
    is_sinfo,
    qos_records,
    scontrol_records,
    sinfo_records,
)
from batdispatch.abilities.sites.doors.slurm.settings import Setting, Settings
from batdispatch.abilities.sites.doors.slurm_texts import read_count, read_licences
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.names import MAX_HOSTS, expand, fold
from batdispatch.core.machine.machine import WEIGHT_PROPERTY
from batdispatch.core.machine.site import Partition, PreemptMode, Qos, QueuesProperty, Window
from batdispatch.inputs.files import read_text
from batdispatch.inputs.sites import Inference, SiteDraft, SiteNode, amounts_text, licence_inferences, unused_together
from batdispatch.inputs.workloads.moments import Clock
from batdispatch.inputs.workloads.node_use import NodeUse

T = TypeVar("T")
#: Longest file that is read, in bytes.
_MOST = 1 << 26
_NOBODY: tuple[str, ...] = ()
#: Fields that say how many cores a node has, the best first.
_CORES = ("cputot", "cpus")
#: States of nodes on which no job can start.
_AWAY = frozenset({"DOWN", "FUTURE", "FAIL", "FAILING", "FAILED", "ERROR"})
_UNSAID: PreemptMode = ""
CONF, GRES = "slurm.conf", "gres.conf"
KNOWN_FILES = (
    "expected slurm.conf, gres.conf, or what `scontrol show node`, `scontrol show partition`, `scontrol show "
    "reservation`, `scontrol show license`, `scontrol show config`, `sinfo` (these with --json, too) or `sacctmgr "
    "--parsable2 show qos` print"
)


class SlurmFolder(msgspec.Struct):
    """What a folder says of a site.

    Attributes:
        path: of the folder.
        conf: slurm.conf; None: it is not there.
        nodes: records of nodes by name, the one that is believed first coming first.
        partitions: records of partitions by name, likewise.
        reservations: records.
        qos: records.
        licences: settings that say how many there are, by name.
        remarks: what is not as it should be, a sentence each.
    """

    path: Path
    conf: SlurmConf | None = None
    nodes: dict[str, list[Settings]] = {}
    partitions: dict[str, list[Settings]] = {}
    reservations: list[Settings] = []
    qos: list[Settings] = []
    licences: dict[str, tuple[int, Setting]] = {}
    remarks: list[str] = []

    @property
    def counts_memory(self) -> bool:
        """Whether Slurm gives out memory beside cores.

        It does if nothing says how it selects nodes, but not where no node states how much it has: then it has 1 MiB.
        """
        chosen = self._general("SelectTypeParameters")
        if chosen is not None:
            return "MEMORY" in chosen.value.upper()
        states = ("realmemory" in one for told in self.nodes.values() for one in told)
        return self.conf is None or not self.conf.nodes or any(states)

    @property
    def gives_whole_nodes(self) -> bool:
        """Whether jobs get whole nodes in all partitions."""
        chosen = self._general("SelectType")
        return chosen is not None and chosen.value.lower().endswith("linear")

    def _general(self, key: str) -> Setting | None:
        return None if self.conf is None else self.conf.general.get(key.lower())


def read_folder(path: Path, cluster: str = "") -> SlurmFolder:
    """Read all files of a folder that say something of a site.

    Args:
        path: of the folder.
        cluster: of which what is said counts, where a file is of several.

    Raises:
        InputError: there is none, or one cannot be read.
    """
    if not path.is_dir():
        raise InputError(f"is no folder, {KNOWN_FILES} in a folder", source=str(path))
    found = SlurmFolder(path)
    if (path / CONF).is_file():
        found.conf = read_conf(path / CONF, others=True)
        found.remarks += found.conf.remarks()
    late: list[Settings] = []
    printed: Settings = {}
    included = {Path(one.source).resolve() for one in _sources(found.conf)}
    for file in sorted(one for one in path.iterdir() if one.is_file() and one.name not in (CONF, GRES)):
        text = read_text(file, limit=_MOST)
        if is_site_json(text):
            for record in json_records(text, str(file)):
                if "nodename" in record or "reservationname" in record or "licensename" in record:
                    _add(found, record)
                elif "partitionname" in record and "cputot" in record:
                    late.append(record)
                elif "partitionname" in record:
                    _add(found, record)
        elif is_config(text):
            printed = config_settings(text, str(file))
        elif is_scontrol(text) and file.resolve() not in included:
            for record in scontrol_records(text, str(file)):
                _add(found, record)
        elif is_sinfo(text):
            late += sinfo_records(text, str(file), cluster)
        elif is_qos(text):
            found.qos += qos_records(text, str(file))
        elif file.resolve() not in included:
            found.remarks.append(f"{file}: left alone, {KNOWN_FILES}")
    if printed:
        # What runs is believed before the file that it was started with.
        conf = found.conf or SlurmConf(path=next(iter(printed.values())).source)
        found.conf = msgspec.structs.replace(conf, general={**conf.general, **printed})
    if found.conf is not None:
        _add_conf(found, found.conf)
    for record in late:
        _add_line(found, record)
    if (path / GRES).is_file():
        _add_devices(found, path / GRES)
    if not found.nodes and not found.partitions:
        raise InputError(f"says nothing of nodes or partitions, {KNOWN_FILES}", source=str(path))
    return found


def _sources(conf: SlurmConf | None) -> Iterable[Setting]:
    """Return a setting of each line of slurm.conf and what it includes."""
    if conf is None:
        return ()
    return (*conf.general.values(), *(entry.head for entry in (*conf.nodes, *conf.partitions, *conf.others)))


def _add(found: SlurmFolder, record: Settings) -> None:
    """Add a record of scontrol."""
    if "reservationname" in record:
        found.reservations.append(record)
        return
    if "licensename" in record:
        name = record["licensename"].value
        found.licences[name] = record["total"].whole() if "total" in record else 1, record["licensename"]
        return
    if "nodename" not in record and "partitionname" not in record:
        # The name of a node or partition is empty, as where a file was cut.
        return
    if "nodename" not in record:
        found.partitions.setdefault(record["partitionname"].value, []).append(record)
        return
    if "DEFAULT" in (head := record["nodename"]).value.upper():
        head.refuse("nodes: this is a part of slurm.conf, which has to stand beside it with an Include")
    # A part of slurm.conf describes several nodes at a time, and not always how many cores they have in all.
    if "cputot" not in record:
        cores = node_line(Entry(head=head, settings=record)).cpus
        record = {**record, "cputot": Setting("CPUs", str(cores), head.source, head.line)}
    _describe(found, head, record)


def _describe(found: SlurmFolder, names: Setting, record: Settings) -> None:
    """Note what is said of some nodes."""
    for name in names.hosts():
        if len(found.nodes) >= MAX_HOSTS and name not in found.nodes:
            names.refuse(f"at most {MAX_HOSTS:,} nodes in all")
        found.nodes.setdefault(name, []).append(record)


def _add_conf(found: SlurmFolder, conf: SlurmConf) -> None:
    """Add what slurm.conf says."""
    #: Of each node that it describes.
    said: dict[str, Settings] = {}
    if "licenses" in conf.general:
        _add_licences(found, conf.general["licenses"])
    for line in conf.nodes:
        head = line.head
        told = dict(line.settings) | {"cputot": Setting("CPUs", str(line.cpus), head.source, head.line)}
        for name in line.names:
            found.nodes.setdefault(name, []).append(told)
            said[name] = told
    for partition in conf.partitions:
        where = partition.settings.get("nodes", partition.head)
        named = Setting("Nodes", ",".join(partition.nodes), where.source, where.line)
        if left_out := [setting.key for key, setting in partition.settings.items() if key in PARTITION_LEFT_OUT]:
            found.remarks.append(f"of partition {partition.name}, not simulated: {', '.join(sorted(left_out))}")
        found.partitions.setdefault(partition.name, []).append({**partition.settings, "nodes": named})
        for name in partition.nodes:
            if name not in found.nodes:
                raise named.error(f"{named.key} names {name[:60]!r}, which nothing in {found.path} describes")
    for entry in conf.others:
        if entry.head.key.lower() != "downnodes":
            continue
        down = entry.settings.get("state", Setting("State", "DOWN", entry.head.source, entry.head.line))
        names = tuple(found.nodes) if entry.head.value.upper() == "ALL" else tuple(entry.head.hosts())
        for name in names:
            if name in said:
                # Before what its own line says, and behind what scontrol printed later.
                at = next(row for row, one in enumerate(found.nodes[name]) if one is said[name])
                found.nodes[name].insert(at, {"state": down})


def _add_licences(found: SlurmFolder, setting: Setting) -> None:
    try:
        amounts = read_licences(setting.value)
    except ValueError:
        setting.refuse("licences such as fluent:30,ansys:100")
    found.licences = {name: (amount, setting) for name, amount in amounts.items()} | found.licences


def _add_line(found: SlurmFolder, record: Settings) -> None:
    """Add a line of sinfo: nodes that are alike, in a partition, of which there may be more lines."""
    if "partitionname" not in record:
        return
    if "nodes" not in record:
        found.partitions.setdefault(record["partitionname"].value, []).append(record)
        return
    _describe(found, record["nodes"], record)
    # The state is that of its nodes.
    record = {key: setting for key, setting in record.items() if key != "state"}
    lines = found.partitions.setdefault(record["partitionname"].value, [])
    same = next((line for line in lines if "nodes" in line and line["nodes"].source == record["nodes"].source), None)
    if same is None:
        lines.append(record)
    else:
        both = f"{same['nodes'].value},{record['nodes'].value}"
        lines[lines.index(same)] = {**same, "nodes": record["nodes"]._replace(value=both)}


def _add_devices(found: SlurmFolder, path: Path) -> None:
    """Add what gres.conf says, which matters for nodes of which nothing else tells their devices."""
    told: dict[str, list[Setting]] = {}
    for line in ConfLines().read(path):
        keys = {setting.key.lower(): setting for setting in line}
        if "name" in keys:
            count = keys.get("count")
            devices = sum(1 for _ in keys["file"].hosts()) if "file" in keys else 1
            amount = devices if count is None else _count(count)
            names = keys["nodename"].hosts() if "nodename" in keys else tuple(found.nodes)
            device = ":".join(keys[key].value for key in ("name", "type") if key in keys)
            for name in names:
                told.setdefault(name, []).append(keys["name"]._replace(value=f"{device}:{amount}"))
    for name, devices_of in told.items():
        if name in found.nodes:
            text = ",".join(device.value for device in devices_of)
            found.nodes[name].append({"gres": devices_of[0]._replace(key="Gres", value=text)})


def _count(setting: Setting) -> int:
    """Return a number of devices, which may be shortened."""
    try:
        return read_count(setting.value.upper())
    except ValueError:
        setting.refuse("a whole number, perhaps with K, M or G")


# ---------------------------------------------------------------------- what that makes


def draft_of_folder(
    found: SlurmFolder,
    use: NodeUse,
    clock: Clock,
    origin: float,
    *,
    shared: bool = True,
    licences: Mapping[str, int] = {},
    least: Mapping[str, int] = {},
    last: float = 0.0,
) -> SiteDraft:
    """Return the machine and queues that a folder says.

    Args:
        found: in the folder.
        use: of the nodes in the site's accounts.
        clock: of the site, for reservations.
        origin: what this clock shows when simulated time is 0, s.
        shared: whether jobs share hosts.
        licences: the most that jobs of the accounts held at a time.
        least: what a job of the accounts had on one node at least, by resource.
        last: when the last job of the accounts came, s of simulated time: until then, reservations repeat.

    Raises:
        InputError: a value cannot be read.
    """
    at = {name: row for row, name in enumerate(use.names)}
    warnings = list(found.remarks)
    any_up = bool(use.names) or not all(map(_is_away, found.nodes.values()))
    if found.nodes and not any_up:
        warnings.append("all nodes were down when this was printed: taken as if they were up")
    nodes = []
    for name, told in found.nodes.items():
        row = at.get(name)
        if row is None and any_up and _is_away(told):
            continue
        offer = _offer(told, use, row, least) if shared else {}
        weight = _first(told, ("weight",), Setting.whole, 1)
        properties = {WEIGHT_PROPERTY: str(weight)} if weight != 1 else {}
        nodes.append(SiteNode(name=name, capacity=offer, features=_features(told), properties=properties))
    nodes = _without_single_types(nodes)
    warnings += _shared_devices(nodes)
    warnings += _contradictions(nodes, use, at) if shared else []
    if strangers := [name for name in use.names if name not in found.nodes]:
        warnings.append(f"jobs of the log ran on {','.join(fold(strangers))}, which {found.path} does not describe")
    there = {node.name for node in nodes}
    partitions = [_partition(name, told, found, there, warnings) for name, told in sorted(found.partitions.items())]
    for one in partitions:
        if one.max_time == 0 or not one.hosts:
            names_some = any("nodes" in told and told["nodes"].value for told in found.partitions[one.name])
            why = "has no node that is up" if names_some else "has no nodes"
            why = "lets no job run (MaxTime=0)" if one.hosts else why
            warnings.append(f"partition {one.name} {why}: left out")
    partitions = [one for one in partitions if one.max_time != 0 and one.hosts]
    warnings += [
        f"jobs of partition {name} would be suspended for others; here, only those are that have whole nodes with "
        "nothing but cores"
        for name, told in sorted(found.partitions.items())
        if "SUSPEND" in _first(told, ("preemptmode",), lambda one: one.value.upper(), "")
    ]
    warnings += [
        f"partition {name} says OverSubscribe={shares}, by which jobs may share cores: here, each core has one job"
        for name, told in sorted(found.partitions.items())
        if (shares := _oversubscribed(told))
    ]
    for name, told in sorted(found.partitions.items()):
        state = _first(told, ("state", "avail"), lambda one: one.value.upper(), "UP")
        if state not in ("UP", "YES", "TRUE") and name in {one.name for one in partitions}:
            effect = "takes no new job" if state == "DRAIN" else "starts no job"
            warnings.append(
                f"partition {name} is {state} now, and {effect}: the jobs of the log ran in it, so it is UP here"
                if use.jobs.get(name)
                else f"partition {name} is {state}, and {effect}: left out"
            )
            if not use.jobs.get(name):
                partitions = [one for one in partitions if one.name != name]
    windows, notes = _windows(found.reservations, clock, origin, there, last)
    queues = QueuesProperty(partitions=partitions, qos=list(map(_qos, found.qos)), reservations=windows)
    said = {name: amount for name, (amount, _) in found.licences.items() if amount}
    more = {name: used for name, used in licences.items() if used > said.get(name, 0)}
    warnings += [
        f"jobs of the log held {used:,} licences {name} at a time, of {said[name]:,}: {used:,} taken"
        for name, used in more.items()
        if name in said
    ]
    return SiteDraft(
        nodes=sorted(nodes, key=lambda node: node.name),
        queues=queues,
        inferences=[*_inferences(nodes, found, partitions, windows), *licence_inferences(more)],
        warnings=[*warnings, *notes, *unused_together(nodes, use)],
        licences=said | more,
        default_times={
            name: limit
            for name, told in found.partitions.items()
            if (limit := _first(told, ("defaulttime",), Setting.seconds, math.inf)) < math.inf
        },
        threads=_threads(found),
        exclusive=frozenset(
            name for name, told in found.partitions.items() if found.gives_whole_nodes or _is_exclusive(told)
        ),
    )


def _first(told: Sequence[Settings], names: Sequence[str], read: Callable[[Setting], T], default: T) -> T:
    """Return what the record says that is believed first."""
    for record in told:
        for name in names:
            if name in record:
                return read(record[name])
    return default


def _is_away(told: Sequence[Settings]) -> bool:
    """Return whether no job can start on a node, by the state that is believed first."""
    # Nodes that sleep (POWERED_DOWN) are woken for jobs; what follows a state stands for how it is doing.
    states = (
        [word.rstrip("*~#!%$@^-") for word in one["state"].value.upper().split("+")] for one in told if "state" in one
    )
    words = next((words for words in states if words != ["UNKNOWN"]), [])
    return not _AWAY.isdisjoint(words)


def _offer(told: Sequence[Settings], use: NodeUse, row: int | None, least: Mapping[str, int]) -> dict[str, int]:
    """Return what a node offers; where nothing says how many cores and memory it has, what was in use at least."""
    memory = _first(told, ("realmemory",), Setting.whole, 0)
    if memory <= 1 and row is not None and "memory" in use.peak:
        memory = int(use.peak["memory"][row])
    cores = _first(told, _CORES, lambda one: one.whole(1), 0)
    if not cores and "core" in use.peak:
        cores = int(use.peak["core"][row]) if row is not None else int(use.peak["core"].max())
    offer = {"core": cores or least.get("core", 1)}
    offer |= _devices(told)
    return offer | ({"memory": memory} if memory > 1 else {})


def _devices(told: Sequence[Settings]) -> Mapping[str, int]:
    """Return the devices of a node, as what is believed first counts them, with types that only others tell."""
    records = [read_gres_setting(one["gres"]) for one in told if "gres" in one]
    if not records:
        return {}
    first, *others = records
    found = dict(first)
    for name, amount in first.items():
        typed = any(other.startswith(f"{name}_") for other in first)
        for more in others:
            if not typed and more.get(name) == amount:
                found |= {other: count for other, count in more.items() if other.startswith(f"{name}_")}
                break
    return found


def _without_single_types(nodes: list[SiteNode]) -> list[SiteNode]:
    """Return nodes without types of devices (``gpu_a100`` of ``gpu``) that all devices of that name have."""
    types: dict[str, set[str]] = {}
    for node in nodes:
        for name in node.capacity:
            kind = name.partition("_")[0]
            if kind != name and kind in node.capacity:
                types.setdefault(kind, set()).add(name)
    single = {next(iter(names)) for names in types.values() if len(names) == 1}
    told_apart = {
        name
        for name in single
        if any(node.capacity.get(name, 0) != node.capacity.get(name.partition("_")[0], 0) for node in nodes)
    }
    gone = single - told_apart
    return [
        msgspec.structs.replace(
            node, capacity={name: amount for name, amount in node.capacity.items() if name not in gone}
        )
        for node in nodes
    ]


def _shared_devices(nodes: Sequence[SiteNode]) -> list[str]:
    """Say which ways to share a GPU are not simulated."""
    return [
        f"{name} are parts of GPUs: here, they are counted by themselves, beside whole GPUs"
        for name in ("shard", "mps")
        if any(name in node.capacity for node in nodes)
    ]


def _features(told: Sequence[Settings]) -> tuple[str, ...]:
    return _first(told, ("availablefeatures", "features", "feature"), Setting.words, _NOBODY)


def _oversubscribed(told: Sequence[Settings]) -> str:
    """Return how jobs of a partition share cores, as Slurm writes it; empty: they do not."""
    text = _first(told, ("oversubscribe", "shared"), lambda one: one.value.upper(), "")
    return text if text.startswith(("FORCE", "YES")) and not text.endswith(":1") else ""


def _is_exclusive(told: Sequence[Settings]) -> bool:
    return _first(told, ("oversubscribe", "shared"), lambda one: one.value.upper() == "EXCLUSIVE", False)


def _partition(
    name: str, told: Sequence[Settings], found: SlurmFolder, there: Collection[str], warnings: list[str]
) -> Partition:
    hosts = _first(told, ("nodes",), lambda one: _members(one, found, warnings), _NOBODY)
    longest = _first(told, ("maxtime",), Setting.seconds, math.inf)
    return Partition(
        name=name,
        hosts=fold(host for host in hosts if host in there),
        default=_first(told, ("default",), Setting.truth, False),
        max_time=None if math.isinf(longest) else longest,
        max_nodes=_first(told, ("maxnodes",), Setting.whole_or_none, None),
        priority=_first(told, ("priorityjobfactor", "priority"), Setting.whole, 1),
        tier=_first(told, ("prioritytier", "priority"), Setting.whole, 1),
        preempt_mode=_first(told, ("preemptmode",), Setting.preempt_mode, _UNSAID),
        grace_time=_first(told, ("gracetime",), Setting.grace, 0.0),
    )


def _threads(found: SlurmFolder) -> int:
    """Return how many CPUs Slurm gives at least, which are the threads of a core; 1 where nodes differ in that."""
    chosen = found._general("SelectTypeParameters")
    if found.conf is None or (chosen is not None and "CR_CPU" in chosen.value.upper()):
        return 1
    threads = {_threads_of(told) for told in found.nodes.values()}
    return threads.pop() if len(threads) == 1 else 1


def _threads_of(told: Sequence[Settings]) -> int:
    """Return how many CPUs a core of a node has, by the record that says how many cores there are; 1: none does."""
    for record in told:
        if "corespersocket" in record and "cputot" in record:
            sockets = next((record[key] for key in ("sockets", "socketsperboard") if key in record), None)
            boards = record["boards"].whole(1) if "boards" in record and "sockets" not in record else 1
            cores = record["corespersocket"].whole(1) * boards * (sockets.whole(1) if sockets is not None else 1)
            return max(record["cputot"].whole(1) // cores, 1)
    return 1


def _qos(told: Settings) -> Qos:
    name = told["name"].value
    longest = _first([told], ("maxwall",), Setting.seconds, math.inf)
    return Qos(
        name=name,
        # What Slurm gives to jobs that name none.
        default=name == "normal",
        max_time=None if math.isinf(longest) else longest,
        priority=_first([told], ("priority",), Setting.whole, 0),
        preempts=list(_first([told], ("preempt",), Setting.words, _NOBODY)),
        preempt_mode=_first([told], ("preemptmode",), Setting.preempt_mode, _UNSAID),
        grace_time=_first([told], ("gracetime",), Setting.grace, 0.0),
    )


def _members(setting: Setting, found: SlurmFolder, warnings: list[str]) -> tuple[str, ...]:
    """Return the nodes of a partition that something describes."""
    if setting.value.upper() == "ALL":
        return tuple(found.nodes)
    names = dict.fromkeys(setting.hosts()) if setting.value else {}
    if strangers := [name for name in names if name not in found.nodes]:
        # Nodes that scontrol and sinfo hide, or that are yet to come.
        warnings.append(
            f"{setting.source}, line {setting.line}: {setting.key} names {','.join(fold(strangers))[:60]}, which "
            f"nothing in {found.path} describes: without these"
        )
    return tuple(name for name in names if name in found.nodes)


def _windows(
    records: Iterable[Settings], clock: Clock, origin: float, there: Collection[str], last: float
) -> tuple[list[Window], list[str]]:
    """Return the reservations that were there while the log's jobs were, and sentences about the others."""
    found, notes = [], []
    for record in records:
        name = record["reservationname"].value
        try:
            start, end = (_moment(record, key, clock) - origin for key in ("starttime", "endtime"))
        except InputError as problem:
            notes.append(f"{problem}: reservation {name} left out")
            continue
        flags = {flag.upper() for flag in record["flags"].words()} if "flags" in record else set()
        every = next((flag for flag in _REPEATS if flag in flags), "")
        if end <= 0 and not every:
            notes.append(f"reservation {name} ended before the first job came: left out")
            continue
        hosts = [host for host in record["nodes"].hosts() if host in there] if "nodes" in record else []
        if "nodes" in record and not hosts:
            notes.append(f"reservation {name} is of nodes that are not there: left out")
            continue
        count = record["nodecnt"].whole() if "nodecnt" in record else 0
        if not hosts and not count:
            # Of licences, or of burst buffers.
            notes.append(f"reservation {name} is of no nodes: left out")
            continue
        users, accounts = (record[key].words() if key in record else () for key in ("users", "accounts"))
        moments = [(start, end)]
        if every:
            moments, note = _repeated(name, every, start, end, last, origin, clock)
            notes.append(note)
        for number, (begin, over) in enumerate(moments, 1):
            found.append(
                Window(
                    name=name if number == 1 else f"{name}~{number}",
                    start=max(begin, 0.0),
                    end=over,
                    hosts=fold(hosts) or None,
                    nodes=None if hosts else min(count, len(there)),
                    users=list(users),
                    accounts=list(accounts),
                )
            )
    return found, notes


#: Flag of a reservation -> days from one to the next, and the days of the week on which it is, Monday being 0.
_REPEATS = {
    "DAILY": (1, range(7)),
    "WEEKDAY": (1, range(5)),
    "WEEKEND": (1, range(5, 7)),
    "WEEKLY": (7, range(7)),
    # The next one is an hour later, whatever the clock shows then.
    "HOURLY": (0, range(7)),
}
_HOUR, _DAY = 3600.0, 86_400.0
#: Most times that a reservation repeats.
_MOST_TIMES = 500


def _repeated(
    name: str, flag: str, start: float, end: float, last: float, origin: float, clock: Clock
) -> tuple[list[tuple[float, float]], str]:
    """Return when a reservation that repeats begins and ends while jobs come, s, and a sentence about it."""
    days, weekdays = _REPEATS[flag]

    def moved(moment: float, times: int) -> float:
        return clock.days_later(moment + origin, days * times) - origin if days else moment + _HOUR * times

    moments: list[tuple[float, float]] = []
    # scontrol tells the next one, of which those of the log's time were the earlier ones. By this count the first one
    # is over at 0 s; where clocks are changed in between, it may end an hour later.
    number = math.floor(-end / (days * _DAY or _HOUR))
    while (begin := moved(start, number)) <= max(last, 0.0) and len(moments) < _MOST_TIMES:
        over = moved(end, number)
        if over > 0 and clock.weekday(begin + origin) in weekdays:
            moments.append((begin, over))
        number += 1
    times = f"{len(moments):,} times while jobs come" if moments else "never while jobs come"
    more = f", and from then on not simulated (at most {_MOST_TIMES:,} times)" if len(moments) == _MOST_TIMES else ""
    hour = "at the same hour of the clock" if days else "each hour"
    if not moments and end > 0:
        moments = [(start, end)]
    return moments, (
        f"reservation {name} repeats ({flag}): taken to begin {times}, also before the one that is told, {hour}{more}"
    )


def _moment(record: Settings, key: str, clock: Clock) -> float:
    setting = record.get(key)
    if setting is None:
        where = record["reservationname"]
        raise where.error(f"reservation {where.value[:60]} has no {key}")
    try:
        return clock.read(setting.value)
    except (ValueError, OverflowError):
        setting.refuse("a time such as 2026-11-22T13:26:06")


def _contradictions(nodes: Sequence[SiteNode], use: NodeUse, at: Mapping[str, int]) -> list[str]:
    """Say where more of a node was in use than it is said to have."""
    found = []
    for resource, peak in use.alone.items():
        over = [node.name for node in nodes if node.name in at and peak[at[node.name]] > node.capacity.get(resource, 0)]
        kind = resource.partition("_")[0]
        if kind != resource and not any(resource in node.capacity for node in nodes):
            # All devices of that name are of one type.
            over = [name for name in over if not any(kind in node.capacity for node in nodes)]
        # Memory that is not given out is not counted.
        if over and (resource != "memory" or any("memory" in node.capacity for node in nodes)):
            found.append(f"the log used more {resource} on {','.join(fold(over))} than these have")
    return found


def _inferences(
    nodes: Sequence[SiteNode], found: SlurmFolder, partitions: Sequence[Partition], windows: Sequence[Window]
) -> list[Inference]:
    """Return what is known of nodes that are alike, of partitions and of reservations."""
    alike: dict[tuple[str, str, str, bool], list[str]] = {}
    for node in nodes:
        told = found.nodes[node.name]
        sure = "core" not in node.capacity or any(name in one for one in told for name in _CORES)
        key = (amounts_text(node.capacity), " ".join(node.features), _source(told), sure)
        alike.setdefault(key, []).append(node.name)
    lines = []
    for (offer, features, source, sure), names in alike.items():
        having = f" and features {features}" if features else ""
        what = f"{','.join(fold(names))}: {'' if sure else 'at least '}{offer or 'whole nodes'}{having}"
        if sure:
            lines.append(Inference(what, source, "sure"))
        else:
            by = f"{source}, which does not say how many cores these have: as many as jobs used at a time"
            lines.append(Inference(what, by, "a guess"))
    for one in partitions:
        count = sum(1 for _ in expand(*(one.hosts or ())))
        source = _source(found.partitions[one.name])
        lines.append(Inference(f"partition {one.name} has {count:,} nodes", source, "sure"))
    for record in found.qos:
        lines.append(Inference(f"QOS {record['name'].value}", "sacctmgr show qos", "sure"))
    for name, (amount, setting) in found.licences.items():
        lines.append(Inference(f"licence {name}: {amount:,}", Path(setting.source).name, "sure"))
    for window in windows:
        lines.append(Inference(f"reservation {window.name}", "scontrol show reservation", "sure"))
    return lines


def _source(told: Sequence[Settings]) -> str:
    return Path(next(iter(told[0].values())).source).name
