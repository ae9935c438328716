"""Several runs on the same input, side by side; one that fails does not take the others with it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from batdispatch.core.abilities import missing_ability
from batdispatch.core.errors import InputError
from batdispatch.core.line import registry
from batdispatch.core.line.blame import blame, interrupt_of, user_error
from batdispatch.core.line.dispatcher import Dispatcher, find, with_option_file
from batdispatch.core.line.options import did_you_mean, parse_named, split_list
from batdispatch.dispatchers import simple
from batdispatch.inputs.folders import Claim, stamp
from batdispatch.inputs.sites import SiteFiles
from batdispatch.inputs.workloads.importers import ImportedColumns
from batdispatch.inputs.workloads.workload_file import WorkloadFile
from batdispatch.links.foreign import is_foreign
from batdispatch.results.run_files import RESULT
from batdispatch.results.run_names import bind
from batdispatch.results.runs import named_run, read_result
from batdispatch.runs.engines import energy_facet
from batdispatch.runs.inputs import Inputs
from batdispatch.runs.listener import SILENT, Listener, Tell, sparse_progress
from batdispatch.runs.provenance import others_names
from batdispatch.runs.run import InputFiles, build, clear, execute, is_made, spec_options
from batdispatch.runs.spec import RunSpec

#: Entry-point group of what compares otherwise than by one run of each dispatcher, by the option that asks for it.
COMPARISONS = "batdispatch.comparisons"
#: Called with the folders of the runs that are whole, in order, and why the others failed, by name.
Conclude = Callable[[list[Path], dict[str, str]], None]
#: A run and its name: the path of its folder below that of the comparison.
_Named = tuple[str, RunSpec]
#: Workloads of so many bytes, over all runs, are some 1,500 jobs, which take less than the start of a worker.
LITTLE = 160_000


def comparison_by(option: str, ability: str) -> Any:
    """Return what compares in the way that an option asks for.

    Args:
        option: its name.
        ability: that brings it.

    Raises:
        InputError: it cannot be loaded, or the ability is missing.
    """
    found = registry.load(COMPARISONS, option, "way to compare")
    if found is None:
        raise missing_ability(ability, f"option --{option}")
    return found


class Entrant(NamedTuple):
    """A dispatcher that takes part in a comparison.

    Attributes:
        text: what people call it: its name with options in brackets.
        name: registered, ``module:Class`` or ``file.py:Class``.
        options: as texts.
        own: an object of the caller's that decides; None: one is built by name.
        stated: the options that people state themselves, before a file that one of them names is read.
        site: what the simulated site's files say beside the options; it is no part of the run's name.
    """

    text: str
    name: str
    options: dict[str, str]
    own: Dispatcher | None = None
    stated: Mapping[str, str] = {}
    site: Mapping[str, str] = {}

    @property
    def all_options(self) -> dict[str, str]:
        """Return all options; those that people state go first."""
        return {**self.site, **self.options}


def entrant_of(dispatcher: str | Dispatcher, source: str = "option --dispatcher") -> Entrant:
    """Return who takes part, given by name with options in brackets, or as an object.

    Raises:
        InputError: the text has another form.
    """
    if isinstance(dispatcher, Dispatcher):
        kind, options = type(dispatcher), spec_options(dispatcher)
        inside = ",".join(f"{key}={text}" for key, text in options.items())
        text = f"{kind.__name__}[{inside}]" if options else kind.__name__
        return Entrant(text, f"{kind.__module__}:{kind.__qualname__}", options, dispatcher)
    name, stated = parse_named(dispatcher, source)
    return Entrant(dispatcher.strip(), *with_option_file(name, stated), stated=stated)


def entrants_of(dispatchers: str | Dispatcher | Sequence[str | Dispatcher]) -> list[Entrant]:
    """Return who takes part; a text may name several, with commas between them.

    Who stands twice since `simple` stands for them, too, takes part once.

    Raises:
        InputError: a text has another form, or somebody stands twice.
    """
    source = "option --dispatchers"
    given = [dispatchers] if isinstance(dispatchers, str | Dispatcher) else dispatchers
    parts = [part for one in given for part in (split_list(one) if isinstance(one, str) else [one])]
    entrants: list[Entrant] = []
    stated: list[Entrant] = []
    for part in parts:
        for text in simple.expand(part) if isinstance(part, str) else [part]:
            entrant = entrant_of(text, source)
            if not isinstance(part, str) or not simple.is_set(part):
                if _is_among(entrant, stated):
                    raise InputError(f"{entrant.text!r} stands twice", source=source)
                stated.append(entrant)
            if not _is_among(entrant, entrants):
                entrants.append(entrant)
    return entrants


def _is_among(entrant: Entrant, others: Sequence[Entrant]) -> bool:
    return any(entrant[1:3] == other[1:3] for other in others)


def at_site(entrants: Sequence[Entrant], site: SiteFiles | None) -> list[Entrant]:
    """Return who takes part, each with what the files of the simulated site say of how it schedules.

    Raises:
        InputError: they say something that a dispatcher which imitates the site cannot do.
    """
    if site is None:
        return list(entrants)
    return [
        one if one.own is not None else one._replace(site=site.options_beside(one.name, one.options, one.stated))
        for one in entrants
    ]


def by_log(
    entrants: Sequence[Entrant], inputs: Inputs, imported: ImportedColumns | None, listener: Listener
) -> list[Entrant]:
    """Return the entrants; those that imitate the simulated site also have the options that its log tells."""
    if imported is None or inputs.site is None:
        return list(entrants)
    found, told = [], dict[str, None]()
    for one in entrants:
        # What imitates the site has its options.
        if one.site:
            options, how = inputs.options_by_log(one.name, one.all_options, imported)
            if how:
                told[f"{one.name}: {how}"] = None
            one = one._replace(site={**one.site, **options})
        found.append(one)
    for text in told:
        listener.note(text)
    return found


def with_common(entrants: Sequence[Entrant], common: Mapping[str, str]) -> list[Entrant]:
    """Return who takes part with the options of ``--set``, each with those that it knows and does not state itself.

    Objects keep their own.

    Raises:
        InputError: no dispatcher knows an option, or a file that one of them names is wrong.
    """
    if not common:
        return list(entrants)
    known = [
        set() if one.own is not None or is_foreign(one.name) else set(find(one.name).options_type.__struct_fields__)
        for one in entrants
    ]
    for key in common:
        if not any(key.replace("-", "_") in names for names in known):
            hint = did_you_mean(key, set().union(*known))
            raise InputError(f"no dispatcher here has an option {key!r}: {hint}", source="option --set")
    return [_with_more(one, common, names) for one, names in zip(entrants, known, strict=True)]


def _with_more(one: Entrant, common: Mapping[str, str], known: Set[str]) -> Entrant:
    """Return who takes part with those of the common options that it knows and does not state itself."""
    own = {key.replace("-", "_") for key in one.stated}
    more = {key: text for key, text in common.items() if key.replace("-", "_") in known - own}
    if not more:
        return one
    # They count before a file that one of the options names, as any that are stated do.
    stated = {**more, **one.stated}
    return one._replace(options=with_option_file(one.name, stated)[1], stated=stated)


class Preparation(NamedTuple):
    """What came of inputs that were written.

    Attributes:
        workload: the workload of the runs if it is at hand, so that it need not be read.
        specs: the runs anew, in the same order, if the inputs tell more of them.
    """

    workload: WorkloadFile | None = None
    specs: Sequence[RunSpec] | None = None


def compare(
    specs: Sequence[RunSpec],
    out: Path,
    *,
    processes: int = 1,
    listener: Listener = SILENT,
    fresh: bool = False,
    conclude: Conclude | None = None,
    prepare: Callable[[], Preparation] | None = None,
    workload: WorkloadFile | None = None,
    names: Sequence[str] | None = None,
    called: Sequence[str] | None = None,
    own: Mapping[str, Dispatcher] = {},
    just_made: Collection[str] = (),
) -> tuple[list[Path], dict[str, str]]:
    """Execute runs, each into ``out/NAME``, and return the folders of the whole runs and the failures by name.

    Runs that are whole in their folders, made from the same specs and inputs by the same code, are kept. The others
    are made in worker processes, so that even a crash of a library loses only one run, those first whose dispatchers
    take longest (see `Dispatcher.effort`); in this process if they end before a worker could begin. Each worker reads
    the platform and the workload once. A run of somebody else's code has a process of its own. Meanwhile the folder
    `out` is claimed. If this process is killed, or interrupted after a run has ended, `out` says that it is unfinished.

    Args:
        specs: the runs.
        out: the folder.
        processes: how many runs at a time.
        listener: hears how far each run is, and which ones are kept; failures are returned.
        fresh: keep no run.
        conclude: called at the end, while `out` still counts as unfinished.
        prepare: called at the beginning, with `out` claimed; writes inputs into it that the runs name.
        workload: the workload of the runs if it is at hand, so that it need not be read.
        names: of the runs, paths of their folders below `out`; None: their labels.
        called: what people call each of them, which is bound to it (see `run_names`); None: their labels.
        own: label of a run -> the caller's object that decides in it. No other process knows its class, so these runs
            are made in this one, before the others.
        just_made: names of runs that the same command has made already: they are kept without a word.

    Raises:
        InputError: a run's input is wrong, or another process is writing into a folder: then none can be compared.
    """
    named = dict(zip([spec.label for spec in specs] if names is None else names, specs, strict=True))
    if len(named) != len(specs):
        raise InputError(f"two runs would have the same folder: {', '.join(sorted(spec.label for spec in specs))}")
    built = {name: build(spec, own.get(spec.label)) for name, spec in named.items()}
    deciders = {name: dispatcher.innermost() for name, dispatcher in built.items()}
    efforts = {name: decider.effort for name, decider in deciders.items()}
    failures: dict[str, str] = {}
    with Claim(out) as claim:
        if prepare is not None:
            workload, changed = prepare()
            named = named if changed is None else dict(zip(named, changed, strict=True))
        named = _counting_alike(named, {name for name, dispatcher in built.items() if dispatcher.needs_energy})
        kept = [name for name, spec in named.items() if (not fresh or name in just_made) and is_made(spec, out / name)]
        if told := [name for name in kept if name not in just_made]:
            listener.kept(told)
        # Those that take longest first, so that the last ones to end are short; equals as they were named.
        pending = sorted(((name, named[name]) for name in named if name not in kept), key=lambda run: -efforts[run[0]])
        if pending:
            little = _is_little(pending) and all(deciders[name].extra is None for name, _ in pending)
            _make(pending, claim, processes, listener, failures, own, workload, all_here=little)
        folders = [out / name for name in named if name not in failures]
        if conclude is not None:
            conclude(folders, failures)
        texts = dict(zip(named, [spec.label for spec in specs] if called is None else called, strict=True))
        _bind(out, folders, texts)
    return folders, failures


def _bind(out: Path, folders: Sequence[Path], called: Mapping[str, str]) -> None:
    """Bind the names of runs to what they were made from; those that were there before keep theirs."""
    made = {folder.relative_to(out).as_posix() for folder in folders}
    depths = {path.count("/") + 1 for path in (*made, *called)}
    there = (path for depth in depths for path in out.glob("/".join("*" * depth)) if (path / RESULT).is_file())
    runs = {}
    for folder in sorted(there):
        # A folder that somebody spoilt is no run, and does not keep others from being one.
        with suppress(InputError):
            runs[folder.relative_to(out).as_posix()] = named_run(folder, read_result(folder))
    bind(out, {path: called.get(path, path) for path in sorted(made & runs.keys())}, runs)


def _counting_alike(named: Mapping[str, RunSpec], needing: Collection[str]) -> dict[str, RunSpec]:
    """Let all runs on a platform count energy if one of them needs to: beside it, the others show what it saves.

    Not where hosts sleep at first: once energy is counted, a dispatcher that knows of no power states fails there.

    Raises:
        InputError: a platform is wrong, or a host on it states no watts.
    """
    others = {name for name, spec in named.items() if name not in needing and spec.energy == "auto"}
    shared = {named[name].platform for name in others} & {named[name].platform for name in needing}
    files, awake = InputFiles(), set[str]()
    for path, spec in {spec.platform: spec for spec in named.values() if spec.platform in shared}.items():
        if energy_facet(files.platform(spec)).plain_at_first:
            awake.add(path)
    return {
        name: replace(spec, energy="batsim") if name in others and spec.platform in awake else spec
        for name, spec in named.items()
    }


def _make(
    pending: Sequence[_Named],
    claim: Claim,
    processes: int,
    listener: Listener,
    failures: dict[str, str],
    own: Mapping[str, Dispatcher],
    workload: WorkloadFile | None,
    *,
    all_here: bool,
) -> None:
    """Execute runs, so many at a time or all in this process, and enter why some failed."""
    out = claim.folder
    here, files = [run for run in pending if all_here or run[1].label in own], InputFiles(workload)
    pending = [run for run in pending if run not in here]
    #: Name of each run that is being made -> whether its folder is new, and what stands for its earlier result.json.
    begun: dict[str, tuple[bool, tuple[int, int] | None]] = {}

    def began(run: _Named) -> None:
        folder = out / run[0]
        begun[run[0]] = not folder.exists(), stamp(folder / RESULT)

    def told(run: _Named, what: tuple[int, int]) -> None:
        listener.progress(run[0], *what)

    def ended(run: _Named, problem: str | None) -> None:
        del begun[run[0]]
        if problem is None:
            claim.changing()
        else:
            failures[run[0]] = problem
            clear(out / run[0], recording=False, folder=False)

    try:
        for run in here:
            began(run)
            ended(run, _problem_of(out, run, own.get(run[1].label), partial(told, run), files))
        if pending:
            # It brings processes and threads, which few jobs have no need of.
            from batdispatch.runs.workers import carry_out

            carry_out(
                partial(execute_named, out),
                pending,
                processes=processes,
                began=began,
                told=told,
                ended=ended,
                alone=_is_others,
                first=None if workload is None else partial(take_workload, workload),
            )
    except KeyboardInterrupt:
        for label, (fresh, _) in begun.items():
            clear(out / label, recording=True, folder=fresh)
        if any(stamp(out / label / RESULT) != before for label, (_, before) in begun.items()):
            claim.changing()
        raise


def _problem_of(out: Path, run: _Named, own: Dispatcher | None, tell: Tell, files: InputFiles) -> str | None:
    """Execute a run in this process, and return why it failed; what is wrong with an input or a disk is raised."""
    try:
        execute(run[1], out / run[0], progress=sparse_progress(tell), files=files, own=own)
    except Exception as problem:
        if (interrupt := interrupt_of(problem)) is not None:
            raise interrupt from None
        error = user_error(problem)
        if isinstance(error, InputError):
            raise error from None
        if error is None:
            return blame(problem) if own is not None else f"this is a bug: {blame(problem)}"
        return str(error)
    return None


def _is_little(runs: Sequence[_Named]) -> bool:
    """Return whether a worker would take longer to start than this process for these runs, of this package's code."""
    workloads = [Path(spec.workload) for _, spec in runs]
    if not all(path.is_file() for path in workloads) or sum(path.stat().st_size for path in workloads) > LITTLE:
        return False
    return not any(spec.engine != "embedded" or _is_others((name, spec)) for name, spec in runs)


def _is_others(run: _Named) -> bool:
    """Return whether a run uses code of somebody else, which may leave something behind in its process."""
    spec = run[1]
    return bool(others_names(spec.dispatcher, *spec.options.values()))


#: What a worker has read.
_FILES = InputFiles()


def take_workload(workload: WorkloadFile) -> None:
    """Keep the workload of a worker's tasks, which it then need not read."""
    _FILES.keep(workload)


def execute_named(out: Path, run: _Named, tell: Tell) -> None:
    """Be a worker's task."""
    from batdispatch.runs.peak_memory import forget_peak

    name, spec = run
    forget_peak()
    execute(spec, out / name, progress=sparse_progress(tell), files=_FILES)
