"""``batdispatch generate dmr``: the workloads with which DMR was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from batdispatch.cli.generate import finish, output_options
from batdispatch.cli.groups import Command
from batdispatch.cli.options import options
from batdispatch.inputs.generator_options import fields_of
from batdispatch_papers.dmr.workload_options import DmrOptions


@click.command(cls=Command, short_help="Malleable applications that arrive at random.")
@output_options
@options(DmrOptions)
def command(model: DmrOptions, output: Path, seed: int, as_json: bool) -> None:
    """Malleable applications that arrive at random, as DMR was measured with (Iserte et al., 2018).

    Conjugate gradient, Jacobi and N-body start on their largest sizes (32, 32, 16). The flexible sleep (fs), which runs
    on 1 to 20 hosts, starts on a size that is drawn from Feitelson's model.

    \b
    Examples:
      batdispatch generate dmr -o W.json --seed 1 --jobs 400
      batdispatch generate dmr -o fixed.json --seed 1 --jobs 400 --share 0
      batdispatch generate dmr -o fs.json --seed 1 --jobs 400 --hosts 20 --applications fs
    """
    import numpy as np

    from batdispatch_papers.dmr.workload import Times, dmr

    times = Times(**fields_of(model, *Times._fields))
    stated: dict[str, Any] = {
        **fields_of(model, "jobs", "hosts"),
        "applications": tuple(model.applications.split(",")),
        **fields_of(model, "share", "gap", "walltime_factor"),
    }
    workload = dmr(np.random.default_rng(seed), **stated, times=times)
    found = {"malleable": sum(job.request.sizes is not None for job in workload.jobs)}
    finish(workload, output, as_json, kind="dmr", seed=seed, options={**stated, **times._asdict()}, found=found)
