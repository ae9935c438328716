"""The engines of this package, which of them simulates a run, and when that needs SimGrid.

Nothing else knows that some engines are compiled.
"""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.profiles import leaves
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.dispatchers.backfilling.queue import QueueDispatcher
from batdispatch.engines.activities import PLATFORM_TYPES, only_computes
from batdispatch.engines.choices import Clock, CountEnergy, Energy, UseSimGrid
from batdispatch.engines.simgrid_library import find_simgrid, how_to_install
from batdispatch.engines.simulation import Outcome, Refusal, Task
from batdispatch.engines.timing import PlatformTimer
from batdispatch.inputs.platforms import Platform
from batdispatch.inputs.workloads import Workload
from batdispatch.inputs.workloads.columns import JobColumns
from batdispatch.links.foreign import create_any
from batdispatch.links.recorder import record_exchange
from batdispatch.results.run_files import RECORDING
from batdispatch.runs import embedded
from batdispatch.runs.listener import Progress
from batdispatch.runs.spec import UseCompiled

#: Fewer jobs than this take less than a second in Python, which can say how long each decision took.
FEW = 5000


class Simulation:
    """A task and the engine that is to simulate it.

    Attributes:
        in_simgrid: whether SimGrid times it, for which it needs a process of its own.
    """

    def __init__(self, task: Task, use: UseCompiled, batsim: str | None = None) -> None:
        """Choose the engine, and let the jobs be read in the form that it takes.

        Args:
            task: what is to be simulated.
            use: when a compiled engine simulates.
            batsim: the Batsim that simulates instead, or None.

        Raises:
            InputError: something is wrong in the workload, SimGrid is needed and not installed, or only a compiled
                engine may simulate, and cannot.
        """
        self._task, self._use = task, use
        self.in_simgrid = False
        #: Why no compiled engine simulates, or None.
        self._reason = _why_not_compiled(task, use, batsim)
        if self._reason is None:
            return
        workload = task.workload.workload()
        if batsim is None:
            self.in_simgrid = needs_simgrid(task.platform, workload, task.simgrid, task.clock, task.energy)
        self._leave_to_python(self._reason)

    def _leave_to_python(self, reason: str) -> None:
        if self._use == "always":
            raise InputError(reason, source="option --compiled always")
        self._reason = reason

    def simulate(self, out: Path, progress: Progress | None, timer: PlatformTimer | None = None) -> Outcome:
        """Simulate into a folder, with SimGrid's timer if it needs that; raises as `embedded.simulate` does."""
        count = self._task.workload.count
        tell = None if progress is None else (lambda done: progress(done, count))
        if self._reason is None:
            from batdispatch.engines.compiled import engine

            try:
                record = partial(record_exchange, out / RECORDING) if self._task.record else None
                return engine.simulate(self._task, out, tell, record)
            except Refusal as refusal:
                self._leave_to_python(str(refusal))
        outcome = embedded.simulate(self._task, out, tell, timer)
        reason = self._reason if timer is None else "SimGrid times the run"
        return outcome._replace(engine=outcome.engine | {"compiled": None, "not_compiled": reason})


def _why_not_compiled(task: Task, use: UseCompiled, batsim: str | None) -> str | None:
    """Return why no compiled engine simulates, or None. A reason is a sentence without its full stop."""
    if batsim is not None:
        return f"it is for the embedded engine, not for {batsim}"
    if use == "never":
        return "it was not to be (--compiled never)"
    from batdispatch.engines.compiled import reasons

    return reasons.why_not(task, FEW if use == "auto" else 0)


class KernelSimulation:
    """Simulations of a dispatcher on equal whole hosts from which only starts are wanted: no files, no messages."""

    def __init__(self, dispatcher: str) -> None:
        """Make the dispatcher.

        Args:
            dispatcher: its name, with options in brackets.

        Raises:
            InputError: there is no such dispatcher, or no kernel decides as it does.
        """
        from batdispatch.engines.compiled import applies
        from batdispatch.engines.compiled.columns import is_slurm
        from batdispatch.engines.compiled.queue_order import fields_asked

        self._dispatcher = create_any(dispatcher, {}, 0)
        reason = applies.why_never(self._dispatcher, Machine([Host(id=0, name="host")]))
        if is_slurm(self._dispatcher):
            reason = "it tries so many jobs at a time, so a queue's running jobs would not all start at once"
        elif isinstance(self._dispatcher, QueueDispatcher) and fields_asked(self._dispatcher):
            reason = "priorities of multifactor depend on what a queue does not tell"
        if reason is not None:
            raise InputError(reason, source=f"dispatcher {dispatcher}")

    def starts(self, jobs: JobColumns, hosts: int) -> NDArray[np.float64]:
        """Return when each job starts, s, float64 [job]; NaN for those that never do.

        Raises:
            InputError: a job's walltime is one that the kernel does not know.
            Refusal: the kernel cannot go on.
        """
        from batdispatch.engines.compiled import applies
        from batdispatch.engines.compiled.columns import jobs_of
        from batdispatch.engines.compiled.simulate import schedule_of

        reason = applies.why_not(jobs)
        if reason is not None:
            raise InputError(reason, source="the queue")
        # A dispatcher remembers what it saw.
        dispatcher = deepcopy(self._dispatcher)
        assert isinstance(dispatcher, QueueDispatcher)
        return schedule_of(jobs_of(jobs, dispatcher), np.array([[0, hosts - 1]]), dispatcher).start


def counted_energy(asked: Energy, needed: bool) -> CountEnergy | None:
    """Return how energy is counted, given what was asked for and whether the dispatcher needs it; None: not at all."""
    if asked != "auto":
        return asked
    return "batsim" if needed else None


def platform_profile(workload: Workload, *, links: bool = False) -> str | None:
    """Return a profile that a job uses and whose run time depends on the platform, or None.

    Args:
        workload: the jobs.
        links: leave out what depends on speeds alone.
    """
    for used in dict.fromkeys(job.profile for job in workload.jobs):
        if workload.profiles[used]["type"] == "delay":
            continue
        for name, profile in leaves(used, workload.profiles):
            if profile["type"] in PLATFORM_TYPES and not (links and only_computes(profile)):
                return name
    return None


def needs_simgrid(
    platform: Platform, workload: Workload, use: UseSimGrid, clock: Clock, energy: CountEnergy | None = None
) -> bool:
    """Return whether a simulation uses SimGrid: for what depends on speeds and links, messages among them.

    Where energy is counted, the engine knows speeds itself.

    Raises:
        InputError: it needs SimGrid, which is not installed, or a master host, which the platform does not have.
    """
    if clock == "batsim" and platform.master is None:
        raise InputError(
            f"jobs tell of their end by messages to the host that carries Batsim, and {platform.path} has no such "
            "host; name it with --master-host",
            source="option --clock batsim",
        )
    name = platform_profile(workload, links=energy is not None)
    if name is None and use == "auto" and clock != "batsim":
        return False
    if energy == "exact":
        what = (
            f"profile {name!r} of {workload.path}" if name else "--clock batsim" if clock == "batsim" else "--simgrid"
        )
        raise InputError(f"{what} needs SimGrid, which counts energy as Batsim does", source="option --energy exact")
    if find_simgrid() is not None:
        return True
    install = f"SimGrid is not installed. To install it: {how_to_install()}"
    if name is None:
        raise InputError(install, source="option --simgrid always" if use == "always" else "option --clock batsim")
    raise InputError(
        f"type {workload.profiles[name]['type']!r}: its run time depends on the platform's speeds and links, which "
        f"SimGrid simulates, and {install}",
        source=str(workload.path),
        place=f"profile {name!r}",
    )
