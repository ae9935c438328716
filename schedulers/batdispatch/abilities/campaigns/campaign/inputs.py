"""The platforms and workloads of a campaign: which file each one is, or which command makes it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from batdispatch.abilities.campaigns.campaign.commands import Maker, find_maker
from batdispatch.abilities.campaigns.campaign.entries import Entry
from batdispatch.core.errors import InputError
from batdispatch.core.line.options import did_you_mean
from batdispatch.inputs.files import file_digest
from batdispatch.runs.provenance import environment
from batdispatch.runs.spec import RunSpec

#: Hexadecimal digits of a key: two of a million things share one with a chance of 1 in 10^12.
DIGITS = 24
#: The most values that ``0..9`` may stand for.
MAX_RANGE = 100_000
#: Called with why something is wrong by those who do not know its line.
PLATFORM, WORKLOAD = "platform", "workload"
_ENDINGS = {PLATFORM: ".xml", WORKLOAD: ".json"}
_COMMANDS = {PLATFORM: ("platform", "generate"), WORKLOAD: ("generate",)}


class _Replicates(NamedTuple):
    """A way to make replicates of a workload.

    Attributes:
        kind: of `batdispatch generate`.
        many: the keys one of which says how many, or which.
        number: the option that says which one.
        word: what one is called.
        options: further options.
        together: whether one input has all of them, so that one run serves them.
    """

    kind: str
    many: tuple[str, ...]
    number: str
    word: str
    options: tuple[str, ...]
    together: bool = False


#: By the key of a workload.
_REPLICATES = {
    "windows": _Replicates("windows", ("count",), "count", "window", ("jobs", "warm-up", "cool-down"), together=True),
    "separate-windows": _Replicates(
        "window", ("count", "numbers"), "number", "window", ("jobs", "warm-up", "cool-down", "gap")
    ),
    "slices": _Replicates("slice", ("count", "numbers"), "number", "slice", ("jobs", "gap")),
    "resample": _Replicates("resample", ("seeds",), "seed", "resample", ("weeks", "long")),
}


def key_of(**facts: Any) -> str:
    """Return a digest of facts of types that JSON has."""
    return hashlib.sha256(msgspec.json.encode(facts, order="sorted")).hexdigest()[:DIGITS]


def input_key(facts: Mapping[str, Any], environment: Mapping[str, Any]) -> str:
    """Return the key of an input.

    Args:
        facts: what decides over it, see `Input.facts`.
        environment: code and versions that make it.
    """
    return key_of(**facts) if "file" in facts else key_of(**facts, environment=environment)


def cell_key(
    spec: RunSpec,
    inputs: Sequence[str],
    events: str | None,
    others: Mapping[str, str],
    environment: Mapping[str, Any],
    shell: Mapping[str, str] | None,
) -> str:
    """Return the key of a cell.

    Args:
        spec: the run, whose paths do not count.
        inputs: keys of its platform and its workload.
        events: SHA-256 of its external events; None: it has none.
        others: digests of code that is not this package's own, by its name.
        environment: code and versions that make it.
        shell: the packages of its shell of Nix; None: it has none.
    """
    bare = msgspec.structs.replace(spec, platform="", workload="", external_events=None)
    more = {} if shell is None else {"shell": shell}
    return key_of(settings=bare, inputs=inputs, events=events, others=others, **more, environment=environment)


@dataclass(frozen=True)
class Input:
    """A platform or a workload.

    Attributes:
        kind: ``platform`` or ``workload``.
        name: its entry in the file.
        stated: the options that the file states, and the seed.
        file: that it is; None: a command makes it.
        words: of that command, without files.
        settings: of that command, see `making.Maker.settings`.
        paths: option of that command -> the file or input that it names; "": what is named before the options.
        platform: the one that a workload is for; None: any.
        replicate: which of several like it a workload is; empty: there is one.
        windows: how many windows of it count, each a replicate of its own; 0: it has none.
    """

    kind: str
    name: str
    stated: Mapping[str, str] = field(default_factory=dict)
    file: Path | None = None
    words: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    paths: Mapping[str, Path | Input] = field(default_factory=dict)
    platform: Input | None = None
    replicate: str = ""
    windows: int = 0

    @cached_property
    def key(self) -> str:
        """Digest of all that decides what is in it."""
        return input_key(self.facts, environment())

    @cached_property
    def facts(self) -> dict[str, Any]:
        """All that decides what is in it, beside code and versions, of types that JSON has."""
        if self.file is not None:
            return {"file": file_digest(self.file)}
        paths = {option: one.key if isinstance(one, Input) else file_digest(one) for option, one in self.paths.items()}
        return {"command": list(self.words[:1]), "settings": dict(self.settings), "paths": paths}

    @property
    def output(self) -> str:
        """Name of its file in the folder of inputs."""
        return self.key + _ENDINGS[self.kind]

    @property
    def label(self) -> str:
        """Its name with what the file states, for people."""
        return label_of(self.name, self.stated)


def label_of(name: str, stated: Mapping[str, str]) -> str:
    """Return a name with options, for people."""
    return ",".join([name, *(f"{key}={value}" for key, value in stated.items())])


def combinations(table: Mapping[str, Entry], what: str) -> list[dict[str, str]]:
    """Return every combination of values of options; a list of values means each of them.

    Raises:
        InputError: a value is no text, or a list is empty or has a value twice.
    """
    values: list[list[tuple[str, str]]] = []
    for key, entry in table.items():
        texts = [one.text(f"{what} {key!r}") for one in entry.each()]
        if not texts or len(set(texts)) < len(texts):
            raise entry.error(f"{what} {key!r}: found {', '.join(texts) or 'nothing'}, expected different values")
        values.append([(key, text) for text in texts])
    return [dict(chosen) for chosen in product(*values)]


def whole_numbers(entry: Entry, what: str) -> list[int]:
    """Read ``3``, ``0..9`` or a list of these.

    Raises:
        InputError: it is something else, or a number stands twice.
    """
    found: list[int] = []
    for one in entry.each():
        text = one.text(what)
        first, dots, last = text.partition("..")
        ends = [first, last] if dots else [first]
        if not all(end.isascii() and end.isdigit() and len(end) <= 18 for end in ends):
            raise one.error(f"{what}: found {text!r}, expected a whole number, or 0..9 for the numbers from 0 to 9")
        begin, end = int(ends[0]), int(ends[-1])
        if not begin <= end < begin + MAX_RANGE:
            raise one.error(f"{what}: {text!r} stands for no number, or for more than {MAX_RANGE:,}")
        found.extend(range(begin, end + 1))
    if not found or len(set(found)) < len(found):
        raise entry.error(f"{what}: a number stands twice, or there is none")
    return found


class MissingLog(InputError):
    """A log that a campaign needs is not there."""


class InputReader:
    """Reads the tables ``platforms`` and ``workloads``.

    Attributes:
        here: the folder of the file, where its paths begin.
        logs: folder of logs that do not stand where the file says; None: there is none.
    """

    def __init__(self, here: Path, logs: Path | None = None) -> None:
        self.here = here
        self.logs = logs

    def platform(self, name: str, entry: Entry) -> list[Input]:
        """Return the platforms of an entry.

        Raises:
            InputError: it is wrong.
        """
        what = f"platform {name!r}"
        if isinstance(entry.value, str):
            return [self._file(PLATFORM, name, entry, what)]
        table = entry.table(what, ("file", "generate", "options"))
        if "file" in table and len(table) == 1:
            return [self._file(PLATFORM, name, table["file"], what)]
        if "generate" not in table or "file" in table:
            raise entry.error(f"{what}: expected a file, or a table with generate: KIND")
        maker = self._maker(PLATFORM, table["generate"], what)
        return self._made(PLATFORM, name, what, maker, table)

    def workload(
        self, name: str, entry: Entry, platforms: Mapping[str, list[Input]], known: Mapping[str, list[Input]]
    ) -> list[Input]:
        """Return the workloads of an entry.

        Args:
            name: of the entry.
            entry: the entry.
            platforms: by name.
            known: the workloads above it, by name, from which it may be made.

        Raises:
            InputError: it is wrong.
        """
        what = f"workload {name!r}"
        if isinstance(entry.value, str):
            return [self._file(WORKLOAD, name, entry, what)]
        table = entry.table(what, ("file", "generate", "convert", "platform", "seeds", "options", *_REPLICATES))
        ways = [way for way in ("file", "generate", "convert") if way in table]
        if len(ways) != 1:
            raise entry.error(
                f"{what}: found {' and '.join(ways) or 'none'} of file, generate and convert, expected one"
            )
        on: list[Input | None] = [None]
        if "platform" in table:
            on = list(chosen(table["platform"], platforms, "platform"))
        if "file" in table:
            if wrong := [key for key in ("seeds", "options") if key in table]:
                raise table[wrong[0]].error(f"{what} is a file, which has no {wrong[0]}")
            files = [self._file(WORKLOAD, name, table["file"], what, platform) for platform in on]
            return self._replicates(name, what, table, files)
        log = None
        if "generate" in table:
            maker = self._maker(WORKLOAD, table["generate"], what)
        else:
            maker = find_maker(("convert",), "")
            log = self._log(table["convert"], what)
        found = [
            made
            for platform in on
            for made in self._made(WORKLOAD, name, what, maker, table, platform=platform, log=log, known=known)
        ]
        return self._replicates(name, what, table, found)

    def _replicates(self, name: str, what: str, table: Mapping[str, Entry], made: list[Input]) -> list[Input]:
        """Return what stands for each of some workloads if it is cut into slices or its users are drawn anew."""
        keys = [key for key in _REPLICATES if key in table]
        if not keys:
            return made
        if len(keys) > 1:
            raise table[keys[1]].error(f"{what}: found {' and '.join(keys)}, expected one of them")
        key, way, entry = keys[0], _REPLICATES[keys[0]], table[keys[0]]
        what = f"{what}: {key}"
        options = entry.table(what, (*way.many, *way.options))
        many = [one for one in way.many if one in options]
        if len(many) != 1:
            raise entry.error(f"{what}: expected {' or '.join(way.many)}, which says how many there are")
        numbers = whole_numbers(options[many[0]], f"{what}: {many[0]}")
        if many == ["count"]:
            if len(numbers) > 1 or not 1 <= numbers[0] <= MAX_RANGE:
                raise options["count"].error(f"{what}: count: expected a whole number from 1 to {MAX_RANGE:,}")
            numbers = numbers if way.together else list(range(numbers[0]))
        texts = {name: one.text(f"{what}: {name}") for name, one in options.items() if name not in way.many}
        maker = find_maker(_COMMANDS[WORKLOAD], way.kind)
        found = []
        for one, number in product(made, numbers):
            given = {**texts, way.number: str(number)}
            try:
                settings, words = maker.settings({**given, "from": "from"}), tuple(maker.words(given))
            except InputError as problem:
                raise entry.error(f"{what}: {problem}") from None
            made_of = Input(WORKLOAD, name, one.stated, None, words, settings, {"from": one}, one.platform)
            if way.together:
                found.append(replace(made_of, replicate=one.replicate, windows=number))
            else:
                which = ", ".join(filter(None, (one.replicate, f"{way.word} {number}")))
                found.append(replace(made_of, replicate=which, stated={**one.stated, way.word: str(number)}))
        return found

    def _file(self, kind: str, name: str, entry: Entry, what: str, platform: Input | None = None) -> Input:
        return Input(kind, name, file=self._path(entry, what), platform=platform)

    def _path(self, entry: Entry, what: str) -> Path:
        path = self.here / entry.text(what)
        if not path.is_file():
            raise entry.error(f"{what}: there is no file {path}")
        return path

    def _log(self, entry: Entry, what: str) -> Path:
        name = entry.text(what)
        places = [self.here / name]
        if self.logs is not None:
            places += dict.fromkeys([self.logs / name, self.logs / Path(name).name])
        found = next((path for path in places if path.is_file()), None)
        if found is None:
            where = "" if self.logs is not None else "; option --logs says where logs are"
            told = f"{what}: there is no log {' or '.join(map(str, places))}{where}"
            raise MissingLog(told, source=entry.source, place=f"line {entry.line}")
        return found

    def _maker(self, kind: str, entry: Entry, what: str) -> Maker:
        try:
            return find_maker(_COMMANDS[kind], entry.text(f"{what}: generate"))
        except InputError as problem:
            raise entry.error(f"{what}: {problem}") from None

    def _made(
        self,
        kind: str,
        name: str,
        what: str,
        maker: Maker,
        table: Mapping[str, Entry],
        *,
        platform: Input | None = None,
        log: Path | None = None,
        known: Mapping[str, list[Input]] = {},
    ) -> list[Input]:
        """Return what a command makes: one input for each combination of options, seeds and inputs."""
        options = table["options"].table(f"{what}: options") if "options" in table else {}
        for key, entry in options.items():
            if key in ("seed", "platform"):
                raise entry.error(f"{what}: {key} stands beside options, as {'seeds' if key == 'seed' else key}")
            if key not in maker.options:
                raise entry.error(f"{what} has no option {key!r}: {did_you_mean(key, maker.options)}")
        base: dict[str, Path | Input] = {} if log is None else {"": log}
        if platform is not None and "platform" in maker.files:
            base["platform"] = platform
        files = {key: entry for key, entry in options.items() if key in maker.files}
        sources: list[list[tuple[str, Path | Input]]] = [
            [(key, one) for item in entry.each() for one in self._sources(item, f"{what}: {key}", known)]
            for key, entry in files.items()
        ]
        rest = {key: entry for key, entry in options.items() if key not in files}
        seeds: list[int | None] = [None]
        if "seed" in maker.options:
            if "seeds" not in table:
                raise table["generate"].error(f"{what} draws at random: expected seeds, such as seeds: 0..9")
            seeds = list(whole_numbers(table["seeds"], f"{what}: seeds"))
        elif "seeds" in table:
            raise table["seeds"].error(f"{what} draws nothing at random, so it has no seeds")
        found = []
        for texts in combinations(rest, f"{what}: option"):
            for read in product(*sources):
                paths = {**base, **dict(read)}
                for seed in seeds:
                    given = texts if seed is None else {**texts, "seed": str(seed)}
                    placeholders = {key: key for key in paths if key}
                    try:
                        settings = maker.settings({**given, **placeholders})
                        words = maker.words(given)
                    except InputError as problem:
                        begin = table.get("options") or table.get("generate") or table["convert"]
                        raise begin.error(f"{what}: {problem}") from None
                    stated = {**texts, **_names(read), **({} if seed is None else {"seed": str(seed)})}
                    sources_of = [one.replicate for one in paths.values() if isinstance(one, Input)]
                    which = ", ".join(filter(None, [*sources_of, "" if seed is None else f"seed {seed}"]))
                    found.append(Input(kind, name, stated, None, tuple(words), settings, paths, platform, which))
        return found

    def _sources(self, entry: Entry, what: str, known: Mapping[str, list[Input]]) -> list[Path] | list[Input]:
        text = entry.text(what)
        return known[text] if text in known else [self._path(entry, what)]


def _names(read: tuple[tuple[str, Path | Input], ...]) -> dict[str, str]:
    """Return the name of what each option reads, and what the file states of that in turn, as OPTION.NAME."""
    found: dict[str, str] = {}
    for option, one in read:
        found[option] = one.name
        if isinstance(one, Input):
            found |= {f"{option}.{key}": text for key, text in one.stated.items()}
    return found


def chosen(entry: Entry, known: Mapping[str, list[Input]], what: str) -> list[Input]:
    """Return the inputs that a name or a list of names stands for.

    Raises:
        InputError: there is none of a name.
    """
    found = []
    for one in entry.each():
        name = one.text(what)
        if name not in known:
            raise one.error(f"no {what} is called {name!r}: {did_you_mean(name, known)}")
        found.extend(known[name])
    return found
