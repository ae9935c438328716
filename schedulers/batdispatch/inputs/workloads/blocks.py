"""Many job objects of a workload at once, where each says only what most do; `reader` goes job by job elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.core.jobfields import KNOWN, MAX_MOMENT
from batdispatch.core.request import MAX_UNITS
from batdispatch.inputs.workloads.names import are_names

#: Jobs of a block: as many objects exist at once, if nobody keeps them.
BLOCK = 256


class Block(NamedTuple):
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
    #: The job's fields, all of them.
    fields: list[dict[str, Any]]


def read_block(
    items: Sequence[msgspec.Raw], decode: Callable[[msgspec.Raw], dict[str, Any]], profiles: Mapping[str, int]
) -> Block | None:
    """Return jobs as columns, or None if any of them is unusual, be it wrong: then each wants a look of its own.

    Whether ids repeat is not looked at.

    Args:
        items: the jobs' objects, Batsim 4's.
        decode: of one object.
        profiles: name -> position.
    """
    try:
        jobs = [decode(raw) for raw in items]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    # Where names are all that colons follow, no object has a name twice.
    if b"".join(items).count(b":") != sum(map(len, jobs)) or not KNOWN.isdisjoint(set().union(*jobs)):
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
        and are_names(ids)
        and set(map(type, submissions)) <= {int, float}
        and set(map(type, units)) <= {int}
        and set(map(type, walltimes)) <= {int, float}
        and set(map(type, names)) <= {str}
        and set(map(type, users)) <= {str, int}
    ):
        return None
    try:
        submission, size = np.array(submissions, dtype=np.float64), np.array(units, dtype=np.int64)
        walltime = np.array(walltimes, dtype=np.float64)
    except OverflowError:
        return None
    profile = np.array([profiles.get(name, -1) for name in names], dtype=np.int32)
    walltime[walltime == -1] = math.inf
    limited = walltime != math.inf
    if (
        (submission < 0).any()
        or (submission > MAX_MOMENT).any()
        or (size < 1).any()
        or (size > MAX_UNITS).any()
        or (walltime <= 0).any()
        or any(math.isinf(float(walltimes[row])) for row in np.flatnonzero(~limited).tolist())
        or (profile < 0).any()
    ):
        return None
    named = users if set(map(type, users)) <= {str} else map(str, users)
    return Block(ids, submission, size, walltime, profile, list(named), jobs)
