"""DMR's applications, as people state them; nothing large is imported, so that help is quick."""

from __future__ import annotations

from typing import Annotated

import msgspec

from batdispatch.core.line.settings import Form


class DmrOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Malleable applications that arrive at random.

    jobs: Generate this many jobs (1 to 1,000,000). The paper has 50 to 400.
    hosts: Generate the jobs for a machine of this many hosts. It must have as many as the largest application runs on.
    applications: Draw each job's application from these: cg, jacobi, n-body, fs. An application that is named twice
        comes twice as often.
    share: Make this share of the jobs malleable (0 to 1). With 0, the same jobs are all rigid.
    gap: Let this much time pass between two arrivals on average (0.001 to 1,000,000 s).
    runtime: Let cg and jacobi run for this long on 32 hosts (0.001 to 1,000,000 s).
    scalability: Let the speed of cg and jacobi depend on their size in this way: linear, power:EXPONENT, amdahl:SERIAL
        or table:UNITS=SECONDS,...
    nbody_runtime: Let n-body run for this long on 16 hosts (0.001 to 1,000,000 s).
    nbody_scalability: Let the speed of n-body depend on its size in this way, written as for --scalability.
    fs_runtime: Let fs run for this long on average, on the size at which it is submitted (0.001 to 1,000,000 s).
    walltime_factor: Give each job a walltime: FACTOR times (1 to 1,000) its run time on its slowest size, and a minute
        for resizes. By default, jobs have no walltime.
    """

    jobs: int = 50
    hosts: int = 64
    applications: Annotated[str, Form("NAME,...")] = "cg,jacobi,n-body"
    share: float = 1.0
    gap: Annotated[float, Form("SECONDS")] = 10.0
    runtime: Annotated[float, Form("SECONDS")] = 200.0
    scalability: Annotated[str, Form("TEXT")] = "power:0.7"
    nbody_runtime: Annotated[float, Form("SECONDS")] = 1200.0
    nbody_scalability: Annotated[str, Form("TEXT")] = "power:0"
    fs_runtime: Annotated[float, Form("SECONDS")] = 60.0
    walltime_factor: Annotated[float | None, Form("FACTOR")] = None
