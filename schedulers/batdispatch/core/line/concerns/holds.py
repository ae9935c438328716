"""Capacity kept for the job that will continue another one, so that no other job takes it in between.

Invariant: each hold belongs to a job that runs, or that was killed and whose successor has not started yet.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job, JobState, Stay
from batdispatch.core.line.concern import Concern
from batdispatch.core.line.ledger import Ledger


class Hold(msgspec.Struct, frozen=True):
    """Hosts kept for the job that will continue another one, each with as many units as that one has there."""

    #: The job that is continued.
    job: Job
    #: Hosts of its own: free for no other job once it has ended. None: none of them.
    own: Allocation | None
    #: Further hosts, free for no other job from the decision on. None: none.
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


class Holds(Concern):
    """The holds of a ledger. It has a say while there are any.

    Attributes:
        holds: by the id of the job that is continued.
    """

    offers = ("hold", "release", "held_for", "holds")
    ledger: Ledger

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        self.holds: dict[str, Hold] = {}

    def hold(self, job: Job, hosts: Allocation, power: int = 0) -> None:
        """Keep hosts for the job that will continue a running one; a second call takes the place of the first.

        Hosts of the job's own are kept from its end on, others from now on; on shared nodes, as many units of the job
        as `hosts` counts. If the job ends by itself (not killed), it has no successor and nothing is kept. Otherwise
        the hold lasts until a job whose `parent` this one is starts, or until `release`. Where power is shared, that
        of the job is kept with its own hosts, and `power`, in mW, beside.

        Raises:
            ImpossibleDecision: the job does not run, or a host is not its own and not free.
        """
        ledger, idle = self.ledger, self.ledger.idle
        stay = ledger.running.get(job.id)
        if stay is None:
            raise ledger.refusal(f"job {job.id} can have no successor: it is {ledger.state_of(job.id)}")
        too_many = beyond_own(stay, hosts)
        if too_many is not None:
            host, count, its = too_many
            raise ledger.refusal(
                f"{count} units cannot be kept on {ledger.machine.label(host)} for the successor of job {job.id}: it "
                f"has {its} there"
            )
        hold = hold_of(stay, hosts, power)
        before = self.holds.get(job.id)
        entry = idle.entry if before is None else self._given_back(before, idle.entry, own=False)
        if hold.more is not None:
            kept = f"hosts {hold.more} cannot be kept for the successor of job {job.id}"
            if hold.more.mask & (~ledger.machine.compute | idle.unavailable):
                raise ledger.refusal(f"{kept}: not all of them are there and run jobs")
            lacking = idle.books.lacking(entry, hold.beyond, hold.more)
            if lacking is not None:
                host, resource, free, needed = lacking
                raise ledger.refusal(
                    f"{kept}: {ledger.machine.label(host)} has {free} {resource} free, {needed} are to be kept"
                )
            entry = idle.books.take(entry, hold.beyond, hold.more)
        idle.entry = entry
        self.holds[job.id] = hold
        self.join()
        if before is None:
            idle.refresh()
        else:
            idle.change()

    def release(self, job_id: str) -> None:
        """Give up what is held for the successor of a job; nothing happens if nothing is."""
        if self.drop(job_id, own=job_id not in self.ledger.running):
            self.ledger.idle.change()

    def held_for(self, job: Job) -> Allocation | None:
        """Return the hosts that are kept for a job because it continues another one, or None."""
        hold = self._of(job)
        if hold is None or hold.job.id in self.ledger.running:
            return None
        return hold.hosts

    def drop(self, job_id: str, *, own: bool) -> bool:
        """Let what is held for the successor of a job be idle; return whether anything was.

        Args:
            job_id: id of the job that is continued.
            own: whether that includes hosts of its own, since it does not use them any more.
        """
        hold = self._take(job_id)
        if hold is not None:
            self.ledger.idle.entry = self._given_back(hold, self.ledger.idle.entry, own=own)
        return hold is not None

    def _take(self, job_id: str) -> Hold | None:
        hold = self.holds.pop(job_id, None)
        if not self.holds:
            self.ledger.concerns.leave(self)
        return hold

    def _of(self, job: Job) -> Hold | None:
        return self.holds.get(self.ledger.roll.parents.get(job.id, "")) if self.holds else None

    def _given_back(self, hold: Hold, entry: Any, *, own: bool) -> Any:
        """Return what is idle with what a hold keeps; `own`: also of the job's own hosts, which it no longer uses."""
        books = self.ledger.idle.books
        if own and hold.own is not None:
            entry = books.give(entry, hold.job, hold.own)
        if hold.more is not None:
            entry = books.give(entry, hold.beyond, hold.more)
        return entry

    # ------------------------------------------------------------------ what it has to say

    def held(self) -> Iterable[tuple[int, str]]:
        return [(0 if hold.hosts is None else hold.hosts.mask, job_id) for job_id, hold in self.holds.items()]

    def may_start(self, job: Job, allocation: Allocation, entry: Any) -> Any:
        hold = self._of(job)
        if hold is None:
            return entry
        if hold.job.id in self.ledger.running:
            raise self.ledger.refusal(f"job {job.id} cannot start: job {hold.job.id}, which it continues, is running")
        return self._given_back(hold, entry, own=True)

    def on_start(self, stay: Stay) -> None:
        hold = self._of(stay.job)
        if hold is not None:
            # What it does not use of that is free again.
            self._take(hold.job.id)
            self.ledger.idle.change()

    def on_end(self, stay: Stay) -> None:
        """Keep the job's own hosts for its successor; a job that ended by itself has none: nothing is kept."""
        hold = self.holds.get(stay.job.id)
        if hold is None:
            return
        if stay.state is not JobState.COMPLETED_KILLED:
            self.drop(stay.job.id, own=False)
        elif hold.own is not None:
            idle = self.ledger.idle
            idle.entry = idle.books.take(idle.entry, stay.job, hold.own)

    def check(self, idle: Any) -> Any:
        ledger, space = self.ledger, self.ledger.space
        for job_id, hold in self.holds.items():
            running = job_id in ledger.running
            assert running or ledger.roll.ended.get(job_id) is JobState.COMPLETED_KILLED, f"stale hold {hold}"
            for job, part in ((hold.job, None if running else hold.own), (hold.beyond, hold.more)):
                if part is not None:
                    assert space.lacking(idle, job, part) is None, f"{hold} is beyond capacity"
                    idle = space.take(idle, job, part)
        assert bool(self.holds) == (self in ledger.concerns.active), "holds that nobody asks for"
        return idle
