"""batprotocol's profiles <-> ours, which are Batsim 4's.

A profile without an exact counterpart keeps Batsim 5's type name and fields, so that nothing is misread: fork-join and
merged compositions, amounts of communication or I/O that are spread over the executors, traces other than SMPI's.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from batdispatch.batsim.problems import FieldError
from batdispatch.batsim.v5.extra import read_extra, write_extra
from batdispatch.batsim.v5.shapes import ProfileData

EACH, SPREAD = "DefinedAmountsUsedForEachValue", "DefinedAmountsSpreadUniformly"
TYPES = (
    "DelayProfile",
    "ParallelTaskProfile",
    "ParallelTaskHomogeneousProfile",
    "SequentialCompositionProfile",
    "ForkJoinCompositionProfile",
    "ParallelTaskMergeCompositionProfile",
    "ParallelTaskOnStorageHomogeneousProfile",
    "ParallelTaskDataStagingBetweenStoragesProfile",
    "TraceReplayProfile",
)
#: Batsim 5's type -> ours, with the fields that are only called otherwise: ours -> Batsim 5's.
_RENAMED = {
    "ParallelTaskProfile": ("parallel", {"cpu": "computation_vector", "com": "communication_matrix"}),
    "ParallelTaskHomogeneousProfile": (
        "parallel_homogeneous",
        {"cpu": "computation_amount", "com": "communication_amount"},
    ),
    "SequentialCompositionProfile": ("composed", {"repeat": "repetition_count", "seq": "profile_ids"}),
    "ParallelTaskOnStorageHomogeneousProfile": (
        "parallel_homogeneous_pfs",
        {"storage": "storage_name", "bytes_to_read": "bytes_to_read", "bytes_to_write": "bytes_to_write"},
    ),
    "ParallelTaskDataStagingBetweenStoragesProfile": (
        "data_staging",
        {"nb_bytes": "bytes_to_transfer", "from": "emitter_storage_name", "to": "receiver_storage_name"},
    ),
    "DelayProfile": ("delay", {"delay": "delay"}),
    "TraceReplayProfile": ("smpi", {"trace": "filename"}),
}
_DEFAULTS: dict[str, dict[str, Any]] = {
    "parallel_homogeneous": {"cpu": 0.0, "com": 0.0},
    "composed": {"repeat": 1},
    "parallel_homogeneous_pfs": {"bytes_to_read": 0.0, "bytes_to_write": 0.0, "storage": "pfs"},
    "data_staging": {"nb_bytes": 0.0},
}
_BY_OURS = {ours: (theirs, fields) for theirs, (ours, fields) in _RENAMED.items()}
_BY_OURS["parallel_homogeneous_total"] = _BY_OURS["parallel_homogeneous"]
#: The fields of the types that have no counterpart of ours, or not always.
_PARTICULAR = {
    "ParallelTaskProfile": ("computation_vector", "communication_matrix"),
    "ParallelTaskHomogeneousProfile": ("computation_amount", "communication_amount", "generation_strategy"),
    "ForkJoinCompositionProfile": ("profile_ids",),
    "ParallelTaskMergeCompositionProfile": ("profile_ids",),
    "ParallelTaskOnStorageHomogeneousProfile": (
        "storage_name",
        "bytes_to_read",
        "bytes_to_write",
        "generation_strategy",
    ),
    "TraceReplayProfile": ("trace_type", "filename"),
}
_LISTS = {"cpu": "parallel", "com": "parallel", "seq": "composed"}


def split_id(text: str, field: str) -> tuple[str, str]:
    """Return workload and name of an id such as ``w0!d10``.

    Raises:
        FieldError: it is no such id.
    """
    workload, mark, name = text.partition("!")
    if not (workload and mark and name):
        raise FieldError(field, text, "workload!name")
    return workload, name


def short_id(text: str, workload: str) -> str:
    """Return an id without the workload if that is the given one."""
    head, mark, name = text.partition("!")
    return name if mark and head == workload else text


def full_id(name: str, workload: str) -> str:
    """Return the id of a profile that a workload names."""
    return name if "!" in name else f"{workload}!{name}"


def read_profile(data: ProfileData, field: str) -> tuple[str, str, dict[str, Any]]:
    """Return (workload, name, profile).

    Raises:
        FieldError: it is malformed; `field` says where the profile is.
    """
    workload, name = split_id(data.id, f"{field}.id")
    if data.profile_type not in TYPES:
        raise FieldError(f"{field}.profile_type", data.profile_type, f"one of {', '.join(TYPES)}")
    extra = read_extra(data.extra_data, f"{field}.extra_data")
    fields = data.profile
    profile: dict[str, Any] | None = None
    if not _is_particular(data.profile_type, fields):
        profile = _translated(data.profile_type, fields, f"{field}.profile", workload)
    if profile is None:
        profile = {"type": data.profile_type, **fields}
    for key in list(extra):
        if key in profile:
            raise FieldError(f"{field}.extra_data", key, "no field that the profile itself has")
    return workload, name, {**profile, **extra}


def _is_particular(kind: str, fields: dict[str, Any]) -> bool:
    """Return whether a profile means something that ours cannot say."""
    if kind not in _RENAMED:
        return True
    if kind == "TraceReplayProfile":
        return bool(fields.get("trace_type", "SMPI") != "SMPI")
    if kind == "ParallelTaskProfile":
        return not fields.get("computation_vector") and not fields.get("communication_matrix")
    if fields.get("generation_strategy", EACH) != SPREAD:
        return False
    return kind == "ParallelTaskOnStorageHomogeneousProfile" or bool(fields.get("communication_amount"))


def _translated(kind: str, fields: dict[str, Any], field: str, workload: str) -> dict[str, Any]:
    ours, names = _RENAMED[kind]
    profile: dict[str, Any] = {"type": ours}
    for name, theirs in names.items():
        value = fields.get(theirs, _DEFAULTS.get(ours, {}).get(name))
        if name in _LISTS and ours == _LISTS[name]:
            value = [] if value is None else value
            if not isinstance(value, list):
                raise FieldError(f"{field}.{theirs}", value, "an array")
        elif value is None:
            raise FieldError(f"{field}.{theirs}", None, "a value")
        profile[name] = value
    if ours == "parallel":
        _complete(profile, field)
    elif ours == "composed":
        if not all(isinstance(part, str) for part in profile["seq"]):
            raise FieldError(f"{field}.profile_ids", profile["seq"], "ids of profiles")
        profile["seq"] = [short_id(part, workload) for part in profile["seq"]]
    elif ours == "parallel_homogeneous" and fields.get("generation_strategy", EACH) == SPREAD:
        profile["type"] = "parallel_homogeneous_total"
    return profile


def _complete(profile: dict[str, Any], field: str) -> None:
    """Fill in the vector or matrix that is left out where all of it is 0."""
    cpu, com = profile["cpu"], profile["com"]
    count = len(cpu) or round(len(com) ** 0.5)
    profile["cpu"] = cpu or [0.0] * count
    if com and len(com) != count * count:
        raise FieldError(f"{field}.communication_matrix", com, f"{count} x {count} amounts")
    # A matrix for thousands of executors that nobody asked for would take gigabytes.
    if not com and count > 4096:
        raise FieldError(f"{field}.computation_vector", cpu, "at most 4096 executors where there is no communication")
    profile["com"] = com or [0.0] * (count * count)


def write_profile(workload: str, name: str, profile: dict[str, Any]) -> dict[str, Any]:
    """Return a profile as Batsim 5 writes it.

    Raises:
        ValueError: Batsim 5 has nothing of its kind; says why.
    """
    kind = profile.get("type")
    where = f"{workload}!{name}"
    if kind in _PARTICULAR:
        own = _PARTICULAR[kind]
        fields = {key: profile[key] for key in own if key in profile}
        return _with_extra({"id": where, "profile_type": kind, "profile": fields}, profile, own)
    if kind in ("send", "recv"):
        raise ValueError(f"profile {where}: Batsim 5 has no messages between jobs and schedulers (type {kind!r})")
    if kind not in _BY_OURS:
        raise ValueError(f"profile {where}: Batsim 5 has no counterpart of type {kind!r}")
    if kind == "parallel_homogeneous_total" and profile.get("com"):
        raise ValueError(
            f"profile {where}: Batsim 5 spreads 'com' over the pairs of executors, Batsim 4 over the executors: "
            "say parallel_homogeneous, with the amount of each pair"
        )
    theirs, names = _BY_OURS[kind]
    given = {**_DEFAULTS.get(kind, {}), **profile}
    fields = {their: given[our] for our, their in names.items() if our in given}
    if kind == "composed":
        fields["profile_ids"] = [full_id(part, workload) for part in fields["profile_ids"]]
    elif kind == "parallel":
        if not any(fields["communication_matrix"]):
            del fields["communication_matrix"]
        elif not any(fields["computation_vector"]):
            del fields["computation_vector"]
    elif kind in ("parallel_homogeneous", "parallel_homogeneous_pfs"):
        fields["generation_strategy"] = EACH
    elif kind == "parallel_homogeneous_total":
        fields["generation_strategy"] = SPREAD
    elif kind == "smpi":
        fields["trace_type"] = "SMPI"
    return _with_extra({"id": where, "profile_type": theirs, "profile": fields}, profile, names)


def _with_extra(written: dict[str, Any], profile: dict[str, Any], own: Collection[str]) -> dict[str, Any]:
    extra = {key: value for key, value in profile.items() if key not in own and key != "type"}
    if extra:
        written["extra_data"] = write_extra(extra)
    return written


def size_of(profile: dict[str, Any]) -> int | None:
    """Return how many parts a sequence has, None for other profiles."""
    return len(profile["seq"]) if profile.get("type") == "composed" else None
