"""The engine as which kernels take part in a run; what it needs is loaded once a task comes to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from batdispatch.engines.simulation import Engine, Outcome, QueueSimulation, Task
from batdispatch.links.recorder import record_exchange
from batdispatch.results.run_files import RECORDING


class Kernels(Engine):
    """Simulates in compiled kernels what these know."""

    compiled = True

    def why_not(self, task: Task) -> str | None:
        from batdispatch.abilities.kernels import reasons

        return reasons.why_not(task)

    def simulate(self, task: Task, out: Path, progress: Callable[[int], None] | None) -> Outcome:
        from batdispatch.abilities.kernels import engine

        return engine.simulate(task, out, progress, partial(record_exchange, out / RECORDING) if task.record else None)

    def queue(self, dispatcher: str) -> QueueSimulation:
        from batdispatch.abilities.kernels.queue import KernelQueue

        return KernelQueue(dispatcher)
