"""The table of the jobs of a run that is over: the one schema from which jobs.csv, metrics, frames and pages follow.

A column is stated once, as a field of `JobTable`: its name in the file, and its form there. The writer
(`engines.job_rows`), the reader (`results.jobs_file`), frames of pandas (`results.frame`) and pages go by that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cached_property, partial
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.hosts.hostsets import Intervals, join_columns, parse_many
from batdispatch.core.jobs.job import FINAL_STATES, JobState

#: Texts of a column, one a row: as objects where many rows share one, else of numpy's `StringDType`, in which a short
#: text takes no memory of its own. Either gives a `str` where one of them is asked for.
Texts = NDArray[Any]
Floats = NDArray[np.float64]


class Form(Enum):
    """What the fields of a column hold in the file."""

    #: With six digits behind the point.
    NUMBER = "number"
    WHOLE = "whole number"
    #: Quoted where it has to be.
    TEXT = "text"
    #: That many rows share.
    SHARED_TEXT = "shared text"
    #: That many rows share, in quotes.
    NOTE = "note"

    @property
    def is_number(self) -> bool:
        """Whether fields are numbers rather than texts."""
        return self in (Form.NUMBER, Form.WHOLE)


class PageForm(NamedTuple):
    """How the page shows a number of a job beside what it says of each job anyway.

    Attributes:
        label: what stands before the number.
        unit: what stands behind it; ``s``: it is a length of time, which has the unit that suits it.
        digits: behind the point that the page keeps.
    """

    label: str
    unit: str = ""
    digits: int = 3


class Column(NamedTuple):
    """How a column stands in the file, and on the page.

    Attributes:
        name: in the header, and of the field of `JobTable`.
        form: of its fields.
        is_required: whether a file without it is no jobs file; other columns are filled in.
        of_those_that_ran: whether the field of a rejected job is empty.
        page: how the explorer shows a column of numbers of a job; None: it does not, or in its own way.
    """

    name: str
    form: Form
    is_required: bool = False
    of_those_that_ran: bool = False
    page: PageForm | None = None


def _form(form: Form, *, needed: bool = False, ran: bool = False, page: PageForm | None = None) -> dict[str, Any]:
    """Return what `Column` says of a field of `JobTable`."""
    return {"column": (form, needed, ran, page)}


@dataclass(frozen=True)
class JobTable:
    """One row per job, with the columns of Batsim's jobs.csv in its order; times in seconds, energy in joules.

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

    job_id: Texts = field(metadata=_form(Form.TEXT, needed=True))
    workload_name: Texts = field(metadata=_form(Form.SHARED_TEXT))
    profile: Texts = field(metadata=_form(Form.SHARED_TEXT))
    submission_time: Floats = field(metadata=_form(Form.NUMBER, needed=True))
    requested_number_of_resources: NDArray[np.int64] = field(metadata=_form(Form.WHOLE, needed=True))
    requested_time: Floats = field(metadata=_form(Form.NUMBER))
    success: NDArray[np.bool_] = field(metadata=_form(Form.WHOLE, needed=True))
    final_state: NDArray[np.int8] = field(metadata=_form(Form.SHARED_TEXT))
    starting_time: Floats = field(metadata=_form(Form.NUMBER, needed=True, ran=True))
    execution_time: Floats = field(metadata=_form(Form.NUMBER, ran=True))
    finish_time: Floats = field(metadata=_form(Form.NUMBER, needed=True, ran=True))
    waiting_time: Floats = field(metadata=_form(Form.NUMBER, ran=True))
    turnaround_time: Floats = field(metadata=_form(Form.NUMBER, ran=True))
    stretch: Floats = field(metadata=_form(Form.NUMBER, ran=True))
    allocated_resources: Texts = field(metadata=_form(Form.TEXT, needed=True, ran=True))
    consumed_energy: Floats = field(metadata=_form(Form.NUMBER, ran=True))
    metadata: Texts = field(metadata=_form(Form.NOTE))

    @classmethod
    def of(cls, at_hand: Mapping[str, Any], later: Mapping[str, Callable[[], Any]]) -> JobTable:
        """Return a table of which some columns, `hosts`, `held` and `pieces` may be made when they are asked for.

        Args:
            at_hand: column -> its values.
            later: column -> what makes them.
        """
        table = cls.__new__(cls)
        vars(table).update(at_hand, later=dict(later))
        return table

    @classmethod
    def join(cls, parts: Sequence[JobTable]) -> JobTable:
        """Return the rows of several tables, one behind the other; there is one at least.

        What each of them has at hand is put together now, all else when it is asked for.
        """
        named = {name: join_columns if name == "hosts" else np.concatenate for name in (*COLUMNS, *_HOSTS)}
        at_hand = {name for name in named if all(name in vars(part) for part in parts)}

        def joined(name: str) -> Any:
            return named[name]([getattr(part, name) for part in parts])

        return cls.of(
            {name: joined(name) for name in at_hand},
            {name: partial(joined, name) for name in named if name not in at_hand},
        )

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.submission_time)

    def __getattr__(self, name: str) -> Any:
        """Make a column that was left until it is asked for."""
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

    def take(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> JobTable:
        """Return some rows: those where a mask holds, or those at some positions, in their order."""
        if rows.dtype == np.bool_ and rows.all():
            return self
        return JobTable(**{name: getattr(self, name)[rows] for name in COLUMNS})

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


#: What is known of the hosts of a row: the set itself, how many they are, and how many runs of consecutive ids.
_HOSTS = ("hosts", "held", "pieces")
#: The columns, in the order of the file.
SCHEMA = tuple(Column(each.name, *each.metadata["column"]) for each in fields(JobTable))
#: Their names.
COLUMNS = tuple(column.name for column in SCHEMA)


def in_order(texts: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the different ones of some texts in the order in which they come, and where among them each is."""
    place = {text: index for index, text in enumerate(dict.fromkeys(texts))}
    return list(place), np.fromiter(map(place.__getitem__, texts), dtype=np.int64, count=len(texts))
