"""A record of Slurm's accounts: what each of its fields says."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NoReturn

import msgspec

from batdispatch.abilities.sites.doors.sacct_lines import HOW, Columns
from batdispatch.abilities.sites.doors.slurm_texts import (
    NOTHING_AWAITED,
    AwaitedJobs,
    Tres,
    asks_for_whole_nodes,
    constraint_of,
    read_array_limit,
    read_constraint,
    read_count,
    read_dependency,
    read_gres,
    read_licences,
    read_limit,
    read_state,
    read_tres,
)
from batdispatch.abilities.sites.doors.submit_lines import submit_options
from batdispatch.core.errors import InputError
from batdispatch.core.line.options import did_you_mean
from batdispatch.core.machine.features import CONSTRAINT
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads.amounts import read_memory
from batdispatch.inputs.workloads.logs import LogInfo, check_processors_per_host
from batdispatch.inputs.workloads.moments import Clock, read_duration, time_zone
from batdispatch.inputs.workloads.node_use import Stay, host_names, use_of
from batdispatch.inputs.workloads.report import ImportReport
from batdispatch.inputs.workloads.totals import Totals

_JOB = re.compile(r"(\d{1,15})(?:_(?:(\d{1,15})|\[([^\]]{0,9999})\]))?(?:\+(\d{1,9}))?", re.ASCII)
_NO_LICENCES = frozenset({"", "(null)", "None", "N/A"})
#: What --nice takes off a priority where it says no number.
_NICE = "100"
_NO_TIME = frozenset({"", "Unknown", "None", "N/A"})
#: Field of a workload -> columns of sacct, the best first.
_NAMES = {
    "user": ("user", "uid"),
    "group": ("group", "gid"),
    "account": ("account",),
    "partition": ("partition",),
    "qos": ("qos", "qosraw"),
    "reservation": ("reservation",),
    "name": ("jobname",),
}
_PROPER = "JobID JobIDRaw Submit State Start End Eligible Elapsed ElapsedRaw Timelimit TimelimitRaw NNodes AllocNodes"
_PROPER += " ReqNodes NCPUS ReqCPUS AllocCPUS Restarts ReqTRES AllocTRES ReqMem ReqGRES AllocGRES"
_SPELLING = {name.lower(): name for name in _PROPER.split()}


class Record(msgspec.Struct, gc=False):
    """One record of a job, no step."""

    #: What the record's job is called: ``123``, ``123_4``.
    job: str
    #: Of the component of a heterogeneous job, from 0; -1: the job is none.
    component: int
    line: int
    #: Number of the job in Slurm's own counting, by which an array's tasks differ; 0: not told.
    raw: int
    state: str
    #: Seconds since 1970; nan: unknown.
    submit: float
    eligible: float
    start: float
    #: Whether it was ever given anything.
    started: bool
    #: Seconds; nan: unknown.
    elapsed: float
    limit: float
    totals: Totals
    #: Cores that its user asked for, whatever it was given; 0: not told.
    asked: int
    awaited: AwaitedJobs
    extra: dict[str, Any]
    #: None: the record does not tell on which nodes it ran, or it never did.
    stay: Stay | None = None
    #: How often the job was requeued before; 0: never, or that is not told.
    restarts: int = 0
    #: The run that this one continues.
    before: Record | None = None
    #: Seconds after the end of that one from which on this one may start: Slurm holds a requeued job for 121 s.
    hold: float = 0.0
    #: Id of the job that is made of it, once it has one.
    name: str = ""


class RecordReader:
    """Reads records, and learns from them about the machine.

    Attributes:
        records: those of jobs that have a number of their own, in the order of the file.
        steps: how many records of steps there were, by kind.
    """

    def __init__(
        self, path: Path, options: LogOptions, report: ImportReport, info: LogInfo, unit: str = "line"
    ) -> None:
        self._source, self._unit = str(path), unit
        self._options, self._report, self._info = options, report, info
        self._units: Literal["hosts", "cores"] = options.units or "cores"
        check_processors_per_host(options, self._units)
        if options.memory == "used":
            raise InputError(
                "sacct tells it of steps, not of jobs, expected none or requested", source="option --memory"
            )
        self._memory = options.memory != "none" and self._units == "cores"
        self._clock = Clock(time_zone(options.time_zone) if options.time_zone else None)
        self._columns: Columns | None = None
        self.steps: dict[str, int] = {}
        self.records: list[Record] = []
        #: Cluster -> how many records of it there were; the empty one: it is not told.
        self.clusters: Counter[str] = Counter()
        self._tres: dict[str, Tres] = {}
        self._texts: dict[str, str] = {}
        self._line = 0

    # ------------------------------------------------------------------ a record

    def take(self, fields: list[str], line: int) -> None:
        """Read one record and keep it, unless it is a step's or one whose job never ran.

        Raises:
            InputError: a field cannot be read.
        """
        assert self._columns is not None
        self._line = line
        name = fields[self._id]
        if "." in name:
            kind = name.rpartition(".")[2]
            kind = "numbered" if kind[:1].isdigit() else kind[:20]
            # A hostile file has a kind of its own on each line.
            kind = kind if kind in self.steps or len(self.steps) < 10 else "other"
            self.steps[kind] = self.steps.get(kind, 0) + 1
            return
        self._report.records += 1
        cluster = fields[self._cluster] if self._cluster >= 0 else ""
        self.clusters[cluster] += 1
        if cluster and self._options.cluster and cluster != self._options.cluster:
            self._report.drop("of other clusters (--cluster)", name)
            return
        match = _JOB.fullmatch(name)
        if match is None:
            self._refuse(self._columns.names[self._id], name, "a job such as 123, 123_4 or 123+0")
        job, task, pending, component = match.groups()
        if pending is not None:
            self._report.drop("tasks of arrays that never started, a record for all of them", name)
            return
        if task is not None:
            job = f"{job}_{task}"
        record = self._read(fields, job, -1 if component is None else int(component))
        self.records.append(record)

    def use(self, columns: Columns, line: int) -> None:
        """Take the columns of a record that begins in some line.

        Raises:
            InputError: one that is needed is missing.
        """
        if columns is self._columns:
            return
        at = columns.at
        self._id = at["jobid"] if "jobid" in at else at["jobidraw"]
        self._at: Callable[[str], int] = lambda name: at.get(name, -1)
        needed: tuple[tuple[str, ...], ...] = (
            ("submit",),
            ("state",),
            ("elapsedraw", "elapsed", "end"),
            ("alloccpus", "ncpus", "reqcpus", "alloctres", "reqtres", "nnodes", "allocnodes", "reqnodes"),
        )
        for names in needed:
            if not any(name in at for name in names):
                raise InputError(
                    f"there is no column {' or '.join(_proper(name) for name in names)}; export with: {HOW}",
                    source=self._source,
                    place=f"{self._unit} {line}",
                )
        if not {"elapsedraw", "elapsed"} & at.keys() and "start" not in at:
            raise InputError(
                f"End without Start and Elapsed tells no run time; export with: {HOW}", source=self._source
            )
        self._kept = [(field, self._first(*names)) for field, names in _NAMES.items()]
        self._kept = [(field, index) for field, index in self._kept if index >= 0]
        self._cluster = self._at("cluster")
        self._columns = columns

    def _first(self, *names: str) -> int:
        return next((index for index in map(self._at, names) if index >= 0), -1)

    def _refuse(self, column: str, text: str, expected: str) -> NoReturn:
        raise InputError(
            f"{column} is {text[:60]!r}, expected {expected}", source=self._source, place=f"{self._unit} {self._line}"
        )

    def _read(self, fields: list[str], job: str, component: int) -> Record:
        state = read_state(fields[self._at("state")])
        submit = self._moment(fields, "submit")
        start = self._moment(fields, "start")
        elapsed = self._elapsed(fields, start)
        started = self._started(fields, state, start, elapsed)
        extra: dict[str, Any] = {}
        for field, index in self._kept:
            text = fields[index]
            if text:
                # Millions of jobs share a few names.
                extra[field] = self._texts.setdefault(text, text)
        awaited, together = NOTHING_AWAITED, 0
        index = self._at("submitline")
        if index >= 0:
            if "-d" in fields[index]:
                awaited = read_dependency(fields[index])
            if "%" in fields[index] and "_" in job:
                together = read_array_limit(fields[index])
            if "--exclusive" in fields[index] and self._units == "cores" and asks_for_whole_nodes(fields[index]):
                extra["whole_nodes"] = True
        if constraint := self._constraint(fields):
            features, unlike = read_constraint(constraint, self._number(fields, "nnodes"))
            if features:
                extra[CONSTRAINT] = features
            if unlike:
                self._report.change(unlike, job)
        said = submit_options(fields[index]) if (index := self._at("submitline")) >= 0 else {}
        if said:
            self._heed(said, extra, job)
        index = self._at("suspended")
        if index >= 0 and started and fields[index].strip("0:-"):
            self._report.change("were suspended for a while: they run on in the simulation", job)
        array, _, task = job.partition("_")
        if task:
            extra["array"] = {"id": array, "index": int(task), **({"limit": together} if together else {})}
        totals, asked = self._totals(fields, job, said, started=started, whole="whole_nodes" in extra)
        raw = fields[self._at("jobidraw")] if self._at("jobidraw") >= 0 else ""
        return Record(
            job=job,
            component=component,
            line=self._line,
            raw=int(raw) if raw.isascii() and raw.isdigit() and len(raw) < 16 else 0,
            state=state,
            submit=submit,
            eligible=self._moment(fields, "eligible"),
            start=start,
            started=started,
            elapsed=elapsed,
            limit=self._limit(fields, job),
            totals=totals,
            asked=asked,
            awaited=awaited,
            extra=extra,
            stay=self._stay(fields, (start, elapsed), totals, extra.get("partition", "")) if started else None,
            restarts=self._number(fields, "restarts"),
        )

    def _heed(self, said: dict[str, str], extra: dict[str, Any], job: str) -> None:
        """Let a job ask for what options of its submit line say and no column does. **This changes `extra`.**"""
        nice = said.get("nice", "0") or _NICE
        if re.fullmatch(r"-?\d{1,9}", nice) and int(nice):
            extra["nice"] = int(nice)
        if "contiguous" in said:
            extra["contiguous"] = True
        for option, field in (("nodelist", "node_list"), ("exclude", "exclude_nodes")):
            names = self._names(said.get(option, ""))
            if names:
                extra[field] = names
        if "begin" in said:
            self._report.change("have --begin in their submit line: see --submission", job)
        if "," in said.get("partition", ""):
            names = said["partition"].split(",")
            if extra.get("partition") in names:
                extra["partitions"] = names
                self._report.change("name several partitions (--partition)", job)

    def _names(self, text: str) -> list[str]:
        """Return the names of a list of nodes; none if it cannot be read, as that of a file."""
        try:
            return list(dict.fromkeys(host_names(text))) if text and "/" not in text else []
        except InputError:
            return []

    def _constraint(self, fields: list[str]) -> str:
        """Return the features that a job required, by its column or its submit line.

        A ``|`` within both may have been shared out wrongly among them: then the line has the whole.
        """
        index, line = self._at("constraints"), self._at("submitline")
        own = constraint_of(fields[line]) if line >= 0 and ("-C" in fields[line] or "--con" in fields[line]) else ""
        if index < 0 or ("|" in own and fields[index] in own.split("|")):
            return own
        return fields[index]

    def _stay(self, fields: list[str], time: tuple[float, float], totals: Totals, partition: str) -> Stay | None:
        """Return the time of a job on its nodes; None: these are not told."""
        index = self._at("nodelist")
        text = fields[index] if index >= 0 else ""
        if not text or text.startswith(("None", "(null)")):
            return None
        allocated = self._resources(fields, "alloctres")
        # What a job is simulated with has to fit, also where the log tells more of what it asked for than of what it
        # got; its memory is counted in whole MiB for each core.
        memory = -(-totals.memory // max(totals.cores, 1)) * totals.cores
        cores = allocated.cores or self._number(fields, "alloccpus") or self._number(fields, "ncpus")
        amounts = {"core": max(cores, totals.cores), "memory": max(allocated.memory if self._memory else 0, memory)}
        for name in {*allocated.gres, *totals.others}:
            amounts[name] = max(allocated.gres.get(name, 0), totals.others.get(name, 0))
        return Stay(self._texts.setdefault(text, text), *time, amounts, partition)

    def _started(self, fields: list[str], state: str, start: float, elapsed: float) -> bool:
        """Return whether a job got nodes; the start of one that was cancelled while it waited is when it was."""
        if self._at("start") >= 0 and math.isnan(start):
            return False
        nodes, allocated = self._at("nodelist"), self._at("alloctres")
        if nodes >= 0 and fields[nodes] in ("None assigned", "(null)"):
            return False
        if allocated >= 0 and fields[allocated]:
            return True
        if allocated >= 0:
            # Slurm before 15.08 kept no such sums: then a job that has nodes or lasted was given something.
            return elapsed > 0 or (nodes >= 0 and fields[nodes] != "" and state not in ("CANCELLED", "DEADLINE"))
        return nodes >= 0 or not (elapsed == 0 and state in ("CANCELLED", "DEADLINE"))

    def _moment(self, fields: list[str], column: str) -> float:
        index = self._at(column)
        if index < 0 or fields[index] in _NO_TIME:
            return math.nan
        try:
            return self._clock.read(fields[index])
        except (ValueError, OverflowError):
            self._refuse(
                _proper(column), fields[index], "a time such as 2026-11-22T13:26:06 (SLURM_TIME_FORMAT=standard, or %s)"
            )

    def _elapsed(self, fields: list[str], start: float) -> float:
        for column in ("elapsedraw", "elapsed"):
            index = self._at(column)
            if index < 0 or not fields[index]:
                continue
            text = fields[index]
            if text.isascii() and text.isdigit() and len(text) < 12:
                return float(text)
            try:
                return read_duration(text)
            except ValueError:
                self._refuse(_proper(column), text, "seconds, or [D-]HH:MM:SS")
        return self._moment(fields, "end") - start

    def _limit(self, fields: list[str], job: str) -> float:
        for column in ("timelimitraw", "timelimit"):
            index = self._at(column)
            if index < 0:
                continue
            try:
                limit = read_limit(fields[index], minutes=column == "timelimitraw")
            except ValueError:
                self._refuse(_proper(column), fields[index], "minutes, [D-]HH:MM:SS, UNLIMITED or Partition_Limit")
            if limit is not None:
                return limit
        return math.nan

    # ------------------------------------------------------------------ how large it is

    def _totals(
        self, fields: list[str], job: str, said: dict[str, str], *, started: bool, whole: bool
    ) -> tuple[Totals, int]:
        """Return how large a job is, and how many cores its user asked for.

        Slurm gives whole cores where these have several threads, and more to jobs that ask for a whole node. The sums
        are those of what it gave, unless `whole`: a job that takes whole nodes anyway is as large as it asked.
        """
        requested, allocated = self._resources(fields, "reqtres"), self._resources(fields, "alloctres")
        asked_cores = requested.cores or self._number(fields, "reqcpus")
        given_cores = allocated.cores or self._number(fields, "alloccpus") or self._number(fields, "ncpus")
        given_nodes = allocated.nodes or self._number(fields, "allocnodes")
        asked_nodes = requested.nodes or self._number(fields, "reqnodes")
        nodes = given_nodes or self._number(fields, "nnodes") or asked_nodes
        self._note_machine(allocated, given_cores, nodes)
        size = self._options.size or ("requested" if whole else "allocated")
        if started and asked_cores and given_cores and asked_cores != given_cores and not whole:
            self._report.change(f"with requested and allocated cores that differ: {size} taken (--size)", job)
        least = asked_nodes
        if size == "allocated":
            cores, memory, gres = given_cores or asked_cores, allocated.memory, allocated.gres
            memory = memory or self._asked_memory(fields, requested, cores, nodes)
            gres = _as_asked(gres, requested.gres) if requested.gres else gres or self._old_gres(fields, nodes)
            if self._options.size is not None or not asked_nodes:
                least = nodes
        else:
            cores, gres = asked_cores or given_cores, requested.gres or self._old_gres(fields, nodes)
            memory = self._asked_memory(fields, requested, cores, nodes) or allocated.memory
            gres = gres or (allocated.gres if not requested.cores else {})
        told = self._said_gres(said, max(nodes, 1), job)
        gres = _with_types(gres, told) if gres else told
        licences = self._licences(fields) or self._said_licences(said)
        return Totals(cores, nodes, least, memory if self._memory else 0, gres, licences), asked_cores

    def _said_gres(self, said: dict[str, str], nodes: int, job: str) -> dict[str, int]:
        """Return the sums of generic resources that a submit line asks for, on so many nodes."""
        found: dict[str, int] = {}
        for option, times in (("gres", nodes), ("gpus-per-node", nodes), ("gpus", 1)):
            text = said.get(option, "")
            if not text or text.lower() == "none":
                continue
            try:
                amounts = read_gres(text if option == "gres" else _gpus(text))
            except ValueError:
                self._report.change(f"have --{option} in their submit line that cannot be read: without these", job)
                continue
            found |= {name: amount * times for name, amount in amounts.items()}
        return found if self._units == "cores" else {}

    def _said_licences(self, said: dict[str, str]) -> dict[str, int]:
        try:
            return read_licences(said["licenses"]) if said.get("licenses") else {}
        except ValueError:
            return {}

    def _licences(self, fields: list[str]) -> dict[str, int]:
        """Return what a job held of what exists once for the whole machine."""
        found = self._resources(fields, "reqtres").licences or self._resources(fields, "alloctres").licences
        index = self._at("licenses")
        if found or index < 0 or fields[index] in _NO_LICENCES:
            return found
        try:
            return read_licences(fields[index])
        except ValueError:
            self._refuse("Licenses", fields[index], "licences such as matlab:2,ansys:1")

    def _resources(self, fields: list[str], column: str) -> Tres:
        index = self._at(column)
        text = fields[index] if index >= 0 else ""
        known = self._tres.get(text)
        if known is None:
            try:
                known = read_tres(text)
            except ValueError:
                self._refuse(_proper(column), text, "amounts such as cpu=2,mem=200M,node=1,gres/gpu=1")
            if len(self._tres) < 100_000:
                self._tres[text] = known
        return known

    def _number(self, fields: list[str], column: str) -> int:
        index = self._at(column)
        if index < 0 or not fields[index]:
            return 0
        text = fields[index]
        try:
            return read_count(text)
        except ValueError:
            self._refuse(_proper(column), text, "a whole number")

    def _asked_memory(self, fields: list[str], requested: Tres, cores: int, nodes: int) -> int:
        """Return MiB; ``ReqMem`` was told of a core or a node until Slurm 21.08."""
        index = self._at("reqmem")
        if requested.memory or index < 0 or fields[index] in ("", "?", "0?"):
            return requested.memory
        try:
            amount, of = read_memory(fields[index])
        except ValueError:
            self._refuse("ReqMem", fields[index], "an amount of memory such as 4G, 4Gn or 500Mc")
        return math.ceil(amount * (max(cores, 1) if of == "c" else max(nodes, 1) if of == "n" else 1))

    def _old_gres(self, fields: list[str], nodes: int) -> dict[str, int]:
        """Return sums over the job of what old versions tell for each node."""
        for column in ("reqgres", "allocgres"):
            index = self._at(column)
            if index >= 0 and fields[index] not in ("", "0", "(null)", "N/A"):
                try:
                    return {name: amount * max(nodes, 1) for name, amount in read_gres(fields[index]).items()}
                except ValueError:
                    self._refuse(_proper(column), fields[index], "resources of a node such as gpu:2")
        return {}

    def _note_machine(self, allocated: Tres, cores: int, nodes: int) -> None:
        """Learn from what a job was given what a host has at least."""
        if nodes and cores:
            offers = {"core": cores, "memory": allocated.memory if self._memory else 0, **allocated.gres}
            for name, amount in offers.items():
                if amount:
                    self._info.capacity[name] = max(self._info.capacity.get(name, 0), -(-amount // nodes))

    def remarks(self) -> list[str]:
        """Return sentences about the whole of what was read."""
        found = []
        if self.steps:
            kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(self.steps.items()))
            found.append(f"{sum(self.steps.values()):,} lines are steps of jobs, and no jobs ({kinds})")
        return found + self._clock.remarks()

    def conclude(self) -> None:
        """Say what the account tells of the machine, by the nodes that jobs used.

        Raises:
            InputError: it tells of several clusters, or of none that is wanted.
        """
        self._check_clusters()
        self._info.use = use_of([record.stay for record in self.records if record.stay is not None])
        self._info.dated = True
        if self._options.time_zone:
            self._info.about["TimeZoneString"] = self._options.time_zone
        named = (record.extra.get("partition") for record in self.records if record.started)
        self._info.partitions = dict(Counter(name for name in named if name))
        if self._info.use.names and not self._info.use.unread:
            self._info.hosts = len(self._info.use.names)
            self._info.why = f"{self._info.hosts:,} names of nodes in NodeList"

    def _check_clusters(self) -> None:
        """Refuse jobs of several machines: numbers of jobs and names of nodes come again on each."""
        told = {name: count for name, count in self.clusters.items() if name}
        wanted = self._options.cluster
        if wanted and told and wanted not in told:
            raise InputError(did_you_mean(wanted, told), source="option --cluster")
        if not wanted and len(told) > 1:
            said = ", ".join(f"{name} ({count:,} records)" for name, count in told.items())
            raise InputError(f"holds jobs of several clusters, {said}: choose one, --cluster NAME", source=self._source)


def _gpus(text: str) -> str:
    """Return what ``--gpus=2`` or ``--gpus=a100:2`` says as ``--gres`` would."""
    return ",".join(f"gpu:{part}" for part in text.split(","))


def _with_types(gres: dict[str, int], told: dict[str, int]) -> dict[str, int]:
    """Return generic resources with the types that a submit line tells of as many, where they have none."""
    untyped = {name for name in gres if not any(other.startswith(f"{name}_") for other in gres)}
    return gres | {
        name: amount
        for name, amount in told.items()
        if (base := next((one for one in untyped if name.startswith(f"{one}_")), "")) and told.get(base) == gres[base]
    }


def _as_asked(given: dict[str, int], asked: dict[str, int]) -> dict[str, int]:
    """Return generic resources as they were given, of a type only where that was asked for."""
    plain = {name for name in given if not any(name.startswith(f"{other}_") for other in given if other != name)}
    return {name: amount for name, amount in given.items() if name in plain} | {
        name: given.get(name, amount) for name, amount in asked.items()
    }


def _proper(column: str) -> str:
    """Return a column's name as sacct spells it."""
    return _SPELLING.get(column, column)
