"""When a run is compiled, and why one is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from batdispatch.core.dispatcher import Dispatcher
from batdispatch.core.events import Event
from batdispatch.core.session import DecisionTime
from batdispatch.engines.records import Clock
from batdispatch.inputs.platforms import Platform
from batdispatch.inputs.workloads import Workload

#: ``auto``: where it can be; ``always``: what cannot be is refused; ``never``.
UseCompiled = Literal["auto", "always", "never"]
#: Fewer jobs than this are simulated in Python before a kernel is loaded.
FEW = 5000


def why_not_compiled(
    dispatcher: Dispatcher,
    platform: Platform,
    workload: Workload,
    events: Sequence[Event],
    *,
    use: UseCompiled,
    recorded: bool,
    clock: Clock,
    simgrid: bool,
    decision_time: DecisionTime,
    decision_clock: str,
) -> str | None:
    """Return why a run of the embedded engine is not compiled, as a sentence without its full stop, or None.

    Args:
        dispatcher: that decides.
        platform: on what.
        workload: the jobs.
        events: external ones.
        use: what was asked for.
        recorded: whether decisions.jsonl is written.
        clock: when the dispatcher hears of what happens.
        simgrid: whether SimGrid times something.
        decision_time: simulated seconds of each decision.
        decision_clock: what decisions are timed by.
    """
    if use == "never":
        return "it was not to be (--compiled never)"
    if recorded:
        return "the exchange is recorded, and a kernel exchanges no messages (--no-record)"
    if clock != "together":
        return f"kernels hear at once of all that happens at one moment, not as --clock {clock} has it"
    if simgrid:
        return "SimGrid times the run"
    if decision_time != 0.0:
        return "decisions take simulated time"
    if decision_clock != "wall":
        return "decisions are to be timed by CPU time, and those of a kernel cannot be timed one by one"
    if events:
        return "there are external events"
    if use == "auto" and len(workload.jobs) < FEW:
        return f"fewer than {FEW} jobs are simulated sooner than a kernel is loaded (--compiled always)"
    # It knows dispatchers that this run may not need.
    from batdispatch.engines.compiled import applies

    return applies.why_not(dispatcher, platform.machine, workload)
