"""Jobs that wait for as long as they ran, as those of a log, become jobs that compute for so long."""

from __future__ import annotations

from batdispatch.core.errors import InputError
from batdispatch.inputs.platforms.units import quantity
from batdispatch.inputs.workloads.model import Workload


def let_compute(workload: Workload, speed: str) -> None:
    """Let each job of a fixed time compute for that time on cores of a speed, such as ``1Gf``.

    Raises:
        InputError: that is no speed.
    """
    try:
        flops = quantity(speed, "speed")
    except ValueError as problem:
        raise InputError(f"{speed!r} {problem}", source="option --compute") from None
    if flops <= 0:
        raise InputError(f"{speed!r} must be positive", source="option --compute")
    for name, profile in workload.profiles.items():
        if profile["type"] == "delay":
            rest = {key: value for key, value in profile.items() if key not in ("type", "delay")}
            cpu = profile["delay"] * flops
            workload.profiles[name] = {"type": "parallel_homogeneous", "cpu": cpu, "com": 0.0, **rest}
