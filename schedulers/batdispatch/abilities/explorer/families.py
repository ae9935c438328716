"""What a page is told beyond jobs: of machines with a network, of I/O nodes, and of nodes with several resources.

Nothing is told of a run on plain hosts, so that its page does not grow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from batdispatch.abilities.explorer.data import Table
from batdispatch.abilities.explorer.networks import network_columns, network_facts, network_of
from batdispatch.abilities.explorer.parts import parts_of, scales
from batdispatch.abilities.explorer.streams import Whole, fold_signs, steps, written
from batdispatch.abilities.topology.networks import Topology
from batdispatch.abilities.topology.results.allocations import distinct, measure
from batdispatch.abilities.topology.results.load import LinkLoad, link_load
from batdispatch.abilities.topology.results.use import io_hosts
from batdispatch.core.machine.machine import Machine
from batdispatch.results.outages import absences, outages_of
from batdispatch.results.runs import Run, has_network
from batdispatch.results.sites import Sites
from batdispatch.results.usage import MachineUse, asking_jobs

#: Most links that are followed for the curves of all runs of a page: some ten seconds.
MOST_LINKS = 100_000_000
#: Most parts of segments for the resources of all runs: as many segments as a page holds, and again as many.
MOST_PARTS = 4_000_000

Columns = Iterable[tuple[str, Whole]]


def families(table: Table, sites: Sites, shared: Mapping[str, MachineUse]) -> dict[str, Any]:
    """Return what the page's script reads under "families", of types that JSON has; empty: there is nothing to tell.

    Args:
        table: of the page.
        sites: where the machines and workloads of its runs are.
        shared: by label, for runs on shared nodes or with licences.
    """
    told = _FamilyTables(table, sites, shared)
    return {"families": told.written()} if told.machines else {}


class _FamilyTables:
    """Machines, each once; what jobs ask of I/O nodes, once for each workload; and the runs. Each has a table."""

    def __init__(self, table: Table, sites: Sites, shared: Mapping[str, MachineUse]) -> None:
        self._table, self._sites, self._shared = table, sites, shared
        self.machines: list[Machine] = []
        self._asking: list[tuple[str, str]] = []
        self._machine_columns: list[Columns] = []
        self._asked_columns: list[Columns] = []
        self._run_columns: list[Columns] = []
        self._parts_left = MOST_PARTS
        runs = len(table.runs)
        self._runs = [self._run(index, run, MOST_LINKS // runs) for index, run in enumerate(table.runs)]

    def written(self) -> dict[str, Any]:
        return {
            **written([*self._machine_columns, *self._asked_columns, *self._run_columns]),
            "asking": len(self._asking),
            "machines": [self._facts(machine) for machine in self.machines],
            "runs": self._runs,
        }

    def _machine(self, machine: Machine) -> int:
        """Return the number of a machine; its columns are kept when it is seen first."""
        for number, known in enumerate(self.machines):
            if known is machine:
                return number
        self.machines.append(machine)
        self._machine_columns.append(list(_machine_columns(machine)))
        return len(self.machines) - 1

    @staticmethod
    def _facts(machine: Machine) -> dict[str, Any]:
        topology = network_of(machine)
        amounts = [amount for _, amount in machine.licences]
        return {
            "hosts": len(machine.hosts),
            "storage": [[host.id, host.name] for host in machine.storage],
            "network": None if topology is None else network_facts(topology),
            "resources": list(machine.shared),
            "licences": [
                [name, amount // scale]
                for (name, amount), scale in zip(machine.licences, scales(amounts).tolist(), strict=True)
            ],
        }

    def _run(self, index: int, run: Run, most_links: int) -> dict[str, Any] | None:
        """Return the facts of a run and keep its columns; None: there is nothing to tell."""
        shared = self._shared.get(run.label)
        machine = shared.machine if shared is not None else self._sites.machine(run) if has_network(run) else None
        if machine is None:
            return None
        number = self._machine(machine)
        rows, _ = self._table.segments(index)
        columns: list[tuple[str, Whole]] = [*_away(self._table, run, machine)]
        topology = network_of(machine)
        load = None if topology is None else _load(run, machine, topology, most_links)
        if load is not None:
            columns += _load_columns(self._table, run, load)
        if shared is not None:
            columns += [*self._parts(shared, rows), *_licences(shared, rows)]
        self._run_columns.append(columns)
        return {"machine": number, "asking": self._asked(index, run, machine)}

    def _asked(self, index: int, run: Run, machine: Machine) -> int:
        """Return the number of the table of I/O nodes that jobs ask for; -1: none does."""
        if not machine.storage:
            return -1
        facts = run.result
        key = facts.workload.sha256, facts.platform.sha256
        if key in self._asking:
            return self._asking.index(key)
        workload = self._sites.workload(run)
        if workload is None:
            return -1
        place = {host.id: number for number, host in enumerate(machine.storage)}
        nodes: list[Sequence[int]] = [()] * self._table.count
        asking = asking_jobs(run.columns, workload.jobs, run.lineage)
        for row, job in enumerate(asking):
            if job is not None and job.request.io_nodes:
                where = int(self._table.places[index][run.lineage.job[row]])
                nodes[where] = [place[host] for host in io_hosts(machine, job.request) if host in place]
        if not any(nodes):
            return -1
        counts = np.array([len(each) for each in nodes], dtype=np.int64)
        asked = np.array([node for each in nodes for node in each], dtype=np.int64)
        self._asked_columns.append([("asked", counts), ("node", asked)])
        self._asking.append(key)
        return len(self._asking) - 1

    def _parts(self, shared: MachineUse, rows: Whole) -> Columns:
        """Yield what the segments hold on each node, unless there are too many parts."""
        if not shared.machine.shared:
            return
        parts = parts_of(shared.slots, rows)
        if len(parts.first) > self._parts_left:
            return
        self._parts_left -= len(parts.first)
        yield "parts", parts.count
        yield "first", fold_signs(steps(parts.first))
        yield "more", parts.more
        amount = parts.amount // scales(list(shared.machine.shared.values()))
        for name, column in zip(shared.machine.resources, amount.T, strict=True):
            yield f"amount {name}", column


def _machine_columns(machine: Machine) -> Columns:
    topology = network_of(machine)
    if topology is not None:
        yield from network_columns(topology)
    if machine.shared:
        capacity = machine.capacity // scales(list(machine.shared.values()))
        for name, column in zip(machine.resources, capacity.T, strict=True):
            yield f"capacity {name}", fold_signs(steps(column))


def _licences(shared: MachineUse, rows: Whole) -> Columns:
    """Yield what the segments hold of each licence."""
    licences = shared.machine.licences
    for (name, _), scale in zip(licences, scales([amount for _, amount in licences]).tolist(), strict=True):
        yield f"licence {name}", shared.licences[name][rows] // scale


def _away(table: Table, run: Run, machine: Machine) -> Columns:
    """Yield the times at which hosts were away: begin, length and host of each."""
    found = absences(outages_of(run, machine), table.end)
    begin, end, host = (np.array(column) for column in zip(*found, strict=True)) if found else (np.zeros(0),) * 3
    from_time, to_time = np.maximum(table.time(begin), 0), table.time(end)
    yield "away", steps(from_time)
    yield "length", np.maximum(to_time - from_time, 0)
    yield "host", host.astype(np.int64)


def _load(run: Run, machine: Machine, topology: Topology, most_links: int) -> LinkLoad | None:
    columns = run.columns
    start, finish = columns.spans
    allocations = distinct(columns.hosts, machine, topology)
    return link_load(allocations, topology, measure(allocations, machine, topology).routers, start, finish, most_links)


def _load_columns(table: Table, run: Run, load: LinkLoad) -> Columns:
    """Yield the loads after each moment at which a segment starts or ends; the page knows these moments."""
    ran = run.columns.ran
    ends = [table.time(times[ran]) for times in (run.columns.starting_time, run.columns.finish_time)]
    place = np.searchsorted(table.time(load.moments), np.unique(np.concatenate(ends)), side="right")
    for name, values in (("used", load.used), ("shared", load.shared), ("busiest", load.busiest)):
        yield name, fold_signs(steps(np.append(0, values)[place]))
