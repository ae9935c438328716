"""Which storage host serves a label of a profile, when a placement does not say.

Batsim 4 guesses only where a job uses one label and the machine has one storage host; else a job that starts without a
storage mapping aborts the simulation. Batsim 5 takes the host of the label's name, and aborts where there is none. Here
the rule is one for both and for the embedded engine, and what follows from it is told with the start of a job.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from batdispatch.core.jobs.profiles import leaves
from batdispatch.core.machine.machine import Machine

Profiles = Mapping[str, Mapping[str, Any]]
#: Type of a profile -> its fields that hold labels, each with the label that stands where the field is left out.
_FIELDS: dict[str, tuple[tuple[str, str], ...]] = {
    "parallel_homogeneous_pfs": (("storage", "pfs"),),
    "data_staging": (("from", ""), ("to", "")),
}


def labels_of(profile: Mapping[str, Any]) -> Iterator[str]:
    """Yield the storage labels of one profile that is no sequence."""
    for field, default in _FIELDS.get(str(profile.get("type")), ()):
        label = profile.get(field, default)
        if isinstance(label, str) and label:
            yield label


def storage_host(label: str, machine: Machine, pins: Sequence[str] = ()) -> int | None:
    """Return the id of the host behind a label: the storage host of that name, else the only one there is.

    Where a job is pinned to a single I/O node, this is the only one that it has.

    Args:
        label: the label.
        machine: the machine.
        pins: names of the I/O nodes that the job is pinned to.
    """
    disks = machine.storage
    named = next((disk.id for disk in disks if disk.name == label), None)
    if len(pins) == 1:
        disks = tuple(disk for disk in disks if disk.name == pins[0])
    return disks[0].id if named is None and len(disks) == 1 else named


class Storages:
    """The storage mappings of the profiles of one simulation.

    Invariant: a mapping that was worked out stays, since a profile never changes.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._known: dict[tuple[str, str, tuple[str, ...]], dict[str, int] | None] = {}

    def mapping(
        self, workload: str, name: str, profiles: Profiles, pins: tuple[str, ...] = ()
    ) -> Mapping[str, int] | None:
        """Return the host of each label that a profile, or a part of it, uses; None if it uses no storage.

        A label that leads to no host is left out: whoever simulates refuses it, once the job gets that far.

        Args:
            workload: the profile's.
            name: the profile's.
            profiles: those of the workload, by name, as far as they are known.
            pins: names of the I/O nodes that the job is pinned to.
        """
        if not self._machine.storage or name not in profiles:
            return None
        key = (workload, name, pins)
        if key not in self._known:
            labels = sorted({label for _, profile in leaves(name, profiles) for label in labels_of(profile)})
            found = {label: storage_host(label, self._machine, pins) for label in labels}
            self._known[key] = {label: host for label, host in found.items() if host is not None} or None
        return self._known[key]


def uses_storage(profiles: Profiles) -> str | None:
    """Return the name of a profile that uses storage, the first in order, or None."""
    return next((name for name in sorted(profiles) if any(labels_of(profiles[name]))), None)
