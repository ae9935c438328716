"""``batdispatch generate esp``: the job mix of the ESP-2 benchmark, with and without GPUs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from batdispatch.cli.generate import GeneratedWorkload, kind_command
from batdispatch.inputs.generator_options import fields_of
from batdispatch_papers.esp.workload_options import EspOptions

if TYPE_CHECKING:
    import numpy as np


@kind_command("esp", EspOptions, summary="The job mix of the ESP-2 benchmark, with and without GPUs.")
def command(model: EspOptions, rng: np.random.Generator) -> GeneratedWorkload:
    """The job mix of the ESP-2 benchmark on CPU-GPU nodes (Soner and Ozturan, 2012).

    14 types of jobs in random order, from a thirty-second of the machine to all of it. Each job comes twice: with cores
    alone, and with all GPUs of each node that it uses.

    \b
    Examples:
      batdispatch platform generate esp -o esp.xml
      batdispatch generate esp -o W.json --seed 1
      batdispatch generate esp -o W.json --seed 1 --platform esp.xml --spread 0 --gpu-cores-per-node 4
    """
    from batdispatch.core.machine.machine import Machine
    from batdispatch.inputs.platforms import read_platform
    from batdispatch_papers.esp.workload import esp, machine_seconds

    described: dict[str, Any]
    if model.platform is not None:
        if not model.hosts is model.cores is model.gpus is None:
            raise click.UsageError("--platform says what --hosts, --cores and --gpus would say: give one of the two")
        machine = read_platform(Path(model.platform)).machine
        described = {"platform": Path(model.platform).name}
    else:
        described = {
            "hosts": 1024 if model.hosts is None else model.hosts,
            "cores": 8 if model.cores is None else model.cores,
            "gpus": 2 if model.gpus is None else model.gpus,
        }
        machine = Machine.flat(described["hosts"], "core={cores} gpu={gpus}".format(**described))
    stated = fields_of(model, "spread", "walltime_factor", "gpu_cores_per_node", "z_rule")
    workload = esp(rng, machine, **stated)
    found = {"machine_seconds": machine_seconds(workload, machine)}
    return GeneratedWorkload(workload, {**described, **stated}, found)
