"""``batdispatch generate window``: jobs in a row of a log that count, with a warm-up and a cool-down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from batdispatch.cli.generate import GeneratedWorkload, kind_command
from batdispatch.core.errors import InputError
from batdispatch.inputs.generator_options import WindowOptions, fields_of

if TYPE_CHECKING:
    from batdispatch.inputs.workloads import Workload


@kind_command("window", WindowOptions, log="Take the jobs of this log, or of this workload.", draws=False)
def command(model: WindowOptions, log: Workload) -> GeneratedWorkload:
    """Take a window of a log: jobs that count, behind jobs that fill the machine, and before jobs that keep it full.

    The workload says which of its jobs count, and the metrics of its runs are of these. Windows are numbered in order
    of submission, and no job counts in two of them. A job no longer waits for jobs that are left out.

    \b
    Examples:
      batdispatch generate window -o second.json --from KTH-SP2-1996-2.1-cln.swf.xz --number 1
      batdispatch generate window -o w.json --from kth.json --jobs 5000 --warm-up 2000 --cool-down 2000 --number 3
    """
    from batdispatch.inputs.workloads.windows import take_window

    if model.number < 0 or model.gap < 0:
        option = "number" if model.number < 0 else "gap"
        raise InputError(f"{getattr(model, option)}, expected a whole number from 0", source=f"option --{option}")
    numbers = fields_of(model, "jobs", "warm_up", "cool_down")
    workload = take_window(log, model.warm_up + model.number * (model.jobs + model.gap), **numbers)
    return GeneratedWorkload(workload, fields_of(model))
