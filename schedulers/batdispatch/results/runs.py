"""Run folders: what was simulated, and what came out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.job_table import Floats, JobTable, Texts
from batdispatch.core.line.options import written
from batdispatch.core.machine.machine import Machine
from batdispatch.inputs.files import closest
from batdispatch.inputs.folders import check_finished, stamp
from batdispatch.inputs.workloads.dates import LogDates
from batdispatch.inputs.workloads.model import WINDOW_FIELD, WINDOWS_FIELD, Window
from batdispatch.results.decisions import SolvedPlan, read_solved_plans
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.lineage import FILE as LINEAGE
from batdispatch.results.lineage import Lineage, logical, read_lineage, rows_as_jobs
from batdispatch.results.metrics.compute import compute
from batdispatch.results.metrics.compute import metrics as all_metrics
from batdispatch.results.metrics.measure import RunFiles, measures
from batdispatch.results.metrics.metric import Value
from batdispatch.results.metrics.sample import MeasureValues, Sample, sample_of
from batdispatch.results.run_files import RESULT, check_files, find
from batdispatch.results.run_names import NamedRun, misnamed_folders
from batdispatch.results.schedule import read_schedule
from batdispatch.results.units import read_units
from batdispatch.results.usage import asking_jobs, held_by_row, licences_of, slots_in_blocks

if TYPE_CHECKING:
    import pandas as pd


#: Largest result.json read, in bytes.
MAX_BYTES = 1 << 28
#: Name of the folder in which a log stands beside simulations of it, as `runs.log_run` writes it.
THE_LOG = "the-log"
#: Says, of the jobs that count, how many still waited when they were no longer watched.
STILL_WAITING = "still_waiting"
_PREFIXES = ("", "out_")


class PlatformFacts(msgspec.Struct, kw_only=True):
    """``result.json``'s "platform"."""

    path: str = ""
    sha256: str = ""
    #: Compute hosts.
    hosts: int | None = None
    master: str | None = None
    #: Machine-wide capacity by name; empty for whole hosts.
    resources: dict[str, float] = {}


class CountedJobs(Window, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """Which jobs of a workload count, how many of them still waited at the end, and their metrics."""

    still_waiting: int | None = None
    metrics: dict[str, float | int | None] = {}


class WorkloadFacts(msgspec.Struct, kw_only=True):
    """``result.json``'s "workload"."""

    path: str = ""
    sha256: str = ""
    jobs: int | None = None
    #: How many of the jobs are delays, which state no work; None: no energy was counted.
    delays: int | None = None
    #: None: all jobs count.
    counted: CountedJobs | None = None
    #: None: nobody knows when the jobs came.
    dates: LogDates | None = None
    #: Parts that count each by itself, beside these.
    windows: list[CountedJobs] = []

    @property
    def parts(self) -> list[CountedJobs | None]:
        """What has a row of its own in a table of replicates: each of the windows, else all jobs that count."""
        return [*self.windows] or [self.counted]


class Rejection(msgspec.Struct, kw_only=True):
    """A job that was rejected, and why."""

    job: str = ""
    reason: str = ""


class Result(msgspec.Struct, kw_only=True):
    """``result.json``; every key may be absent, and keys that are not here are left alone."""

    batdispatch: str = ""
    dispatcher: str = ""
    label: str = ""
    options: dict[str, Any] = {}
    seed: int | None = None
    engine: dict[str, Any] = {}
    platform: PlatformFacts = msgspec.field(default_factory=PlatformFacts)
    workload: WorkloadFacts = msgspec.field(default_factory=WorkloadFacts)
    decision_time: float | str | None = None
    metrics: dict[str, float | int | None] = {}
    decisions: dict[str, float | int | None] = {}
    rejected: list[Rejection] = []
    #: How often a solver gave up and a feasible plan was used instead.
    fallbacks: int = 0
    #: What the dispatcher says about its run.
    report: dict[str, Any] = {}
    #: Seconds and MiB that the simulation took.
    performance: dict[str, float | int | None] = {}
    #: Set when jobs were registered while the simulation ran, so that the workload does not list them all.
    dynamic_jobs: bool = False
    #: The command line that repeats the run.
    command: str | list[str] = ""
    #: SHA-256 of the folder's other files, by name; None: whoever wrote this noted none.
    files: dict[str, str] | None = None
    #: All that decides what comes out of the run.
    made_from: dict[str, Any] = {}

    @property
    def is_log(self) -> bool:
        """Whether nobody simulated this: it is what a log says of its jobs, beside simulations of them."""
        return self.label == THE_LOG and not self.made_from

    @property
    def settings(self) -> dict[str, Any]:
        """The run's settings in `made_from`."""
        return _table(self.made_from, "settings")

    @property
    def input_digests(self) -> dict[str, Any]:
        """SHA-256 of each input in `made_from`: platform, workload, events."""
        return _table(self.made_from, "sha256")

    @property
    def warnings(self) -> list[str]:
        """Why the dispatcher itself doubts its run: sentences without a full stop."""
        return warnings_of(self.report)


def counted_metrics(result: Mapping[str, Any]) -> dict[str, float | int | None]:
    """Return the metrics of the jobs that count, of a result.json that was decoded as it stands."""
    return dict((_table(_table(result, "workload"), WINDOW_FIELD) or result).get("metrics") or {})


def _table(facts: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a table within what a file says; whatever stands in its place says nothing."""
    found = facts.get(name)
    return found if isinstance(found, dict) else {}


def warnings_of(report: Mapping[str, Any]) -> list[str]:
    """Return the warnings in what a dispatcher reports: its key ``warnings``, a list of texts."""
    told = report.get("warnings")
    return [text for text in told if isinstance(text, str)] if isinstance(told, list) else []


@dataclass(frozen=True)
class Run:
    """A run folder, read.

    Attributes:
        folder: where it is.
        label: a name that tells it from the other runs of a comparison.
        columns: its jobs file.
        lineage: which rows of it are one job.
        result: its result.json; empty when there is none, as in a folder that Batsim wrote.
        hosts: compute hosts of the machine, None when nothing says it.
        metrics: name -> value.
    """

    folder: Path
    label: str
    columns: JobTable
    lineage: Lineage
    result: Result
    hosts: int | None
    metrics: Mapping[str, Value]

    @cached_property
    def logical(self) -> JobTable:
        """Its logical jobs, one row each, see `lineage.logical`."""
        return logical(self.columns, self.lineage)

    @cached_property
    def sample(self) -> Sample:
        """What its pictures are drawn from, without the resources of shared nodes."""
        return sample_of(self.columns, lineage=self.lineage, hosts=self.hosts)

    @cached_property
    def plans(self) -> list[SolvedPlan] | None:
        """Its plans, see `read_solved_plans`."""
        return read_solved_plans(self.folder)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """Its jobs file as a frame, made when it is asked for."""
        from batdispatch.results.frame import frame_of

        return frame_of(self.columns)

    @cached_property
    def jobs(self) -> pd.DataFrame:
        """Its logical jobs as a frame, made when it is asked for; the last column, `segments`, counts their rows."""
        from batdispatch.results.frame import frame_of

        return frame_of(self.logical).assign(segments=self.lineage.segments)


def has_network(run: Run) -> bool:
    """Return whether the hosts of a run's machine are joined by a network with more than one router.

    The run's own process knew that, so no platform is read in vain.
    """
    return run.metrics.get("mean_compactness") is not None


def jobs_file(folder: Path) -> Path | None:
    """Return a run folder's jobs file: jobs.csv, Batsim's out_jobs.csv, or either compressed; None without one."""
    return next((path for prefix in _PREFIXES if (path := find(folder, f"{prefix}jobs.csv")) is not None), None)


def find_runs(paths: Sequence[Path]) -> list[Path]:
    """Return the run folders among `paths` and directly inside those that are none themselves, in order, each once.

    Raises:
        InputError: a path is no folder, or holds no run, or a run or comparison into it has not ended.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        if not path.is_dir():
            raise InputError(
                f"is not a folder, expected a run's folder or one that holds several{closest(path)}", source=str(path)
            )
        check_finished(path)
        runs = [path]
        if not jobs_file(path):
            inside = [sub for sub in sorted(path.iterdir()) if sub.is_dir()]
            for sub in inside:
                check_finished(sub)
            runs = [sub for sub in inside if jobs_file(sub)]
        if not runs:
            raise InputError("holds no jobs.csv, and no folder in it does", source=str(path))
        for run in runs:
            found.setdefault(run.resolve(), run)
    return list(found.values())


def read_result(folder: Path) -> Result:
    """Read a folder's result.json, and check that the files beside it are of the same run.

    Without result.json, as in a folder that Batsim wrote, an empty one is returned, and there is nothing to check.

    Raises:
        InputError: a run into the folder has not ended, a file is not the one that result.json was written with, or
            result.json is no JSON object, or a key in it has a value of another kind than it should.
    """
    check_finished(folder)
    path = folder / RESULT
    if not path.exists():
        return Result()
    if path.stat().st_size > MAX_BYTES:
        raise InputError(f"larger than {MAX_BYTES} bytes", source=str(path))
    try:
        result = msgspec.json.decode(path.read_bytes(), type=Result)
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise InputError(str(problem), source=str(path)) from None
    except RecursionError:
        raise InputError("nested too deeply", source=str(path)) from None
    if result.files is not None:
        check_files(folder, result.files)
    elif result.batdispatch:
        raise InputError(
            "has no digests of the files beside it: an older batdispatch wrote it, so make the run anew",
            source=str(path),
        )
    return result


def read_run(folder: Path, *, label: str = "") -> Run:
    """Read a run folder and compute its metrics, of the jobs that count.

    Metrics come from the jobs file and the lineage. Those that need the workload or the platform as well (fairness over
    users, utilisation of named resources and licences, the network's) are taken from result.json, whose writer had both
    at hand.

    Raises:
        InputError: the folder has no jobs file, a file in it is malformed, or its files are not those of one whole run.
    """
    written = stamp(folder / RESULT)
    result = read_result(folder)
    path = jobs_file(folder)
    if path is None:
        raise InputError("holds no jobs.csv", source=str(folder))
    columns = read_columns(path)
    lineage = read_lineage(folder / LINEAGE, columns)
    hosts = result.platform.hosts or _hosts_of_schedule(folder)
    counted = result.workload.counted
    values = compute(
        sample_of(
            columns,
            lineage=lineage,
            hosts=hosts,
            totals=result.platform.resources,
            measured={} if counted is not None else _of_files(RunFiles(folder, columns)),
            decisions=result.decisions,
            window=counted,
        )
    )
    noted = (result if counted is None else counted).metrics
    known = {name: value for name, value in noted.items() if value is not None}
    metrics = {name: known.get(name) if value is None else value for name, value in values.items()}
    groups = {group for measure in measures() for group in measure.kept}
    kept = ("utilisation_", *(name for name, each in all_metrics().items() if each.group in groups))
    metrics |= {name: value for name, value in known.items() if name.startswith(kept) and name not in metrics}
    check_finished(folder)
    if stamp(folder / RESULT) != written:
        raise InputError("was made anew while it was read: read it again", source=str(folder))
    return Run(folder, label or result.label or folder.name, columns, lineage, result, hosts, metrics)


def display_name(result: Result) -> str:
    """Return a run's dispatcher with the options it was given as people write them: ``easy[ordering=sjf]``.

    Its label, after which its folder is called, has no brackets. A run that says no options has its label alone.
    """
    options = result.settings.get("options")
    if not isinstance(options, dict) or not options:
        return result.label
    given = ",".join(f"{name}={written(value)}" for name, value in options.items())
    return f"{result.label.partition(',')[0]}[{given}]"


def read_runs(folders: Sequence[Path]) -> list[Run]:
    """Read several run folders; labels are made different with as much of the path as that takes.

    A folder that is misnamed (see `run_names`) does not name its run: the label says what ran.

    Raises:
        InputError: there is none, or one cannot be read.
    """
    if not folders:
        raise InputError("no run to report on")
    # A campaign's links have telling names, the folders that they lead to have none.
    parts = [(folder if folder.name not in ("", "..") else folder.resolve()).absolute().parts for folder in folders]
    labels = [part[-1] for part in parts]
    for depth in range(2, max(map(len, parts)) + 1):
        if len(set(labels)) == len(labels):
            break
        labels = ["/".join(part[-depth:]) for part in parts]
    runs = [read_run(folder, label=label) for folder, label in zip(folders, labels, strict=True)]
    misnomers = misnamed_folders([named_run(run.folder, run.result) for run in runs])
    return [
        replace(run, label=f"{misnomers[run.folder].name} (in {run.label})") if run.folder in misnomers else run
        for run in runs
    ]


def named_run(folder: Path, result: Result) -> NamedRun:
    """Return a run as far as its name goes."""
    return NamedRun(folder, result.label, result.settings, result.input_digests)


@dataclass(frozen=True)
class Figures:
    """All that is worked out from a run whose machine and workload are at hand.

    Attributes:
        metrics: name -> value.
        measured: what measures say of the rows, by name (see `metrics.measure`).
        counted: what result.json says of its workload's windows, by the field that names these; empty: there is none.
    """

    metrics: dict[str, Value]
    measured: dict[str, Any]
    counted: dict[str, Any] = field(default_factory=dict)


def figures_of(
    columns: JobTable,
    result: Mapping[str, Any],
    *,
    machine: Machine | None = None,
    jobs: Sequence[Job] | None = None,
    users: Texts | None = None,
    folder: Path | None = None,
    window: Window | None = None,
    windows: Sequence[Window] = (),
    known: Mapping[str, Any] | None = None,
) -> Figures:
    """Compute every metric of a run when its machine and workload are at hand.

    Args:
        columns: the run's jobs.
        result: what result.json will hold; of it, "decisions", "dispatcher" and "options" are read.
        machine: of the run, for utilisation and the network's metrics.
        jobs: of the workload, for users and for what they ask for.
        users: of each row's job, object [row], where nothing else of the jobs matters: on whole hosts without licences.
        folder: of the run, for units.csv and lineage.csv; without it no row continues another.
        window: which jobs of the workload count; None: all.
        windows: parts that count each by itself, beside these.
        known: measure -> what the folder's files say of it, so that they need not be read.

    Raises:
        InputError: an allocation, units.csv or lineage.csv is malformed.
    """
    lineage = rows_as_jobs(len(columns)) if folder is None else read_lineage(folder / LINEAGE, columns)
    asking = None if jobs is None else asking_jobs(columns, jobs, lineage)
    if asking is not None:
        users = np.array([job.user if job is not None else "" for job in asking], dtype=object)
    totals: dict[str, float] = {} if machine is None else {**machine.shared}
    licences = {} if machine is None else dict(machine.licences)
    amounts: dict[str, Floats] = {}
    if machine is not None and licences and asking is not None:
        amounts |= {name: held.astype(np.float64) for name, held in licences_of(machine, asking).items()}
    if machine is not None and totals and asking is not None:
        intervals = columns.hosts
        units = (
            read_units(folder / "units.csv", columns, intervals.sizes)
            if folder is not None
            else np.ones(int(intervals.sizes.sum()), dtype=np.int64)
        )
        held = {name: np.zeros(len(columns)) for name in totals}
        for slots in slots_in_blocks(intervals, units, machine, asking):
            for name, part in held_by_row(slots, len(columns), machine.resources).items():
                held[name] += part
        amounts |= held
    measured: dict[str, MeasureValues | None] = {}
    if machine is not None:
        measured |= {each.name: each.of(columns, machine, asking) for each in measures()}
    measured |= _of_files(RunFiles(folder, columns, result, machine), known)
    known_of = {name: use for name, use in measured.items() if use is not None}
    sample = partial(
        sample_of,
        columns,
        lineage=lineage,
        hosts=machine.size if machine is not None else None,
        totals=totals,
        licences=licences,
        amounts=amounts,
        users=users,
        measured=known_of,
        decisions=result.get("decisions"),
    )

    def count(part: Window) -> dict[str, Any]:
        counted = sample(window=part)
        return {**msgspec.structs.asdict(part), STILL_WAITING: counted.still_waiting, "metrics": compute(counted)}

    told: dict[str, Any] = {} if window is None else {WINDOW_FIELD: count(window)}
    told |= {WINDOWS_FIELD: [count(part) for part in windows]} if windows else {}
    return Figures(compute(sample()), known_of, told)


def _of_files(run: RunFiles, known: Mapping[str, Any] | None = None) -> dict[str, MeasureValues]:
    """Return what measures say of a run's files, by name, given what is known of these files."""
    found = {each.name: each.of_files(run._replace(known=(known or {}).get(each.name))) for each in measures()}
    return {name: values for name, values in found.items() if values is not None}


def _hosts_of_schedule(folder: Path) -> int | None:
    """Return the machine's size from Batsim's schedule.csv or schedule.json, None where it does not say."""
    for prefix in _PREFIXES:
        for ending in (".csv", ".json"):
            path = folder / f"{prefix}schedule{ending}"
            if not path.is_file():
                continue
            try:
                count = read_schedule(path).get("nb_computing_machines")
            except InputError:
                # The jobs are what a report is about; these sums are not worth refusing them.
                return None
            return int(count) if isinstance(count, float) and count.is_integer() and 1 <= count < 10**9 else None
    return None
