"""``batdispatch generate dmr``: the workloads with which DMR was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from batdispatch.cli.generate import GeneratedWorkload, kind_command
from batdispatch.inputs.generator_options import fields_of
from batdispatch_papers.dmr.workload_options import DmrOptions

if TYPE_CHECKING:
    import numpy as np


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
