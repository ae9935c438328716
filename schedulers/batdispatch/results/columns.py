"""The jobs of a run that is over, as numpy columns: what metrics, audit and report compute with.

A frame of pandas is made from them where people or evalys want one (`results.frame`); `run` needs none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, cached_property, partial
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.hosts.hostsets import Intervals, parse_many
from batdispatch.core.jobs.job import FINAL_STATES, JobState
from batdispatch.engines.job_rows import Details, Rows

#: Texts of a column, one a row: as objects where many rows share one, else of numpy's `StringDType`, in which a short
#: text takes no memory of its own. Either gives a `str` where one of them is asked for.
Texts = NDArray[Any]
Floats = NDArray[np.float64]

_TEXT = np.dtypes.StringDType()


class ColumnForm(NamedTuple):
    """How a column stands in the file."""

    #: Whether it holds numbers; otherwise texts.
    is_number: bool = False
    #: Whether many rows share a text.
    is_shared: bool = False
    #: Whether nothing can be computed without it; the others are filled in.
    is_required: bool = False


_NUMBER = {"form": ColumnForm(is_number=True)}
_NEEDED_NUMBER = {"form": ColumnForm(is_number=True, is_required=True)}
_SHARED_TEXT = {"form": ColumnForm(is_shared=True)}
_NEEDED_TEXT = {"form": ColumnForm(is_required=True)}


@dataclass(frozen=True)
class RunColumns:
    """One row per job, with the columns of Batsim's jobs.csv in its order; times in seconds, energy in joules.

    This is the only place that says which columns the file has and in what form they stand there: its reader follows.

    Attributes:
        job_id: text [row], as all `Texts`.
        workload_name: of the workload that the job is of.
        profile: name without its workload.
        submission_time: float64 [row], as all `Floats`.
        requested_number_of_resources: int64 [row].
        requested_time: infinite where no walltime was asked for.
        success: bool [row].
        final_state: position in `FINAL_STATES`, int8 [row].
        starting_time: NaN where a rejected job has none, as the next five.
        execution_time: as the file says it, which rounds; as `waiting_time`, `turnaround_time` and `stretch`.
        finish_time: when the job ended, in whatever way.
        waiting_time: from submission to start.
        turnaround_time: from submission to end.
        stretch: turnaround time over execution time.
        allocated_resources: hosts in Batsim's notation, see `hosts`.
        consumed_energy: NaN where it is not known.
        metadata: what the dispatcher noted about the job.
    """

    job_id: Texts = field(metadata=_NEEDED_TEXT)
    workload_name: Texts = field(metadata=_SHARED_TEXT)
    profile: Texts = field(metadata=_SHARED_TEXT)
    submission_time: Floats = field(metadata=_NEEDED_NUMBER)
    requested_number_of_resources: NDArray[np.int64] = field(metadata=_NEEDED_NUMBER)
    requested_time: Floats = field(metadata=_NUMBER)
    success: NDArray[np.bool_] = field(metadata=_NEEDED_NUMBER)
    final_state: NDArray[np.int8] = field(metadata=_SHARED_TEXT)
    starting_time: Floats = field(metadata=_NEEDED_NUMBER)
    execution_time: Floats = field(metadata=_NUMBER)
    finish_time: Floats = field(metadata=_NEEDED_NUMBER)
    waiting_time: Floats = field(metadata=_NUMBER)
    turnaround_time: Floats = field(metadata=_NUMBER)
    stretch: Floats = field(metadata=_NUMBER)
    allocated_resources: Texts = field(metadata=_NEEDED_TEXT)
    consumed_energy: Floats = field(metadata=_NUMBER)
    metadata: Texts = field(metadata=_SHARED_TEXT)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.submission_time)

    def __getattr__(self, name: str) -> Any:
        """Make a column that was left until somebody asks for it."""
        make = vars(self).get("later", {}).get(name)
        if make is None:
            raise AttributeError(f"there is no column {name!r}", name=name, obj=self)
        vars(self)[name] = column = make()
        return column

    @cached_property
    def ran(self) -> NDArray[np.bool_]:
        """Which rows are of jobs that were not rejected."""
        return ~self.ended(JobState.REJECTED)

    @property
    def spans(self) -> tuple[Floats, Floats]:
        """When each row's job started and ended, s, float64 [row]; NaN if it was rejected."""
        start, finish = (np.where(self.ran, times, np.nan) for times in (self.starting_time, self.finish_time))
        return start, finish

    def ended(self, *states: JobState) -> NDArray[np.bool_]:
        """Return which rows ended in one of some states."""
        return np.isin(self.final_state, [FINAL_STATES.index(state) for state in states])

    def full_ids(self, rows: NDArray[np.bool_] | NDArray[np.int64] | slice = slice(None)) -> NDArray[np.object_]:
        """Return ``workload!id`` of some rows, object [row]."""
        return np.array(
            [f"{workload}!{name}" for workload, name in zip(self.workload_name[rows], self.job_id[rows], strict=True)],
            dtype=object,
        )

    def take(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> RunColumns:
        """Return some rows: those where a mask holds, or those at some positions, in their order."""
        if rows.dtype == np.bool_ and rows.all():
            return self
        return RunColumns(**{name: getattr(self, name)[rows] for name in COLUMNS})

    @cached_property
    def held(self) -> NDArray[np.int64]:
        """Number of hosts of each row's job, int64 [row]; raises as `hosts`, as `pieces` does."""
        return self.hosts.sizes

    @cached_property
    def pieces(self) -> NDArray[np.int64]:
        """Number of runs of consecutive host ids that these make up, int64 [row]."""
        return self.hosts.runs

    @cached_property
    def hosts(self) -> Intervals:
        """The hosts of each row's job, read once.

        Raises:
            InputError: an allocation is malformed; the message names the job.
        """
        if "hosts" in vars(self).get("later", {}):
            return cast(Intervals, self.__getattr__("hosts"))
        try:
            return parse_many(self.allocated_resources)
        except InputError as problem:
            row = int(problem.place.removeprefix("row ")) if problem.place else 0
            message = str(problem).removeprefix(f"{problem.place}: ")
            raise InputError(message, source="jobs file", place=f"job {self.job_id[row]!r}") from None


def columns_of(rows: Rows, read: Callable[[], RunColumns]) -> RunColumns:
    """Return the jobs of a run that was just simulated, equal to what `jobs_file.read_columns` reads of its file.

    Texts and hosts, which take most of the memory, are made when somebody asks for them.

    Args:
        rows: of the file.
        read: reads the file, for what stands there alone.
    """
    columns = RunColumns.__new__(RunColumns)
    vars(columns).update(
        submission_time=rows.submission,
        requested_number_of_resources=rows.units,
        requested_time=np.where(rows.walltime < 0, np.inf, rows.walltime),
        success=rows.state == FINAL_STATES.index(JobState.COMPLETED_SUCCESSFULLY),
        final_state=rows.state,
        starting_time=rows.start,
        execution_time=rows.run,
        finish_time=rows.end,
        waiting_time=rows.wait,
        turnaround_time=rows.turnaround,
        stretch=rows.stretch,
        consumed_energy=rows.joules,
        held=rows.held,
        pieces=rows.pieces,
        later=_of_file(read) if rows.details is None else _of_details(rows.details),
    )
    return columns


def _of_file(read: Callable[[], RunColumns]) -> dict[str, Callable[[], Any]]:
    """Return what reads columns from a file, which is read once."""
    known = cache(read)
    texts = ("job_id", "workload_name", "profile", "allocated_resources", "metadata")
    return {name: partial(lambda name: getattr(known(), name), name) for name in (*texts, "hosts")}


def _of_details(make: Callable[[], Details]) -> dict[str, Callable[[], Any]]:
    """Return what makes columns of details, which are made once."""
    details = cache(make)
    return {
        "job_id": lambda: np.array(details().names, dtype=_TEXT),
        "workload_name": lambda: _shared(details().workloads),
        "profile": lambda: _shared(details().profiles),
        "allocated_resources": lambda: np.array(details().hosts.texts(), dtype=_TEXT),
        "metadata": lambda: _shared(details().metadata),
        # They need not be read from their texts.
        "hosts": lambda: details().hosts,
    }


def _shared(listed: Sequence[str]) -> Texts:
    """Return a column of texts that many rows share."""
    return np.fromiter(listed, dtype=np.object_, count=len(listed))


#: The columns' names, in the order of the file.
COLUMNS = tuple(each.name for each in fields(RunColumns))
#: Column -> how it stands in the file.
FORMS: dict[str, ColumnForm] = {each.name: each.metadata["form"] for each in fields(RunColumns)}


def in_order(texts: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the different ones of some texts in the order in which they come, and where among them each is."""
    place = {text: index for index, text in enumerate(dict.fromkeys(texts))}
    return list(place), np.fromiter(map(place.__getitem__, texts), dtype=np.int64, count=len(texts))
