"""The seam for what an ability adds to the embedded engine: states of hosts, a timer for them, and files of its own.

An `EngineFacet` is made where an option of the engine asks for it: an entry point of the group `GROUP`, called as the
option, leads to a `MakeFacet`. Without one the engine only knows hosts that are there or away.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol

from batdispatch.core.abilities import missing_ability
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.hosts.hostruns import Bounds
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line import registry
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.choices import CountEnergy
from batdispatch.engines.mail import Mail
from batdispatch.engines.occupancy import Occupancy
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions, Record
from batdispatch.engines.timing import PlatformTimer

#: Entry-point group of engine facets.
GROUP = "batdispatch.engine_facets"


class Surroundings(Protocol):
    """What a facet may ask of `engines.world.World`."""

    now: float
    absent: int
    hosts: Occupancy
    mail: Mail | None
    options: EngineOptions
    told: list[e.Event]

    def note_states(self, changed: Bounds) -> None:
        """Note that hosts' states have changed."""

    def enter(self, changed: Bounds) -> None:
        """Note the time at which hosts' states have changed."""

    def post(self, host: int, arrive: Callable[[], None]) -> None:
        """Let a host send word of something."""


class EngineFacet(ABC):
    """States of hosts in a simulation, and what they burn in them."""

    #: Number of hosts that go from one state to another: the simulation is not over before.
    switching = 0

    @abstractmethod
    def begin_simulation(self) -> None:
        """Begin, where activities can be started."""

    # ------------------------------------------------------------------ jobs

    @abstractmethod
    def submitted(self, now: float) -> None:
        """Note that a job was submitted."""

    @abstractmethod
    def why_not_start(self, hosts: int) -> str | None:
        """Return why no job can start on some hosts, a mask; None: one can."""

    @abstractmethod
    def begin(self, record: Record, now: float) -> None:
        """Note that a job starts."""

    @abstractmethod
    def phase_ends(self, record: Record, now: float) -> None:
        """Note that a delay of a job ends, or that an activity of its does."""

    @abstractmethod
    def end(self, record: Record, now: float) -> float:
        """Note that a job ends, and return the joules of its hosts while it ran."""

    # ------------------------------------------------------------------ decisions

    @abstractmethod
    def why_not_set(self, world: Surroundings, decision: d.SetResourceState) -> str | None:
        """Return why hosts cannot be set to another state; None: they can."""

    @abstractmethod
    def set_state(self, world: Surroundings, decision: d.SetResourceState) -> None:
        """Set hosts to another state, to which they can be set."""

    @abstractmethod
    def activity_ended(self, world: Surroundings, subject: Any) -> None:
        """Go on, when an activity that the facet started on behalf of `subject` has ended."""

    @abstractmethod
    def consumed(self, now: float) -> float:
        """Return the joules of all hosts since 0 s."""

    @abstractmethod
    def probed(self, hosts: Allocation, aggregate: e.Aggregate, now: float) -> list[float]:
        """Return the joules of some hosts since 0 s: each one's, or one number for all."""

    # ------------------------------------------------------------------ accounts

    @property
    @abstractmethod
    def resting(self) -> int:
        """Mask of the hosts that neither compute nor idle, and are not away."""

    @abstractmethod
    def counts(self, idle: int, computing: int) -> tuple[int, ...]:
        """Return how many hosts sleep, switch on, switch off, idle and compute.

        Args:
            idle: how many do not compute and are there.
            computing: how many compute.
        """

    @abstractmethod
    def totals(self, idle: float) -> dict[str, float]:
        """Return columns of schedule.csv; `idle`: seconds that hosts neither computed nor were away."""


#: Returns the facet of a machine at 0 s and the timer of what depends on it, given how energy is counted, the timer of
#: the platform (None: activities only compute), and what collects the files.
#: Raises InputError: the platform does not state what it needs.
MakeFacet = Callable[[Machine, CountEnergy, PlatformTimer | None, Outputs], tuple[EngineFacet, PlatformTimer]]


def make_facet(
    machine: Machine, count: CountEnergy, timer: PlatformTimer | None, outputs: Outputs
) -> tuple[EngineFacet, PlatformTimer]:
    """Return the facet that counts energy; see `MakeFacet`.

    Raises:
        InputError: there is none, it cannot be loaded, or the platform does not state what it needs.
    """
    make: MakeFacet | None = registry.load(GROUP, "energy", "engine facet")
    if make is None:
        raise missing_ability("power", "option --energy")
    return make(machine, count, timer, outputs)
