"""What Python calls to simulate: a run, a comparison.

Each function does what the command of its name does, with the same words where something is wrong. Its settings are
fields of the structs that give the command its options.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, overload

from batdispatch.api.listeners import NoteKeeper, default_listener
from batdispatch.api.results import Comparison, LoadedRun, Replication
from batdispatch.api.settings import divide, fields_of, takes, texts_of
from batdispatch.core import extras
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.core.line.dispatcher import Dispatcher, with_option_file
from batdispatch.core.line.settings import named_with
from batdispatch.inputs.folders import checked_folder
from batdispatch.inputs.log_options import LogReading
from batdispatch.results.run_names import NamedRun, rebind
from batdispatch.runs.compare import (
    Entrant,
    Preparation,
    at_site,
    by_log,
    comparison_by,
    entrant_of,
    entrants_of,
    with_common,
)
from batdispatch.runs.compare import compare as carry_out
from batdispatch.runs.comparison_options import PROCESSES, ComparisonOptions
from batdispatch.runs.families import FAMILIES, check_names
from batdispatch.runs.inputs import GivenPlatform, GivenWorkload, Inputs
from batdispatch.runs.listener import Listener
from batdispatch.runs.run import InputFiles, build, execute
from batdispatch.runs.spec import RunSpec, with_shell

if TYPE_CHECKING:
    from batdispatch.inputs.workloads.importers import ImportedColumns
    from batdispatch.inputs.workloads.workload_file import WorkloadFile

#: What says how runs are made beside their inputs and their dispatcher.
RUN = fields_of(RunSpec, leave=("platform", "workload", "dispatcher", "options"))
#: What says how a log is read.
LOG = fields_of(LogReading)
#: What says how replicates are made, and what else there is to say of them.
REPLICATION = fields_of(ComparisonOptions, leave=("dispatchers", "replicates"))
#: Settings of one way to make replicates.
_WAYS = {"window": "windows", "warm_up": "windows", "cool_down": "windows", "slice_jobs": "slices", "weeks": "sessions"}


@takes(RUN, LOG)
def run(
    workload: GivenWorkload,
    dispatcher: str | Dispatcher,
    *,
    platform: GivenPlatform | None = None,
    options: Mapping[str, Any] = {},
    out: str | PathLike[str] | None = None,
    log: bool | None = None,
    listener: Listener | None = None,
    **settings: Any,
) -> LoadedRun:
    """Simulate a workload under one dispatcher.

    Args:
        workload: file of a workload or of a log, or a `Workload`.
        dispatcher: name with options in brackets, ``module:Class``, ``file.py:Class``, or an object of your own class.
        platform: file, `Platform`, or a number of equal hosts; None: one of the right size for the workload is made.
        options: further options of a dispatcher that is given by name.
        out: folder for the results; None: a temporary one, which goes with what is returned.
        log: whether the workload is a log; None: its name or its content tells.
        listener: hears of the work; None: a notebook shows how far it is.
        settings: as options of ``batdispatch run`` (``seed``, ``decision_time``, ``record``, ...) and, if the workload
            is a log, of ``batdispatch convert`` (``select``, ``overrun``, ...). Times are seconds. A decision time of
            None is measured.

    Raises:
        InputError: a file, a name or a setting is wrong, or something is not installed.
        ImpossibleDecision, SimulationError: the run failed.
    """
    entrant = _entrant(dispatcher, options)
    call = Call(workload, platform, out, listener, settings, own=entrant.own, log=log)
    label = call.base(dispatcher=entrant.name, options=entrant.options).label
    (entrant,) = at_site([entrant], call.inputs.site)
    base = call.base(dispatcher=entrant.name, options=entrant.all_options)
    build(base, entrant.own)
    folder = call.folder if call.named else call.folder / label
    at_hand = call.prepare()
    (entrant,) = by_log([entrant], call.inputs, call.imported, call.listener)
    base = call.base(dispatcher=entrant.name, options=entrant.all_options)
    result = execute(
        base,
        folder,
        progress=lambda done, total: call.listener.progress(label, done, total),
        notice=call.listener.warn,
        files=InputFiles(at_hand),
        own=entrant.own,
    )
    made_from = result["made_from"]
    rebind(NamedRun(folder, label, made_from["settings"], made_from["sha256"]))
    run = LoadedRun(folder, label, keep=call.keep)
    run.result = result
    for warning in run.warnings:
        call.listener.warn(warning)
    return run


@overload
def compare(
    workload: GivenWorkload,
    dispatchers: str | Dispatcher | Sequence[str | Dispatcher],
    *,
    replicates: None = None,
    **more: Any,
) -> Comparison: ...


@overload
def compare(
    workload: GivenWorkload,
    dispatchers: str | Dispatcher | Sequence[str | Dispatcher],
    *,
    replicates: int,
    **more: Any,
) -> Replication: ...


@takes(REPLICATION, RUN, LOG)
def compare(
    workload: GivenWorkload,
    dispatchers: str | Dispatcher | Sequence[str | Dispatcher],
    *,
    replicates: int | None = None,
    platform: GivenPlatform | None = None,
    options: Mapping[str, Any] = {},
    out: str | PathLike[str] | None = None,
    processes: int | None = None,
    fresh: bool = False,
    report: bool = False,
    explain: bool = True,
    words: str = "",
    listener: Listener | None = None,
    with_log: bool = False,
    **settings: Any,
) -> Comparison | Replication:
    """Simulate a workload under several dispatchers, side by side.

    Whole runs of the same inputs that the folder holds are kept. A run that fails does not take the others with it: it
    is among the `failures`.

    Args:
        workload: as for `run`.
        dispatchers: each as for `run`; a text may name several, with commas between them.
        replicates: compare on so many replicates of the workload, 1 to 1000; see `batdispatch.replicate`.
        platform: as for `run`.
        options: of every dispatcher that knows them and is given by name.
        out: folder for the results, which gets a folder for each run; None: a temporary one.
        processes: runs at a time; None: one for each processor, and at most 8.
        fresh: keep no run.
        report: write the report as part of the comparison; else it is written when it is asked for.
        explain: whether that report says why jobs waited.
        words: the command that does this, for the page over replicates; empty: there is none.
        listener: as for `run`.
        with_log: whether what really happened, by the log, stands beside the runs.
        settings: as for `run` and, with replicates, as options of ``batdispatch compare`` (``replicate_by``,
            ``window``, ``slice_jobs``, ``weeks``, ``baseline``, ...).

    Raises:
        InputError: as `run`.
        SimulationError: no run finished.
    """
    chosen = {name: settings.pop(name) for name in REPLICATION.keys() & settings.keys()}
    call = Call(workload, platform, out, listener, settings, processes=processes, fresh=fresh)
    replication = _replication(replicates, chosen)
    if with_log and not call.inputs.is_log:
        raise InputError("is for logs: a workload does not say what really happened", source="option --with-log")
    if with_log and replication is not None:
        raise InputError("does not go with --replicates", source="option --with-log")
    if replication is not None:
        return _on_replicates(call, dispatchers, replication, texts_of(options), words)
    extras.check("report" if report else None, "the report", also=" (or leave it out: --no-report)")
    comparison = _side_by_side(call, with_common(_entrants(dispatchers), texts_of(options)), report, explain, with_log)
    for label, run in comparison.items():
        for warning in run.warnings:
            call.listener.warn(f"{label}: {warning}")
    for label, why in comparison.failures.items():
        call.listener.failed(label, why)
    if not comparison:
        raise SimulationError("no run finished, so there is nothing to compare")
    return comparison


def _side_by_side(call: Call, entrants: Sequence[Entrant], report: bool, explain: bool, with_log: bool) -> Comparison:
    """Make one run of each dispatcher on the whole workload, and the report if it is wanted."""
    # What the site's slurm.conf says lengthens no name.
    names = [call.base(dispatcher=one.name, options=one.options).label for one in entrants]
    entrants = at_site(entrants, call.inputs.site)
    specs = [call.base(dispatcher=one.name, options=one.all_options) for one in entrants]

    def conclude(folders: list[Path], failures: dict[str, str]) -> None:
        if folders and with_log and call.imported is not None:
            from batdispatch.runs.log_run import write_log_run

            folders.append(write_log_run(call.imported.told(), call.inputs.platform, call.folder))
        if folders and report:
            from batdispatch.report.page import write_report
            from batdispatch.runs.workers import workers_beside

            # This process draws, so that one worker fewer goes through what was recorded.
            with workers_beside(call.processes - 1) as workers:
                page, workload = call.folder / "report" / "index.html", call.inputs.file
                write_report(folders, page, explain=explain, workers=workers, workload=workload)

    def prepare() -> Preparation:
        workload = call.prepare()
        known = by_log(entrants, call.inputs, call.imported, call.listener)
        return Preparation(workload, [call.base(dispatcher=one.name, options=one.all_options) for one in known])

    folders, failures = carry_out(
        specs,
        call.folder,
        processes=call.processes,
        listener=call.listener,
        fresh=call.fresh,
        conclude=conclude,
        prepare=prepare if call.inputs.made else None,
        names=names,
        called=names,
        own=_own(specs, entrants),
    )
    return Comparison(call.folder, folders, failures, call.listener.notes, call.keep)


def _replication(replicates: int | None, given: Mapping[str, Any]) -> ComparisonOptions | None:
    """Return how a comparison is on replicates; None: it is not.

    Raises:
        InputError: a setting is wrong, or needs another one.
    """
    (chosen,) = divide({"replicates": replicates, **given}, fields_of(ComparisonOptions))
    replication = ComparisonOptions(dispatchers="", **chosen)
    stated = [one for one in REPLICATION.values() if getattr(replication, one.name) != one.default]
    if replication.replicates is None:
        for one in stated:
            raise InputError("needs --replicates N", source=f"option {one.option}")
        return None
    for name, way in _WAYS.items():
        if REPLICATION[name] in stated and not replication.replicate_by.endswith(way):
            why = f"is for --replicate-by {way}, and this is {replication.replicate_by}"
            raise InputError(why, source=f"option {REPLICATION[name].option}")
    return replication


def _on_replicates(
    call: Call,
    dispatchers: str | Dispatcher | Sequence[str | Dispatcher],
    replication: ComparisonOptions,
    common: Mapping[str, str],
    words: str,
) -> Replication:
    """Compare on replicates.

    Raises:
        InputError: nothing that is installed does.
    """
    on_replicates: Callable[..., Replication] = comparison_by("replicates", "campaigns")
    if isinstance(dispatchers, str):
        check_names(dispatchers)
    return on_replicates(call, dispatchers, replication, common, words)


class Call:
    """What a call was given, and where its results go."""

    def __init__(
        self,
        workload: GivenWorkload,
        platform: GivenPlatform | None,
        out: str | PathLike[str] | None,
        listener: Listener | None,
        settings: Mapping[str, Any],
        *,
        own: Dispatcher | None = None,
        log: bool | None = None,
        processes: int | None = None,
        fresh: bool = False,
    ) -> None:
        chosen, reading = divide(settings, RUN, LOG)
        self.processes, self.fresh = processes or PROCESSES, fresh
        #: What was made of the log, once `prepare` has ended.
        self.imported: ImportedColumns | None = None
        self.named = out is not None
        self.keep = None if out is not None else TemporaryDirectory(prefix="batdispatch-", ignore_cleanup_errors=True)
        self.folder = checked_folder(self.keep.name if out is None and self.keep is not None else str(out))
        self.listener = NoteKeeper(listener or default_listener())
        master = chosen.get("master_host", getattr(platform, "master", None))
        self.inputs = Inputs(workload, platform, self.folder, master=master, log=log, reading=LogReading(**reading))
        if own is not None:
            chosen.setdefault("seed", getattr(own, "_seed", 0))
        self._settings = {**chosen, "master_host": master}

    def base(self, **more: Any) -> RunSpec:
        """Return a run with the settings that were given.

        Raises:
            InputError: a setting needs another one.
        """
        platform, workload = str(self.inputs.platform), str(self.inputs.workload)
        return with_shell(RunSpec(platform=platform, workload=workload, **self._settings, **more))

    def prepare(self) -> WorkloadFile | None:
        """Write the inputs that are to be made, and return the workload if it is at hand."""
        self.imported = self.inputs.prepare(self.listener)
        return self.inputs.file


def _entrant(dispatcher: str | Dispatcher, options: Mapping[str, Any]) -> Entrant:
    """Return a dispatcher with further options.

    Raises:
        InputError: one is given twice.
    """
    if isinstance(dispatcher, str):
        name, stated = named_with(dispatcher, texts_of(options))
        return Entrant(dispatcher, *with_option_file(name, stated), stated=stated)
    if options:
        raise InputError("an object has its own options", source="option --set")
    return entrant_of(dispatcher)


def _entrants(dispatchers: str | Dispatcher | Sequence[str | Dispatcher]) -> list[Entrant]:
    if isinstance(dispatchers, str):
        check_names(dispatchers)
        if dispatchers.strip() == FAMILIES:
            raise InputError(f"{FAMILIES} needs --replicates N", source="option --dispatchers")
    return entrants_of(dispatchers)


def _own(specs: Sequence[RunSpec], entrants: Sequence[Entrant]) -> dict[str, Dispatcher]:
    pairs = zip(specs, entrants, strict=True)
    return {spec.label: entrant.own for spec, entrant in pairs if entrant.own is not None}
