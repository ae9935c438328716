"""``batdispatch generate slice``: so many jobs in a row of a log, as one of several replicates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from batdispatch.cli.generate import GeneratedWorkload, kind_command
from batdispatch.inputs.generator_options import SliceOptions, fields_of

if TYPE_CHECKING:
    from batdispatch.inputs.workloads import Workload


@kind_command("slice", SliceOptions, log="Take the jobs of this log, or of this workload.", draws=False)
def command(model: SliceOptions, log: Workload) -> GeneratedWorkload:
    """Take so many jobs in a row of a log, the first of which is submitted at 0.

    Slices are numbered in order of submission, and none has jobs of another one. A job no longer waits for jobs of
    another slice.

    \b
    Examples:
      batdispatch generate slice -o third.json --from kth.json --jobs 1000 --number 2
      batdispatch generate slice -o late.json --from KTH-SP2-1996-2.1-cln.swf.xz --jobs 1000 --gap 2000 --number 8
    """
    from batdispatch.inputs.workloads.slices import take_slice

    return GeneratedWorkload(take_slice(log, **fields_of(model)), fields_of(model))
