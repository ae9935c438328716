"""What Batsim 5.0.0-rc2 does wrongly with a workload: which jobs abort it, and which take the wrong time.

Read in its source (src/task_execution.cpp) and seen in the program: a task without work hands SimGrid empty vectors,
data staging hands it a matrix of 2 instead of 2 x 2 amounts, and a task on a storage writes as much as it reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from batdispatch.core.jobs.profiles import leaves

#: Whose faults these are.
VERSION = "5.0.0-rc2"
Fault = Literal["no work", "data staging", "storage"]
#: Fault -> what befalls the jobs, after "N of M jobs".
_EFFECTS: dict[Fault, str] = {
    "no work": "have a task without work, on which it aborts",
    "data staging": "stage data between storages, on which it aborts",
    "storage": "read and write different amounts on a storage, where it writes what it reads: their time is wrong",
}

Profile = Mapping[str, Any]


def fault_of(profile: Profile) -> Fault | None:
    """Return what Batsim does wrongly with a profile that is no sequence, in Batsim 4's form; None: nothing known."""
    kind = profile.get("type")
    if kind == "data_staging":
        return "data staging"
    if kind == "parallel_homogeneous_pfs":
        if not profile["bytes_to_read"]:
            return "no work"
        return None if profile["bytes_to_read"] == profile["bytes_to_write"] else "storage"
    if kind in ("parallel_homogeneous", "parallel_homogeneous_total"):
        return None if profile["cpu"] or profile["com"] else "no work"
    if kind == "parallel":
        return None if any(profile["cpu"]) or any(profile["com"]) else "no work"
    return None


def warnings(used: Iterable[str], profiles: Mapping[str, Profile]) -> list[str]:
    """Return a sentence for each fault that touches jobs, with their number.

    Args:
        used: the profile of each job.
        profiles: by name, checked.
    """
    jobs = Counter(used)
    touched: Counter[Fault] = Counter()
    for name, count in jobs.items():
        found = {fault_of(profile) for _, profile in leaves(name, profiles)}
        touched.update({fault: count for fault in found if fault is not None})
    total = sum(jobs.values())
    return [
        f"Batsim {VERSION}: {touched[fault]} of {total} jobs {effect}"
        for fault, effect in _EFFECTS.items()
        if touched[fault]
    ]
