"""Finds dispatchers, orderings and placements by the name under which a package announces them (entry points)."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import zlib
from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoints, entry_points
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar, cast

from batdispatch.core import extras
from batdispatch.core.errors import BatdispatchError, InputError
from batdispatch.core.line.blame import blame, file_of
from batdispatch.core.line.options import Part, did_you_mean, parse_options, read_named, refuse_values

T = TypeVar("T")
P = TypeVar("P", bound=Part)


@cache
def announcements() -> EntryPoints:
    """Return what the installed packages announce, in every group; they are gone through once, which takes a while."""
    found = entry_points()
    # Python 3.11 returns a dict of groups, and warns of its own methods; to select each goes through all, once a group.
    if not isinstance(found, dict):
        return found
    return EntryPoints(chain.from_iterable(dict.values(cast("dict[str, Any]", found))))


def names(group: str) -> list[str]:
    """Return the names registered in an entry-point group, sorted."""
    return sorted({point.name for point in announcements().select(group=group)})


def name_of(group: str, kind: type) -> str:
    """Return the name that a class is registered by, or its own name if it is not."""
    value = f"{kind.__module__}:{kind.__qualname__}"
    return next((point.name for point in announcements().select(group=group) if point.value == value), kind.__name__)


def load(group: str, name: str, kind: str) -> Any:
    """Import and return what is registered as `name`, None if nothing is.

    Raises:
        InputError: the name is registered twice, or it cannot be imported.
    """
    points = [point for point in announcements() if point.name == name and point.group == group]
    if not points:
        return None
    if len({point.value for point in points}) > 1:
        raise InputError(f"{kind} {name!r} is registered twice: {', '.join(point.value for point in points)}")
    try:
        return points[0].load()
    except (Exception, SystemExit) as problem:
        raise InputError(f"{kind} {name!r} cannot be loaded: {blame(problem)}") from problem


def make(group: str, text: str, base: Callable[..., P], kind: str) -> P:
    """Build the part that a text such as ``contiguous[wrap=true]`` names.

    Raises:
        InputError: there is no such part, a library that it needs is missing, one of its options is wrong, or it cannot
            be set up.
    """
    name, given, values = read_named(text, kind)
    cls = find(group, name, base, kind)
    if not cls.values_option:
        refuse_values(values, text, kind)
    elif any(values):
        if cls.values_option in given:
            raise InputError(f"{kind} {name}: option {cls.values_option} is given twice")
        given = {**given, cls.values_option: ",".join(values)}
    extras.check(cls.extra, f"{kind} {name}")
    return set_up(cls, f"{kind} {name}", parse_options(cls.options_type, given, f"{kind} {name}"))


def set_up(cls: type[T], what: str, *arguments: Any) -> T:
    """Return an instance of a class that may be anybody's; `what` it is, for messages.

    Raises:
        InputError: the class cannot be set up.
    """
    try:
        return cls(*arguments)
    except BatdispatchError:
        raise
    except (Exception, SystemExit) as problem:
        raise InputError(f"{what} cannot be set up: {blame(problem, file_of(cls))}") from problem


def find(group: str, name: str, base: Callable[..., T], kind: str) -> type[T]:
    """Return the class registered as `name`, or the one at ``module:Class`` or ``path/to/file.py:Class``.

    Raises:
        InputError: there is none, the name is registered twice, or the class found does not derive from `base`.
    """
    if ":" in name:
        found = _load(name, kind)
    elif name.endswith(".py"):
        raise InputError(f"{kind} {name!r} names no class, expected {name}:Class")
    else:
        found = load(group, name, kind)
        if found is None:
            raise InputError(f"no {kind} is called {name!r}: {did_you_mean(name, names(group))}")
    assert isinstance(base, type)
    if not (isinstance(found, type) and issubclass(found, base)):
        raise InputError(f"{name!r} is not a {base.__name__} class")
    missing = sorted(getattr(found, "__abstractmethods__", ()))
    if missing:
        raise InputError(f"{name!r} cannot be used as a {kind}: it does not implement {', '.join(missing)}")
    return cast("type[T]", found)


def _load(reference: str, kind: str) -> Any:
    """Import a class that is not registered: an author's own file, run with the author's rights."""
    place, _, attribute = reference.rpartition(":")
    if not place or not attribute:
        raise InputError(f"{kind} {reference!r}: expected module:Class or path/to/file.py:Class")
    file = None
    try:
        if place.endswith(".py"):
            path = Path(place).resolve()
            file = str(path)
            name = f"batdispatch_user_{path.stem}_{zlib.crc32(bytes(path)):08x}"
            spec = importlib.util.spec_from_file_location(name, path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            # Typed records look up the names of their annotations in the module they were defined in.
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(place)
    except FileNotFoundError as problem:
        if problem.filename != file:
            raise InputError(f"{kind} {reference!r} cannot be loaded: {blame(problem, file)}") from None
        raise InputError(f"{kind} {reference!r} cannot be loaded: there is no file {place}") from None
    except (Exception, SystemExit) as problem:
        raise InputError(f"{kind} {reference!r} cannot be loaded: {blame(problem, file)}") from None
    if not hasattr(module, attribute):
        raise InputError(f"{kind} {reference!r}: {place} has no {attribute!r}")
    return getattr(module, attribute)
