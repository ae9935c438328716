"""Many job objects of a workload at once, where each says only what most do; `reader` goes job by job elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.core.jobs.fields import KNOWN_FIELDS, MAX_MOMENT
from batdispatch.core.jobs.sizes import MAX_UNITS
from batdispatch.inputs.workloads.names import are_names

#: Jobs of a block: as many objects exist at once, if nobody keeps them.
BLOCK = 256
#: What a decoder raises.
_WRONG = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class Columns(NamedTuple):
    """Jobs that ask for a number of units and nothing else, as columns in the order of the file."""

    ids: list[str]
    #: Seconds, float64 [job].
    submission: NDArray[np.float64]
    #: int64 [job].
    units: NDArray[np.int64]
    #: Seconds, infinite for none, float64 [job].
    walltime: NDArray[np.float64]
    #: Position among the profiles, int32 [job].
    profile: NDArray[np.int32]
    #: Empty for none.
    users: list[str]


class Block(NamedTuple):
    """Such jobs, and all that their objects say."""

    columns: Columns
    #: The job's fields, all of them.
    fields: list[dict[str, Any]]


def read_block(
    items: Sequence[msgspec.Raw], decode: Callable[[msgspec.Raw], dict[str, Any]], profiles: Mapping[str, int]
) -> Block | None:
    """Return jobs with their fields, or None if any of them is unusual, be it wrong: then each wants a look of its own.

    Whether ids repeat is not looked at.

    Args:
        items: the jobs' objects, Batsim 4's.
        decode: of one object.
        profiles: name -> position.
    """
    try:
        jobs = [decode(raw) for raw in items]
    except _WRONG:
        return None
    # Where names are all that colons follow, no object has a name twice.
    if b"".join(items).count(b":") != sum(map(len, jobs)) or not KNOWN_FIELDS.isdisjoint(set().union(*jobs)):
        return None
    try:
        ids, submissions = [job["id"] for job in jobs], [job["subtime"] for job in jobs]
        units, names = [job["res"] for job in jobs], [job["profile"] for job in jobs]
    except KeyError:
        return None
    walltimes = [job.get("walltime", -1) for job in jobs]
    users = [job.get("user", "") for job in jobs]
    # bool is a type of its own here.
    if not (
        set(map(type, ids)) <= {str}
        and set(map(type, submissions)) <= {int, float}
        and set(map(type, units)) <= {int}
        and set(map(type, walltimes)) <= {int, float}
        and set(map(type, names)) <= {str}
        and set(map(type, users)) <= {str, int}
    ):
        return None
    columns = _checked(ids, submissions, units, walltimes, names, users, profiles)
    return None if columns is None else Block(columns, jobs)


def _checked(
    ids: list[str],
    submissions: list[float],
    units: list[int],
    walltimes: list[float],
    names: list[str],
    users: list[str | int],
    profiles: Mapping[str, int],
) -> Columns | None:
    """Return jobs as columns if all values, which are of the right types, are as they should be.

    Args:
        ids: whatever stands in the objects, as the others.
        submissions: of ``subtime``.
        units: of ``res``.
        walltimes: -1 where there is none.
        names: of the jobs' profiles.
        users: empty where there is none.
        profiles: name -> position.
    """
    if not are_names(ids):
        return None
    try:
        submission, size = np.array(submissions, dtype=np.float64), np.array(units, dtype=np.int64)
        walltime = np.array(walltimes, dtype=np.float64)
    except OverflowError:
        return None
    profile = np.array([profiles.get(name, -1) for name in names], dtype=np.int32)
    walltime[walltime == -1] = math.inf
    if (
        (submission < 0).any()
        or (submission > MAX_MOMENT).any()
        or (size < 1).any()
        or (size > MAX_UNITS).any()
        or (walltime <= 0).any()
        or (profile < 0).any()
    ):
        return None
    named = {user: str(user) for user in set(users)}
    return Columns(ids, submission, size, walltime, profile, [named[user] for user in users])
