"""consumed_energy.csv and pstate_changes.csv, as Batsim writes them, and what they say as columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.hostsets import Intervals, parse_many
from batdispatch.engines.outputs import Outputs

ENERGY, CHANGES = "consumed_energy.csv", "pstate_changes.csv"


class EnergyTable(NamedTuple):
    """The rows of consumed_energy.csv."""

    #: In s.
    times: NDArray[np.float64]
    #: Of all hosts since 0 s.
    joules: NDArray[np.float64]
    #: Whether a power state was decided or reached.
    switches: NDArray[np.bool_]


class Changes(NamedTuple):
    """The rows of pstate_changes.csv: hosts are in a power state, or are set to one (`reached` is false)."""

    #: In s.
    times: NDArray[np.float64]
    hosts: Intervals
    #: 0 where hosts were set to a power state that they had not reached at the end.
    pstate: NDArray[np.int64]
    reached: NDArray[np.bool_]


class PowerRows(NamedTuple):
    """What both files of a run say, digit by digit."""

    energy: EnergyTable
    #: None: there is no such file.
    changes: Changes | None


class EnergyFiles:
    """Both files of one simulation."""

    def __init__(self, outputs: Outputs) -> None:
        """Begin the files; whoever finishes or discards the outputs does so with them."""
        #: Add rows that are written out.
        self.write_energy = outputs.begin_file(ENERGY, "time,energy,event_type,wattmin,epower\n")
        self.write_pstates = outputs.begin_file(CHANGES, "time,machine_id,new_pstate\n")
        self._before = (0.0, 0.0)
        #: The least watts of the row before, and their text.
        self._least = (math.nan, b"")

    def energy(self, time: float, joules: float, kind: str, least: float) -> None:
        """Add a row of consumed_energy.csv.

        Args:
            time: s.
            joules: burnt by all hosts since 0 s.
            kind: ``s`` for a job's start, ``e`` for its end, ``p`` for a power state.
            least: sum of the watts that the hosts burn at the least when they compute.
        """
        since, burnt = self._before
        mean = b"%.6f" % ((joules - burnt) / (time - since)) if time > since else b"NA"
        if least != self._least[0]:
            self._least = least, b"%.6f" % least
        self.write_energy(b"%.6f,%.6f,%b,%b,%b\n" % (time, joules, kind.encode(), self._least[1], mean))
        self._before = time, joules

    def pstates(self, time: float, hosts: str, state: int) -> None:
        """Add a row of pstate_changes.csv; `hosts` in Batsim's notation."""
        self.write_pstates(b"%g,%b,%d\n" % (time, hosts.encode(), state))

    def begin(self, pstates: Sequence[int]) -> Changes:
        """Write the power states in which the hosts begin, and return these rows."""
        states = sorted(set(pstates))
        hosts = [hostset.to_text(hostset.mask_of_flags(np.equal(pstates, state))) for state in states]
        for text, state in zip(hosts, states, strict=True):
            self.pstates(0.0, text, state)
        rows = len(states)
        return Changes(np.zeros(rows), parse_many(hosts), np.array(states), np.ones(rows, dtype=np.bool_))
