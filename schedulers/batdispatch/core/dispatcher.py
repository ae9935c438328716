"""The base class of every dispatcher, and how one is built by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from batdispatch.core import registry
from batdispatch.core.blame import blame, file_of
from batdispatch.core.errors import BatdispatchError, InputError
from batdispatch.core.events import Event, JobsKilled
from batdispatch.core.job import Job
from batdispatch.core.ledger import Ledger
from batdispatch.core.options import Options, parse_options

#: Entry-point group in which a package announces its dispatchers.
GROUP = "batdispatch.dispatchers"


class Dispatcher(ABC):
    """Decides which waiting jobs start where.

    A subclass implements `decide`. It is called once after all simultaneous events were applied to the ledger, and acts
    through the ledger's methods (`start`, `reject`, `kill`, `wake_at`, ...). The other methods are there for those that
    keep a plan between calls; each is called before `decide`.
    """

    #: The option struct; its class docstring says what each option does.
    options_type: ClassVar[type[Options]] = Options
    #: Whether it registers jobs of its own; if so the simulation goes on until `registration_done`.
    registers_jobs: ClassVar[bool] = False
    #: Whether it switches power states or asks for energy, for which Batsim must be started with its energy plug-in.
    needs_energy: ClassVar[bool] = False

    def __init__(self, options: Options | None = None, seed: int = 0) -> None:
        self.options: Any = self.options_type() if options is None else options
        #: The only source of randomness.
        self.rng = np.random.default_rng(seed)

    def begin(self, cluster: Ledger) -> None:
        """Prepare for a machine; called once, before any job."""

    def on_submit(self, cluster: Ledger, job: Job) -> None:
        """Learn of a job that entered the queue."""

    def on_end(self, cluster: Ledger, job: Job) -> None:
        """Learn of a job that ended; `job.state` says how, `job.start` when it had begun."""

    def on_killed(self, cluster: Ledger, event: JobsKilled) -> None:
        """Learn of the progress of killed jobs."""

    def on_event(self, cluster: Ledger, event: Event) -> None:
        """Learn of any other event: availability, messages, calls, states, external events."""

    @abstractmethod
    def decide(self, cluster: Ledger) -> None:
        """Look at the cluster and act."""

    def registration_done(self, cluster: Ledger) -> bool:
        """Say whether no further job will be registered (asked after each decision if `registers_jobs`)."""
        return cluster.static_jobs_done and not cluster.queue and not cluster.running

    def report(self) -> dict[str, Any]:
        """Return facts about the run for result.json, such as counters of a solver."""
        return {}

    def notes(self) -> list[bytes]:
        """Return a line of JSON a decision with facts about it, for solver.jsonl; none: the file is not written."""
        return []


def find(name: str) -> type[Dispatcher]:
    """Return a dispatcher class by registered name, ``module:Class``, or ``path/to/file.py:Class``.

    Raises:
        InputError: there is none, the name is registered twice, or what is found is no dispatcher.
    """
    return registry.find(GROUP, name, Dispatcher, "dispatcher")


def create(name: str, options: Mapping[str, Any] | None = None, seed: int = 0) -> Dispatcher:
    """Build a dispatcher by name with options given as texts or values.

    Raises:
        InputError: the name or an option is wrong, or the class cannot be set up.
    """
    cls = find(name)
    if not (isinstance(cls.options_type, type) and issubclass(cls.options_type, Options)):
        raise InputError(f"dispatcher {name}: its options_type is {cls.options_type!r}, expected a subclass of Options")
    chosen = parse_options(cls.options_type, options or {}, f"dispatcher {name}")
    try:
        dispatcher = cls(chosen, seed)
    except BatdispatchError:
        raise
    except (Exception, SystemExit) as problem:
        raise InputError(f"dispatcher {name} cannot be set up: {blame(problem, file_of(cls))}") from problem
    if not hasattr(dispatcher, "options"):
        raise InputError(f"dispatcher {name}: its __init__ does not call super().__init__(options, seed)")
    return dispatcher
