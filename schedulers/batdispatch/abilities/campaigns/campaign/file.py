"""A campaign's file: what it may say, and the cells that it stands for. docs/campaigns.md shows it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass, field, replace
from itertools import product, takewhile
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from batdispatch.abilities.campaigns.campaign.entries import Entry, merge, read_entries
from batdispatch.abilities.campaigns.campaign.inputs import (
    Input,
    InputReader,
    chosen,
    combinations,
    label_of,
    whole_numbers,
)
from batdispatch.core.errors import InputError
from batdispatch.core.line.dispatcher import with_option_file
from batdispatch.core.line.options import describe_type, did_you_mean, parse_named
from batdispatch.core.line.settings import settings_of
from batdispatch.dispatchers.simple import expand, is_set
from batdispatch.links.foreign import create_any
from batdispatch.links.nix import shell_of
from batdispatch.runs.spec import RunSpec

#: The most cells that a file may stand for.
MAX_CELLS = 200_000
#: A campaign has a folder of this name, beside those of `plan`.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
RESERVED_NAMES = ("cells", "inputs")
#: Settings of a run that the file says by other keys.
_ELSEWHERE = ("platform", "workload", "dispatcher", "options", "seed")
#: What ``settings`` may say, as the options of ``batdispatch run``.
RUN_SETTINGS = {one.option.removeprefix("--"): one for one in settings_of(RunSpec) if one.name not in _ELSEWHERE}
#: What is done with runs once they are made. It changes nothing of what comes out, so it has no column in the table.
AFTERWARDS = ("audit", "evalys")
#: What ``settings`` may say, and each part too.
SETTINGS = (*RUN_SETTINGS, *AFTERWARDS)
_TOP = ("name", "title", "platforms", "workloads", "dispatchers", "settings", "parts", "quick")
#: What ``quick`` may say otherwise.
_QUICK = ("platforms", "workloads", "dispatchers", "settings", "parts")
_PART = ("platforms", "workloads", "dispatchers", "seeds", *SETTINGS)


T = TypeVar("T")


@dataclass(frozen=True)
class Dispatcher:
    """A row of a campaign: a dispatcher with options.

    Attributes:
        name: its entry in the file.
        stated: options that have a column: those of the table ``options``.
        dispatcher: registered name, or a class.
        options: all of them.
        told: option -> option of the workload whose value it takes; these are not yet among the others.
    """

    name: str
    stated: Mapping[str, str]
    dispatcher: str
    options: Mapping[str, str]
    told: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Its name with what the file states, for people."""
        return label_of(self.name, self.stated)


@dataclass(frozen=True)
class Cell:
    """One run of a campaign.

    Attributes:
        part: of the file.
        platform, workload: what is simulated.
        dispatcher: by which.
        stated: the settings that the file states, as texts.
        spec: the run, without its files.
        events: external events.
        audit: whether the run is audited.
        evalys: whether evalys draws it.
    """

    part: str
    platform: Input
    workload: Input
    dispatcher: Dispatcher
    stated: Mapping[str, str]
    spec: RunSpec
    events: Path | None
    audit: bool
    evalys: bool

    @property
    def label(self) -> str:
        """Its name, for people."""
        run = label_of(self.dispatcher.label, {"seed": str(self.spec.seed)} if self.spec.seed else {})
        where = [] if self.workload.platform is not None else [self.platform.label]
        return " / ".join([self.part, *where, self.workload.label, run])


@dataclass(frozen=True)
class Campaign:
    """A campaign's file, read.

    Attributes:
        path: the file.
        name: of its folder of results.
        title: what it is about; empty: not said.
        cells: in the order of the file.
        whole: whether these are those of all parts of the file.
    """

    path: Path
    name: str
    title: str
    cells: tuple[Cell, ...]
    whole: bool = True


def read_campaign(
    path: Path, *, quick: bool = False, parts: Sequence[str] | None = None, logs: Path | None = None
) -> Campaign:
    """Read a campaign's file and check all of it that can be checked before anything is made.

    If only some parts are run, what none of them uses is not read: a log, for instance, that is not here.

    Args:
        path: the file.
        quick: read the quick version that the file describes.
        parts: run only these; None: all.
        logs: folder of logs that do not stand where the file says.

    Raises:
        InputError: it is wrong; the message says in which line.
        MissingLog: a log that is needed is not there.
    """
    return _Reader(path, logs).campaign(quick, parts)


class _Reader:
    def __init__(self, path: Path, logs: Path | None) -> None:
        self.path = path
        # Absolute, so that what is read is the same for workers elsewhere.
        self.here = path.absolute().parent
        self.inputs = InputReader(self.here, None if logs is None else logs.absolute())
        self._platforms: Mapping[str, list[Input]] = {}
        self._workloads: Mapping[str, list[Input]] = {}
        self._dispatchers: Mapping[str, list[Dispatcher]] = {}

    def campaign(self, quick: bool, only: Sequence[str] | None) -> Campaign:
        root = read_entries(self.path)
        top = root.table("a campaign", _TOP)
        if quick:
            top = _quick(root, top)
        for key in ("name", "platforms", "workloads", "dispatchers"):
            if key not in top:
                raise root.error(f"a campaign has a key {key!r}, and this one has not")
        name = top["name"].text("name")
        if not _NAME.fullmatch(name) or name in RESERVED_NAMES:
            raise top["name"].error(
                f"name: found {name!r}, expected letters, digits, dots, dashes; not {' or '.join(RESERVED_NAMES)}"
            )
        workloads = dict(_named(top["workloads"], "workloads"))
        self._platforms = _Read(dict(_named(top["platforms"], "platforms")), self.inputs.platform)
        self._workloads = _Read(workloads, lambda key, entry: self._workload(key, entry, workloads))
        self._dispatchers = _Read(dict(_dispatchers(top["dispatchers"])), self._dispatcher)
        settings = top["settings"].table("settings", SETTINGS) if "settings" in top else {}
        parts = {"all": Entry(root.source, root.line, {})}
        if "parts" in top:
            parts = dict(_named(top["parts"], "parts"))
        for one in only or ():
            if one not in parts:
                raise root.error(f"no part is called {one!r}: {did_you_mean(one, parts)}")
        if only is None and not quick:
            for known in (self._platforms, self._workloads, self._dispatchers):
                # Also what no part uses is checked.
                list(known.values())
        cells: list[Cell] = []
        for key, entry in parts.items():
            if only is None or key in only:
                cells.extend(self._part(key, entry, settings, MAX_CELLS - len(cells)))
        title = top["title"].text("title") if "title" in top else ""
        return Campaign(self.path, f"{name}-quick" if quick else name, title, tuple(cells), only is None)

    def _workload(self, name: str, entry: Entry, entries: Mapping[str, Entry]) -> list[Input]:
        """Read a workload, which may be made from those above it."""
        above = dict(takewhile(lambda one: one[0] != name, entries.items()))
        return self.inputs.workload(name, entry, self._platforms, _Read(above, lambda key, _: self._workloads[key]))

    def _dispatcher(self, name: str, entry: Entry) -> list[Dispatcher]:
        what = f"dispatcher {name!r}"
        stated: list[dict[str, str]] = [{}]
        told: dict[str, str] = {}
        use = entry
        if not isinstance(entry.value, str):
            table = entry.table(what, ("use", "options"))
            if "use" not in table:
                raise entry.error(f"{what}: expected a text such as easy[ordering=sjf], or a table with use: NAME")
            use = table["use"]
            if "options" in table:
                options = table["options"].table(f"{what}: options")
                for key, one in options.items():
                    if isinstance(one.value, dict):
                        like = one.table(f"{what}: option {key!r}", ("workload",))
                        if not like:
                            raise one.error(f"{what}: option {key!r}: expected a text, or workload: OPTION")
                        told[key] = like["workload"].text(f"{what}: option {key!r}")
                rest = {key: one for key, one in options.items() if key not in told}
                stated = combinations(rest, f"{what}: option")
        try:
            dispatcher, given = with_option_file(*parse_named(use.text(what)))
            found = []
            for more in stated:
                if twice := [key for key in (*more, *told) if key in given]:
                    raise InputError(f"{twice[0]!r} stands in brackets and in options")
                found.append(self._created(Dispatcher(name, more, dispatcher, {**given, **more}, told)))
        except InputError as problem:
            raise entry.error(f"{what}: {problem}") from None
        return found

    def _created(self, one: Dispatcher) -> Dispatcher:
        """Return a dispatcher whose options are right, as far as they are known."""
        # A class may be named by its file.
        with chdir(self.here):
            create_any(one.dispatcher, one.options)
        return one

    def _for(self, one: Dispatcher, workload: Input, entry: Entry) -> Dispatcher:
        """Return a dispatcher with the options that a workload tells."""
        if not one.told:
            return one
        more = {}
        for key, option in one.told.items():
            if option not in workload.stated:
                known = did_you_mean(option, workload.stated)
                raise entry.error(f"dispatcher {one.name!r}: workload {workload.label!r} states no {option!r}: {known}")
            more[key] = workload.stated[option]
        try:
            return self._created(replace(one, stated={**one.stated, **more}, options={**one.options, **more}, told={}))
        except InputError as problem:
            raise entry.error(f"dispatcher {one.name!r} on workload {workload.label!r}: {problem}") from None

    def _part(self, name: str, entry: Entry, common: Mapping[str, Entry], most: int) -> Iterator[Cell]:
        """Yield the cells of a part, at most so many."""
        what = f"part {name!r}"
        table = entry.table(what, _PART)
        platforms = self._pick(table, "platforms", self._platforms)
        workloads = self._pick(table, "workloads", self._workloads)
        seeds = whole_numbers(table["seeds"], f"{what}: seeds") if "seeds" in table else [0]
        names = None
        if "dispatchers" in table:
            listed = table["dispatchers"]
            listed = Entry(listed.source, listed.line, list(_expanded(listed, "dispatcher", self._dispatchers)))
            names = [one.text("dispatcher") for one in listed.each()]
            chosen(listed, {key: [] for key in self._dispatchers}, "dispatcher")
        dispatchers = [one for key in (names or self._dispatchers) for one in self._dispatchers[key]]
        settings = {**common, **{key: value for key, value in table.items() if key in SETTINGS}}
        wanted = {key: settings.pop(key) for key in AFTERWARDS if key in settings}
        audit, evalys = (key in wanted and _value(wanted[key], key, wanted[key].text(key), bool) for key in AFTERWARDS)
        ways = [(stated, *self._settings(stated, settings)) for stated in combinations(settings, "setting")]
        pairs = [
            (platform, workload)
            for platform in platforms
            for workload in workloads
            if workload.platform is None or workload.platform is platform
        ]
        if not pairs:
            raise entry.error(f"{what}: none of its workloads is for one of its platforms")
        if len(pairs) * len(ways) * len(dispatchers) * len(seeds) > most:
            raise entry.error(f"{what}: with it, the campaign has more than {MAX_CELLS:,} runs")
        for (platform, workload), (stated, values, events), row, seed in product(pairs, ways, dispatchers, seeds):
            dispatcher = self._for(row, workload, entry)
            spec = RunSpec(
                platform="",
                workload="",
                dispatcher=dispatcher.dispatcher,
                options=dict(dispatcher.options),
                seed=seed,
                **values,
            )
            yield Cell(name, platform, workload, dispatcher, stated, spec, events, audit, evalys)

    @staticmethod
    def _pick(table: Mapping[str, Entry], key: str, known: Mapping[str, list[Input]]) -> list[Input]:
        if key in table:
            return chosen(table[key], known, key.removesuffix("s"))
        return [one for inputs in known.values() for one in inputs]

    def _settings(self, stated: Mapping[str, str], entries: Mapping[str, Entry]) -> tuple[dict[str, Any], Path | None]:
        """Return fields of a `RunSpec`, and the file of external events."""
        # What compiled kernels may simulate, and what thousands of runs can keep, has no recording.
        values: dict[str, Any] = {"record": False}
        events = None
        for key, text in stated.items():
            entry = entries[key]
            if key == "events":
                events = self.here / text
                if not events.is_file():
                    raise entry.error(f"events: there is no file {events}")
            else:
                setting = RUN_SETTINGS[key]
                values[setting.name] = _value(entry, key, text, setting.kind)
        if "nix" in values:
            self._check_shell(values, entries["nix"])
        return values, events

    def _check_shell(self, values: dict[str, Any], entry: Entry) -> None:
        """Find the shell that a campaign names; its name says which Batsim it holds, if nothing else does."""
        try:
            values["nix"] = shell_of(values["nix"], self.here, "nix")
        except InputError as problem:
            raise entry.error(str(problem)) from None
        name = values["nix"].rpartition("#")[2]
        if "engine" not in values:
            if name not in ("batsim4", "batsim5"):
                raise entry.error(f"nix: shell {name!r} does not say which Batsim it holds: set engine as well")
            values["engine"] = name
        elif values["engine"] == "embedded" or name in {"batsim4", "batsim5"} - {values["engine"]}:
            raise entry.error(f"nix: shell {name!r} is not for engine {values['engine']}")


class _Read(Mapping[str, list[T]]):
    """What the entries of a table stand for, by name. Each is read when it is first asked for."""

    def __init__(self, entries: Mapping[str, Entry], read: Callable[[str, Entry], list[T]]) -> None:
        self._entries, self._read = entries, read
        self._found: dict[str, list[T]] = {}

    def __getitem__(self, name: str) -> list[T]:
        if name not in self._found:
            self._found[name] = self._read(name, self._entries[name])
        return self._found[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def _quick(root: Entry, top: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return the file's tables as its quick version has them.

    Raises:
        InputError: there is none, or it names a part that there is not.
    """
    if "quick" not in top:
        raise root.error("has no quick version: expected a key 'quick' that says what differs in it")
    differs = dict(top["quick"].table("quick", _QUICK))
    changed = dict(top)
    if "parts" in differs:
        entry = differs.pop("parts")
        parts = top["parts"].table("parts") if "parts" in top else {}
        # A list of names chooses parts as they are.
        chosen = (
            entry.value
            if isinstance(entry.value, dict)
            else {one.text("quick: part"): Entry(one.source, one.line, {}) for one in entry.each()}
        )
        for name, one in chosen.items():
            if name not in parts:
                raise one.error(f"quick: no part is called {name!r}: {did_you_mean(name, parts)}")
        kept = {name: merge(parts[name], one) for name, one in chosen.items()}
        changed["parts"] = Entry(entry.source, entry.line, kept)
    for key, entry in differs.items():
        changed[key] = merge(top[key], entry) if key in top else entry
    return changed


def _value(entry: Entry, key: str, text: str, kind: Any) -> Any:
    """Read a setting."""
    if key == "decision-time" and text in ("none", "measured"):
        return 0.0 if text == "none" else None
    try:
        value = msgspec.convert(text, kind, strict=False)
    except msgspec.ValidationError:
        value = math.nan
    if value is None or (isinstance(value, float) and not 0 <= value < math.inf):
        expected = "none, measured or seconds" if key == "decision-time" else describe_type(kind)
        raise entry.error(f"{key}: found {text!r}, expected {expected}")
    return value


def _named(entry: Entry, what: str) -> Iterator[tuple[str, Entry]]:
    table = entry.table(what)
    if not table:
        raise entry.error(f"{what}: there are none")
    for name, one in table.items():
        # Names stand in tables, messages and paths.
        if not name.strip() or not name.isprintable() or "/" in name or name in (".", "..") or len(name) > 100:
            raise one.error(f"{what}: {name[:40]!r} is no name: expected 1 to 100 printable characters, and no /")
        yield name, one


def _expanded(entry: Entry, what: str, own: Container[str] = ()) -> Iterator[Entry]:
    """Yield the dispatchers of a list; an entry such as `simple` stands for those that are not there without it.

    Args:
        entry: the list.
        what: each is, for messages.
        own: names that stand for nothing else.
    """
    stated = [(one, one.text(what)) for one in entry.each()]
    there = {name for _, name in stated}
    for one, name in stated:
        if name in own or not is_set(name):
            yield one
            continue
        for text in expand(name):
            if text not in there:
                there.add(text)
                yield Entry(one.source, one.line, text)


def _dispatchers(entry: Entry) -> Iterator[tuple[str, Entry]]:
    """Yield dispatchers by name: of a list, each text is its own name."""
    if not isinstance(entry.value, list):
        yield from _named(entry, "dispatchers")
        return
    seen = set()
    for one in _expanded(entry, "a dispatcher of a list"):
        name = one.text("a dispatcher of a list")
        if name in seen:
            raise one.error(f"dispatchers: {name!r} stands twice")
        seen.add(name)
        yield name, one
    if not seen:
        raise entry.error("dispatchers: there are none")
