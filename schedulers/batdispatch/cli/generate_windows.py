"""``batdispatch generate windows``: a log, parts of which count each by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from batdispatch.cli.generate import GeneratedWorkload, kind_command
from batdispatch.core.errors import InputError
from batdispatch.inputs.generator_options import WindowsOptions, fields_of

if TYPE_CHECKING:
    from batdispatch.inputs.workloads import Workload


@kind_command("windows", WindowsOptions, log="Take the jobs of this log, or of this workload.", draws=False)
def command(model: WindowsOptions, log: Workload) -> GeneratedWorkload:
    """Take a whole log, and say which parts of it count each by itself: windows of one simulation.

    The metrics of a run are of all jobs, and result.json has those of each window beside them. A job that waits for
    longer than a window lasts is seen: it is watched until it starts.

    \b
    Example:
      batdispatch generate windows -o w.json --from KTH-SP2-1996-2.1-cln.swf.xz --count 10
    """
    from batdispatch.inputs.workloads.windows import plan_windows

    if model.count < 1:
        raise InputError(f"{model.count}, expected a whole number from 1", source="option --count")
    sizes = fields_of(model, "jobs", "warm_up", "cool_down")
    plan = plan_windows(len(log.jobs), model.count, **sizes, source=str(log.path))
    if plan.windows < model.count:
        raise InputError(f"{model.count}, and there is room for {plan.windows} windows", source="option --count")
    return GeneratedWorkload(plan.mark(log), fields_of(model))
