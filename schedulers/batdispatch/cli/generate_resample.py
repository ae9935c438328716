"""``batdispatch generate resample``: a log's users, drawn anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from batdispatch.cli.generate import GeneratedWorkload, kind_command
from batdispatch.inputs.generator_options import ResampleOptions, fields_of

if TYPE_CHECKING:
    import numpy as np

    from batdispatch.inputs.workloads import Workload


@kind_command("resample", ResampleOptions, log="Take the users of this log, or of this workload.")
def command(model: ResampleOptions, rng: np.random.Generator, log: Workload) -> GeneratedWorkload:
    """Draw users of a log at random, with all they submitted week by week, and let them meet anew.

    Everything is moved by whole weeks, so sessions and the cycles of days and weeks stay. Load and the mix of users
    vary from seed to seed as they do from month to month (after Zakay and Feitelson, 2013).

    \b
    Example:
      batdispatch generate resample -o W.json --seed 1 --from KTH-SP2-1996-2.1-cln.swf.xz --weeks 2
    """
    from batdispatch.inputs.workloads.resampling import resample

    workload, drawn = resample(rng, log, **fields_of(model))
    left_out = f"; {drawn.nameless:,} jobs that name no user are left out" if drawn.nameless else ""
    words = f"{drawn.long_users:,} users all the time, {drawn.other_users:,} who come and go{left_out}"
    return GeneratedWorkload(workload, fields_of(model), drawn._asdict(), words)
