"""A workload's file whose jobs are taken in the form that is needed: as objects, or as columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from batdispatch.core.errors import InputError
from batdispatch.inputs.files import MAX_WHOLE
from batdispatch.inputs.workloads.columns import JobColumns, NotPlain, columns_of
from batdispatch.inputs.workloads.dates import dates_of
from batdispatch.inputs.workloads.log_workload import LogWorkload
from batdispatch.inputs.workloads.model import Workload, window_of, windows_of
from batdispatch.inputs.workloads.reader import Contents, check_links, read_contents


class WorkloadFile:
    """A workload's file, of which each form is read when it is first asked for, and then kept.

    What is refused, and in which words, does not depend on the form. Columns are read in a fraction of the time of
    objects, where the library of what is written in C is there.

    A file that was just written need not be read: `written` keeps what was.

    Attributes:
        path: of the file.
        digest: SHA-256 of the file as it is on disk, in hexadecimal.
        window: which of the jobs count; None: all of them.
        windows: parts of the jobs that count each by itself, beside these; empty: there are none.
        dates: when its clock shows 0; None: nobody knows.
    """

    def __init__(self, path: str | Path) -> None:
        """Read all but the jobs.

        Raises:
            InputError: as `read_workload`, and so below.
        """
        self.path = Path(path)
        contents = read_contents(self.path)
        self._begin(contents.digest, contents.about)
        # Text takes more memory than jobs: it is kept until these are read.
        self._contents: Contents | None = contents

    @classmethod
    def written(cls, path: Path, digest: str, workload: LogWorkload) -> WorkloadFile | None:
        """Return a file with the workload of a log that was just written there.

        None: only a reader of the file says what is wrong with it, or puts the jobs in order.

        Args:
            path: of the file.
            digest: SHA-256 of the file, in hexadecimal.
            workload: the log's; it must not be changed any more.
        """
        if path.stat().st_size > MAX_WHOLE or not workload.is_usual:
            return None
        return cls._of(path, digest, workload)

    @classmethod
    def _of(cls, path: Path, digest: str, workload: LogWorkload) -> WorkloadFile:
        file = cls.__new__(cls)
        file.path, file._contents, file._made = path, None, workload
        file._begin(digest, workload.about)
        return file

    def _begin(self, digest: str, about: Mapping[str, Any]) -> None:
        """Take what is known before the jobs are asked for."""
        self.digest = digest
        self.window, self.windows = window_of(about, str(self.path)), windows_of(about, str(self.path))
        self.dates = dates_of(about)
        self._workload: Workload | None = None
        self._columns: JobColumns | NotPlain | None = None
        self._told: JobColumns | NotPlain | None = None
        #: Fields that no job has.
        self._lacking = set[str]()

    #: What was written there; None: the file is to be read.
    _made: LogWorkload | None = None

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Let another process have what was written, or else read the file."""
        if self._made is not None:
            # Of what the log alone knows, no run asks for anything.
            jobs = msgspec.structs.replace(self._made.jobs, nodes={}, dependencies={}, killed={})
            return WorkloadFile._of, (self.path, self.digest, msgspec.structs.replace(self._made, jobs=jobs))
        return WorkloadFile, (self.path,)

    @property
    def count(self) -> int:
        """Number of jobs."""
        if isinstance(self._columns, JobColumns):
            return len(self._columns)
        if self._made is not None:
            return len(self._made.jobs)
        if self._contents is not None:
            return len(self._contents.items())
        return len(self.workload().jobs)

    def workload(self) -> Workload:
        """Return the workload with an object per job, and with a list and a table of its own: simulations add to them.

        Raises:
            InputError: the file is read again, and has changed.
        """
        if self._workload is None and self._made is not None:
            made = self._made.workload(path=self.path, digest=self.digest)
            check_links(made.jobs, set(self._made.jobs.ids), str(self.path))
            self._workload = made
        if self._workload is None:
            contents, self._contents = self._contents or self._read_again(), None
            self._workload = contents.workload()
        workload = self._workload
        return msgspec.structs.replace(workload, jobs=list(workload.jobs), profiles=dict(workload.profiles))

    def delays(self) -> int:
        """Return how many jobs are delays, which state how long they run and no work."""
        if isinstance(self._columns, JobColumns):
            return len(self._columns)
        workload = self.workload()
        return sum(workload.profiles[job.profile]["type"] == "delay" for job in workload.jobs)

    def columns(self, fields: Collection[str] = ()) -> JobColumns | NotPlain:
        """Return the jobs as columns, or why they cannot be.

        Args:
            fields: of those that only somebody else reads, which must not be left out.

        Raises:
            InputError: the file is read again, and has changed.
        """
        known, asked = self._columns, set(fields) - self._lacking
        if asked and (known is None or (isinstance(known, JobColumns) and known.extra is None)):
            if self._some_job_has(asked):
                self._columns = columns_of(self.workload())
            else:
                self._lacking |= asked
        if self._columns is None:
            contents = self._made or self._contents
            # What is no file, such as a pipe, can be read once: it must be read whole.
            if contents is not None and self.path.is_file():
                self._columns = contents.columns()
            if self._columns is None:
                self._columns = columns_of(self.workload())
            self._contents = None
        return self._columns

    def told_columns(self) -> JobColumns | NotPlain:
        """Return the jobs as columns with the objects beside them, whatever these ask for, or why they cannot be."""
        if self._told is None:
            self._told = columns_of(self.workload(), told=True)
        return self._told

    def fields(self, *names: str) -> Iterator[tuple[Any, ...]]:
        """Yield the id of each job and some fields that the reader of jobs leaves alone, None where a job has none.

        Raises:
            InputError: the file is read again, and has changed.
        """
        if self._made is None:
            return ((job.id, *map(job.extra.get, names)) for job in self.workload().jobs)
        jobs = self._made.jobs
        columns = ((None if each is UNSET else each for each in jobs.column(name)) for name in names)
        return zip(jobs.ids, *columns, strict=True)

    def _some_job_has(self, fields: Collection[str]) -> bool:
        """Return whether a job may have one of some fields."""
        if self._made is not None:
            return any(not self._made.jobs.lacks(field) for field in fields)
        listed = bytes((self._contents or self._read_again()).jobs)
        return any(f'"{field}"'.encode() in listed for field in fields)

    def _read_again(self) -> Contents:
        contents = read_contents(self.path)
        if contents.digest != self.digest:
            raise InputError("has changed since the run began", source=str(self.path))
        return contents
