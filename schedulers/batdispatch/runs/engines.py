"""The engines that are installed, and which of them simulates a run; the embedded one simulates what no other does."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from batdispatch.core.abilities import missing_ability
from batdispatch.core.errors import InputError
from batdispatch.core.line import registry
from batdispatch.core.machine.facet import GROUP as FACETS
from batdispatch.core.machine.facet import Facet
from batdispatch.engines.choices import CountEnergy, Energy
from batdispatch.engines.simulation import (
    GROUP,
    Engine,
    Outcome,
    QueueSimulation,
    Refusal,
    Setting,
    Task,
    TimingEngine,
)
from batdispatch.engines.timer_need import TimerNeed, timer_need
from batdispatch.inputs.platforms import Platform
from batdispatch.runs import embedded
from batdispatch.runs.listener import Progress


@cache
def engines() -> tuple[Engine, ...]:
    """Return the engines that packages announce, in the order in which they are asked.

    Raises:
        InputError: one of them cannot be loaded.
    """
    kinds = [registry.find(GROUP, name, Engine, "engine") for name in registry.names(GROUP)]
    made = [registry.set_up(kind, f"engine {kind.__name__}") for kind in kinds]
    return tuple(sorted(made, key=lambda engine: engine.turn))


class Simulation:
    """A task and the engine that is to simulate it.

    Attributes:
        apart: the engine that needs a process of its own for it, or None.
    """

    def __init__(self, task: Task, batsim: str | None = None) -> None:
        """Choose the engine, and let the jobs be read in the form that it takes.

        Args:
            task: what is to be simulated.
            batsim: the Batsim that simulates instead, or None.

        Raises:
            InputError: something is wrong in the workload, no engine times what depends on the platform, or only a
                compiled engine may simulate, and cannot.
        """
        self._task = task
        self._engine: Engine | None = None
        #: Why no compiled engine simulates, or None.
        self._reason: str | None = "no compiled engine is installed"
        if batsim is not None:
            self._reason = f"it is for the embedded engine, not for {batsim}"
        elif task.compiled == "never":
            self._reason = "it was not to be (--compiled never)"
        for engine in () if batsim is not None else engines():
            if engine.compiled and task.compiled == "never":
                continue
            reason = engine.why_not(task)
            if reason is None:
                self._engine = engine
                break
            if engine.compiled:
                self._reason = reason
        self.apart = self._engine if isinstance(self._engine, TimingEngine) else None
        if self._engine is not None and self._engine.compiled:
            self._reason = None
            return
        # Read now, as it takes a while.
        task.workload.workload()
        if batsim is None and self._engine is None:
            _refuse_need(timer_need(task.setting()))
        self._leave_to_python()

    def _leave_to_python(self) -> None:
        if self._task.compiled == "always" and self._reason is not None:
            raise InputError(self._reason, source="option --compiled always")

    def simulate(self, out: Path, progress: Progress | None) -> Outcome:
        """Simulate into a folder, in this process; raises as `Engine.simulate` does, but for `Refusal`."""
        count = self._task.workload.count
        tell = None if progress is None else (lambda done: progress(done, count))
        outcome = None
        if self._engine is not None:
            try:
                outcome = self._engine.simulate(self._task, out, tell)
            except Refusal as refusal:
                self._reason = str(refusal)
                self._leave_to_python()
        if outcome is None:
            outcome = embedded.simulate(self._task, out, tell)
        if self._reason is None:
            return outcome
        about = {"compiled": None, "not_compiled": self._reason}
        # What an engine says of itself has its place and stays.
        return outcome._replace(engine=outcome.engine | about | outcome.engine)


def timing_engine(setting: Setting) -> TimingEngine | None:
    """Return the engine that times what depends on the platform, under any dispatcher; None: none does.

    Raises:
        InputError: something does, and no engine that is installed times it.
    """
    timing = [engine for engine in engines() if isinstance(engine, TimingEngine)]
    for engine in timing:
        if engine.why_not_timed(setting) is None:
            return engine
    _refuse_need(timer_need(setting))
    return None


def _refuse_need(need: TimerNeed | None) -> None:
    if need is not None:
        raise need.refusal("no engine that is installed times it", whose="which SimGrid simulates")


def queue_simulation(dispatcher: str) -> QueueSimulation:
    """Return what simulates queues of a dispatcher, where only starts are wanted.

    Args:
        dispatcher: its name, with options in brackets.

    Raises:
        InputError: there is no such dispatcher, or no engine for it.
    """
    for engine in engines():
        if (found := engine.queue(dispatcher)) is not None:
            return found
    raise InputError("no engine that is installed simulates queues", source=f"dispatcher {dispatcher}")


def libraries() -> dict[str, str | None]:
    """Return libraries beside this package's code that results depend on: name -> path, or None if it is absent."""
    return {name: path for engine in engines() for name, path in engine.libraries().items()}


def counted_energy(asked: Energy, needed: bool) -> CountEnergy | None:
    """Return how energy is counted, given what was asked for and whether the dispatcher needs it; None: not at all."""
    if asked != "auto":
        return asked
    return "batsim" if needed else None


def energy_facet(platform: Platform) -> Facet:
    """Return what a platform says of energy.

    Raises:
        InputError: no ability reads it, or a host does not state what is needed, or states it wrongly.
    """
    kind: type[Facet] | None = registry.load(FACETS, "power", "facet")
    if kind is None:
        raise missing_ability("power", "option --energy")
    return platform.facet(kind)
