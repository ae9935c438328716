"""Which placement a run had, on which machine, as its result.json says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from batdispatch.core import registry
from batdispatch.core.errors import InputError
from batdispatch.core.machine import Machine
from batdispatch.core.options import parse_named
from batdispatch.inputs.platforms import read_platform
from batdispatch.parts.placement import GROUP, Placement, make_placement
from batdispatch.parts.placement.making import names_of
from batdispatch.results.runs import Result

#: The option that names a placement, at whatever depth.
OPTION = "placement"
#: Most brackets inside each other that are looked into.
_DEEPEST = 16


def placement_of(result: Result) -> str:
    """Return a run's placement with its options if it may find no place although there is room, or an empty text.

    The option is looked for among the run's options, then inside the brackets of those that have any, then in those of
    the dispatcher's name. Placements that no package announces are left out: their files would be run.
    """
    text = _named(result.options, _DEEPEST) or _inside(result.dispatcher, _DEEPEST)
    try:
        if not text or not set(names_of(text)) <= set(registry.names(GROUP)):
            return ""
        return "" if _complete(make_placement(text)) else text
    except InputError:
        # Of another version, or altered: there is nothing to ask.
        return ""


def machine_of(folder: Path, result: Result) -> Machine | None:
    """Return a run's machine as its platform file says, or None where the file is not there as it was.

    A recording tells neither coordinates nor routes, which some placements need.
    """
    noted = result.platform
    path = next((each for each in (Path(noted.path), folder / noted.path) if noted.path and each.is_file()), None)
    if path is None:
        return None
    try:
        platform = read_platform(path, master=noted.master, batsim=5 if result.engine.get("name") == "batsim5" else 4)
    except InputError:
        return None
    return platform.machine if platform.digest == noted.sha256 else None


def _complete(placement: Placement) -> bool:
    return placement.complete


def _named(options: Mapping[str, Any], deeper: int) -> str:
    found = options.get(OPTION)
    if isinstance(found, str):
        return found
    texts = (value for value in options.values() if isinstance(value, str))
    return next(filter(None, (_inside(text, deeper) for text in texts)), "")


def _inside(text: str, deeper: int) -> str:
    """Return the placement that stands in the brackets of a text such as ``easy[placement=contiguous]``, or ''."""
    if "[" not in text or not deeper:
        return ""
    try:
        return _named(parse_named(text)[1], deeper - 1)
    except InputError:
        return ""
