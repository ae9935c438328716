"""Work stealing: each host has a queue of tasks, and an idle one takes from others."""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar

from batdispatch.core.ledger import Ledger
from batdispatch.core.options import Options
from batdispatch.dispatchers.topology.task_dispatcher import Run, TaskDispatcher, TaskOptions
from batdispatch.dispatchers.topology.tasks import Resource, Task


class WorkStealingOptions(TaskOptions, frozen=True, kw_only=True):
    """Options of work stealing.

    locality: Put a task that becomes ready into the queue of a host whose memory holds most bytes of its data. `false`:
        of the host that ended the last task it waited for.
    """

    locality: bool = True


class WorkStealing(TaskDispatcher):
    """Gives each host a queue of its own; an idle host with an empty queue steals from a host chosen at random.

    A host takes the newest task of its own queue that it can run, and steals the oldest one of another queue that it
    can run.

    With `locality`, of the hosts whose memory holds most of a task's data, the one that released the task has it if it
    is among them; else the one with the shortest queue. Tasks that nothing released begin in the queue of the first
    such host.

    Typical use: the yardstick of runtime systems that know no run times.
    Limits: run times play no part, so a core may steal what a GPU would do much faster, and everybody then waits for
        it. Results depend on the seed.
    Guarantee: no host idles while a task is ready that it can run. There is no guarantee on the makespan, since hosts
        differ.
    Time: `O(p)` for a task and for each try to steal, on p hosts, plus the length of queues whose tasks cannot run
        there.
    Deviations:
        - [1] analyses equal processors whose thieves try at random until they find work. Here a thief chooses at random
          among the queues that have something for it.
        - [2] balances two queues of each worker, one of them bound to its class. Here every task may go to every class
          for which it states a run time.
    References:
        [1] Blumofe, Leiserson: "Scheduling multithreaded computations by work stealing", Journal of the ACM 46(5),
            1999, pp. 720-748. doi:10.1145/324133.324234
        [2] Gautier, Lima, Maillard, Raffin: "Locality-aware work stealing on multi-CPU and multi-GPU architectures",
            MULTIPROG 2013.
    """

    options_type: ClassVar[type[Options]] = WorkStealingOptions

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        #: Tasks of each host, the newest last, by host id; ties of any kind go to the lowest id.
        self._queues: dict[int, deque[Task]] = {resource.host: deque() for resource in self.node.resources}
        #: The host that ended the task whose successors become ready.
        self._released_by: Resource | None = None
        self._steals = 0

    def on_task_end(self, run: Run, *, succeeded: bool) -> None:
        self._released_by = run.resource

    def on_ready(self, ledger: Ledger, task: Task) -> None:
        able = [one for one in self.node.resources if one.kind in task.runtimes]
        if self.options.locality:
            near = {one.memory: self.copies.valid_bytes(task.data.items(), one.memory) for one in able}
            most = max(near.values())
            able = [one for one in able if near[one.memory] == most]
        if self._released_by is None:
            chosen = able[0]
        elif self._released_by in able:
            chosen = self._released_by
        else:
            chosen = min(able, key=lambda one: len(self._queues[one.host]))
        self._queues[chosen.host].append(task)

    def assign(self, ledger: Ledger) -> None:
        self._released_by = None
        for resource in self.idle(ledger):
            task = self._newest(resource) or self._stolen(resource)
            if task is not None:
                self.launch(ledger, task, resource)

    def _newest(self, resource: Resource) -> Task | None:
        """Take the newest task of a host's own queue that it can run."""
        queue = self._queues[resource.host]
        task = next((task for task in reversed(queue) if resource.kind in task.runtimes), None)
        if task is not None:
            queue.remove(task)
        return task

    def _stolen(self, thief: Resource) -> Task | None:
        """Take the oldest task that a host can run from the queue of another one chosen at random."""
        loot = [
            (queue, task)
            for queue in self._queues.values()
            if (task := next((task for task in queue if thief.kind in task.runtimes), None)) is not None
        ]
        if not loot:
            return None
        queue, task = loot[int(self.rng.integers(len(loot)))]
        queue.remove(task)
        self._steals += 1
        return task

    def report(self) -> dict[str, Any]:
        return {**super().report(), "steals": self._steals}
