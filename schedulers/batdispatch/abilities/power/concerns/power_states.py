"""The power states of the hosts: switching them, and jobs that are started on hosts which have yet to wake up.

There are three ways to live with hosts that sleep. A ledger whose machine states no watts knows no states: what is
decided is passed on. With `know_states` (or the first `set_state`) nothing starts on hosts that sleep or switch. With
`wake_for_jobs` these count as free, and are woken for the jobs that start there; see `concerns.boots`.

Invariants: a job that waits for its hosts runs, to the ledger. No job runs on a host that sleeps but those that wait
for it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from batdispatch.abilities.power.concerns.boots import Boots
from batdispatch.abilities.power.machine.facet import HostPowers, powers_of
from batdispatch.abilities.power.machine.host_states import HostStates
from batdispatch.abilities.power.machine.power import HostPower
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job, JobState, Stay
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.concern import Concern, D, News
from batdispatch.core.line.concerns.holds import Holds
from batdispatch.core.line.ledger import Ledger, contradiction


class PowerStates(Concern):
    """The power states of a ledger's hosts. It has a say once they are looked after.

    Attributes:
        states: of all hosts, once one was decided; None: none was, or the machine states no watts.
        boots: jobs that were started on hosts which have yet to wake up; None: only hosts that compute are free.
    """

    offers = (
        "boots",
        "is_booting",
        "know_states",
        "let_sleep",
        "powers",
        "set_state",
        "states",
        "wake",
        "wake_for_jobs",
    )
    ledger: Ledger

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        self.states: HostStates | None = None
        self.boots: Boots | None = None

    @property
    def powers(self) -> tuple[HostPower, ...]:
        """The power states that each host has, by id.

        Raises:
            InputError: a host states no watts, or wrong ones.
        """
        return powers_of(self.ledger.machine)

    def know_states(self) -> HostStates | None:
        """Return the power states of all hosts, which are looked after from now on; None: the machine states no watts.

        Raises:
            InputError: a host states no watts, or wrong ones, while another one does.
        """
        self.join()
        if self.states is None and HostPowers.is_stated(self.ledger.machine):
            self.states = HostStates(self.ledger.machine)
            self.ledger.shut()
        return self.states

    def wake_for_jobs(self) -> None:
        """Let hosts that sleep or switch count as free from now on: they are woken for the jobs that start there.

        Such a job runs, to the dispatcher, from its start on, and its stay begins when its hosts are expected to be
        awake; see `concerns.boots`.

        Raises:
            InputError: a host states no watts, or wrong ones.
        """
        self.join()
        if self.states is None:
            self.states = HostStates(self.ledger.machine)
        self.boots = Boots(self.states)
        self.ledger.shut()

    def is_booting(self, job_id: str) -> bool:
        """Return whether a job that was started waits for its hosts to wake up."""
        return self.boots is not None and job_id in self.boots.waiting

    def set_state(self, hosts: Allocation, state: str) -> None:
        """Switch hosts to a power state (needs Batsim's energy option).

        Nothing may start on a host that sleeps or switches. When all the hosts are in the power state, that is told.

        Raises:
            ImpossibleDecision: on a machine that states watts, a host cannot be set to this power state; see
                `machine.host_states`.
        """
        ledger = self.ledger
        if hosts.mask >> len(ledger.machine.hosts):
            last = len(ledger.machine.hosts) - 1
            raise ledger.refusal(f"hosts {hosts} are not all in the platform, which has 0-{last}")
        states, virtual_states = self.know_states(), set()
        if states is not None:
            busy = 0
            # Nothing runs on hosts that sleep.
            for stay in ledger.running.values() if hosts.mask & ~states.asleep else ():
                busy |= stay.allocation.mask
            problem = states.refusal(hosts.mask, state, busy, ledger.idle.away)
            if problem is not None:
                raise ledger.refusal(problem)
            for group in states.alike(hosts.mask):
                virtual = states.begin(group, int(state))
                virtual_states.add(virtual is not None)
                if self.boots is not None and virtual is not None:
                    self.boots.switch(group.hosts, 1 / group.power.states[virtual].speed, ledger.now)
            if self.boots is None:
                ledger.shut()
        switched = None if len(virtual_states) > 1 else True in virtual_states
        ledger.decisions.append(d.SetResourceState(ledger.now, hosts, state, switched))

    def wake(self, hosts: int) -> None:
        """Wake hosts that sleep; `hosts` is a mask. Needs `know_states` or `wake_for_jobs`."""
        assert self.states is not None, "the power states are known"
        for group, state in self.states.switch_groups(hosts, awake=True):
            self.set_state(group, state)

    def let_sleep(self, hosts: int) -> None:
        """Let idle hosts sleep that can, each in its deepest state; `hosts` is a mask. Needs the same."""
        assert self.states is not None, "the power states are known"
        for group, state in self.states.switch_groups(hosts, awake=False):
            self.set_state(group, state)

    def _call_off(self, stay: Stay) -> None:
        """Let a job wait again that was started on hosts of which one went away before it woke up."""
        ledger, job = self.ledger, stay.job
        del ledger.running[job.id]
        stay.state, stay.start = JobState.COMPLETED_KILLED, ledger.now
        ledger.idle.entry = ledger.idle.books.give(ledger.idle.entry, job, stay.allocation)
        Holds.of(ledger).drop(job.id, own=False)
        if self.boots is not None:
            self.boots.killed.discard(job.id)
        ledger.queue[job.id] = job
        ledger.roll.sort(ledger.queue)
        ledger.concerns.called_off.append(stay)

    def _begin_booted(self, boots: Boots) -> None:
        """Let the jobs run whose hosts are awake by now, and wake hosts that have just fallen asleep for others."""
        ledger = self.ledger
        for execute in boots.ready(ledger.idle.away):
            ledger.running[execute.job_id].start = ledger.now
            ledger.roll.begin(execute.job_id, ledger.now)
            ledger.decisions.append(msgspec.structs.replace(execute, time=ledger.now))
            if execute.job_id in boots.killed:
                boots.killed.discard(execute.job_id)
                ledger.decisions.append(d.Kill(ledger.now, [execute.job_id]))
        self.wake(boots.to_wake())

    # ------------------------------------------------------------------ what it has to say

    def mask(self) -> int:
        return 0 if self.states is None or self.boots is not None else self.states.away

    def late(self) -> int:
        return 0 if self.boots is None else self.boots.states.away

    def may_start(self, job: Job, allocation: Allocation, entry: Any) -> Any:
        if self.boots is None and self.states is not None and allocation.mask & self.states.away:
            why = self.states.why_not_computing(allocation.mask)
            raise self.ledger.refusal(f"job {job.id} cannot start on {allocation}: {why}")
        return entry

    def let_through(self, decision: D) -> D | None:
        boots = self.boots
        if boots is None:
            return decision
        if isinstance(decision, d.Execute):
            hosts = decision.allocation.mask
            if not hosts & boots.states.away:
                return decision
            self.ledger.running[decision.job_id].start = boots.awake_at(hosts, self.ledger.now)
            boots.waiting[decision.job_id] = decision
            self.wake(hosts & boots.states.asleep)
            return None
        if not boots.waiting:
            return decision
        # The simulator has yet to hear of those that wait for their hosts.
        waiting = [job_id for job_id in decision.job_ids if job_id in boots.waiting]
        boots.killed.update(waiting)
        others = [job_id for job_id in decision.job_ids if job_id not in boots.waiting]
        return msgspec.structs.replace(decision, job_ids=others) if others else None

    def on_event(self, event: News) -> None:
        if isinstance(event, e.ResourceStateChanged):
            self._switched(event)
        elif isinstance(event, e.MachinesUnavailable) and self.boots is not None:
            for execute in self.boots.on(event.hosts.mask):
                self._call_off(self.ledger.running[execute.job_id])

    def _switched(self, event: e.ResourceStateChanged) -> None:
        """Note that hosts are in the power state that was decided for them.

        Raises:
            InputError: they were not to be in that power state.
        """
        states = self.states
        if states is not None:
            for _, _, state, hosts in states.targets(event.hosts.mask):
                if str(state) != event.state:
                    raise contradiction(
                        event.time,
                        f"{self.ledger.machine.label(hostset.ids(hosts)[0])} was reported in power state "
                        f"{event.state}, expected {state}, which was decided",
                    )
            states.end(event.hosts.mask & (states.falling | states.rising))
        if self.boots is None:
            self.ledger.shut()
        else:
            self._begin_booted(self.boots)

    def check(self, idle: Any) -> Any:
        waiting = {} if self.boots is None else self.boots.waiting
        assert waiting.keys() <= self.ledger.running.keys(), "a job waits for its hosts and holds none"
        asleep = 0 if self.states is None else self.states.asleep
        for job_id, stay in self.ledger.running.items():
            assert job_id in waiting or not stay.allocation.mask & asleep, f"{stay} runs on hosts that sleep"
        return idle
