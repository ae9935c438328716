"""Which jobs there are, in which order they came, which of them continue others, and which wait for others.

The roll knows nothing of hosts. The ledger calls it for every job that comes or goes. It is the one place where
dependencies between jobs and the limits of arrays are enforced: a job that has to wait for others, for a moment after
they ended, or for a task of its array to end, is *blocked*, and no dispatcher sees it. It keeps every job as it was
submitted, whatever part of the machine is shown to be open to it (`core.machine.openings`).

What happens at one moment is noted first, in any order. Then `settle`, `take_hopeless` and `take_ready` say, in turn
and until they have nothing to say, which ends are final, which blocked jobs can never start, and which ones may go.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from itertools import takewhile

from batdispatch.core.jobs.fields import Array, array_of
from batdispatch.core.jobs.job import Job, JobState, full_id
from batdispatch.core.jobs.request import Dependency
from batdispatch.core.line.circles import in_circles

_SUCCESS, _KILLED = JobState.COMPLETED_SUCCESSFULLY, JobState.COMPLETED_KILLED
#: Who shares a name: Slurm's singleton lets one job of a user and a name run at a time.
_Namesakes = tuple[str, str]


class Roll:
    """The jobs of one simulation, by id.

    Attributes:
        ranks: position of each job that is not over in the order of arrival.
        registered: jobs registered by the dispatcher that the simulator has yet to acknowledge.
        ended: final state of the jobs that are over; a logical job that succeeded in the end has succeeded.
        parents: id of a job -> id of the job that it continues. Such chains have no circles.
        blocked: jobs that wait for others, or for a moment.
        withheld: jobs that wait for nobody, but that no dispatcher sees while reservations leave no host to them.
        no_more: True when no job will come any more but by registration.
        may_grow: whether a job that has ended may still be continued by one that is registered later.
        limits: walltime that the simulator enforces, s, of each job that is not over and whose walltime was amended.
        to_kill: jobs that were to be killed; the answer may come after their end.
        stopped: whether the simulation is to end whatever waits.
    """

    def __init__(self) -> None:
        self.ranks: dict[str, int] = {}
        self.registered: dict[str, Job] = {}
        self.ended: dict[str, JobState] = {}
        self.parents: dict[str, str] = {}
        self.blocked: dict[str, Job] = {}
        self.withheld: dict[str, Job] = {}
        self.no_more = False
        self.may_grow = self.stopped = False
        self.limits: dict[str, float] = {}
        self.to_kill: set[str] = set()
        self._arrived = 0
        #: Jobs that continue another one and were not registered by the dispatcher.
        self._announced: set[str] = set()
        #: Id of a job -> blocked jobs that wait for it.
        self._waiters: dict[str, list[str]] = {}
        #: Blocked jobs that have nothing to wait for any more, by id.
        self._met: dict[str, Job] = {}
        #: Jobs that a registered one continues.
        self._continued: set[str] = set()
        #: Whether a blocked job may have lost what it waits for since `take_hopeless` looked.
        self._doubt = False
        #: When jobs started, and when they or the last segment of their logical job ended, s.
        self._starts: dict[str, float] = {}
        self._ends: dict[str, float] = {}
        #: First segment of a logical job -> how many later ones were registered or came, and are not over.
        self._segments: Counter[str] = Counter()
        #: First segment of a logical job that may be over or go on, as is yet to be decided -> what ended of it.
        self.unsettled: dict[str, list[str]] = {}
        #: Jobs that ended by a decision to kill them, while the dispatcher has not heard the answer to it.
        self._unanswered: set[str] = set()
        #: (moment in s, rank, id) of the blocked jobs that only wait for a moment.
        self._due: list[tuple[float, int, str]] = []
        self._arrays: dict[tuple[str, str], _Tasks] = {}
        #: The arrays of which a task may be let go since `take_ready` looked.
        self._moved: dict[_Tasks, None] = {}
        #: Id of a task whose array has a limit, until it is over -> the tasks of that array.
        self._tasks: dict[str, _Tasks] = {}
        #: Those that are not over, in order of arrival.
        self._named: dict[_Namesakes, dict[str, None]] = {}
        #: Id of a job -> under which names it stands there.
        self._names: dict[str, _Namesakes] = {}

    # ------------------------------------------------------------------ who comes and goes

    def register(self, job: Job) -> None:
        """Note a job that the dispatcher registers and the simulator has yet to acknowledge."""
        self.registered[job.id] = job
        if job.parent:
            parent = full_id(job, job.parent)
            self._continued.add(parent)
            self._segments[self.root(parent)] += 1

    def enter(self, job: Job, now: float = 0.0) -> bool:
        """Take a job up at `now`, in seconds, and return whether it has to wait for others or for a moment.

        Time: linear in what it depends on.
        """
        self.ranks[job.id] = self._arrived
        self._arrived += 1
        parent = full_id(job, job.parent) if job.parent else ""
        if parent and self.knows(parent):
            # What is continued came before.
            self.parents[job.id] = parent
            if job.id not in self.registered:
                self._announced.add(job.id)
                self._segments[self.root(parent)] += 1
        self.registered.pop(job.id, None)
        extra = job.extra
        if extra and not parent:
            if "name" in extra:
                names = self._names[job.id] = (job.user, str(extra["name"]))
                self._named.setdefault(names, {})[job.id] = None
            if "array" in extra and (array := array_of(job)) is not None and array.limit:
                return self._enter_task(job, array, now)
        if not (job.parent or job.request.dependencies):
            return False
        return not self._is_met(job, now)

    def _enter_task(self, job: Job, array: Array, now: float) -> bool:
        """Take up a task of an array whose running tasks are limited; `take_ready` lets it go when it is its turn."""
        key = (job.id.partition("!")[0], array.id)
        tasks = self._tasks[job.id] = self._arrays.setdefault(key, _Tasks())
        tasks.limits[job.id] = array.limit
        if self._is_met(job, now):
            self.blocked[job.id] = job
            self._release(job)
        return True

    def _is_met(self, job: Job, now: float) -> bool:
        """Return whether a job that came has nothing and no moment to wait for; otherwise it is blocked."""
        unmet, due = self._outlook(job)
        if not unmet and due <= now:
            return True
        self.blocked[job.id] = job
        if unmet:
            for name in dict.fromkeys(unmet):
                self._waiters.setdefault(name, []).append(job.id)
            self._doubt = True
        else:
            heapq.heappush(self._due, (due, self.ranks[job.id], job.id))
        return False

    def _release(self, job: Job) -> None:
        """Note that a blocked job waits for nothing any more but, in an array with a limit, for its turn."""
        tasks = self._tasks.get(job.id)
        if tasks is None:
            self._met[job.id] = job
        else:
            tasks.line_up(job.id, self.ranks[job.id])
            self._moved[tasks] = None

    def begin(self, job_id: str, now: float) -> None:
        """Note that a job starts at `now`, in seconds."""
        self._starts[job_id] = now
        if self.blocked:
            self._recheck((job_id,))

    def end(self, job_id: str, state: JobState, now: float = -math.inf) -> None:
        """Note how a job ended at `now`, in seconds.

        The success of a further attempt, or of a rest, is the logical job's.

        Time: linear in what the jobs depend on that wait for it.
        """
        del self.ranks[job_id]
        self.limits.pop(job_id, None)
        self.ended[job_id] = state
        self._ends[job_id] = now
        over = [job_id]
        root = job_id
        # That another one of its chain went on may have been the hope of one that waits.
        self._doubt |= bool(self._announced)
        if job_id in self.parents:
            root = self.root(job_id)
            self._segments[root] -= 1
            self._ends[root] = now
            over.append(root)
        if state is not _SUCCESS:
            # If a registered job continues it, how that one ends decides.
            self._doubt |= job_id not in self._continued
        elif root is not job_id:
            self.ended[root] = state
        if self.may_grow:
            self.unsettled.setdefault(root, [root]).append(job_id)
            if state is _KILLED:
                self._unanswered.add(job_id)
        elif self._tasks or self._names:
            self._gone(root)
        if self.blocked:
            self._recheck(over)

    def answer_kill(self, job_ids: Iterable[str]) -> None:
        """Note that the dispatcher hears the answer to its decision to kill some jobs."""
        self._unanswered.difference_update(job_ids)

    def settle(self, *, decided: bool = True) -> None:
        """Note that nobody goes on with the jobs that ended before now, but by what was registered by now.

        Args:
            decided: whether the dispatcher has decided about what it heard of. How killed jobs go on is left open until
                it has decided after the answer to the kill, unless nothing more can be registered.
        """
        ended = {root: names for root, names in self.unsettled.items() if not self._is_open(names, decided)}
        for root in ended:
            del self.unsettled[root]
            self._gone(root)
        names = [name for names in ended.values() for name in names]
        self._doubt |= any(self.ended.get(name) is not _SUCCESS and name not in self._continued for name in names)
        if self.blocked:
            self._recheck(names)

    def _is_open(self, names: list[str], decided: bool) -> bool:
        """Return whether the dispatcher may still continue one of some jobs of a logical job that ended."""
        if not decided:
            return self._was_killed(names)
        return self.may_grow and any(name in self._unanswered and name not in self._continued for name in names)

    def _was_killed(self, names: list[str]) -> bool:
        return any(self.ended.get(name) is _KILLED for name in names)

    def _gone(self, root: str) -> None:
        """Make room for others in the array and among the namesakes of a logical job, if it is over."""
        if not self._is_gone(root):
            return
        names = self._names.pop(root, None)
        if names is not None:
            alike = self._named[names]
            del alike[root]
            if not alike:
                del self._named[names]
        tasks = self._tasks.pop(root, None)
        if tasks is None or root not in tasks.open:
            return
        del tasks.open[root]
        self._moved[tasks] = None

    def _recheck(self, names: Iterable[str]) -> None:
        """Look at the blocked jobs that wait for some others."""
        for waiter in [waiter for name in names for waiter in self._waiters.get(name, ())]:
            job = self.blocked.get(waiter)
            if job is None or waiter in self._met:
                continue
            unmet, due = self._outlook(job)
            if unmet:
                # What it waits for may have ended in another way than it had to.
                self._doubt |= any(one.kind == "afternotok" for one in job.request.dependencies)
            elif due > -math.inf:
                heapq.heappush(self._due, (due, self.ranks[waiter], waiter))
            else:
                self._release(job)

    def close(self) -> None:
        """Note that no job will come any more but by registration."""
        self.no_more = self._doubt = True

    def withhold(self, job: Job) -> None:
        """Keep a job back that waits for nobody, as it was submitted; `show` lets it go."""
        self.withheld[job.id] = job

    def show(self, job_id: str) -> None:
        """Let a job go that was kept back by `withhold`."""
        self.withheld.pop(job_id, None)

    # ------------------------------------------------------------------ questions

    def knows(self, job_id: str) -> bool:
        """Return whether a job came, was registered, or is over."""
        return job_id in self.ranks or job_id in self.ended or job_id in self.registered

    def has_begun(self, job_id: str) -> bool:
        """Return whether a job has begun to run, to the simulator as well."""
        return job_id in self._starts

    def enforced(self, job: Job) -> float:
        """Return the walltime of a job that the simulator enforces, whatever it was amended to, in s, or infinity."""
        return self.limits.get(job.id, job.walltime)

    def sort(self, queue: dict[str, Job]) -> None:
        """Put waiting jobs into the order of arrival."""
        waiting = sorted(queue.items(), key=lambda item: self.ranks[item[0]])
        queue.clear()
        queue.update(waiting)

    def free_id(self, name: str) -> str:
        """Return an id that no job has: a name, longer if a job of the workload happens to have it."""
        while self.knows(name):
            name += "~"
        return name

    def continues_nobody(self, job: Job) -> bool:
        """Return whether a job names a parent that nobody knows."""
        return bool(job.parent) and not self.knows(full_id(job, job.parent))

    def root(self, job_id: str) -> str:
        """Return the id of the logical job that a job belongs to: the first one of the chain of parents."""
        while job_id in self.parents:
            job_id = self.parents[job_id]
        return job_id

    def waits_for(self, job: Job) -> list[str]:
        """Return the jobs that a job waits for: those that it depends on, and the one that it continues.

        A task of an array that waits for nothing else waits for the tasks that are ahead of it. What a dispatcher
        registers to continue a job is its own affair, and waits for nothing. A job that waits for a moment only waits
        for no job.
        """
        unmet, _ = self._outlook(job)
        if unmet:
            return unmet
        tasks = self._tasks.get(job.id)
        return [] if tasks is None or job.id in tasks.open or job.id not in self.blocked else list(tasks.open)

    def _outlook(self, job: Job) -> tuple[list[str], float]:
        """Return the jobs that a job waits for, and the moment in s from which on those met let it go."""
        unmet: list[str] = []
        due = -math.inf
        for one in job.request.dependencies:
            if one.kind == "singleton":
                unmet += self._ahead(job)
                continue
            name = full_id(job, one.job)
            since = self._met_since(one, name)
            if since is None:
                unmet.append(name)
            elif one.delay:
                due = max(due, since + one.delay)
        parent = self.parents[job.id] if job.id in self._announced else ""
        return ([*unmet, parent] if parent in self.ranks else unmet), due

    def _met_since(self, one: Dependency, name: str) -> float | None:
        """Return since when a dependency is met, in seconds; None: it is not."""
        if one.kind == "afterok":
            return self._ends[name] if self.ended.get(name) is _SUCCESS else None
        if one.kind == "after" and name in self._starts:
            return self._starts[name]
        if not self._is_gone(name) or (one.kind == "afternotok" and self._succeeded(name)):
            return None
        return self._ends[name]

    def _succeeded(self, name: str) -> bool:
        return self.ended.get(name) is _SUCCESS or self.ended.get(self.root(name)) is _SUCCESS

    def _is_gone(self, job_id: str) -> bool:
        """Return whether a logical job is over, however it ended."""
        if job_id not in self.ended:
            return False
        root = self.root(job_id)
        return not self._segments[root] and root not in self.unsettled

    def _ahead(self, job: Job) -> list[str]:
        """Return the jobs of the same user and name that came before and are not over."""
        alike = self._named.get(self._names.get(job.id, ("", "")), {})
        return list(takewhile(lambda name: name != job.id, alike))

    # ------------------------------------------------------------------ who no longer waits

    @property
    def due(self) -> float:
        """The first moment at which a blocked job may go that waits for nothing else, in seconds; or infinity."""
        while self._due and self._due[0][2] not in self.blocked:
            heapq.heappop(self._due)
        return self._due[0][0] if self._due else math.inf

    def take_ready(self, now: float = -math.inf) -> list[Job]:
        """Take out and return the blocked jobs that have nothing to wait for any more at `now`, in order of arrival.

        Tasks of arrays take their turns only when nobody else goes: others that go may let an earlier task go.
        """
        while self.due <= now:
            job = self.blocked[heapq.heappop(self._due)[2]]
            later = self._outlook(job)[1]
            if later > now:
                # What it waits for started later than it was decided.
                heapq.heappush(self._due, (later, self.ranks[job.id], job.id))
            else:
                self._release(job)
        if not self._met:
            self._take_turns()
        ready = sorted(self._met.values(), key=lambda job: self.ranks[job.id])
        for job in ready:
            del self.blocked[job.id]
        self._met.clear()
        return ready

    def _take_turns(self) -> None:
        """Let tasks of arrays go where fewer are open than may run."""
        for tasks in self._moved:
            self._met.update((job_id, self.blocked[job_id]) for job_id in tasks.take_turns(self.blocked))
        self._moved.clear()

    def take_hopeless(self) -> Iterator[tuple[Job, str]]:
        """Take out and yield (job, why) of the blocked jobs that can never start; each must then be ended.

        Those that wait for what ended badly come before those that wait for them.

        Time: linear in the blocked jobs and what they wait for, times the longest chain of them, if a job failed that
        no other one continues, or began to wait, since the last call, or if jobs come that continue others without
        having been registered; else constant.
        """
        while self._doubt and self.blocked:
            hopeful = self._hopeful()
            hopeless = {job.id: job for job in self.blocked.values() if job.id not in hopeful}
            caused = [(job, why) for job in hopeless.values() if (why := self._cause(job))]
            # Without a cause they wait for each other.
            found = caused or self._circle(hopeless)
            # Others may have waited for these.
            self._doubt = bool(found)
            for job, why in found:
                # The end of one may be all that the next one waited for, if it continues it.
                if job.id not in self._met:
                    del self.blocked[job.id]
                    yield job, why

    def _hopeful(self) -> set[str]:
        """Return the blocked jobs that may start in time, if all goes as they need it."""
        going_on = {self.root(name) for name in self.ranks if name not in self.blocked}
        going_on.update(self.unsettled)
        for name, job in self.registered.items():
            # What is yet to be acknowledged may continue a job that was killed.
            going_on.add(self.root(full_id(job, job.parent)) if job.parent else name)
        waits_for = {name: self.waits_for(job) for name, job in self.blocked.items()}
        hopeful: set[str] = set()
        found = True
        while found:
            found = False
            for job_id, names in waits_for.items():
                if job_id not in hopeful and all(
                    self.root(name) in going_on or name in hopeful or (not self.no_more and not self.knows(name))
                    for name in names
                ):
                    hopeful.add(job_id)
                    going_on.add(self.root(job_id))
                    found = True
        return hopeful

    def _cause(self, job: Job) -> str:
        """Return what ended, or never came, so that a job without hope cannot start; empty: nothing did."""
        for one in job.request.dependencies:
            name = full_id(job, one.job)
            if one.kind == "singleton" or self._met_since(one, name) is not None:
                continue
            if one.kind == "afterok" and self._is_gone(name):
                return f"depends on job {name}, which ended {self.ended[name].value}"
            if one.kind == "afternotok" and self._succeeded(name):
                return f"depends on the failure of job {name}, which succeeded"
            if self.no_more and not self.knows(name):
                return f"depends on job {name}, which was never submitted"
        return ""

    def _circle(self, hopeless: dict[str, Job]) -> list[tuple[Job, str]]:
        """Return the first job of those that wait for each other in a circle, with the reason; none: there is none."""
        segments: dict[str, list[str]] = {}
        for name in hopeless:
            segments.setdefault(self.root(name), []).append(name)

        def hindering(awaited: str) -> list[str]:
            # A job that is over may go on with a segment that waits itself.
            return [awaited] if awaited in hopeless else segments.get(self.root(awaited), [])

        waits_for = {
            name: [other for awaited in self.waits_for(job) for other in hindering(awaited)]
            for name, job in hopeless.items()
        }
        circles = in_circles(waits_for)
        if not circles:
            return []
        first = min(circles, key=self.ranks.__getitem__)
        awaited = next(name for name in waits_for[first] if circles.get(name) == circles[first])
        return [(hopeless[first], f"depends on job {awaited}, which depends on it in turn")]


class _Tasks:
    """Tasks of an array of which only so many may run at a time.

    Attributes:
        limits: how many may run beside a task, that one included, by its id.
        open: the tasks that a dispatcher sees or that run, by the ids under which they came.
        waiting: (rank, id) of those that wait for nothing but for one of these to end.
        lined_up: those that are or were among these.
    """

    def __init__(self) -> None:
        self.limits: dict[str, int] = {}
        self.open: dict[str, None] = {}
        self.waiting: list[tuple[int, str]] = []
        self.lined_up: set[str] = set()

    def line_up(self, job_id: str, rank: int) -> None:
        """Let a task wait for its turn, unless it does already."""
        if job_id not in self.lined_up:
            self.lined_up.add(job_id)
            heapq.heappush(self.waiting, (rank, job_id))

    def take_turns(self, blocked: Container[str]) -> Iterator[str]:
        """Yield the blocked tasks that may go, in order of arrival, as long as fewer are open than may run."""
        while self.waiting and len(self.open) < self.limits[self.waiting[0][1]]:
            _, job_id = heapq.heappop(self.waiting)
            if job_id in blocked:
                self.open[job_id] = None
                yield job_id
