"""Machine and workload of a run, read from the files that its result.json names, if these are what they were."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from batdispatch.core.errors import InputError
from batdispatch.core.machine.machine import Machine
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import Workload, read_workload
from batdispatch.inputs.workloads.columns import NotPlain
from batdispatch.inputs.workloads.workload_file import WorkloadFile
from batdispatch.results.origins import find_origins
from batdispatch.results.runs import Result, Run

Value = TypeVar("Value")


class JobGroups(NamedTuple):
    """Where a job belongs; an empty text means unknown."""

    account: str = ""
    queue: str = ""
    partition: str = ""


NO_GROUPS = JobGroups()
#: Fields of a job that say where it belongs.
_FIELDS = ("account", "group", "queue", "partition")


class _JobGroups(msgspec.Struct, gc=False):
    """The fields of a job that say where it belongs."""

    id: str | int
    account: Any = None
    group: Any = None
    queue: Any = None
    partition: Any = None


class _Jobs(msgspec.Struct):
    jobs: list[_JobGroups]


class Sites:
    """Reads each file once, however many runs were made from it; a file that cannot be read is as one that is gone."""

    def __init__(self, at_hand: WorkloadFile | None = None) -> None:
        """Begin, with the workload of some runs that need not be read, or with none."""
        self._at_hand = at_hand
        self._machines: dict[tuple[str, str | None, bool], Machine | None] = {}
        self._workloads: dict[str, Workload | None] = {}

    def machine(self, run: Run) -> Machine | None:
        """Return the machine of a run; None: the platform is not where result.json says, or has changed since."""
        facts = run.result.platform
        key = facts.sha256, facts.master, run.result.engine.get("name") == "batsim5"
        if self._machines.get(key) is None:
            self._machines[key] = machine_of(run.folder, run.result)
        return self._machines[key]

    def workload(self, run: Run) -> Workload | None:
        """Return the workload of a run; None: it is not where result.json says, or has changed since."""
        facts = run.result.workload
        if facts.path not in self._workloads:
            file = self._file_at_hand(run)
            self._workloads[facts.path] = _read(read_workload, facts.path) if file is None else file.workload()
        workload = self._workloads[facts.path]
        return workload if workload is not None and workload.digest == facts.sha256 else None

    def users(self, run: Run) -> dict[str, str]:
        """Return id -> user of the jobs of a run's workload whose user is known; none, where `workload` has none.

        No object per job is made where nobody else asked for the workload: 300,000 take 170 MB.
        """
        facts = run.result.workload
        if facts.path in self._workloads:
            workload = self.workload(run)
            return {} if workload is None else {job.id: job.user for job in workload.jobs if job.user}
        file = self._file_at_hand(run) or _read(_read_in_columns, facts.path)
        if file is None or file.digest != facts.sha256:
            return {}
        jobs = file.columns()
        if isinstance(jobs, NotPlain):
            self._workloads[facts.path] = file.workload()
            return self.users(run)
        places = jobs.user.tolist()
        return {
            job: jobs.users[place] for job, place in zip(jobs.ids.tolist(), places, strict=True) if jobs.users[place]
        }

    def _file_at_hand(self, run: Run) -> WorkloadFile | None:
        """Return the file of a run's workload if it is at hand."""
        facts, file = run.result.workload, self._at_hand
        return file if file is not None and (str(file.path), file.digest) == (facts.path, facts.sha256) else None

    def read_whole(self, run: Run) -> bool:
        """Whether the workload of a run has been read with an object per job."""
        return self._workloads.get(run.result.workload.path) is not None

    def groups(self, run: Run) -> dict[str, JobGroups]:
        """Return id -> account, queue and partition of the jobs of a run's workload that name one, as `users` does."""
        facts = run.result.workload
        if self.read_whole(run):
            workload = self.workload(run)
            jobs = [] if workload is None else workload.jobs
            return _named((job.id, *(job.extra.get(name) for name in _FIELDS)) for job in jobs)
        if (file := self._file_at_hand(run)) is not None:
            return _named(file.fields(*_FIELDS))
        if not Path(facts.path).is_file():
            return {}
        content = Path(facts.path).read_bytes()
        if hashlib.sha256(content).hexdigest() != facts.sha256:
            return {}
        try:
            read = msgspec.json.decode(content, type=_Jobs).jobs
        except msgspec.MsgspecError:
            return {}
        return _named(
            (str(job.id).removeprefix("w0!"), job.account, job.group, job.queue, job.partition) for job in read
        )


def _named(jobs: Iterable[tuple[object, ...]]) -> dict[str, JobGroups]:
    """Return id -> groups; a job is its id and the fields of `_FIELDS`."""
    found, same = {}, dict[JobGroups, JobGroups]()
    for job, account, group, queue, partition in jobs:
        # Slurm's accounts say the partition alone, which importers tell as the queue, too.
        groups = JobGroups(
            _text(group if account is None else account), _text(None if queue == partition else queue), _text(partition)
        )
        if groups != NO_GROUPS:
            found[str(job)] = same.setdefault(groups, groups)
    return found


def _text(name: object) -> str:
    return str(name) if isinstance(name, str | int) and not isinstance(name, bool) else ""


def machine_of(folder: Path, result: Result) -> Machine | None:
    """Return a run's machine as its platform file says, or None where the file is nowhere as it was.

    A recording tells neither coordinates nor routes, which some placements need. A file that cannot be read is as one
    that is gone.
    """
    noted = result.platform
    path = find_origins(folder, result).platform
    if path is None:
        return None
    try:
        platform = read_platform(path, master=noted.master, batsim=5 if result.engine.get("name") == "batsim5" else 4)
    except (InputError, OSError):
        return None
    return platform.machine if platform.digest == noted.sha256 else None


def _read_in_columns(path: Path) -> WorkloadFile:
    file = WorkloadFile(path)
    file.columns()
    return file


def _read(read: Callable[[Path], Value], path: str) -> Value | None:
    try:
        return read(Path(path)) if Path(path).is_file() else None
    except (InputError, OSError):
        return None
