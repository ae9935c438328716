"""The base class of every dispatcher, and how one is built by name."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from batdispatch.core import extras
from batdispatch.core.capacity.space import Space
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job, Resumption, Stay
from batdispatch.core.line import registry
from batdispatch.core.line.events import Event, JobsKilled
from batdispatch.core.line.hindsight import Hindsight, Reason
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options, parse_named, parse_options


class Gap(NamedTuple):
    """Capacity `free`, a value of `space`, that is free from now on and for `length` seconds."""

    space: Space[Any]
    free: Any
    length: float


#: Entry-point group in which a package announces its dispatchers.
GROUP = "batdispatch.dispatchers"
#: Entry-point group of what reads a dispatcher's options from a file that one of them names: by the dispatcher's name,
#: a function that takes the name and the options, and returns both.
OPTION_FILES = "batdispatch.option_files"


class Dispatcher(ABC):
    """Decides which waiting jobs start where.

    A subclass implements `decide`. It is called once after all simultaneous events were applied to the ledger, and acts
    through the ledger's methods (`start`, `reject`, `kill`, `wake_at`, ...). The other methods are there for those that
    keep a plan between calls; each is called before `decide`.
    """

    #: The option struct; its class docstring says what each option does.
    options_type: ClassVar[type[Options]] = Options
    #: The extra of this package whose libraries it needs, one of `batdispatch.core.extras.EXTRAS`.
    extra: ClassVar[str | None] = None
    #: Whether it registers jobs of its own; if so the simulation goes on until `registration_done`.
    registers_jobs: ClassVar[bool] = False
    #: Whether jobs that it registers may use profiles of jobs that have ended, which Batsim otherwise forgets.
    reuses_profiles: ClassVar[bool] = False
    #: Whether it switches power states or asks for energy, for which Batsim must be started with its energy plug-in.
    needs_energy: ClassVar[bool] = False
    #: Whether it can do with jobs that a layer starts whatever was planned, see `give_way`.
    gives_way: ClassVar[bool] = True
    #: Whether it can do with waiting jobs that come again with other hosts open to them: first `on_withdrawn`, then
    #: `on_submit`. Reservations (`core.machine.openings`) do this to jobs.
    heeds_reservations: ClassVar[bool] = True
    #: Whether it plans with timelines that are told which hosts open and close when, and then does with waiting jobs to
    #: which no host is open now.
    plans_openings: ClassVar[bool] = False
    #: Whether it ends running jobs for others, which no layer can do with.
    preempts: ClassVar[bool] = False
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

    def reshapes(self, ledger: Ledger, job: Job) -> bool:
        """Return whether `on_submit` puts another job in the place of one that can never run as it asks."""
        return False

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

    def idle_until(self, ledger: Ledger) -> float:
        """Return until when `decide` does nothing, however often it is called, if nothing happens; in seconds.

        Infinity: until something happens. Minus infinity: a layer may not leave out any call. Asked after `decide`.
        """
        return -math.inf

    def gaps(self, ledger: Ledger) -> Iterable[Gap] | None:
        """Return the capacity that this dispatcher leaves free from now on and until when, for layers that may use it.

        In the order in which they are to be filled. None: it cannot tell.
        """
        return None

    def may_lend(self, ledger: Ledger, job: Job, gap: Gap) -> bool:
        """Say whether a layer may start a waiting job in a gap; not if the job has better to expect before its end."""
        return True

    def lend(self, ledger: Ledger, job: Job, gap: Gap, place: Place) -> None:
        """Learn that a layer is about to start a waiting job in a gap, to be stopped at its end.

        A dispatcher that keeps a list or a plan of its own takes the job out of it here.
        """

    def give_way(self, ledger: Ledger, job: Job, place: Place) -> None:
        """Learn that a layer is about to start a waiting job that goes before all others, whatever was planned.

        A dispatcher that keeps a list or a plan of its own takes the job out of it, and makes the plan anew, here.
        """

    def on_withdrawn(self, ledger: Ledger, job: Job) -> None:
        """Learn that a layer has taken a waiting job out of the queue, or that a reservation closes its hosts.

        Another job, or the same one with other hosts open to it, may come in its place.

        A dispatcher that keeps a list or a plan of its own takes the job out of it here.
        """

    def planned_starts(self, ledger: Ledger) -> Iterable[tuple[float, int]]:
        """Return when waiting jobs are to start, in seconds, and the mask of the hosts for each, as far as it is known.

        Asked after `decide`, by layers that wake hosts in time.
        """
        return ()

    def innermost(self) -> Dispatcher:
        """Return the dispatcher inside all layers: this one, unless it is a layer."""
        return self

    def registration_done(self, ledger: Ledger) -> bool:
        """Say whether no further job will be registered (asked after each decision if `registers_jobs`)."""
        return ledger.static_jobs_done and not (ledger.queue or ledger.running or ledger.blocked)

    def report(self) -> dict[str, Any]:
        """Return facts about the run for result.json, such as counters of a solver."""
        return {}

    def resumed(self) -> Mapping[str, Resumption]:
        """Return, by id, how jobs that continue others went on from a checkpoint; the others start anew."""
        return {}

    def notes(self) -> list[bytes]:
        """Return a line of JSON a decision with facts about it, for solver.jsonl; none: the file is not written."""
        return []

    def why_waited(self, job: Job, decision: Hindsight) -> Reason | None:
        """Return why a recorded decision of this dispatcher left a job waiting, for explain-wait; None: nothing to add.

        What the jobs that run hold is told without this. It is asked of a dispatcher with the run's options that heard
        of all events before the decision and was never asked to decide.

        Args:
            job: the job; it is in the queue before and after the decision.
            decision: the decision.
        """
        return None

    def why_started(self, job: Job, ledger: Ledger) -> Reason | None:
        """Return why a recorded decision started a job before others, for explain-wait; None: nothing to add.

        It is asked as `why_waited` is, before the job starts.
        """
        return None


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
