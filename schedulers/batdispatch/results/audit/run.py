"""The audit of a run folder: finds the inputs of the run, makes sure they are the ones, and audits its jobs file."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from batdispatch.core.errors import InputError
from batdispatch.inputs.platforms import Platform, read_platform
from batdispatch.inputs.workloads import Workload, read_workload
from batdispatch.results.audit.findings import Findings, Violation
from batdispatch.results.audit.rules import audit
from batdispatch.results.frame import read_jobs
from batdispatch.results.lineage import FILE as LINEAGE
from batdispatch.results.lineage import read_lineage
from batdispatch.results.runs import jobs_file, read_result
from batdispatch.results.usage import read_units


class Auditor:
    """Audits run folders; platforms and workloads that several runs share are read once."""

    def __init__(
        self,
        *,
        platform: Path | None = None,
        workload: Path | None = None,
        master: str | None = None,
        limit: int = 100,
    ) -> None:
        """Inputs that are not given are taken from each run's result.json.

        At most `limit` violations of each kind are kept.
        """
        self._platform = platform
        self._workload = workload
        self._master = master
        self._limit = limit
        self._platforms: dict[tuple[Path, str | None], Platform] = {}
        self._workloads: dict[Path, Workload] = {}

    def run(self, folder: Path) -> Findings:
        """Audit one run folder.

        Raises:
            InputError: a file is missing or malformed, or neither an argument nor result.json names an input.
        """
        result = read_result(folder)
        path = jobs_file(folder)
        if path is None:
            raise InputError("holds no jobs.csv", source=str(folder))
        platform_path = self._platform or _locate(folder, result.platform.path, "platform")
        workload_path = self._workload or _locate(folder, result.workload.path, "workload")
        master = self._master if self._master is not None else result.platform.master
        key = (platform_path, master)
        if key not in self._platforms:
            self._platforms[key] = read_platform(platform_path, master=master)
        if workload_path not in self._workloads:
            self._workloads[workload_path] = read_workload(workload_path)
        platform, workload = self._platforms[key], self._workloads[workload_path]
        frame = read_jobs(path)
        findings = audit(
            frame,
            platform.machine,
            workload.jobs,
            workload.profiles,
            partial(read_units, folder / "units.csv", frame),
            lineage=read_lineage(folder / LINEAGE, frame),
            dynamic_jobs=result.dynamic_jobs,
            limit=self._limit,
        )
        for kind, noted, found, name in (
            ("platform file", result.platform.sha256, platform.digest, platform_path),
            ("workload file", result.workload.sha256, workload.digest, workload_path),
        ):
            if noted:
                findings.checked.append(kind)
                if noted != found:
                    findings.add(
                        Violation(kind, f"{name} has SHA-256 {found[:16]}..., the run was made with {noted[:16]}...")
                    )
        return findings


def _locate(folder: Path, noted: str, kind: str) -> Path:
    """Return the file that result.json names: relative to where we are, or to the run's folder."""
    if not noted:
        raise InputError(f"has no result.json that names its {kind}; say --{kind}", source=str(folder))
    for path in (Path(noted), folder / noted):
        if path.is_file():
            return path
    raise InputError(f"the {kind} {noted!r} is not there (any more); say --{kind}", source=str(folder / "result.json"))
