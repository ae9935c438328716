"""The order in which each node of a line serves the jobs of a plan, and which of them have their turn."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from batdispatch.abilities.solvers.pinned_io.ranges import Floats
from batdispatch.core.jobs.job import Job


class Turn(NamedTuple):
    """A planned job.

    Attributes:
        job: the job.
        time: its planned start, s.
        start, stop: the ends of its range.
    """

    job: Job
    time: float
    start: int
    stop: int


class Course:
    """Planned jobs that have not started.

    Each node has a queue of the jobs that are to use it. A job has its *turn* when it is the first one in the queues of
    all its nodes. The first job of the plan always has, so a plan never gets stuck, however long jobs run.

    Attributes:
        turns: the planned jobs by id, in the order of their planned starts.
    """

    def __init__(self, nodes: int) -> None:
        self.turns: dict[str, Turn] = {}
        self._queues: list[deque[Turn]] = [deque() for _ in range(nodes)]
        #: Id -> in how many queues the job is the first one.
        self._first: dict[str, int] = {}
        #: Ids of the jobs that have their turn, in no particular order.
        self._ready: dict[str, None] = {}
        #: Planned start of the first job of each queue, s; infinite where there is none.
        self.next: Floats = np.full(nodes, np.inf)

    def add(self, turn: Turn) -> None:
        """Add a job behind all others; its planned start is not before theirs."""
        self.turns[turn.job.id] = turn
        self._first[turn.job.id] = 0
        for node in range(turn.start, turn.stop):
            self._queues[node].append(turn)
            if len(self._queues[node]) == 1:
                self._leads(node)

    def remove(self, job_id: str) -> None:
        """Take out a job; those behind it move up."""
        turn = self.turns.pop(job_id)
        del self._first[job_id]
        self._ready.pop(job_id, None)
        for node in range(turn.start, turn.stop):
            queue = self._queues[node]
            if queue[0] is turn:
                queue.popleft()
                self._leads(node)
            else:
                queue.remove(turn)

    def _leads(self, node: int) -> None:
        """The queue of a node has another first job, or none."""
        queue = self._queues[node]
        if not queue:
            self.next[node] = np.inf
            return
        turn = queue[0]
        self.next[node] = turn.time
        job_id = turn.job.id
        self._first[job_id] += 1
        if self._first[job_id] == turn.stop - turn.start:
            self._ready[job_id] = None

    def ready(self) -> list[Turn]:
        """Return the jobs that have their turn, in the order of their planned starts."""
        return sorted((self.turns[job_id] for job_id in self._ready), key=lambda turn: (turn.time, turn.start))
