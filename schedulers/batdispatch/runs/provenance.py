"""All that decides what comes out of a run, and whether a folder holds it already.

Code of this package has one digest. Nothing tells whether somebody else's code has changed, with all the code that it
uses in turn: `others_names` finds it in what names a dispatcher, and `code_of_others` has a digest of what can be read.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform as python_platform
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import msgspec

import batdispatch
from batdispatch.core.errors import InputError
from batdispatch.core.line import registry
from batdispatch.core.line.registry import announcements
from batdispatch.inputs.files import file_digest
from batdispatch.inputs.named_files import place_of
from batdispatch.links.foreign import is_foreign, sources_of
from batdispatch.results.origins import OPTION
from batdispatch.results.run_files import RESULT
from batdispatch.results.runs import read_result
from batdispatch.runs.engines import libraries
from batdispatch.runs.spec import RunSpec

#: Packages whose version may change a schedule.
_PACKAGES = ("numpy", "ortools", "procset", "scipy")
#: Entry points of dispatchers and of the parts that they are made of begin so.
_GROUPS = "batdispatch."
#: What may name a class in a dispatcher's text: a registered name, module:Class, or file.py:Class.
_NAME = re.compile(r"[^\s\[\]=,]+")
_CLASS = re.compile(r":[A-Za-z_]\w*$")
#: The value of an option in a dispatcher's text.
_VALUE = re.compile(r"=([^\[\]=,]+)")


def made_from(settings: RunSpec, **inputs: str | None) -> dict[str, Any]:
    """Return all that decides what comes out of a run: equal answers mean equal schedules.

    Args:
        settings: of the run; every field counts, so that none can be forgotten.
        inputs: SHA-256 of each input file, as it is on disk; None: the run has no such file.
    """
    facts = {
        "settings": settings,
        "sha256": {name: digest for name, digest in inputs.items() if digest is not None}
        | _option_files(settings.dispatcher, settings.options),
        **environment(),
    }
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(facts))
    return found


def _option_files(dispatcher: str, options: Mapping[str, Any]) -> dict[str, str]:
    """Return the SHA-256 of each file that an option names, such as a series of prices, by the option's text."""
    texts = [str(value) for value in options.values()]
    values = [*texts, *(value for text in (dispatcher, *texts) for value in _VALUE.findall(text))]
    files = {value: path for value in values if (path := _file_of(value.strip())) is not None}
    return {f"{OPTION}{value.strip()}": file_digest(path) for value, path in files.items()}


def _file_of(text: str) -> Path | None:
    """Return the file that an option's text `FILE` or `FILE:COLUMN` names; None: it names none, or somebody's code."""
    names = (text, text.rpartition(":")[0])
    places = (place_of(name) for name in names if not name.endswith(".py"))
    # Path.is_file raises an error where a text is too long for a name.
    return next((Path(place) for place in places if os.path.isfile(place)), None)  # noqa: PTH113


#: What `environment` tells.
ENVIRONMENT = ("code", "batdispatch", "python", "packages", "simgrid")


def environment() -> dict[str, Any]:
    """Return what decides over a run beside its settings and inputs: code and versions."""
    return {
        "code": _code(),
        "batdispatch": batdispatch.__version__,
        "python": python_platform.python_version(),
        "packages": {name: known for name in _PACKAGES if (known := _version(name)) is not None},
        **libraries(),
    }


def is_whole(folder: Path, expected: dict[str, Any], *, elsewhere: Collection[str] = ()) -> bool:
    """Return whether a folder holds a whole run, with all its files as they were written, that was made from this.

    Args:
        folder: of the run.
        expected: what `made_from` says.
        elsewhere: settings that may differ: paths of files whose digests are compared.
    """
    if not (folder / RESULT).is_file():
        return False
    try:
        result = read_result(folder)
    except (InputError, OSError):
        return False
    noted = result.files or {}
    same = _without(result.made_from, elsewhere) == _without(expected, elsewhere)
    return same and bool(noted) and all((folder / name).is_file() for name in noted)


def _without(facts: dict[str, Any], settings: Collection[str]) -> dict[str, Any]:
    kept = {key: value for key, value in facts.get("settings", {}).items() if key not in settings}
    return {**facts, "settings": kept}


def others_names(*texts: str) -> list[str]:
    """Return the names of classes that are not this package's own, in the texts of a dispatcher and its options."""
    names = [name for text in texts for name in _NAME.findall(text)]
    strange = {
        point.name
        for point in registry.announcements()
        if point.group.startswith(_GROUPS) and not point.value.startswith(f"{batdispatch.__name__}.")
    }
    return [name for name in names if name in strange or _names_class(name) or is_foreign(name)]


def _names_class(name: str) -> bool:
    return bool(_CLASS.search(name)) and _file_of(name) is None


def digest_of(path: str | None) -> str | None:
    """Return the SHA-256 of an input file as it is on disk; None for none, and for a pipe, which can be read once.

    Raises:
        InputError: it cannot be read.
    """
    return file_digest(Path(path)) if path is not None and Path(path).is_file() else None


@cache
def _code() -> str:
    """Return a digest of this package's source: between releases its version says too little."""
    root = str(Path(batdispatch.__file__).parent)
    found = hashlib.sha256()
    # Path and its rglob take seven times as long, in every run.
    for folder, inner, names in os.walk(root):
        if folder == root:
            inner.remove("cli")
        inner.sort()
        for name in sorted(names):
            if name.endswith(".py"):
                path = f"{folder}{os.sep}{name}"
                with open(path, "rb", buffering=0) as file:  # noqa: PTH123
                    found.update(f"{path[len(root) + 1 :]}\0".encode() + file.read())
    return found.hexdigest()


@cache
def _version(package: str) -> str | None:
    try:
        # The whole of a description would be taken apart for a line of it.
        found = re.search(r"^Version: *(.+)$", distribution(package).read_text("METADATA") or "", re.MULTILINE)
        return found and found[1].strip()
    except PackageNotFoundError:
        return None


def code_of_others(*texts: str, here: Path) -> dict[str, str]:
    """Return name -> digest of the code of each class that is not this package's own.

    The digest covers the author's file, or the whole package that the class is in, and no code that this uses in turn.

    Args:
        texts: a dispatcher with its options.
        here: where paths of files begin.
    """
    return {name: _digest(name, here) for name in others_names(*texts)}


@cache
def _digest(name: str, here: Path) -> str:
    if is_foreign(name):
        return _of_files(sources_of(name, here))
    module = name.rpartition(":")[0]
    if not module:
        # A registered name; the same one may be of several kinds.
        values = sorted({point.value for point in announcements() if point.name == name})
        return "+".join(_digest(value, here) for value in values)
    if module.endswith(".py"):
        return _of_files([here / module])
    found = importlib.util.find_spec(module.partition(".")[0])
    if found is None:
        return ""
    if found.submodule_search_locations:
        return _of_files(sorted(_sources(list(found.submodule_search_locations))))
    return _of_files([Path(found.origin)] if found.origin else [])


def _sources(folders: list[str]) -> Iterator[Path]:
    for folder in folders:
        yield from Path(folder).rglob("*.py")


def _of_files(paths: list[Path]) -> str:
    found = hashlib.sha256()
    for path in paths:
        content = path.read_bytes() if path.is_file() else b""
        found.update(f"{path.name}\0{len(content)}\0".encode() + content)
    return found.hexdigest()
