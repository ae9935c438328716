"""Settings of calls from Python: fields of the structs that say what commands take, and their values."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from batdispatch.core.errors import InputError
from batdispatch.core.line.options import describe_type, did_you_mean
from batdispatch.core.line.settings import Setting, default_text, settings_of

F = TypeVar("F", bound=Callable[..., Any])
#: Fields of structs by name.
Fields = Mapping[str, Setting]


def fields_of(struct: type[msgspec.Struct], *, only: Collection[str] = (), leave: Collection[str] = ()) -> Fields:
    """Return the fields of a struct that a call takes: all but those that it leaves, or only some."""
    return {one.name: one for one in settings_of(struct) if one.name not in leave and (not only or one.name in only)}


def takes(*kinds: Fields) -> Callable[[F], F]:
    """Say in a function's docstring what each setting does that it takes by keyword."""

    def add(function: F) -> F:
        lines = [f"    {name}: {one.text}{_default(one)}" for kind in kinds for name, one in kind.items()]
        function.__doc__ = "\n".join([inspect.cleandoc(function.__doc__ or ""), "", "Settings:", *lines])
        return function

    return add


def _default(setting: Setting) -> str:
    return f" The default is {setting.default!r}." if default_text(setting) else ""


def divide(settings: Mapping[str, Any], *kinds: Fields) -> list[dict[str, Any]]:
    """Return which settings are of each kind, checked; those that are not given are left out.

    Raises:
        InputError: there is no such setting, or its value is of another type or out of its bounds.
    """
    known = [name for kind in kinds for name in kind]
    for name in settings:
        if name not in known:
            raise InputError(f"there is no setting {name!r}: {did_you_mean(name, known)}")
    return [{name: _converted(kind[name], settings[name]) for name in settings if name in kind} for kind in kinds]


def texts_of(options: Mapping[str, Any]) -> dict[str, str]:
    """Return options of a dispatcher as people write them."""
    return {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in options.items()}


def _converted(setting: Setting, value: Any) -> Any:
    given = str(value) if isinstance(value, PathLike) else value
    if isinstance(value, str) and setting.name == "select":
        given = [value]
    try:
        converted = msgspec.convert(given, setting.kind, dec_hook=_path)
    except msgspec.ValidationError:
        converted = math.nan
    if isinstance(converted, float) and not 0 <= converted < math.inf:
        is_measured = setting.name == "decision_time"
        expected = "seconds, or None for the measured time" if is_measured else describe_type(setting.kind)
        raise InputError(f"found {value!r}, expected {expected}", source=f"option {setting.option}")
    return converted


def _path(kind: type, value: Any) -> Any:
    """Return the path that a text names: what `msgspec` does not know itself."""
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise NotImplementedError
