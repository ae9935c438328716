"""slurm.conf as typed structs: `read_conf` and what it returns. Nothing is guessed: what nobody knows is listed.

References:
    Slurm documentation, slurm.conf(5), https://slurm.schedmd.com/slurm.conf.html.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from batdispatch.abilities.sites.doors.slurm.keys import ENTRIES, GENERAL
from batdispatch.abilities.sites.doors.slurm.lines import ConfLines
from batdispatch.abilities.sites.doors.slurm.records import config_settings, is_config
from batdispatch.abilities.sites.doors.slurm.settings import Setting, Settings
from batdispatch.abilities.sites.doors.slurm_texts import read_gres
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.names import MAX_HOSTS
from batdispatch.core.line.options import did_you_mean
from batdispatch.core.machine.site import PreemptMode
from batdispatch.inputs.files import read_text

T = TypeVar("T")
_NO_WORDS: tuple[str, ...] = ()


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A line with keys of its own: what it says itself, before what the DEFAULT lines above it say."""

    #: Its first setting, such as ``NodeName=n[1-4]``.
    head: Setting
    #: By key in small letters, the defaults included.
    settings: Settings


class NodeLine(Entry, frozen=True, kw_only=True):
    """A ``NodeName`` line: nodes that are alike."""

    names: tuple[str, ...]
    #: Of each node; Slurm takes 1 where nothing is said.
    cpus: int
    threads_per_core: int
    #: Sockets by cores of each; 0: not said.
    described_cores: int
    #: MiB; None: not said.
    memory: int | None
    features: tuple[str, ...]
    #: ``gpu`` -> 4, types added up.
    gres: Mapping[str, int]
    weight: int
    #: In capitals, without flags: ``UNKNOWN`` where nothing is said.
    state: str

    @property
    def physical_cores(self) -> int:
        """Return the cores of each node by its sockets, if they are said; otherwise by its threads."""
        return self.described_cores or self.cores

    @property
    def cores(self) -> int:
        """Return the cores of each node."""
        return max(self.cpus // self.threads_per_core, 1)


class PartitionLine(Entry, frozen=True, kw_only=True):
    """A ``PartitionName`` line."""

    name: str
    #: Names of its nodes, in the line's order, each once.
    nodes: tuple[str, ...]
    default: bool
    #: In capitals: UP, DOWN, DRAIN or INACTIVE.
    state: str
    #: Seconds; infinite: no limit.
    max_time: float
    #: Seconds; None: not said.
    default_time: float | None
    #: None: no limit.
    max_nodes: int | None
    min_nodes: int
    priority_tier: int
    priority_job_factor: int
    #: In capitals: NO, EXCLUSIVE, FORCE, YES, the last two perhaps with ``:N``.
    oversubscribe: str
    #: What becomes of preempted jobs; empty: what the cluster's says.
    preempt_mode: PreemptMode


class SlurmConf(msgspec.Struct, frozen=True, kw_only=True):
    """What slurm.conf and the files it includes say.

    Attributes:
        path: of the first file.
        general: settings of the whole cluster, by key in small letters. Where one is repeated, the last one holds.
        nodes: in the order of the file.
        partitions: in the order of the file.
        node_sets: names of nodes by the name of their set.
        others: entries that nothing here reads further (DownNodes, FrontendName, SlurmctldHost).
        unknown: settings with keys that Slurm does not know, in the order of the file.
        repeated: settings that a later one replaces.
        cut: files whose last line has no line break, and may therefore be cut.
        missing: a sentence for each included file of an absolute path that is not there.
    """

    path: str = ""
    general: Settings = {}
    nodes: tuple[NodeLine, ...] = ()
    partitions: tuple[PartitionLine, ...] = ()
    node_sets: Mapping[str, tuple[str, ...]] = {}
    others: tuple[Entry, ...] = ()
    unknown: tuple[Setting, ...] = ()
    repeated: tuple[Setting, ...] = ()
    cut: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def get(self, key: str, read: Callable[[Setting], T], default: T) -> T:
        """Return what a setting of the whole cluster says, or a default."""
        return _get(self.general, key, read, default)

    def remarks(self) -> list[str]:
        """Return a sentence for each thing that is not as it should be, with file and line."""
        lines = [
            *(f"{_where(one)}: {one.key} is not known to Slurm; {_proposal(one)}" for one in self.unknown),
            *(f"{_where(one)}: {one.key} is said again further below, and that holds" for one in self.repeated),
        ]
        cut = (f"{source}: the last line does not end; the file may be cut" for source in self.cut)
        return [*lines, *(f"{one}: left out" for one in self.missing), *cut]


def read_conf(path: Path, *, others: bool = False) -> SlurmConf:
    """Read slurm.conf and the files that it includes.

    Args:
        path: of slurm.conf.
        others: whether partitions may name nodes that no line describes, which are then kept: nodes that register
            themselves stand in no file.

    Raises:
        InputError: a file cannot be read, a line is no list of settings, a value is none of its key's, or a partition
            names a node that no line describes.
    """
    if path.is_file() and is_config(text := read_text(path, limit=1 << 24)):
        return SlurmConf(path=str(path), general=config_settings(text, str(path)))
    reader = _Reader(others=others)
    lines = ConfLines()
    try:
        for settings in lines.read(path):
            reader.add(settings)
    except FileNotFoundError:
        raise InputError("does not exist", source=str(path)) from None
    return msgspec.structs.replace(reader.conf(str(path), lines.cut), missing=tuple(lines.missing))


class _Reader:
    """Sorts lines by their first key, and joins them with the DEFAULT lines above them."""

    def __init__(self, *, others: bool) -> None:
        self._others = others
        self._general: dict[str, Setting] = {}
        self._entries: dict[str, list[Entry]] = {kind: [] for kind in ENTRIES}
        self._defaults: dict[str, dict[str, Setting]] = {kind: {} for kind in ENTRIES}
        self._unknown: list[Setting] = []
        self._repeated: list[Setting] = []

    def add(self, settings: tuple[Setting, ...]) -> None:
        """Take a line."""
        for position, setting in enumerate(settings):
            key = setting.key.lower()
            if key in ENTRIES:
                self._add_entry(key, setting, settings[position + 1 :])
                return
            if key not in GENERAL:
                self._unknown.append(setting)
                continue
            if key in self._general:
                self._repeated.append(self._general[key])
            self._general[key] = setting

    def _add_entry(self, kind: str, head: Setting, rest: tuple[Setting, ...]) -> None:
        told = {}
        for setting in rest:
            key = setting.key.lower()
            if key in ENTRIES[kind]:
                told[key] = setting
            else:
                self._unknown.append(setting)
        if head.value.upper() == "DEFAULT":
            self._defaults[kind] |= told
        else:
            self._entries[kind].append(Entry(head=head, settings=self._defaults[kind] | told))

    def conf(self, path: str, cut: Iterable[str]) -> SlurmConf:
        """Return everything that was said."""
        nodes: list[NodeLine] = []
        names: list[str] = []
        for entry in self._entries["nodename"]:
            nodes.append(node_line(entry))
            names += nodes[-1].names
            if len(names) > MAX_HOSTS:
                entry.head.refuse(f"at most {MAX_HOSTS:,} nodes in all")
        _refuse_doubles(nodes)
        sets: dict[str, tuple[str, ...]] = {}
        for entry in self._entries["nodeset"]:
            sets[entry.head.value] = _set_nodes(entry, nodes, names)
        entries = self._entries["partitionname"]
        partitions = tuple(_partition(entry, names, sets, others=self._others) for entry in entries)
        others = ("downnodes", "frontendname", "slurmctldhost")
        return SlurmConf(
            path=path,
            general=self._general,
            nodes=tuple(nodes),
            partitions=partitions,
            node_sets=sets,
            others=tuple(entry for kind in others for entry in self._entries[kind]),
            unknown=tuple(self._unknown),
            repeated=tuple(self._repeated),
            cut=tuple(cut),
        )


def _get(settings: Settings, key: str, read: Callable[[Setting], T], default: T) -> T:
    setting = settings.get(key.lower())
    return default if setting is None else read(setting)


def node_line(entry: Entry) -> NodeLine:
    """Return what a ``NodeName`` line says.

    Raises:
        InputError: a value is none of its key's.
    """
    told = entry.settings

    def count(key: str, default: int) -> int:
        return _get(told, key, lambda one: one.whole(1), default)

    threads = count("ThreadsPerCore", 1)
    sockets = count("Sockets", count("SocketsPerBoard", 1) * count("Boards", 1))
    described = sockets * count("CoresPerSocket", 1) * threads
    features = _get(told, "Features", Setting.words, _get(told, "Feature", Setting.words, _NO_WORDS))
    return NodeLine(
        head=entry.head,
        settings=told,
        names=_names(entry),
        cpus=count("CPUs", count("Procs", described)),
        threads_per_core=threads,
        described_cores=sockets * count("CoresPerSocket", 1) if "corespersocket" in told else 0,
        memory=_get(told, "RealMemory", Setting.whole, None),
        features=features,
        gres=_get(told, "Gres", read_gres_setting, {}),
        weight=_get(told, "Weight", Setting.whole, 1),
        state=_get(told, "State", _capitals, "UNKNOWN"),
    )


def _names(entry: Entry) -> tuple[str, ...]:
    names = tuple(entry.head.hosts())
    if not names or "ALL" in (name.upper() for name in names):
        entry.head.refuse("names of nodes such as n[1-4]")
    return names


def _capitals(setting: Setting) -> str:
    return setting.value.upper()


def read_gres_setting(setting: Setting) -> Mapping[str, int]:
    """Return the generic resources of a node, types added up, without those that no job consumes.

    Raises:
        InputError: the text is no list of them.
    """
    if setting.value.upper() in ("", "(NULL)", "NONE"):
        return {}
    try:
        return read_gres(setting.value.strip(","))
    except ValueError:
        setting.refuse("generic resources such as gpu:2 or gpu:a100:2")


def _partition(
    entry: Entry, names: Sequence[str], sets: Mapping[str, tuple[str, ...]], *, others: bool
) -> PartitionLine:
    told = entry.settings
    priority = _get(told, "Priority", Setting.whole, 1)
    return PartitionLine(
        head=entry.head,
        settings=told,
        name=entry.head.value,
        nodes=_get(told, "Nodes", lambda one: _members(one, names, sets, others=others), _NO_WORDS),
        default=_get(told, "Default", Setting.truth, False),
        state=_get(told, "State", _capitals, "UP"),
        max_time=_get(told, "MaxTime", Setting.seconds, math.inf),
        default_time=_get(told, "DefaultTime", Setting.seconds, None),
        max_nodes=_get(told, "MaxNodes", Setting.whole_or_none, None),
        min_nodes=_get(told, "MinNodes", Setting.whole, 0),
        priority_tier=_get(told, "PriorityTier", Setting.whole, priority),
        priority_job_factor=_get(told, "PriorityJobFactor", Setting.whole, priority),
        oversubscribe=_get(told, "OverSubscribe", _capitals, _get(told, "Shared", _capitals, "NO")),
        preempt_mode=_get(told, "PreemptMode", Setting.preempt_mode, ""),
    )


def _members(
    setting: Setting, names: Sequence[str], sets: Mapping[str, tuple[str, ...]], *, others: bool = False
) -> tuple[str, ...]:
    """Return the nodes that ``Nodes=`` names; ``ALL`` and node sets are written out."""
    known = frozenset(names)
    members: dict[str, None] = {}
    for name in () if setting.value == "(null)" else setting.hosts():
        if name.upper() == "ALL":
            members |= dict.fromkeys(names)
        elif name in sets:
            members |= dict.fromkeys(sets[name])
        elif name in known or others:
            members[name] = None
        else:
            raise setting.error(f"{setting.key} names {name[:60]!r}, which no NodeName or NodeSet line describes")
    return tuple(members)


def _set_nodes(entry: Entry, nodes: Sequence[NodeLine], names: Sequence[str]) -> tuple[str, ...]:
    """Return the nodes of a ``NodeSet``: those that it names and those with its feature."""
    wanted = _get(entry.settings, "Feature", Setting.words, _NO_WORDS)
    featured = [name for node in nodes if any(one in node.features for one in wanted) for name in node.names]
    named = _get(entry.settings, "Nodes", lambda one: _members(one, names, {}), _NO_WORDS)
    return tuple(dict.fromkeys((*featured, *named)))


def _refuse_doubles(nodes: Sequence[NodeLine]) -> None:
    first: dict[str, NodeLine] = {}
    for node in nodes:
        for name in node.names:
            if name in first:
                raise node.head.error(f"node {name[:60]!r} stands in line {first[name].head.line} already")
            first[name] = node


def _where(setting: Setting) -> str:
    return f"{setting.source}, line {setting.line}"


def _proposal(setting: Setting) -> str:
    every = {name for kind in (GENERAL, *ENTRIES.values()) for name in kind.values()}
    proposal = did_you_mean(setting.key, every)
    return proposal if proposal.startswith("did you mean") else "it is left alone"
