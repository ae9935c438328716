"""How Slurm writes amounts, time limits and dependencies."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from batdispatch.core.hosts.names import split_list
from batdispatch.core.jobs.request import Dependency
from batdispatch.inputs.workloads.amounts import LARGEST_AMOUNT, read_memory
from batdispatch.inputs.workloads.moments import read_duration

_COUNT = re.compile(r"(\d{1,15})(?:\.0*)?([KMGTP]?)", re.ASCII)
_SCALE = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50}
#: What stands in round brackets behind a generic resource: sockets, indices, cores.
_BRACKETS = re.compile(r"\([^()]{0,9999}\)")
_GRES_NAME = re.compile(r"[A-Za-z_][\w.\-]{0,40}", re.ASCII)
_GRES_COUNT = re.compile(r"\d{1,15}[KMGTP]?", re.ASCII | re.IGNORECASE)
_GRES_TYPE = re.compile(r"[^:,=()\s]{1,60}|\(null\)", re.ASCII)

_LICENCE = re.compile(r"([A-Za-z_][\w@./\-]{0,80})(?:[:=](\w{1,15}))?", re.ASCII)

#: States after which the same job goes on with another record, those of jobs that are over, and the others.
RERUN_STATES = frozenset(
    {"REQUEUED", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "RESIZING", "REQUEUE_HOLD", "SPECIAL_EXIT"}
)
END_STATES = (
    frozenset({"COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "OUT_OF_MEMORY", "DEADLINE", "REVOKED"}) | RERUN_STATES
)
OPEN_STATES = frozenset(
    {"PENDING", "RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "STAGE_OUT", "STOPPED", "SIGNALING"}
    | {"RESV_DEL_HOLD", "REQUEUE_FED"}
)


def read_state(text: str) -> str:
    """Return a job's state in capitals; of ``OUT_OF_ME+``, as sacct shortens it, the state that begins so."""
    said = text.partition(" ")[0].upper()
    state = said.rstrip("+")
    if said == state or state in END_STATES | OPEN_STATES:
        return state
    return next((known for known in sorted(END_STATES | OPEN_STATES) if known.startswith(state)), state)


def read_count(text: str) -> int:
    """Return a whole number, which Slurm may shorten (``1.50K`` is not whole and refused).

    Raises:
        ValueError: the text is no whole number.
    """
    match = _COUNT.fullmatch(text)
    if match is None:
        raise ValueError(text)
    count = int(match[1]) * _SCALE[match[2]]
    if count > LARGEST_AMOUNT:
        raise ValueError(text)
    return count


class Tres(NamedTuple):
    """Trackable resources, as ``AllocTRES`` and ``ReqTRES`` have them: sums over the job; 0: not said."""

    cores: int
    nodes: int
    #: MiB, rounded up.
    memory: int
    #: ``gpu`` and other generic resources; those of a type also by themselves, as ``gpu_a100``.
    gres: dict[str, int]
    licences: dict[str, int]


NO_TRES = Tres(0, 0, 0, {}, {})


def read_tres(text: str) -> Tres:
    """Read ``billing=2,cpu=2,gres/gpu=1,gres/gpu:a100=1,mem=200M,node=1``.

    A typed resource (``gres/gpu:a100``) is a resource of its own beside the untyped sum, and counts for that where it
    is missing. What no node offers (``billing``, ``energy``, file systems) is left alone.

    Raises:
        ValueError: an amount is no number.
    """
    if not text:
        return NO_TRES
    cores = nodes = memory = 0
    gres: dict[str, int] = {}
    typed: dict[str, int] = {}
    kinds: dict[str, int] = {}
    licences: dict[str, int] = {}
    for part in text.split(","):
        name, equals, amount = part.partition("=")
        if not equals:
            raise ValueError(text)
        if name == "cpu":
            cores = read_count(amount)
        elif name == "node":
            nodes = read_count(amount)
        elif name == "mem":
            memory = math.ceil(read_memory(amount)[0])
        elif name.startswith("gres/"):
            kind, colon, model = name[5:].partition(":")
            into = typed if colon else gres
            into[kind] = into.get(kind, 0) + read_count(amount)
            if colon:
                kinds[typed_name(kind, model)] = read_count(amount)
        elif name.startswith("license/"):
            licences |= read_licences(f"{name[8:]}={amount}")
    sums = typed | gres | kinds
    found = {name: amount for name, amount in sorted(sums.items()) if amount and name.isidentifier()}
    return Tres(cores, nodes, memory, found, licences)


def typed_name(name: str, model: str) -> str:
    """Return what a generic resource of a type is called here: ``gpu`` of type ``A100`` is ``gpu_a100``.

    Accounts and slurm.conf do not always write types in the same case.
    """
    return f"{name}_{re.sub(r'[^a-z0-9]', '_', model.lower())}"


class Gres(NamedTuple):
    """Generic resources of a node or a job, of one name and type."""

    name: str
    #: Empty: none is said.
    kind: str
    amount: int
    #: Whether a job that is given some takes them from others.
    consumed: bool


def read_gres_parts(text: str) -> list[Gres]:
    """Read ``gpu:2``, ``gpu:a100:4(S:0,2)``, ``gres:gpu:2``, ``lustre:no_consume:4G`` and lists of these.

    Raises:
        ValueError: a part is none of these.
    """
    found = []
    for part in split_list(text):
        # A type may be told as (null), which is none.
        plain = _BRACKETS.sub("", part.replace("(null)", "")).strip().replace("=", ":")
        name, *more = re.sub(r"^gres[:/]", "", plain).split(":")
        more = [one for one in more if one] if name else more
        amount = read_count(more.pop().upper()) if more and _GRES_COUNT.fullmatch(more[-1]) else 1
        consumed = "no_consume" not in more
        kinds = [one for one in more if one != "no_consume"]
        if not _GRES_NAME.fullmatch(name) or len(kinds) > 1 or not all(map(_GRES_TYPE.fullmatch, kinds)):
            raise ValueError(text)
        found.append(Gres(name, kinds[0] if kinds else "", amount, consumed))
    return found


def read_gres(text: str) -> dict[str, int]:
    """Return the sums of ``gpu:2,mic:1``, ``gpu:a100:2``, without what is not consumed.

    Resources of a type count twice: in the sum of their name, and as ``gpu_a100``.

    Raises:
        ValueError: a part is none of these.
    """
    found: dict[str, int] = {}
    for one in read_gres_parts(text):
        if one.consumed and one.name.isidentifier():
            for name in [one.name, typed_name(one.name, one.kind)] if one.kind else [one.name]:
                found[name] = found.get(name, 0) + one.amount
    return {name: amount for name, amount in sorted(found.items()) if amount}


def read_licences(text: str) -> dict[str, int]:
    """Read ``matlab:2,ansys``, ``matlab@server=2``, as ``--licenses`` and ``Licenses`` of slurm.conf have them.

    Raises:
        ValueError: a part is none of these.
    """
    found: dict[str, int] = {}
    for part in text.split(","):
        match = _LICENCE.fullmatch(part.strip())
        if match is None:
            raise ValueError(text)
        found[match[1]] = found.get(match[1], 0) + read_count(match[2] or "1")
    return {name: amount for name, amount in sorted(found.items()) if amount}


def read_limit(text: str, *, minutes: bool) -> float | None:
    """Return a time limit, s: infinite for none, None where it is the partition's, which is not told.

    Args:
        text: of ``Timelimit``, or of ``TimelimitRaw``.
        minutes: whether a bare number is minutes.

    Raises:
        ValueError: the text is no time limit.
    """
    said = text.upper()
    # The numbers are how Slurm's own programs hold "no limit" and "not set" (INFINITE, NO_VAL).
    if said in ("UNLIMITED", "INFINITE", "-1", "4294967295"):
        return math.inf
    if said in ("", "PARTITION_LIMIT", "INVALID", "NOT_SET", "4294967294"):
        return None
    if minutes and text.isascii() and text.isdigit() and len(text) < 12:
        return int(text) * 60.0
    return read_duration(text)


_DEPENDENCY = re.compile(r"(?:^|\s)(?:--dependency(?:=|\s+)|-d\s*=?)((?:after|singleton|expand)[^\s]*)", re.ASCII)
_JOBS = r"\d{1,12}(?:_\d{1,12})?(?:\+\d{1,9})?"
_AFTER = re.compile(rf"(after|afterok|afterany|aftercorr):({_JOBS}(?::{_JOBS})*)")
_LIMIT = re.compile(r"\s(?:--array(?:=|\s+)|-a\s*=?)[\d,:\-]+%(\d{1,9})(?=\s|$)", re.ASCII)


_EXCLUSIVE = re.compile(r"\s--exclusive(?=\s|$)")


def asks_for_whole_nodes(submit_line: str) -> bool:
    """Return whether a submit line has ``--exclusive``; what stands in ``--wrap`` is no option."""
    return _EXCLUSIVE.search(submit_line.partition(" --wrap")[0]) is not None


class AwaitedJobs(NamedTuple):
    """What a job waits for, by the numbers of its submit line."""

    #: Jobs as Slurm names them (``12``, ``12_4``), with what they must have done, and seconds from then on.
    jobs: tuple[Dependency, ...]
    #: Arrays of which the task with the same number must have succeeded.
    arrays: tuple[str, ...]
    #: Whether there was a condition of another kind.
    others: bool
    #: Whether the job runs alone of its user and name.
    alone: bool = False


NOTHING_AWAITED = AwaitedJobs((), (), False)


def read_dependency(submit_line: str) -> AwaitedJobs:
    """Return what the last ``--dependency`` of a submit line asks for; what stands in ``--wrap`` is no option."""
    found = _DEPENDENCY.findall(submit_line.partition(" --wrap")[0])
    if not found:
        return NOTHING_AWAITED
    if "?" in found[-1]:
        return AwaitedJobs((), (), True)
    jobs: list[Dependency] = []
    arrays: list[str] = []
    others = alone = False
    for part in found[-1].split(","):
        match = _AFTER.fullmatch(part)
        if part == "singleton":
            alone = True
        elif match is None:
            others = True
        elif match[1] == "aftercorr":
            arrays.extend(name.partition("+")[0] for name in match[2].split(":"))
        else:
            for name, _, more in (name.partition("+") for name in match[2].split(":")):
                # Behind `after` the plus is followed by minutes, elsewhere by the component of a heterogeneous job.
                if match[1] == "after":
                    jobs.append(Dependency(name, "after", 60.0 * int(more or 0)))
                else:
                    jobs.append(Dependency(name, "afterok" if match[1] == "afterok" else "afterany"))
    return AwaitedJobs(tuple(dict.fromkeys(jobs)), tuple(dict.fromkeys(arrays)), others, alone)


_CONSTRAINT = re.compile(r"\s(?:--constraint(?:=|\s+)|-C\s*=?)(\S+)", re.ASCII)
#: Features of which a number of nodes is asked for: ``a*2``, ``(a|b)*2``.
_COUNTED = re.compile(r"(\([^()]*\)|[^&|()\[\]*]+)\*(\d{1,9})", re.ASCII)


def read_constraint(text: str, nodes: int) -> tuple[str, str]:
    """Return the features that a constraint requires of each node, and how that is not what it says; empty: it is.

    A number of nodes (``a*2&b*1``) becomes a requirement of all nodes: to have the features of one of these parts if
    they are of all nodes, or none.

    Args:
        text: the constraint.
        nodes: of the job; 0: not told.
    """
    text = re.sub("['\"]", "", text)
    parts = _COUNTED.findall(text)
    if not parts:
        return text, ""
    # Brackets around numbers only hold them together.
    rest = [one for one in _COUNTED.sub("", re.sub(r"[\[\]]", "", text)).split("&") if one.strip("()|, ")]
    wanted = "|".join(part for part, _ in parts)
    if sum(int(count) for _, count in parts) < max(nodes, 1):
        return "&".join(rest), "require features of some of their nodes (such as a*2): without that"
    whole = "&".join((f"({wanted})" if len(parts) > 1 else wanted, *rest))
    return whole, "" if len(parts) == 1 else "require features of numbers of nodes (a*2&b*1): of each node one of these"


def constraint_of(submit_line: str) -> str:
    """Return what the last ``--constraint`` of a submit line says; what stands in ``--wrap`` is no option."""
    found = _CONSTRAINT.findall(submit_line.partition(" --wrap")[0])
    return str(found[-1]) if found else ""


def read_array_limit(submit_line: str) -> int:
    """Return how many tasks of an array may run at a time by its submit line (``--array=0-99%10``); 0: any number."""
    found = _LIMIT.findall(submit_line.partition(" --wrap")[0])
    return int(found[-1]) if found else 0
