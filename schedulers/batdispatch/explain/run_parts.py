"""Which placement and which prediction a run had, as its result.json says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from batdispatch.core.errors import InputError
from batdispatch.core.line import registry
from batdispatch.core.line.options import parse_named
from batdispatch.parts.placement import GROUP, make_placement
from batdispatch.parts.placement.factory import names_of
from batdispatch.parts.prediction import GROUP as PREDICTIONS
from batdispatch.parts.prediction import Predictions
from batdispatch.results.runs import Result

#: Most brackets inside each other that are looked into.
_DEEPEST = 16


def placement_of(result: Result) -> str:
    """Return a run's placement with its options if it may find no place although there is room, or an empty text.

    The option is looked for among the run's options, then inside the brackets of those that have any, then in those of
    the dispatcher's name. Placements that no package announces are left out: their files would be run.
    """
    text = _option(result, "placement")
    try:
        if not text or not set(names_of(text)) <= set(registry.names(GROUP)):
            return ""
        return "" if make_placement(text).complete else text
    except InputError:
        # Of another version, or altered: there is nothing to ask.
        return ""


def predictions_of(result: Result) -> Predictions | None:
    """Return what makes a run's predictions again, or None if it took walltimes as they were.

    The option is looked for as that of `placement_of`; predictions that no package announces are left out, too.
    """
    name, default = _option(result, "prediction"), _option(result, "default_walltime")
    try:
        if not name or parse_named(name)[0] not in registry.names(PREDICTIONS) or ":" in name:
            return None
        found = Predictions(name, float(default) if default else math.inf)
    except (InputError, ValueError):
        # Of another version, or altered.
        return None
    return None if found.exact_requests else found


def _option(result: Result, option: str) -> str:
    return _named(result.options, option, _DEEPEST) or _inside(result.dispatcher, option, _DEEPEST)


def _named(options: Mapping[str, Any], option: str, deeper: int) -> str:
    found = options.get(option)
    if isinstance(found, str | float | int):
        return str(found)
    texts = (value for value in options.values() if isinstance(value, str))
    return next(filter(None, (_inside(text, option, deeper) for text in texts)), "")


def _inside(text: str, option: str, deeper: int) -> str:
    """Return the option that stands in the brackets of a text such as ``easy[placement=contiguous]``, or ''."""
    if "[" not in text or not deeper:
        return ""
    try:
        return _named(parse_named(text)[1], option, deeper - 1)
    except InputError:
        return ""
