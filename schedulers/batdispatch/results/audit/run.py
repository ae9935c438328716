"""The audit of a run folder: finds the inputs of the run, makes sure they are the ones, and audits every file in it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from batdispatch.core.errors import InputError
from batdispatch.core.machine import Machine
from batdispatch.engines.external import read_external_events
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads.reader import read_workload_into
from batdispatch.results.audit.beginning import hear_beginning
from batdispatch.results.audit.exchange import Clock, Outage
from batdispatch.results.audit.findings import Findings, Violation
from batdispatch.results.audit.jobs import JobTable
from batdispatch.results.audit.outages import check_outages, outages_of
from batdispatch.results.audit.rules import audit
from batdispatch.results.audit.stated import Command, check_recorded, check_stated
from batdispatch.results.audit.sums import check_sums
from batdispatch.results.audit.tables import check_states, check_units_file
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.lineage import FILE as LINEAGE
from batdispatch.results.lineage import read_lineage
from batdispatch.results.run_files import RECORDING
from batdispatch.results.runs import Result, jobs_file, read_result
from batdispatch.results.usage import read_units


class Site(NamedTuple):
    """What an audit needs of a platform file."""

    path: Path
    digest: str
    machine: Machine


class Load(NamedTuple):
    """What an audit needs of a workload file."""

    path: Path
    digest: str
    jobs: JobTable
    profiles: dict[str, dict[str, Any]]


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
        key = (platform_path, master, batsim)
        # The workload first: reading it takes the most memory, and what follows fits into what it leaves free.
        if workload_path not in self._workloads:
            workload, jobs = read_workload_into(JobTable, workload_path)
            self._workloads[workload_path] = Load(workload.path, workload.digest, jobs, workload.profiles)
        if key not in self._platforms:
            platform = read_platform(platform_path, master=master, roles=self._roles, batsim=batsim)
            self._platforms[key] = Site(platform.path, platform.digest, platform.machine)
        # What stands in the file, whatever this version knows of it.
        said: dict[str, Any] = {}
        if (folder / "result.json").exists():
            said = msgspec.json.decode((folder / "result.json").read_bytes(), type=dict[str, Any])
        return Inputs(result, said, self._platforms[key], self._workloads[workload_path])

    def run(self, folder: Path) -> Findings:
        """Audit one run folder.

        Raises:
            InputError: a file is missing or malformed, or neither an argument nor result.json names an input.
        """
        result, said, platform, workload = self.inputs(folder)
        path = jobs_file(folder)
        if path is None:
            raise InputError("holds no jobs.csv", source=str(folder))
        exchange = folder / RECORDING
        beginning = hear_beginning(exchange, platform.machine, workload.profiles) if exchange.is_file() else None
        columns = read_columns(path)
        lineage = read_lineage(folder / LINEAGE, columns)
        audited = audit(
            columns,
            platform.machine,
            workload.jobs,
            workload.profiles,
            partial(read_units, folder / "units.csv", columns),
            lineage=lineage,
            result=said,
            exchange=exchange if exchange.is_file() else None,
            beginning=beginning,
            limit=self._limit,
        )
        rows, course, setting = audited.rows, audited.course, audited.setting
        findings = rows.findings
        if course is None:
            check_recorded(findings, said, exchange)
        check_units_file(rows, folder)
        outages = self._outages(folder, said, platform.machine)
        check_outages(findings, outages, course, Clock(setting.exact))
        away = bool(outages or (course is not None and course.outages))
        check_sums(rows, audited.intervals, setting, folder, away=away)
        check_states(rows, setting, folder, away=away)
        if "metrics" in said:
            check_stated(findings, said, columns, lineage, platform.machine, audited.facts, folder, course)
        for kind, noted, found, name in (
            ("platform file", result.platform.sha256, platform.digest, platform.path),
            ("workload file", result.workload.sha256, workload.digest, workload.path),
        ):
            if noted:
                findings.checked.append(kind)
                if noted != found:
                    findings.add(
                        Violation(kind, f"{name} has SHA-256 {found[:16]}..., the run was made with {noted[:16]}...")
                    )
        return findings

    def _outages(self, folder: Path, said: Mapping[str, Any], machine: Machine) -> list[Outage] | None:
        """Return what the events file says of hosts; None where that is not at hand, or not known."""
        path = self._events
        if path is None:
            if "command" not in said:
                return None
            try:
                noted = Command(said["command"]).one("--events")
            except InputError:
                return None
            if noted is None:
                return []
            path = next((each for each in (Path(noted), folder / noted) if each.is_file()), None)
            if path is None:
                return None
        return outages_of(read_external_events(path, len(machine.hosts)))


def _locate(folder: Path, noted: str, kind: str) -> Path:
    """Return the file that result.json names: relative to where we are, or to the run's folder."""
    if not noted:
        raise InputError(f"has no result.json that names its {kind}; say --{kind}", source=str(folder))
    for path in (Path(noted), folder / noted):
        if path.is_file():
            return path
    raise InputError(f"the {kind} {noted!r} is not there (any more); say --{kind}", source=str(folder / "result.json"))
