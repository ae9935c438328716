"""batprotocol's profiles <-> ours, which are Batsim 4's.

A profile without an exact counterpart keeps Batsim 5's type name and fields, so that nothing is misread: fork-join and
merged compositions, amounts of communication or I/O that are spread over the executors, traces of unknown types.
"""

from __future__ import annotations

from typing import Any

from batdispatch.batsim.v5.extra import read_extra, write_extra
from batdispatch.batsim.v5.shapes import ProfileData
from batdispatch.core.errors import FieldError
from batdispatch.core.jobs.profile_versions import (
    BATSIM5_TYPES,
    MESSAGES,
    NO_DEFAULT,
    OF_BATSIM4,
    OF_BATSIM5,
    PER_VALUE,
    SPREAD,
    Correspondence,
)

#: The fields of the types of Batsim 5 that have no counterpart of ours, or not always.
_PARTICULAR = {theirs: rows[0].wire_names for theirs, rows in OF_BATSIM5.items() if not all(row.exact for row in rows)}


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
    if data.profile_type not in BATSIM5_TYPES:
        raise FieldError(f"{field}.profile_type", data.profile_type, f"one of {', '.join(BATSIM5_TYPES)}")
    extra = read_extra(data.extra_data, f"{field}.extra_data")
    fields = data.profile
    row = _row_of(data.profile_type, fields)
    if row is None:
        profile = {"type": data.profile_type, **fields}
    else:
        profile = _translated(row, fields, f"{field}.profile", workload)
    for key in list(extra):
        if key in profile:
            raise FieldError(f"{field}.extra_data", key, "no field that the profile itself has")
    return workload, name, {**profile, **extra}


def _row_of(theirs: str, fields: dict[str, Any]) -> Correspondence | None:
    """Return which row of the table a profile is, or None if it means something that ours cannot say."""
    rows = OF_BATSIM5[theirs]
    row = rows[0]
    if row.trace_type:
        what = fields.get("trace_type", row.trace_type)
        return next((row for row in rows if row.trace_type == what), None)
    if row.strategy and fields.get("generation_strategy", PER_VALUE) == SPREAD:
        row = next(row for row in rows if row.strategy == SPREAD)
    if row.exact:
        return row
    if row.ours == "parallel":
        return row if any(fields.get(field.on_wire) for field in row.fields) else None
    if row.ours == "parallel_homogeneous_total":
        # How much each version communicates depends on the number of executors, unless it is nothing.
        return row if not any(fields.get(field.on_wire) for field in row.fields if field.spread) else None
    return None


def _translated(row: Correspondence, fields: dict[str, Any], field: str, workload: str) -> dict[str, Any]:
    profile: dict[str, Any] = {"type": row.ours}
    for each in row.fields:
        value = fields.get(each.on_wire, None if each.wire_default is NO_DEFAULT else each.wire_default)
        if each.many:
            value = [] if value is None else value
            if not isinstance(value, list):
                raise FieldError(f"{field}.{each.on_wire}", value, "an array")
        elif value is None:
            raise FieldError(f"{field}.{each.on_wire}", None, "a value")
        profile[each.ours] = value
    if row.ours == "parallel":
        _complete(profile, field)
    elif row.ours == "composed":
        if not all(isinstance(part, str) for part in profile["seq"]):
            raise FieldError(f"{field}.profile_ids", profile["seq"], "ids of profiles")
        profile["seq"] = [short_id(part, workload) for part in profile["seq"]]
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
    if kind in MESSAGES:
        raise ValueError(f"profile {where}: Batsim 5 has no messages between jobs and schedulers (type {kind!r})")
    row = OF_BATSIM4.get(str(kind))
    if row is None:
        raise ValueError(f"profile {where}: Batsim 5 has no counterpart of type {kind!r}")
    if kind == "parallel_homogeneous_total" and profile.get("com"):
        raise ValueError(
            f"profile {where}: Batsim 5 spreads 'com' over the pairs of executors, Batsim 4 over the executors: "
            "say parallel_homogeneous, with the amount of each pair"
        )
    given = {field.ours: field.wire_default for field in row.fields if field.wire_default is not NO_DEFAULT} | profile
    fields = {field.on_wire: given[field.ours] for field in row.fields if field.ours in given}
    if kind == "composed":
        fields["profile_ids"] = [full_id(part, workload) for part in fields["profile_ids"]]
    elif kind == "parallel":
        if not any(fields["communication_matrix"]):
            del fields["communication_matrix"]
        elif not any(fields["computation_vector"]):
            del fields["computation_vector"]
    if row.strategy:
        fields["generation_strategy"] = row.strategy
    if row.trace_type:
        fields["trace_type"] = row.trace_type
    own = tuple(field.ours for field in row.fields)
    return _with_extra({"id": where, "profile_type": row.theirs, "profile": fields}, profile, own)


def _with_extra(written: dict[str, Any], profile: dict[str, Any], own: tuple[str, ...]) -> dict[str, Any]:
    extra = {key: value for key, value in profile.items() if key not in own and key != "type"}
    if extra:
        written["extra_data"] = write_extra(extra)
    return written
