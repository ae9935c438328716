"""Capacity kept for the job that will continue another one, so that nobody takes it in between."""

from __future__ import annotations

import msgspec

from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job, Stay


class Hold(msgspec.Struct, frozen=True):
    """Hosts kept for the job that will continue another one, each with as many units as that one has there."""

    #: The job that is continued.
    job: Job
    #: Hosts of its own: free for nobody else once it has ended. None: none of them.
    own: Allocation | None
    #: Further hosts, free for nobody else from the decision on. None: none.
    more: Allocation | None
    #: What is kept of shared power beyond what the job has, mW.
    power: int = 0

    @property
    def beyond(self) -> Job:
        """What is taken of the further hosts: as `job`, whose licences and power are kept once, with its own hosts."""
        request = self.job.request
        if not request.licences and request.power is None:
            return self.job
        power = None if request.power is None else (self.power, 0)
        return msgspec.structs.replace(self.job, request=msgspec.structs.replace(request, licences=(), power=power))

    @property
    def hosts(self) -> Allocation | None:
        """All hosts that are kept."""
        return self.more if self.own is None else self.own.joined(self.more)


def beyond_own(stay: Stay, hosts: Allocation) -> tuple[int, int, int] | None:
    """Return (host, units to be kept, units of the job there) of the first host of its own with too many, or None.

    A job that has whole nodes has all of them for its successor, whatever the units of either.
    """
    if stay.job.request.whole_nodes:
        return None
    its = dict(stay.allocation.per_host())
    return next(((host, count, its[host]) for host, count in hosts.per_host() if count > its.get(host, count)), None)


def hold_of(stay: Stay, hosts: Allocation, power: int) -> Hold:
    """Return the hold that keeps some hosts, and further power in mW, for the successor of a job that runs."""
    its = stay.allocation.mask
    return Hold(stay.job, hosts.without(~its), hosts.without(its), power)
