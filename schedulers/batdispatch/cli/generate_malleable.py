"""``batdispatch generate malleable``: a share of a log's jobs made malleable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from batdispatch.cli.generate import GeneratedWorkload, kind_command
from batdispatch.inputs.generator_options import MalleableOptions, MalleableRule, fields_of

if TYPE_CHECKING:
    import numpy as np

    from batdispatch.inputs.workloads import Workload


@kind_command("malleable", MalleableOptions, first="share", log="Take the jobs of this log, or of this workload.")
def command(model: MalleableOptions, rng: np.random.Generator, log: Workload) -> GeneratedWorkload:
    """Make a share of a log's jobs malleable, and leave everything else as it is.

    A job can be made malleable if it asks for whole hosts, its run time is known, and it can reach a second size. With
    one seed, the malleable jobs of a share are among those of every larger share.

    \b
    Examples:
      batdispatch generate malleable -o half.json --seed 1 --from kth.json --share 0.5
      batdispatch generate malleable -o all.json --seed 1 --from KTH-SP2-1996-2.1-cln.swf.xz --scalability amdahl:0.05
    """
    from batdispatch.inputs.workloads.malleable import made_malleable

    workload, made = made_malleable(rng, log, share=model.share, hosts=model.hosts, rule=model)
    words = f"{made.malleable:,} jobs malleable of {made.able:,} that can be; {made.unable:,} cannot"
    stated = fields_of(model, "share", "hosts", *MalleableRule.__struct_fields__)
    return GeneratedWorkload(workload, stated, made._asdict(), words)
