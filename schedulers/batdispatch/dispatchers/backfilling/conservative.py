"""Conservative backfilling."""

from __future__ import annotations

from typing import Any

from batdispatch.core.allocation import Allocation
from batdispatch.core.events import Event, MachinesAvailable, MachinesUnavailable
from batdispatch.core.job import Job
from batdispatch.core.ledger import Ledger
from batdispatch.core.timeline import Timeline, end_of
from batdispatch.dispatchers.backfilling.queue import Ends, QueueDispatcher

#: Planned start and end, in seconds, and allocation.
Place = tuple[float, float, Allocation]


class Conservative(QueueDispatcher):
    """Every waiting job has a planned start and hosts; nothing that comes later may delay it.

    Mu'alem, Feitelson: "Utilization, predictability, workloads, and user runtime estimates in scheduling the IBM SP2
    with backfilling", TPDS 2001, section 2.2. A new job gets its earliest place in the plan. When a job ends, each
    waiting job in turn is taken out and put back at its earliest place while the others keep theirs (compression).

    Guarantee: with the default ordering no job starts later than the start planned at its submission, if no job
    outlives its expected end, no host goes away, and each unit needs something: a plan keeps no place for nothing.
    Time: a job's place is linear in the steps of the plan; a compression does it for the whole queue.
    Deviation: the plan holds particular hosts, as Batsim's conservative_bf does, where the literature plans numbers of
    processors; on shared nodes, a compression leaves a job that cannot start earlier on its nodes. Jobs without a
    walltime are planned to run for ever unless `default_walltime` says otherwise; a job whose place depends on the end
    of such a job waits without a plan. When a job outlives its expected end, or hosts come or go, the plan is made anew
    in order; the late job is expected to take as long again as it is late, at least 1 s (compare the prediction
    correction of Tsafrir, Etsion, Feitelson, TPDS 2007).
    """

    def begin(self, cluster: Ledger) -> None:
        super().begin(cluster)
        self._timeline: Timeline[Any] = Timeline(cluster.space, cluster.now, cluster.space.whole())
        #: Planned start, end and allocation of waiting and running jobs.
        self._plan: dict[str, Place] = {}
        self._ends = Ends()
        #: On shared nodes a job that cannot start earlier keeps its nodes, instead of choosing them anew.
        self._keeps_place = not cluster.machine.exclusive
        #: Whether capacity was freed since the last decision, and whether the plan no longer holds.
        self._freed = False
        self._void = False

    def on_end(self, cluster: Ledger, job: Job) -> None:
        super().on_end(cluster, job)
        _, end, allocation = self._plan.pop(job.id)
        self._ends.remove(job)
        self._freed = True
        if end < cluster.now or allocation.mask & cluster.unavailable:
            self._void = True
        else:
            self._timeline.release(job, allocation, cluster.now, end)

    def on_event(self, cluster: Ledger, event: Event) -> None:
        if isinstance(event, MachinesAvailable | MachinesUnavailable):
            self._void = True

    def decide(self, cluster: Ledger) -> None:
        self._timeline.advance(cluster.now)
        self._extend_overdue(cluster)
        if self._void:
            self._plan_anew(cluster)
        candidates = self.fresh_in_order(cluster)
        if self._freed or self._void or self.ordering.dynamic:
            candidates = self.in_order(cluster)
        self._freed = self._void = False
        self.forget_started([job for job in candidates if self._put(cluster, job)])

    def _put(self, cluster: Ledger, job: Job) -> bool:
        """Put a waiting job at its earliest place, and start it if that is now and its hosts are free."""
        now = cluster.now
        planned = self._plan.get(job.id)
        if planned is None or not self._keeps_place or self._timeline.may_move_up(job, planned, now):
            planned = self._place(job, planned, now)
        if planned is None:
            return False
        start, end, allocation = planned
        # A job that is expected to end just now may still hold its hosts.
        if start > now or cluster.space.lacking(cluster.free, job, allocation) is not None:
            return False
        cluster.start(job, allocation)
        self._ends.add(job, end)
        return True

    def _place(self, job: Job, planned: Place | None, now: float) -> Place | None:
        """Reserve and return a job's earliest place; None, and no longer any, if there is none."""
        if planned is not None:
            self._timeline.release(job, planned[2], planned[0], planned[1])
            del self._plan[job.id]
        duration = self.estimate(job)
        found = self._timeline.earliest(job, duration, self.choose, after=now)
        if found is None:
            return None
        if planned is None or not self._keeps_place or found[0] < planned[0]:
            planned = (found[0], end_of(found[0], duration), found[1])
        self._timeline.reserve(job, planned[2], planned[0], planned[1])
        self._plan[job.id] = planned
        return planned

    def _extend_overdue(self, cluster: Ledger) -> None:
        """Give running jobs that outlived their expected end a later one, which makes the plan void."""
        for job in self._ends.overdue(cluster.now):
            start, _, allocation = self._plan[job.id]
            late = cluster.now - start - self.estimate(job)
            end = end_of(cluster.now, max(late, 1.0))
            limit = end_of(start, job.walltime)
            if limit > cluster.now:
                end = min(end, limit)
            self._ends.remove(job)
            self._ends.add(job, end)
            self._plan[job.id] = (start, end, allocation)
            self._void = True

    def _plan_anew(self, cluster: Ledger) -> None:
        """Rebuild the timeline from the running jobs; waiting jobs lose their places."""
        self._timeline = Timeline(cluster.space, cluster.now, cluster.space.whole())
        self._plan = {job_id: self._plan[job_id] for job_id in cluster.running}
        for job_id, (_, end, allocation) in self._plan.items():
            self._timeline.reserve(cluster.running[job_id], allocation, cluster.now, end)
        if cluster.unavailable:
            # After the reservations: a job goes on where it runs, and gives nothing back there when it ends.
            self._timeline.restrict(~cluster.unavailable)
