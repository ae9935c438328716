"""What hosts burnt in a simulation in a kernel, and the files that say it: what native/energy.c works out."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from batdispatch.abilities.kernels.library import call, structure_of
from batdispatch.abilities.kernels.simulate import Schedule
from batdispatch.abilities.kernels.sleepers import ARRIVAL, DECISION, PHASES, deepest_of
from batdispatch.abilities.kernels.state import Floats, Ints, Jobs
from batdispatch.abilities.power.engine.energy import OwnMeter
from batdispatch.abilities.power.engine.energy_files import Changes, EnergyFiles, EnergyTable, PowerRows
from batdispatch.abilities.power.engine.power_states import COMPUTE, SLEEP, STATES, least_watts, totals_of
from batdispatch.abilities.power.machine.host_states import AlikeHosts, HostStates
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.hostsets import Intervals, join_columns
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.blocks import write_rows
from batdispatch.engines.choices import CountEnergy
from batdispatch.engines.outputs import Outputs
from batdispatch.native.record import Record

#: Columns of machine_states.csv.
_COLUMNS = len(STATES) + 2


class Energy(Record):
    """The log of a simulation, and what hosts burn and have burnt."""

    kinds, _fields_ = structure_of("energy.c", "Energy")


class EnergyRows:
    """The energy of a simulation that is over.

    Attributes:
        joules: of each job's hosts while it ran, by rank.
        changed: when each host last did something else, s.
        rows: what the files say, once they are written.
    """

    rows: PowerRows

    def __init__(self, machine: Machine, count: CountEnergy, jobs: Jobs, schedule: Schedule) -> None:
        self._states = states = HostStates(machine)
        self._meter = OwnMeter(states, exact=count == "exact")
        self._energy = energy = Energy(exact=count == "exact", lines=len(schedule.log), hosts=len(states.powers))
        energy.submission, energy.charged, energy.begun = jobs.submission.min(initial=math.inf), math.nan, math.nan
        energy.hold(log=schedule.log, start=schedule.start, stop=schedule.end, hosts_at=schedule.at)
        energy.hold(hosts_runs=schedule.runs, first=schedule.first, last=schedule.last)
        #: How many there were, and how many hosts switched in them.
        self._switches = (0, 0)
        if switches := schedule.switches:
            energy.hold(**switches)
            energy.events = len(switches["event"])
            self._switches = len(switches["turn"]), int((switches["switch_last"] - switches["switch_first"] + 1).sum())
        self._hold_hosts(machine)
        # A row for each start and end of a job, and for two of five phases of a switch.
        rows = len(schedule.log) + 2 * self._switches[0]
        energy.hold_zeros(rows, "when", "total", "least", "what", "row_when", "row_total")
        energy.hold_zeros(rows * _COLUMNS, "count")
        energy.hold_zeros(len(jobs.units), "burnt")
        call("count_energy", energy, result=None)
        self.joules, self.changed = energy.arrays["burnt"], energy.arrays["changed"]

    def _hold_hosts(self, machine: Machine) -> None:
        energy, states = self._energy, self._states
        hosts = len(states.powers)
        energy.hold_zeros(hosts, "joules", "until", "since", "changed", "some", "busy")
        watts = np.zeros(hosts)
        for group in states.alike((1 << hosts) - 1):
            watts[hostset.ids(group.hosts)] = self._meter.watts_of(group, 0.0)
        energy.hold(watts=watts)
        energy.hold_zeros(len(STATES), "spent")
        energy.hold(count_now=np.array([0] * len(STATES) + [machine.size, 0], dtype=np.int64))
        energy.least_now = least_watts(states)
        turns = [turn for kind, (power, _) in enumerate(states.kinds) if power.sleeps for turn in self._turns(kind)]
        energy.hold(switch_watts=np.array([turn[0] for turn in turns]).ravel())
        energy.hold(switch_least=np.array([turn[1] for turn in turns]).ravel())

    def _turns(self, kind: int) -> list[tuple[list[float], list[float]]]:
        """Return what hosts of a kind burn that fall asleep and that wake up, and what they add to the least watts."""
        power, hosts = self._states.kinds[kind]
        deepest = deepest_of(power)
        turns = []
        for before, passed, after in zip(
            (power.usual, deepest), power.sleeps[deepest], (deepest, power.usual), strict=True
        ):
            flops, epsilon = power.states[passed].speed, [power.states[at].epsilon for at in (before, passed, after)]
            watts = [
                self._meter.watts_of(AlikeHosts(kind, power, state, hosts), load)
                for state, load in ((passed, 0.0), (passed, flops), (after, flops), (after, 0.0))
            ]
            turns.append((watts, [epsilon[1] - epsilon[0], epsilon[2] - epsilon[1]]))
        return turns

    def write(self, outputs: Outputs) -> None:
        """Write what Batsim writes of it."""
        energy = self._energy
        files = EnergyFiles(outputs)
        changes = files.begin([power.start for power in self._states.powers])
        write_rows(energy.rows, files.write_energy, partial(call, "write_energy_rows"), energy)
        write_rows(energy.rows, outputs.write_lines, partial(call, "write_power_rows"), energy)
        columns = energy.arrays
        times, joules, what = (columns[name][: energy.rows] for name in ("row_when", "row_total", "what"))
        table = EnergyTable(times, joules, what == ord("p"))
        if energy.events:
            kinds = [power for power, _ in self._states.kinds if power.sleeps]
            targets = np.array([(SLEEP, deepest_of(power), COMPUTE, power.usual) for power in kinds], dtype=np.int64)
            write_rows(energy.events, files.write_pstates, partial(call, "write_pstate_rows"), energy, targets)
            changes = self._changes(changes, times[table.switches], targets.reshape(-1, 2)[:, 1])
        self.rows = PowerRows(table, changes)

    def _changes(self, before: Changes, times: Floats, targets: Ints) -> Changes:
        """Return the rows of pstate_changes.csv.

        Args:
            before: those of the beginning.
            times: of the others, s.
            targets: power state to which each turn leads.
        """
        columns = self._energy.arrays
        number, phase = np.divmod(columns["event"], PHASES)
        reached = phase == ARRIVAL
        pstate = np.zeros(len(columns["turn"]), dtype=np.int64)
        pstate[number[reached]] = targets[columns["turn"][number[reached]]]
        is_row = reached | (phase == DECISION)
        number, reached = number[is_row], reached[is_row]
        runs = columns["at"][number], columns["pieces"][number]
        hosts = Intervals.of_runs(columns["switch_first"], columns["switch_last"], *runs)
        return Changes(
            np.concatenate([before.times, times]),
            join_columns([before.hosts, hosts]),
            np.concatenate([before.pstate, pstate[number]]),
            np.concatenate([before.reached, reached]),
        )

    def totals(self, idle: float) -> dict[str, float]:
        """Return what schedule.csv says of it; `idle`: seconds that hosts neither computed nor were away."""
        energy = self._energy
        joules = 0.0 if math.isnan(energy.begun) else energy.ended - energy.begun
        spent = dict(zip(STATES, energy.arrays["spent"].tolist(), strict=True))
        return totals_of(joules, self._switches, idle, spent)
