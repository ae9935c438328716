"""``batdispatch generate communicating``: parallel jobs that send messages all the time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from batdispatch.cli.generate import GeneratedWorkload, kind_command
from batdispatch.inputs.generator_options import fields_of
from batdispatch_papers.interference.workload_options import CommunicatingOptions

if TYPE_CHECKING:
    import numpy as np


@kind_command("communicating", CommunicatingOptions, summary="Parallel jobs that send messages all the time.")
def command(model: CommunicatingOptions, rng: np.random.Generator) -> GeneratedWorkload:
    """Parallel jobs that send messages all the time: all to all, around a ring, or to neighbours in a box.

    Their run times depend on where they stand and on who uses the same links, so SimGrid has to simulate them.

    \b
    Example:
      batdispatch platform generate torus --dims 4,4,4 --io 8 --bw 1GBps -o torus.xml
      batdispatch generate communicating -o W.json --seed 1 --platform torus.xml --jobs 100 --io-share 0.25
    """
    from batdispatch.core.errors import InputError
    from batdispatch.inputs.platforms import read_platform
    from batdispatch.inputs.platforms.units import quantity
    from batdispatch_papers.interference.workload import Traffic, communicating

    try:
        width = quantity(model.bandwidth, "bandwidth")
    except ValueError as problem:
        raise InputError(f"{model.bandwidth!r} {problem}", source="option --bandwidth") from None
    machine = read_platform(Path(model.platform)).machine
    jobs = fields_of(model, "jobs", "load", "largest", "walltime_factor")
    traffic = Traffic(width, model.intensity, model.io_share, model.io_load)
    workload = communicating(rng, machine, **jobs, traffic=traffic)
    stated = {
        "platform": Path(model.platform).name,
        **jobs,
        "bandwidth": width,
        **fields_of(model, "intensity", "io_share", "io_load"),
    }
    return GeneratedWorkload(workload, stated)
