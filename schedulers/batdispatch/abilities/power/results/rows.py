"""Reads consumed_energy.csv and pstate_changes.csv."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from batdispatch.abilities.power.engine.energy_files import CHANGES, ENERGY, Changes, EnergyTable, PowerRows
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.hostsets import parse_many


def read_power(folder: Path, *, changes: bool) -> PowerRows:
    """Read the files of a run, with pstate_changes.csv if it is asked for and there.

    Raises:
        InputError: a row is malformed.
    """
    energy, path = read_energy(folder / ENERGY), folder / CHANGES
    return PowerRows(energy, _read_changes(path, energy) if changes and path.is_file() else None)


def read_energy(path: Path) -> EnergyTable:
    """Read a run's consumed_energy.csv.

    Raises:
        InputError: a row is malformed.
    """
    expected = "expected time,energy,event_type,... in each row"
    times, joules, kinds, *_ = _columns(path, 3, expected)
    try:
        numbers = np.array([times, joules], dtype=np.float64)
    except ValueError as problem:
        raise InputError(f"{expected}: {problem}", source=str(path)) from None
    return EnergyTable(numbers[0], numbers[1], np.array([kind == b"p" for kind in kinds], dtype=np.bool_))


def _columns(path: Path, least: int, expected: str) -> list[list[bytes]]:
    """Return the columns of a file, at least so many, of which no field is in quotes."""
    head, _, rest = path.read_bytes().partition(b"\n")
    # Line by line takes twice as long.
    fields, count = rest.replace(b"\n", b",").split(b",")[:-1], head.count(b",") + 1
    if count < least or len(fields) % count:
        raise InputError(f"{expected}, found rows of another length", source=str(path))
    return [fields[at::count] for at in range(count)]


def _read_changes(path: Path, energy: EnergyTable) -> Changes:
    """Read pstate_changes.csv, with the moments of the rows of kind ``p`` in the other file, which has more digits."""
    expected = "expected time,machine_id,new_pstate in each row"
    moments, texts, targets, *_ = _columns(path, 3, expected)
    try:
        times, states = np.array(moments, dtype=np.float64), np.array(targets).astype(np.int64)
        hosts = [text.decode("ascii") for text in texts]
    except ValueError as problem:
        raise InputError(f"{expected}: {problem}", source=str(path)) from None
    exact = energy.times[energy.switches]
    # Only the rows of the beginning have none there.
    first = len(times) - len(exact)
    if first >= 0 and not times[:first].any():
        times[first:] = exact
    found, coming = list[int](), dict[str, int]()
    for text, state in zip(reversed(hosts), reversed(states.tolist()), strict=True):
        if state >= 0:
            coming[text] = state
        found.append(coming.get(text, 0))
    try:
        intervals = parse_many(hosts)
    except InputError as problem:
        raise problem.found_in(str(path)) from None
    return Changes(times, intervals, np.array(found[::-1], dtype=np.int64), states >= 0)
