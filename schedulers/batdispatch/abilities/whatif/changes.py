"""What one would change of a site, as people state it: ``hosts+10%``, ``walltimes=last-two``, ``dispatcher=guarded``.

=====================================  =================================================================================
``hosts+10%``, ``hosts-4``             more or fewer nodes of each kind, as many kinds as there are, in proportion
``hosts=110``                          so many nodes in all
``partition.NAME.nodes+2``             more or fewer nodes in one partition, like most of those that it has
``partition.NAME.max_time=4:00:00``    another limit of a partition; also ``max_nodes``, ``priority``
``walltimes=last-two``                 plan with this prediction of run times instead of the users' walltimes
``SchedulerParameters=bf_interval=60`` other parameters of slurm-backfill, as slurm.conf has them
``PriorityWeightAge=1000``             another setting of slurm.conf, of those that `slurm-conf` lists
``dispatcher=easy``                    another dispatcher, or an ordering of that name under easy
``KEY=VALUE``                          another option of the dispatcher
=====================================  =================================================================================
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from batdispatch.abilities.sites.doors.slurm.conf import SlurmConf, read_conf
from batdispatch.abilities.sites.doors.slurm.files import SlurmFiles
from batdispatch.abilities.sites.doors.slurm.keys import GENERAL
from batdispatch.abilities.sites.doors.slurm.scheduling import (
    CONF,
    DEFAULT_VERSION,
    PARAMETER_NAMES,
    PARAMETERS_KEY,
    SCHEDULING,
    VERSION,
    Scheduling,
    scheduling_of,
    with_notice,
)
from batdispatch.abilities.sites.doors.slurm.settings import Setting
from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.names import fold
from batdispatch.core.line import registry
from batdispatch.core.line.dispatcher import GROUP, find, with_option_file
from batdispatch.core.line.options import did_you_mean, parse_named
from batdispatch.core.machine.features import FEATURES_PROPERTY
from batdispatch.core.machine.machine import CAPACITY_PROPERTY, Machine, capacity_text, parse_capacity
from batdispatch.core.machine.site import PARTITION_PROPERTY, SITE_PROPERTY, Partition, QueuesProperty, Window
from batdispatch.inputs.sites import SiteNode, named_platform
from batdispatch.inputs.workloads.moments import read_duration
from batdispatch.links.foreign import create_any, is_foreign
from batdispatch.runs.inputs import Inputs

_SOURCE, _BASE = "option --change", "option --dispatcher"
_ORDERINGS = "batdispatch.orderings"
_HOSTS = re.compile(r"hosts([+-]\d+(?:\.\d+)?%|[+-]\d+|=\d+)", re.ASCII)
_PARTITION = re.compile(r"partition\.(.+)\.(?:nodes([+-]\d+)|(max_time|max_nodes|priority)=(.+))", re.ASCII)
_PARTITION_FIELDS = ("nodes", "max_time", "max_nodes", "priority")
#: What looks like a change of a partition, and a word with what follows it.
_PARTITION_LIKE = re.compile(r"(partition\..+\.)(\w+?)([+-]\d+|=.*)", re.ASCII)
_WORD = re.compile(r"([\w.-]*\w)([+=-].*)", re.ASCII)
#: What stands before = beside options of the dispatcher and settings of slurm.conf.
_WORDS = ("hosts", "walltimes", "dispatcher")
_DISPATCHER = "slurm-backfill"
#: Properties of hosts that a node says in words of its own, or its site does.
_READ = (CAPACITY_PROPERTY, FEATURES_PROPERTY, PARTITION_PROPERTY, SITE_PROPERTY)


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """A site and who decides in it.

    Attributes:
        nodes: of the machine.
        queues: of the site.
        dispatcher: its name.
        options: of the dispatcher, as texts.
        conf: what the site's slurm.conf says.
    """

    nodes: Sequence[SiteNode]
    queues: QueuesProperty
    dispatcher: str
    options: dict[str, str] = {}
    conf: SlurmConf = SlurmConf()

    @property
    def platform(self) -> bytes:
        """The platform file."""
        return named_platform(self.nodes, self.queues)


def conf_of(inputs: Inputs) -> SlurmConf | None:
    """Return the slurm.conf of a log's site; None: there is none."""
    return inputs.site.conf if isinstance(inputs.site, SlurmFiles) else None


def setup_of(machine: Machine, dispatcher: str) -> Setup:
    """Return the site of a machine, and a dispatcher given by name with options in brackets."""
    site = machine.site
    nodes = []
    for host in machine.hosts:
        if not host.storage:
            text = capacity_text(host.properties)
            capacity = {} if text is None else parse_capacity(text, host.name)
            features = tuple(filter(None, re.split(r"[\s,]+", host.properties.get(FEATURES_PROPERTY, "").strip())))
            more = {name: value for name, value in host.properties.items() if name not in _READ}
            nodes.append(SiteNode(name=host.name, capacity=capacity, features=features, properties=more))
    queues = QueuesProperty()
    if site is not None:
        names = [host.name for host in machine.hosts]
        partitions = [
            msgspec.structs.replace(one, hosts=_names(site.hosts[name], names)) for name, one in site.partitions.items()
        ]
        windows = [
            msgspec.structs.replace(one, hosts=_names(site.reserved[one.name], names), nodes=None)
            for one in site.windows
        ]
        queues = QueuesProperty(partitions=partitions, qos=list(site.qos.values()), reservations=windows)
    return _decided_by(
        Setup(nodes=nodes, queues=queues, dispatcher=""), *parse_named(dispatcher, "option --dispatcher")
    )


def _names(mask: int, names: Sequence[str]) -> list[str]:
    return fold(names[host] for host in hostset.ids(mask))


def with_change(setup: Setup, text: str) -> Setup:
    """Return a site with one thing changed.

    Raises:
        InputError: nobody knows this change, or it does not suit the site.
    """
    if match := _HOSTS.fullmatch(text):
        return _with_hosts(setup, match[1])
    if match := _PARTITION.fullmatch(text):
        return _with_partition(setup, text, match)
    key, equals, value = text.partition("=")
    if key.lower() in SCHEDULING and equals:
        return _with_setting(setup, Setting(key, value, _SOURCE, 0))
    if key == "walltimes" and equals:
        return _with_options(setup, {"prediction": value}, text)
    if key == "dispatcher" and equals:
        return _with_dispatcher(setup, value)
    if equals and key != "hosts" and not key.startswith("partition."):
        return _with_options(setup, {key: value}, text)
    proposal = _proposal(text, setup.dispatcher)
    known = "partition.NAME.nodes+2, walltimes=last-two, SchedulerParameters=bf_interval=60, dispatcher=easy"
    expected = f"did you mean {proposal!r}?" if proposal else f"expected one such as hosts+10%, hosts=110, {known}"
    raise InputError(f"{text!r} is no change, {expected}", source=_SOURCE)


def check_changes(changes: Iterable[str], dispatcher: str) -> None:
    """Refuse changes that suit no site, before anything is read: a word is wrong, or no dispatcher can be so.

    Args:
        changes: each as people state it.
        dispatcher: of the site, by name with options in brackets.

    Raises:
        InputError: there is no such change, or no such dispatcher.
    """
    bare = Setup(nodes=(), queues=QueuesProperty(), dispatcher="")
    site = checked_dispatcher(_decided_by(bare, *parse_named(dispatcher, _BASE)))
    for text in changes:
        if match := _PARTITION.fullmatch(text):
            _, delta, field, value = match.groups()
            if delta is None:
                _partition_value(text, field, value)
        elif not (_HOSTS.fullmatch(text) or _needs_conf(site, text)):
            checked_dispatcher(with_change(site, text), text)


def _needs_conf(site: Setup, text: str) -> bool:
    """Return whether what a setting does depends on the rest of the site's slurm.conf."""
    key = text.partition("=")[0].lower()
    return site.dispatcher == _DISPATCHER and key in SCHEDULING and key != PARAMETERS_KEY


def checked_dispatcher(setup: Setup, change: str = "") -> Setup:
    """Return a site whose dispatcher can be made.

    Raises:
        InputError: its name or an option is wrong.
    """
    try:
        create_any(setup.dispatcher, setup.options)
    except InputError as problem:
        raise InputError(f"{change!r}: {problem}", source=_SOURCE) if change else problem from None
    return setup


def _proposal(text: str, dispatcher: str) -> str:
    """Return the change that may be meant; empty: none is near."""
    compact = "".join(text.split())
    word = _WORD.fullmatch(compact)
    if inside := _PARTITION_LIKE.fullmatch(compact):
        begin, field, rest = inside.groups()
        meant = [begin + name + rest for name in _near(field, _PARTITION_FIELDS)]
    elif word is None:
        return ""
    elif word[1].lower() in PARAMETER_NAMES:
        meant = [f"SchedulerParameters={compact}"]
    elif word[1] in _PARTITION_FIELDS[1:]:
        meant = [f"partition.NAME.{compact}"]
    else:
        options = find(dispatcher).options_type.__struct_fields__
        names = [*_WORDS, *(GENERAL[key] for key in SCHEDULING), *options]
        meant = [name + word[2] for name in _near(word[1], names)]
    return next((one for one in meant if one != text and _is_whole(one)), "")


def _is_whole(text: str) -> bool:
    """Return whether a change has all of its parts."""
    if text.startswith("partition."):
        return _PARTITION.fullmatch(text) is not None
    return _HOSTS.fullmatch(text) is not None if text.startswith("hosts") else not text.endswith("=")


def _near(name: str, known: Sequence[str]) -> list[str]:
    """Return the closest known name, if one is close."""
    by_letters = {one.lower(): one for one in known}
    return [by_letters[one] for one in difflib.get_close_matches(name.lower(), by_letters, n=1)]


# ---------------------------------------------------------------------- who decides


def _with_dispatcher(setup: Setup, text: str) -> Setup:
    name, options = parse_named(text, _SOURCE)
    dispatchers, orderings = registry.names(GROUP), registry.names(_ORDERINGS)
    if name not in dispatchers and name in orderings:
        name, options = "easy", {"ordering": text}
    elif name not in dispatchers and not is_foreign(name):
        known = did_you_mean(name, [*dispatchers, *orderings])
        raise InputError(f"no dispatcher or ordering is called {name!r}; {known}", source=_SOURCE)
    found = _decided_by(setup, name, options)
    return found if CONF in options or not setup.conf.path else with_conf(found, setup.conf)[0]


def _decided_by(setup: Setup, name: str, stated: dict[str, str]) -> Setup:
    """Return a site with a dispatcher of some options; one that states a slurm.conf of its own has that.

    Raises:
        InputError: the file is wrong, or says something that the dispatcher cannot do.
    """
    name, options = with_option_file(name, stated)
    conf = read_conf(Path(stated[CONF])) if name == _DISPATCHER and CONF in stated else setup.conf
    return msgspec.structs.replace(setup, dispatcher=name, options=options, conf=conf)


def with_conf(setup: Setup, conf: SlurmConf) -> tuple[Setup, list[str]]:
    """Return a site whose dispatcher does what its slurm.conf says, and the settings that are not simulated.

    Options that the dispatcher has already stay as they are.
    """
    if setup.dispatcher != _DISPATCHER:
        return msgspec.structs.replace(setup, conf=conf), []
    read = _scheduling(setup, conf)
    left = [one.setting.key for one in read.readings if one.verdict == "ignored"]
    return msgspec.structs.replace(setup, options={**read.options, **setup.options}, conf=conf), left


def _scheduling(setup: Setup, conf: SlurmConf) -> Scheduling:
    return with_notice(scheduling_of(conf, setup.options.get(VERSION, DEFAULT_VERSION)))


def _with_setting(setup: Setup, setting: Setting) -> Setup:
    """Return a site with another setting of slurm.conf; SchedulerParameters are added to those that it has.

    Raises:
        InputError: it is for another dispatcher, or nothing here does what it says.
    """
    if setup.dispatcher != _DISPATCHER:
        raise setting.error(f"{setting.key} is for {_DISPATCHER}, not {setup.dispatcher}")
    general, key = setup.conf.general, setting.key.lower()
    stated = {key: setting}
    if key == PARAMETERS_KEY:
        stated = {one.key: one for one in setting.parameters()}
        if key in general:
            setting = setting._replace(value=f"{general[key].value},{setting.value}")
    conf = msgspec.structs.replace(setup.conf, general={**general, key: setting})
    before, after = _scheduling(setup, setup.conf), _scheduling(setup, conf)
    for one, verdict, meaning in after.readings:
        if verdict == "ignored" and one.key in {each.key for each in stated.values()}:
            raise one.error(f"{one.key}: {meaning}")
    kept = {name: text for name, text in setup.options.items() if name in after.options or name not in before.options}
    changed = {name: text for name, text in after.options.items() if before.options.get(name) != text}
    return msgspec.structs.replace(setup, options={**kept, **changed}, conf=conf)


def _with_options(setup: Setup, options: dict[str, str], text: str) -> Setup:
    known = find(setup.dispatcher).options_type.__struct_fields__
    for key in options:
        if key.replace("-", "_") not in known:
            proposal = _proposal(text, setup.dispatcher)
            meant = f"did you mean {proposal!r}?" if proposal else did_you_mean(key, [*known, *_WORDS])
            raise InputError(f"{text!r}: {setup.dispatcher} has no option {key!r}; {meant}", source=_SOURCE)
    return msgspec.structs.replace(setup, options={**setup.options, **options})


# ---------------------------------------------------------------------- the machine


def _with_hosts(setup: Setup, amount: str) -> Setup:
    """Return a site with more or fewer nodes of each kind, in proportion, by largest remainder."""
    total = len(setup.nodes)
    if amount.startswith("="):
        target = float(amount[1:])
    elif amount.endswith("%"):
        target = total * (1 + float(amount[:-1]) / 100)
    else:
        target = total + float(amount)
    wanted = round(target)
    if not 1 <= wanted <= 1_000_000:
        raise InputError(f"hosts{amount} leaves {wanted} of {total} nodes, expected at least 1", source=_SOURCE)
    kinds = _kinds(setup)
    shares = [len(names) * wanted / total for names in kinds]
    counts = [int(share) for share in shares]
    for at in sorted(range(len(kinds)), key=lambda at: counts[at] - shares[at])[: wanted - sum(counts)]:
        counts[at] += 1
    for names, count in zip(kinds, counts, strict=True):
        setup = _resized(setup, names, count - len(names), None)
    return setup


def _kinds(setup: Setup) -> list[list[str]]:
    """Return the names of nodes that are alike, in what they have and in which partitions they are."""
    member = _members(setup.queues.partitions)
    kinds: dict[tuple[object, ...], list[str]] = {}
    for node in setup.nodes:
        key = (
            tuple(node.capacity.items()),
            node.features,
            tuple(node.properties.items()),
            tuple(name for name in member if node.name in member[name]),
        )
        kinds.setdefault(key, []).append(node.name)
    return list(kinds.values())


def _members(classes: Sequence[Partition | Window]) -> dict[str, set[str]]:
    from batdispatch.core.hosts.names import expand

    return {one.name: set(expand(*(one.hosts or ()))) for one in classes}


def _with_partition(setup: Setup, text: str, match: re.Match[str]) -> Setup:
    """Return a site with another partition.

    Raises:
        InputError: there is no such partition, or the value is none.
    """
    name, delta, field, value = match.groups()
    partitions = {one.name: one for one in setup.queues.partitions}
    if name not in partitions:
        raise InputError(f"{text!r}: {did_you_mean(name, list(partitions))}", source=_SOURCE)
    if delta is not None:
        inside = _members(setup.queues.partitions)[name]
        kind = max(_kinds(setup), key=lambda names: len(inside.intersection(names)))
        return _resized(setup, kind, int(delta), name)
    told = {field: _partition_value(text, field, value)}
    partitions[name] = msgspec.structs.replace(partitions[name], **told)
    queues = msgspec.structs.replace(setup.queues, partitions=list(partitions.values()))
    return msgspec.structs.replace(setup, queues=queues)


def _partition_value(text: str, field: str, value: str) -> float:
    try:
        return (read_duration(value) if ":" in value else float(value)) if field == "max_time" else int(value)
    except ValueError:
        expected = "seconds or [D-]HH:MM:SS" if field == "max_time" else "a whole number"
        raise InputError(f"{text!r}: {value!r} is no value of {field}, expected {expected}", source=_SOURCE) from None


def _resized(setup: Setup, kind: Sequence[str], delta: int, only: str | None) -> Setup:
    """Return a site with more or fewer nodes of a kind; new ones are in all partitions of the others, or `only` one."""
    if delta < 0 and -delta >= len(setup.nodes):
        raise InputError("no node would be left", source=_SOURCE)
    model = next(node for node in setup.nodes if node.name == kind[-1])
    numbers = range(len(setup.nodes), len(setup.nodes) + max(delta, 0))
    new = [msgspec.structs.replace(model, name=f"new{number:06d}") for number in numbers]
    gone = set(kind[len(kind) + delta :]) if delta < 0 else set[str]()
    nodes = [*(node for node in setup.nodes if node.name not in gone), *new]

    def rebuilt(classes: Sequence[Any], *, grows: Callable[[str, set[str]], bool]) -> list[Any]:
        found = []
        for one in classes:
            inside = _members([one])[one.name]
            names = (inside - gone) | ({node.name for node in new} if grows(one.name, inside) else set())
            if not names:
                raise InputError(f"{one.name} would have no node left", source=_SOURCE)
            found.append(msgspec.structs.replace(one, hosts=fold(names)))
        return found

    queues = QueuesProperty(
        partitions=rebuilt(
            setup.queues.partitions, grows=lambda name, inside: name == only if only else model.name in inside
        ),
        qos=setup.queues.qos,
        reservations=rebuilt(setup.queues.reservations, grows=lambda name, inside: False),
    )
    return msgspec.structs.replace(setup, nodes=nodes, queues=queues)
