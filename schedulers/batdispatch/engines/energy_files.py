"""consumed_energy.csv and pstate_changes.csv, as Batsim writes them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from batdispatch.core.hosts import hostset
from batdispatch.inputs.whole import Whole

ENERGY_HEADER = "time,energy,event_type,wattmin,epower\n"
PSTATES_HEADER = "time,machine_id,new_pstate\n"


class EnergyFiles:
    """Both files of one simulation, under temporary names until complete."""

    def __init__(self, folder: Path) -> None:
        self._energy, self._pstates = Whole(folder / "consumed_energy.csv"), Whole(folder / "pstate_changes.csv")
        self._energy.stream.write(ENERGY_HEADER.encode())
        self._pstates.stream.write(PSTATES_HEADER.encode())
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
        self._energy.stream.write(b"%.6f,%.6f,%b,%b,%b\n" % (time, joules, kind.encode(), self._least[1], mean))
        self._before = time, joules

    def pstates(self, time: float, hosts: str, state: int) -> None:
        """Add a row of pstate_changes.csv; `hosts` in Batsim's notation."""
        self._pstates.stream.write(b"%g,%b,%d\n" % (time, hosts.encode(), state))

    def write_energy(self, rows: bytes | memoryview) -> None:
        """Add rows of consumed_energy.csv that are written out."""
        self._energy.stream.write(rows)

    def write_pstates(self, rows: bytes | memoryview) -> None:
        """Add rows of pstate_changes.csv that are written out."""
        self._pstates.stream.write(rows)

    def begin(self, pstates: Sequence[int]) -> None:
        """Write the power states in which the hosts begin."""
        for state in sorted(set(pstates)):
            hosts = hostset.mask_of(host for host, at in enumerate(pstates) if at == state)
            self.pstates(0.0, hostset.to_text(hosts), state)

    def finish(self) -> None:
        """Give the files their names."""
        self._energy.finish()
        self._pstates.finish()

    def discard(self) -> None:
        """Remove what was written."""
        self._energy.discard()
        self._pstates.discard()
