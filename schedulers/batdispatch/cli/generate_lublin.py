"""``batdispatch generate lublin``: the Lublin-Feitelson model of rigid jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from batdispatch.cli.generate import GeneratedWorkload, kind_command
from batdispatch.inputs.generator_options import LublinOptions, fields_of

if TYPE_CHECKING:
    import numpy as np


@kind_command("lublin", LublinOptions)
def command(model: LublinOptions, rng: np.random.Generator) -> GeneratedWorkload:
    """Rigid jobs as on the parallel machines of the nineties (Lublin and Feitelson, JPDC 2003).

    Sizes are mostly powers of two, larger jobs run longer, arrivals follow the time of day (time 0 is midnight).

    \b
    Examples:
      batdispatch generate lublin -o W.json --seed 1 --jobs 1000 --hosts 128
      batdispatch generate lublin -o busy.json --seed 7 --jobs 5000 --hosts 256 --load 0.9 --walltimes factor --factor 3
    """
    import msgspec

    from batdispatch.core.errors import InputError
    from batdispatch.inputs.platforms import read_platform
    from batdispatch.inputs.workloads.lublin import lublin
    from batdispatch.inputs.workloads.pins import pinned_to
    from batdispatch.inputs.workloads.users import with_users

    stated = fields_of(model, "jobs", "hosts", "load", "classes", "walltimes", "factor")
    workload = lublin(rng, **stated)
    if model.at_once:
        jobs = [msgspec.structs.replace(job, submission=0.0) for job in workload.jobs]
        workload = msgspec.structs.replace(workload, jobs=jobs)
        stated["at_once"] = True
    if model.users is not None:
        workload = with_users(rng, workload, model.users)
        stated["users"] = model.users
    if model.pinned:
        if model.platform is None:
            raise click.UsageError("--pinned needs --platform: the I/O nodes are those of a machine")
        disks = [disk.name for disk in read_platform(model.platform).machine.storage]
        if not disks:
            raise InputError("has no I/O node that jobs could be pinned to", source=str(model.platform))
        workload = pinned_to(rng, workload, disks)
        stated["pinned"] = model.platform.name
    return GeneratedWorkload(workload, stated)
