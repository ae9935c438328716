"""The kinds of classes that packages announce, and how to get at them. This file imports none of the classes."""

from __future__ import annotations

import ast
import importlib
import inspect
from functools import cache
from pathlib import Path
from typing import Any

import batdispatch
from batdispatch.core.abilities import Kind, insert_behind, own_abilities
from batdispatch.core.line import registry

_BASE_KINDS = (
    Kind("dispatchers", "batdispatch.core.line.dispatcher:Dispatcher", "dispatcher"),
    Kind("orderings", "batdispatch.parts.ordering:Ordering", "ordering"),
    Kind("placements", "batdispatch.parts.placement:Placement", "placement"),
    Kind("predictions", "batdispatch.parts.prediction:Prediction", "prediction"),
)


def _all_kinds() -> dict[str, Kind]:
    """Return the kinds by name, those of abilities where these say."""
    found = {kind.name: kind for kind in _BASE_KINDS}
    order = list(found)
    for ability in own_abilities():
        for kind in ability.kinds:
            found[kind.name] = kind
            insert_behind(order, kind.name, kind.after)
    return {name: found[name] for name in order}


#: The kinds of classes by the end of the entry-point group ``batdispatch.KIND``, in which they are announced.
KINDS = _all_kinds()
#: Option of a dispatcher -> the kind whose names it takes.
OPTIONS = {kind.option or kind.single: kind for kind in KINDS.values()}


def singular(kind: str) -> str:
    """Return what one of a kind is called."""
    return KINDS[kind].single


def group_of(kind: str) -> str:
    """Return the entry-point group of a kind."""
    return f"batdispatch.{kind}"


def names(kind: str) -> list[str]:
    """Return what is announced of a kind, sorted."""
    return registry.names(group_of(kind))


def find(kind: str, name: str) -> type[Any]:
    """Import and return the class that is announced by a name.

    Raises:
        InputError: as `registry.find`.
    """
    module, _, base = KINDS[kind].base.partition(":")
    return registry.find(group_of(kind), name, getattr(importlib.import_module(module), base), singular(kind))


def summaries(kind: str) -> dict[str, str]:
    """Return the first line of the documentation of each class that is announced, by name, sorted.

    For a class of this package it is read from the source, which takes a tenth of the time of the imports.

    Raises:
        InputError: as `registry.find`, for a class of another package.
    """
    places: dict[str, list[str]] = {}
    for point in registry.announcements().select(group=group_of(kind)):
        places.setdefault(point.name, []).append(point.value)
    found = {}
    for name in sorted(places):
        text = _written(places[name][0]) if len(set(places[name])) == 1 else None
        found[name] = inspect.cleandoc((find(kind, name).__doc__ or "") if text is None else text).partition("\n")[0]
    return found


def _written(place: str) -> str | None:
    """Return the docstring in the source of ``module:Class``; None if the class is not this package's."""
    module, _, name = place.partition(":")
    return _documented(module).get(name) if module.startswith(f"{batdispatch.__name__}.") else None


@cache
def _documented(module: str) -> dict[str, str]:
    """Return the docstring of each class in a module of this package."""
    path = Path(batdispatch.__file__).parent.joinpath(*module.split(".")[1:]).with_suffix(".py")
    if not path.is_file():
        return {}
    classes = [node for node in ast.parse(path.read_bytes()).body if isinstance(node, ast.ClassDef)]
    return {node.name: text for node in classes if (text := ast.get_docstring(node, clean=False)) is not None}
