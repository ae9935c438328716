"""Options of the resizing layer, and what a resize costs where they do not say it."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from batdispatch.core.line.options import Options

#: When a check is answered, and when its answer is carried out.
Mode = Literal["sync", "async"]
#: What becomes of a job's walltime when it is resized.
Walltime = Literal["left", "scaled"]
#: How the data of a resized job is redistributed.
Redistribution = Literal["delay", "network"]
#: At which size a job starts that has several.
Moldable = Literal["asked", "fitting"]
#: An option in seconds.
Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
#: An option in bytes per second.
Bandwidth = Annotated[float, msgspec.Meta(gt=0)]

#: Means of Iserte et al. (2018), table 1, in seconds, by mode: a check without action, an expansion without a time-out,
#: a shrink.
MEASURED_COSTS: dict[str, tuple[float, float, float]] = {
    "sync": (0.0094, 0.423, 0.425),
    "async": (0.0137, 0.423, 0.422),
}


class ResizingOptions(Options, frozen=True, kw_only=True):
    """Options of the resizing of malleable jobs.

    dispatcher: Start the jobs by this dispatcher, with its options in brackets: `easy[ordering=sjf]`.
    policy: Decide by this policy whether a job is resized at a reconfiguring point, and to what size (`batdispatch list
        policies`).
    mode: `sync`: carry out at once what a check decides. `async`: carry it out at the next reconfiguring point, when
        another job may have taken the nodes.
    timeout: If the nodes of an expansion have gone, the job waits this many seconds for others. Then it goes on with
        the nodes that it has.
    redistribution: `delay`: redistributing a job's data takes the time that `bandwidth` says. `network`: it is a
        communication on the simulated network, which needs SimGrid or a Batsim, and whole hosts.
    bandwidth: Let each unit send or receive this many bytes per second when a job's data are redistributed.
    check_cost: Let a check without action take this many seconds. They are added to the job when it is resized next.
        `none` (the default): 0.0094 with `sync`, 0.0137 with `async`, as the paper measured.
    expand_cost: Let an expansion take this many seconds beside the redistribution. `none` (the default): 0.423, as the
        paper measured.
    shrink_cost: Let a shrink take this many seconds beside the redistribution. `none` (the default): 0.425 with `sync`,
        0.422 with `async`, as the paper measured.
    unit_cost: Let a resize take this many seconds more for each unit of the larger of the two sizes: the time to decide
        and arrange it, as in figure 3a of the paper. 0: it takes as long whatever the sizes are.
    acknowledge_cost: Let a shrink take this many seconds more for each unit that the job had: its processes wait for
        one another before they leave, as in figure 3b of the paper. 0: they need no time for that.
    acknowledge: Give the nodes that a shrink frees to other jobs only when the redistribution is over. `false`: give
        them away at once.
    walltime: `left`: a resized job has the rest of its walltime, and is not shrunk to a size at which it could not end
        in time. `scaled`: the rest becomes longer by the factor by which the job becomes slower.
    charge: Count the redistribution against the walltime. `false`: the walltime is extended by it.
    moldable: `asked`: a job that could start on several numbers of units starts on the number that it asks for.
        `fitting`: if the first waiting job does not fit, it starts on the largest of its sizes that fits and lets it
        end in time. A job that asks for more units than the machine has waits as one of the largest size that can run.
    """

    dispatcher: str = "easy"
    policy: str = "dmr"
    mode: Mode = "sync"
    timeout: Seconds = 40.0
    redistribution: Redistribution = "delay"
    bandwidth: Bandwidth = 5e9
    check_cost: Seconds | None = None
    expand_cost: Seconds | None = None
    shrink_cost: Seconds | None = None
    unit_cost: Seconds = 0.0
    acknowledge_cost: Seconds = 0.0
    acknowledge: bool = True
    walltime: Walltime = "left"
    charge: bool = True
    moldable: Moldable = "asked"
