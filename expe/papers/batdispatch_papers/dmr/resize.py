"""Jobs that are resized once, from one size to another, with which the stages of a resize are measured.

The flexible sleep of section 7.3 of the paper: two steps, data that is redistributed between them, linear scalability.
Each job asks for its other size after the first step. The paper's figure 3 is the mean of ten such resizes.

References:
    Iserte, Mayo, Quintana-Ortí, Beltran, Peña: "DMR API: improving cluster productivity by turning applications into
    malleable", Parallel Computing 78, 2018: section 7.3, figure 3.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.fields import read_request
from batdispatch.core.jobs.job import Job
from batdispatch.core.numerals import number
from batdispatch.inputs.workloads.logs import profile_name
from batdispatch.inputs.workloads.model import Workload

#: Most units, most jobs, and most bytes.
MAX_UNITS, MAX_JOBS, MAX_DATA = 2**20, 10_000, 1e15
#: Seconds for a resize, before the next job comes.
IDLE = 3600.0

Action = Literal["expand", "shrink"]


def resizes(
    *,
    least: int = 1,
    factor: int = 2,
    action: Action = "expand",
    jobs: int = 10,
    data: float = 1e9,
    runtime: float = 60.0,
) -> Workload:
    """Return jobs of which each is resized once, one job at a time.

    Args:
        least: units of the smaller size.
        factor: the larger size over the smaller one.
        action: `expand` from the smaller to the larger size, or `shrink` from the larger to the smaller one.
        jobs: how many, one after the other.
        data: bytes that are redistributed.
        runtime: of a job on the size on which it starts, s.

    Raises:
        InputError: an argument is out of range.
    """
    most = least * factor
    for option, value, low, high in (
        ("least", least, 1, MAX_UNITS),
        ("factor", factor, 2, MAX_UNITS),
        ("jobs", jobs, 1, MAX_JOBS),
        ("data", data, 0, MAX_DATA),
        ("runtime", runtime, 0.001, 1e6),
    ):
        if not low <= value <= high:
            raise InputError(f"{value:g}, expected {low:g} to {high:g}", source=f"option --{option}")
    before, ask = (least, {"step": 1, "least": most}) if action == "expand" else (most, {"step": 1, "most": least})
    sizes = {"least": least, "most": most, "factor": factor, "kind": "evolving", "steps": 2, "data": data}
    extra: dict[str, Any] = {"name": "fs", "sizes": {**sizes, "asks": [ask]}}
    profile = profile_name(runtime)
    width = len(str(jobs))
    # Each is over before the next one comes, whatever its resize costs.
    apart = runtime * (1 + factor) + IDLE
    listed = [
        Job(
            id=f"{index + 1:0{width}d}-fs",
            request=read_request(before, extra),
            submission=apart * index,
            profile=profile,
            extra=extra,
        )
        for index in range(jobs)
    ]
    profiles = {profile: {"type": "delay", "delay": number(runtime)}}
    return Workload(path=Path("dmr-resizes"), name="dmr-resizes", nb_res=most, jobs=listed, profiles=profiles)
