"""``batdispatch generate dmr-resizes``: jobs that are resized once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from batdispatch.cli.generate import GeneratedWorkload, kind_command
from batdispatch.core.line.settings import Form
from batdispatch.inputs.generator_options import fields_of

if TYPE_CHECKING:
    import numpy as np


class ResizeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs that are resized once.

    least: Let this be the smaller of the two sizes of each job, in hosts (1 to 1,048,576).
    factor: Let the larger size be this many times the smaller one (2 to 1,048,576).
    action: Start on the smaller size and expand after the first of two steps, or start on the larger one and shrink.
    jobs: Generate this many jobs (1 to 10,000). The paper has 10.
    data: Let a resize redistribute this many bytes (0 to 1e15).
    runtime: Let a job run for this long on the hosts on which it starts (0.001 to 1,000,000 s).
    """

    least: int = 1
    factor: int = 2
    action: Literal["expand", "shrink"] = "expand"
    jobs: int = 10
    data: Annotated[float, Form("BYTES")] = 1e9
    runtime: Annotated[float, Form("SECONDS")] = 60.0


@kind_command("dmr-resizes", ResizeOptions, summary="Jobs that are resized once.")
def command(model: ResizeOptions, rng: np.random.Generator) -> GeneratedWorkload:
    """Jobs that are resized once, with which the stages of a resize are measured (Iserte et al., 2018, figure 3).

    Nothing of them is random.

    \b
    Examples:
      batdispatch generate dmr-resizes -o expand.json --seed 1 --least 32
      batdispatch generate dmr-resizes -o shrink.json --seed 1 --factor 64 --action shrink
    """
    from batdispatch_papers.dmr.resize import resizes

    stated = fields_of(model, "least", "factor", "action", "jobs", "data", "runtime")
    return GeneratedWorkload(resizes(**stated), stated, {})
