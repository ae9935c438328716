"""How a placement, or several shapes together, are found by name."""

from __future__ import annotations

from batdispatch.core.errors import InputError
from batdispatch.core.line import registry
from batdispatch.core.line.options import parse_named
from batdispatch.parts.placement.base import GROUP, Placement


def make_placement(text: str) -> Placement:
    """Build a placement from its name, with options in brackets if any: ``best-fit``, ``contiguous[wrap=true]``.

    Several shapes stand with a plus between them: ``convex[fallback=3600]+local``.

    Raises:
        InputError: there is none of that name, an option is wrong, or what is put together are no different shapes.
    """
    names = split_shapes(text)
    placements = [registry.make(GROUP, name, Placement, "placement") for name in names]
    if len(placements) == 1:
        return placements[0]
    other = next((name for name, one in zip(names, placements, strict=True) if not one.is_shape), None)
    if other is not None:
        raise InputError(f"placement {text!r}: {other} is no shape, and only shapes go together")
    if len({type(shape) for shape in placements}) < len(placements):
        raise InputError(f"placement {text!r}: a shape is named twice")
    return placements[0].join(placements[1:])


def split_shapes(text: str) -> list[str]:
    """Split the name of a placement at each plus that stands in no brackets; a name of a file is left whole."""
    parts, depth = [""], 0
    for mark in text:
        depth += (mark == "[") - (mark == "]")
        if mark == "+" and depth == 0:
            parts.append("")
        else:
            parts[-1] += mark
    return parts if all(":" not in part.partition("[")[0] for part in parts) else [text]


def names_of(text: str) -> list[str]:
    """Return the names in the name of a placement, without options: ``["convex", "local"]``.

    Raises:
        InputError: it is malformed.
    """
    return [parse_named(part)[0] for part in split_shapes(text)]
