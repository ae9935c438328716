"""Jobs that wait for as long as they ran, as those of a log, become jobs that compute for so long."""

from __future__ import annotations

import math

from batdispatch.core.errors import InputError
from batdispatch.inputs.platforms.units import quantity
from batdispatch.inputs.workloads.log_workload import LogWorkload


def let_compute(workload: LogWorkload, speed: str) -> None:
    """Let each job compute for as long as it ran on cores of a speed, such as ``1Gf``.

    Raises:
        InputError: that is no speed, or so large that no number says how much a job computes.
    """
    try:
        flops = quantity(speed, "speed")
    except ValueError as problem:
        raise InputError(f"{speed!r} {problem}", source="option --compute") from None
    if flops <= 0:
        raise InputError(f"{speed!r} must be positive", source="option --compute")
    longest = float(workload.jobs.runtime.max())
    if math.isinf(longest * flops):
        raise InputError(f"{speed!r} is beyond numbers for a job that ran for {longest:g} s", source="option --compute")
    workload.profiles = workload.profiles.computing(flops)
