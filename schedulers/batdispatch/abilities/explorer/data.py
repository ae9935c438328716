"""The jobs of some runs as a table of columns that a page holds in a few bytes each: what the explorer shows.

All runs share the table of jobs; each has a table of segments: where and when a job, or a part of one, ran. Columns are
whole numbers (see `streams`); the header says what they count in. ``assets/decode.js`` reads them by name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from batdispatch.abilities.explorer.decision_columns import decision_columns
from batdispatch.abilities.explorer.demands import JobDemand
from batdispatch.abilities.explorer.power_columns import power_columns
from batdispatch.abilities.explorer.streams import LARGEST, Whole, fold_signs, steps, written
from batdispatch.core.hosts.hostsets import Intervals
from batdispatch.core.jobs.job_table import SCHEMA, Floats, JobTable, in_order
from batdispatch.core.machine.machine import Machine
from batdispatch.results.runs import Run, has_network

#: Most rows of a chart: of larger machines, several hosts share a row, which is less than a pixel anyway. Where a map
#: shows each host, none do.
MAX_ROWS = 2048
#: Most segments of a page; a browser draws them all within a frame or two.
MAX_SEGMENTS = 2_000_000
_NOTHING = JobDemand()
#: A host's name whose last number counts up.
_NUMBERED = re.compile(r"(.*?)(\d{1,15})(\D*)")


def page_data(
    runs: Sequence[Run],
    asking: Mapping[str, JobDemand],
    add: Callable[[Table], Mapping[str, Any]] | None = None,
    machine: Machine | None = None,
) -> dict[str, Any] | None:
    """Return what the page's script reads, of types that JSON has; None: no run has a job, or all have too many.

    Runs that would make more than `MAX_SEGMENTS` together with those before them are left out.

    Args:
        runs: in the order of the page.
        asking: id of a job, with or without its workload -> what it asked for, of jobs of which that is known.
        add: says what else the script reads.
        machine: whose hosts have names; None: it is not known.
    """
    chosen: list[Run] = []
    left = MAX_SEGMENTS
    for run in runs:
        if len(run.columns) <= left:
            chosen.append(run)
            left -= len(run.columns)
    if not any(len(run.columns) for run in chosen):
        return None
    table = Table(chosen, asking)
    return {
        **written([table.jobs(), *map(table.run, range(len(chosen)))]),
        **(add(table) if add is not None else {}),
        "second": table.second,
        "begin": table.begin,
        "end": table.end,
        "dates": _dates(table),
        "hosts": table.hosts,
        "capacities": [_hosts(run) for run in chosen],
        "host_names": _host_names(machine),
        "rows": -(-table.hosts // table.scale),
        "scale": table.scale,
        "shared": any(run.result.platform.resources for run in chosen),
        "names": table.texts,
        "prefix": table.prefix,
        "users": table.users,
        "accounts": table.accounts,
        "queues": table.queues,
        "partitions": table.partitions,
        "needs": table.needs,
        "runs": [run.label for run in chosen],
        "left_out": [run.label for run in runs if run not in chosen],
        **_shown(),
    }


class Table:
    """The jobs of some runs in order of submission, and what each run made of them.

    Attributes:
        runs: that are in the table.
        begin: first moment, seconds.
        end: last moment, seconds.
        places: of each run, the place in the table of each of its logical jobs, int64 [logical job].
    """

    def __init__(self, runs: Sequence[Run], asking: Mapping[str, JobDemand]) -> None:
        self.runs = runs
        self.hosts = max(1, *(_hosts(run) for run in runs))
        self.scale = 1 if any(map(has_network, runs)) else -(-self.hosts // MAX_ROWS)
        times = [time for run in runs for time in _times(run)]
        begin = min((float(time.min()) for time in times if len(time)), default=0.0)
        whole = all(np.equal(np.mod(time, 1.0), 0.0).all() for time in times)
        #: How many units of time make a second: whole seconds take fewer bytes.
        self.second = 1 if whole else 1000
        self.begin = math.floor(begin)
        self.end = math.ceil(max((float(time.max()) for time in times if len(time)), default=1.0))
        workloads = {name for run in runs for name in set(run.columns.workload_name.tolist())}
        #: What all full ids begin with, and names leave out; empty where there are several workloads.
        self.prefix = f"{workloads.pop()}!" if len(workloads) == 1 else ""
        jobs = _jobs_of(runs)
        self.places = np.split(jobs.place, np.cumsum([len(run.logical) for run in runs])[:-1])
        self._submission = self.time(jobs.submission)
        self._walltime = _limits(jobs.walltime)
        self._units = jobs.units
        #: How long each job runs under the first run that it ran in.
        self._usual = np.zeros(len(jobs.ids), dtype=np.int64)
        for run, places in zip(reversed(runs), reversed(self.places), strict=True):
            ran = np.flatnonzero(run.columns.ran)
            took = self.time(run.columns.finish_time[ran]) - self.time(run.columns.starting_time[ran])
            self._usual[places[run.lineage.job[ran]]] = took
        known = [_asking(asking, name) for name in jobs.ids]
        users, accounts = [one.user for one in known], [one.account for one in known]
        self.users, self._user = _coded(users)
        # Some logs say of each user the group of the same name, which tells nothing.
        self.accounts, self._account = _coded([""] * len(known) if accounts == users else accounts)
        self.queues, self._queue = _coded([one.queue for one in known])
        self.partitions, self._partition = _coded([one.partition for one in known])
        self.needs, self._needs = _coded([one.needs for one in known])
        named = [name.removeprefix(self.prefix) for name in jobs.ids]
        self._numbers = _numbers(named)
        #: Names of the jobs, unless all are plain numbers.
        self.texts = None if self._numbers is not None else named

    def jobs(self) -> Iterable[tuple[str, Whole]]:
        """Yield the columns of the jobs, in order of submission."""
        yield "submission", steps(self._submission)
        yield "walltime", self._walltime
        yield "usual", self._usual
        yield "units", self._units
        yield "user", self._user
        yield "account", self._account
        yield "queue", self._queue
        yield "partition", self._partition
        yield "needs", self._needs
        if self._numbers is not None:
            yield "name", fold_signs(steps(self._numbers))

    def run(self, index: int) -> Iterable[tuple[str, Whole]]:
        """Yield the columns of a run's segments, in order of jobs and starts, and of its jobs' last states.

        Where all is as usual (nobody waits, a job runs as long as in the other runs, on as many hosts as it asked for)
        the numbers are 0, which take next to nothing once they are compressed.
        """
        run = self.runs[index]
        rows, job = self.segments(index)
        segments = run.columns.take(rows)
        start, finish = self.time(segments.starting_time), self.time(segments.finish_time)
        first, last, count = _in_rows(segments.hosts, self.scale)
        yield "job", steps(job)
        yield "start", fold_signs(start - self._submission[job])
        yield "run", fold_signs(finish - start - self._usual[job])
        yield "held", fold_signs(segments.hosts.sizes - self._units[job])
        yield "intervals", count
        yield "first", fold_signs(steps(first))
        yield "more", last - first
        state = np.zeros(len(self._units), dtype=np.int64)  # 0: the run has no such job.
        state[self.places[index]] = run.logical.final_state.astype(np.int64) + 1
        yield "state", state
        yield from segment_columns(run, rows, self._units[job])
        yield from _shown_columns(segments)
        yield from decision_columns(run, self.time, len(self.runs))
        yield from power_columns(run, self.time, len(self.runs))

    @property
    def count(self) -> int:
        """Number of jobs."""
        return len(self._units)

    def segments(self, index: int) -> tuple[Whole, Whole]:
        """Return a run's segments in order of jobs and starts: their rows in its jobs file, and their jobs' places."""
        run = self.runs[index]
        rows = np.flatnonzero(run.columns.ran)
        job = self.places[index][run.lineage.job[rows]]
        order = np.lexsort((run.columns.starting_time[rows], job))
        return rows[order], job[order]

    def time(self, seconds: Floats) -> Whole:
        """Return moments in whole units of the page's time, counted from its begin."""
        return np.rint((seconds - self.begin) * self.second).astype(np.int64)


def segment_columns(run: Run, rows: Whole, units: Whole) -> Iterable[tuple[str, Whole]]:
    """Yield what each segment asked for and how it ended, which ``assets/lineage.js`` reads.

    Nothing is told of a run in which no job continues another, so that its page does not grow.

    Args:
        run: the run.
        rows: of the segments in its jobs file, in the order of the page.
        units: that the logical job of each segment asked for.
    """
    if not run.lineage.joined:
        return
    segments = run.columns.take(rows)
    yield "segment_limit", _limits(segments.requested_time)
    yield "segment_units", fold_signs(segments.requested_number_of_resources - units)
    yield "segment_state", segments.final_state.astype(np.int64)


def _shown() -> dict[str, Any]:
    """Return the columns of jobs.csv that the page shows of a job: name, label, unit, parts of a unit; or nothing."""
    shown = [(column.name, *column.page[:2], 10**column.page.digits) for column in SCHEMA if column.page is not None]
    return {"shown": shown} if shown else {}


def _shown_columns(segments: JobTable) -> Iterable[tuple[str, Whole]]:
    """Yield the same columns of some segments, which ``assets/shown.js`` reads; 0 stands for no number."""
    for name, _, _, parts in _shown().get("shown", ()):
        values = np.asarray(getattr(segments, name), dtype=np.float64) * parts
        known = np.abs(values) < LARGEST / 4
        yield f"shown_{name}", np.where(known, fold_signs(np.rint(np.where(known, values, 0)).astype(np.int64)) + 1, 0)


def _dates(table: Table) -> dict[str, Any] | None:
    """Return when the clock of all runs shows 0, in which zone, and when its clocks change; None: it has no dates."""
    dates = table.runs[0].result.workload.dates
    if dates is None or any(run.result.workload.dates != dates for run in table.runs):
        return None
    return {"begin": dates.begin, "zone": dates.zone, "offsets": dates.offsets(table.begin, table.end)}


def _host_names(machine: Machine | None) -> list[tuple[str, int, int, int, str, str]]:
    """Return the names of a machine's hosts in order, as stretches of names that count up.

    Each is (prefix, digits, first number, how many hosts, suffix, what tells them from others). If digits are below 0,
    the prefix is the only host's whole name.
    """
    if machine is None:
        return []
    kinds = [_kind(host.properties) for host in machine.hosts]
    common = len(set(kinds)) == 1
    found: list[tuple[str, int, int, int, str, str]] = []
    for host, kind in zip(machine.hosts, kinds, strict=True):
        number = _NUMBERED.fullmatch(host.name)
        told = "" if common else kind
        if number is None:
            found.append((host.name, -1, 0, 1, "", told))
            continue
        prefix, digits, suffix = number.groups()
        if found:
            before, width, first, count, behind, kind_before = found[-1]
            # "n9" is followed by "n10", and "n09" too, which both count up.
            if (before, behind, kind_before, str(first + count).zfill(width)) == (prefix, suffix, told, digits):
                found[-1] = (before, width, first, count + 1, behind, told)
                continue
        found.append((prefix, len(digits), int(digits), 1, suffix, told))
    return found


def _kind(properties: Mapping[str, str]) -> str:
    """Return what a host offers, or where it belongs, in words."""
    told = (properties.get(name, "") for name in ("capacity", "partition", "class"))
    return ", ".join(filter(None, told))


def _limits(seconds: Floats) -> Whole:
    """Return walltimes in whole seconds, rounded up, plus 1; 0 stands for no walltime."""
    limited = np.isfinite(seconds)
    return np.where(limited, np.ceil(np.where(limited, seconds, 0)) + 1, 0).astype(np.int64)


class _Jobs(NamedTuple):
    """The jobs of several runs, each once, in order of submission; at one moment, those of the first run come first.

    Attributes:
        place: where each logical job of the runs, one run after the other, is among the jobs, int64.
        ids: full id of each job.
        submission: s, float64 [job].
        walltime: s, float64 [job], infinite without one.
        units: int64 [job].
    """

    place: Whole
    ids: Sequence[str]
    submission: Floats
    walltime: Floats
    units: Whole


def _jobs_of(runs: Sequence[Run]) -> _Jobs:
    logical = [run.logical for run in runs]
    ids, code = in_order([name for jobs in logical for name in jobs.full_ids()])
    _, first = np.unique(code, return_index=True)
    submission, walltime, units = (
        np.concatenate([getattr(jobs, name) for jobs in logical])[first]
        for name in ("submission_time", "requested_time", "requested_number_of_resources")
    )
    order = np.argsort(submission, kind="stable")
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    return _Jobs(position[code], [ids[row] for row in order.tolist()], submission[order], walltime[order], units[order])


def _asking(known: Mapping[str, JobDemand], full: str) -> JobDemand:
    # Jobs of a workload may carry its name, or not.
    return known.get(full) or known.get(full.partition("!")[2]) or _NOTHING


def _coded(texts: Sequence[str]) -> tuple[list[str], Whole]:
    """Return the different texts in order, and of each text its place among them."""
    different = sorted(set(texts))
    place = {text: index for index, text in enumerate(different)}
    return different, np.array([place[text] for text in texts], dtype=np.int64)


def _times(run: Run) -> tuple[Floats, Floats, Floats]:
    ran = run.columns.ran
    return run.logical.submission_time, run.columns.starting_time[ran], run.columns.finish_time[ran]


def _hosts(run: Run) -> int:
    highest = int(run.columns.hosts.last.max(initial=-1)) + 1
    return max(run.hosts or 0, highest)


def _in_rows(intervals: Intervals, scale: int) -> tuple[Whole, Whole, Whole]:
    """Return the first and last row of each interval, and how many intervals each segment has; a row has `scale` hosts.

    What touches within a segment becomes one.
    """
    order = np.lexsort((intervals.first, intervals.row))
    row = intervals.row[order].astype(np.int64)
    first = intervals.first[order].astype(np.int64) // scale
    last = intervals.last[order].astype(np.int64) // scale
    if len(row) == 0:
        return first, last, np.zeros(intervals.rows, dtype=np.int64)
    begins = np.ones(len(row), dtype=bool)
    # The highest row so far of each segment; those of later segments are made larger than all before.
    apart = row * (int(last.max()) + 1)
    reach = np.maximum.accumulate(last + apart) - apart
    begins[1:] = (row[1:] != row[:-1]) | (first[1:] > reach[:-1] + 1)
    heads = np.flatnonzero(begins)
    count = np.bincount(row[heads], minlength=intervals.rows).astype(np.int64)
    return first[heads], np.maximum.reduceat(last, heads), count


def _numbers(names: Sequence[str]) -> Whole | None:
    """Return names as numbers; None if JavaScript would write one of them in another way."""
    if not all(
        name.isascii() and name.isdigit() and len(name) < 16 and (name == "0" or name[0] != "0") for name in names
    ):
        return None
    return np.array([int(name) for name in names], dtype=np.int64)
