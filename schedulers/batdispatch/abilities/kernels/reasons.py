"""Why kernels cannot simulate a task, asked without loading what a task that is refused does not need."""

from __future__ import annotations

from batdispatch.engines.simulation import Task
from batdispatch.inputs.workloads.columns import JobColumns, NotPlain

#: Fewer jobs than this take less than a second in Python, which can say how long each decision took. Where jobs share
#: hosts, it is a tenth of this, since they take longer there.
FEW = 5000


def why_not(task: Task) -> str | None:
    """Return why kernels do not simulate a task, or None. A reason is a sentence without its full stop.

    Raises:
        InputError: something is wrong in the workload.
    """
    # What kernels leave out is wanted unless kernels are asked for.
    few = FEW if task.compiled == "auto" else 0
    if task.record and few:
        return "the exchange is recorded with the time of each decision, which kernels do not know (--no-record)"
    return _of_settings(task) or _of_inputs(task, few)


def columns_for(task: Task) -> JobColumns | NotPlain:
    """Return the jobs as a kernel takes them, or why there is none for them; raises as `why_not`."""
    if not task.platform.machine.plain:
        return task.workload.told_columns()
    from batdispatch.abilities.kernels.queue_order import fields_asked
    from batdispatch.abilities.kernels.sleepers import inside
    from batdispatch.dispatchers.backfilling.queue import QueueDispatcher

    dispatcher = inside(task.dispatcher)
    assert isinstance(dispatcher, QueueDispatcher)
    return task.workload.columns(fields_asked(dispatcher))


def _of_settings(task: Task) -> str | None:
    if task.clock != "together":
        return f"kernels hear at once of all that happens at one moment, not as --clock {task.clock} has it"
    if task.simgrid == "always":
        return "SimGrid times the run"
    if task.decision_time != 0.0:
        return "decisions take simulated time"
    if task.decision_clock != "wall":
        return "decisions are to be timed by CPU time, and those of a kernel cannot be timed one by one"
    if task.events:
        return "there are external events"
    return None


def _of_inputs(task: Task, few: int) -> str | None:
    # It knows dispatchers that a run which is recorded may not need.
    from batdispatch.abilities.kernels import applies, sleepers

    machine = task.platform.machine
    few = few if machine.plain else few // 10
    reason = applies.why_never(task.dispatcher, machine)
    if reason is None and task.energy is not None:
        reason = sleepers.why_not_counted(machine)
    if reason is not None:
        return reason
    if task.record and applies.calls(task.dispatcher, machine):
        return "the exchange is recorded, and kernels do not tell when the dispatcher asks to be called (--no-record)"
    # They also tell how many there are.
    jobs = columns_for(task)
    if task.workload.count < few:
        return f"fewer than {few} jobs are left to Python, which times each decision (--compiled always)"
    return jobs.reason if isinstance(jobs, NotPlain) else applies.why_not(jobs)
