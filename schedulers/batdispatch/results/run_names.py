"""Whether a name that stands for a run is that of what ran, and the record that binds names to runs when they are made.

Theory of operation. Folders and tables may be renamed after the runs, and pages are made from them. So whoever makes
several runs into a folder writes `FILE` there, once: for each run, what it is called, and a digest of what it was made
from. A folder in which another run is found than the one that was made there is misnamed, whatever its name. Where
nothing binds a name, such as that of a folder which a user chose, two things hold: the name of a dispatcher is no name
of another one's run, and the name of a run is no name of another run beside it. Any other name is free.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from batdispatch.core.errors import InputError
from batdispatch.core.line import registry
from batdispatch.core.line.dispatcher import GROUP
from batdispatch.core.line.options import in_file_names, parse_named
from batdispatch.inputs.files import content_digest, read_record, write_json
from batdispatch.inputs.folders import stamp
from batdispatch.results.run_files import COMPARISON, RESULT, find

#: Says, in a folder into which several runs were made, what each of them is.
FILE = "names.json"
#: Entry-point group of what knows names of its own: from a run's folder and its result.json, how the name of the run
#: contradicts what it is, or an empty text.
NAMES = "batdispatch.names"
#: How far above a run's folder the record may stand: ``runs/REPLICATE/NAME`` in the folder of a comparison.
_DEPTH = 3
#: Settings that say where a file is; what is in it has a digest.
_PATHS = ("platform", "workload", "external_events")
_ORDERINGS = "batdispatch.orderings"
#: What a name consists of, for the names of dispatchers in it.
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


class BoundName(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The name of a run and the inputs and settings that it was made from.

    Attributes:
        name: what people call it: a dispatcher with its options, or a change of a site.
        platform, workload: SHA-256 of its inputs; empty: it has none, as a log that stands beside runs.
        made_from: digest of all that decides over it, see `identity`.
        earlier: whether a call before the last one made it, which left it there.
    """

    name: str
    platform: str = ""
    workload: str = ""
    made_from: str
    earlier: bool = False

    @property
    def inputs(self) -> tuple[str, str]:
        """The digests of its inputs."""
        return self.platform, self.workload


class Names(msgspec.Struct, frozen=True):
    """The record.

    Attributes:
        runs: path of a run's folder below that of the record -> what it was made as.
        headings: SHA-256 of what a comparison with replicates says beside its figures; empty: there is no such file.
    """

    runs: dict[str, BoundName] = {}
    headings: str = ""

    @property
    def current(self) -> dict[str, BoundName]:
        """Those that the last call made or kept."""
        return {path: bound for path, bound in self.runs.items() if not bound.earlier}


class NamedRun(NamedTuple):
    """A run's folder, and what its result.json says: label, settings, and digests of inputs."""

    folder: Path
    label: str
    settings: Mapping[str, Any]
    digests: Mapping[str, Any]

    @property
    def identity(self) -> str:
        """Digest of all that decides over the run but for the code; of a log beside runs, the digest of its files."""
        if not self.settings:
            files = filter(None, (find(self.folder, name) for name in ("jobs.csv", RESULT)))
            return hashlib.sha256("".join(map(content_digest, files)).encode()).hexdigest()
        settings = {name: value for name, value in self.settings.items() if name not in _PATHS}
        facts = {"settings": settings, "sha256": dict(self.digests)}
        return hashlib.sha256(msgspec.json.encode(facts, order="sorted")).hexdigest()

    def bound(self, name: str, *, earlier: bool = False) -> BoundName:
        """Return what the record says of the run."""
        platform, workload = (str(self.digests.get(key, "")) for key in ("platform", "workload"))
        return BoundName(name=name, platform=platform, workload=workload, made_from=self.identity, earlier=earlier)


class Misnomer(NamedTuple):
    """The right name of a run in a folder with a wrong one, and how the two contradict each other."""

    name: str
    why: str


def belied_by_others(folder: Path, result: Any) -> str:
    """Return how what a run is called contradicts it, as those say who announce names of their own; else an empty text.

    Raises:
        InputError: a record or another run cannot be read, or what is announced cannot be loaded.
    """
    found = (registry.load(NAMES, name, "reader of names")(folder, result) for name in registry.names(NAMES))
    return next(filter(None, found), "")


# ---------------------------------------------------------------------- the record


def bind(folder: Path, made: Mapping[str, str], runs: Mapping[str, NamedRun]) -> None:
    """Bind the names of the runs that a call has made into a folder.

    Runs of earlier calls that are still there keep their names.

    Args:
        folder: of the call.
        made: path of each of its runs below the folder -> what people call it.
        runs: the runs in the folder by their paths, those of earlier calls too.
    """
    before = read_names(folder).runs if (folder / FILE).is_file() else {}
    bound = {path: runs[path].bound(name) for path, name in made.items()}
    for path, run in sorted(runs.items()):
        if path not in bound:
            known = before.get(path)
            name = known.name if known is not None and known.made_from == run.identity else run.label
            bound[path] = run.bound(name, earlier=True)
    write_json(folder / FILE, msgspec.to_builtins(Names(bound, headings_of(folder))))


def headings_of(folder: Path) -> str:
    """Return the digest of what a comparison with replicates says beside its figures; empty: there is no such file."""
    path = folder / COMPARISON
    return content_digest(path) if path.is_file() else ""


def rebind(run: NamedRun) -> None:
    """Say in the record that names a run, if there is one, that it has been made anew by itself.

    Raises:
        InputError: the record cannot be read or written.
    """
    recorded = record_of(run.folder)
    if recorded is None:
        return
    folder, names = recorded
    path = run.folder.absolute().relative_to(folder).as_posix()
    if path in names.runs and names.runs[path].made_from != run.identity:
        runs = {**names.runs, path: run.bound(run.label, earlier=True)}
        write_json(folder / FILE, msgspec.to_builtins(msgspec.structs.replace(names, runs=runs)))


def read_names(folder: Path) -> Names:
    """Return the record of a folder.

    Raises:
        InputError: it cannot be read.
    """
    return _read(folder / FILE, stamp(folder / FILE))


@lru_cache(maxsize=16)
def _read(path: Path, written: tuple[int, int] | None) -> Names:
    """Return a record that was written then; the runs of a folder share it."""
    return read_record(path, Names)


def record_of(run: Path) -> tuple[Path, Names] | None:
    """Return the folder of the record that may name a run, and the record; None: there is none.

    Raises:
        InputError: it cannot be read.
    """
    for folder in run.absolute().parents[:_DEPTH]:
        if (folder / FILE).is_file():
            return folder, read_names(folder)
    return None


# ---------------------------------------------------------------------- names


def belied_name(name: str, settings: Mapping[str, Any], place: str = "the table") -> str:
    """Return how a name contradicts a run, or an empty text. A name that has none of a dispatcher in it is free.

    Args:
        name: of the run, such as ``easy[ordering=sjf]``.
        settings: that the run was made from.
        place: where the name stands.
    """
    dispatcher, given = str(settings.get("dispatcher")), settings.get("options")
    given = given if isinstance(given, dict) else {}
    full = f"{dispatcher}[{','.join(f'{key}={value}' for key, value in given.items())}]"
    if _without_brackets(name) == _without_brackets(full):
        return ""
    # A layer is called like the dispatcher in it by those who have nothing else in it.
    words = re.findall(r"[\w-]+", " ".join([dispatcher, *map(str, given.values())]))
    known = registry.names(GROUP)
    try:
        base, options = parse_named(name, "dispatcher")
    except InputError:
        base, options = "", {}
    if base in known:
        if base not in words:
            return f"{place} calls it {name}, and it is a run of {dispatcher}"
        if base == dispatcher and not options.items() <= given.items():
            return f"{place} calls it {name}, and its options are {given}"
        return ""
    said = set(_names_in(name, known))
    own = {word.lower() for word in words} | set(_names_in(" ".join(words), known))
    orderings = registry.names(_ORDERINGS)
    # Words such as "basic" are names of orderings, too, where they stand beside other words.
    orders = set(_names_in(name, orderings)) - said if said else {name.lower()} & set(orderings)
    if (said and not said & own) or orders - own:
        return f"{place} calls it {name}, and it is a run of {dispatcher} with options {given}"
    return ""


def _without_brackets(name: str) -> str:
    """Return a name in the form that it has in common with the label of its run, which lacks brackets."""
    return re.sub("_+", "_", in_file_names(name)).strip("_")


def _names_in(text: str, known: Collection[str]) -> Iterator[str]:
    """Yield the names that stand in a text, in whatever letters; of two that begin together, the longer one."""
    lower = {each.lower() for each in known}
    plain = "".join(mark for mark in unicodedata.normalize("NFKC", text) if unicodedata.category(mark) != "Cf")
    for word in _WORD.findall(plain.lower()):
        parts, begin = word.split("-"), 0
        while begin < len(parts):
            ends = (end for end in range(len(parts), begin, -1) if "-".join(parts[begin:end]) in lower)
            end = next(ends, None)
            if end is not None:
                yield "-".join(parts[begin:end])
            begin = begin + 1 if end is None else end


def misnamed_folders(runs: Sequence[NamedRun]) -> dict[Path, Misnomer]:
    """Return the folders whose names are not those of the runs in them, with what these are and why.

    A folder that a record names holds the run of the record. Else a folder is called after its run's label. Another
    name is wrong if it is the label of another run in the same folder, or names another dispatcher or other options.

    Raises:
        InputError: a record cannot be read.
    """
    labels: dict[Path, set[str]] = {}
    for run in runs:
        labels.setdefault(run.folder.parent, set()).add(run.label)
    found = {}
    for run in runs:
        if told := _against_record(run) or _against_others(run, labels[run.folder.parent]):
            found[run.folder] = told
    return found


def _against_record(run: NamedRun) -> Misnomer | None:
    recorded = record_of(run.folder)
    if recorded is None:
        return None
    folder, names = recorded
    path = run.folder.absolute().relative_to(folder).as_posix()
    identity, bound = run.identity, names.runs.get(path)
    if bound is not None and bound.made_from == identity:
        return None
    mine = next((each for each in names.runs.items() if each[1].made_from == identity), None)
    if mine is not None and bound is not None:
        told, is_ = run.folder.name, Path(mine[0]).name
        told, is_ = (path, mine[0]) if told == is_ else (told, is_)
        return Misnomer(mine[1].name, f"the folder calls it {told}, and it is the run {is_}")
    if bound is not None:
        return Misnomer(
            run.label, f"{FILE} says that {path} was made from other inputs or settings: this run was put here"
        )
    if mine is None and run.label and _is_strange(run, path, names):
        return Misnomer(run.label, f"{FILE} knows no such run, and it has other inputs than all that it names")
    return None


def _is_strange(run: NamedRun, path: str, names: Names) -> bool:
    """Return whether a run that stands where those of a record stand has the inputs of none of them."""
    depths = {each.count("/") for each in names.runs}
    mine = run.bound("").inputs
    return path.count("/") in depths and mine not in {bound.inputs for bound in names.runs.values()}


def _against_others(run: NamedRun, labels: Collection[str]) -> Misnomer | None:
    name, label = run.folder.name, run.label
    if not label:
        return None
    if name != label and name in labels:
        return Misnomer(label, f"the folder calls it {name}, and it is the run {label}")
    texts = {"the folder": name, RESULT: label}
    told = (belied_name(_with_brackets(text), run.settings, place) for place, text in texts.items())
    return next((Misnomer(label, why) for why in told if why), None)


def _with_brackets(label: str) -> str:
    base, comma, options = label.partition(",")
    return f"{base}[{options}]" if comma else base
