"""Fields drawn for the jobs of a model that has none: users, and I/O nodes that they are pinned to."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.fields import read_request
from batdispatch.inputs.workloads.model import Workload

#: Most users that can be asked for.
MAX_USERS = 10_000


def with_users(rng: np.random.Generator, workload: Workload, users: int) -> Workload:
    """Return a workload whose jobs belong to users ``u1``, ``u2``, ..., each job's drawn at random.

    User ``u<r>`` comes with a probability in proportion to 1/r (Zipf's law), because few users submit most jobs of a
    real log. Whose job it is depends on nothing else: users of these jobs have no habits.

    Args:
        rng: the users are drawn from here.
        workload: any.
        users: how many there are.

    Raises:
        InputError: the number is out of range.
    """
    if not 1 <= users <= MAX_USERS:
        raise InputError(f"{users}, expected 1 to {MAX_USERS:,} users", source="option --users")
    weights = 1 / np.arange(1, users + 1)
    drawn = rng.choice(users, size=len(workload.jobs), p=weights / weights.sum()).tolist()
    jobs = []
    for job, rank in zip(workload.jobs, drawn, strict=True):
        user = f"u{rank + 1}"
        jobs.append(msgspec.structs.replace(job, user=user, extra={**job.extra, "user": user}))
    return msgspec.structs.replace(workload, jobs=jobs)


def pinned_to(rng: np.random.Generator, workload: Workload, io_nodes: Sequence[str]) -> Workload:
    """Return a workload each of whose jobs asks for one I/O node, drawn uniformly from those named."""
    jobs = []
    for job in workload.jobs:
        extra = {**job.extra, "io_node": io_nodes[int(rng.integers(len(io_nodes)))]}
        jobs.append(msgspec.structs.replace(job, request=read_request(job.units, extra), extra=extra))
    return msgspec.structs.replace(workload, jobs=jobs)
