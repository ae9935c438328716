"""What hosts burn, and when they sleep."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from batdispatch.audit.case import Case, Faults, rule
from batdispatch.audit.findings import Fault
from batdispatch.audit.hosts import read_host_sets

#: Share of a time by which Batsim's print, which has six digits, may miss it.
_PRINT = 1e-5
#: Joules by which sums of printed numbers may miss.
_JOULES = 1e-3


@rule("hosts", name="asleep")
def asleep(case: Case) -> Faults:
    """No job runs on a host from when it is told to sleep until it is awake."""
    rows, path = case.rows, case.folder / "pstate_changes.csv"
    hosts = rows.hosts.ordered()
    for host, begin, end in _absences(path) if path.is_file() else ():
        on_it = hosts.row[(hosts.first <= host) & (host <= hosts.last)]
        slack = _PRINT * max(end if end < np.inf else begin, 1.0)
        for row in on_it[(case.started[on_it] < end - slack) & (rows.left[on_it] > begin + slack)].tolist():
            yield Fault(f"the host sleeps or switches from {begin:g} s to {end:g} s", row, host=case.machine.name(host))


def _absences(path: Path) -> Iterator[tuple[int, float, float]]:
    """Yield each host and the time that it sleeps and switches, as pstate_changes.csv says."""
    since: dict[int, float] = {}
    waking: set[int] = set()
    with path.open(newline="") as file:
        for time, listed, state in list(csv.reader(file))[1:]:
            sets = read_host_sets([listed])
            named = [host for a, b in zip(sets.first, sets.last, strict=True) for host in range(a, b + 1)]
            for host in named:
                if state == "-2":
                    since[host] = float(time)
                elif host in since and state == "-1":
                    waking.add(host)
                elif host in waking:
                    waking.discard(host)
                    yield host, since.pop(host), float(time)
    for host, begin in since.items():
        yield host, begin, np.inf


@rule("rows", name="joules")
def joules(case: Case) -> Faults:
    """The energy of all hosts never falls, and a job's is no more than what all hosts burnt while it ran."""
    path, rows = case.folder / "consumed_energy.csv", case.rows
    if not path.is_file() or not (rows.ran & (rows.energy >= 0)).any():
        return
    with path.open(newline="") as file:
        table = np.array([each[:2] for each in list(csv.reader(file))[1:]], dtype=np.float64).reshape(-1, 2)
    times, burnt = table.T
    if (np.diff(burnt) < -_JOULES).any():
        yield Fault(f"consumed_energy.csv: the energy falls at {times[1:][np.diff(burnt) < -_JOULES][0]:.6f} s")
    for row in np.flatnonzero(rows.ran & (rows.energy >= 0)).tolist():
        first = np.searchsorted(times, rows.start[row] - 1e-6)
        last = np.searchsorted(times, rows.left[row] + 2e-6, side="right") - 1
        if last < first or rows.energy[row] > burnt[last] - burnt[first] + _JOULES + 1e-6 * rows.energy[row]:
            yield Fault(f"consumed_energy is {rows.energy[row]:g} J, more than all hosts burnt while it ran", row)
