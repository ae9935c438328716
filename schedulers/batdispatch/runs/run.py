"""One run: a dispatcher, a platform and a workload become a folder of results."""

from __future__ import annotations

import platform as python_platform
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from batdispatch import __version__
from batdispatch.core.errors import InputError
from batdispatch.core.line.blame import blame
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.events import Event
from batdispatch.engines.simulation import Outcome, Task
from batdispatch.inputs.files import write_json, write_lines
from batdispatch.inputs.folders import Claim, clear_mark
from batdispatch.inputs.platforms import Platform, read_platform
from batdispatch.inputs.workloads.workload_file import WorkloadFile
from batdispatch.links.foreign import create_any, is_foreign
from batdispatch.results.decisions import PLANS, TIMES, write_decision_times
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.lineage import FILE as LINEAGE
from batdispatch.results.lineage import read_lineage, write_lineage
from batdispatch.results.metrics.measure import measures
from batdispatch.results.metrics.percentile import percentile
from batdispatch.results.run_files import NAMES, PARTIAL_RECORDING, RECORDING, RESULT, digests
from batdispatch.results.runs import figures_of
from batdispatch.runs.engines import Simulation, counted_energy, energy_facet
from batdispatch.runs.listener import Progress
from batdispatch.runs.peak_memory import peak_memory
from batdispatch.runs.provenance import digest_of, is_whole, made_from, others_names
from batdispatch.runs.spec import RunSpec, command_line


def build(spec: RunSpec, own: Dispatcher | None = None) -> Dispatcher:
    """Build the dispatcher of a run, which checks its name and options before anything large is read.

    Args:
        spec: the run.
        own: a caller's object that decides; each run has a copy, since a dispatcher remembers its run.

    Raises:
        InputError: they are wrong, or what it needs is not installed, or the object cannot be copied.
    """
    if is_foreign(spec.dispatcher) and (spec.engine != "embedded" or spec.decision_time != 0.0):
        option = "--engine" if spec.engine != "embedded" else "--decision-time"
        raise InputError(f"is not for {spec.dispatcher}, which another program runs", source=f"option {option}")
    if spec.batsim_option:
        from batdispatch.links.batsim_program import check_options

        check_options(spec.batsim_option, spec.engine)
    if own is None:
        return create_any(spec.dispatcher, spec.options, spec.seed)
    try:
        copied = deepcopy(own)
    except Exception as problem:
        raise InputError(f"{spec.dispatcher} cannot be copied for a run: {blame(problem)}") from problem
    if not hasattr(copied, "options"):
        raise InputError(f"dispatcher {spec.dispatcher}: its __init__ does not call super().__init__(options, seed)")
    copied._seed = spec.seed
    # It was made from another seed if the object has been used before.
    copied.__dict__.pop("rng", None)
    return copied


def check_known_elsewhere(own: Dispatcher | None) -> None:
    """Check that another process can import the class of an object that decides.

    Raises:
        InputError: the class is one of a notebook, a script, or a function.
    """
    kind = type(own)
    if own is not None and (kind.__module__ == "__main__" or "<locals>" in kind.__qualname__):
        raise InputError(
            f"{kind.__name__} is not known to the process in which SimGrid times these jobs: put it into a file, and "
            f"name it as file.py:{kind.__name__}"
        )


def spec_options(dispatcher: Dispatcher) -> dict[str, str]:
    """Return the options of a dispatcher that are not the defaults of its class, as texts."""
    options = dispatcher.options
    default = type(options)()
    values = {name: getattr(options, name) for name in options.__struct_fields__}
    changed = {name: value for name, value in values.items() if value != getattr(default, name)}
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in changed.items()}


class InputFiles:
    """The platform and the workload that were read last, for the runs of a comparison, which all read the same ones."""

    def __init__(self, workload: WorkloadFile | None = None) -> None:
        """Begin, with a workload that is at hand or with none."""
        self._platform: tuple[tuple[object, ...], Platform] | None = None
        self._workload: tuple[str, WorkloadFile] | None = None
        if workload is not None:
            self.keep(workload)

    def keep(self, workload: WorkloadFile) -> None:
        """Take a workload that is at hand."""
        self._workload = str(workload.path), workload

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

    def workload(self, spec: RunSpec) -> WorkloadFile:
        """Return the file of a run's workload.

        Raises:
            InputError: as `read_workload`, about all but the jobs.
        """
        if self._workload is None or self._workload[0] != spec.workload:
            self._workload = spec.workload, WorkloadFile(spec.workload)
        return self._workload[1]


def execute(
    spec: RunSpec,
    out: Path,
    *,
    progress: Progress | None = None,
    notice: Callable[[str], None] = lambda text: None,
    files: InputFiles | None = None,
    own: Dispatcher | None = None,
) -> dict[str, Any]:
    """Simulate a run into the folder `out` and return its result.json.

    The files of an earlier run there are replaced once this run is whole. A run that needs SimGrid is simulated in a
    process of its own. `notice` is called with what is remarkable about a run and does not end it, such as a fault of a
    real Batsim that touches jobs of the workload. What `files` has read before is not read again. A copy of `own`
    decides if it is given, an object of the class that the spec names.

    Raises:
        InputError: the spec or a file it names is wrong, SimGrid is needed and not installed, or another process is
            writing into the folder; nothing is written.
        ImpossibleDecision, SimulationError: the run failed; nothing is written but its recording.
    """
    inputs = _Inputs(spec, InputFiles() if files is None else files, own)
    with Claim(out) as claim:
        # The recording of an earlier failure would pass for one of this run.
        (out / PARTIAL_RECORDING).unlink(missing_ok=True)
        try:
            if spec.engine != "embedded":
                result = _serve_batsim(inputs, claim.place, progress, notice)
            elif (engine := inputs.simulation.apart) is None:
                result = _finish(inputs, inputs.simulation.simulate(claim.place, progress), claim.place)
            else:
                check_known_elsewhere(own)
                counts = inputs.task.energy is not None
                call = (execute_apart, spec, claim.place, own)
                result = engine.call_apart(spec.platform, counts, *call, progress=progress)
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
    with clear_mark(out, remove=folder) as place:
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
    if not (out / RESULT).is_file() or others_names(spec.dispatcher, *spec.options.values()):
        return False
    files = (spec.platform, spec.workload, spec.external_events)
    # A pipe can be read once, and that is for the run.
    if not all(path is None or Path(path).is_file() for path in files):
        return False
    platform, workload, events = map(digest_of, files)
    return is_whole(out, made_from(spec, platform=platform, workload=workload, events=events))


def execute_apart(spec: RunSpec, out: Path, own: Dispatcher | None, progress: Progress) -> dict[str, Any]:
    """Simulate a run in this process, which is its own, and return its result.json; raises as `execute`."""
    inputs = _Inputs(spec, InputFiles(), own)
    return _finish(inputs, inputs.simulation.simulate(out, progress), out)


class _Inputs:
    """What a run reads, and when it began to."""

    def __init__(self, spec: RunSpec, files: InputFiles, own: Dispatcher | None) -> None:
        self.began, self.cpu_began = time.perf_counter(), time.process_time()
        self.spec = spec
        self.dispatcher = build(spec, own)
        self.platform = files.platform(spec)
        events: list[Event] = []
        if spec.external_events is not None:
            from batdispatch.engines.external import read_external_events

            events = read_external_events(Path(spec.external_events), len(self.platform.machine.hosts))
        self.workload = files.workload(spec)
        self.task = Task(
            self.dispatcher,
            self.platform,
            self.workload,
            events,
            record=spec.record,
            clock=spec.clock,
            simgrid=spec.simgrid,
            decision_time=spec.decision_time,
            decision_clock=spec.decision_clock,
            timeout=spec.timeout,
            energy=counted_energy(spec.energy, self.dispatcher.needs_energy),
            compiled=spec.compiled,
        )
        if self.task.energy is not None:
            energy_facet(self.platform)
        self.simulation = Simulation(self.task, None if spec.engine == "embedded" else spec.engine)
        self.made_from = made_from(
            spec,
            platform=self.platform.digest,
            workload=self.workload.digest,
            events=digest_of(spec.external_events),
        )
        self.loaded = time.perf_counter()


def _serve_batsim(
    inputs: _Inputs, out: Path, progress: Progress | None, notice: Callable[[str], None]
) -> dict[str, Any]:
    from batdispatch.runs.batsim import run_in_batsim

    spec = inputs.spec
    own = [name for name, usual in (("simgrid", "auto"), ("clock", "together")) if getattr(spec, name) != usual]
    if own or spec.energy == "exact":
        option = f"--{own[0]}" if own else "--energy exact"
        raise InputError(f"is for the embedded engine, not for {spec.engine}", source=f"option {option}")
    return _finish(inputs, run_in_batsim(spec, inputs.task, out, progress, notice), out)


def _finish(inputs: _Inputs, ended: Outcome, out: Path) -> dict[str, Any]:
    """Compute the metrics of a simulation that has ended, and write and return result.json.

    The metrics are those of jobs.csv: of its rows, which the engine knows, or else of the file.
    """
    spec, dispatcher, platform, workload = inputs.spec, inputs.dispatcher, inputs.platform, inputs.workload
    simulated = time.perf_counter()
    result: dict[str, Any] = {
        "batdispatch": __version__,
        "python": python_platform.python_version(),
        "options": options_of(dispatcher),
        "engine": ended.engine,
        **stated_by(spec),
        "platform": {
            "path": spec.platform,
            "sha256": platform.digest,
            "hosts": platform.machine.size,
            "master": platform.master,
            "resources": platform.machine.shared,
        },
        "workload": {"path": spec.workload, "sha256": workload.digest, "jobs": workload.count},
        "decisions": decision_statistics(ended.decision_seconds),
        "fallbacks": int(ended.report.get("fallbacks", 0)),
        "dynamic_jobs": dispatcher.registers_jobs,
        "rejected": [{"job": job, "reason": reason} for job, reason in ended.rejections],
        "report": ended.report,
    }
    write_lineage(ended.parents, out / LINEAGE, dispatcher.resumed())
    columns = read_columns(out / "jobs.csv") if ended.rows is None else ended.rows
    asked = ended.users is None or any(measure.of_jobs for measure in measures())
    jobs = workload.workload().jobs if asked else None
    figures = figures_of(
        columns,
        result,
        machine=platform.machine,
        folder=out,
        jobs=jobs,
        users=ended.users,
        known=ended.known,
        window=workload.window,
        windows=workload.windows,
    )
    result["metrics"] = figures.metrics
    if figures.metrics.get("energy") is not None:
        result["workload"]["delays"] = workload.delays()
    if workload.dates is not None:
        result["workload"]["dates"] = msgspec.to_builtins(workload.dates)
    # Beside the windows, so that "metrics" are those of jobs.csv whatever counts.
    result["workload"] |= figures.counted
    for measure in measures():
        measure.write(figures.measured.get(measure.name), columns, out)
    if "failed_attempts" in dispatcher.report():
        from batdispatch.results.metrics.attempts import attempt_metrics

        lineage = read_lineage(out / LINEAGE, columns)
        result["attempts"] = attempt_metrics(columns, platform.machine.size, lineage)
    result["performance"] = {
        "load_seconds": inputs.loaded - inputs.began,
        "simulation_seconds": simulated - inputs.loaded,
        "cpu_seconds": time.process_time() - inputs.cpu_began,
        "messages": ended.messages,
        "peak_memory_mib": peak_memory() / 2**20,
    }
    write_lines(out / PLANS, dispatcher.notes())
    # As long as the recording is wanted, what belongs to its frames is wanted, too.
    write_decision_times(ended.decision_times if spec.record else [], ended.decision_seconds, out / TIMES)
    result["made_from"] = inputs.made_from
    result["files"] = digests(out, ended.digests)
    write_json(out / RESULT, result)
    return result


def stated_by(spec: RunSpec) -> dict[str, Any]:
    """Return what result.json says of a run's settings alone."""
    return {
        "dispatcher": spec.dispatcher,
        "label": spec.label,
        "seed": spec.seed,
        "decision_time": _decision_time(spec),
        "decision_clock": spec.decision_clock,
        "recorded": spec.record,
        "clock": spec.clock,
        "command": command_line(spec),
    }


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


def decision_statistics(seconds: list[float]) -> dict[str, float]:
    """Return count, sum, mean, percentiles and maximum of decision times, in seconds of the clock chosen."""
    if not seconds:
        return {"count": 0}
    times = np.array(seconds)
    p50, p90, p99 = (percentile(times, percent) for percent in (50, 90, 99))
    return {
        "count": len(seconds),
        "seconds_total": float(times.sum()),
        "seconds_mean": float(times.mean()),
        "seconds_p50": p50,
        "seconds_p90": p90,
        "seconds_p99": p99,
        "seconds_max": float(times.max()),
    }
