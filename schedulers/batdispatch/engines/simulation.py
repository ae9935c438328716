"""What an engine is asked, and what it answers: the seam between a run and whatever simulates it in this process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import BatdispatchError, SimulationError
from batdispatch.core.jobs.fields import MAX_MOMENT
from batdispatch.core.jobs.job_table import JobTable
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.events import Event
from batdispatch.core.line.messages import Message, Reply
from batdispatch.core.line.session import DecisionTime
from batdispatch.engines.choices import Clock, CountEnergy, DecisionClock, UseCompiled, UseSimGrid
from batdispatch.engines.timing import PlatformTimer
from batdispatch.inputs.platforms import Platform
from batdispatch.inputs.workloads import Workload
from batdispatch.inputs.workloads.columns import JobColumns
from batdispatch.inputs.workloads.workload_file import WorkloadFile

#: Entry-point group of engines.
GROUP = "batdispatch.engines"
R = TypeVar("R")


class Setting(NamedTuple):
    """The machine and the jobs of a simulation, under any dispatcher."""

    platform: Platform
    workload: Workload
    #: When a peer hears of what happens.
    clock: Clock
    simgrid: UseSimGrid
    #: How energy is counted; None: it is not, and there are no power states.
    energy: CountEnergy | None = None


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
    #: When a compiled engine simulates.
    compiled: UseCompiled = "auto"

    def setting(self) -> Setting:
        """Return the task without its dispatcher, for which an object is made of each job."""
        return Setting(self.platform, self.workload.workload(), self.clock, self.simgrid, self.energy)


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
    #: Measure -> what files say of it that were written, so that they need not be read (`results.metrics.measure`).
    known: Mapping[str, Any] = {}


def time_is_over(due: float) -> SimulationError:
    """Return the error of a simulation in which something is to happen after `MAX_MOMENT`, at `due`, in seconds."""
    return SimulationError(f"the next event is at {due:g} s; simulated time ends at {MAX_MOMENT:g} s")


class Refusal(BatdispatchError):
    """A simulation came to a point that its engine does not know; the embedded engine in Python does."""


#: Takes the messages of a simulation with their answers.
Record = Callable[[Iterator[tuple[Message, Reply]]], None]


class QueueSimulation(Protocol):
    """Simulates a dispatcher on equal whole hosts where only starts are wanted: no files, no messages."""

    def starts(self, jobs: JobColumns, hosts: int) -> NDArray[np.float64]:
        """Return when each job starts, s, float64 [job]; NaN for those that never do.

        Raises:
            InputError: a job asks for what the engine does not know.
            Refusal: the engine cannot go on.
        """


class Engine(ABC):
    """An engine beside the embedded one in Python: an entry point of the group `GROUP` names its class.

    A run asks the engines one after the other, in the order of `turn`. The first one that knows no reason against a
    task simulates it, and the embedded engine simulates what no other one does.
    """

    #: Its place in that order. An engine that needs an object for each job comes behind those that read columns.
    turn = 0
    #: Whether it is one of those that ``--compiled`` is about.
    compiled = False

    @abstractmethod
    def why_not(self, task: Task) -> str | None:
        """Return why it does not simulate a task, as a sentence without its full stop, or None.

        Raises:
            InputError: something is wrong in the workload, or the task is for this very engine, which lacks something.
        """

    @abstractmethod
    def simulate(self, task: Task, out: Path, progress: Callable[[int], None] | None) -> Outcome:
        """Simulate a task that it knows no reason against into a folder. On any failure it leaves no table there.

        Args:
            task: what is to be simulated.
            out: the folder.
            progress: called with the number of jobs that have ended.

        Raises:
            Refusal: it cannot go on; the embedded engine begins anew.
            ImpossibleDecision, SimulationError: the simulation failed.
        """

    def queue(self, dispatcher: str) -> QueueSimulation | None:
        """Return what simulates queues of a dispatcher, given by name and options; None: it simulates no queues.

        Raises:
            InputError: there is no such dispatcher, or the engine does not decide as it does.
        """
        return None

    def libraries(self) -> dict[str, str | None]:
        """Return libraries beside this package's code that results depend on: name -> path, or None if it is absent."""
        return {}


class TimingEngine(Engine):
    """The embedded engine with a timer for what depends on the platform. It needs a process of its own."""

    @abstractmethod
    def why_not_timed(self, setting: Setting) -> str | None:
        """Return why it does not time a simulation under any dispatcher, or None; raises as `why_not`."""

    @abstractmethod
    def timer(self, setting: Setting) -> PlatformTimer:
        """Return a timer, once in a process.

        Raises:
            InputError: what times is not installed, or does not know the platform.
            SimulationError: this process had a timer before.
        """

    @abstractmethod
    def call_apart(
        self,
        platform: str,
        energy: bool,
        function: Callable[..., R],
        *arguments: Any,
        progress: Callable[[int, int], None] | None = None,
    ) -> R:
        """Call a function that makes a timer, in a process of its own.

        Args:
            platform: path of the platform's file.
            energy: whether energy is counted.
            function: of a module; it also takes ``progress`` by keyword.
            arguments: for it, which can be pickled.
            progress: is told how many jobs have ended, of how many.

        Raises:
            InputError: the function raised it, or what times refuses the platform.
            SimulationError: likewise, or the process ended.
        """
