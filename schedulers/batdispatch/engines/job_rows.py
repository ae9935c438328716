"""The jobs of a simulation that are over, written as rows of jobs.csv and kept as the table that stands there."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.hosts.hostsets import Intervals
from batdispatch.core.jobs.job import FINAL_STATES, JobState
from batdispatch.core.jobs.job_table import COLUMNS, SCHEMA, Column, Form, JobTable, Texts
from batdispatch.engines.blocks import write_rows as write_blocks
from batdispatch.native.library import load
from batdispatch.native.record import Record, call, structure_of
from batdispatch.native.texts import PackedTexts

#: The first line of the file.
HEADER = ",".join(COLUMNS) + "\n"
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
_STATES = [state.value for state in FINAL_STATES]
_TEXT = np.dtypes.StringDType()

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class TextOf(NamedTuple):
    """A column of texts of which rows may share some.

    Attributes:
        texts: different ones, or one a row.
        place: where the text of each row is among them, int32 [row]; None: each has its own.
    """

    texts: PackedTexts | Sequence[str]
    place: NDArray[np.int32] | None = None

    def listed(self) -> list[str]:
        """Return the text of each row."""
        listed = self.texts.tolist() if isinstance(self.texts, PackedTexts) else list(self.texts)
        return listed if self.place is None else [listed[place] for place in self.place.tolist()]


class HostsOf(NamedTuple):
    """A column of host sets, each of which is so many of some intervals in a row.

    Attributes:
        first: lowest host id, int32 [interval].
        last: highest host id, int32 [interval].
        at: where the intervals of each row begin, int64 [row].
        runs: how many it has, int64 [row].
    """

    first: NDArray[np.int32]
    last: NDArray[np.int32]
    at: Ints
    runs: Ints

    def intervals(self) -> Intervals:
        """Return the host sets of the rows."""
        return Intervals.of_runs(self.first, self.last, self.at, self.runs)


class EndedJobs(NamedTuple):
    """Some jobs, in the order in which they ended."""

    #: Without the workload.
    names: TextOf
    workloads: TextOf
    profiles: TextOf
    #: Seconds, as all `Floats`, float64 [job].
    submission: Floats
    #: Units asked for, int64 [job].
    units: Ints
    #: Infinite for none.
    walltime: Floats
    #: Position in `FINAL_STATES`, int8 [job].
    state: NDArray[np.int8]
    #: NaN for a rejected job.
    start: Floats
    #: NaN for a rejected job.
    end: Floats
    #: Nothing for a rejected job.
    hosts: HostsOf
    #: How many hosts each has, int64 [job].
    held: Ints
    metadata: TextOf
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


def times_of(jobs: EndedJobs) -> Times:
    """Return what follows from the times of jobs.

    As Batsim has it, one that took no time took `NO_TIME`, and one that was killed in the moment it started took none.
    """
    short, killed = jobs.end - jobs.start < SHORT, jobs.state == KILLED
    end = np.where(short, np.where(killed, jobs.start, jobs.start + NO_TIME), jobs.end)
    run, wait, turnaround = end - jobs.start, jobs.start - jobs.submission, end - jobs.submission
    more = np.where(short & killed, INSTANT, 0.0)
    return Times(end, run, wait, turnaround, (turnaround + more) / (run + more))


def write_rows(jobs: EndedJobs, times: Times, write: Callable[[bytes | memoryview], None]) -> JobTable:
    """Write the rows of jobs, and return them as a table. Time: about a microsecond per job.

    Texts and hosts of the table, which take most of the memory, are made when they are asked for. Its numbers are those
    that stand in the file; they take the place of `times`.
    """
    ran = jobs.state != REJECTED
    fields: dict[str, Any] = {
        "job_id": jobs.names,
        "workload_name": jobs.workloads,
        "profile": jobs.profiles,
        "submission_time": jobs.submission.copy(),
        "requested_number_of_resources": jobs.units,
        "requested_time": np.where(np.isinf(jobs.walltime), -1.0, jobs.walltime),
        "success": TextOf(["0", "1"], (jobs.state == SUCCESS).astype(np.int32)),
        "final_state": TextOf(_STATES, jobs.state.astype(np.int32)),
        "starting_time": jobs.start.copy(),
        "execution_time": times.run,
        "finish_time": times.end,
        "waiting_time": times.wait,
        "turnaround_time": times.turnaround,
        "stretch": times.stretch,
        "allocated_resources": jobs.hosts,
        "consumed_energy": np.where(ran, jobs.joules, np.nan),
        "metadata": jobs.metadata,
    }
    write_all = _write_in_python if load() is None else _write_in_c
    read = write_all(fields, ran, write)
    read["requested_time"] = np.where(read["requested_time"] < 0, np.inf, read["requested_time"])
    at_hand = {
        **read,
        "requested_number_of_resources": jobs.units,
        "success": jobs.state == SUCCESS,
        "final_state": jobs.state,
        "held": jobs.held,
        "pieces": np.where(ran, jobs.hosts.runs, 0),
    }
    hosts = cache(jobs.hosts.intervals)
    return JobTable.of(
        at_hand,
        {
            "job_id": lambda: np.array(jobs.names.listed(), dtype=_TEXT),
            "workload_name": partial(_shared, jobs.workloads),
            "profile": partial(_shared, jobs.profiles),
            "metadata": partial(_shared, jobs.metadata),
            "allocated_resources": lambda: np.array(hosts().texts(), dtype=_TEXT),
            # They need not be read from their texts.
            "hosts": hosts,
        },
    )


def _shared(column: TextOf) -> Texts:
    """Return a column of texts that many rows share."""
    listed = column.listed()
    return np.fromiter(listed, dtype=np.object_, count=len(listed))


class RowColumn(Record):
    """A column that native/job_rows.c writes, see there."""

    kinds, _fields_ = structure_of("job_rows.c", "RowColumn")


class JobRows(Record):
    """What native/job_rows.c writes rows from, see there."""

    kinds, _fields_ = structure_of("job_rows.c", "JobRows")


def _write_in_c(
    fields: Mapping[str, Any], ran: NDArray[np.bool_], write: Callable[[bytes | memoryview], None]
) -> dict[str, Floats]:
    """Write rows, and return the numbers that stand there, by column."""
    read: dict[str, Floats] = {}
    columns = [_column_in_c(column, fields[column.name], read) for column in SCHEMA]
    joined = np.concatenate([np.frombuffer(memoryview(column).cast("B"), dtype=np.int64) for column in columns])
    rows = JobRows(column_count=len(columns))
    rows.hold(columns=joined, ran=ran.astype(np.uint8))
    write_blocks(len(ran), write, partial(call, "write_job_rows"), rows)
    return read


def _column_in_c(column: Column, values: Any, read: dict[str, Floats]) -> RowColumn:
    """Return what C needs of a column; numbers as they will be read are added to `read`."""
    record = RowColumn(of_those_that_ran=column.of_those_that_ran)
    if isinstance(values, HostsOf):
        record.hold(first=values.first, last=values.last, at=values.at, runs=values.runs)
    elif isinstance(values, TextOf):
        packed = _csv_fields(column, values.texts)
        record.hold(texts=packed.data, bounds=packed.bounds)
        if values.place is not None:
            record.hold(place=values.place)
    elif column.form is Form.WHOLE:
        record.hold(wholes=values)
    else:
        # C puts in their place what is read.
        read[column.name] = values
        record.hold(numbers=values)
    return record


def _csv_fields(column: Column, texts: PackedTexts | Sequence[str]) -> PackedTexts:
    """Return texts as fields of a CSV file."""
    packed = texts if isinstance(texts, PackedTexts) else PackedTexts.of(texts)
    if column.form is Form.NOTE:
        return PackedTexts.of([f'"{text}"' for text in packed.tolist()])
    special = np.isin(packed.data, np.frombuffer(SPECIAL.encode(), dtype=np.uint8)).any()
    return PackedTexts.of(quote_texts(packed.tolist())) if special else packed


def _write_in_python(
    fields: Mapping[str, Any], ran: NDArray[np.bool_], write: Callable[[bytes | memoryview], None]
) -> dict[str, Floats]:
    """Write rows, and return the numbers that stand there, by column."""
    texts = {column.name: _texts_of(column, fields[column.name], ran) for column in SCHEMA}
    write("".join(",".join(row) + "\n" for row in zip(*texts.values(), strict=True)).encode())
    numbers = [column.name for column in SCHEMA if column.form is Form.NUMBER]
    return {name: np.array([float(text or "nan") for text in texts[name]]) for name in numbers}


def _texts_of(column: Column, values: Any, ran: NDArray[np.bool_]) -> list[str]:
    """Return the fields of a column."""
    if isinstance(values, HostsOf):
        listed = values.intervals().texts()
    elif isinstance(values, TextOf):
        told = values.listed()
        listed = [f'"{text}"' for text in told] if column.form is Form.NOTE else quote_texts(told)
    else:
        form = "{}" if column.form is Form.WHOLE else "{:.6f}"
        listed = list(map(form.format, values.tolist()))
    if not column.of_those_that_ran:
        return listed
    return [text if has else "" for text, has in zip(listed, ran.tolist(), strict=True)]


def quote(text: str) -> str:
    """Return a CSV field, quoted if it needs to be."""
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text


def quote_texts(texts: list[str]) -> list[str]:
    """Return CSV fields, quoted if they need to be."""
    return list(map(quote, texts)) if _SPECIAL.search("".join(texts)) else texts
