"""DADA(alpha): data affinity first, then a dual approximation on CPUs and GPUs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, ClassVar, Literal

import msgspec

from batdispatch.abilities.tasks.copies import Copies
from batdispatch.abilities.tasks.dual import Batch, Pair, search
from batdispatch.abilities.tasks.task_dispatcher import TaskDispatcher, TaskOptions
from batdispatch.abilities.tasks.tasks import CPU, Resource, Task
from batdispatch.core.errors import InputError
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options

#: Affinity of a memory with a task, 0 or more, from the task, the memory's position and what is where.
Affinity = Callable[[Task, int, Copies], float]


def valid_bytes(task: Task, memory: int, copies: Copies) -> float:
    """Return how many bytes of all of a task's data the memory holds."""
    return copies.valid_bytes(task.data.items(), memory)


def written_bytes(task: Task, memory: int, copies: Copies) -> float:
    """Return how many bytes of the data that a task changes the memory holds."""
    return copies.valid_bytes(task.writes.items(), memory)


#: Value of the option `affinity` -> what computes it.
AFFINITIES: dict[str, Affinity] = {"valid-bytes": valid_bytes, "written-bytes": written_bytes}


class DadaOptions(TaskOptions, frozen=True, kw_only=True):
    """Options of DADA.

    alpha: Fill a host with tasks for their data alone up to this share of the guessed makespan, before load counts. 0:
        data do not count, which is the plain dual approximation.
    communication: Add the expected time to copy a task's missing data to its time on each host. `true` is the variant
        called CP.
    affinity: Draw a task to a host by how many bytes of its data the host's memory holds, either of all its data
        (`valid-bytes`) or of those that it changes (`written-bytes`).
    batch: Place these tasks together. `waiting`: all that have not begun, anew whenever a host is idle. `fresh`: those
        that have just become ready, for good.
    precision: End the search for the makespan when its bounds are this close, relative to the upper one.
    """

    alpha: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.5
    communication: bool = False
    affinity: Literal["valid-bytes", "written-bytes"] = "valid-bytes"
    batch: Literal["waiting", "fresh"] = "waiting"
    precision: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.01


class Dada(TaskDispatcher):
    """Places the ready tasks of a data-flow program where their data are, as far as the makespan allows.

    The tasks that are ready are independent, so they are a batch for the dual approximation of
    `batdispatch.abilities.tasks.dual`: for a guess of the makespan, each host first takes tasks by the bytes of
    their data that its memory holds, up to alpha times the guess; the rest goes to GPUs by gain and to the least loaded
    hosts. Bisection finds a small guess that works. Each idle host then runs the task that became ready first among
    those placed on it.

    Typical use: tile algorithms and other graphs of tasks on nodes with GPUs.
    Limits: it knows nothing of the graph behind the ready tasks, so it may put off a task on the critical path. There
        may be one class of hosts beside `cpu`.
    Guarantee: `Cmax <= (2 + alpha) / (1 - precision) OPT` for a batch on idle hosts, copies not counted. There is no
        guarantee on the makespan of a graph of tasks.
    Time: `O(log(n / precision) n (m + k))` for a batch of n tasks on m cores and k GPUs, beside sorting `O(n (m + k))`
        pairs.
    Deviations:
        - The slides describe one batch on idle hosts. Here what a busy host still has to do counts as its load, and for
          GPUs also as work given to them.
        - With `batch=waiting`, tasks that no host has begun are placed anew with the next batch. The slides leave this
          open.
        - A host takes the tasks placed on it in the order in which they became ready. The slides leave this open too.
        - With `communication`, times differ within a class. The least loaded host is then the one whose load becomes
          least.
        - The runtime system of the paper overlaps copies with computation. Here a host first gets its data and then
          computes.
        - Acceptance is not monotone: a guess below the least makespan may be accepted although a larger one is
          rejected. The guarantee does not depend on this.
    References:
        [1] Bleuse, Gautier, Lima, Mounié, Trystram: "Scheduling data flow program in XKaapi: a new affinity based
            algorithm for heterogeneous architectures", Euro-Par 2014, LNCS 8632, pp. 560-571.
        [2] Bleuse: "Apprehending heterogeneity at (very) large scale", slides of the thesis defence, 2017, section 2.
    """

    options_type: ClassVar[type[Options]] = DadaOptions

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self.affinity: Affinity = AFFINITIES[self.options.affinity]
        others = sorted({resource.kind for resource in self.node.resources} - {CPU})
        if len(others) > 1:
            raise InputError(
                f"dispatcher dada: hosts of the classes {', '.join(others)}, expected {CPU} and at most one other"
            )
        #: Tasks placed on each host that have not begun, by host id, in the order in which they became ready.
        self._placed: dict[int, list[str]] = {resource.host: [] for resource in self.node.resources}
        self._fresh: list[str] = []

    def on_ready(self, ledger: Ledger, task: Task) -> None:
        self._fresh.append(task.job.id)

    def assign(self, ledger: Ledger) -> None:
        idle = self.idle(ledger)
        if (idle and self.ready) or (self._fresh and self.options.batch == "fresh"):
            self._place(ledger)
        for resource in idle:
            queue = self._placed[resource.host]
            if queue:
                self.launch(ledger, self.ready[queue.pop(0)], resource)

    def _place(self, ledger: Ledger) -> None:
        """Place the batch."""
        resources = [resource for resource in self.node.resources if self._serves(ledger, resource)]
        kept = {resource.host for resource in resources} if self.options.batch == "fresh" else set()
        batch = [*self._fresh]
        for host, queue in self._placed.items():
            if host not in kept:
                batch += queue
                queue.clear()
        self._fresh = []
        position = {name: index for index, name in enumerate(self.ready)}
        tasks = [self.ready[name] for name in sorted(batch, key=position.__getitem__)]
        runnable = [task for task in tasks if any(resource.kind in task.runtimes for resource in resources)]
        # The others wait for hosts that are away.
        self._fresh += [task.job.id for task in tasks if task not in runnable]
        if not runnable:
            return
        found = search(self._batch(ledger, runnable, resources), self.options.alpha, self.options.precision)
        for task, index in zip(runnable, found.placement, strict=True):
            self._placed[resources[index].host].append(task.job.id)

    def _serves(self, ledger: Ledger, resource: Resource) -> bool:
        """Return whether a host computes a task, or may be given one."""
        return resource.host in self.runs or self.may_serve(ledger, resource)

    def _batch(self, ledger: Ledger, tasks: list[Task], resources: list[Resource]) -> Batch:
        """Return tasks and resources as a batch."""
        times, pairs = [], []
        memories = sorted({resource.memory for resource in resources})
        for index, task in enumerate(tasks):
            if self.options.communication:
                copies = self.copies.seconds_to(task)
                times.append([task.runtimes.get(one.kind, math.inf) + copies[one.memory] for one in resources])
            else:
                times.append([task.runtimes.get(one.kind, math.inf) for one in resources])
            if self.options.alpha > 0:
                near = {memory: self.affinity(task, memory, self.copies) for memory in memories}
                pairs += [
                    Pair(near[one.memory], index, number)
                    for number, one in enumerate(resources)
                    if near[one.memory] > 0 and one.kind in task.runtimes
                ]
        loads = []
        for one in resources:
            run = self.runs.get(one.host)
            waiting = sum(self.ready[name].runtimes[one.kind] for name in self._placed[one.host])
            loads.append((0.0 if run is None else max(run.expected - ledger.now, 0.0)) + waiting)
        return Batch(times, [one.kind != CPU for one in resources], pairs, loads)
