"""The door of the audit: finds the inputs of a run, reads its files, and asks every rule.

Only this file of the audit may import others of the package: what finds a run's folder, and what measures the network
once more.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from batdispatch.audit import rules
from batdispatch.audit.case import Case, ask_all
from batdispatch.audit.exchange import Outage
from batdispatch.audit.findings import NETWORK, Findings, Violation, part
from batdispatch.audit.hosts import mask_of
from batdispatch.audit.machine import Machine, read_machine
from batdispatch.audit.metrics import NETWORK as NETWORK_METRICS
from batdispatch.audit.rows import Rows
from batdispatch.audit.workload import Workload, read_workload
from batdispatch.core.errors import InputError
from batdispatch.inputs.files import read_all
from batdispatch.results.remeasure import network_differences
from batdispatch.results.runs import Result, jobs_file, read_result

if TYPE_CHECKING:
    from batdispatch.core.machine.machine import Machine as CoreMachine

__all__ = ["Auditor", "rules"]
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

    def run(self, folder: Path) -> Findings:
        """Audit one run folder.

        Raises:
            InputError: a file is missing or malformed, or neither an argument nor result.json names an input.
        """
        result = read_result(folder)
        site = self._site(folder, result)
        path = self._workload or _locate(folder, result.workload.path, "workload")
        workload, digest = self._read_workload(path)
        machine, platform_digest = self._read_machine(site)
        jobs, beside = jobs_file(folder), folder / "result.json"
        if jobs is None:
            raise InputError("holds no jobs.csv", source=str(folder))
        digests = {"platform": platform_digest, "workload": digest}
        # What stands in the file, whatever this version knows of it.
        said = msgspec.json.decode(beside.read_bytes() if beside.exists() else b"{}", type=dict[str, Any])
        outages = self._outages(folder, said, digests)
        findings = Findings(limit=self._limit)
        ask_all(Case(folder, said, Rows(jobs), machine, workload, digests, outages), findings)
        metrics = said.get("metrics") or {}
        measured = any(metrics.get(name) is not None for name in NETWORK_METRICS)
        if (folder / NETWORK).is_file() or measured or (metrics and machine.networked):
            findings.checked.append("network")
            for kind, message, job in network_differences(folder, said, self._network(site), path, NETWORK_METRICS):
                findings.add(Violation(kind, message, job=job))
        return findings

    def _site(self, folder: Path, result: Result) -> _Site:
        path = self._platform or _locate(folder, result.platform.path, "platform")
        master = self._master if self._master is not None else result.platform.master
        return path, master, 5 if result.engine.get("name") == "batsim5" else 4

    def _outages(self, folder: Path, said: Mapping[str, Any], digests: dict[str, str]) -> list[Outage] | None:
        """Return what the file of external events says, and note its digest; None: it is not known what it says."""
        noted = part(part(said, "made_from"), "settings").get("external_events")
        if self._events is None and noted is None:
            return [] if said else None
        paths = [self._events] if self._events is not None else [Path(str(noted)), folder / str(noted)]
        for path in paths:
            if path.is_file():
                data, digests["events"] = read_all(path)
                return _read_outages(data, str(path))
        return None


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


class _External(msgspec.Struct):
    type: str = ""
    timestamp: float = 0.0
    resources: Any = ""


def _read_outages(data: bytes, source: str) -> list[Outage]:
    """Return what an events file says of hosts, in order of time.

    Raises:
        InputError: it cannot be read.
    """
    outages = []
    for number, line in enumerate(data.splitlines(), start=1):
        try:
            event = msgspec.json.decode(line.strip() or b"{}", type=_External)
            if (kind := event.type.removeprefix("event_")) in ("machine_available", "machine_unavailable"):
                mask = mask_of(str(event.resources))
                outages.append(Outage(event.timestamp, event.timestamp, kind == "machine_available", mask))
        except (msgspec.MsgspecError, InputError, UnicodeDecodeError) as problem:
            raise InputError(f"is no event: {problem}", source=source, place=f"line {number}") from None
    return sorted(outages, key=lambda outage: outage.earliest)


def _locate(folder: Path, noted: str, kind: str) -> Path:
    """Return the file that result.json names: relative to where we are, or to the run's folder."""
    if not noted:
        raise InputError(f"has no result.json that names its {kind}; say --{kind}", source=str(folder))
    for path in (Path(noted), folder / noted):
        if path.is_file():
            return path
    raise InputError(f"the {kind} {noted!r} is not there (any more); say --{kind}", source=str(folder / "result.json"))
