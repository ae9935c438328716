"""Reading single attributes of a platform's elements, with errors that name file, line, element and attribute."""

from __future__ import annotations

from lxml import etree

from batdispatch.inputs.platforms.document import Document, quote
from batdispatch.inputs.platforms.radical import explode
from batdispatch.inputs.platforms.units import Kind, quantity


def label(element: etree._Element) -> str:
    """Return how an error message calls an element: ``<host> 'n0'``."""
    return f"<{element.tag}> {quote(str(element.attrib['id']))}" if "id" in element.attrib else f"<{element.tag}>"


def read_quantities(document: Document, element: etree._Element, attribute: str, kind: Kind) -> tuple[float, ...]:
    """Read a comma-separated list of quantities, in flop/s, bytes/s or seconds."""
    values = []
    for part in str(element.attrib[attribute]).split(","):
        try:
            values.append(quantity(part, kind))
        except ValueError as problem:
            document.fail(element, f"{label(element)}: {attribute} {quote(part)} {problem}")
    return tuple(values)


def read_quantity(document: Document, element: etree._Element, attribute: str, kind: Kind) -> float:
    """Read one quantity, in flop/s, bytes/s or seconds."""
    values = read_quantities(document, element, attribute, kind)
    if len(values) > 1:
        document.fail(element, f"{label(element)}: {attribute} has {len(values)} values, expected one")
    return values[0]


def read_whole(document: Document, element: etree._Element, attribute: str, default: str, *, lowest: int) -> int:
    """Read a whole number of at least `lowest`."""
    text = str(element.get(attribute, default))
    # The format's own default of pstate is "0.0".
    digits = text.removesuffix(".0")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 9 and int(digits) >= lowest):
        document.fail(element, f"{label(element)}: {attribute} {quote(text)} is no whole number from {lowest}")
    return int(digits)


def read_names(document: Document, element: etree._Element) -> list[str]:
    """Return the host names of a cluster or cabinet: prefix, each number of the radical, suffix."""
    text = str(element.attrib["radical"])
    try:
        numbers = explode(text)
    except ValueError as problem:
        document.fail(element, f"{label(element)}: radical {quote(text)} {problem}")
    prefix, suffix = str(element.attrib["prefix"]), str(element.attrib["suffix"])
    return [f"{prefix}{number}{suffix}" for number in numbers]
