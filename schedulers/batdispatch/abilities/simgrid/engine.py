"""The embedded engine with SimGrid's timer, as it takes part in a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from batdispatch.abilities.simgrid.library import find_simgrid, how_to_install
from batdispatch.core.errors import InputError
from batdispatch.engines.simulation import Outcome, Setting, Task, TimingEngine
from batdispatch.engines.timer_need import timer_need
from batdispatch.engines.timing import PlatformTimer

R = TypeVar("R")


class SimGridEngine(TimingEngine):
    """Times with SimGrid what depends on the platform."""

    # It needs an object for each job.
    turn = 10

    def why_not(self, task: Task) -> str | None:
        return self.why_not_timed(task.setting())

    def why_not_timed(self, setting: Setting) -> str | None:
        """Return why it does not time a simulation. Where energy is counted, the engine knows speeds itself."""
        need = timer_need(setting)
        if need is None:
            return "nothing depends on the platform's speeds and links"
        if setting.energy == "exact":
            raise InputError(
                f"{need.subject} needs SimGrid, which counts energy as Batsim does", source="option --energy exact"
            )
        if find_simgrid() is not None:
            return None
        missing = f"SimGrid is not installed. To install it: {how_to_install()}"
        raise need.refusal(missing, whose="which SimGrid simulates")

    def simulate(self, task: Task, out: Path, progress: Callable[[int], None] | None) -> Outcome:
        from batdispatch.runs import embedded

        outcome = embedded.simulate(task, out, progress, self.timer(task.setting()))
        return outcome._replace(engine=outcome.engine | {"compiled": None, "not_compiled": "SimGrid times the run"})

    def timer(self, setting: Setting) -> PlatformTimer:
        from batdispatch.abilities.simgrid.timer import SimGridTimer

        return SimGridTimer(setting.platform, energy=setting.energy is not None)

    def call_apart(
        self,
        platform: str,
        energy: bool,
        function: Callable[..., R],
        *arguments: Any,
        progress: Callable[[int, int], None] | None = None,
    ) -> R:
        from batdispatch.abilities.simgrid.isolation import call_in_simgrid

        return call_in_simgrid(platform, energy, function, *arguments, progress=progress)

    def libraries(self) -> dict[str, str | None]:
        return {"simgrid": find_simgrid()}
