"""Many job objects of a workload at once, where each says only what most do; `reader` goes job by job elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from batdispatch.core.jobs.fields import KNOWN_FIELDS, MAX_MOMENT, plain_request
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.sizes import MAX_UNITS
from batdispatch.inputs.workloads.names import are_names

#: Jobs of a block: as many objects exist at once, if nobody keeps them.
BLOCK = 256
#: What a decoder raises.
_WRONG = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
#: Field that a job has -> types that its values may have; bool is a type of its own here.
_NEEDED: dict[str, set[type]] = {"id": {str}, "subtime": {int, float}, "res": {int}, "profile": {str}}
#: Field that it may have -> the same.
_MORE: dict[str, set[type]] = {"walltime": {int, float}, "user": {str, int}}


def read_block(
    items: Sequence[msgspec.Raw],
    decode: Callable[[msgspec.Raw], dict[str, Any]],
    profiles: Mapping[str, str],
    users: dict[str, str],
) -> list[Job] | None:
    """Return jobs, or None if any of them is unusual, be it wrong: then each wants a look of its own.

    Whether ids repeat is not looked at.

    Args:
        items: the jobs' objects, Batsim 4's.
        decode: of one object.
        profiles: the names that there are, each by itself: equal texts become one.
        users: the names that were read so far, likewise; more are added.
    """
    try:
        objects = [decode(raw) for raw in items]
        # Where names are all that colons follow, no object has a name twice.
        if b"".join(items).count(b":") != sum(map(len, objects)) or not KNOWN_FIELDS.isdisjoint(set().union(*objects)):
            return None
        columns = {name: [each.pop(name) for each in objects] for name in _NEEDED}
    except (*_WRONG, KeyError):
        return None
    columns["walltime"] = [each.pop("walltime", -1) for each in objects]
    # It stands among the job's further fields, too.
    columns["user"] = [each.get("user", "") for each in objects]
    if not _are_usual(columns) or not profiles.keys() >= set(columns["profile"]):
        return None
    requests = {units: plain_request(units) for units in set(columns["res"])}
    return [
        Job(
            id=name,
            request=requests[units],
            # As `read_moment`.
            submission=float(submission) + 0.0,
            walltime=math.inf if walltime == -1 else float(walltime),
            profile=profiles[profile],
            user=users.setdefault(str(user), str(user)),
            # A dictionary that was emptied keeps the room of what was in it.
            extra=extra or {},
        )
        for name, submission, units, profile, walltime, user, extra in zip(*columns.values(), objects, strict=True)
    ]


def _are_usual(columns: Mapping[str, list[Any]]) -> bool:
    """Return whether all values, by field, are as they should be; whether profiles are there is not looked at."""
    if not all(set(map(type, columns[name])) <= kinds for name, kinds in (_NEEDED | _MORE).items()):
        return False
    submissions, units = columns["subtime"], columns["res"]
    walltimes = [walltime for walltime in columns["walltime"] if walltime != -1]
    return (
        are_names(columns["id"])
        and min(submissions) >= 0
        and max(submissions) <= MAX_MOMENT
        and min(units) >= 1
        and max(units) <= MAX_UNITS
        and min(walltimes, default=1) > 0
        # One that no float holds is told by whoever looks at each.
        and max(walltimes, default=0) < 2**63
    )
