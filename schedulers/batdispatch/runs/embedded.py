"""The embedded engine with a dispatcher in Python or in another program, and with a recorder between the two."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from batdispatch import __version__
from batdispatch.batsim import protocol
from batdispatch.core.errors import DeadlockError, InputError
from batdispatch.core.jobs.job_table import JobTable
from batdispatch.core.line.messages import Peer
from batdispatch.core.line.session import Session
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.engines.simulation import Outcome, Task
from batdispatch.engines.timing import PlatformTimer
from batdispatch.links.foreign import Foreign, ForeignPeer
from batdispatch.links.recorder import RecordedPeer, Recorder
from batdispatch.results.run_files import RECORDING

_CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def simulate(
    task: Task, out: Path, progress: Callable[[int], None] | None, timer: PlatformTimer | None = None
) -> Outcome:
    """Simulate a task of any kind into a folder; a timer times what depends on the platform.

    On any failure it leaves no file there but a recording.

    Raises:
        ImpossibleDecision, SimulationError: the simulation failed.
    """
    dispatcher, machine = task.dispatcher, task.platform.machine
    with ExitStack() as stack:
        decider: Session | ForeignPeer
        if isinstance(dispatcher, Foreign):
            clock = _CLOCKS[task.decision_clock]
            decider = stack.enter_context(ForeignPeer(dispatcher, timeout=task.timeout, clock=clock))
        else:
            decider = session_of(task)
        outputs = Outputs(out, len(machine.hosts))
        stack.callback(outputs.discard)
        engine = EmbeddedEngine(
            machine,
            task.workload.workload(),
            outputs,
            options=EngineOptions(
                dynamic_jobs=dispatcher.registers_jobs,
                split_simultaneous=task.clock == "apart",
                energy=task.energy,
            ),
            external_events=task.events,
            progress=progress,
            timer=timer,
            delays=timer.delay if timer is not None and task.clock == "batsim" else None,
        )
        peer: Peer = decider
        if task.record:
            peer = RecordedPeer(decider, stack.enter_context(Recorder(out / RECORDING)), protocol("4"))
        try:
            engine.run(peer)
        except InputError as problem:
            # A dispatcher knows the job of which it cannot read a field, and not the file that has the job.
            if problem.place.startswith("job ") and not problem.source:
                raise problem.found_in(str(task.workload.path)) from None
            raise
        except DeadlockError as problem:
            raise _explained(problem, decider) from None
    about = {"name": "embedded", "version": __version__, "simgrid": None if timer is None else timer.version}
    if task.energy is not None:
        about["energy"] = task.energy
    return outcome_of(decider, about, engine.messages, outputs.rows())._replace(digests=outputs.digests())


def _explained(problem: DeadlockError, decider: Session | ForeignPeer) -> DeadlockError:
    """Return a failure with what the ledger knows of jobs that wait for a place which their placement never finds."""
    ledger = decider.ledger if isinstance(decider, Session) else None
    waiting = [] if ledger is None else [job_id for job_id in ledger.queue if job_id in ledger.overlooked]
    if ledger is None or not waiting:
        return problem
    placement = ledger.overlooked[waiting[0]]
    return DeadlockError(
        f"{problem}. Placement {placement} found no place for job {waiting[0]} even on the idle machine, and may have "
        "overlooked one. Take another placement, or give it a `fallback`: jobs go anywhere after so many seconds"
    )


def session_of(task: Task) -> Session:
    """Return a session of a task's dispatcher."""
    return Session(task.dispatcher, decision_time=task.decision_time, clock=_CLOCKS[task.decision_clock])


def outcome_of(
    decider: Session | ForeignPeer, engine: dict[str, Any], messages: int, rows: JobTable | None = None
) -> Outcome:
    """Return what is left of a simulation whose decider has ended; for the rest see `Outcome`."""
    times, seconds = decider.decision_times, decider.decision_seconds
    if isinstance(decider, ForeignPeer):
        return Outcome(engine, messages, rows, {}, decider.rejections, times, seconds)
    ledger = decider.ledger
    rejections, parents = ([], {}) if ledger is None else (ledger.rejections, ledger.roll.parents)
    return Outcome(engine, messages, rows, decider.report, rejections, times, seconds, parents)
