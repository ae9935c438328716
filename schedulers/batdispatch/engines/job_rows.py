"""The jobs of a simulation that are over, as columns, and their rows in jobs.csv."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.hosts import hostsets
from batdispatch.core.hosts.hostsets import Intervals
from batdispatch.core.jobs.job import FINAL_STATES, JobState
from batdispatch.engines.blocks import write_rows as write_blocks
from batdispatch.native.library import load
from batdispatch.native.record import Record, call, structure_of
from batdispatch.native.texts import PackedTexts

#: Positions in `FINAL_STATES`.
SUCCESS, KILLED, REJECTED = map(
    FINAL_STATES.index, (JobState.COMPLETED_SUCCESSFULLY, JobState.COMPLETED_KILLED, JobState.REJECTED)
)
#: Seconds that Batsim writes for a job that took none and was not killed.
NO_TIME = 1e-5
#: Seconds that a byte takes on SimGrid's default loopback: after so long Batsim kills a job in the moment it starts.
#: It writes them as 0, and divides by them for the stretch.
INSTANT = 1e-10
#: A job that ends sooner after its start, in seconds, took no time.
SHORT = 1e-9

#: Characters for which a field is quoted.
SPECIAL = ',"\n\r'
_SPECIAL = re.compile(f"[{SPECIAL}]")
#: Success and final state, as they are written.
OUTCOMES = [f"{position == SUCCESS:d},{state.value}," for position, state in enumerate(FINAL_STATES)]

#: Numbers of a row, without units and joules, in the order of the columns.
NUMBERS = ("submission", "walltime", "start", "run", "end", "wait", "turnaround", "stretch")

Floats = NDArray[np.float64]


class EndedJobs(NamedTuple):
    """Some jobs, in the order in which they ended."""

    #: Without the workload.
    names: list[str]
    workloads: list[str]
    profiles: list[str]
    #: Seconds, as all `Floats`, float64 [job].
    submission: Floats
    #: Units asked for, int64 [job].
    units: NDArray[np.int64]
    #: Infinite for none.
    walltime: Floats
    #: Position in `FINAL_STATES`, int8 [job].
    state: NDArray[np.int8]
    #: NaN for a rejected job.
    start: Floats
    #: NaN for a rejected job.
    end: Floats
    #: Nothing for a rejected job.
    hosts: Intervals
    metadata: list[str]
    #: Burnt by the job's hosts while it ran; -1: not counted.
    joules: Floats


class Times(NamedTuple):
    """What follows from the times of jobs, before it is rounded to be written; NaN for rejected jobs."""

    end: Floats
    run: Floats
    wait: Floats
    turnaround: Floats
    #: Turnaround time over run time.
    stretch: Floats


class Details(NamedTuple):
    """Of rows, what metrics of whole hosts have no need of."""

    names: list[str]
    workloads: list[str]
    profiles: list[str]
    hosts: Intervals
    metadata: list[str]


class Rows(NamedTuple):
    """Jobs as jobs.csv has them: the numbers are those that stand there."""

    submission: Floats
    units: NDArray[np.int64]
    #: -1 for none.
    walltime: Floats
    state: NDArray[np.int8]
    start: Floats
    run: Floats
    end: Floats
    wait: Floats
    turnaround: Floats
    stretch: Floats
    #: NaN for a rejected job.
    joules: Floats
    #: Number of hosts, and of runs of consecutive ids that these make up, int64 [job].
    held: NDArray[np.int64]
    pieces: NDArray[np.int64]
    #: Makes the rest, which takes more memory than all of these; None: it stands in the file alone.
    details: Callable[[], Details] | None = None


def times_of(jobs: EndedJobs) -> Times:
    """Return what follows from the times of jobs.

    As Batsim has it, one that took no time took `NO_TIME`, and one that was killed in the moment it started took none.
    """
    short, killed = jobs.end - jobs.start < SHORT, jobs.state == KILLED
    end = np.where(short, np.where(killed, jobs.start, jobs.start + NO_TIME), jobs.end)
    run, wait, turnaround = end - jobs.start, jobs.start - jobs.submission, end - jobs.submission
    more = np.where(short & killed, INSTANT, 0.0)
    return Times(end, run, wait, turnaround, (turnaround + more) / (run + more))


class JobRows(Record):
    """What native/job_rows.c writes rows from, see there."""

    kinds, _fields_ = structure_of("job_rows.c", "JobRows")

    def hold_texts(self, **columns: PackedTexts) -> None:
        """Point to columns of texts."""
        for name, texts in columns.items():
            self.hold(**{name: texts.data})
            self.hold(**{f"{name}_bounds": texts.bounds})

    def write(self, count: int, write: Callable[[memoryview], None]) -> dict[str, Floats]:
        """Write so many rows, and return the numbers that stand there, by the name of their column in `Rows`."""
        self.rejected, self.killed = REJECTED, KILLED
        self.hold_texts(outcomes=PackedTexts.of(OUTCOMES))
        numbers = {name: np.empty(count) for name in NUMBERS}
        self.hold(**{f"row_{name}": column for name, column in numbers.items()})
        write_blocks(count, write, partial(call, "write_job_rows"), self)
        return numbers


def write_rows(jobs: EndedJobs, times: Times) -> tuple[bytes, Rows]:
    """Return the rows of jobs.csv as they are written, and as columns. Time: about a microsecond per job."""
    fields = jobs._replace(
        names=quote_texts(jobs.names), workloads=quote_texts(jobs.workloads), profiles=quote_texts(jobs.profiles)
    )
    # C writes no negative times, which hardly ever come.
    in_c = load() is not None and not ((jobs.submission < 0.0) | (times.wait < 0.0)).any()
    data, numbers = _rows_in_c(fields) if in_c else _rows_in_python(fields, times)
    rows = Rows(
        **numbers,
        units=jobs.units,
        state=jobs.state,
        held=jobs.hosts.sizes,
        pieces=jobs.hosts.runs,
        details=lambda: Details(jobs.names, jobs.workloads, jobs.profiles, jobs.hosts, jobs.metadata),
    )
    return data, rows


def _rows_in_c(jobs: EndedJobs) -> tuple[bytes, dict[str, Floats]]:
    count, hosts, table, data = len(jobs.names), jobs.hosts, JobRows(), bytearray()
    bounds, each, joules = hosts.bounds(), np.arange(count), np.where(jobs.state == REJECTED, np.nan, -1.0)
    table.hold(submission=jobs.submission, walltime=jobs.walltime, start=jobs.start, end=jobs.end, units=jobs.units)
    table.hold(hosts_at=bounds[:-1], hosts_runs=np.diff(bounds).astype(np.int32), over=each, state=jobs.state)
    table.hold(first=np.ascontiguousarray(hosts.first), last=np.ascontiguousarray(hosts.last))
    table.hold(profile=each.astype(np.int32), joules=jobs.joules, row_joules=joules)
    for name in ("names", "workloads", "profiles", "metadata"):
        table.hold_texts(**{name: PackedTexts.of(getattr(jobs, name))})
    numbers = table.write(count, data.extend)
    return bytes(data), {**numbers, "joules": joules}


def _rows_in_python(jobs: EndedJobs, times: Times) -> tuple[bytes, dict[str, Floats]]:
    ran = (jobs.state != REJECTED).tolist()
    always = jobs.submission, np.where(np.isinf(jobs.walltime), -1.0, jobs.walltime)
    if_run = jobs.start, times.run, times.end, times.wait, times.turnaround, times.stretch, jobs.joules
    texts = [[f"{number:.6f}" for number in column.tolist()] for column in always]
    texts += [[f"{n:.6f}" if has else "" for n, has in zip(column.tolist(), ran, strict=True)] for column in if_run]
    submission, walltime, *middle, joules = texts
    names = zip(jobs.names, jobs.workloads, jobs.profiles, strict=True)
    asked = zip(submission, map(str, jobs.units.tolist()), walltime, strict=True)
    rest = zip(*middle, jobs.hosts.texts(), joules, strict=True)
    lines = [
        f'{",".join(name)},{",".join(ask)},{OUTCOMES[state]}{",".join(rest)},"{noted}"\n'
        for name, ask, state, rest, noted in zip(names, asked, jobs.state.tolist(), rest, jobs.metadata, strict=True)
    ]
    columns = zip((*NUMBERS, "joules"), texts, strict=True)
    return "".join(lines).encode(), {name: np.array([float(t or "nan") for t in each]) for name, each in columns}


def join_jobs(parts: Sequence[Rows]) -> Rows:
    """Return the rows of several blocks, one behind the other; there is one block at least."""
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in Rows._fields[:-1]}
    made = [part.details for part in parts if part.details is not None]
    return Rows(**columns, details=lambda: _join_details([make() for make in made]))


def _join_details(parts: Sequence[Details]) -> Details:
    hosts = hostsets.join_columns([part.hosts for part in parts])
    names, workloads, profiles, metadata = (
        list(chain.from_iterable(getattr(part, name) for part in parts))
        for name in ("names", "workloads", "profiles", "metadata")
    )
    return Details(names, workloads, profiles, hosts, metadata)


def quote(text: str) -> str:
    """Return a CSV field, quoted if it needs to be."""
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text


def quote_texts(texts: list[str]) -> list[str]:
    """Return CSV fields, quoted if they need to be."""
    return list(map(quote, texts)) if _SPECIAL.search("".join(texts)) else texts
