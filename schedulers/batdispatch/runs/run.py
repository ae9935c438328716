"""One run: a dispatcher, a platform and a workload become a folder of results."""

from __future__ import annotations

import platform as python_platform
import re
import resource
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np

from batdispatch import __version__
from batdispatch.batsim import protocol
from batdispatch.core.dispatcher import Dispatcher, find
from batdispatch.core.errors import InputError
from batdispatch.core.events import Event
from batdispatch.core.messages import Peer
from batdispatch.core.options import did_you_mean, parse_named, split_list
from batdispatch.core.session import DecisionTime, Session
from batdispatch.dispatchers.backfilling.queue import QueueDispatcher
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.ended import Rows
from batdispatch.engines.external import read_external_events
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import Clock, EngineOptions
from batdispatch.engines.timing import PlatformTimer
from batdispatch.inputs.files import write_json, write_lines
from batdispatch.inputs.folders import Claim, settling
from batdispatch.inputs.platforms import Platform, read_platform
from batdispatch.inputs.workloads import Workload, read_workload
from batdispatch.inputs.workloads.columns import NotPlain, PlainWorkload, plain
from batdispatch.inputs.workloads.reader import read_in_columns
from batdispatch.links.batsim_options import check_options
from batdispatch.links.foreign import Foreign, ForeignPeer, create_any, is_foreign
from batdispatch.links.recorder import RecordedPeer, Recorder
from batdispatch.results.columns import columns_of
from batdispatch.results.decisions import PLANS, TIMES, write_decision_times
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.lineage import FILE as LINEAGE
from batdispatch.results.lineage import read_lineage, write_lineage
from batdispatch.results.metrics.attempts import attempt_metrics
from batdispatch.results.network.table import FILE as NETWORK
from batdispatch.results.network.table import write_table
from batdispatch.results.run_files import NAMES, PARTIAL_RECORDING, RECORDING, RESULT, digests
from batdispatch.results.runs import figures_of
from batdispatch.results.usage import users_of
from batdispatch.runs.compiling import UseCompiled, least_jobs, why_never_compiled, why_workload_not_compiled
from batdispatch.runs.isolation import isolated
from batdispatch.runs.keeping import digest_of, is_whole, made_from, others_code
from batdispatch.runs.simgrid import UseSimGrid, needs_simgrid

#: Called with (jobs ended so far, jobs in all).
Progress = Callable[[int, int], None]
#: What simulates: this package, or a real Batsim that is started.
Engine = Literal["embedded", "batsim4", "batsim5"]
#: Clocks that decisions can be timed by.
DecisionClock = Literal["wall", "cpu"]
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


class RunSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that determines a run."""

    platform: str
    workload: str
    dispatcher: str
    options: dict[str, str] = {}
    #: Seconds of simulated time a decision takes; None: as long as it really took.
    decision_time: DecisionTime = 0.0
    #: What decisions are timed by: wall-clock, or CPU time of the process, which a busy machine does not lengthen.
    decision_clock: DecisionClock = "wall"
    seed: int = 0
    #: The host that carries Batsim itself; None: ``master_host``, if the platform has one.
    master_host: str | None = None
    external_events: str | None = None
    #: When the dispatcher hears of what happens.
    clock: Clock = "together"
    #: Whether decisions.jsonl is written.
    record: bool = True
    #: When SimGrid times what depends on the platform.
    simgrid: UseSimGrid = "auto"
    #: When a compiled kernel simulates.
    compiled: UseCompiled = "auto"

    engine: Engine = "embedded"
    #: Batsim's program; None: what is found on PATH.
    batsim: str | None = None
    #: A shell of Nix, as ``FLAKE#SHELL``, from which Batsim is taken; None: no shell.
    nix: str | None = None
    #: Further options of Batsim's, as on its command line.
    batsim_option: str = ""
    #: Seconds without a message after which a real Batsim counts as hung.
    timeout: float = 600.0

    @property
    def label(self) -> str:
        """A name for the run's folder: the dispatcher and the options it was given."""
        name = self.dispatcher.rpartition(":")[2].lower() if ":" in self.dispatcher else self.dispatcher
        if is_foreign(self.dispatcher):
            # Both programs have a filler, and so have we.
            name = self.dispatcher.replace(":", "-", 1).replace("/", "_")
        parts = [name, *(f"{key}={value}" for key, value in self.options.items())]
        return re.sub(r"[^A-Za-z0-9=.,_-]", "_", ",".join(parts))


def build(spec: RunSpec) -> Dispatcher:
    """Build the dispatcher of a run, which checks its name and options before anything large is read.

    Raises:
        InputError: they are wrong, or what it needs is not installed.
    """
    if is_foreign(spec.dispatcher) and (spec.engine != "embedded" or spec.decision_time != 0.0):
        option = "--engine" if spec.engine != "embedded" else "--decision-time"
        raise InputError(f"is not for {spec.dispatcher}, which another program runs", source=f"option {option}")
    if spec.batsim_option:
        check_options(spec.batsim_option, spec.engine)
    return create_any(spec.dispatcher, spec.options, spec.seed)


class InputFiles:
    """The platform and the workload that were read last, for the runs of a comparison, which all read the same ones."""

    def __init__(self) -> None:
        self._platform: tuple[tuple[object, ...], Platform] | None = None
        self._workload: tuple[str, Workload] | None = None
        self._plain: tuple[str, PlainWorkload] | None = None

    def platform(self, spec: RunSpec) -> Platform:
        """Return the platform of a run.

        Raises:
            InputError: as `read_platform`.
        """
        batsim: Literal[4, 5] = 5 if spec.engine == "batsim5" else 4
        key = (spec.platform, spec.master_host, batsim)
        if self._platform is None or self._platform[0] != key:
            self._platform = key, read_platform(Path(spec.platform), master=spec.master_host, batsim=batsim)
        return self._platform[1]

    def workload(self, spec: RunSpec) -> Workload:
        """Return the workload of a run, with a list and a table of its own: a simulation adds what is registered.

        Raises:
            InputError: as `read_workload`.
        """
        read = self._objects(spec)
        if read is None:
            read = read_workload(Path(spec.workload))
            if self._plain is not None and self._plain[0] == spec.workload and self._plain[1].digest != read.digest:
                raise InputError("has changed since the run began", source=spec.workload)
            self._workload = spec.workload, read
        return msgspec.structs.replace(read, jobs=list(read.jobs), profiles=dict(read.profiles))

    def in_columns(self, spec: RunSpec, least: int) -> PlainWorkload | Workload:
        """Return the workload of a run with its jobs as columns if that can be, and if it has at least so many jobs.

        Raises:
            InputError: as `read_workload`.
        """
        if self._plain is not None and self._plain[0] == spec.workload and len(self._plain[1].jobs) >= least:
            return self._plain[1]
        # What is no file, such as a pipe, can be read once: it must be read whole.
        if self._objects(spec) is not None or not Path(spec.workload).is_file():
            workload = self.workload(spec)
            found = plain(workload) if len(workload.jobs) >= least else NotPlain("too few jobs")
            if isinstance(found, NotPlain):
                return workload
        else:
            read = read_in_columns(Path(spec.workload), least=least)
            if isinstance(read, Workload):
                self._workload = spec.workload, read
                return self.workload(spec)
            found = read
        self._plain = spec.workload, found
        return found

    def _objects(self, spec: RunSpec) -> Workload | None:
        return self._workload[1] if self._workload is not None and self._workload[0] == spec.workload else None


def execute(
    spec: RunSpec,
    out: Path,
    *,
    progress: Progress | None = None,
    notice: Callable[[str], None] = lambda text: None,
    files: InputFiles | None = None,
) -> dict[str, Any]:
    """Simulate a run into the folder `out` and return its result.json.

    The files of an earlier run there are replaced once this run is whole. A run that needs SimGrid is simulated in a
    process of its own. `notice` is called with what is remarkable about a run and does not end it, such as a fault of a
    real Batsim that touches jobs of the workload. What `files` has read before is not read again.

    Raises:
        InputError: the spec or a file it names is wrong, SimGrid is needed and not installed, or another process is
            writing into the folder; nothing is written.
        ImpossibleDecision, SimulationError: the run failed; nothing is written but its recording.
    """
    inputs = _Inputs(spec, InputFiles() if files is None else files)
    embedded = spec.engine == "embedded"
    in_simgrid = embedded and _needs_simgrid(inputs)
    if spec.compiled == "always" and inputs.not_compiled is not None:
        raise InputError(inputs.not_compiled, source="option --compiled always")
    with Claim(out) as claim:
        # The recording of an earlier failure would pass for one of this run.
        (out / PARTIAL_RECORDING).unlink(missing_ok=True)
        try:
            if not embedded:
                result = _serve_batsim(inputs, claim.place, progress, notice)
            elif not in_simgrid:
                result = _embed(inputs, claim.place, progress)
            else:
                task = {"spec": msgspec.to_builtins(spec), "out": str(claim.place)}
                result = isolated(f"{__name__}:execute_with_simgrid", task, progress=progress)
        except KeyboardInterrupt:
            raise
        except BaseException:
            _save_recording(claim.place, out)
            raise
        claim.publish(NAMES, last=RESULT)
    return result


def clear(out: Path, *, recording: bool, folder: bool) -> None:
    """Remove what a run left whose process died: its recording if asked, the folder if asked and then empty.

    If the run was publishing its files when it died, the folder stays as it is, and says that it is unfinished.
    """
    with settling(out, remove=folder) as place:
        if place is not None and not recording:
            _save_recording(place, out)


def _save_recording(place: Path, out: Path) -> None:
    """Keep the recording of a run that failed, for a look at the failure."""
    # A process that crashed has not given it a name.
    for path in (*sorted(place.glob(f"{RECORDING}.*.partial")), place / PARTIAL_RECORDING):
        if path.is_file():
            path.replace(out / PARTIAL_RECORDING)


def is_made(spec: RunSpec, out: Path) -> bool:
    """Return whether a folder holds the whole run of a spec, made from the same inputs by the same code.

    A dispatcher or part that is not this package's own is never the same: nothing tells whether its code has changed.
    """
    if not (out / RESULT).is_file() or others_code(spec.dispatcher, *spec.options.values()) is not None:
        return False
    files = (spec.platform, spec.workload, spec.external_events)
    # A pipe can be read once, and that is for the run.
    if not all(path is None or Path(path).is_file() for path in files):
        return False
    platform, workload, events = map(digest_of, files)
    return is_whole(out, made_from(spec, platform=platform, workload=workload, events=events))


def execute_with_simgrid(spec: dict[str, Any], out: str, progress: Progress) -> dict[str, Any]:
    """Simulate a run with SimGrid in this process, once, and return its result.json; raises as `execute`."""
    from batdispatch.engines.simgrid_timer import SimGridTimer

    inputs = _Inputs(msgspec.convert(spec, RunSpec), InputFiles())
    return _simulate(inputs, Path(out), progress, SimGridTimer(inputs.platform))


class _Inputs:
    """What a run reads, and when it began to."""

    def __init__(self, spec: RunSpec, files: InputFiles) -> None:
        self.began, self.cpu_began = time.perf_counter(), time.process_time()
        self.spec = spec
        self._files = files
        self.dispatcher = build(spec)
        self.platform = files.platform(spec)
        self.events: list[Event] = []
        if spec.external_events is not None:
            self.events = read_external_events(Path(spec.external_events), len(self.platform.machine.hosts))
        #: With an object per job only if something needs them.
        self.read: PlainWorkload | Workload
        #: Why no kernel simulates, or None.
        self.not_compiled = self._why_never_compiled()
        if self.not_compiled is None:
            self.read = files.in_columns(spec, least_jobs(spec.compiled))
            self.not_compiled = why_workload_not_compiled(self.dispatcher, self.read, spec.compiled)
        if self.not_compiled is not None:
            self.read = files.workload(spec)
        self.made_from = made_from(
            spec,
            platform=self.platform.digest,
            workload=self.read.digest,
            events=digest_of(spec.external_events),
        )

    def _why_never_compiled(self) -> str | None:
        spec = self.spec
        if spec.engine != "embedded":
            return f"it is for the embedded engine, not for {spec.engine}"
        return why_never_compiled(
            self.dispatcher,
            self.platform,
            self.events,
            use=spec.compiled,
            recorded=spec.record,
            clock=spec.clock,
            simgrid=spec.simgrid,
            decision_time=spec.decision_time,
            decision_clock=spec.decision_clock,
        )

    @property
    def workload(self) -> Workload:
        """The workload with an object per job.

        Raises:
            InputError: it is read again, and has changed.
        """
        if isinstance(self.read, PlainWorkload):
            self.read = self._files.workload(self.spec)
        return self.read


def _needs_simgrid(inputs: _Inputs) -> bool:
    # Jobs that columns hold do nothing that depends on the platform.
    if isinstance(inputs.read, PlainWorkload):
        return False
    return needs_simgrid(inputs.platform, inputs.read, inputs.spec.simgrid, inputs.spec.clock)


def _embed(inputs: _Inputs, out: Path, progress: Progress | None) -> dict[str, Any]:
    """Simulate a run in a kernel if there is one, else in the engine in Python."""
    spec, dispatcher, workload = inputs.spec, inputs.dispatcher, inputs.read
    if inputs.not_compiled is not None:
        return _simulate(inputs, out, progress, None, not_compiled=inputs.not_compiled)
    from batdispatch.engines.compiled import engine
    from batdispatch.engines.compiled.simulate import NotCompiled

    assert isinstance(dispatcher, QueueDispatcher)
    assert isinstance(workload, PlainWorkload)
    loaded = time.perf_counter()
    outputs = Outputs(out, len(inputs.platform.machine.hosts))
    try:
        told = engine.run(
            inputs.platform.machine,
            workload,
            dispatcher,
            outputs,
            None if progress is None else (lambda done: progress(done, len(workload.jobs))),
        )
    except NotCompiled as reason:
        if spec.compiled == "always":
            raise InputError(str(reason), source="option --compiled always") from None
        return _simulate(inputs, out, progress, None, not_compiled=str(reason))
    about = {"name": "embedded", "version": __version__, "simgrid": None, "compiled": engine.VERSION}
    ended = _Ended(dispatcher.report(), [], [], told.rejections, parents={})
    return _finish(inputs, ended, out, outputs.rows(), engine=about, messages=told.messages, loaded=loaded)


def _simulate(
    inputs: _Inputs,
    out: Path,
    progress: Progress | None,
    timer: PlatformTimer | None,
    *,
    not_compiled: str = "SimGrid times the run",
) -> dict[str, Any]:
    spec, dispatcher, platform, workload = inputs.spec, inputs.dispatcher, inputs.platform, inputs.workload
    clock = CLOCKS[spec.decision_clock]
    loaded = time.perf_counter()
    with ExitStack() as stack:
        decider: Session | ForeignPeer
        if isinstance(dispatcher, Foreign):
            decider = stack.enter_context(ForeignPeer(dispatcher, timeout=spec.timeout, clock=clock))
        else:
            decider = Session(dispatcher, decision_time=spec.decision_time, clock=clock)
        outputs = Outputs(out, len(platform.machine.hosts))
        stack.callback(outputs.discard)
        engine = EmbeddedEngine(
            platform.machine,
            workload,
            outputs,
            options=EngineOptions(dynamic_jobs=dispatcher.registers_jobs, split_simultaneous=spec.clock == "apart"),
            external_events=inputs.events,
            progress=None if progress is None else (lambda done: progress(done, len(workload.jobs))),
            timer=timer,
            delays=timer.delay if timer is not None and spec.clock == "batsim" else None,
        )
        peer: Peer = decider
        if spec.record:
            peer = RecordedPeer(decider, stack.enter_context(Recorder(out / RECORDING)), protocol("4"))
        try:
            engine.run(peer)
        except InputError as problem:
            # A dispatcher knows the job of which it cannot read a field, and not the file that has the job.
            if problem.place.startswith("job ") and not problem.source:
                raise problem.found_in(str(spec.workload)) from None
            raise
    about = {
        "name": "embedded",
        "version": __version__,
        "simgrid": None if timer is None else timer.version,
        "compiled": None,
        "not_compiled": not_compiled,
    }
    return _finish(inputs, _ended(decider), out, outputs.rows(), engine=about, messages=engine.messages, loaded=loaded)


def _serve_batsim(
    inputs: _Inputs, out: Path, progress: Progress | None, notice: Callable[[str], None]
) -> dict[str, Any]:
    from batdispatch.runs.batsim import run_in_batsim

    spec = inputs.spec
    if spec.simgrid != "auto" or spec.clock != "together":
        option = "--simgrid" if spec.simgrid != "auto" else "--clock"
        raise InputError(f"is for the embedded engine, not for {spec.engine}", source=f"option {option}")
    session = Session(inputs.dispatcher, decision_time=spec.decision_time, clock=CLOCKS[spec.decision_clock])
    loaded = time.perf_counter()
    ran = run_in_batsim(
        5 if spec.engine == "batsim5" else 4,
        session,
        inputs.platform,
        inputs.workload,
        out,
        events=inputs.events,
        events_file=spec.external_events,
        record=spec.record,
        program=spec.batsim,
        shell=spec.nix,
        option=spec.batsim_option,
        timeout=spec.timeout,
        progress=progress,
        notice=notice,
    )
    about = {"name": spec.engine, "version": ran.version, "command": ran.command}
    return _finish(inputs, _ended(session), out, None, engine=about, messages=ran.messages, loaded=loaded)


class _Ended(NamedTuple):
    """What is left of a simulation beside its files."""

    #: What the dispatcher reported.
    report: dict[str, Any]
    #: Simulated time, s, and seconds of each decision that was timed.
    decision_times: list[float]
    decision_seconds: list[float]
    #: (job id, reason) of every rejected job.
    rejections: list[tuple[str, str]]
    #: Id of each job that continues another one -> id of that one.
    parents: Mapping[str, str]


def _ended(decider: Session | ForeignPeer) -> _Ended:
    if isinstance(decider, ForeignPeer):
        times, seconds = decider.decision_times, decider.decision_seconds
        return _Ended({}, times, seconds, decider.rejections, parents={})
    ledger = decider.ledger
    return _Ended(
        report=decider.report,
        decision_times=decider.decision_times,
        decision_seconds=decider.decision_seconds,
        rejections=[] if ledger is None else ledger.rejections,
        parents={} if ledger is None else ledger.parents,
    )


def _finish(
    inputs: _Inputs,
    ended: _Ended,
    out: Path,
    rows: Rows | None,
    *,
    engine: dict[str, Any],
    messages: int,
    loaded: float,
) -> dict[str, Any]:
    """Compute the metrics of a simulation that has ended, and write and return result.json.

    The metrics are those of jobs.csv: of its rows, which the engine knows, or else of the file.
    """
    spec, dispatcher, platform, workload = inputs.spec, inputs.dispatcher, inputs.platform, inputs.read
    simulated = time.perf_counter()
    result = {
        "batdispatch": __version__,
        "python": python_platform.python_version(),
        "dispatcher": spec.dispatcher,
        "label": spec.label,
        "options": options_of(dispatcher),
        "seed": spec.seed,
        "decision_time": _decision_time(spec),
        "decision_clock": spec.decision_clock,
        "engine": engine,
        "recorded": spec.record,
        "clock": spec.clock,
        "command": command_line(spec),
        "platform": {
            "path": spec.platform,
            "sha256": platform.digest,
            "hosts": platform.machine.size,
            "master": platform.master,
            "resources": total_resources(platform.machine),
        },
        "workload": {"path": spec.workload, "sha256": workload.digest, "jobs": len(workload.jobs)},
        "decisions": decision_statistics(ended.decision_seconds),
        "fallbacks": int(ended.report.get("fallbacks", 0)),
        "dynamic_jobs": dispatcher.registers_jobs,
        "rejected": [{"job": job, "reason": reason} for job, reason in ended.rejections],
        "report": ended.report,
    }
    write_lineage(ended.parents, out / LINEAGE, dispatcher.resumed())
    columns = read_columns(out / "jobs.csv") if rows is None else columns_of(rows)
    # Of jobs that ask for nothing but whole hosts, metrics want the user alone.
    known: dict[str, Any] = (
        {"users": users_of(columns, workload.jobs)} if isinstance(workload, PlainWorkload) else {"jobs": workload.jobs}
    )
    figures = figures_of(columns, result, machine=platform.machine, folder=out, **known)
    result["metrics"] = figures.metrics
    write_table(figures.network, columns, out / NETWORK)
    if "failed_attempts" in dispatcher.report():
        lineage = read_lineage(out / LINEAGE, columns)
        result["attempts"] = attempt_metrics(columns, platform.machine.size, lineage)
    result["performance"] = {
        "load_seconds": loaded - inputs.began,
        "simulation_seconds": simulated - loaded,
        "cpu_seconds": time.process_time() - inputs.cpu_began,
        "messages": messages,
        "peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    write_lines(out / PLANS, dispatcher.notes())
    # As long as the recording is wanted, what belongs to its frames is wanted, too.
    write_decision_times(ended.decision_times if spec.record else [], ended.decision_seconds, out / TIMES)
    result["made_from"] = inputs.made_from
    result["files"] = digests(out)
    write_json(out / RESULT, result)
    return result


def _decision_time(spec: RunSpec) -> str | float:
    """Return what is said of the simulated time of decisions; a foreign scheduler states it with each answer."""
    if is_foreign(spec.dispatcher):
        return "own"
    return "measured" if spec.decision_time is None else spec.decision_time or "none"


def options_of(dispatcher: Dispatcher) -> dict[str, Any]:
    """Return a dispatcher's options as JSON can hold them, defaults included."""
    values = msgspec.structs.asdict(dispatcher.options)
    return {
        key: str(value) if isinstance(value, float) and value == float("inf") else value
        for key, value in values.items()
    }


def total_resources(machine: Any) -> dict[str, int]:
    """Return the machine-wide capacity by resource name; empty for exclusive hosts."""
    if machine.exclusive:
        return {}
    return {name: int(amount) for name, amount in zip(machine.resources, machine.total(), strict=True)}


def decision_statistics(seconds: list[float]) -> dict[str, float]:
    """Return count, sum, mean, percentiles and maximum of decision times, in seconds of the clock chosen."""
    if not seconds:
        return {"count": 0}
    times = np.array(seconds)
    p50, p90, p99 = np.percentile(times, [50, 90, 99])
    return {
        "count": len(seconds),
        "seconds_total": float(times.sum()),
        "seconds_mean": float(times.mean()),
        "seconds_p50": float(p50),
        "seconds_p90": float(p90),
        "seconds_p99": float(p99),
        "seconds_max": float(times.max()),
    }


def command_line(spec: RunSpec) -> str:
    """Return the command that repeats a run."""
    words = ["batdispatch", "run", "--platform", spec.platform, "--workload", spec.workload]
    words += ["--dispatcher", spec.dispatcher]
    for key, value in spec.options.items():
        words += ["--set", f"{key}={value}"]
    if spec.master_host is not None:
        words += ["--master-host", spec.master_host]
    if spec.external_events is not None:
        words += ["--events", spec.external_events]
    if spec.engine != "embedded":
        words += ["--engine", spec.engine]
        words += [] if spec.batsim is None else ["--batsim", spec.batsim]
        words += [] if spec.nix is None else ["--nix", spec.nix]
        words += [f"--batsim-option={spec.batsim_option}"] if spec.batsim_option else []
    if spec.simgrid != "auto":
        words += ["--simgrid", spec.simgrid]
    if spec.clock != "together":
        words += ["--clock", spec.clock]
    if spec.decision_time != 0.0:
        words += ["--decision-time", "measured" if spec.decision_time is None else str(spec.decision_time)]
    if spec.decision_clock != "wall":
        words += ["--decision-clock", spec.decision_clock]
    if spec.compiled != "auto":
        words += ["--compiled", spec.compiled, *(["--no-record"] if spec.compiled == "always" else [])]
    return shlex.join([*words, "--seed", str(spec.seed)])


def parse_dispatchers(text: str) -> list[tuple[str, dict[str, str]]]:
    """Read a list such as ``fcfs,easy[reservation=hosts,placement=contiguous[wrap=true]]``.

    Raises:
        InputError: it has another form, or an entry stands twice.
    """
    source = "option --dispatchers"
    entries: list[tuple[str, dict[str, str]]] = []
    for part in split_list(text):
        entry = parse_named(part, source)
        if entry in entries:
            raise InputError(f"{part.strip()!r} stands twice", source=source)
        entries.append(entry)
    return entries


def with_common(
    entries: Sequence[tuple[str, dict[str, str]]], common: Mapping[str, str]
) -> list[tuple[str, dict[str, str]]]:
    """Return dispatchers with the options of ``--set``, each with those that it knows and does not state itself.

    Raises:
        InputError: no dispatcher knows an option.
    """
    known = [
        set() if is_foreign(name) else {field.name for field in msgspec.structs.fields(find(name).options_type)}
        for name, _ in entries
    ]
    for key in common:
        if not any(key.replace("-", "_") in names for names in known):
            hint = did_you_mean(key, set().union(*known))
            raise InputError(f"no dispatcher here has an option {key!r}: {hint}", source="option --set")
    return [
        (name, {**{key: value for key, value in common.items() if key.replace("-", "_") in names}, **options})
        for (name, options), names in zip(entries, known, strict=True)
    ]
