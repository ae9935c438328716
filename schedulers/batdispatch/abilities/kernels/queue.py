"""Queues in a kernel: simulations from which only starts are wanted."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.kernels import applies
from batdispatch.abilities.kernels.columns import jobs_of
from batdispatch.abilities.kernels.knowledge import knowledge_of
from batdispatch.abilities.kernels.queue_order import fields_asked
from batdispatch.abilities.kernels.simulate import schedule_of
from batdispatch.core.errors import InputError
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.dispatchers.backfilling.queue import QueueDispatcher
from batdispatch.inputs.workloads.columns import JobColumns
from batdispatch.links.foreign import create_any


class KernelQueue:
    """Simulations of a dispatcher on equal whole hosts from which only starts are wanted: no files, no messages."""

    def __init__(self, dispatcher: str) -> None:
        """Make the dispatcher.

        Args:
            dispatcher: its name, with options in brackets.

        Raises:
            InputError: there is no such dispatcher, or no kernel decides as it does.
        """
        self._dispatcher = create_any(dispatcher, {}, 0)
        reason = applies.why_never(self._dispatcher, Machine([Host(id=0, name="host")]))
        knowledge = knowledge_of(self._dispatcher)
        if knowledge is not None and knowledge.no_queue:
            reason = knowledge.no_queue
        elif isinstance(self._dispatcher, QueueDispatcher) and fields_asked(self._dispatcher):
            reason = "priorities of multifactor depend on what a queue does not tell"
        if reason is not None:
            raise InputError(reason, source=f"dispatcher {dispatcher}")

    def starts(self, jobs: JobColumns, hosts: int) -> NDArray[np.float64]:
        """Return when each job starts, as `QueueSimulation.starts` has it."""
        reason = applies.why_not(jobs)
        if reason is not None:
            raise InputError(reason, source="the queue")
        # A dispatcher remembers what it saw.
        dispatcher = deepcopy(self._dispatcher)
        assert isinstance(dispatcher, QueueDispatcher)
        return schedule_of(jobs_of(jobs, dispatcher), np.array([[0, hosts - 1]]), dispatcher).start
