"""The jobs and profiles of a workload, of Batsim 4 or 5, and what each job asks for, field by field."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from batdispatch.abilities.verify.audit.findings import is_number
from batdispatch.batsim.v5.workload import merge_job
from batdispatch.core.errors import InputError

Profiles = Mapping[str, Mapping[str, Any]]
#: Deepest nesting of sequences that is followed.
_DEEPEST = 100
#: Batsim 5's types with a counterpart whose length is known, and the fields that differ.
_DELAYS, _SEQUENCES = ("delay", "DelayProfile"), ("composed", "SequentialCompositionProfile")


class Job(msgspec.Struct, gc=False, kw_only=True):
    """A job as its JSON object says it; a field that is not here says nothing about where and when it may run."""

    id: str | int = ""
    subtime: float = 0.0
    res: int = 1
    walltime: float | None = None
    profile: str = ""
    user: str | int = ""
    parent: str = ""
    demand: dict[str, int] | None = None
    per_node: dict[str, int] = {}
    nodes: int | list[int] | None = None
    units_per_node: int = 0
    whole_nodes: bool = False
    node_list: list[str] = []
    exclude_nodes: list[str] = []
    contiguous: bool = False
    licences: dict[str, int] = {}
    io_node: str | list[str] = []
    dependencies: list[str | dict[str, Any]] = []
    array: dict[str, Any] | None = None
    name: Any = None
    partition: Any = None
    partitions: Any = None
    qos: Any = None
    reservation: Any = None
    account: Any = None
    constraint: Any = None

    @property
    def limit(self) -> float:
        """Longest run time allowed, s; infinite if none was asked for."""
        return math.inf if self.walltime is None or self.walltime < 0 else self.walltime

    @property
    def node_range(self) -> tuple[int, int] | None:
        """Least and most nodes asked for."""
        if self.nodes is None:
            return None
        return (self.nodes, self.nodes) if isinstance(self.nodes, int) else (self.nodes[0], self.nodes[1])

    @property
    def io_nodes(self) -> list[str]:
        """Names of the storage hosts that serve the job."""
        return [self.io_node] if isinstance(self.io_node, str) else self.io_node

    @property
    def is_placed_freely(self) -> bool:
        """Whether nothing but its size restricts where the job runs."""
        lists = (self.node_list, self.exclude_nodes, self.per_node, self.io_node)
        return not (self.nodes or self.units_per_node or self.contiguous or self.whole_nodes or any(lists))

    @property
    def waits_for(self) -> list[Dependency]:
        """What other jobs must have done before the job starts."""
        told = [{"job": one} if isinstance(one, str) else one for one in self.dependencies]
        return [
            Dependency(str(one.get("job", "")), one.get("kind", "afterok"), float(one.get("delay", 0))) for one in told
        ]


class Dependency(NamedTuple):
    """What a job waits for: another job, what that must have done, and for how many seconds it waits from then on."""

    job: str
    kind: str
    delay: float


class Ending(NamedTuple):
    """How a profile ends when nobody stops it: after how many seconds, with which return code; None: nobody knows."""

    seconds: float | None
    code: int | None


class Workload(NamedTuple):
    """A workload.

    Attributes:
        jobs: in Batsim's order, by submission and then by id as a text.
        texts: the JSON object of each, not decoded.
        profiles: by name.
        version: of Batsim, whose profiles these are.
    """

    jobs: list[Job]
    texts: list[msgspec.Raw]
    profiles: dict[str, dict[str, Any]]
    version: int

    def fields(self, index: int) -> dict[str, Any]:
        """Return the JSON object of a job, in Batsim 4's form."""
        return _fields(self.texts[index], self.version)


class _Top(msgspec.Struct):
    jobs: list[msgspec.Raw]
    profiles: dict[str, dict[str, Any]]


def _fields(text: msgspec.Raw, version: int) -> dict[str, Any]:
    fields = msgspec.json.decode(text, type=dict[str, Any])
    # What Batsim 5 hands on for its users stands in a field of its own.
    return merge_job(fields, source="", place="") if version == 5 else fields


def read_workload(data: bytes, source: str) -> Workload:
    """Read a workload file.

    Raises:
        InputError: it cannot be read.
    """
    try:
        top = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=_Top)
        version = 5 if any(str(one.get("type")).endswith("Profile") for one in top.profiles.values()) else 4
        decode = msgspec.json.Decoder(Job).decode
        jobs = [decode(each) if version == 4 else job_of(_fields(each, version)) for each in top.jobs]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, AttributeError) as problem:
        raise InputError(f"cannot be read as a workload: {problem}", source=source) from None
    for job in jobs:
        job.id = str(job.id)
    order = sorted(range(len(jobs)), key=lambda index: (jobs[index].subtime, jobs[index].id))
    return Workload([jobs[index] for index in order], [top.jobs[index] for index in order], top.profiles, version)


def job_of(fields: Mapping[str, Any]) -> Job:
    """Return a job whose JSON object was decoded.

    Raises:
        msgspec.ValidationError: a field has a value of another kind than it should.
    """
    return msgspec.convert(fields, Job)


class Endings:
    """How the profiles of a run end by themselves: the workload's, and the registered ones by workload and name."""

    def __init__(self, profiles: Profiles, registered: Mapping[str, Profiles]) -> None:
        self._profiles, self._registered = profiles, registered
        self._known: dict[tuple[str, str], Ending] = {}

    def of(self, workload: str, name: str) -> Ending:
        """Return how a job's profile ends."""
        own = self._registered.get(workload, {})
        key = (workload if name in own else "", name)
        if key not in self._known:
            self._known[key] = self._ending(name, {**self._profiles, **own} if key[0] else self._profiles, 0)
        return self._known[key]

    def _ending(self, name: str, profiles: Profiles, depth: int) -> Ending:
        """Return how a profile ends, following the parts of a sequence."""
        profile = profiles.get(name)
        if profile is None or depth > _DEEPEST:
            return Ending(None, None)
        kind, code = profile.get("type"), int(profile.get("ret", 0))
        if kind in _DELAYS and is_number(profile.get("delay")):
            return Ending(float(profile["delay"]), code)
        if kind == "recv" and any(profile.get(way) for way in ("success", "failure", "timeout")):
            return Ending(None, None)
        if kind not in _SEQUENCES:
            return Ending(None, code)
        total: float | None = 0.0
        parts = {part: self._ending(part, profiles, depth + 1) for part in dict.fromkeys(profile.get("seq", ()))}
        for part in profile.get("seq", ()):
            seconds, returned = parts[part]
            total = None if total is None or seconds is None else total + seconds
            if returned != 0:
                # A sequence ends at its first part that returns another code than 0.
                return Ending(None if returned is None else total, returned)
        return Ending(None if total is None else total * int(profile.get("repeat", 1)), code)


def spreads(name: str, profiles: Profiles, depth: int = 0) -> bool:
    """Return whether a profile's work is divided among any number of hosts, so that Batsim ignores the number asked."""
    profile = profiles.get(name, {})
    if profile.get("type") in _SEQUENCES:
        parts = set(profile.get("seq", ()))
        return bool(parts) and depth < _DEEPEST and all(spreads(part, profiles, depth + 1) for part in parts)
    return profile.get("type") == "parallel_homogeneous_total" or "Uniformly" in str(profile.get("generation_strategy"))
