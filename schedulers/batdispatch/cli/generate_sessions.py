"""``batdispatch generate sessions``: users' sessions on nodes with several resources."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from batdispatch.cli.generate import GeneratedWorkload, kind_command
from batdispatch.inputs.generator_options import SessionOptions, fields_of

if TYPE_CHECKING:
    import numpy as np


@kind_command("sessions", SessionOptions)
def command(model: SessionOptions, rng: np.random.Generator) -> GeneratedWorkload:
    """Users' sessions of similar jobs, most of them short, on nodes with several resources.

    Jobs have users, names, demands of each resource a node has, and walltimes.

    \b
    Examples:
      batdispatch platform generate eurora -o eurora.xml
      batdispatch generate sessions -o W.json --seed 1 --platform eurora.xml --jobs 2000
    """
    from batdispatch.inputs.platforms import read_platform
    from batdispatch.inputs.workloads.sessions import sessions

    stated = fields_of(model, "jobs", "short", "load", "users")
    workload = sessions(rng, read_platform(Path(model.platform)).machine, **stated)
    return GeneratedWorkload(workload, {"platform": Path(model.platform).name, **stated})
