"""Which jobs there are, in which order they came, which of them continue others, and which wait for others.

The roll knows nothing of hosts. The ledger calls it for every job that comes or goes.
"""

from __future__ import annotations

from collections.abc import Iterator

from batdispatch.core.job import Job, JobState


class Roll:
    """The jobs of one simulation, by id.

    Attributes:
        ranks: position of each job that is not over in the order of arrival.
        registered: jobs registered by the dispatcher that the simulator has yet to acknowledge.
        ended: final state of the jobs that are over; a logical job that succeeded in the end has succeeded.
        parents: id of a job -> id of the job that it continues. Such chains have no circles.
        blocked: jobs that wait for others.
        no_more: True when no job will come any more but by registration.
    """

    def __init__(self) -> None:
        self.ranks: dict[str, int] = {}
        self.registered: dict[str, Job] = {}
        self.ended: dict[str, JobState] = {}
        self.parents: dict[str, str] = {}
        self.blocked: dict[str, Job] = {}
        self.no_more = False
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

    # ------------------------------------------------------------------ who comes and goes

    def register(self, job: Job) -> None:
        """Note a job that the dispatcher registers and the simulator has yet to acknowledge."""
        self.registered[job.id] = job
        if job.parent:
            self._continued.add(_full(job, job.parent))

    def enter(self, job: Job) -> bool:
        """Take a job up, and return whether it has to wait for others.

        Time: linear in what it depends on.
        """
        self.ranks[job.id] = self._arrived
        self._arrived += 1
        parent = _full(job, job.parent) if job.parent else ""
        if parent and self.knows(parent):
            # What is continued came before.
            self.parents[job.id] = parent
            if job.id not in self.registered:
                self._announced.add(job.id)
        self.registered.pop(job.id, None)
        if not (job.parent or job.request.dependencies):
            return False
        waits_for = self.waits_for(job)
        if not waits_for:
            return False
        self.blocked[job.id] = job
        for name in dict.fromkeys(waits_for):
            self._waiters.setdefault(name, []).append(job.id)
        self._doubt = True
        return True

    def end(self, job_id: str, state: JobState) -> None:
        """Note how a job ended. The success of a further attempt, or of a rest, is the logical job's.

        Time: linear in what the jobs depend on that wait for it.
        """
        del self.ranks[job_id]
        self.ended[job_id] = state
        over = [job_id]
        # That another one of its chain went on may have been the hope of one that waits.
        self._doubt |= bool(self._announced)
        if state is not JobState.COMPLETED_SUCCESSFULLY:
            # If a registered job continues it, how that one ends decides.
            self._doubt |= job_id not in self._continued
        elif job_id in self.parents:
            root = self.root(job_id)
            self.ended[root] = state
            over.append(root)
        for waiter in (waiter for name in over for waiter in self._waiters.get(name, ())):
            job = self.blocked.get(waiter)
            if job is not None and not self.waits_for(job):
                self._met[waiter] = job

    def close(self) -> None:
        """Note that no job will come any more but by registration."""
        self.no_more = self._doubt = True

    # ------------------------------------------------------------------ questions

    def knows(self, job_id: str) -> bool:
        """Return whether a job came, was registered, or is over."""
        return job_id in self.ranks or job_id in self.ended or job_id in self.registered

    def continues_nobody(self, job: Job) -> bool:
        """Return whether a job names a parent that nobody knows."""
        return bool(job.parent) and not self.knows(_full(job, job.parent))

    def root(self, job_id: str) -> str:
        """Return the id of the logical job that a job belongs to: the first one of the chain of parents."""
        while job_id in self.parents:
            job_id = self.parents[job_id]
        return job_id

    def waits_for(self, job: Job) -> list[str]:
        """Return the jobs that a job waits for: those that it depends on, and the one that it continues.

        What a dispatcher registers to continue a job is its own affair, and waits for nothing.
        """
        names = [_full(job, name) for name in job.request.dependencies]
        unmet = [name for name in names if self.ended.get(name) is not JobState.COMPLETED_SUCCESSFULLY]
        parent = self.parents[job.id] if job.id in self._announced else ""
        return [*unmet, parent] if parent in self.ranks else unmet

    # ------------------------------------------------------------------ who no longer waits

    def take_ready(self) -> list[Job]:
        """Take out and return the blocked jobs that have nothing to wait for any more, in order of arrival."""
        ready = sorted(self._met.values(), key=lambda job: self.ranks[job.id])
        for job in ready:
            del self.blocked[job.id]
        self._met.clear()
        return ready

    def take_hopeless(self) -> Iterator[tuple[Job, str]]:
        """Take out and yield (job, why) of the blocked jobs that can never start; each must then be ended.

        Those that wait for what ended badly come before those that wait for them.

        Time: linear in the blocked jobs and what they wait for, times the longest chain of them, if a job failed that
        no other one continues, or began to wait, since the last call, or if jobs come that continue others without
        having been registered; else constant.
        """
        while self._doubt and self.blocked:
            hopeful = self._hopeful()
            hopeless = [job for job in self.blocked.values() if job.id not in hopeful]
            # Others may have waited for these.
            self._doubt = bool(hopeless)
            caused = [(job, why) for job in hopeless if (why := self._cause(job))]
            # Without a cause they wait for each other.
            circle = [
                (job, f"depends on job {self.waits_for(job)[0]}, which depends on it in turn") for job in hopeless
            ]
            for job, why in caused or circle[:1]:
                # The end of one may be all that the next one waited for, if it continues it.
                if job.id not in self._met:
                    del self.blocked[job.id]
                    yield job, why

    def _hopeful(self) -> set[str]:
        """Return the blocked jobs whose dependencies may all still succeed."""
        going_on = {self.root(name) for name in self.ranks if name not in self.blocked}
        for name, job in self.registered.items():
            # What is yet to be acknowledged may continue a job that was killed.
            going_on.add(self.root(_full(job, job.parent)) if job.parent else name)
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
                    found = True
        return hopeful

    def _cause(self, job: Job) -> str:
        for name in self.waits_for(job):
            if name in self.ended:
                return f"depends on job {name}, which ended {self.ended[name].value}"
            if self.no_more and not self.knows(name):
                return f"depends on job {name}, which was never submitted"
        return ""


def _full(job: Job, name: str) -> str:
    """Return a job's id with the workload of the job that names it, if it has none."""
    return name if "!" in name else f"{job.id.partition('!')[0]}!{name}"
