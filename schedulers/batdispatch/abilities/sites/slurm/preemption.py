"""Which running jobs give way to a waiting one: Slurm's preemption by partitions and by qualities of service.

References:
    Slurm 22.05, `find_preemptable_jobs` in preempt/partition_prio and preempt/qos, `slurm_job_preempt`, `_run_now` in
    select/cons_common/job_test.c, `_preempt_jobs` in node_scheduler.c, `sort_job_queue2` in job_scheduler.c;
    Slurm documentation, Preemption, https://slurm.schedmd.com/preempt.html.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable
from itertools import groupby
from typing import Any

from batdispatch.abilities.sites.slurm.partitions import Partitions
from batdispatch.abilities.sites.slurm.suspension import Suspension, may_start
from batdispatch.abilities.sites.slurm.will_run import Chooser
from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.site import Class, Site
from batdispatch.core.plans.lateness import TOLERANCE

#: Seconds during which no more jobs are ended for a job, since those that it preempted may not have ended yet: Slurm's
#: default KillWait and MessageTimeout.
_PATIENCE = 40.0
#: How often candidates are put in another order, so that fewer of them end (Slurm's default preempt_reorder_count).
_REORDERINGS = 1


class Preemption:
    """Ends jobs for others that may preempt them.

    Attributes:
        ending: ids of the jobs that were to end for others -> what becomes of them, see `preempt_mode`.
        suspension: the jobs that are suspended.
    """

    def __init__(self, ledger: Ledger, by: str, mode: str, choose: Chooser, partitions: Partitions) -> None:
        """Begin with nobody preempted.

        Args:
            ledger: the cluster.
            by: ``partition`` or ``qos``.
            mode: what becomes of a preempted job whose partition or quality of service does not say it.
            choose: says where a job goes.
            partitions: of the machine.
        """
        self.ending: dict[str, str] = {}
        self.suspension = Suspension(ledger, partitions)
        self._ledger = ledger
        self._by_qos = by == "qos"
        self._mode = mode
        self._choose = choose
        self._partitions = partitions
        #: When jobs were ended last for a job, by its id, s.
        self._asked: dict[str, float] = {}
        #: By id of a job that runs on for its time of grace: when that is over, s, and for whom it then ends.
        self._graces: dict[str, tuple[float, str]] = {}
        #: By id of a waiting job that others are suspended for: where it starts once those have given way, their ids,
        #: and the job as it was tried, in one of its partitions.
        self._promised: dict[str, tuple[Place, list[str], Job]] = {}

    def in_order(self, jobs: list[Job]) -> list[Job]:
        """Return waiting jobs in their order, but each one before those whose quality of service its own may preempt.

        Otherwise another job could take what running ones gave up for it, and they would give way in vain for ever.
        Partitions need no such thing: the order has higher tiers first. Where qualities of service preempt each other
        in a circle, the jobs of the circle keep their order.
        """
        site = self._ledger.machine.site
        if site is None or not self._by_qos:
            return jobs
        queues: defaultdict[str, deque[tuple[int, Job]]] = defaultdict(deque)
        preempted: dict[str, Collection[str]] = {}
        for place, job in enumerate(jobs):
            qos = site.qos_of(job)
            name, preempts = ("", []) if qos is None else (qos.name, qos.preempts)
            queues[name].append((place, job))
            preempted[name] = preempts
        ordered = []
        while queues:
            first = [name for name in queues if not any(name in preempted[one] for one in queues if one != name)]
            chosen = min(first or queues, key=lambda name: queues[name][0][0])
            ordered.append(queues[chosen].popleft()[1])
            if not queues[chosen]:
                del queues[chosen]
        return ordered

    def candidates(self, job: Job) -> list[Stay]:
        """Return the running jobs that a waiting one may preempt, those first that are preempted rather."""
        site = self._ledger.machine.site
        if site is None:
            return []
        hosts = self._partitions.hosts(self._partitions.name(job))
        found = [
            stay
            for stay in self._ledger.running.values()
            if stay.allocation.mask & hosts and stay.job.id not in self.ending and self._yields(site, job, stay.job)
        ]
        return sorted(found, key=lambda stay: (self._level(site, stay.job), stay.allocation.size, stay.rank))

    def end_graces(self) -> None:
        """End the jobs whose time of grace is over."""
        ledger, over = self._ledger, self._ledger.now + TOLERANCE
        due = [name for name, (end, _) in self._graces.items() if end <= over]
        ledger.kill(ledger.running[name].job for name in due)
        for name in due:
            del self._graces[name]

    def ended(self, job_id: str) -> str:
        """Take note of the end of a job, and return what becomes of it if it was killed."""
        self._graces.pop(job_id, None)
        return self.ending.pop(job_id)

    def _yields(self, site: Site, job: Job, running: Job) -> bool:
        if self._mode_of(site, running) == "off":
            return False
        if not self._by_qos:
            return self._partitions.tier(running) < self._partitions.tier(job)
        own, other = site.qos_of(job), site.qos_of(running)
        return own is not None and other is not None and other.name in own.preempts

    def _kind(self, site: Site, running: Job) -> Class | None:
        return site.qos_of(running) if self._by_qos else site.partition_of(running)

    def _mode_of(self, site: Site, running: Job) -> str:
        kind = self._kind(site, running)
        mode = (kind.preempt_mode if kind is not None else "") or self._mode
        suspends = mode == "suspend"
        return "off" if suspends and (self._by_qos or not self.suspension.can_suspend(running)) else mode

    def _level(self, site: Site, running: Job) -> int:
        if not self._by_qos:
            return self._partitions.tier(running)
        qos = site.qos_of(running)
        return 0 if qos is None else qos.priority

    def without(self, stays: Iterable[Stay]) -> Any:
        """Return what would be free without some running jobs."""
        free = self._ledger.free
        for stay in stays:
            free = self._ledger.space.give(free, stay.job, stay.allocation)
        return free

    def preempt(self, job: Job, hosts: int) -> bool:
        """End jobs so that a waiting one can start on hosts of a mask; return whether jobs end, or ended shortly.

        A job with a time of grace ends after that. Until then, no further ones end for the waiting job.
        """
        if any(waiting == job.id for _, waiting in self._graces.values()) or self._suspend(job, hosts):
            return True
        victims = self._victims(job, hosts, self._candidates(job, suspended=False))
        now = self._ledger.now
        if not victims or now - self._asked.get(job.id, -_PATIENCE) < _PATIENCE:
            return bool(victims)
        self._asked[job.id] = now
        site = self._ledger.machine.site
        assert site is not None
        for stay in victims:
            self.ending[stay.job.id] = self._mode_of(site, stay.job)
            kind = self._kind(site, stay.job)
            if kind is not None and kind.grace_time:
                self._graces[stay.job.id] = now + kind.grace_time, job.id
                self._ledger.wake_at(now + kind.grace_time)
        self._ledger.kill(stay.job for stay in victims if stay.job.id not in self._graces)
        return True

    def start_promised(self) -> list[Job]:
        """Start the jobs for which others were suspended, and return them."""
        ledger, started = self._ledger, []
        for name, (place, before, tried) in list(self._promised.items()):
            job = ledger.queue.get(name)
            if job is not None and any(one in ledger.running for one in before):
                continue
            del self._promised[name]
            if job is not None and may_start(ledger, job, place.allocation):
                self._partitions.start(job, place, within=tried)
                started.append(job)
        return started

    def resume(self) -> None:
        """Let the suspended jobs go on whose nodes are free and promised to nobody."""
        promised = 0
        for place, _, _ in self._promised.values():
            promised |= place.allocation.mask
        self.suspension.resume(promised)

    def _suspend(self, job: Job, hosts: int) -> bool:
        """Suspend jobs so that a waiting one starts on hosts of a mask in the same moment; return whether it will."""
        if job.id in self._promised:
            return True
        hosts &= self.suspension.open_to(job)
        place, stays = self._place_among(job, hosts, self._candidates(job, suspended=True))
        if place is not None and self.suspension.may_stop(stays):
            before = [stay.job.id for stay in stays]
            self._promised[job.id] = place, before, job
            self.ending.update(dict.fromkeys(before, "suspend"))
            self._ledger.kill(stay.job for stay in stays)
        return place is not None

    def _candidates(self, job: Job, *, suspended: bool) -> list[Stay]:
        """Return those candidates that are suspended for a job, or all others."""
        site = self._ledger.machine.site
        found = self.candidates(job)
        return [stay for stay in found if site and (self._mode_of(site, stay.job) == "suspend") is suspended]

    def _place_among(self, job: Job, hosts: int, stays: list[Stay]) -> tuple[Place | None, list[Stay]]:
        """Return where a job goes if running ones of as few tiers as will do give way, and which of these then do."""
        space, free = self._ledger.space, self._ledger.free
        for _, group in groupby(stays, key=lambda stay: self._partitions.tier(stay.job)):
            for stay in group:
                free = space.give(free, stay.job, stay.allocation)
            allowed = space.only(free, hosts)
            place = self._choose(allowed, job) if space.fits(allowed, job) else None
            if place is not None:
                return place, [stay for stay in stays if stay.allocation.mask & place.allocation.mask]
        return None, []

    def _victims(self, job: Job, hosts: int, candidates: list[Stay]) -> list[Stay]:
        """Return the jobs that end for a waiting one, of candidates in order; none if it could not start even then.

        Candidates are taken away one by one until the job fits. Then they are put in the order of how many of the
        job's nodes they have, the one that was taken away last first, and all begins anew.
        """
        for attempt in range(_REORDERINGS + 2):
            count, mask = self._fewest(job, hosts, candidates)
            if not count:
                return []
            used, last = candidates[: count - 1], candidates[count - 1]
            if attempt > _REORDERINGS or len(candidates) <= attempt + 1:
                break
            used.sort(key=lambda stay: -(stay.allocation.mask & mask).bit_count())
            candidates = [last, *used, *candidates[count:]]
        return [stay for stay in candidates[:count] if stay.allocation.mask & mask]

    def _fewest(self, job: Job, hosts: int, candidates: list[Stay]) -> tuple[int, int]:
        """Return how many candidates must end for a job, and the mask of the nodes that it then has; 0: all do not."""
        space, free = self._ledger.space, self._ledger.free
        for count, stay in enumerate(candidates, 1):
            free = space.give(free, stay.job, stay.allocation)
            allowed = space.only(free, hosts)
            place = self._choose(allowed, job) if space.fits(allowed, job) else None
            if place is not None:
                return count, place.allocation.mask
        return 0, 0
