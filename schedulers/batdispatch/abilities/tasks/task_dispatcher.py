"""What all dispatchers of tasks have in common: a task's life on its host, its transfers, and the account of them.

A task's life
-------------

A task is a job that waits until what it depends on has succeeded, as any job does. A dispatcher of tasks then gives it
a host. What the host computes in is a memory, to which the data that it lacks have to be copied first. So a task holds
its host for the transfers, and then for its run time on the host's class.

Batsim fixes a job's profile when the job is submitted, long before its host is known. So a task is started on its host
and stopped in the same moment; a further job, whose parent it is, is registered with the profile that fits. The two are
one logical job, as the attempts of a stochastic job are: metrics, pictures and dependencies see one job. A task whose
own profile already lasts as long as it has to, such as one on a CPU core that has all its data, simply runs.

How transfers take time is an option:

- ``estimated``: the further job is a delay of transfers and run time. A transfer takes as long as it would alone, and
  the copies for one task follow one another. This needs no platform model, and works with both protocols.
- ``simulated``: the transfers of a task are a job of their own on the task's host, with an I/O job that sends the data
  from the memories' hosts. They share links with all other transfers, as SimGrid or Batsim 4 has it. Such a job has no
  parent, counts as a job in every metric, and the task's own time begins when it has ended. All its copies go at once.

Data that are on their way to a memory for one task are not sent a second time for another one there: that one waits
for them on its host.

Jobs that state no run times by class are started as `filler` does, on what tasks leave free.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from typing import Any, ClassVar, Literal

from batdispatch.abilities.tasks.beside import SparingFiller
from batdispatch.abilities.tasks.copies import Copies, Copy
from batdispatch.abilities.tasks.tasks import MAIN, Node, Resource, Task, task_of
from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation, IoJob, Place
from batdispatch.core.jobs.fields import plain_request
from batdispatch.core.jobs.job import Job, JobState, Stay
from batdispatch.core.line.concerns.registration import Registration
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.core.line.roles import Gap
from batdispatch.core.line.ticks import TICK
from batdispatch.dispatchers.backfilling.queue import QueueOptions


class TaskOptions(QueueOptions, frozen=True, kw_only=True):
    """Options of every dispatcher of tasks. Those of `filler` are for jobs that are no tasks.

    transfers: `estimated`: copies of a task's data take as long as they would alone. `simulated`: they are simulated as
        I/O jobs and share links, which needs SimGrid or Batsim 4.
    """

    transfers: Literal["estimated", "simulated"] = "estimated"


class Run:
    """A task on its host, from the moment that it is given to it."""

    __slots__ = ("awaited", "expected", "key", "name", "resource", "task")

    def __init__(self, task: Task, resource: Resource) -> None:
        self.task = task
        self.resource = resource
        #: Keys of the transfers that it waits for.
        self.awaited: set[str] = set()
        #: Id of its own transfers, empty if it has none.
        self.key = ""
        #: Id of the job that runs in its job's place; empty: none does.
        self.name = ""
        #: When it is expected to end, s.
        self.expected = 0.0


class TaskDispatcher(Dispatcher):
    """Gives tasks to hosts; a subclass says which task goes where.

    Attributes:
        node: the hosts as resources.
        copies: where the data are.
        ready: tasks that wait for nothing but a host, by id, in the order in which they became ready.
        runs: what the hosts that have a task do, by host id.
    """

    #: It keeps a plan that no job is taken out of.
    heeds_reservations: ClassVar[bool] = False
    options_type: ClassVar[type[Options]] = TaskOptions
    registers_jobs = True

    def __init__(self, options: Options | None = None, seed: int = 0) -> None:
        super().__init__(options, seed)
        given = {name: getattr(self.options, name) for name in QueueOptions.__struct_fields__}
        #: Serves the jobs that are no tasks.
        self.others = SparingFiller(QueueOptions(**given), seed)

    def begin(self, ledger: Ledger) -> None:
        self.others.begin(ledger)
        self.node = Node(ledger.machine)
        if self.options.transfers == "simulated" and self.node.carriers[0] is None:
            raise InputError(
                f"transfers=simulated: no host computes in the memory {MAIN}, so nothing can send the data that are "
                "there at the start"
            )
        self.copies = Copies(self.node)
        self.ready: dict[str, Task] = {}
        self.runs: dict[int, Run] = {}
        #: Id of each job that is a part of a run.
        self._parts: dict[str, Run] = {}
        #: Runs whose transfers have ended, in that order.
        self._supplied: list[Run] = []
        #: Hosts that jobs hold that are no tasks.
        self._held: Counter[int] = Counter()
        self._done: Counter[str] = Counter()
        self._flops = 0.0
        self._first_launch = math.inf
        self._last_end = 0.0

    # ------------------------------------------------------------------ what a subclass decides

    @abstractmethod
    def assign(self, ledger: Ledger) -> None:
        """Launch ready tasks on idle hosts."""

    def on_ready(self, ledger: Ledger, task: Task) -> None:
        """Learn of a task that waits for nothing but a host from now on."""

    def on_task_end(self, run: Run, *, succeeded: bool) -> None:
        """Learn that a host is idle again, before the tasks that waited for its task become ready."""

    # ------------------------------------------------------------------ questions

    def idle(self, ledger: Ledger) -> list[Resource]:
        """Return the resources that may be given a task now, in order of host id."""
        return [
            resource
            for resource in self.node.resources
            if resource.host not in self.runs and self.may_serve(ledger, resource)
        ]

    def may_serve(self, ledger: Ledger, resource: Resource) -> bool:
        """Return whether a resource is there, and held by no job that is no task."""
        return not self._held[resource.host] and not ledger.unavailable >> resource.host & 1

    # ------------------------------------------------------------------ events

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        if job.id in self._parts:
            # It is of a run; `decide` starts it.
            return
        task = task_of(job)
        if task is None:
            self.others.on_submit(ledger, job)
        elif not any(resource.kind in task.runtimes for resource in self.node.resources):
            ledger.reject(job, f"has no run time on a class of the machine's hosts, only on {', '.join(task.runtimes)}")
        else:
            self.ready[job.id] = task
            self.on_ready(ledger, task)

    def on_start(self, ledger: Ledger, stay: Stay) -> None:
        if stay.job.id not in self._parts:
            self._held.update(stay.allocation.ids)

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        run = self._parts.pop(stay.job.id, None)
        if run is None:
            self._held.subtract(stay.allocation.ids)
            self.others.on_end(ledger, stay)
        elif stay.job.id == run.key:
            self._arrived(stay.job.id)
        elif stay.job.id == run.task.job.id and run.name:
            # Its further job follows.
            pass
        else:
            self._end(ledger, run, stay.state)

    def _arrived(self, key: str) -> None:
        """Let the runs go on that waited for a transfer."""
        self.copies.arrive(key)
        for run in self.runs.values():
            if key in run.awaited:
                run.awaited.discard(key)
                if not run.awaited:
                    self._supplied.append(run)

    def _end(self, ledger: Ledger, run: Run, state: JobState) -> None:
        del self.runs[run.resource.host]
        succeeded = state is JobState.COMPLETED_SUCCESSFULLY
        if succeeded:
            self.copies.write(run.task, run.resource.memory)
            self._done[run.resource.kind] += 1
            self._flops += run.task.flops
            self._last_end = ledger.now
        self.on_task_end(run, succeeded=succeeded)

    # ------------------------------------------------------------------ decisions

    def decide(self, ledger: Ledger) -> None:
        if self.options.transfers == "estimated":
            self.copies.arrive_until(ledger.now + TICK)
        supplied, self._supplied = self._supplied, []
        for run in supplied:
            self._compute(ledger, run, run.task.runtimes[run.resource.kind])
        self._start_parts(ledger)
        self.assign(ledger)
        # Where registrations are not acknowledged, what was registered is in the queue at once.
        self._start_parts(ledger)
        self.others.taken = hostset.mask_of(self.runs)
        self.others.decide(ledger)

    def _start_parts(self, ledger: Ledger) -> None:
        """Start the registered jobs of runs that have entered the queue, once their tasks' own jobs are stopped."""
        for run in list(self.runs.values()):
            for name in (run.key, run.name):
                job = ledger.queue.get(name)
                if job is not None and run.task.job.id not in ledger.running:
                    self._start(ledger, run, job)

    def launch(self, ledger: Ledger, task: Task, resource: Resource) -> None:
        """Give a ready task to an idle resource of a class that it can run on."""
        del self.ready[task.job.id]
        run = self.runs[resource.host] = Run(task, resource)
        self._first_launch = min(self._first_launch, ledger.now)
        seconds = task.runtimes[resource.kind]
        awaited = self.copies.awaited(task, resource.memory)
        missing = self.copies.missing(task, resource.memory)
        arrival = ledger.now + self.copies.seconds(missing)
        if missing:
            run.key = ledger.roll.free_id(f"{task.job.id}~data")
            self.copies.begin(run.key, missing, arrival)
        arrival = max([arrival, *(self.copies.expected(key) for key in awaited)])
        run.expected = arrival + seconds
        if self.options.transfers == "estimated":
            run.key = ""
            self._compute(ledger, run, arrival - ledger.now + seconds)
            return
        run.awaited = awaited | ({run.key} if missing else set())
        if missing:
            self._register(ledger, run, run.key, {"type": "parallel", "cpu": [0.0], "com": [0.0]}, continues=False)
        elif not awaited:
            self._compute(ledger, run, seconds)

    def _compute(self, ledger: Ledger, run: Run, seconds: float) -> None:
        """Start a task's computation, or the further job's that takes its place."""
        job = run.task.job
        seconds = max(round(seconds, 6), TICK)
        self._parts[job.id] = run
        own = ledger.profiles.get(job.id.partition("!")[0], {}).get(job.profile, {})
        allocation = Allocation.of([run.resource.host])
        ledger.start(job, allocation)
        if own.get("type") != "delay" or abs(own["delay"] - seconds) > TICK / 2:
            run.name = ledger.roll.free_id(f"{job.id}~{run.resource.kind}")
            ledger.kill([job])
            self._register(ledger, run, run.name, {"type": "delay", "delay": seconds}, continues=True)

    def _register(self, ledger: Ledger, run: Run, name: str, profile: dict[str, Any], *, continues: bool) -> None:
        """Register a job of a run; it starts when it is in the queue and the host is free."""
        job = run.task.job
        self._parts[name] = run
        workload, _, short = name.partition("!")
        Registration.of(ledger).register_profile(workload, f"profile of {short}", profile)
        Registration.of(ledger).register_job(
            Job(
                id=name,
                request=plain_request(1),
                submission=ledger.now,
                walltime=job.walltime if continues else math.inf,
                profile=f"profile of {short}",
                user=job.user,
                parent=job.id if continues else "",
            )
        )

    def _start(self, ledger: Ledger, run: Run, job: Job) -> None:
        allocation = Allocation.of([run.resource.host])
        if job.id == run.key:
            ledger.start(job, Place(allocation, io_job=self._io_job(job, self.copies.under_way(run.key), run)))
        else:
            ledger.start(job, allocation)

    def _io_job(self, job: Job, copies: list[Copy], run: Run) -> IoJob:
        """Return the I/O job that sends data from the hosts of their memories to a run's host."""
        amounts: Counter[int] = Counter()
        for copy in copies:
            carrier = self.node.carriers[copy.source]
            assert carrier is not None, "data are only in memories in which a host has computed, or in the main one"
            amounts[carrier] += copy.size
        hosts = sorted({*amounts, run.resource.host})
        own = hosts.index(run.resource.host)
        traffic = [0.0] * len(hosts) ** 2
        for sender, size in amounts.items():
            traffic[hosts.index(sender) * len(hosts) + own] = float(size)
        profile = {"type": "parallel", "cpu": [0.0] * len(hosts), "com": traffic}
        return IoJob(Allocation.of(hosts), f"{job.profile}, sent", profile)

    # ------------------------------------------------------------------ the run

    def lend(self, ledger: Ledger, job: Job, gap: Gap, place: Place) -> None:
        self.others.lend(ledger, job, gap, place)

    def registration_done(self, ledger: Ledger) -> bool:
        return super().registration_done(ledger) and not self.runs

    def report(self) -> dict[str, Any]:
        span = self._last_end - self._first_launch
        return {
            **self.others.report(),
            "tasks": dict(sorted(self._done.items())),
            "bytes_moved": self.copies.moved_bytes(),
            "bytes_to_main": self.copies.moved_bytes(0),
            "transfers": self.copies.transfers,
            "task_seconds": span if span > 0 else 0.0,
            "gflops": self._flops / span / 1e9 if span > 0 else 0.0,
        }
