"""The door of the audit: finds the inputs of a run, reads its files, and asks every rule.

What this file alone may import of the package finds a run's folder and inputs, reads an events file, and measures once
more what abilities measure.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from batdispatch.abilities.verify.audit import rules
from batdispatch.abilities.verify.audit.case import Case, ask_all
from batdispatch.abilities.verify.audit.exchange import Outage
from batdispatch.abilities.verify.audit.findings import NETWORK, Findings, Violation
from batdispatch.abilities.verify.audit.machine import Machine, read_machine
from batdispatch.abilities.verify.audit.metrics import NETWORK as NETWORK_METRICS
from batdispatch.abilities.verify.audit.rows import Rows
from batdispatch.abilities.verify.audit.workload import Workload, read_workload
from batdispatch.abilities.verify.remeasure import differences
from batdispatch.core.errors import InputError
from batdispatch.core.line.events import MachinesAvailable, MachinesUnavailable
from batdispatch.engines.external import read_external_events
from batdispatch.inputs.files import file_digest, read_all
from batdispatch.results.metrics.measure import measures
from batdispatch.results.origins import find_origins
from batdispatch.results.runs import Result, jobs_file, read_result

if TYPE_CHECKING:
    from batdispatch.core.machine.machine import Machine as CoreMachine

__all__ = ["Auditor", "rules"]
#: Measures whose metrics rules work out by a reading of their own, as those of the base.
_READ = ("power",)
#: A platform's file, the host that carries Batsim, and the version of Batsim whose order of hosts the ids follow.
_Site = tuple[Path, str | None, Literal[4, 5]]


class Auditor:
    """Audits run folders; platforms and workloads that several runs share are read once."""

    def __init__(
        self,
        *,
        platform: Path | None = None,
        workload: Path | None = None,
        master: str | None = None,
        events: Path | None = None,
        roles: Mapping[str, str] | None = None,
        limit: int = 100,
    ) -> None:
        """Inputs that are not given are taken from each run's result.json.

        At most `limit` violations of each kind are kept.
        """
        self._platform, self._workload, self._events = platform, workload, events
        self._master, self._limit = master, limit
        # Platforms and workloads are read once.
        self._read_workload, self._read_machine = cache(_workload), cache(partial(_machine, dict(roles or {})))
        self._network = cache(partial(_network, dict(roles or {})))

    # Files that were changed by hand may hold any numbers; a rule compares what they make, and warns of nothing.
    @np.errstate(all="ignore")
    def run(self, folder: Path) -> Findings:
        """Audit one run folder.

        Raises:
            InputError: a file is missing or malformed, or neither an argument nor result.json names an input.
        """
        result = read_result(folder)
        origins = find_origins(folder, result)
        site = self._site(_found(folder, self._platform or origins.platform, result.platform.path, "platform"), result)
        path = _found(folder, self._workload or origins.workload, result.workload.path, "workload")
        workload, digest = self._read_workload(path)
        machine, platform_digest = self._read_machine(site)
        jobs, beside = jobs_file(folder), folder / "result.json"
        if jobs is None:
            raise InputError("holds no jobs.csv", source=str(folder))
        digests = {"platform": platform_digest, "workload": digest}
        # What stands in the file, whatever this version knows of it.
        said = msgspec.json.decode(beside.read_bytes() if beside.exists() else b"{}", type=dict[str, Any])
        events = self._events or origins.events
        outages: list[Outage] | None = [] if said and not result.settings.get("external_events") else None
        if events is not None:
            outages, digests["events"] = _outages(events, len(machine.names)), file_digest(events)
        findings, metrics = Findings(limit=self._limit), said.get("metrics") or {}
        again = measures()
        of_networks = [each for each in again if each.name == "network"]
        others = [each for each in again if metrics and each.name not in ("network", *_READ)]
        # No rule knows the metrics of other measures, which are measured again below.
        brought = {name for each in others for name in each.metrics}
        known = (
            {**said, "metrics": {name: metrics[name] for name in metrics if name not in brought}} if brought else said
        )
        ask_all(Case(folder, known, Rows(jobs), machine, workload, digests, outages), findings)
        measured = any(metrics.get(name) is not None for name in NETWORK_METRICS)
        if (folder / NETWORK).is_file() or measured or (metrics and machine.networked):
            others += of_networks
            if not of_networks:
                findings.skipped["network"] = "no measure of networks is installed"
        for measure in others:
            findings.checked.append(measure.name)
            for kind, message, job in differences(measure, folder, said, self._network(site), path):
                findings.add(Violation(kind, message, job=job))
        return findings

    def _site(self, path: Path, result: Result) -> _Site:
        master = self._master if self._master is not None else result.platform.master
        return path, master, 5 if result.engine.get("name") == "batsim5" else 4


def _workload(path: Path) -> tuple[Workload, str]:
    """Return what was read, with its SHA-256, as `_machine`."""
    data, digest = read_all(path)
    return read_workload(data, str(path)), digest


def _machine(roles: Mapping[str, str], site: _Site) -> tuple[Machine, str]:
    path, master, version = site
    data, digest = read_all(path)
    return read_machine(data, master, roles, version, str(path)), digest


def _network(roles: Mapping[str, str], site: _Site) -> CoreMachine:
    """Return the machine as a simulation reads it, for who measures networks."""
    from batdispatch.inputs.platforms import read_platform

    path, master, version = site
    return read_platform(path, master=master, roles=roles, batsim=version).machine


def _outages(path: Path, hosts: int) -> list[Outage]:
    """Return what an events file says of hosts, in order of time."""
    kinds = (MachinesAvailable, MachinesUnavailable)
    listed = [one for one in read_external_events(path, hosts) if isinstance(one, kinds)]
    return [Outage(one.time, one.time, isinstance(one, MachinesAvailable), one.hosts.mask) for one in listed]


def _found(folder: Path, path: Path | None, noted: str, kind: str) -> Path:
    """Return the path of an input, or refuse a folder whose input was not found where result.json notes it."""
    if path is None and not noted:
        raise InputError(f"has no result.json that names its {kind}; say --{kind}", source=str(folder))
    if path is None:
        place = str(folder / "result.json")
        raise InputError(f"the {kind} {noted!r} is not there (any more); say --{kind}", source=place)
    return path
