"""Which jobs are suspended: Slurm's preemption by its gang scheduler.

Theory of operation
-------------------

No simulator can pause a job. So a job that is to be suspended is killed, and what is left of it is registered as a job
that continues it and starts on the same nodes:

===========  =======================================  ==============================================================
state        what holds                               what ends it
===========  =======================================  ==============================================================
stopping     It runs, and a decision kills it.        It ends by that: its rest is registered. It ends by itself: it
                                                      is over.
suspended    Its rest is registered, or waits. Only   All its nodes are free: the rest starts on them, as a job of
             jobs that may preempt it start on its    the ledger like any other.
             nodes.
===========  =======================================  ==============================================================

What is killed gives back its memory and its GPUs, which a suspended job keeps, and only of a delay is it known what is
left. So only jobs of type delay that have whole nodes can be suspended, where nodes have nothing but cores.

References:
    Slurm 22.05, gang.c, `_job_test` in select/cons_common/job_test.c; as recorded, see docs/conformance.md.
"""

from __future__ import annotations

import math
from typing import Any

from batdispatch.abilities.sites.slurm.partitions import Partitions
from batdispatch.abilities.sites.slurm.will_run import RunningJobs
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job, Resumption, Stay
from batdispatch.core.line.concerns.registration import Registration
from batdispatch.core.line.ledger import SOONEST, Ledger
from batdispatch.core.line.ticks import TICK
from batdispatch.core.machine.machine import WHOLE_HOST
from batdispatch.core.plans.moments import end_of
from batdispatch.layers.base import rest_name, successor, successor_id

#: Resources of nodes that a suspended job does not keep from others.
_SHARED = frozenset({WHOLE_HOST, "core"})


class Suspension:
    """The jobs that are suspended.

    Attributes:
        resumed: id of the rest of a job -> how much of the job had been done before.
    """

    def __init__(self, ledger: Ledger, partitions: Partitions) -> None:
        self.resumed: dict[str, Resumption] = {}
        self._ledger = ledger
        self._partitions = partitions
        self._only_cores = _SHARED.issuperset(ledger.machine.resources)
        #: When jobs may be killed that had only just started, s.
        self._retry = math.inf
        #: Id of a rest -> the stay that it goes on from.
        self._stays: dict[str, Stay] = {}
        #: Id of a rest -> the job as it came, and how many rests of it there were.
        self._firsts: dict[str, tuple[Job, int]] = {}

    def can_suspend(self, job: Job) -> bool:
        """Return whether a job can be suspended here."""
        whole = self._only_cores and self._ledger.machine.takes_hosts(job.request)
        return whole and self._profile(job).get("type") == "delay"

    def may_stop(self, stays: list[Stay]) -> bool:
        """Return whether running jobs may be killed now; if not, ask for a call.

        A job that ends in the moment in which it started would overlap its rest.
        """
        now = self._ledger.now
        if all(stay.start < now - TICK / 2 for stay in stays):
            return True
        self._retry = self._ledger.wake_at(now + SOONEST)
        return False

    def is_retry_due(self) -> bool:
        """Return whether the time has come for what `may_stop` put off, which it then has no more."""
        due = self._retry <= self._ledger.now + TICK / 2
        if due:
            self._retry = math.inf
        return due

    def suspend(self, stay: Stay) -> None:
        """Register what is left of a job that was killed."""
        ledger, job = self._ledger, stay.job
        first, count = self._firsts.pop(job.id, (job, 0))
        ran, before = ledger.now - stay.start, self.resumed.get(job.id, Resumption(0.0, 0.0))
        name, told = successor_id(ledger, first, count + 1), self._profile(job)
        profile, left = rest_name(name), round(max(float(told["delay"]) - ran, TICK), 6)
        Registration.of(ledger).register_profile(name.partition("!")[0], profile, {**told, "delay": left})
        walltime = round(max(job.walltime - ran, TICK), 6)
        self.resumed[name] = Resumption(before.saved + ran, 0.0)
        self._firsts[name], self._stays[name] = (first, count + 1), stay
        Registration.of(ledger).register_job(
            successor(ledger, first, job, name, walltime=walltime, profile=profile, extra={})
        )

    def is_rest(self, job: Job) -> bool:
        """Return whether a job is the rest of one that is suspended."""
        return job.id in self._stays

    def resume(self, taken: int) -> None:
        """Start the rests whose nodes are free and not in a mask, those of higher tiers first."""
        ledger = self._ledger
        for name, stay in sorted(self._stays.items(), key=lambda one: (-self._tier(one[1].job), one[1].rank)):
            job, hosts = ledger.queue.get(name), stay.allocation
            if name in ledger.roll.ended:
                del self._stays[name]
            elif job is not None and not hosts.mask & taken and may_start(ledger, job, hosts):
                del self._stays[name]
                ledger.start(job, hosts)
            else:
                taken |= hosts.mask

    def kept(self, job: Job) -> RunningJobs:
        """Return the suspended jobs that keep their nodes from another one, with their ends as expected, in s.

        Slurm takes a job to end when it would have ended had it not been suspended.
        """
        tier = self._partitions.tier(job)
        return [
            (end_of(stay.start, stay.job.walltime), stay.rank, stay)
            for stay in self._stays.values()
            if self._tier(stay.job) >= tier
        ]

    def open_to(self, job: Job) -> int:
        """Return the mask of the hosts that no suspended job keeps from another one."""
        closed = 0
        for _, _, stay in self.kept(job):
            closed |= stay.allocation.mask
        return ~closed

    def _tier(self, job: Job) -> int:
        return self._partitions.tier(job)

    def _profile(self, job: Job) -> dict[str, Any]:
        return self._ledger.profiles.get(job.id.partition("!")[0], {}).get(job.profile) or {}


def may_start(ledger: Ledger, job: Job, hosts: Allocation) -> bool:
    """Return whether a waiting job may start now on some hosts, which were chosen for it before."""
    space = ledger.space
    return space.lacking(ledger.free, job, hosts) is None and not space.mismatch(job, hosts)
