"""How far a killed job was: batprotocol's nested wrappers <-> our nested objects, which are Batsim 4's.

Batsim 5 counts repetitions and the tasks within one; Batsim 4 counts tasks across repetitions. The length of a
sequence, which leads from one to the other, is known when profiles are forwarded; where it is not, the index is that
within the repetition, and ``current_repetition`` says which.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from batdispatch.batsim.v5.profiles import full_id, short_id
from batdispatch.core.errors import FieldError

#: How deep sequences may be nested.
MAX_DEPTH = 100
ATOMIC, SEQUENTIAL = "KillProgressAtomicProfile", "KillProgressSequentialProfile"


def read_progress(wrapper: Any, workload: str, lengths: Mapping[str, int], field: str) -> dict[str, Any]:
    """Return a progress as dispatchers are told it.

    Args:
        wrapper: the decoded object.
        workload: of the job, whose profiles are then named without it.
        lengths: full profile id -> number of parts, for sequences.
        field: where the wrapper is, for errors.

    Raises:
        FieldError: it is malformed.
    """
    return _read(wrapper, workload, lengths, field, 0)


def _read(wrapper: Any, workload: str, lengths: Mapping[str, int], field: str, depth: int) -> dict[str, Any]:
    if depth > MAX_DEPTH:
        raise FieldError(field[:60], "more", f"at most {MAX_DEPTH} nested tasks")
    if type(wrapper) is not dict or type(wrapper.get("kill_progress")) is not dict:
        raise FieldError(f"{field}.kill_progress", None, "an object")
    kind, data = wrapper.get("kill_progress_type"), wrapper["kill_progress"]
    profile = data.get("profile_id")
    if type(profile) is not str or not profile:
        raise FieldError(f"{field}.kill_progress.profile_id", profile, "the id of a profile")
    named: dict[str, Any] = {"profile_name": short_id(profile, workload)}
    if kind == ATOMIC:
        done = data.get("progress", 0.0)
        # -1 is what Batsim says of a trace being replayed.
        if type(done) not in (int, float) or not (0 <= done <= 1 or done == -1):
            raise FieldError(f"{field}.kill_progress.progress", done, "a number from 0 to 1")
        return {**named, "progress": float(done)}
    if kind != SEQUENTIAL:
        # Fork-join and merged compositions: told as they are.
        return {**named, "kill_progress_type": kind, "kill_progress": data}
    round_, index = data.get("current_repetition", 0), data.get("current_task_index", 0)
    for name, value in (("current_repetition", round_), ("current_task_index", index)):
        if type(value) is not int or value < 0:
            raise FieldError(f"{field}.kill_progress.{name}", value, "a whole number, at least 0")
    inner = f"{field}.kill_progress.current_task_progress"
    return {
        **named,
        "current_repetition": round_,
        "current_task_index": round_ * lengths.get(profile, 0) + index,
        "current_task": _read(data.get("current_task_progress"), workload, lengths, inner, depth + 1),
    }


def write_progress(progress: Mapping[str, Any], workload: str, lengths: Mapping[str, int]) -> dict[str, Any]:
    """Return the wrapper for a progress as our engine or `read_progress` states it."""
    if "kill_progress_type" in progress:
        return {"kill_progress_type": progress["kill_progress_type"], "kill_progress": progress["kill_progress"]}
    profile = full_id(str(progress["profile_name"]), workload)
    if "current_task" not in progress:
        data: dict[str, Any] = {"profile_id": profile, "progress": progress["progress"]}
        return {"kill_progress_type": ATOMIC, "kill_progress": data}
    length, index = lengths.get(profile, 0), int(progress["current_task_index"])
    round_ = int(progress.get("current_repetition", index // length if length else 0))
    data = {
        "profile_id": profile,
        "current_repetition": round_,
        "current_task_index": index - round_ * length,
        "current_task_progress": write_progress(progress["current_task"], workload, lengths),
    }
    return {"kill_progress_type": SEQUENTIAL, "kill_progress": data}
