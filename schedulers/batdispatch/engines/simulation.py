"""What an engine is asked, and what it answers: the seam between a run and whatever simulates it in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import BatdispatchError, SimulationError
from batdispatch.core.jobs.fields import MAX_MOMENT
from batdispatch.core.jobs.job_table import JobTable
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.events import Event
from batdispatch.core.line.messages import Message, Reply
from batdispatch.core.line.session import DecisionTime
from batdispatch.engines.choices import Clock, CountEnergy, DecisionClock, UseSimGrid
from batdispatch.engines.energy_files import PowerRows
from batdispatch.inputs.platforms import Platform
from batdispatch.inputs.workloads.workload_file import WorkloadFile


class Task(NamedTuple):
    """A simulation that is to be made."""

    dispatcher: Dispatcher
    platform: Platform
    workload: WorkloadFile
    #: External ones.
    events: Sequence[Event]
    #: Whether decisions.jsonl is written.
    record: bool
    #: When the dispatcher hears of what happens.
    clock: Clock
    simgrid: UseSimGrid
    #: Simulated seconds of each decision; None: as long as it really took.
    decision_time: DecisionTime
    decision_clock: DecisionClock
    #: Seconds without a message after which a scheduler of another program counts as hung.
    timeout: float
    #: How energy is counted; None: it is not, and there are no power states.
    energy: CountEnergy | None = None


class Outcome(NamedTuple):
    """What is left of a simulation beside its files."""

    #: What result.json says of the engine.
    engine: dict[str, Any]
    #: Number of messages that were exchanged, or would have been.
    messages: int
    #: Rows of jobs.csv; None: that file says them.
    rows: JobTable | None
    #: What the dispatcher reported.
    report: dict[str, Any]
    #: (job id, reason) of every rejected job.
    rejections: list[tuple[str, str]]
    #: Simulated time, s, and seconds of each decision that was timed.
    decision_times: list[float] = []
    decision_seconds: list[float] = []
    #: Id of each job that continues another one -> id of that one.
    parents: Mapping[str, str] = {}
    #: User of each row's job, object [row], where metrics need nothing else of the jobs; None: they need the jobs.
    users: NDArray[np.object_] | None = None
    #: SHA-256 of files that were hashed while they were written, by name, in hexadecimal.
    digests: Mapping[str, str] = {}
    #: What consumed_energy.csv and pstate_changes.csv say; None: the files say it, if there are any.
    power: PowerRows | None = None


def time_is_over(due: float) -> SimulationError:
    """Return the error of a simulation in which something is to happen after `MAX_MOMENT`, at `due`, in seconds."""
    return SimulationError(f"the next event is at {due:g} s; simulated time ends at {MAX_MOMENT:g} s")


class Refusal(BatdispatchError):
    """A simulation came to a point that its engine does not know; the embedded engine in Python does."""


#: Takes the messages of a simulation with their answers.
Record = Callable[[Iterator[tuple[Message, Reply]]], None]
