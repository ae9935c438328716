"""``batdispatch generate dmr``: the workloads with which DMR was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from batdispatch.cli.generate import GeneratedWorkload, kind_command
from batdispatch.core.line.settings import Form
from batdispatch.inputs.generator_options import fields_of

if TYPE_CHECKING:
    import numpy as np


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


@kind_command("dmr", DmrOptions, summary="Malleable applications that arrive at random.")
def command(model: DmrOptions, rng: np.random.Generator) -> GeneratedWorkload:
    """Malleable applications that arrive at random, as DMR was measured with (Iserte et al., 2018).

    Conjugate gradient, Jacobi and N-body start on their largest sizes (32, 32, 16). The flexible sleep (fs), which runs
    on 1 to 20 hosts, starts on a size that is drawn from Feitelson's model.

    \b
    Examples:
      batdispatch generate dmr -o W.json --seed 1 --jobs 400
      batdispatch generate dmr -o fixed.json --seed 1 --jobs 400 --share 0
      batdispatch generate dmr -o fs.json --seed 1 --jobs 400 --hosts 20 --applications fs
    """
    from batdispatch_papers.dmr.workload import Times, dmr

    times = Times(**fields_of(model, *Times._fields))
    stated: dict[str, Any] = {
        **fields_of(model, "jobs", "hosts"),
        "applications": tuple(model.applications.split(",")),
        **fields_of(model, "share", "gap", "walltime_factor"),
    }
    workload = dmr(rng, **stated, times=times)
    found = {"malleable": sum(job.request.sizes is not None for job in workload.jobs)}
    return GeneratedWorkload(workload, {**stated, **times._asdict()}, found)
