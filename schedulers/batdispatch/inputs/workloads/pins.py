"""Jobs that are pinned to I/O nodes."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from batdispatch.core.jobs.fields import read_request
from batdispatch.inputs.workloads.model import Workload


def pinned_to(rng: np.random.Generator, workload: Workload, io_nodes: Sequence[str]) -> Workload:
    """Return a workload each of whose jobs asks for one I/O node, drawn uniformly from those named."""
    jobs = []
    for job in workload.jobs:
        extra = {**job.extra, "io_node": io_nodes[int(rng.integers(len(io_nodes)))]}
        jobs.append(msgspec.structs.replace(job, request=read_request(job.units, extra), extra=extra))
    return msgspec.structs.replace(workload, jobs=jobs)
