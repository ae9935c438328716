"""Words and tolerances of a run's files: states, names of files, and by how much two times may differ."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeGuard

#: Final states, with Batsim's names.
SUCCESS, FAILED = "COMPLETED_SUCCESSFULLY", "COMPLETED_FAILED"
WALLTIME, KILLED, REJECTED = "COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED", "REJECTED"
STATES = (SUCCESS, FAILED, WALLTIME, KILLED, REJECTED)

#: Names of files in a run's folder.
RECORDING, UNITS, LINEAGE, MACHINE_STATES = "decisions.jsonl", "units.csv", "lineage.csv", "machine_states.csv"
DECISION_TIMES, PLANS, NETWORK = "decision_times.csv", "solver.jsonl", "network.csv"

#: Times in a jobs file have six decimals. So two times that should be equal differ by up to 1e-6 s, and a difference of
#: two by up to 1.5e-6 s.
TOLERANCE = 2e-6
#: Seconds within which a run time counts as its profile's. At large times the clock of a simulator is coarser.
RUNTIME_TOLERANCE = 1e-4
#: Seconds that Batsim writes for a job that took none.
NO_TIME = 1e-5
#: Relative difference below which two values of a metric are the same.
SAME = 1e-9


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a JSON value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_amount(value: Any) -> TypeGuard[float]:
    """Return whether a JSON value is a number from 0, and finite."""
    return is_number(value) and 0 <= value < math.inf


def part(said: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return an object within a JSON object; what is none has nothing in it."""
    value = said.get(name)
    return value if isinstance(value, dict) else {}


def alike(one: Any, other: Any) -> bool:
    """Return whether two JSON values mean the same: numbers to six decimals, as Batsim prints them."""
    if is_number(one) and is_number(other):
        return bool(one == other) or math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-6)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return bool(one == other)


def full_name(workload: str, name: str) -> str:
    """Return ``workload!name`` for a name that may begin with a workload."""
    return name if "!" in name else f"{workload}!{name}"


def short(value: Any, most: int = 80) -> str:
    """Return a value as a message shows it, in up to so many characters."""
    text = repr(value)
    return text if len(text) <= most else text[: most - 3] + "..."
