"""Finds dispatchers, orderings and placements by the name under which a package announces them (entry points)."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeVar

from batdispatch.core.errors import InputError
from batdispatch.core.options import did_you_mean

T = TypeVar("T")


def names(group: str) -> list[str]:
    """Return the names registered in an entry-point group, sorted."""
    return sorted({point.name for point in entry_points(group=group)})


def find(group: str, name: str, base: Callable[..., T], kind: str) -> Callable[..., T]:
    """Return the class registered as `name`, or the one at ``module:Class`` or ``path/to/file.py:Class``.

    Raises:
        InputError: there is none, the name is registered twice, or the class found does not derive from `base`.
    """
    if ":" in name:
        found = _load(name, kind)
    else:
        points = [point for point in entry_points(group=group) if point.name == name]
        if not points:
            raise InputError(f"no {kind} is called {name!r}: {did_you_mean(name, names(group))}")
        if len({point.value for point in points}) > 1:
            raise InputError(f"{kind} {name!r} is registered twice: {', '.join(point.value for point in points)}")
        found = points[0].load()
    assert isinstance(base, type)
    if not (isinstance(found, type) and issubclass(found, base)):
        raise InputError(f"{name!r} is not a {base.__name__} class")
    return found


def _load(reference: str, kind: str) -> Any:
    """Import a class that is not registered: an author's own file, run with the author's rights."""
    place, _, attribute = reference.rpartition(":")
    try:
        if place.endswith(".py"):
            spec = importlib.util.spec_from_file_location(f"batdispatch_user_{Path(place).stem}", place)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(place)
    except Exception as problem:
        raise InputError(f"{kind} {reference!r} cannot be loaded: {type(problem).__name__}: {problem}") from None
    if not hasattr(module, attribute):
        raise InputError(f"{kind} {reference!r}: {place} has no {attribute!r}")
    return getattr(module, attribute)
