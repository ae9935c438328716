"""Jobs that run at a lower level of speed, so that they fit beneath a cap on power.

Theory of operation
-------------------

A job is shown to the dispatcher inside at a level (`PowerCap.fitting`), with the walltime that it needs there. No
simulator lets a walltime be lengthened. So a job that starts with a longer walltime than the simulator enforces is
killed as it begins, before it has done anything, and registered again:

===========  ========================================  =============================================================
state        what holds                                what ends it
===========  ========================================  =============================================================
`KILLED`     It was started. A decision kills it, and  It ends by that, and the answer to it comes: `COMING`. It
             its hosts are held.                       ends by itself: it is over. A host that it waits for goes
                                                       away: it waits at the usual level.
`COMING`     It is registered with the longer          It enters the queue, and starts on the hosts: `SLOW`. One has
             walltime; its hosts are held.             gone: it waits as any other job.
`SLOW`       It runs. Its hosts are set to the states  It ends.
             of its level, and back when it has ended.
===========  ========================================  =============================================================

Jobs without a walltime are `SLOW` at once.
"""

from __future__ import annotations

from batdispatch.abilities.power.concerns.power_states import PowerStates
from batdispatch.abilities.power.power_cap import PowerCap
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job, JobState, Stay
from batdispatch.core.line.concerns.holds import Holds
from batdispatch.core.line.concerns.registration import Registration
from batdispatch.core.line.events import JobsKilled, ResourceStateChanged
from batdispatch.core.line.ledger import Ledger
from batdispatch.layers.base import successor, successor_id


class SlowJobs:
    """The jobs that run at another level than the usual one, and the hosts that are in its states."""

    def __init__(self, cap: PowerCap) -> None:
        """Begin without jobs; `cap`: says which job has which level."""
        self._cap = cap
        #: Jobs in the state `KILLED`: how they ended, once they have.
        self._killed: dict[str, Stay | None] = {}
        #: Jobs in the state `COMING`: the stay that each goes on from.
        self._coming: dict[str, Stay] = {}
        #: Masks of the hosts that are in other states than the usual ones, and of those that have yet to answer.
        self._slow, self.unanswered = 0, 0
        #: Whether hosts may have to be set since `set_hosts` looked.
        self._changed = False
        self.count = 0

    def __len__(self) -> int:
        return len(self._killed) + len(self._coming)

    def started(self, ledger: Ledger, stay: Stay) -> None:
        """Look after a job that was started."""
        if not self._cap.level_of(stay.job):
            return
        if stay.job.walltime > ledger.roll.enforced(stay.job):
            self._killed[stay.job.id] = None
            Holds.of(ledger).hold(stay.job, stay.allocation)
            ledger.kill([stay.job])
        else:
            self._changed = True
            self.count += 1

    def ended(self, stay: Stay) -> bool:
        """Note that a job ended; return whether it goes on, so that nobody is told before it does."""
        self._changed |= bool(self._cap.level_of(stay.job))
        if self._killed.pop(stay.job.id, stay) is None and stay.state is JobState.COMPLETED_KILLED:
            self._killed[stay.job.id] = stay
            return True
        return False

    def called_off(self, stay: Stay) -> bool:
        """Note that a job waits again that was started; return whether it is `KILLED` no more."""
        return self._killed.pop(stay.job.id, stay) is None

    def register(self, ledger: Ledger, event: JobsKilled) -> None:
        """Register the jobs anew that were killed as they began."""
        for job_id in event.job_ids:
            stay = self._killed.pop(job_id, None)
            if stay is not None:
                job, name = stay.job, successor_id(ledger, stay.job, 2)
                self._coming[name] = stay
                again = successor(ledger, job, job, name, walltime=job.walltime, profile=job.profile, extra={})
                Registration.of(ledger).register_job(again)

    def came(self, job: Job) -> Stay | None:
        """Return the stay that a job goes on from which has entered the queue, or None."""
        return self._coming.pop(job.id, None)

    def answered(self, event: ResourceStateChanged) -> None:
        """Note that hosts are in their states."""
        self._changed = True
        self.unanswered &= ~event.hosts.mask

    def set_hosts(self, ledger: Ledger) -> None:
        """Set the hosts of slow jobs to the states of their levels, and others back."""
        states = PowerStates.of(ledger).states
        if not self._changed or states is None:
            return
        self._changed = False
        wanted = self._wanted(ledger)
        groups: dict[int, list[int]] = {}
        for host in hostset.ids((self._slow | hostset.mask_of(wanted)) & ~self.unanswered & ~states.away):
            state = wanted.get(host, states.powers[host].usual)
            if states.target(host) != state:
                groups.setdefault(state, []).append(host)
        for state, hosts in groups.items():
            self.unanswered |= hostset.mask_of(hosts)
            PowerStates.of(ledger).set_state(Allocation.of(hosts), str(state))
        self._slow = hostset.mask_of(
            host
            for host in hostset.ids(self._slow | hostset.mask_of(wanted))
            if states.target(host) != states.powers[host].usual
        )

    def _wanted(self, ledger: Ledger) -> dict[int, int]:
        """Return the power states that the hosts of slow jobs are to be in."""
        boots = PowerStates.of(ledger).boots
        waiting = {} if boots is None else boots.waiting
        wanted = dict[int, int]()
        for stay in ledger.running.values():
            level = self._cap.level_of(stay.job)
            if level and stay.job.id not in waiting and stay.job.id not in self._killed:
                chosen = self._cap.levels[level].states
                wanted.update((host, chosen[host]) for host in hostset.ids(stay.allocation.mask))
        return wanted
