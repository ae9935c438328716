"""``batdispatch generate communicating``: parallel jobs that send messages all the time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec

from batdispatch.cli.generate import GeneratedWorkload, kind_command
from batdispatch.core.line.settings import Form
from batdispatch.inputs.generator_options import fields_of

if TYPE_CHECKING:
    import numpy as np


class CommunicatingOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs that send messages.

    platform: Read the machine whose hosts the jobs take whole from this SimGrid platform.
    jobs: Generate this many jobs (1 to 100,000).
    load: Choose the arrivals so that jobs that take their nominal run time ask for this share of the machine (0.001 to
        1,000).
    largest: Let the largest jobs ask for this share of the machine's hosts (0 to 1).
    walltime_factor: Give each job a walltime of this many times its nominal run time (1 to 1,000).
    bandwidth: Take this as the bandwidth of a host's link when the bytes of the messages are worked out, such as 1GBps
        (10^9 bytes in a second).
    intensity: Let a job's busiest host send at --bandwidth for this part of the nominal run time (0.001 to 1,000).
    io_share: Pin this share of the jobs to an I/O node each (0 to 1).
    io_load: Let a pinned job keep its I/O node's link busy for this part of the nominal run time (0.001 to 1,000).
    """

    platform: Annotated[str, Form("P.xml", file=True)]
    jobs: Annotated[int, Form("N")] = 200
    load: float = 0.7
    largest: float = 0.25
    walltime_factor: float = 10.0
    bandwidth: Annotated[str, Form("BANDWIDTH")] = "1GBps"
    intensity: float = 1.0
    io_share: float = 0.0
    io_load: float = 0.1


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
