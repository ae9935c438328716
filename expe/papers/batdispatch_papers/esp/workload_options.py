"""The ESP-2 job mix, as people state it; nothing large is imported, so that help is quick."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from batdispatch.core.line.settings import Form

#: How jobs that want the whole machine are treated.
ZRule = Literal["ordinary", "alone"]


class EspOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The job mix of the ESP-2 benchmark.

    platform: Fill this machine, a SimGrid platform. By default, the machine has --hosts nodes with --cores and --gpus
        each.
    hosts: Fill a machine of this many nodes. The default is 1024.
    cores: Give each node this many cores. The default is 8.
    gpus: Give each node this many GPUs. With GPUs each job comes twice, once without and once with GPUs; with 0 it
        comes once. The default is 2.
    spread: Submit the jobs at an even pace over this time (0 to 31,536,000 s, a year). 0 submits all of them at the
        start.
    walltime_factor: Give each job a walltime of this many times its run time (1 to 1,000).
    gpu_cores_per_node: Let a job with GPUs ask for one node for each N of its cores. 0 lets it use any number of nodes.
    z_rule: Choose how jobs that want the whole machine are treated. ordinary: like any other job. alone: no job that
        was submitted later starts before such a job has ended.
    """

    platform: Annotated[str | None, Form("P.xml", file=True)] = None
    hosts: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    cores: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    gpus: Annotated[int, Meta(ge=0, le=1_000_000)] | None = None
    spread: Annotated[float, Form("SECONDS")] = 10_800.0
    walltime_factor: float = 1.5
    gpu_cores_per_node: Annotated[int, Form("N")] = 0
    z_rule: ZRule = "ordinary"
