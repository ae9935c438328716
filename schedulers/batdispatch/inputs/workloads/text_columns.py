"""The jobs of a workload from the text of their list to columns, without an object per job: in C."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.core.jobs.fields import KNOWN_FIELDS, MAX_MOMENT
from batdispatch.core.jobs.sizes import MAX_UNITS
from batdispatch.inputs.workloads.columns import JobColumns, delays_of, submission_order
from batdispatch.native.record import Record, call, structure_of
from batdispatch.native.texts import PackedTexts

#: Bytes of the shortest job.
_SHORTEST = len('{"id":"1","subtime":0,"res":1,"profile":"d"}')
#: Places for users, twice as many as there may be.
_PLACES = 1 << 20
_BY_JOB = ("id_at", "id_length", "submission", "units", "walltime", "profile", "user")


class WorkloadText(Record):
    """What native/workload_text.c reads, and where to, see there."""

    kinds, _fields_ = structure_of("workload_text.c", "WorkloadText")


def read_columns(
    jobs: msgspec.Raw, profiles: Mapping[str, Mapping[str, Any]], particular: frozenset[str]
) -> JobColumns | None:
    """Return the jobs of a list, in order of submission, or None if any of them is unusual, be it wrong.

    Args:
        jobs: the list, of Batsim 4's objects.
        profiles: of the workload, checked.
        particular: names of profiles that are not for every number of units.
    """
    text = np.frombuffer(memoryview(jobs), dtype=np.uint8)
    workload = _prepared(text, profiles)
    if not call("read_jobs", workload):
        return None
    count, users = workload.jobs, workload.users
    columns = {name: workload.arrays[name][:count] for name in _BY_JOB}
    delay, code = delays_of(profiles)
    used = np.unique(columns["profile"])
    names = list(profiles)
    if np.isnan(delay[used]).any() or not particular.isdisjoint(names[each] for each in used.tolist()):
        return None
    ids = _packed_ids(text, columns.pop("id_at"), columns.pop("id_length"))
    if ids is None:
        return None
    stretches = zip(*(workload.arrays[name][:users].tolist() for name in ("user_at", "user_length")), strict=True)
    order = submission_order(columns["submission"], ids)
    taken = {name: column.copy() if order is None else column[order] for name, column in columns.items()}
    return JobColumns(
        ids=ids if order is None else ids.take(order),
        profiles=names,
        delay=delay,
        code=code,
        users=[text[at : at + length].tobytes().decode() for at, length in stretches],
        told=None,
        extra=None,
        **taken,
    )


def _prepared(text: NDArray[np.uint8], profiles: Mapping[str, Any]) -> WorkloadText:
    """Return what C is to read; memory that it does not write is never taken."""
    room, places = len(text) // _SHORTEST + 1, 2 << len(profiles).bit_length()
    workload = WorkloadText(
        **{"bytes": len(text), "latest": MAX_MOMENT, "most_units": MAX_UNITS, "room": room},
        **{"profile_count": len(profiles), "profile_places": places},
        **{"unusual_count": len(KNOWN_FIELDS), "user_places": _PLACES},
    )
    named, unusual = PackedTexts.of(list(profiles)), PackedTexts.of(sorted(KNOWN_FIELDS))
    workload.hold(text=text, profiles=named.data, profiles_bounds=named.bounds)
    workload.hold(unusual=unusual.data, unusual_bounds=unusual.bounds)
    workload.lengthen(0, room, *_BY_JOB)
    workload.lengthen(0, _PLACES, "user_at", "user_length")
    workload.hold_zeros(places, "profile_table")
    workload.hold_zeros(_PLACES, "user_table")
    return workload


def _packed_ids(text: NDArray[np.uint8], at: NDArray[np.int64], length: NDArray[np.int64]) -> PackedTexts | None:
    """Return ids that stand in a text; None: two are the same."""
    packed, bounds = np.empty(int(length.sum()), dtype=np.uint8), np.empty(len(at) + 1, dtype=np.int64)
    table = np.zeros(2 << len(at).bit_length(), dtype=np.int32)
    differ = call("pack_ids", text, at, length, len(at), packed, bounds, table, len(table))
    return PackedTexts(packed, bounds) if differ else None
