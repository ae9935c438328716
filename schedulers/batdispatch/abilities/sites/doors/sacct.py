"""Slurm's accounts, as ``sacct --parsable2`` prints them, with the columns that the header names.

The same is read of ``sacct --json``, of slurmrestd's lists of jobs and of JobComp's text files (`sacct_json`,
`jobcomp`), which are taken for the columns that say it.

One line a record. ``123`` is a job, ``123_4`` a task of an array, ``123+1`` a component of a heterogeneous job, and
what follows a dot (``123.batch``, ``123.0``) is a step, which is no job. A job that was requeued has a record for each
run (``--duplicates``), and a job number may come again years later.

A job is what its user submitted: the runs of a requeued job are one job, which runs as long as the last of them, or,
with `requeues`, jobs of which each continues the one before; the components of a heterogeneous job are one job that
asks for their sum.

References:
    Slurm documentation, sacct(1), https://slurm.schedmd.com/sacct.html.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from batdispatch.abilities.sites.doors.jobcomp import is_jobcomp, read_jobcomp
from batdispatch.abilities.sites.doors.sacct_json import read_json
from batdispatch.abilities.sites.doors.sacct_lines import columns_named, is_header, read_lines, stranger
from batdispatch.abilities.sites.doors.sacct_records import Record, RecordReader
from batdispatch.abilities.sites.doors.slurm_json import is_slurm_json
from batdispatch.abilities.sites.doors.slurm_texts import END_STATES, NOTHING_AWAITED, OPEN_STATES, RERUN_STATES
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.request import Dependency
from batdispatch.core.line.ticks import TICK
from batdispatch.inputs.files import Source, head_of
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads.bad_records import BadRecords
from batdispatch.inputs.workloads.logs import LogFormat, LogInfo, LogJob
from batdispatch.inputs.workloads.report import ImportReport
from batdispatch.inputs.workloads.totals import demand_of

#: Longest time from the end of a run until its job is queued anew, s; a number comes again after months.
_SOON = 86_400.0


def read_sacct(
    path: Path,
    options: LogOptions,
    report: ImportReport,
    info: LogInfo,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[LogJob]:
    """Yield the jobs of an account that ran and have ended.

    Each record is a job, a part of a job, or left out and counted with the reason; steps are counted apart.

    Raises:
        InputError: a column is missing, or a field cannot be read.
    """
    bad = BadRecords(str(path), options, report)
    # What comes through a pipe comes once.
    form = form_of(head_of(path)) if path.is_file() else "text"
    reader = RecordReader(path, options, report, info, "job" if form == "json" else "line")

    def conclude(log: Source) -> None:
        info.digest = log.digest()

    if form == "json":
        rows = read_json(path, report, bad, conclude)
    elif form == "jobcomp":
        rows = read_jobcomp(path, report, bad, conclude, progress)
    else:
        named = columns_named(options.header, path) if options.header else None
        if named is not None:
            reader.use(named, 1)
        rows = read_lines(path, report, bad, conclude, progress, columns=named)
    for columns, fields, line in rows:
        reader.use(columns, line)
        try:
            reader.take(fields, line)
        except InputError as problem:
            bad.add(problem)
    bad.conclude()
    reader.conclude()
    jobs = _Jobs(reader, options, report, info.use.whole, frozenset(info.use.names), info)
    yield from _in_turn(list(jobs.jobs()), report)
    report.notes.extend(reader.remarks())


class _Jobs:
    """Makes jobs of records."""

    def __init__(
        self,
        reader: RecordReader,
        options: LogOptions,
        report: ImportReport,
        whole: Collection[str],
        nodes: Collection[str],
        info: LogInfo,
    ) -> None:
        self._records = reader.records
        self._known_nodes = nodes
        #: Gets the ids of jobs that had no limit, and of those that were held, as their records say.
        self._info = info
        self._options, self._report = options, report
        #: Partitions whose jobs have their nodes to themselves.
        self._whole = whole

    def jobs(self) -> Iterator[LogJob]:
        """Yield the jobs."""
        whole = self._joined(self._runs())
        names = self._named(whole)
        for record, name in zip(whole, names, strict=True):
            job = self._job(record, name)
            if job is not None:
                job.dependencies = self._dependencies(record, name)
                yield job

    def _runs(self) -> list[Record]:
        """Return the records that are kept, of a job (or component of one): of a requeued one the last, or all.

        They are submitted when the first one was. The records of one number are put in the order of their submission.
        """
        alike: dict[tuple[str, int], list[Record]] = {}
        for record in self._records:
            alike.setdefault((record.job, record.component), []).append(record)
        found: list[Record] = []
        for records in alike.values():
            if len(records) > 1:
                records.sort(key=_by_time)
                records = list(self._told_once(records))
                for earlier, later in pairwise(records):
                    if _goes_on(earlier, later):
                        if self._continue(earlier, later):
                            found.append(earlier)
                    else:
                        found.append(earlier)
            last = records[-1]
            found.append(last)
            if last.restarts and len(records) == 1:
                self._report.change("were requeued, and their earlier runs are not told (sacct --duplicates)", last.job)
        return found

    def _continue(self, earlier: Record, later: Record) -> bool:
        """Let a run continue an earlier one of the same job, and return whether that one is kept."""
        keeps = self._options.requeues == "all" and earlier.started and earlier.state != "RESIZING"
        if keeps and later.started and earlier.component < 0:
            over = earlier.start + earlier.elapsed
            later.hold = max(later.eligible - over, 0.0) if later.eligible >= over else 0.0
            later.before, later.eligible = earlier, math.nan
            self._report.change(
                "are later runs of requeued jobs: each continues the one before once it is eligible after that",
                later.job,
            )
        else:
            keeps = False
            text = "earlier runs of requeued or resized jobs, of which the last is kept (--requeues)"
            self._report.drop(text, earlier.job)
            later.awaited = later.awaited if later.awaited.jobs else earlier.awaited
        later.submit = min(earlier.submit, later.submit)
        return keeps

    def _told_once(self, records: list[Record]) -> Iterator[Record]:
        """Yield records sorted by time without those that tell the same once more, as where accounts overlap."""
        kept = records[0]
        for record in records[1:]:
            if record.submit == kept.submit and (record.start == kept.start or kept.state in OPEN_STATES):
                older, kept = (kept, record) if record.state not in OPEN_STATES else (record, kept)
                self._report.drop("records of a job that is told again, as where accounts overlap", older.job)
            else:
                yield kept
                kept = record
        yield kept

    def _joined(self, records: list[Record]) -> list[Record]:
        """Return the records with the components of each heterogeneous job put together."""
        found: list[Record] = []
        leaders: dict[tuple[str, float], Record] = {}
        for record in records:
            if record.component < 0:
                found.append(record)
                continue
            leader = leaders.setdefault((record.job, record.submit), record)
            if leader is record:
                found.append(record)
                continue
            self._report.drop("further components of heterogeneous jobs, which are one job of their sum", record.job)
            leader.totals.add(record.totals)
            leader.elapsed = max(leader.elapsed, record.elapsed)
            leader.limit = max(leader.limit, record.limit)
            if leader.state == "COMPLETED":
                leader.state = record.state
        return found

    def _named(self, records: list[Record]) -> list[str]:
        """Return an id for each record: the job's number, with ``~2`` and so on for numbers that came again."""
        records.sort(key=_by_turn)
        times: dict[str, int] = {}
        names = []
        for record in records:
            count = times[record.job] = times.get(record.job, 0) + 1
            if count > 1 and record.before is None:
                self._report.change("with the number of an earlier job: named with ~2 and so on", record.job)
            names.append(record.job if count == 1 else f"{record.job}~{count}")
            record.name = names[-1]
        self._learn(records, names)
        return names

    def _job(self, record: Record, name: str) -> LogJob | None:
        report = self._report
        if record.state == "REVOKED":
            report.drop("revoked: a copy of the job ran on another cluster", name)
            return None
        if record.state in OPEN_STATES:
            never = record.state in ("PENDING", "REQUEUE_FED", "RESV_DEL_HOLD")
            report.drop(f"{'not started' if never else 'not ended'} when the account was made ({record.state})", name)
            return None
        if not record.started:
            report.drop(f"never started ({record.state})", name)
            return None
        if record.state not in END_STATES:
            report.change(f"with the state {record.state[:30]}, which we do not know: taken as run", name)
        if math.isnan(record.submit):
            report.drop("without a submit time", name)
            return None
        if not record.elapsed >= 0:
            report.drop("without a run time" if math.isnan(record.elapsed) else "end before they start", name)
            return None
        submission = record.submit
        if record.eligible > submission:
            self._info.held.add(name)
            if self._options.submission == "eligible":
                submission = record.eligible
            report.change(
                "were eligible later than submitted (--begin, holds, dependencies, requeues): "
                f"{self._options.submission} time taken (--submission)",
                name,
            )
        if record.limit == math.inf:
            self._info.unlimited.add(name)
        if math.isnan(record.limit):
            report.change("without a time limit of their own: no walltime", name)
        units, demand, request = demand_of(
            record.totals, self._options.units or "cores", self._options.processors_per_host, report, name
        )
        extra = record.extra
        extra.update(request)
        self._keep_known_nodes(extra, request.get("nodes", 1), name)
        if record.before is not None:
            extra["parent"] = record.before.name
        if record.totals.licences:
            extra["licences"] = record.totals.licences
        if "partition" in extra:
            extra["queue"] = extra["partition"]
        stay = record.stay
        if (
            demand
            and stay
            and stay.partition in self._whole
            and (record.asked or record.totals.cores) < stay.amounts["core"]
        ):
            report.change("had nodes to themselves, with more cores than asked for: they take whole nodes", name)
            extra["whole_nodes"] = True
        return LogJob(
            id=name,
            submission=submission,
            runtime=record.elapsed,
            start=record.start,
            killed=record.state == "TIMEOUT",
            walltime=record.limit if record.limit > 0 else math.inf,
            units=units,
            demand=demand,
            extra=extra,
            nodes="" if stay is None else stay.nodes,
        )

    def _keep_known_nodes(self, extra: dict[str, Any], nodes: int | list[int], name: str) -> None:
        """Leave out names of nodes that the log does not know, and lists that leave other nodes open, too."""
        for field in ("node_list", "exclude_nodes"):
            names = [one for one in extra.pop(field, ()) if one in self._known_nodes]
            if names and field == "node_list" and len(names) < (nodes if isinstance(nodes, int) else nodes[1]):
                self._report.change("name some of their nodes only (--nodelist): placed anywhere", name)
            elif names:
                extra[field] = names

    # ------------------------------------------------------------------ who waits for whom

    def _learn(self, records: list[Record], names: list[str]) -> None:
        """Know the jobs by all the names that a dependency may use."""
        self._known: dict[str, tuple[Record, str]] = {}
        self._tasks: dict[str, list[str]] = {}
        if not any(record.awaited is not NOTHING_AWAITED for record in records):
            return
        for record, name in zip(records, names, strict=True):
            self._known[record.job] = (record, name)
            if record.raw:
                self._known[str(record.raw)] = (record, name)
        # The last task of an array has the array's own number.
        for record in records:
            array, task, _ = record.job.partition("_")
            if task:
                self._known.pop(array, None)
                self._tasks.setdefault(array, []).append(record.job)

    def _dependencies(self, record: Record, name: str) -> tuple[Dependency, ...]:
        awaited = record.awaited
        if record.before is not None:
            # Counted from the start of that one: a job cannot wait for the end of what it is a part of.
            held = record.before.elapsed + record.hold
            return (Dependency(record.before.name, "after", held),) if record.hold else ()
        if awaited is NOTHING_AWAITED:
            return ()
        if awaited.others:
            self._report.change("depend on others in a way that we do not know: that dependency is left out", name)
        wanted = [
            msgspec.structs.replace(one, job=each)
            for one in awaited.jobs
            for each in self._tasks.get(one.job, (one.job,))
        ]
        task = record.job.partition("_")[2]
        wanted.extend(Dependency(f"{array}_{task}") for array in awaited.arrays)
        found = []
        for one in wanted:
            other, other_name = self._known.get(one.job, (record, name))
            done = other.state == "COMPLETED" or one.kind != "afterok"
            # A job can depend on an older one only, which also keeps a wrong account free of circles.
            if done and (other.submit, _number(other)) < (record.submit, _number(record)):
                found.append(msgspec.structs.replace(one, job=other_name))
            else:
                self._report.change("depend on a job that is not in the account or did not complete: left out", name)
        if awaited.alone and "name" in record.extra:
            found.append(Dependency(kind="singleton"))
        elif awaited.alone:
            self._report.change("are singletons of a name that is not told (JobName): without that", name)
        return tuple(dict.fromkeys(found))


def _number(record: Record) -> int:
    """Return the number that a job or its array got when it was submitted."""
    return int(record.job.partition("_")[0])


def _goes_on(earlier: Record, later: Record) -> bool:
    """Return whether two records of one number are of one job: a job is queued anew as soon as its run is over."""
    over = earlier.start + earlier.elapsed
    return (
        earlier.state in RERUN_STATES
        and earlier.extra.get("user") == later.extra.get("user")
        and not later.submit > over + _SOON
    )


def _by_time(record: Record) -> tuple[float, float, int]:
    """Return a key of records: when they were submitted and started, unknown times last."""
    return (_or_last(record.submit), _or_last(record.start), record.line)


def _by_turn(record: Record) -> tuple[float, int, int, float, int]:
    """Return a key of records: when they were submitted, and in one second the order in which Slurm numbers them."""
    array, _, task = record.job.partition("_")
    return (_or_last(record.submit), int(array), int(task or 0), _or_last(record.start), record.line)


def _in_turn(jobs: list[LogJob], report: ImportReport) -> Iterator[LogJob]:
    """Yield jobs; those of one second come a tick apart where Batsim would take them in another order.

    Accounts count whole seconds. Batsim takes jobs of one moment in the order of their names as texts, in which ``10``
    goes before ``9``; Slurm tries them in the order of their numbers.
    """
    at_once: dict[float, list[LogJob]] = {}
    for job in jobs:
        at_once.setdefault(job.submission, []).append(job)
    for together in at_once.values():
        if len(together) > 1 and any(later.id < earlier.id for earlier, later in pairwise(together)):
            for place, job in enumerate(together):
                job.submission += place * TICK
                if place:
                    report.change("came in one second: kept in the order of their numbers, 1 us apart", job.id)
    yield from jobs


def _or_last(moment: float) -> float:
    return math.inf if math.isnan(moment) else moment


def form_of(head: bytes) -> str:
    """Return in which form a file begins that holds accounts of Slurm: text, json or jobcomp; empty: in none."""
    if is_slurm_json(head):
        return "json"
    lines = [line for line in head.splitlines() if line.strip()][:20]
    if lines and is_jobcomp(lines[0]):
        return "jobcomp"
    return "text" if any(map(is_header, lines)) else ""


def _holds(head: bytes) -> bool:
    return form_of(head) != ""


FORMAT = LogFormat(read_sacct, endings=(".sacct",), holds=_holds, stranger=stranger)
