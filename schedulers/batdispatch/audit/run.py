"""The door of the audit: finds the inputs of a run, reads its files, and asks every rule.

Only this file of the audit may import others of the package: what hands a run on to those who simulate it again, and
what measures the network once more.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from batdispatch.audit import rules
from batdispatch.audit.case import Case, ask_all
from batdispatch.audit.course import Clock, Course, Given, Outage
from batdispatch.audit.findings import Findings, Violation
from batdispatch.audit.hosts import mask_of
from batdispatch.audit.machine import Machine, read_machine
from batdispatch.audit.metrics import NETWORK as NETWORK_METRICS
from batdispatch.audit.queues import Queues
from batdispatch.audit.request import Demands
from batdispatch.audit.rows import Lineage, Rows, read_lineage, read_units
from batdispatch.audit.words import NETWORK, RECORDING
from batdispatch.audit.workload import Endings, Job, Workload, job_of, read_workload
from batdispatch.core.errors import InputError
from batdispatch.inputs.files import read_all
from batdispatch.results.remeasure import network_differences
from batdispatch.results.runs import Result, jobs_file, read_result

if TYPE_CHECKING:
    from batdispatch.core.machine.machine import Machine as CoreMachine

__all__ = ["Auditor", "Inputs", "Load", "Site", "rules"]


class Site:
    """A platform file.

    Attributes:
        path: of it.
        digest: its SHA-256.
        reading: what the audit reads in it.
    """

    def __init__(self, path: Path, master: str | None, roles: Mapping[str, str] | None, batsim: Literal[4, 5]) -> None:
        """Read it.

        Raises:
            InputError: it is missing or malformed.
        """
        data, self.digest = read_all(path)
        self.path = path
        self.reading: Machine = read_machine(data, master, roles or {}, batsim, str(path))
        self._as_simulated = (master, roles, batsim)

    @cached_property
    def machine(self) -> CoreMachine:
        """The machine as a simulation reads it, for who simulates or decides again; no rule asks for it."""
        from batdispatch.inputs.platforms import read_platform

        master, roles, batsim = self._as_simulated
        return read_platform(self.path, master=master, roles=roles, batsim=batsim).machine


class Load(NamedTuple):
    """A workload file: where it is, its SHA-256, and what the audit reads in it."""

    path: Path
    digest: str
    reading: Workload

    @property
    def profiles(self) -> dict[str, dict[str, Any]]:
        """The profiles by name, as the file has them."""
        return self.reading.profiles


class Inputs(NamedTuple):
    """What a run was made from: its result.json, typed and as it stands there, and the files that it names."""

    result: Result
    said: dict[str, Any]
    platform: Site
    workload: Load


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
        self._platform = platform
        self._workload = workload
        self._master = master
        self._events = events
        self._roles = roles
        self._limit = limit
        self._platforms: dict[tuple[Path, str | None, int], Site] = {}
        self._workloads: dict[Path, Load] = {}

    def inputs(self, folder: Path) -> Inputs:
        """Find and read what a run was made from.

        Raises:
            InputError: a file is missing or malformed, or neither an argument nor result.json names an input.
        """
        result = read_result(folder)
        platform_path = self._platform or _locate(folder, result.platform.path, "platform")
        workload_path = self._workload or _locate(folder, result.workload.path, "workload")
        master = self._master if self._master is not None else result.platform.master
        batsim: Literal[4, 5] = 5 if result.engine.get("name") == "batsim5" else 4
        if workload_path not in self._workloads:
            data, digest = read_all(workload_path)
            self._workloads[workload_path] = Load(workload_path, digest, read_workload(data, str(workload_path)))
        key = (platform_path, master, batsim)
        if key not in self._platforms:
            self._platforms[key] = Site(platform_path, master, self._roles, batsim)
        # What stands in the file, whatever this version knows of it.
        path = folder / "result.json"
        said = msgspec.json.decode(path.read_bytes(), type=dict[str, Any]) if path.exists() else {}
        return Inputs(result, said, self._platforms[key], self._workloads[workload_path])

    def run(self, folder: Path) -> Findings:
        """Audit one run folder.

        Raises:
            InputError: a file is missing or malformed, or neither an argument nor result.json names an input.
        """
        inputs = self.inputs(folder)
        path = jobs_file(folder)
        if path is None:
            raise InputError("holds no jobs.csv", source=str(folder))
        findings = Findings(limit=self._limit)
        ask_all(self._case(folder, Rows(path), inputs), findings)
        metrics = inputs.said.get("metrics") or {}
        measured = any(metrics.get(name) is not None for name in NETWORK_METRICS)
        if (folder / NETWORK).is_file() or measured or (metrics and inputs.platform.reading.networked):
            findings.checked.append("network")
            machine, workload = inputs.platform.machine, inputs.workload.path
            for kind, message, job in network_differences(folder, inputs.said, machine, workload, NETWORK_METRICS):
                findings.add(Violation(kind, message, job=job))
        return findings

    def _case(self, folder: Path, rows: Rows, inputs: Inputs) -> Case:
        said, machine, workload = inputs.said, inputs.platform.reading, inputs.workload.reading
        queues = Queues(machine)
        demands = Demands(machine, queues)
        units, lineage = read_units(folder, rows), read_lineage(folder, rows)
        jobs, at = _jobs_of(rows, workload)
        embedded = isinstance(said.get("engine"), dict) and said["engine"].get("name") == "embedded"
        clock = Clock(embedded and said.get("clock") != "batsim")
        course = None
        if (folder / RECORDING).is_file():
            given = Given(rows, units, at, workload, machine, demands, said, clock, reserved=bool(queues.windows))
            course = Course(given)
            course.follow(folder / RECORDING)
            for row, fields in course.jobs.items():
                jobs[row] = job_of(fields)
        digests, outages = {"platform": inputs.platform.digest, "workload": inputs.workload.digest}, None
        path = self._events_file(folder, said)
        if path is not None and path.is_file():
            outages = _read_outages(path)
            digests["events"] = read_all(path)[1]
        elif path is None and said:
            outages = []
        return Case(
            folder=folder,
            rows=rows,
            units=units,
            lineage=lineage,
            machine=machine,
            queues=queues,
            demands=demands,
            workload=workload,
            said=said,
            digests=digests,
            jobs=jobs,
            asking=_asking(jobs, at, lineage),
            course=course,
            clock=clock,
            outages=outages,
            endings=Endings(workload.profiles, {}) if course is None else course.endings,
        )

    def _events_file(self, folder: Path, said: Mapping[str, Any]) -> Path | None:
        """Return the file of external events; None: the run has none."""
        noted = rules.result.Command(said.get("command")).one("--events")
        if self._events is not None or noted is None:
            return self._events
        return next((path for path in (Path(noted), folder / noted) if path.is_file()), Path(noted))


def _jobs_of(rows: Rows, workload: Workload) -> tuple[list[Job | None], list[int]]:
    """Return the workload's job of each row, and where it stands; None and -1: it is none of these.

    A job is found by its name, or by ``workload!name`` where the ids of the workload have that form.
    """
    known = {str(job.id): index for index, job in enumerate(workload.jobs)}
    at = [known.get(name, known.get(full, -1)) for name, full in zip(rows.ids, rows.names, strict=True)]
    return [workload.jobs[index] if index >= 0 else None for index in at], at


def _asking(jobs: list[Job | None], at: list[int], lineage: Lineage) -> list[Job | None]:
    """Return the job whose request each row has: its own of the workload, or that of its first segment."""
    root = lineage.root.tolist()
    return [jobs[row] if at[row] >= 0 or at[root[row]] < 0 else jobs[root[row]] for row in range(len(jobs))]


def _read_outages(path: Path) -> list[Outage]:
    """Return what an events file says of hosts, in order of time.

    Raises:
        InputError: it cannot be read.
    """
    found = []
    for number, line in enumerate(read_all(path)[0].splitlines(), start=1):
        try:
            event = msgspec.json.decode(line, type=dict[str, Any]) if line.strip() else {}
            kind = str(event.get("type", "")).removeprefix("event_")
            if kind in ("machine_available", "machine_unavailable"):
                time = float(event["timestamp"])
                found.append(Outage(time, time, kind == "machine_available", mask_of(event["resources"])))
        except (msgspec.MsgspecError, KeyError, TypeError, ValueError, InputError) as problem:
            raise InputError(f"is no event: {problem}", source=str(path), place=f"line {number}") from None
    return sorted(found, key=lambda outage: outage.earliest)


def _locate(folder: Path, noted: str, kind: str) -> Path:
    """Return the file that result.json names: relative to where we are, or to the run's folder."""
    if not noted:
        raise InputError(f"has no result.json that names its {kind}; say --{kind}", source=str(folder))
    for path in (Path(noted), folder / noted):
        if path.is_file():
            return path
    raise InputError(f"the {kind} {noted!r} is not there (any more); say --{kind}", source=str(folder / "result.json"))
