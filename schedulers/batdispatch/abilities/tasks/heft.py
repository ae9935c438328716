"""HEFT: heterogeneous earliest finish time, on graphs of tasks."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from batdispatch.abilities.tasks.heft_plan import Graph, Step, mean_costs, plan, upward_ranks
from batdispatch.abilities.tasks.task_dispatcher import Run, TaskDispatcher, TaskOptions
from batdispatch.abilities.tasks.tasks import Resource, Task, task_of
from batdispatch.core.line.events import Event, MachinesAvailable, MachinesUnavailable
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options


class HeftOptions(TaskOptions, frozen=True, kw_only=True):
    """Options of HEFT.

    hold: Plan the copies of a task on its host, one after another before it computes, as they are executed here.
        `false`, as published: plan them beside all computation.
    """

    hold: bool = False


class Heft(TaskDispatcher):
    """Plans the whole graph of tasks by upward rank and earliest finish, and keeps to the plan.

    The plan holds every task that has been submitted and not begun, including tasks that wait for others. Each host
    runs its tasks in the planned order, each as soon as its data and predecessors allow. The plan is made anew when
    further tasks come, when a task fails, and when hosts come or go.

    Typical use: the usual yardstick for graphs of tasks on unequal processors.
    Limits: the plan knows only tasks that have been submitted, and is not made anew when tasks take longer than
        planned.
    Guarantee: none.
    Time: `O((n + e) p + n^2)` for a plan of n tasks with e dependencies on p hosts. Each decision in between is linear
        in the waiting tasks.
    Deviations:
        - In [1] data leave as soon as they are made, beside all computation, and so they do in the plan. Execution
          copies them when the host is free for the task. So starts drift from the plan, whose order is kept. With
          `hold` the plan counts copies as execution does.
        - Data that no task of the plan makes come from the memory that holds them, the main one at the start. The paper
          has no such data.
        - Copies that an earlier task has brought to a memory are not foreseen, as in [1].
    References:
        [1] Topcuoglu, Hariri, Wu: "Performance-effective and low-complexity task scheduling for heterogeneous
            computing", IEEE TPDS 13(3), 2002, pp. 260-274, section 4. doi:10.1109/71.993206
    """

    options_type: ClassVar[type[Options]] = HeftOptions

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        #: Planned tasks that have not begun, by host id, the next one last.
        self._order: dict[int, list[str]] = {}
        self._planned: set[str] = set()
        #: Blocked jobs that were looked at -> the task, or None if it is none.
        self._blocked: dict[str, Task | None] = {}
        self._stale = False
        self._plans = 0

    def on_ready(self, ledger: Ledger, task: Task) -> None:
        if task.job.id not in self._planned:
            self._stale = True

    def on_event(self, ledger: Ledger, event: Event) -> None:
        if isinstance(event, MachinesAvailable | MachinesUnavailable):
            self._stale = True

    def on_task_end(self, run: Run, *, succeeded: bool) -> None:
        if not succeeded:
            # What depends on it will never be ready.
            self._stale = True

    def assign(self, ledger: Ledger) -> None:
        if self._stale or any(name not in self._blocked for name in ledger.blocked):
            self._plan(ledger)
        for resource in self.idle(ledger):
            order = self._order.get(resource.host)
            if order and order[-1] in self.ready:
                self.launch(ledger, self.ready[order.pop()], resource)

    def _plan(self, ledger: Ledger) -> None:
        """Plan all tasks that have not begun and need nothing but others that are planned or run."""
        self._stale = False
        self._plans += 1
        resources = [one for one in self.node.resources if one.host in self.runs or self.may_serve(ledger, one)]
        position = {resource.host: index for index, resource in enumerate(resources)}
        running = list(self.runs.values())
        waiting = self._in_order(ledger, {resource.kind for resource in resources})
        self._order = {resource.host: [] for resource in resources}
        self._planned = {task.job.id for task in waiting}
        graph = self._graph(ledger, [*(run.task for run in running), *waiting], len(running), resources)
        memories = [resource.memory for resource in resources]
        free_from, begun = [ledger.now] * len(resources), []
        for run in running:
            index = position[run.resource.host]
            free_from[index] = max(run.expected, ledger.now)
            begun.append(Step(index, ledger.now, free_from[index]))
        ranks = upward_ranks(graph, *mean_costs(memories, self.node.seconds))
        steps = plan(
            graph, memories, ranks, free_from, self.node.seconds, now=ledger.now, begun=begun, hold=self.options.hold
        )[len(begun) :]
        for index in sorted(range(len(waiting)), key=lambda index: (steps[index].start, index), reverse=True):
            self._order[resources[steps[index].resource].host].append(waiting[index].job.id)

    def _in_order(self, ledger: Ledger, kinds: set[str]) -> list[Task]:
        """Return the tasks to plan, each after those that it waits for."""
        for name, job in ledger.blocked.items():
            if name not in self._blocked:
                self._blocked[name] = task_of(job)
        found = {name: task for name, task in self.ready.items() if not kinds.isdisjoint(task.runtimes)}
        running = {run.task.job.id for run in self.runs.values()}
        lacks: dict[str, int] = {}
        waits: dict[str, list[str]] = {}
        for name, job in ledger.blocked.items():
            task = self._blocked[name]
            if task is None or kinds.isdisjoint(task.runtimes):
                continue
            unmet = [other for other in ledger.roll.waits_for(job) if other not in running]
            lacks[name] = len(unmet)
            for other in unmet:
                waits.setdefault(other, []).append(name)
        met = [*found, *(name for name, count in lacks.items() if not count)]
        for name in met:
            task = self._blocked.get(name)
            if task is not None:
                found[name] = task
            for other in waits.get(name, ()):
                lacks[other] -= 1
                if not lacks[other]:
                    met.append(other)
        return list(found.values())

    def _graph(self, ledger: Ledger, tasks: list[Task], begun: int, resources: list[Resource]) -> Graph:
        """Return the graph of tasks, of which the first `begun` run."""
        number = {task.job.id: index for index, task in enumerate(tasks)}
        memories = range(len(self.node.memories))
        times, edges, entry = [], [], []
        for index, task in enumerate(tasks):
            times.append([task.runtimes.get(resource.kind, math.inf) for resource in resources])
            before: dict[int, int] = {}
            made: set[str] = set()
            if index >= begun:
                unmet = sorted(
                    {number[name] for name in ledger.roll.waits_for(task.job) if name in number}, reverse=True
                )
                for other in unmet:
                    # Of several that write a datum, the last one hands it on.
                    own = [name for name in task.reads if name in tasks[other].writes and name not in made]
                    made.update(own)
                    before[other] = sum(task.reads[name] for name in own)
            edges.append(before)
            entry.append([self.copies.seconds(self.copies.missing(task, memory, made)) for memory in memories])
        return Graph(times, edges, entry)

    def report(self) -> dict[str, Any]:
        return {**super().report(), "plans": self._plans}
