"""Several runs on the same input, side by side; one that fails does not take the others with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from batdispatch.core.errors import InputError
from batdispatch.inputs.folders import Claim, stamp
from batdispatch.results.run_files import RESULT
from batdispatch.runs.provenance import others_code
from batdispatch.runs.run import InputFiles, RunSpec, build, clear, execute, is_made
from batdispatch.runs.workers import Tell, carry_out, forget_peak, seldom

#: Called with (name, jobs ended so far, jobs in all).
LabelledProgress = Callable[[str, int, int], None]
#: Called with the folders of the runs that are whole, in order, and why the others failed, by name.
Conclude = Callable[[list[Path], dict[str, str]], None]
#: A run and its name.
_Named = tuple[str, RunSpec]


def compare(
    specs: Sequence[RunSpec],
    out: Path,
    *,
    processes: int = 1,
    progress: LabelledProgress | None = None,
    fresh: bool = False,
    on_kept: Callable[[list[str]], None] | None = None,
    conclude: Conclude | None = None,
    prepare: Callable[[], None] | None = None,
    names: Sequence[str] | None = None,
) -> tuple[list[Path], dict[str, str]]:
    """Execute runs, each into ``out/NAME``, and return the folders of the whole runs and the failures by name.

    Runs that are whole in their folders, made from the same specs and inputs by the same code, are kept. The others
    are made in worker processes, so that even a crash of a library loses only one run, those first whose dispatchers
    take longest (see `Dispatcher.effort`). Each worker reads the platform and the workload once. A run of somebody
    else's code has a process of its own. Meanwhile the folder `out` is claimed. If this process is killed, or
    interrupted after a run has ended, `out` says that it is unfinished.

    Args:
        specs: the runs.
        out: the folder.
        processes: how many runs at a time.
        progress: told how far each run is.
        fresh: keep no run.
        on_kept: told, before others are made, the labels of the runs kept, if there are any.
        conclude: called at the end, while `out` still counts as unfinished.
        prepare: called at the beginning, with `out` claimed; writes inputs into it that the runs name.
        names: of the runs, paths of their folders below `out`; None: their labels.

    Raises:
        InputError: a run's input is wrong, or another process is writing into a folder: then none can be compared.
    """
    named = dict(zip([spec.label for spec in specs] if names is None else names, specs, strict=True))
    if len(named) != len(specs):
        raise InputError(f"two runs would have the same folder: {', '.join(sorted(spec.label for spec in specs))}")
    efforts = {name: build(spec).innermost().effort for name, spec in named.items()}
    failures: dict[str, str] = {}
    with Claim(out) as claim:
        if prepare is not None:
            prepare()
        kept = [] if fresh else [name for name, spec in named.items() if is_made(spec, out / name)]
        if kept and on_kept is not None:
            on_kept(kept)
        # Those that take longest first, so that the last ones to end are short; equals as they were named.
        pending = sorted(((name, named[name]) for name in named if name not in kept), key=lambda run: -efforts[run[0]])
        if pending:
            _make(pending, claim, processes, progress, failures)
        folders = [out / name for name in named if name not in failures]
        if conclude is not None:
            conclude(folders, failures)
    return folders, failures


def _make(
    pending: Sequence[_Named],
    claim: Claim,
    processes: int,
    progress: LabelledProgress | None,
    failures: dict[str, str],
) -> None:
    """Execute runs, so many at a time, and enter why some failed."""
    out = claim.folder
    #: Name of each run that is being made -> whether its folder is new, and what stands for its earlier result.json.
    begun: dict[str, tuple[bool, tuple[int, int] | None]] = {}

    def began(run: _Named) -> None:
        folder = out / run[0]
        begun[run[0]] = not folder.exists(), stamp(folder / RESULT)

    def told(run: _Named, what: tuple[int, int]) -> None:
        if progress is not None:
            progress(run[0], *what)

    def ended(run: _Named, problem: str | None) -> None:
        del begun[run[0]]
        if problem is None:
            claim.changing()
        else:
            failures[run[0]] = problem
            clear(out / run[0], recording=False, folder=False)

    try:
        carry_out(
            partial(_execute, out),
            pending,
            processes=processes,
            began=began,
            told=told,
            ended=ended,
            alone=_is_others,
        )
    except KeyboardInterrupt:
        for label, (fresh, _) in begun.items():
            clear(out / label, recording=True, folder=fresh)
        if any(stamp(out / label / RESULT) != before for label, (_, before) in begun.items()):
            claim.changing()
        raise


def _is_others(run: _Named) -> bool:
    """Return whether a run uses code of somebody else, which may leave something behind in its process."""
    spec = run[1]
    return others_code(spec.dispatcher, *spec.options.values()) is not None


#: What a worker has read.
_FILES = InputFiles()


def _execute(out: Path, run: _Named, tell: Tell) -> None:
    """Be a worker's task."""
    name, spec = run
    forget_peak()
    execute(spec, out / name, progress=seldom(tell), files=_FILES)
