"""The embedded engine with the clock of a simulator whose messages take time: ends are told a little late."""

from typing import Any

import numpy as np

from batdispatch.core.line import events as e
from batdispatch.core.line.messages import Peer
from batdispatch.engines.embedded import EmbeddedEngine


class LateEngine(EmbeddedEngine):
    """Tells each end of a job, unless the job was killed, 1 to `most` microseconds after it happened."""

    most = 50

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._rng = np.random.default_rng(7)
        self._on_their_way = 0

    def _exchange(self, peer: Peer) -> None:
        world = self._world
        told: list[e.Event] = []
        for event in world.told:
            if isinstance(event, e.JobCompleted) and event.time == world.now and event.state != "COMPLETED_KILLED":
                self._on_their_way += 1
                delay = int(self._rng.integers(1, self.most + 1)) * 1e-6
                world.schedule(round(world.now + delay, 6), self._arrive, event)
            else:
                told.append(event)
        world.told = told
        if told:
            super()._exchange(peer)

    def _arrive(self, event: e.JobCompleted) -> None:
        self._on_their_way -= 1
        self._world.told.append(event)

    def _is_over(self) -> bool:
        return super()._is_over() and not self._on_their_way
