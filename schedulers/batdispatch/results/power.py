"""What a run's files say of the energy of its hosts: Batsim's consumed_energy.csv and schedule.csv."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from batdispatch.core.errors import InputError
from batdispatch.results.columns import Floats, RunColumns
from batdispatch.results.schedule import read_schedule

#: Its first two columns are the time, s, and the joules of all hosts since 0 s.
FILE = "consumed_energy.csv"


def power_of_run(folder: Path | None, columns: RunColumns) -> Mapping[str, float]:
    """Return what metrics of power are made of; nothing if the run counted no energy.

    The keys are ``joules`` from the first submission to the last end, ``joules_of_jobs``, the ``peak`` and ``p95`` of
    the watts, ``switches`` of hosts, and ``seconds_asleep``, summed over the hosts.

    Raises:
        InputError: consumed_energy.csv is malformed.
    """
    if folder is None or not (folder / FILE).is_file() or not (folder / "schedule.csv").is_file():
        return {}
    sums = read_schedule(folder / "schedule.csv")
    joules, switches, asleep = (sums.get(name) for name in ("consumed_joules", "nb_machine_switches", "time_sleeping"))
    if not all(isinstance(value, float) for value in (joules, switches, asleep)):
        return {}
    peak, most = _watts(folder / FILE)
    of_jobs = float(np.maximum(columns.consumed_energy[columns.ran], 0.0).sum())
    values = (joules, of_jobs, peak, most, switches, asleep)
    names = ("joules", "joules_of_jobs", "peak", "p95", "switches", "seconds_asleep")
    return {name: float(value) for name, value in zip(names, values, strict=True) if isinstance(value, float)}


def read_joules(path: Path) -> Floats:
    """Return what a run's consumed_energy.csv says: moments, s, and joules of all hosts until then, float64 [2, row].

    Of several rows of one moment, the last one is there.

    Raises:
        InputError: a row is malformed.
    """
    lines = path.read_bytes().splitlines()[1:]
    try:
        table = np.array([line.split(b",", 2)[:2] for line in lines], dtype=np.float64).reshape(-1, 2)
    except ValueError as problem:
        raise InputError(f"expected time,energy,... in each row: {problem}", source=str(path)) from None
    last: Floats = table[np.append(np.diff(table[:, 0]) > 0, True)[: len(table)]].T
    return last


def _watts(path: Path) -> tuple[float, float]:
    """Return the largest mean power between two rows, and the one not exceeded for 95 % of the time, in watts."""
    seconds, joules = np.diff(read_joules(path), axis=1)
    if not len(seconds):
        return 0.0, 0.0
    watts = joules / seconds
    order = np.argsort(watts, kind="stable")
    until = np.cumsum(seconds[order])
    return float(watts.max()), float(watts[order][np.searchsorted(until, 0.95 * until[-1])])
