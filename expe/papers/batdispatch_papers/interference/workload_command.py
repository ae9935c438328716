"""``batdispatch generate communicating``: parallel jobs that send messages all the time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from batdispatch.cli.generate import finish, output_options
from batdispatch.cli.groups import Command
from batdispatch.cli.options import options
from batdispatch.inputs.generator_options import fields_of
from batdispatch_papers.interference.workload_options import CommunicatingOptions


@click.command(cls=Command, short_help="Parallel jobs that send messages all the time.")
@output_options
@options(CommunicatingOptions)
def command(model: CommunicatingOptions, output: Path, seed: int, as_json: bool) -> None:
    """Parallel jobs that send messages all the time: all to all, around a ring, or to neighbours in a box.

    Their run times depend on where they stand and on who uses the same links, so SimGrid has to simulate them.

    \b
    Example:
      batdispatch platform generate torus --dims 4,4,4 --io 8 --bw 1GBps -o torus.xml
      batdispatch generate communicating -o W.json --seed 1 --platform torus.xml --jobs 100 --io-share 0.25
    """
    import numpy as np

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
    workload = communicating(np.random.default_rng(seed), machine, **jobs, traffic=traffic)
    stated: dict[str, Any] = {
        "platform": Path(model.platform).name,
        **jobs,
        "bandwidth": width,
        **fields_of(model, "intensity", "io_share", "io_load"),
    }
    finish(workload, output, as_json, kind="communicating", seed=seed, options=stated)
