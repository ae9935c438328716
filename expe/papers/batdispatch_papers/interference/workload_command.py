"""``batdispatch generate communicating``: parallel jobs that send messages all the time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from batdispatch.cli.generate import finish, output_options
from batdispatch.cli.groups import Command, option


@click.command(cls=Command, short_help="Parallel jobs that send messages all the time.")
@output_options
@option(
    "--platform",
    metavar="P.xml",
    type=click.Path(),
    required=True,
    help="Read the machine whose hosts the jobs take whole from this SimGrid platform.",
)
@option("--jobs", metavar="N", type=int, default=200, show_default=True, help="Generate this many jobs (1 to 100,000).")
@option(
    "--load",
    type=float,
    default=0.7,
    show_default=True,
    help="Choose the arrivals so that jobs that take their nominal run time ask for this share of "
    "the machine (0.001 to 1,000).",
)
@option(
    "--largest",
    type=float,
    default=0.25,
    show_default=True,
    help="Let the largest jobs ask for this share of the machine's hosts (0 to 1).",
)
@option(
    "--walltime-factor",
    type=float,
    default=10.0,
    show_default=True,
    help="Give each job a walltime of this many times its nominal run time (1 to 1,000).",
)
@option(
    "--bandwidth",
    metavar="BANDWIDTH",
    default="1GBps",
    show_default=True,
    help="Take this as the bandwidth of a host's link when the bytes of the messages are worked "
    "out, such as 1GBps (10^9 bytes in a second).",
)
@option(
    "--intensity",
    type=float,
    default=1.0,
    show_default=True,
    help="Let a job's busiest host send at --bandwidth for this part of the nominal run time (0.001 to 1,000).",
)
@option(
    "--io-share",
    type=float,
    default=0.0,
    show_default=True,
    help="Pin this share of the jobs to an I/O node each (0 to 1).",
)
@option(
    "--io-load",
    type=float,
    default=0.1,
    show_default=True,
    help="Let a pinned job keep its I/O node's link busy for this part of the nominal run time (0.001 to 1,000).",
)
def command(
    output: Path,
    seed: int,
    as_json: bool,
    platform: str,
    jobs: int,
    load: float,
    largest: float,
    walltime_factor: float,
    bandwidth: str,
    intensity: float,
    io_share: float,
    io_load: float,
) -> None:
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
        width = quantity(bandwidth, "bandwidth")
    except ValueError as problem:
        raise InputError(f"{bandwidth!r} {problem}", source="option --bandwidth") from None
    machine = read_platform(Path(platform)).machine
    workload = communicating(
        np.random.default_rng(seed),
        machine,
        jobs=jobs,
        load=load,
        largest=largest,
        walltime_factor=walltime_factor,
        traffic=Traffic(width, intensity, io_share, io_load),
    )
    options: dict[str, Any] = {
        "platform": Path(platform).name,
        "jobs": jobs,
        "load": load,
        "largest": largest,
        "walltime_factor": walltime_factor,
        "bandwidth": width,
        "intensity": intensity,
        "io_share": io_share,
        "io_load": io_load,
    }
    finish(workload, output, as_json, kind="communicating", seed=seed, options=options)
