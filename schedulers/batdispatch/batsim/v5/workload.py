"""Batsim 5's workload files <-> ours, which are Batsim 4's.

Profile types have other names; a field of the user's travels in ``extra_data``, the only one that Batsim 5 hands on;
and where amounts are spread over n executors, Batsim 4 divides communication by n and Batsim 5 by the n * (n - 1)
pairs, so that n, the size of the jobs, must be known and the same for all jobs of a profile. A profile of Batsim 5 with
jobs of several sizes stays as it is: Batsim 5 alone can run it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.profile_versions import (
    BATSIM5_TYPES,
    MESSAGES,
    NO_DEFAULT,
    OF_BATSIM4,
    OF_BATSIM5,
    PER_VALUE,
    SPREAD,
    Correspondence,
    Field,
)

#: Types that workloads may use. Batsim 5 names further ones but cannot run them either (as of 5.0.0-rc2).
_USABLE = tuple(theirs for theirs, rows in OF_BATSIM5.items() if rows[0].ours is not None)

#: A job's own fields in both versions.
_JOB_FIELDS = ("id", "subtime", "res", "walltime", "profile")
_EXTRA = "extra_data"

Profiles = Mapping[str, Mapping[str, Any]]
#: Profile name -> the sizes of the jobs that use it.
Sizes = Mapping[str, set[int]]


def is_batsim5(profiles: Profiles) -> bool:
    """Return whether a workload's profiles are Batsim 5's, told by their types."""
    return any(profile.get("type") in BATSIM5_TYPES for profile in profiles.values())


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
    return bool(profile.get("generation_strategy", PER_VALUE) == SPREAD)


def has_several_sizes(name: str, profile: Mapping[str, Any], sizes: Sizes) -> bool:
    """Return whether a Batsim 5 profile means another one of ours to each of several jobs that use it."""
    return needs_sizes(profile) and len(sizes.get(name, ())) > 1


def read_profile(name: str, profile: Mapping[str, Any], sizes: Sizes, *, source: str = "") -> dict[str, Any]:
    """Return a Batsim 5 profile as ours; what is wrong in its fields is found when it is checked.

    Raises:
        InputError: it has no counterpart.
    """
    place = f"profile {name!r}"
    kind = profile.get("type")
    if kind not in BATSIM5_TYPES:
        raise InputError(
            f"type {kind!r} in a Batsim 5 workload, expected one of {', '.join(_USABLE)}", source=source, place=place
        )
    if kind not in _USABLE:
        raise InputError(
            f"type {kind!r}: neither Batsim 4 nor the engines here run it (nor does Batsim 5.0.0-rc2)",
            source=source,
            place=place,
        )
    strategy = profile.get("generation_strategy", PER_VALUE)
    if strategy not in (PER_VALUE, SPREAD):
        raise InputError(
            f"'generation_strategy' is {str(strategy)[:60]!r}, expected {PER_VALUE} or {SPREAD}",
            source=source,
            place=place,
        )
    row = _row_of(OF_BATSIM5[kind], profile, strategy, source, place)
    left_out = ("type", "generation_strategy", _EXTRA, *(["trace_type"] if row.trace_type else []))
    ours = {"type": row.ours, **{key: value for key, value in profile.items() if key not in left_out}}
    for field in row.fields:
        _rename(ours, field)
        if field.spread and _positive(ours[field.ours]):
            ours[field.ours] = ours[field.ours] / _factor(field, _common_size(name, sizes, source))
    if row.ours == "parallel":
        _complete(ours)
    return _merge(ours, profile.get(_EXTRA), ("type",), source, place)


def _row_of(
    rows: tuple[Correspondence, ...], profile: Mapping[str, Any], strategy: str, source: str, place: str
) -> Correspondence:
    """Return which row of the table a profile is."""
    if rows[0].trace_type:
        what = str(profile.get("trace_type", ""))
        for row in rows:
            if row.trace_type == what:
                return row
        known = " or ".join(row.trace_type for row in rows)
        raise InputError(f"'trace_type' is {what[:60]!r}, expected {known}", source=source, place=place)
    return next((row for row in rows if row.strategy == strategy), rows[0])


def _rename(profile: dict[str, Any], field: Field) -> None:
    """Give a field of a workload file its name in ours, and the default that the file may leave out."""
    if field.in_file != field.ours:
        profile[field.ours] = profile.pop(field.in_file, None)
    if field.file_alias:
        alias = profile.pop(field.file_alias, field.file_default)
        profile.setdefault(field.ours, alias)
    elif field.file_default is not NO_DEFAULT:
        profile.setdefault(field.ours, field.file_default)


def _factor(field: Field, count: int) -> int:
    """Return by what Batsim 5's amount exceeds Batsim 4's, for a number of executors."""
    return count if field.spread == "executors" else max(count - 1, 1)


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
        _written_as(name, str(profile["type"]), source)


def _written_as(name: str, kind: str, source: str) -> Correspondence:
    row = OF_BATSIM4.get(kind)
    if row is not None:
        return row
    what = "messages between jobs and schedulers" if kind in MESSAGES else "counterpart of it"
    raise InputError(f"type {kind!r}: Batsim 5 has no {what}", source=source, place=f"profile {name!r}")


def write_profile(name: str, profile: Mapping[str, Any], sizes: Sizes, *, source: str = "") -> dict[str, Any]:
    """Return a profile of ours as Batsim 5 reads it.

    Raises:
        InputError: Batsim 5 has nothing of its kind.
    """
    row = _written_as(name, str(profile["type"]), source)
    fields = {key: value for key, value in profile.items() if key != "type"}
    if row.strategy == SPREAD:
        fields["generation_strategy"] = SPREAD
    if row.trace_type:
        fields["trace_type"] = row.trace_type
    for field in row.fields:
        if field.in_file != field.ours:
            fields[field.in_file] = fields.pop(field.ours)
        elif field.spread and _positive(fields.get(field.ours)):
            fields[field.ours] = fields[field.ours] * _factor(field, _common_size(name, sizes, source))
    own = (*row.file_names, "ret")
    written = {"type": row.theirs, **{key: value for key, value in fields.items() if key in own}}
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
