"""A dispatcher that sets power states: it decides as batsched's `sleeper` does."""

from collections import defaultdict

from batdispatch import Allocation, Dispatcher, Ledger


class Sleeper(Dispatcher):
    """First come, first served, one job at a time on whole hosts. All hosts sleep that the job does not need."""

    needs_energy = True

    def decide(self, ledger: Ledger) -> None:
        first = next(iter(ledger.queue.values()), None)
        if first is not None and not ledger.running:
            place = ledger.place(first)
            if place is None:
                self.wake(ledger, first.units)
                return
            ledger.start(first, place)
        self.switch(ledger, Allocation(ledger.free), awake=False)

    def wake(self, ledger: Ledger, units: int) -> None:
        if ledger.states is not None:
            lacking = units - ledger.free_hosts - Allocation(ledger.states.rising).size
            asleep = Allocation(ledger.states.asleep).ids
            self.switch(ledger, Allocation.of(asleep[: max(lacking, 0)]), awake=True)

    def switch(self, ledger: Ledger, hosts: Allocation, *, awake: bool) -> None:
        groups = defaultdict[int, list[int]](list)
        for host in hosts.ids:
            power = ledger.powers[host]
            state = power.usual if awake else power.deepest
            if state is not None:  # It can sleep.
                groups[state].append(host)
        for state, alike in groups.items():
            ledger.set_state(Allocation.of(alike), str(state))
