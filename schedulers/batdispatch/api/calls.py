"""What Python calls to simulate: a run, a comparison, a campaign.

Each function does what the command of its name does, with the same words where something is wrong. `SETTINGS` are the
fields of `RunSpec`, which are the options of ``batdispatch run``; `LOG_SETTINGS` are those of ``batdispatch convert``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from os import PathLike, cpu_count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, overload

import msgspec

from batdispatch.api.listeners import NoteKeeper, default_listener
from batdispatch.api.results import CampaignResults, Comparison, LoadedRun, Replication
from batdispatch.core import extras
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.options import describe_type, did_you_mean
from batdispatch.inputs.folders import checked_folder
from batdispatch.links.nix import shell_of
from batdispatch.runs.compare import Entrant, entrant_of, entrants_of, with_common
from batdispatch.runs.compare import compare as carry_out
from batdispatch.runs.families import FAMILIES, check_names
from batdispatch.runs.inputs import LOG_SETTINGS, GivenPlatform, GivenWorkload, Inputs
from batdispatch.runs.listener import Listener
from batdispatch.runs.run import RunSpec, build, execute

if TYPE_CHECKING:
    from batdispatch.runs.campaign.plan import Plan
    from batdispatch.runs.campaign.task import Outcome
    from batdispatch.runs.replicates import By

#: What says how runs are made beside their inputs and their dispatcher: field of `RunSpec` -> its type.
SETTINGS: Mapping[str, Any] = {
    field.name: field.type
    for field in msgspec.structs.fields(RunSpec)
    if field.name not in ("platform", "workload", "dispatcher", "options")
}
#: Most processes that work at a time, unless said.
_PROCESSES = 8


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
    entrant = _with_options(entrant_of(dispatcher), options)
    call = _Call(workload, platform, out, listener, settings, own=entrant.own, log=log)
    base = call.base(dispatcher=entrant.name, options=entrant.options)
    build(base, entrant.own)
    folder = call.folder if call.named else call.folder / base.label
    call.prepare()
    result = execute(
        base,
        folder,
        progress=lambda done, total: call.listener.progress(base.label, done, total),
        notice=call.listener.warn,
        own=entrant.own,
    )
    run = LoadedRun(folder, base.label, keep=call.keep)
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
    listener: Listener | None = None,
    **settings: Any,
) -> Comparison | Replication:
    """Simulate a workload under several dispatchers, side by side.

    Whole runs of the same inputs that the folder holds are kept. A run that fails does not take the others with it: it
    is among the `failures`.

    Args:
        workload: as for `run`.
        dispatchers: each as for `run`; a text may name several, with commas between them.
        replicates: compare on so many replicates of the workload, see `replicate`, which has further settings.
        platform: as for `run`.
        options: of every dispatcher that knows them and is given by name.
        out: folder for the results, which gets a folder for each run; None: a temporary one.
        processes: runs at a time; None: one for each processor, and at most 8.
        fresh: keep no run.
        report: write the report as part of the comparison; else it is written when it is asked for.
        explain: whether that report says why jobs waited.
        listener: as for `run`.
        settings: as for `run`.

    Raises:
        InputError: as `run`.
        SimulationError: no run finished.
    """
    if replicates is not None:
        return replicate(
            workload,
            dispatchers,
            replicates,
            platform=platform,
            options=options,
            out=out,
            processes=processes,
            fresh=fresh,
            listener=listener,
            **settings,
        )
    extras.check("report" if report else None, "the report", also=" (or leave it out: --no-report)")
    entrants = with_common(_entrants(dispatchers), _texts(options))
    count = processes or min(cpu_count() or 1, _PROCESSES)
    call = _Call(workload, platform, out, listener, settings)
    folder = call.folder
    specs = [call.base(dispatcher=one.name, options=one.options) for one in entrants]

    def conclude(folders: list[Path], failures: dict[str, str]) -> None:
        if folders and report:
            from batdispatch.report.page import write_report
            from batdispatch.runs.workers import workers_beside

            # This process draws, so that one worker fewer goes through what was recorded.
            with workers_beside(count - 1) as workers:
                write_report(folders, folder / "report" / "index.html", explain=explain, workers=workers)

    folders, failures = carry_out(
        specs,
        folder,
        processes=count,
        listener=call.listener,
        fresh=fresh,
        conclude=conclude,
        prepare=call.prepare if call.inputs.made else None,
        own=_own(specs, entrants),
    )
    comparison = Comparison(folder, folders, failures, call.listener.notes, call.keep)
    for label, run in comparison.items():
        for warning in run.warnings:
            call.listener.warn(f"{label}: {warning}")
    for label, why in failures.items():
        call.listener.failed(label, why)
    if not folders:
        raise SimulationError("no run finished, so there is nothing to compare")
    return comparison


def replicate(
    workload: GivenWorkload,
    dispatchers: str | Dispatcher | Sequence[str | Dispatcher],
    count: int,
    *,
    by: By = "slices",
    slice_jobs: int | None = None,
    weeks: int | None = None,
    baseline: str | None = None,
    platform: GivenPlatform | None = None,
    options: Mapping[str, Any] = {},
    out: str | PathLike[str] | None = None,
    processes: int | None = None,
    fresh: bool = False,
    words: str = "",
    listener: Listener | None = None,
    **settings: Any,
) -> Replication:
    """Compare dispatchers on replicates of a workload, and say which one to choose, and how sure that is.

    Args:
        workload: as for `run`.
        dispatchers: as for `compare`, or ``families``: one dispatcher for each family that the workload has work for.
        count: how many replicates, 1 to 1000.
        by: ``slices`` of the workload, evenly spread; ``sessions``: its users' weeks, drawn anew; ``seeds`` of the
            dispatchers on the whole workload.
        slice_jobs: jobs of a slice; None: at most 1000.
        weeks: of a resample; None: 2.
        baseline: the dispatcher that the others are compared with; None: easy, else the first.
        platform: as for `run`.
        options: as for `compare`.
        out: folder for the results; None: a temporary one.
        processes: as for `compare`.
        fresh: keep no run.
        words: the command that does this, for the page; empty: there is none.
        listener: as for `run`.
        settings: as for `run`.

    Raises:
        InputError: as `run`, or the workload has too few jobs for so many slices, or names no users.
        SimulationError: no run finished.
    """
    from batdispatch.runs.replicate_comparison import compare_on_replicates
    from batdispatch.runs.replicates import WEEKS, Replicates

    extras.check("report", "the report")
    for option, value, way in (("slice-jobs", slice_jobs, "slices"), ("weeks", weeks, "sessions")):
        if value is not None and by != way:
            raise InputError(f"is for --replicate-by {way}, and this is {by}", source=f"option --{option}")
    if not 1 <= count <= 1000:
        raise InputError(f"{count}, expected 1 to 1000", source="option --replicates")
    if isinstance(dispatchers, str):
        check_names(dispatchers)
    call = _Call(workload, platform, out, listener, settings)
    came = compare_on_replicates(
        Replicates(by, count, slice_jobs, WEEKS if weeks is None else weeks),
        dispatchers,
        call.base(dispatcher="", options={}),
        call.inputs,
        call.folder,
        common=_texts(options),
        baseline=baseline or "",
        words=words,
        processes=processes or min(cpu_count() or 1, _PROCESSES),
        fresh=fresh,
        listener=call.listener,
    )
    for label, why in came.failures.items():
        call.listener.failed(label, why)
    return Replication(call.folder, came, call.listener.notes, call.keep)


def campaign(
    file: str | PathLike[str],
    *,
    out: str | PathLike[str] = "campaigns",
    parts: Sequence[str] | None = None,
    quick: bool = False,
    logs: str | PathLike[str] | None = None,
    processes: int | None = None,
    executor: str = "local",
    batch: int | None = None,
    fresh: bool = False,
    more: Sequence[str] = (),
    listener: Listener | None = None,
    watch: Callable[[Plan, dict[str, float | None]], Callable[[Outcome], None]] | None = None,
) -> CampaignResults:
    """Run a campaign: platforms, workloads, dispatchers, options and seeds from a file, here or on a cluster.

    Whole runs of the same inputs and code are kept. Runs that fail are among the `failures`.

    Args:
        file: the campaign's file.
        out: folder of campaigns, which share their runs.
        parts: run only these parts of the file.
        quick: run the quick version that the file describes.
        logs: folder of logs that do not stand where the file says.
        processes: tasks at a time; None: one for each processor, and at most 8.
        executor: of Snakemake: ``local``, or an executor plug-in that is installed.
        batch: most runs of a task; None: some minutes' worth.
        fresh: keep no run.
        more: further words for Snakemake.
        listener: as for `run`.
        watch: called with the plan and what each run is expected to take, in CPU seconds; returns what outcomes are
            told to. None: the listener is.

    Raises:
        InputError: the file or an input is wrong, or another process works on this campaign.
        SimulationError: Snakemake could not run it.
    """
    extras.check("campaign", "a campaign")
    from batdispatch.runs.campaign.campaign import carry_out_campaign
    from batdispatch.runs.campaign.commands import makers
    from batdispatch.runs.campaign.file import read_campaign
    from batdispatch.runs.campaign.plan import Places, Plan
    from batdispatch.runs.campaign.snakemake import Orders

    read = read_campaign(Path(file), makers(), quick=quick, parts=parts, logs=None if logs is None else Path(logs))
    root = checked_folder(out)
    orders = Orders(processes or min(cpu_count() or 1, _PROCESSES), executor, batch, more)
    done = carry_out_campaign(
        lambda: Plan(read, root, fresh=fresh),
        root.absolute() / read.name,
        orders,
        fresh=fresh,
        begin=watch or _watch(listener or default_listener()),
    )
    return CampaignResults(done.results, done.failures, done.logs, Places(root).cells)


def _watch(listener: Listener) -> Callable[[Plan, dict[str, float | None]], Callable[[Outcome], None]]:
    def begin(plan: Plan, costs: dict[str, float | None]) -> Callable[[Outcome], None]:
        ended: set[str] = set()

        def hear(outcome: Outcome) -> None:
            if outcome.failure:
                listener.failed(plan.label(outcome.key), outcome.failure)
            if outcome.key in costs:
                ended.add(outcome.key)
                listener.progress(plan.campaign.name, len(ended), len(costs))

        return hear

    return begin


class _Call:
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
    ) -> None:
        chosen, log_settings = _divided(settings)
        self.named = out is not None
        self.keep = None if out is not None else TemporaryDirectory(prefix="batdispatch-", ignore_cleanup_errors=True)
        self.folder = checked_folder(self.keep.name if out is None and self.keep is not None else str(out))
        self.listener = NoteKeeper(listener or default_listener())
        master = chosen.get("master_host", getattr(platform, "master", None))
        self.inputs = Inputs(workload, platform, self.folder, master=master, log=log, log_settings=log_settings)
        if own is not None:
            chosen.setdefault("seed", getattr(own, "_seed", 0))
        self._settings = {**chosen, "master_host": master}

    def base(self, **more: Any) -> RunSpec:
        """Return a run with the settings that were given."""
        return RunSpec(platform=str(self.inputs.platform), workload=str(self.inputs.workload), **self._settings, **more)

    def prepare(self) -> None:
        """Write the inputs that are to be made."""
        self.inputs.prepare(note=self.listener.note, warn=self.listener.warn, follow=self.listener.progress)


def _divided(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return settings of runs and of logs, checked.

    Raises:
        InputError: there is no such setting, its value is of another kind, or it needs another one.
    """
    chosen: dict[str, Any] = {}
    log: dict[str, Any] = {}
    for name, value in settings.items():
        if name in SETTINGS:
            chosen[name] = _converted(name, value, SETTINGS[name])
        elif name in LOG_SETTINGS:
            log[name] = value
        else:
            raise InputError(f"there is no setting {name!r}: {did_you_mean(name, [*SETTINGS, *LOG_SETTINGS])}")
    for name in ("batsim", "nix"):
        if chosen.get(name) is not None and chosen.get("engine", "embedded") == "embedded":
            raise InputError("needs --engine batsim4 or batsim5", source=f"option --{name}")
    if chosen.get("nix") is not None:
        chosen["nix"] = shell_of(chosen["nix"], Path())
    return chosen, log


def _converted(name: str, value: Any, kind: Any) -> Any:
    given = str(value) if isinstance(value, PathLike) else value
    try:
        converted = msgspec.convert(given, kind)
    except msgspec.ValidationError:
        converted = math.nan
    if isinstance(converted, float) and not 0 <= converted < math.inf:
        expected = "seconds, or None for the measured time" if name == "decision_time" else describe_type(kind)
        raise InputError(f"found {value!r}, expected {expected}", source=f"option --{name.replace('_', '-')}")
    return converted


def _texts(options: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in options.items()}


def _with_options(entrant: Entrant, options: Mapping[str, Any]) -> Entrant:
    """Return a dispatcher with further options.

    Raises:
        InputError: one is given twice.
    """
    if options and entrant.own is not None:
        raise InputError("an object has its own options", source="option --set")
    for key in options:
        if key in entrant.options:
            raise InputError(f"{key!r} stands in brackets and in --set", source="option --dispatcher")
    return entrant._replace(options={**entrant.options, **_texts(options)})


def _entrants(dispatchers: str | Dispatcher | Sequence[str | Dispatcher]) -> list[Entrant]:
    if isinstance(dispatchers, str):
        check_names(dispatchers)
        if dispatchers.strip() == FAMILIES:
            raise InputError(f"{FAMILIES} needs --replicates N", source="option --dispatchers")
    return entrants_of(dispatchers)


def _own(specs: Sequence[RunSpec], entrants: Sequence[Entrant]) -> dict[str, Dispatcher]:
    pairs = zip(specs, entrants, strict=True)
    return {spec.label: entrant.own for spec, entrant in pairs if entrant.own is not None}
