"""Batsim 5's workload files <-> ours, which are Batsim 4's.

Profile types have other names; a field of the user's travels in ``extra_data``, the only one that Batsim 5 hands on;
and where amounts are spread over n executors, Batsim 4 divides communication by n and Batsim 5 by the n * (n - 1)
pairs, so that n, the size of the jobs, must be known and the same for all jobs of a profile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from batdispatch.core.errors import InputError

EACH, SPREAD = "DefinedAmountsUsedForEachValue", "DefinedAmountsSpreadUniformly"
#: Batsim 5's type -> ours.
RENAMED = {
    "DelayProfile": "delay",
    "ParallelTaskProfile": "parallel",
    "ParallelTaskHomogeneousProfile": "parallel_homogeneous",
    "SequentialCompositionProfile": "composed",
    "ParallelTaskOnStorageHomogeneousProfile": "parallel_homogeneous_pfs",
    "ParallelTaskDataStagingBetweenStoragesProfile": "data_staging",
    "TraceReplayProfile": "smpi",
}
#: Types that Batsim 5 names but cannot run either (as of 5.0.0-rc2).
UNKNOWN = ("ForkJoinCompositionProfile", "ParallelTaskMergeCompositionProfile")
TYPES = (*RENAMED, *UNKNOWN)
#: Fields that Batsim 5 reads itself, beside those of a type.
_KEPT = {
    "DelayProfile": ("delay",),
    "ParallelTaskProfile": ("cpu", "com"),
    "ParallelTaskHomogeneousProfile": ("cpu", "com", "generation_strategy"),
    "SequentialCompositionProfile": ("seq", "repeat"),
    "ParallelTaskOnStorageHomogeneousProfile": ("bytes_to_read", "bytes_to_write", "storage", "generation_strategy"),
    "ParallelTaskDataStagingBetweenStoragesProfile": ("nb_bytes", "from", "to"),
    "TraceReplayProfile": ("trace_type", "trace_file"),
}
_BY_OURS = {ours: theirs for theirs, ours in RENAMED.items()} | {
    "parallel_homogeneous_total": "ParallelTaskHomogeneousProfile",
    "usage_trace": "TraceReplayProfile",
}
#: A job's own fields in both versions.
_JOB_FIELDS = ("id", "subtime", "res", "walltime", "profile")
_EXTRA = "extra_data"

Profiles = Mapping[str, Mapping[str, Any]]
#: Profile name -> the sizes of the jobs that use it.
Sizes = Mapping[str, set[int]]


def is_batsim5(profiles: Profiles) -> bool:
    """Return whether a workload's profiles are Batsim 5's, told by their types."""
    return any(profile.get("type") in TYPES for profile in profiles.values())


def sizes_of(uses: Iterable[tuple[str, int]], profiles: Profiles) -> dict[str, set[int]]:
    """Return the sizes of the jobs that use each profile, be it as a part of a sequence.

    Args:
        uses: profile and size of each job.
        profiles: of either version; references may lead nowhere or round in a circle.
    """
    sizes: dict[str, set[int]] = {}
    pending = list(dict.fromkeys(uses))
    while pending:
        name, size = pending.pop()
        if size in sizes.setdefault(name, set()):
            continue
        sizes[name].add(size)
        parts = profiles.get(name, {}).get("seq")
        if isinstance(parts, list):
            pending += [(part, size) for part in parts if isinstance(part, str)]
    return sizes


def needs_sizes(profile: Mapping[str, Any]) -> bool:
    """Return whether a Batsim 5 profile's amounts depend on the size of its jobs."""
    return bool(profile.get("generation_strategy", EACH) == SPREAD)


def read_profile(name: str, profile: Mapping[str, Any], sizes: Sizes, *, source: str = "") -> dict[str, Any]:
    """Return a Batsim 5 profile as ours; what is wrong in its fields is found when it is checked.

    Raises:
        InputError: it has no counterpart.
    """
    place = f"profile {name!r}"
    kind = profile.get("type")
    if kind not in TYPES:
        raise InputError(
            f"type {kind!r} in a Batsim 5 workload, expected one of {', '.join(RENAMED)}", source=source, place=place
        )
    if kind in UNKNOWN:
        raise InputError(
            f"type {kind!r}: neither Batsim 4 nor the engines here run it (nor does Batsim 5.0.0-rc2)",
            source=source,
            place=place,
        )
    strategy = profile.get("generation_strategy", EACH)
    if strategy not in (EACH, SPREAD):
        raise InputError(
            f"'generation_strategy' is {str(strategy)[:60]!r}, expected {EACH} or {SPREAD}", source=source, place=place
        )
    fields = {key: value for key, value in profile.items() if key not in ("type", "generation_strategy", _EXTRA)}
    ours: dict[str, Any] = {"type": RENAMED[kind], **fields}
    if kind == "ParallelTaskProfile":
        _complete(ours)
    elif kind == "ParallelTaskHomogeneousProfile":
        ours = {**ours, "cpu": fields.get("cpu", 0), "com": fields.get("com", 0)}
        if strategy == SPREAD:
            ours["type"] = "parallel_homogeneous_total"
            if _positive(ours["com"]):
                count = _common_size(name, sizes, source)
                ours["com"] = ours["com"] / max(count - 1, 1)
    elif kind == "ParallelTaskOnStorageHomogeneousProfile":
        ours = {**ours, "storage": fields.get("storage", fields.get("host", "pfs"))}
        ours.pop("host", None)
        for key in ("bytes_to_read", "bytes_to_write"):
            ours[key] = fields.get(key, 0)
            if strategy == SPREAD and _positive(ours[key]):
                ours[key] = ours[key] / _common_size(name, sizes, source)
    elif kind == "TraceReplayProfile":
        ours = {key: value for key, value in ours.items() if key not in ("trace_type", "trace_file")}
        what = str(fields.get("trace_type", "")).lower()
        if what not in ("smpi", "usage"):
            raise InputError(f"'trace_type' is {what[:60]!r}, expected smpi or usage", source=source, place=place)
        ours |= {"type": "smpi" if what == "smpi" else "usage_trace", "trace": fields.get("trace_file")}
    return _merge(ours, profile.get(_EXTRA), ("type",), source, place)


def _positive(value: Any) -> bool:
    return type(value) in (int, float) and value > 0


def _complete(profile: dict[str, Any]) -> None:
    """Fill in what a parallel task may leave out: all of it is 0."""
    cpu, com = profile.get("cpu"), profile.get("com")
    if cpu is None and isinstance(com, list):
        profile["cpu"] = [0] * round(len(com) ** 0.5)
    # Larger ones are refused when they are checked: nobody means gigabytes of zeros.
    if com is None and isinstance(cpu, list) and len(cpu) <= 4096:
        profile["com"] = [0] * (len(cpu) ** 2)


def _common_size(name: str, sizes: Sizes, source: str) -> int:
    known = sizes.get(name, set())
    if len(known) > 1:
        listed = ", ".join(str(size) for size in sorted(known)[:5])
        raise InputError(
            f"its amounts are spread over the executors, which Batsim 4 and 5 do differently, and jobs of {listed} "
            "hosts use it: give the jobs of each size a profile of their own",
            source=source,
            place=f"profile {name!r}",
        )
    return next(iter(known), 1)


def _merge(fields: dict[str, Any], extra: Any, reserved: tuple[str, ...], source: str, place: str) -> dict[str, Any]:
    """Add what ``extra_data`` holds to an object's fields."""
    if extra is None or extra == "":
        return fields
    given = _object(extra)
    if given is None:
        return {**fields, _EXTRA: extra}
    for name in given:
        if name in fields or name in reserved:
            raise InputError(
                f"'extra_data' has a field {name[:60]!r}, which stands beside it or is Batsim's own",
                source=source,
                place=place,
            )
    return {**fields, **given}


def _object(extra: Any) -> dict[str, Any] | None:
    """Return ``extra_data`` as an object: one, or the text of one."""
    if isinstance(extra, str):
        try:
            return msgspec.json.decode(extra, type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
    return extra if isinstance(extra, dict) else None


def merge_job(fields: dict[str, Any], *, source: str, place: str) -> dict[str, Any]:
    """Return a Batsim 5 job's fields with those of its ``extra_data`` beside them.

    Raises:
        InputError: a name stands in both.
    """
    extra = fields.pop(_EXTRA, None)
    return _merge(fields, extra, _JOB_FIELDS, source, place)


def check_kinds(profiles: Profiles, *, source: str = "") -> None:
    """Check that Batsim 5 has profiles of the same kinds.

    Raises:
        InputError: it has not.
    """
    for name, profile in profiles.items():
        _theirs(name, str(profile["type"]), source)


def _theirs(name: str, kind: str, source: str) -> str:
    if kind in _BY_OURS:
        return _BY_OURS[kind]
    what = "messages between jobs and schedulers" if kind in ("send", "recv") else "counterpart of it"
    raise InputError(f"type {kind!r}: Batsim 5 has no {what}", source=source, place=f"profile {name!r}")


def write_profile(name: str, profile: Mapping[str, Any], sizes: Sizes, *, source: str = "") -> dict[str, Any]:
    """Return a profile of ours as Batsim 5 reads it.

    Raises:
        InputError: Batsim 5 has nothing of its kind.
    """
    kind = str(profile["type"])
    theirs = _theirs(name, kind, source)
    fields = {key: value for key, value in profile.items() if key != "type"}
    if kind == "parallel_homogeneous_total":
        fields["generation_strategy"] = SPREAD
        if _positive(fields.get("com")):
            count = _common_size(name, sizes, source)
            fields["com"] = fields["com"] * max(count - 1, 1)
    elif kind in ("smpi", "usage_trace"):
        fields |= {"trace_type": "smpi" if kind == "smpi" else "usage", "trace_file": fields.pop("trace")}
    own = (*_KEPT[theirs], "ret")
    written = {"type": theirs, **{key: value for key, value in fields.items() if key in own}}
    extra = {key: value for key, value in fields.items() if key not in own}
    return written | _extra(extra)


def _extra(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the field ``extra_data`` for the user's own fields, or nothing."""
    if not fields:
        return {}
    # A text or array that stood there is no object's field.
    if list(fields) == [_EXTRA] and not isinstance(fields[_EXTRA], dict):
        return fields
    return {_EXTRA: fields}


def job_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a job's object as Batsim 5 reads it, given Batsim 4's."""
    own = {name: value for name, value in fields.items() if name in _JOB_FIELDS}
    return own | _extra({name: value for name, value in fields.items() if name not in _JOB_FIELDS})
