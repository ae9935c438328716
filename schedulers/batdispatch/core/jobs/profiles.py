"""Batsim 4's profile types: what a job does. Typed, checked one by one and as a whole."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, NamedTuple, get_args

import msgspec
from msgspec import Meta

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.profile_versions import BATSIM5_TYPES

#: Deepest nesting of composed profiles accepted; consumers may recurse that far.
MAX_NESTING = 64
#: Most tasks a composed profile may unfold to: a few nested repeats can otherwise keep a simulator busy for ever.
MAX_TASKS = 10_000_000

Amount = Annotated[float, Meta(ge=0)]
Positive = Annotated[float, Meta(gt=0)]
Name = Annotated[str, Meta(min_length=1)]


class _Profile(msgspec.Struct, frozen=True, tag_field="type"):
    """Fields that every profile may have; unknown ones are kept for the scheduler, as Batsim does."""

    #: Return code; not 0: the job failed.
    ret: Annotated[int, Meta(ge=-(2**31), lt=2**31)] = 0


class Delay(_Profile, frozen=True, tag="delay", kw_only=True):
    """A fixed time in seconds."""

    delay: Positive


class Parallel(_Profile, frozen=True, tag="parallel", kw_only=True):
    """Flop of each of n executors, and bytes between each pair, row by row: n x n."""

    cpu: Annotated[list[Amount], Meta(min_length=1)]
    com: list[Amount]


class ParallelHomogeneous(_Profile, frozen=True, tag="parallel_homogeneous", kw_only=True):
    """Flop of each executor, and bytes between each pair."""

    cpu: Amount
    com: Amount


class ParallelHomogeneousTotal(_Profile, frozen=True, tag="parallel_homogeneous_total", kw_only=True):
    """Flop and bytes of the whole job, shared by its executors."""

    cpu: Amount
    com: Amount


class ProfileSequence(_Profile, frozen=True, tag="composed", kw_only=True):
    """Other profiles one after another."""

    seq: Annotated[list[str], Meta(min_length=1)]
    repeat: Annotated[int, Meta(ge=1, lt=2**31)] = 1


class ParallelFileSystem(_Profile, frozen=True, tag="parallel_homogeneous_pfs", kw_only=True):
    """Bytes read from and written to a storage host."""

    bytes_to_read: Amount
    bytes_to_write: Amount
    storage: Name = "pfs"


class DataStaging(_Profile, frozen=True, tag="data_staging", kw_only=True):
    """Bytes between two storage hosts."""

    nb_bytes: Amount
    source: Name = msgspec.field(name="from")
    target: Name = msgspec.field(name="to")


class Send(_Profile, frozen=True, tag="send", kw_only=True):
    """A message to the scheduler, then a pause of `sleeptime` seconds."""

    msg: Any
    sleeptime: Positive | msgspec.UnsetType = msgspec.UNSET


class Recv(_Profile, frozen=True, tag="recv", kw_only=True):
    """A message from the scheduler; then the profile named `success`, `failure` or `timeout` (empty: none)."""

    regex: str = ".*"
    success: str = ""
    failure: str = ""
    timeout: str = ""
    polltime: Positive | msgspec.UnsetType = msgspec.UNSET


class Smpi(_Profile, frozen=True, tag="smpi", kw_only=True):
    """An MPI trace to replay."""

    trace: Name


class UsageTrace(_Profile, frozen=True, tag="usage_trace", kw_only=True):
    """A usage trace to replay."""

    trace: Name


Profile = (
    Delay
    | Parallel
    | ParallelHomogeneous
    | ParallelHomogeneousTotal
    | ProfileSequence
    | ParallelFileSystem
    | DataStaging
    | Send
    | Recv
    | Smpi
    | UsageTrace
)

_KINDS: dict[str, type[_Profile]] = {str(kind.__struct_config__.tag): kind for kind in get_args(Profile)}

#: Names of Batsim 2 and 3 -> those of Batsim 4.
_RENAMED = {
    "msg_par": "parallel",
    "msg_par_hg": "parallel_homogeneous",
    "msg_par_hg_tot": "parallel_homogeneous_total",
    "msg_par_hg_pfs": "parallel_homogeneous_pfs",
    "msg_par_hg_pfs0": "parallel_homogeneous_pfs",
    "msg_par_hg_pfs_tiers": "parallel_homogeneous_pfs",
}


def check_profile(name: str, profile: Mapping[str, Any], *, source: str = "") -> Profile:
    """Return a profile as its typed form; references to other profiles are not followed.

    Raises:
        InputError: its type is unknown, or a field is missing or wrong.
    """
    place = f"profile {name!r}"
    kind = profile.get("type")
    if not isinstance(kind, str):
        raise InputError(f"has no 'type', expected one of {', '.join(_KINDS)}", source=source, place=place)
    if kind in BATSIM5_TYPES:
        raise InputError(
            f"type {kind!r} is one of Batsim 5, expected one of {', '.join(_KINDS)}",
            source=source,
            place=place,
        )
    if kind in _RENAMED:
        raise InputError(
            f"type {kind!r} is the old name of {_RENAMED[kind]!r}, which Batsim 4 expects", source=source, place=place
        )
    if kind not in _KINDS:
        raise InputError(f"unknown type {kind!r}, expected one of {', '.join(_KINDS)}", source=source, place=place)
    try:
        typed: Any = msgspec.convert(profile, _KINDS[kind])
    except (msgspec.ValidationError, OverflowError) as problem:
        field = str(problem).rpartition("`$.")[2].rstrip("`") if "`$." in str(problem) else ""
        found = profile.get(field.partition("[")[0]) if field else None
        text = str(problem).replace("`", "'").replace("$.", "")
        seen = f", found {short_text(found)}" if found is not None else ""
        raise InputError(f"type {kind!r}: {text}{seen}", source=source, place=place) from None
    if isinstance(typed, Delay):
        if typed.delay == math.inf:
            raise InputError("type 'delay': its delay is infinite", source=source, place=place)
    elif isinstance(typed, Parallel) and len(typed.com) != len(typed.cpu) ** 2:
        n = len(typed.cpu)
        raise InputError(
            f"type 'parallel': 'cpu' has {n} amounts, so 'com' must have {n} x {n} = {n * n}, found {len(typed.com)}",
            source=source,
            place=place,
        )
    return typed  # type: ignore[no-any-return]


def short_text(value: Any) -> str:
    """Return a value as Python writes it, cut short."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


class Composition:
    """What profiles refer to and unfold to; built once all profiles are checked one by one.

    Attributes:
        sizes: composed or parallel profile -> the numbers of executors that its parallel parts have.
    """

    def __init__(self, profiles: Mapping[str, Profile], *, source: str = "") -> None:
        """Follow every reference.

        Raises:
            InputError: a reference leads nowhere or round in a circle, or a composed profile is nested deeper than
                `MAX_NESTING` or unfolds to more than `MAX_TASKS` tasks.
        """
        self._profiles = profiles
        self._source = source
        self.sizes: dict[str, frozenset[int]] = {}
        self._depth: dict[str, int] = {}
        self._tasks: dict[str, int] = {}
        for name, profile in profiles.items():
            if isinstance(profile, ProfileSequence):
                self._follow(name)
            elif isinstance(profile, Parallel):
                self.sizes[name] = frozenset((len(profile.cpu),))
            elif isinstance(profile, Recv):
                for field in ("success", "failure", "timeout"):
                    target = getattr(profile, field)
                    if target and target not in profiles:
                        raise self._error(name, f"{field!r} names profile {target!r}, which is not in the workload")

    def _error(self, name: str, message: str) -> InputError:
        return InputError(message, source=self._source, place=f"profile {name!r}")

    def _follow(self, root: str) -> None:
        path: dict[str, None] = {}
        stack = [root]
        while stack:
            name = stack[-1]
            profile = self._profiles.get(name)
            if profile is None:
                raise self._error(next(reversed(path)), f"'seq' names profile {name!r}, which is not in the workload")
            if name in self._depth or not isinstance(profile, ProfileSequence):
                stack.pop()
            elif name in path:
                # All its parts have been followed.
                del path[name]
                stack.pop()
                self._settle(name, profile)
            else:
                path[name] = None
                parts = dict.fromkeys(profile.seq)
                circle = next((part for part in parts if part in path), None)
                if circle is not None:
                    raise self._error(
                        circle, f"contains itself, by way of {name!r}" if circle != name else "contains itself"
                    )
                stack.extend(reversed(parts))

    def _settle(self, name: str, profile: ProfileSequence) -> None:
        parts = dict.fromkeys(profile.seq)
        self._depth[name] = 1 + max(self._depth.get(part, 0) for part in parts)
        if self._depth[name] > MAX_NESTING:
            raise self._error(name, f"nested deeper than {MAX_NESTING} levels, the most accepted")
        self._tasks[name] = profile.repeat * sum(self._tasks.get(part, 1) for part in profile.seq)
        if self._tasks[name] > MAX_TASKS:
            raise self._error(name, f"unfolds to {self._tasks[name]:,} tasks, at most {MAX_TASKS:,} are accepted")
        sizes: set[int] = set()
        for part in parts:
            inner = self._profiles[part]
            sizes |= {len(inner.cpu)} if isinstance(inner, Parallel) else self.sizes.get(part, frozenset())
        if sizes:
            self.sizes[name] = frozenset(sizes)


class Outcome(NamedTuple):
    """How a profile ends when nobody stops it."""

    #: How long it takes; None where the platform or messages decide that.
    seconds: float | None
    #: Its return code; None where messages decide it.
    code: int | None


def outcome_of(profile: Mapping[str, Any], profiles: Mapping[str, Mapping[str, Any]]) -> Outcome:
    """Return how a checked profile ends by itself.

    A sequence ends at its first part that returns a code other than 0, as in Batsim; if there is none, it ends with its
    own code.
    """
    known: dict[str, Outcome] = {}

    def walk(current: Mapping[str, Any]) -> Outcome:
        own = int(current.get("ret", 0))
        if current["type"] == "delay":
            return Outcome(float(current["delay"]), own)
        if current["type"] == "recv":
            # It may go on with another profile, depending on what it is told.
            goes_on = any(current.get(name) for name in ("success", "failure", "timeout"))
            return Outcome(None, None if goes_on else own)
        if current["type"] != "composed":
            return Outcome(None, own)
        total: float | None = 0.0
        for name in current["seq"]:
            if name not in known:
                known[name] = walk(profiles[name])
            part = known[name]
            total = None if total is None or part.seconds is None else total + part.seconds
            if part.code != 0:
                return Outcome(None if part.code is None else total, part.code)
        return Outcome(None if total is None else total * int(current.get("repeat", 1)), own)

    return walk(profile)


def runtime_of(profile: Mapping[str, Any], profiles: Mapping[str, Mapping[str, Any]]) -> float | None:
    """Return how many seconds a checked profile takes, or None when that depends on the platform or on messages."""
    return outcome_of(profile, profiles).seconds


def reach_profiles(names: Iterable[str], profiles: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return the profiles that some lead to, themselves included: parts of sequences, and how a `recv` goes on.

    The profiles need not have been checked: what is not there, or is no name, is left out.
    """
    found: dict[str, Mapping[str, Any]] = {}
    pending: list[Any] = [*names]
    while pending:
        name = pending.pop()
        if not isinstance(name, str) or name in found or name not in profiles:
            continue
        profile = found[name] = profiles[name]
        if profile.get("type") == "composed":
            parts = profile.get("seq")
            pending.extend(parts if isinstance(parts, list | tuple) else ())
        else:
            pending.extend(target for key in ("success", "failure", "timeout") if (target := profile.get(key)))
    return found


def leaves(name: str, profiles: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each profile that a profile leads to and that is no sequence, once."""
    return ((key, each) for key, each in reach_profiles([name], profiles).items() if each.get("type") != "composed")


def spreads_freely(profile: Mapping[str, Any], profiles: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether a job with this profile may run on any number of hosts, because its work is shared among them.

    Batsim then ignores the number of hosts asked for. This holds for parallel_homogeneous_total and for sequences of
    only those. The profiles need not have been checked: what is not there, empty or circular does not spread.
    """
    known: dict[str, bool] = {}

    def walk(current: Mapping[str, Any], depth: int) -> bool:
        if current.get("type") != "composed":
            return bool(current.get("type") == "parallel_homogeneous_total")
        parts = current.get("seq") or ()
        for name in parts:
            if name not in known:
                # Until its parts are known, a profile that contains itself finds this answer.
                known[name] = False
                known[name] = depth < MAX_NESTING and walk(profiles.get(name, {}), depth + 1)
            if not known[name]:
                return False
        return bool(parts)

    return walk(profile, 1)
