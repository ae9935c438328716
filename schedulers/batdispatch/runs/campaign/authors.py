"""Digests of dispatchers and parts that are not this package's own, so that a cell is made anew when they change."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from batdispatch.core.line.registry import announced
from batdispatch.links.foreign import is_foreign, sources_of
from batdispatch.runs.keeping import others_names


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
        values = sorted({point.value for point in announced() if point.name == name})
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
