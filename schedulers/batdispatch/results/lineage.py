"""Which rows of a jobs file are one job: read from the record of the run, never guessed from names.

A job may continue another one (a further attempt, a resized rest, a restart, see `Job.parent`). The rows that
are joined in this way are the *segments* of one *logical job*. The record is ``lineage.csv`` in a run's folder, with
one row for each job that continues another: ``job_id,workload_name,parent``. The parent is written without its workload
if that is the job's own, as ``workload!name`` otherwise. Where jobs went on from a checkpoint there are two columns
more, ``saved,restart``: seconds of run time that were saved before, and that it took to read the checkpoint. Without
the file every row is a job of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Resumption
from batdispatch.core.jobs.job_table import JobTable
from batdispatch.core.numerals import number_of
from batdispatch.inputs.files import write_whole
from batdispatch.results.rows import read_rows, write_rows

#: Name of the record in a run's folder.
FILE = "lineage.csv"
#: Seconds by which a segment may start before the one that it continues has ended: the precision of a jobs file.
TOLERANCE = 1e-3
_COLUMNS = ["job_id", "workload_name", "parent"]
_RESUMED = ["saved", "restart"]
#: Where no job went on from a checkpoint.
NOT_RESUMED: Mapping[str, Resumption] = MappingProxyType({})


@dataclass(frozen=True)
class Lineage:
    """How the rows of a run belong together.

    Attributes:
        parent: row of the job that each row continues, int64 [row]; -1: none.
        root: row of the first segment of each row's logical job, int64 [row].
        depth: how many parents away that is, int64 [row].
        saved: run time of the logical job that a checkpoint had saved before the row, s, float64 [row]; 0: none.
        restart: what it took the row to read that checkpoint, s, float64 [row].
    """

    parent: NDArray[np.int64]
    root: NDArray[np.int64]
    depth: NDArray[np.int64]
    saved: NDArray[np.float64]
    restart: NDArray[np.float64]

    @property
    def joined(self) -> bool:
        """Whether any row continues another."""
        return bool((self.parent >= 0).any())

    @property
    def first(self) -> NDArray[np.int64]:
        """Rows of the first segments, int64 [logical job], ascending: the order of `logical`."""
        return np.flatnonzero(self.parent < 0)

    @property
    def job(self) -> NDArray[np.int64]:
        """Position of each row's logical job in the order of `logical`, int64 [row]."""
        return np.searchsorted(self.first, self.root).astype(np.int64)

    @property
    def segments(self) -> NDArray[np.int64]:
        """Number of segments of each logical job, int64 [logical job]."""
        return np.bincount(self.job, minlength=len(self.first)).astype(np.int64)

    def resizes(self, columns: JobTable) -> int:
        """Return how many rows have another number of units than the row that they continue."""
        rows = np.flatnonzero(self.parent >= 0)
        units = columns.requested_number_of_resources
        return int(np.count_nonzero(units[rows] != units[self.parent[rows]]))


def rows_as_jobs(rows: int) -> Lineage:
    """Return the lineage of a run in which every row is a job of its own."""
    nobody, alone = np.full(rows, -1, dtype=np.int64), np.arange(rows, dtype=np.int64)
    return Lineage(nobody, alone, np.zeros(rows, dtype=np.int64), np.zeros(rows), np.zeros(rows))


def write_lineage(parents: Mapping[str, str], path: Path, resumed: Mapping[str, Resumption] = NOT_RESUMED) -> None:
    """Write the record of a run; if no job continues another, remove what an earlier run left there.

    Args:
        parents: id of a job -> id of the job that it continues, as `Ledger.parents` has them.
        path: of the record.
        resumed: id of a job -> how it went on from a checkpoint, as `Dispatcher.resumed` has it.
    """
    if not parents:
        path.unlink(missing_ok=True)
        return
    header = [*_COLUMNS, *_RESUMED] if resumed else _COLUMNS
    write_whole(path, write_rows(header, (fields for _, fields in _rows_of(parents, resumed))))


def lineage_of(columns: JobTable, parents: Mapping[str, str]) -> Lineage:
    """Return the lineage of a run that is at hand.

    Args:
        columns: the run's jobs, from `jobs_file.read_columns`.
        parents: as for `write_lineage`.

    Raises:
        InputError: as for `read_lineage`.
    """
    return _joined(columns, _rows_of(parents, NOT_RESUMED), FILE)


def _rows_of(parents: Mapping[str, str], resumed: Mapping[str, Resumption]) -> list[tuple[int, list[str]]]:
    """Return (line, fields) of the rows below the header, as `read_rows` reads them."""
    listed = []
    for line, job_id in enumerate(sorted(parents), start=2):
        workload, _, name = job_id.partition("!")
        fields = [name, workload, parents[job_id].removeprefix(f"{workload}!")]
        if resumed:
            how = resumed.get(job_id, Resumption(0.0, 0.0))
            fields += [f"{how.saved:.6f}", f"{how.restart:.6f}"]
        listed.append((line, fields))
    return listed


def read_lineage(path: Path, columns: JobTable) -> Lineage:
    """Read the record of a run; if there is no such file, nothing is joined.

    Args:
        path: of the record.
        columns: the run's jobs, from `jobs_file.read_columns`.

    Raises:
        InputError: the file is malformed, names a job that is not in the run, names a job twice, or has a circle.
    """
    if not path.exists():
        return rows_as_jobs(len(columns))
    return _joined(columns, read_rows(path, _COLUMNS, more=_RESUMED), str(path))


def _joined(columns: JobTable, listed: Iterable[tuple[int, Sequence[str]]], source: str) -> Lineage:
    """Join the rows of a run by the rows of a record, each with its line."""
    rows: dict[tuple[str, str], int] = {}
    for row, (workload, name) in enumerate(zip(columns.workload_name, columns.job_id, strict=True)):
        rows.setdefault((workload, name.removeprefix(f"{workload}!")), row)
    parent = np.full(len(columns), -1, dtype=np.int64)
    times = np.zeros((2, len(columns)))
    lines: dict[int, int] = {}
    for line, (name, workload, other, *resumed) in listed:
        place = f"line {line}"
        found = rows.get((workload, name))
        if found is None:
            raise InputError(f"job {name[:80]!r} is not in the jobs file", source=source, place=place)
        if found in lines:
            raise InputError(
                f"job {name[:80]!r} stands here and in line {lines[found]}, expected each job once",
                source=source,
                place=place,
            )
        continued = rows.get((workload, other))
        if continued is None and "!" in other:
            elsewhere, _, short = other.partition("!")
            continued = rows.get((elsewhere, short))
        if continued is None:
            raise InputError(
                f"job {name[:80]!r} continues job {other[:80]!r}, which is not in the jobs file",
                source=source,
                place=place,
            )
        lines[found] = line
        parent[found] = continued
        times[: len(resumed), found] = [_seconds(told, name, source, place) for told in resumed]
    return _resolved(parent, times, columns, lines, source)


def _seconds(text: str, name: str, source: str, place: str) -> float:
    value = number_of(text)
    if not 0 <= value < np.inf:
        raise InputError(f"job {name[:80]!r}: found {text[:40]!r}, expected seconds", source=source, place=place)
    return value


def _resolved(
    parent: NDArray[np.int64],
    times: NDArray[np.float64],
    columns: JobTable,
    lines: Mapping[int, int],
    source: str,
) -> Lineage:
    """Follow every row to its root.

    Raises:
        InputError: there is a circle.
    """
    root = np.where(parent < 0, np.arange(len(parent)), -1).astype(np.int64)
    depth = np.zeros(len(parent), dtype=np.int64)
    for row in sorted(lines):
        way: list[int] = []
        on_way: set[int] = set()
        at = row
        while root[at] < 0:
            if at in on_way:
                names = [str(columns.job_id[each]) for each in way[way.index(at) :]]
                shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
                raise InputError(
                    f"jobs {shown} continue each other in a circle"
                    if len(names) > 1
                    else f"job {shown} continues itself",
                    source=source,
                    place=f"line {lines[at]}",
                )
            way.append(at)
            on_way.add(at)
            at = int(parent[at])
        for each in reversed(way):
            root[each] = root[at]
            depth[each] = depth[parent[each]] + 1
    return Lineage(parent, root, depth, *times)


def logical(columns: JobTable, lineage: Lineage) -> JobTable:
    """Return one row for each logical job, in the order of their first segments (`Lineage.segments` counts them).

    Submission, user and what was requested are those of the first segment. The start is the first one and the end the
    last one of the segments that ran. The execution time is the sum of theirs, and the waiting time is the rest of the
    turnaround time. State, success and hosts are those of the segment that ended last; the job counts as rejected if
    none of them ran.

    Raises:
        InputError: a segment starts before the one that it continues has ended.
    """
    if not lineage.joined:
        return columns
    _check_order(columns, lineage)
    first, job, segments = lineage.first, lineage.job, lineage.segments
    count = len(first)
    start, finish = columns.starting_time, columns.finish_time
    rows = np.flatnonzero(columns.ran)
    order = rows[np.lexsort((lineage.depth[rows], start[rows], finish[rows], job[rows]))]
    last = first.copy()
    last[job[order]] = order
    begin, end = np.full(count, np.nan), finish[last]
    np.fmin.at(begin, job[rows], start[rows])
    execution = np.bincount(job[rows], weights=(finish - start)[rows], minlength=count).astype(np.float64)
    none_ran = np.isnan(begin)
    execution[none_ran] = np.nan
    submission = columns.submission_time[first]
    # A job of one segment has exactly the numbers that it has without a lineage.
    waiting = np.where(segments == 1, begin - submission, end - submission - execution)
    with np.errstate(invalid="ignore", divide="ignore"):
        stretch = (end - submission) / execution
    energy = columns.consumed_energy
    return replace(
        columns.take(first),
        success=columns.success[last],
        final_state=columns.final_state[last],
        starting_time=begin,
        execution_time=execution,
        finish_time=np.where(none_ran, np.nan, end),
        waiting_time=waiting,
        turnaround_time=end - submission,
        stretch=stretch,
        allocated_resources=columns.allocated_resources[last],
        consumed_energy=np.where(segments == 1, energy[first], np.bincount(job, weights=energy, minlength=count)),
    )


def _check_order(columns: JobTable, lineage: Lineage) -> None:
    rows = np.flatnonzero((lineage.parent >= 0) & columns.ran)
    start = columns.starting_time[rows]
    ended = columns.finish_time[lineage.parent[rows]]
    early = np.flatnonzero(start < ended - TOLERANCE)
    if len(early):
        at = int(early[0])
        row = int(rows[at])
        name, other = columns.job_id[row], columns.job_id[int(lineage.parent[row])]
        raise InputError(
            f"job {str(name)[:80]!r} starts at {start[at]:.6f} s, before job {str(other)[:80]!r}, which it continues, "
            f"ends at {ended[at]:.6f} s",
            source=FILE,
        )


def waits(columns: JobTable, lineage: Lineage) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return when logical jobs began and when they stopped waiting, s, float64 [stretch of waiting].

    A job waits from its submission to its first start, and from the end of each segment to the start of the next one.
    """
    rows = np.flatnonzero(columns.ran)
    submission, start = columns.submission_time, columns.starting_time
    if not lineage.joined:
        return submission[rows], start[rows]
    finish = columns.finish_time
    order = rows[np.lexsort((lineage.depth[rows], start[rows], lineage.root[rows]))]
    root = lineage.root[order]
    begin = submission[root]
    again = np.flatnonzero(root[1:] == root[:-1]) + 1
    begin[again] = finish[order[again - 1]]
    return begin, np.maximum(begin, start[order])
