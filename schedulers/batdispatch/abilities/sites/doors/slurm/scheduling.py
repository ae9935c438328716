"""What slurm.conf says about scheduling, as options of `slurm-backfill`: what is understood, approximated, ignored.

References:
    Slurm documentation, slurm.conf(5), https://slurm.schedmd.com/slurm.conf.html.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from batdispatch.abilities.sites.doors.slurm.left_out import (
    GENERAL_LEFT_OUT,
    PARAMETERS_LEFT_OUT,
    PARTITION_ELSEWHERE,
    PARTITION_LEFT_OUT,
    SELECTION,
    Verdict,
)
from batdispatch.core.errors import InputError
from batdispatch.core.line.options import did_you_mean

if TYPE_CHECKING:
    from batdispatch.abilities.sites.doors.slurm.conf import SlurmConf
    from batdispatch.abilities.sites.doors.slurm.settings import Setting

#: Option of `slurm-backfill` that names a slurm.conf, and the one that says how old that Slurm is.
CONF, VERSION = "conf", "version"
#: Dispatchers that have these options.
DISPATCHERS = ("slurm-backfill", "dmr")
#: The version whose code `slurm-backfill` follows.
DEFAULT_VERSION = "22.05"


#: Seconds from the end of a job in Slurm's books until slurmctld gives its nodes to others, as measured on loopback.
NOTICE = "0.15"


class Interpretation(NamedTuple):
    """What became of a setting."""

    setting: Setting
    verdict: Verdict
    #: The options that it becomes, or why it becomes none.
    meaning: str


class Scheduling(NamedTuple):
    """What a slurm.conf says about scheduling."""

    #: Of `slurm-backfill`, by name.
    options: dict[str, str]
    readings: tuple[Interpretation, ...]


class _Rule(NamedTuple):
    #: Name of the option; empty: none.
    option: str = ""
    read: Callable[[Setting], str] = lambda setting: setting.value
    #: What is to be said of it, beside the option.
    note: str = ""
    verdict: Verdict = "understood"


def _whole(setting: Setting) -> str:
    return str(setting.whole())


def _number(factor: float) -> Callable[[Setting], str]:
    return lambda setting: f"{setting.number() * factor:g}"


def _flag(setting: Setting) -> str:
    return "true"


def _truth(setting: Setting) -> str:
    return "true" if setting.truth() else "false"


def _seconds(setting: Setting) -> str:
    seconds = setting.seconds()
    return f"{0.0 if math.isinf(seconds) else seconds:.15g}"


_NOTHING = "nothing here does this"
_NO_SUSPENSION = "jobs are suspended for those of other partitions only: none is preempted"
_SUSPENSION = "preempt_mode=suspend: only jobs that have whole nodes with nothing but cores, others are not preempted"
_NO_TIME = _Rule(note="passes and runs of the main loop take no simulated time", verdict="ignored")
_RPC = _Rule(note="there are no requests to serve", verdict="ignored")
#: Parts of SchedulerParameters, in small letters.
_PARAMETERS = {
    "bf_interval": _Rule("interval", _number(1)),
    "bf_window": _Rule("window", _number(60)),
    "bf_resolution": _Rule("resolution", _number(1)),
    "bf_max_job_test": _Rule("depth", _whole),
    "bf_max_job_start": _Rule("starts", _whole),
    "bf_max_job_user": _Rule("user_jobs", _whole),
    "bf_max_job_part": _Rule("part_jobs", _whole),
    "bf_job_part_count_reserve": _Rule("reservations", _whole),
    "bf_min_age_reserve": _Rule("min_age", _number(1)),
    "bf_max_job_array_resv": _Rule("array_tasks", _whole),
    "bf_window_linear": _Rule("window_linear", _number(1)),
    "bf_licenses": _Rule("licenses", _flag),
    "batch_sched_delay": _Rule("batch_delay", _number(1)),
    "sched_interval": _Rule("full_interval", _number(1)),
    "partition_job_depth": _Rule("loop_part_jobs", _whole),
    "sched_max_job_start": _Rule("loop_starts", _whole),
    "default_queue_depth": _Rule("queue_depth", _whole),
    "sched_min_interval": _Rule(note="batch_sched_delay is longer, as a rule", verdict="approximated"),
    "defer": _Rule(note="batch jobs are never tried when they are submitted"),
    "defer_batch": _Rule(note="batch jobs are never tried when they are submitted"),
    "bf_continue": _NO_TIME,
    "bf_max_time": _NO_TIME,
    "bf_yield_interval": _NO_TIME,
    "bf_yield_sleep": _NO_TIME,
    "max_sched_time": _NO_TIME,
    "max_rpc_cnt": _RPC,
    "bf_busy_nodes": _Rule(note="nodes in use are not preferred", verdict="ignored"),
}
#: Their names.
PARAMETER_NAMES = frozenset(_PARAMETERS)
#: Settings of the whole cluster, in small letters, that become options of the ordering `multifactor`.
_PRIORITIES = {
    "priorityweightage": _Rule("age", _whole),
    "priorityweightjobsize": _Rule("size", _whole),
    "priorityweightfairshare": _Rule(
        "fairshare", _whole, "over users and accounts as jobs name them, with equal shares", "approximated"
    ),
    "priorityweightpartition": _Rule("partition", _whole),
    "priorityweightqos": _Rule("qos", _whole),
    "prioritymaxage": _Rule("max_age", _seconds),
    "priorityfavorsmall": _Rule("favor_small", _truth),
    "prioritydecayhalflife": _Rule("half_life", _seconds),
    "prioritycalcperiod": _Rule("period", _seconds),
    "priorityweighttres": _Rule(note="there is no factor of resources", verdict="ignored"),
    "priorityweightassoc": _Rule(note="there is no factor of associations", verdict="ignored"),
    "priorityusageresetperiod": _Rule(note="use is never forgotten at once", verdict="ignored"),
}
#: The version that made Fair Tree the default.
_FAIR_TREE = (19, 5)
#: Factors that slurmctld works out only from the accounts of SlurmDBD.
_ACCOUNTED = ("priorityweightage", "priorityweightfairshare")


_PREEMPTION = ("preempttype", "preemptmode")
_PREEMPTS = {"preempt/partition_prio": "partition", "preempt/qos": "qos"}
PARAMETERS_KEY = "schedulerparameters"
#: Settings that say how jobs are scheduled, in small letters.
SCHEDULING = frozenset({PARAMETERS_KEY, "prioritytype", "priorityflags", *_PRIORITIES, *_PREEMPTION})


def with_conf(dispatcher: str, options: dict[str, str]) -> tuple[str, dict[str, str]]:
    """Return a dispatcher and its options with what the file of its option `conf` says; those that are given go first.

    Raises:
        InputError: the file is wrong, or says something that `slurm-backfill` cannot do.
    """
    if dispatcher not in DISPATCHERS or CONF not in options:
        return dispatcher, options
    # Every run asks, and few have such a file.
    from batdispatch.abilities.sites.doors.slurm.conf import read_conf

    own = {name: value for name, value in options.items() if name != CONF}
    read = scheduling_of(read_conf(Path(options[CONF])), options.get(VERSION, DEFAULT_VERSION))
    return dispatcher, {**read.options, **own}


def options_of_site(dispatcher: str, options: dict[str, str], conf: SlurmConf | None) -> dict[str, str]:
    """Return what a site's slurm.conf adds to a dispatcher's options, which count first.

    Only `slurm-backfill` imitates the site, unless it has the options of another file.

    Raises:
        InputError: the file says something that `slurm-backfill` cannot do.
    """
    if conf is None or dispatcher != DISPATCHERS[0]:
        return {}
    read = with_notice(scheduling_of(conf, options.get(VERSION, DEFAULT_VERSION)))
    return {name: text for name, text in read.options.items() if name not in options}


def with_notice(read: Scheduling) -> Scheduling:
    """Return what a slurm.conf says, with what every Slurm does beside the accounts of whole seconds that it writes."""
    return read._replace(options={**read.options, "notice": NOTICE})


def scheduling_of(conf: SlurmConf, version: str = DEFAULT_VERSION) -> Scheduling:
    """Return what a slurm.conf says about scheduling.

    Args:
        conf: as it was read.
        version: of Slurm, such as ``22.05``; defaults depend on it.

    Raises:
        InputError: a value is none of its setting's, or the version is none.
    """
    year = release(version)
    options = {VERSION: version}
    readings: list[Interpretation] = []
    general = conf.general
    for setting in general[PARAMETERS_KEY].parameters() if PARAMETERS_KEY in general else ():
        rule = _PARAMETERS.get(setting.key.lower()) or _unknown(setting)
        readings.append(_apply(rule, setting, options))
    kind = conf.get("PriorityType", lambda one: one.value, "priority/multifactor" if year >= (23, 11) else "")
    inside = {"period": "300"}
    accounted = conf.get("AccountingStorageType", lambda one: one.value, "").lower().endswith("slurmdbd")
    for key, rule in _PRIORITIES.items():
        if key not in general:
            continue
        if kind.lower() != "priority/multifactor":
            rule = _Rule(note="PriorityType is not priority/multifactor", verdict="ignored")
        elif key in _ACCOUNTED and not accounted:
            rule = _Rule(note="without SlurmDBD this factor stays 0")
        readings.append(_apply(rule, general[key], inside))
    if "priorityflags" in general:
        readings.extend(_read_flags(general["priorityflags"], inside))
    if "fairshare" in inside and year >= _FAIR_TREE:
        inside.setdefault("fair_tree", "true")
    if "prioritytype" in general:
        readings.append(Interpretation(general["prioritytype"], "understood", f"ordering={kind.rpartition('/')[2]}"))
    if kind.lower() == "priority/multifactor":
        options["ordering"] = f"multifactor[{','.join(f'{name}={value}' for name, value in inside.items())}]"
    readings.extend(_read_preemption(conf, options))
    readings.extend(_read_plugins(conf))
    return Scheduling(options, tuple(sorted(readings, key=lambda one: (one.setting.source, one.setting.line))))


def release(version: str) -> tuple[int, int]:
    """Return year and month of a version such as ``22.05`` or ``22.05.8``.

    Raises:
        InputError: the text is none.
    """
    parts = version.split(".")
    if len(parts) < 2 or not all(part.isascii() and part.isdigit() and len(part) < 4 for part in parts):
        raise InputError(f"version {version[:40]!r}, expected one of Slurm such as 22.05")
    return int(parts[0]), int(parts[1])


def _unknown(setting: Setting) -> _Rule:
    if setting.key.lower() in PARAMETERS_LEFT_OUT:
        return _Rule(note=_NOTHING, verdict="ignored")
    proposal = did_you_mean(setting.key, [*_PARAMETERS, *PARAMETERS_LEFT_OUT])
    more = f"; {proposal}" if proposal.startswith("did you mean") else ""
    return _Rule(note=f"{_NOTHING}{more}", verdict="ignored")


def _apply(rule: _Rule, setting: Setting, options: dict[str, str]) -> Interpretation:
    if not rule.option:
        return Interpretation(setting, rule.verdict, rule.note)
    options[rule.option] = rule.read(setting)
    meaning = f"{rule.option}={options[rule.option]}"
    return Interpretation(setting, rule.verdict, f"{meaning}: {rule.note}" if rule.note else meaning)


def _read_flags(setting: Setting, inside: dict[str, str]) -> list[Interpretation]:
    found = []
    for flag in setting.parameters():
        if flag.key.upper() == "SMALL_RELATIVE_TO_TIME":
            inside["relative"] = "true"
            found.append(Interpretation(flag, "understood", "relative=true"))
        elif flag.key.upper() in ("FAIR_TREE", "NO_FAIR_TREE"):
            if "fairshare" in inside:
                inside["fair_tree"] = "false" if flag.key.upper().startswith("NO") else "true"
            found.append(Interpretation(flag, "understood", f"fair_tree={inside.get('fair_tree', 'false')}"))
        else:
            found.append(Interpretation(flag, "ignored", _NOTHING))
    return found


def _read_preemption(conf: SlurmConf, options: dict[str, str]) -> list[Interpretation]:
    """Add who preempts whom to the options, and return what became of the settings about it."""
    kind, mode = (conf.general.get(key) for key in _PREEMPTION)
    by = "" if kind is None else _PREEMPTS.get(kind.value.lower(), "")
    what = "off" if mode is None else mode.preempt_mode()
    suspends = what == "suspend"
    if suspends and by != "partition":
        what = "off"
    if by and what != "off":
        options |= {"preempt": by} | ({"preempt_mode": what} if what else {})
    found = [] if kind is None else [Interpretation(kind, "understood", f"preempt={by or 'none'}")]
    if kind is not None and suspends and what == "off":
        found = [Interpretation(kind, "ignored", _NO_SUSPENSION)]
    found += _read_partitions(conf, by if what != "off" else "")
    if mode is not None and suspends and what == "off":
        found.append(Interpretation(mode, "ignored", _NO_SUSPENSION))
    elif mode is not None:
        found.append(_read_mode(mode, f"preempt_mode={what or 'requeue'}"))
    return found


def _read_mode(mode: Setting, meaning: str) -> Interpretation:
    """Return what became of a setting of what becomes of preempted jobs, where jobs are preempted in that way."""
    if mode.preempt_mode() == "suspend":
        return Interpretation(mode, "approximated", _SUSPENSION)
    return Interpretation(mode, "understood", meaning)


def _read_partitions(conf: SlurmConf, by: str) -> list[Interpretation]:
    """Return what became of what partitions say of their preempted jobs: the platform's partitions have it."""
    told = [one.settings[key] for one in conf.partitions for key in ("preemptmode", "gracetime") if key in one.settings]
    left_out = PARTITION_LEFT_OUT | PARTITION_ELSEWHERE
    lines = [setting for one in conf.partitions for key, setting in one.settings.items() if key in left_out]
    found = [
        Interpretation(setting, "ignored", "of a partition: nothing here does this")
        for setting in {(one.key, one.source, one.line): one for one in lines}.values()
    ]
    # Partitions share what a DEFAULT line says.
    for setting in {(one.key, one.source, one.line): one for one in told}.values():
        if by != "partition":
            found.append(Interpretation(setting, "ignored", "no job is preempted for a partition's tier"))
        elif setting.key.lower() == "gracetime":
            meaning = f"grace_time={setting.grace():g} of the platform's partition"
            found.append(Interpretation(setting, "understood", meaning))
        else:
            mode = setting.preempt_mode() or "requeue"
            found.append(_read_mode(setting, f"preempt_mode={mode} of the platform's partition"))
    return found


def _read_selection(conf: SlurmConf) -> list[Interpretation]:
    """Return what became of each part of SelectTypeParameters."""
    setting = conf.general.get("selecttypeparameters")
    found = []
    for part in () if setting is None else setting.parameters():
        verdict, why = SELECTION.get(part.key.lower(), ("ignored", ""))
        why = why or f"{_NOTHING}; {did_you_mean(part.key, SELECTION)}"
        found.append(Interpretation(part, verdict, why))
    return found


def _read_plugins(conf: SlurmConf) -> list[Interpretation]:
    """Return what became of the settings that choose Slurm's plugins for scheduling.

    Raises:
        InputError: one chooses something that is not simulated at all.
    """
    found = []
    for key, known, note in (
        ("schedulertype", ("sched/backfill",), "sched/builtin is the dispatcher fcfs"),
        ("selecttype", ("select/cons_tres", "select/cons_res", "select/linear"), "expected cons_tres or cons_res"),
    ):
        setting = conf.general.get(key)
        if setting is not None:
            if setting.value.lower() not in known:
                raise setting.error(f"{setting.key} is {setting.value[:40]!r}: {note}")
            found.append(Interpretation(setting, "understood", "what slurm-backfill does"))
    found += [
        Interpretation(conf.general[key], "ignored", why)
        for key, why in GENERAL_LEFT_OUT.items()
        if key in conf.general
    ]
    found += _read_selection(conf)
    if "licenses" in conf.general:
        found.append(Interpretation(conf.general["licenses"], "understood", "licences of the machine (--slurm)"))
    setting = conf.general.get("topologyplugin")
    if setting is not None:
        none = setting.value.lower() in ("topology/none", "topology/default", "topology/flat")
        note = "nodes are taken as without a topology"
        found.append(Interpretation(setting, "understood" if none else "ignored", note))
    return found
