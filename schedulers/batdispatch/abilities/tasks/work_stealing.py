"""Work stealing: each host has a queue of tasks, and an idle one takes from others."""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar

from batdispatch.abilities.tasks.task_dispatcher import Run, TaskDispatcher, TaskOptions
from batdispatch.abilities.tasks.tasks import Resource, Task
from batdispatch.core.jobs.job import full_id
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options


class WorkStealingOptions(TaskOptions, frozen=True, kw_only=True):
    """Options of work stealing.

    locality: Put a task that becomes ready into the queue of a host whose memory holds most bytes of its data. `false`:
        put it into the queue of the host that ended the last task that it waited for, if that host can run it.
    """

    locality: bool = True


class WorkStealing(TaskDispatcher):
    """Gives each host a queue of tasks. An idle host whose queue holds nothing for it steals from another at random.

    An idle host takes the newest task of its own queue that it can run. If there is none, the host chooses at random
    one of the queues that hold a task for it, and steals the oldest task there that it can run.

    A task is released when the last task that it waited for ends. Of the hosts that can run it, with `locality` only
    those whose memory holds most bytes of its data are candidates. If the host on which that last task ended is a
    candidate, it gets the task. Otherwise the candidate with the shortest queue gets it. A task that waits for no other
    begins in the queue of the first candidate.

    Typical use: the yardstick of runtime systems that know no run times.
    Limits: run times play no part. So a core may steal a task that a GPU would do much faster, and the whole graph may
        then wait for that task. Results depend on the seed.
    Guarantee: no host idles while there is a ready task that it can run. There is no guarantee on the makespan, since
        hosts differ.
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
        #: Id of the job of each task that has ended -> how many had ended before, and on which host it ended.
        self._ended: dict[str, tuple[int, Resource]] = {}
        self._steals = 0

    def on_task_end(self, run: Run, *, succeeded: bool) -> None:
        self._ended[run.task.job.id] = len(self._ended), run.resource

    def on_ready(self, ledger: Ledger, task: Task) -> None:
        able = [one for one in self.node.resources if one.kind in task.runtimes]
        if self.options.locality:
            near = {one.memory: self.copies.valid_bytes(task.data.items(), one.memory) for one in able}
            most = max(near.values())
            able = [one for one in able if near[one.memory] == most]
        awaited = [full_id(task.job, one.job) for one in task.job.request.dependencies]
        released_by = max((self._ended[name] for name in awaited if name in self._ended), default=None)
        if released_by is None:
            chosen = able[0]
        elif released_by[1] in able:
            chosen = released_by[1]
        else:
            chosen = min(able, key=lambda one: len(self._queues[one.host]))
        self._queues[chosen.host].append(task)

    def assign(self, ledger: Ledger) -> None:
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
