"""A workload in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.profiles import reach_profiles, runtime_of
from batdispatch.core.jobs.request import Request
from batdispatch.inputs.workloads.links import relink

#: Fields of a workload's file: which of its jobs count, and several such parts that count each by itself.
WINDOW_FIELD, WINDOWS_FIELD = "counted", "windows"


class Window(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which jobs of a workload count, by their submission, and how long they are watched. Times are seconds.

    Attributes:
        begin: earlier jobs are the warm-up, and do not count; None: there is none.
        end: jobs from then on are the cool-down, and do not count; None: there is none.
        until: a job that still waits then counts for what it has waited; None: each job is watched until it starts.
    """

    begin: float | None = None
    end: float | None = None
    until: float | None = None


def window_of(about: Mapping[str, Any], source: str) -> Window | None:
    """Return which jobs of a workload count, given the fields of its file; None: all of them.

    Raises:
        InputError: the field is no window.
    """
    window: Window | None = _converted(about, WINDOW_FIELD, Window, None, source)
    return window


def windows_of(about: Mapping[str, Any], source: str) -> list[Window]:
    """Return the parts of a workload that count each by itself, given the fields of its file; empty: there are none.

    Raises:
        InputError: the field is no list of windows.
    """
    windows: list[Window] = _converted(about, WINDOWS_FIELD, list[Window], [], source)
    return windows


def _converted(about: Mapping[str, Any], name: str, form: Any, without: Any, source: str) -> Any:
    try:
        return msgspec.convert(about[name], form) if name in about else without
    except msgspec.ValidationError as problem:
        raise InputError(str(problem), source=source, place=repr(name)) from None


class Workload(msgspec.Struct, kw_only=True, eq=False):
    """Jobs and the profiles that say what they do, as a Batsim 4 workload file holds them.

    Jobs have ids without the ``w0!`` prefix (the simulator adds it) and are sorted as Batsim submits them: by
    submission time, then by id as a string.
    """

    #: Where it was read from; for a workload made in memory, the name it goes by.
    path: Path
    #: The file's name without its endings.
    name: str
    #: SHA-256 of the file as it is on disk, in hexadecimal; empty for a workload made in memory.
    digest: str = ""
    #: Number of hosts of the machine it was written for; None when the file does not say.
    nb_res: int | None = None
    #: Whose format the file has.
    batsim: Literal[4, 5] = 4
    jobs: list[Job]
    #: Profile name -> profile, as written and already checked.
    profiles: dict[str, dict[str, Any]]
    #: Profile name -> (profile, what stood for it in a file of Batsim 5).
    as_written: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
    #: The file's fields beyond nb_res, jobs and profiles, such as where it comes from.
    about: dict[str, Any] = {}

    def uses(self) -> Iterator[tuple[str, int]]:
        """Yield profile and number of units of each job."""
        return ((job.profile, job.units) for job in self.jobs)

    def requests(self) -> set[Request]:
        """Return what jobs ask for, each thing once."""
        return {job.request for job in self.jobs}

    def sort(self) -> None:
        """Put the jobs in Batsim's order of submission."""
        self.jobs.sort(key=lambda job: (job.submission, job.id))

    def part(self, first: int, end: int) -> Workload:
        """Return the jobs at some positions, the first of which is submitted at 0, with the profiles that they use.

        A job no longer waits for jobs that are left out, nor continues one. What the file says of which jobs count is
        left out: it is said in times.

        Args:
            first: position of the first job.
            end: position after the last one.
        """
        jobs = self.jobs[first:end]
        began = jobs[0].submission if jobs else 0.0
        # A log counts whole seconds, or fractions of microseconds at the least.
        names = {job.id: job.id for job in jobs}
        jobs = [relink(job, names, submission=round(job.submission - began, 6)) for job in jobs]
        used = reach_profiles({job.profile for job in jobs}, self.profiles)
        profiles = {name: profile for name, profile in self.profiles.items() if name in used}
        about = {name: value for name, value in self.about.items() if name not in (WINDOW_FIELD, WINDOWS_FIELD)}
        origin = about.get("origin")
        if isinstance(origin, dict) and isinstance(shown := origin.get("time_origin"), int | float):
            about["origin"] = {**origin, "time_origin": round(shown + began, 6)}
        return msgspec.structs.replace(self, jobs=jobs, profiles=profiles, digest="", about=about)

    def offered_load(self) -> float | None:
        """Return sum(units * run time) / (nb_res * (last - first submission)), where a unit is a whole host.

        None when it cannot be told: run times depend on the platform, jobs share hosts, or all come at once.
        """
        if not self.jobs or not self.nb_res or not all(job.request.units_are_nodes for job in self.jobs):
            return None
        runtimes = {name: runtime_of(profile, self.profiles) for name, profile in self.profiles.items()}
        span = self.jobs[-1].submission - self.jobs[0].submission
        work = 0.0
        for job in self.jobs:
            runtime = runtimes[job.profile]
            if runtime is None:
                return None
            work += job.units * runtime
        return work / (self.nb_res * span) if span > 0 else None


def stem(path: str | Path) -> str:
    """Return a file's name without its endings (``a.json.xz`` -> ``a``)."""
    name = Path(path).name
    for ending in (".xz", ".gz", ".tar", ".json", ".swf", ".rst", ".sacct", ".csv", ".tsv", ".txt"):
        name = name.removesuffix(ending)
    return name or "workload"
