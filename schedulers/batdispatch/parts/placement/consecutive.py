"""Slurm's choice of nodes: the set of neighbours that fits best."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.capacity.filling import fill
from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.scene import Scene
from batdispatch.core.machine.machine import WEIGHT_PROPERTY, Machine
from batdispatch.parts.placement.base import HostPlacement


class _Neighbours(NamedTuple):
    """Nodes with consecutive ids, equal weights and room for the job."""

    weight: int
    #: Units of the job that they can take.
    units: int
    #: The nodes, int64 [k].
    hosts: NDArray[np.intp]


class Consecutive(HostPlacement):
    """Takes sets of neighbouring nodes as Slurm's cons_tres and cons_res do, without a topology plugin.

    Nodes with room for the job and consecutive ids are a set. If a set holds what is left of the job, the job takes the
    one with the least room, and otherwise the set with the most. Within a set, a job that needs a single node takes the
    one with the least room that holds it, and another job the lowest ids. Ties go to the lowest ids. Hosts with a
    property `weight` are taken in order of their weights, smallest first, and no set has two weights.

    If these are more nodes than a job may have, those with the least room are left out, and all begins anew, as in
    Slurm. If that finds nothing either, the job goes to the roomiest nodes.

    Typical use: `slurm-backfill`, and other dispatchers that are to place jobs as Slurm does.
    Deviations:
        - Topology plugins (tree, dragonfly), `CR_LLN`, `CR_Pack_Nodes` and sockets are left out.
    References:
        [1] SchedMD: select/cons_tres, `_eval_nodes` in Slurm 22.05, https://github.com/SchedMD/slurm.
    """

    def begin(self, machine: Machine) -> None:
        super().begin(machine)
        weights = weights_of(machine)
        #: int64 [host]; None: all alike.
        self._weights = None if (weights == weights[0]).all() else weights

    def pick(self, free: int, count: int) -> int | None:
        if self._weights is None:
            return _tightest_runs(free, count)
        room = hostset.flags_of(free, len(self.machine.hosts)).astype(np.int64)
        order = self._order(room, count, count)
        return hostset.mask_of(order[:count].tolist())

    def spread(self, room: NDArray[np.int64], scene: Scene, job: Job) -> Allocation | None:
        need = scene.space.need(job)
        for least in np.unique(room[room > 0]).tolist():
            left = np.where(room >= least, room, 0)
            allocation = fill(left, need, self._order(left, need.units, need.least))
            if allocation is not None:
                return allocation
        return fill(room, need)

    def _order(self, room: NDArray[np.int64], units: int, nodes: int) -> NDArray[np.intp]:
        """Return the nodes in the order in which a job takes them: enough for its units and its number of nodes."""
        sets = self._sets(room)
        taken: list[NDArray[np.intp]] = []
        while sets and (units > 0 or nodes > 0):
            fits = [_fit(one, units, nodes) for one in sets]
            hosts = sets.pop(fits.index(min(fits))).hosts
            if nodes <= 1:
                able = hosts[room[hosts] >= units]
                hosts = able[room[able].argmin() :][:1] if len(able) else hosts
            taken.append(hosts)
            units -= int(room[hosts].sum())
            nodes -= len(hosts)
        return np.concatenate(taken) if taken else np.zeros(0, dtype=np.intp)

    def _sets(self, room: NDArray[np.int64]) -> list[_Neighbours]:
        hosts = room.nonzero()[0]
        weights = np.zeros(len(room), dtype=np.int64) if self._weights is None else self._weights
        apart = (np.diff(hosts) > 1) | (np.diff(weights[hosts]) != 0)
        return [
            _Neighbours(int(weights[part[0]]), int(room[part].sum()), part)
            for part in np.split(hosts, apart.nonzero()[0] + 1)
            if len(part)
        ]


def weights_of(machine: Machine) -> NDArray[np.int64]:
    """Return the weight of each host, int64 [host]."""
    return np.array([_weight(host.name, host.properties) for host in machine.hosts], dtype=np.int64)


def _fit(neighbours: _Neighbours, units: int, nodes: int) -> tuple[int, bool, int]:
    """Return how badly a set fits a job."""
    enough = neighbours.units >= units and len(neighbours.hosts) >= nodes
    return neighbours.weight, not enough, neighbours.units if enough else -neighbours.units


def _tightest_runs(free: int, count: int) -> int:
    """Return what `Consecutive._order` comes to on whole hosts that are alike, as a mask."""
    runs = [(last - first + 1, first) for first, last in hostset.runs(free)]
    mask = 0
    while count:
        length, first = min(runs, key=lambda run: (run[0] < count, run[0] if run[0] >= count else -run[0]))
        runs.remove((length, first))
        length = min(length, count)
        mask |= ((1 << length) - 1) << first
        count -= length
    return mask


def _weight(name: str, properties: Mapping[str, str]) -> int:
    text = properties.get(WEIGHT_PROPERTY, "1")
    if not (text.isascii() and text.isdigit() and len(text) < 11):
        raise InputError(f"its weight is {text[:40]!r}, expected a whole number", place=f"host {name}")
    return int(text)
