"""The base class of every dispatcher, and how one is built by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from batdispatch.core import extras
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line import registry
from batdispatch.core.line.events import Event, JobsKilled
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options, parse_named, parse_options
from batdispatch.core.line.roles import ExplainsWaits, IsShownJobs, RegistersJobs, StandsInLayers

#: Entry-point group in which a package announces its dispatchers.
GROUP = "batdispatch.dispatchers"
#: Entry-point group of what reads a dispatcher's options from a file that one of them names: by the dispatcher's name,
#: a function that takes the name and the options, and returns both.
OPTION_FILES = "batdispatch.option_files"


class Dispatcher(RegistersJobs, IsShownJobs, StandsInLayers, ExplainsWaits, ABC):
    """Decides which waiting jobs start where.

    A subclass implements `decide`. It is called once after all simultaneous events were applied to the ledger, and acts
    through the ledger's methods (`start`, `reject`, `kill`, `wake_at`, ...). The other methods are there for those that
    keep a plan between calls; each is called before `decide`. What it inherits is asked by others than the session, and
    has its place in `core.line.roles`.
    """

    #: The option struct; its class docstring says what each option does.
    options_type: ClassVar[type[Options]] = Options
    #: The extra of this package whose libraries it needs, one of `batdispatch.core.extras.EXTRAS`.
    extra: ClassVar[str | None] = None
    #: Whether it switches power states or asks for energy, for which Batsim must be started with its energy plug-in.
    needs_energy: ClassVar[bool] = False
    #: How long its runs take beside those of others: 2 if it calls a solver, 1 if it plans every waiting job, else 0.
    effort: ClassVar[int] = 0

    def __init__(self, options: Options | None = None, seed: int = 0) -> None:
        self.options: Any = self.options_type() if options is None else options
        self._seed = seed
        #: Seconds of some clock, handed in by the session: for accounts of what took how long, never for decisions.
        self.clock: Callable[[], float] = lambda: 0.0

    @cached_property
    def rng(self) -> np.random.Generator:
        """The only source of randomness, made from the run's seed when it is first asked for."""
        return np.random.default_rng(self._seed)

    def begin(self, ledger: Ledger) -> None:
        """Prepare for a machine; called once, before any job."""

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        """Learn of a job that entered the queue."""

    def on_start(self, ledger: Ledger, stay: Stay) -> None:
        """Learn of a job that was started, by this dispatcher or by a layer around it."""

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        """Learn of a job that ended; `stay.state` says how, `stay.start` when it had begun.

        A job that continues it is registered here at the latest. If a decision has killed it, that may also be done in
        `on_killed` or in `decide`.
        """

    def on_called_off(self, ledger: Ledger, stay: Stay) -> None:
        """Learn that a job which was started waits again: a host went away that was to be woken for it."""
        self.on_end(ledger, stay)
        self.on_submit(ledger, stay.job)

    def on_killed(self, ledger: Ledger, event: JobsKilled) -> None:
        """Learn of the progress of killed jobs."""

    def on_event(self, ledger: Ledger, event: Event) -> None:
        """Learn of any other event: availability, messages, calls, states, external events."""

    @abstractmethod
    def decide(self, ledger: Ledger) -> None:
        """Look at the ledger and act."""

    def report(self) -> dict[str, Any]:
        """Return facts about the run for result.json, such as counters of a solver."""
        return {}

    def innermost(self) -> Dispatcher:
        """Return the dispatcher inside all layers: this one, unless it is a layer."""
        return self


def find(name: str) -> type[Dispatcher]:
    """Return a dispatcher class by registered name, ``module:Class``, or ``path/to/file.py:Class``.

    Raises:
        InputError: there is none, the name is registered twice, or what is found is no dispatcher.
    """
    return registry.find(GROUP, name, Dispatcher, "dispatcher")


def with_option_file(name: str, options: dict[str, str]) -> tuple[str, dict[str, str]]:
    """Return a dispatcher and its options, with those of the file that one of them names. Given ones go first.

    Raises:
        InputError: the file is wrong, or says something that the dispatcher cannot do.
    """
    read: Callable[[str, dict[str, str]], tuple[str, dict[str, str]]] | None
    read = registry.load(OPTION_FILES, name, "reader of options")
    return (name, options) if read is None else read(name, options)


def create(name: str, options: Mapping[str, Any] | None = None, seed: int = 0) -> Dispatcher:
    """Build a dispatcher by name with options given as texts or values, or in brackets behind the name.

    Raises:
        InputError: the name or an option is wrong, a library that it needs is missing, or the class cannot be set up.
    """
    name, inside = parse_named(name, "dispatcher")
    twice = [key for key in inside if key in (options or {})]
    if twice:
        raise InputError(f"dispatcher {name}: option {twice[0]} is given twice")
    options = {**inside, **(options or {})}
    cls = find(name)
    if not (isinstance(cls.options_type, type) and issubclass(cls.options_type, Options)):
        raise InputError(f"dispatcher {name}: its options_type is {cls.options_type!r}, expected a subclass of Options")
    extras.check(cls.extra, f"dispatcher {name}")
    chosen = parse_options(cls.options_type, options or {}, f"dispatcher {name}")
    dispatcher = registry.set_up(cls, f"dispatcher {name}", chosen, seed)
    if not hasattr(dispatcher, "options"):
        raise InputError(f"dispatcher {name}: its __init__ does not call super().__init__(options, seed)")
    return dispatcher
