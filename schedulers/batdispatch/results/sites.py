"""Machine and workload of a run, read from the files that its result.json names, if these are what they were."""

from __future__ import annotations

from pathlib import Path

from batdispatch.core.errors import InputError
from batdispatch.core.machine import Machine
from batdispatch.inputs.platforms import Platform, read_platform
from batdispatch.inputs.workloads import Workload, read_workload
from batdispatch.results.runs import Run


class Sites:
    """Reads each file once, however many runs were made from it; a file that cannot be read is as one that is gone."""

    def __init__(self) -> None:
        self._platforms: dict[tuple[str, str | None], Platform | None] = {}
        self._workloads: dict[str, Workload | None] = {}

    def machine(self, run: Run) -> Machine | None:
        """Return the machine of a run; None: the platform is not where result.json says, or has changed since."""
        facts = run.result.platform
        key = facts.path, facts.master
        if key not in self._platforms:
            self._platforms[key] = _platform(*key)
        platform = self._platforms[key]
        return platform.machine if platform is not None and platform.digest == facts.sha256 else None

    def workload(self, run: Run) -> Workload | None:
        """Return the workload of a run; None: it is not where result.json says, or has changed since."""
        facts = run.result.workload
        if facts.path not in self._workloads:
            self._workloads[facts.path] = _workload(facts.path)
        workload = self._workloads[facts.path]
        return workload if workload is not None and workload.digest == facts.sha256 else None


def _platform(path: str, master: str | None) -> Platform | None:
    try:
        return read_platform(Path(path), master=master) if Path(path).is_file() else None
    except (InputError, OSError):
        return None


def _workload(path: str) -> Workload | None:
    try:
        return read_workload(Path(path)) if Path(path).is_file() else None
    except (InputError, OSError):
        return None
