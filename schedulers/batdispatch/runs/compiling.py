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
from batdispatch.inputs.workloads.columns import NotPlain, PlainWorkload, columns_of
from batdispatch.runs.simgrid import UseSimGrid

#: ``auto``: where it can be; ``always``: what cannot be is refused; ``never``.
UseCompiled = Literal["auto", "always", "never"]
#: Fewer jobs than this are simulated in Python before a kernel is loaded.
FEW = 5000


def why_never_compiled(
    dispatcher: Dispatcher,
    platform: Platform,
    events: Sequence[Event],
    *,
    use: UseCompiled,
    recorded: bool,
    clock: Clock,
    simgrid: UseSimGrid,
    decision_time: DecisionTime,
    decision_clock: str,
) -> str | None:
    """Return why a run of the embedded engine is not compiled, whatever its workload, or None.

    A reason is a sentence without its full stop.

    Args:
        dispatcher: that decides.
        platform: on what.
        events: external ones.
        use: what was asked for.
        recorded: whether decisions.jsonl is written.
        clock: when the dispatcher hears of what happens.
        simgrid: when SimGrid times something.
        decision_time: simulated seconds of each decision.
        decision_clock: what decisions are timed by.
    """
    if use == "never":
        return "it was not to be (--compiled never)"
    if recorded:
        return "the exchange is recorded, and a kernel exchanges no messages (--no-record)"
    if clock != "together":
        return f"kernels hear at once of all that happens at one moment, not as --clock {clock} has it"
    if simgrid == "always":
        return "SimGrid times the run"
    if decision_time != 0.0:
        return "decisions take simulated time"
    if decision_clock != "wall":
        return "decisions are to be timed by CPU time, and those of a kernel cannot be timed one by one"
    if events:
        return "there are external events"
    # It knows dispatchers that a run which is recorded may not need.
    from batdispatch.engines.compiled import applies

    return applies.why_never(dispatcher, platform.machine)


def least_jobs(use: UseCompiled) -> int:
    """Return of how many jobs on a workload is read for a kernel."""
    return FEW if use == "auto" else 0


def why_workload_not_compiled(
    dispatcher: Dispatcher, workload: PlainWorkload | Workload, use: UseCompiled
) -> str | None:
    """Return why a run is not compiled for which `why_never_compiled` knows no reason, or None.

    Args:
        dispatcher: that decides.
        workload: with its jobs as columns if that can be and it has at least `least_jobs`.
        use: what was asked for.
    """
    if len(workload.jobs) < least_jobs(use):
        return f"fewer than {FEW} jobs are simulated sooner than a kernel is loaded (--compiled always)"
    if isinstance(workload, PlainWorkload):
        from batdispatch.engines.compiled import applies

        return applies.why_not(dispatcher, workload.jobs)
    found = columns_of(workload)
    assert isinstance(found, NotPlain)
    return found.reason
