"""Speculative backfilling: jobs are tried in gaps that are too short for their requests."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from batdispatch.core.allocation import Allocation
from batdispatch.core.job import Job
from batdispatch.core.ledger import Ledger
from batdispatch.core.space import Space
from batdispatch.core.timeline import Timeline, end_of
from batdispatch.dispatchers.stochastic.attempts import Attempts
from batdispatch.dispatchers.stochastic.rate import share_of
from batdispatch.parts.requests.laws import Law

#: Shortest gap in which a job is tried, in seconds.
SHORTEST = 1.0


class Gap(NamedTuple):
    """Capacity that is free from now on and for `length` seconds, a value of `space`."""

    space: Space[Any]
    free: Any
    length: float


def gain(law: Law, share: float, floor: float, length: float) -> float:
    """Return the share of a gap that a job is expected to use well.

        G = p E[X; X <= d | X > a] / (q d)

    with the job's p units, a gap of q units and d seconds, and a the longest time at which the job is known to have
    failed; it is killed at d if it has not ended, and then counts nothing.

    Args:
        law: of the run time, in seconds.
        share: of the gap's units that the job takes, p / q.
        floor: a, seconds; 0 for a job that never failed.
        length: of the gap, d seconds.

    References:
        Gainaru, Pallez, Sun, Raghavan: "Speculative scheduling for stochastic HPC applications", ICPP 2019.
    """
    if length <= floor or share > 1.0:
        return 0.0
    tried, lost = law.at(floor) if floor > law.lower else (0.0, 0.0)
    if tried >= 1.0:
        return 0.0
    return share * (law.at(length)[1] - lost) / ((1.0 - tried) * length)


def gaps_from_now(timeline: Timeline[Any], now: float, horizon: float) -> Iterator[Gap]:
    """Yield the gaps of a plan that begin now and end by `horizon`, in seconds; the shortest is widest and first."""
    times, frees, space = timeline.times, timeline.frees, timeline.space
    window = frees[0]
    for index in range(1, len(times)):
        end = min(times[index], horizon)
        narrower = space.meet(window, frees[index])
        if end < horizon and space.same(narrower, window):
            continue
        if end - now >= SHORTEST:
            yield Gap(space, window, end - now)
        if end >= horizon:
            return
        window = narrower


class Speculative(Attempts):
    """Gives what ordinary backfilling leaves to jobs whose request it does not fit, one gap after the other.

    The job of largest `gain` starts; it is stopped at the gap's end and keeps its place and its requests. A mixin for
    dispatchers that know until when capacity stays free: their `decide` calls `speculate` last.
    """

    def begin(self, cluster: Ledger) -> None:
        super().begin(cluster)
        self._tried = 0

    def speculate(self, cluster: Ledger, gaps: Callable[[], Iterable[Gap]]) -> list[Job]:
        """Start jobs in gaps that none of their requests fits, and return them.

        Args:
            cluster: the cluster.
            gaps: returns those that there are, in the order in which to fill them; called again after each start.
        """
        started: list[Job] = []
        if not self.options.speculate:
            return started
        waiting = [job for job in self.in_order(cluster) if job.id in self.runs and job.id in cluster.queue]
        while waiting:
            chosen = next((best for gap in gaps() if (best := self._best_in(cluster, waiting, gap))), None)
            if chosen is None:
                break
            job, length, allocation = chosen
            self.runs[job.id].limit = length
            self._tried += 1
            self.hold(cluster, job, end_of(cluster.now, length), allocation)
            cluster.start(job, allocation)
            waiting.remove(job)
            started.append(job)
        return started

    def may_try(self, job: Job, end: float) -> bool:
        """Return whether a waiting job may be tried until `end`, in seconds: not if it has a place before."""
        return True

    @abstractmethod
    def hold(self, cluster: Ledger, job: Job, end: float, allocation: Allocation) -> None:
        """Note that a job, which is about to start, holds hosts until `end`, in seconds."""

    def _best_in(self, cluster: Ledger, jobs: list[Job], gap: Gap) -> tuple[Job, float, Allocation] | None:
        """Return the best job for a gap, with the gap's length in seconds and hosts."""
        end = end_of(cluster.now, gap.length)
        seen: set[tuple[Any, ...]] = set()
        candidates: list[tuple[float, int, Job]] = []
        for order, job in enumerate(jobs):
            run = self.runs[job.id]
            kind = (run.law.text, run.floor, job.units, job.request)
            if kind in seen or not self.may_try(job, end):
                continue
            seen.add(kind)
            value = gain(run.law, share_of(gap.space, gap.free, job), run.floor, gap.length)
            if value > 0 and gap.space.fits(gap.free, job):
                candidates.append((-value, order, job))
        free = cluster.free if gap.space is not cluster.space else cluster.space.meet(cluster.free, gap.free)
        for _, _, job in sorted(candidates, key=lambda candidate: candidate[:2]):
            allocation = self.choose(free, job)
            if allocation is not None:
                return job, gap.length, allocation
        return None

    def report(self) -> dict[str, Any]:
        return {**super().report(), "speculations": self._tried}
