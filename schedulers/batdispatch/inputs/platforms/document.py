"""The XML of a platform file, parsed as something a stranger wrote: no entities, no network, bounded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NoReturn

from lxml import etree

from batdispatch.core.errors import InputError
from batdispatch.core.numerals import number_of
from batdispatch.inputs.files import read_all
from batdispatch.inputs.platforms import schema

#: Largest platform file, unpacked, in bytes.
MAX_BYTES = 64_000_000
#: Deepest nesting of elements; real platforms stay below ten.
MAX_DEPTH = 100

#: Declarations inside a DOCTYPE; SimGrid has no use for any, and they are how small files grow into large ones.
_DECLARATION = re.compile(rb"<!\s*(ENTITY|ATTLIST|ELEMENT|NOTATION)")


def quote(text: str) -> str:
    """Return a value as an error message quotes it: in quotes and not longer than a line."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


class Document:
    """A platform file whose elements and attributes are those of the format.

    Attributes:
        path: as given.
        digest: SHA-256 of the file as it is on disk, hexadecimal.
        root: the ``platform`` element.
        remarks: what was noticed and left alone, for people.
    """

    def __init__(self, path: Path) -> None:
        """Read and check the file.

        Raises:
            InputError: it cannot be read, is too large, is no well-formed XML, or is no SimGrid platform of version 4.
        """
        self.path = path
        self.remarks: list[str] = []
        data, self.digest = read_all(path, limit=MAX_BYTES)
        # XML wants its declaration first; SimGrid tolerates blank lines before it, and so do files in the wild.
        text = data.lstrip(b" \t\r\n")
        self._skipped_lines = data.count(b"\n", 0, len(data) - len(text))
        self.root = self._parse(text)
        self._check_version()
        self._check(self.root)

    def fail(self, element: etree._Element | None, message: str) -> NoReturn:
        """Raise the InputError for a place in the file."""
        raise InputError(message, source=str(self.path), place=self.place(element))

    def place(self, element: etree._Element | None) -> str:
        """Return where an element stands: its line in the file."""
        line = None if element is None else element.sourceline
        return f"line {line + self._skipped_lines}" if isinstance(line, int) else ""

    def remark(self, element: etree._Element, text: str) -> None:
        """Note something that is left alone."""
        self.remarks.append(f"{self.place(element)}: {text}")

    def _parse(self, text: bytes) -> etree._Element:
        if not text:
            raise InputError("is empty, expected a SimGrid platform (XML)", source=str(self.path))
        if not text.startswith((b"<", b"\xef\xbb\xbf<")):
            # Also keeps out UTF-16, in which the search below would see nothing.
            raise InputError(
                f"line {self._skipped_lines + 1}: is no XML in an ASCII-compatible encoding, expected <?xml ...",
                source=str(self.path),
            )
        declaration = _DECLARATION.search(text)
        if declaration is not None:
            line = text.count(b"\n", 0, declaration.start()) + 1 + self._skipped_lines
            raise InputError(
                f"declares <!{declaration[1].decode()}>, which a platform has no use for and which is not read",
                source=str(self.path),
                place=f"line {line}",
            )
        parser = etree.XMLParser(
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            dtd_validation=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        try:
            root = etree.fromstring(text, parser)
        except etree.XMLSyntaxError as problem:
            # The parser repeats the place at the end, and counts from the first line that is not blank.
            reason = re.sub(r", line \d+, column \d+$", "", " ".join(str(problem.msg).split()))
            reason = re.sub(r"\bline (\d+)", lambda match: f"line {int(match[1]) + self._skipped_lines}", reason)
            raise InputError(
                f"is no well-formed XML: {reason}",
                source=str(self.path),
                place=f"line {(problem.lineno or 1) + self._skipped_lines}",
            ) from None
        except (ValueError, LookupError) as problem:
            raise InputError(f"is no readable XML: {' '.join(str(problem).split())}", source=str(self.path)) from None
        if b"<!DOCTYPE" not in text[:100_000]:
            self.remark(root, "there is no DOCTYPE; SimGrid refuses such a file")
        return root

    def _check_version(self) -> None:
        root = self.root
        if root.tag != "platform":
            tag = root.tag if isinstance(root.tag, str) else "?"
            self.fail(root, f'the outermost element is <{tag[:40]}>, expected <platform version="4.1">')
        text = root.get("version", "0")
        version = number_of(text)
        if not 0 <= version < 1e6:
            self.fail(root, f"platform version {quote(text)} is no number, expected 4 or 4.1")
        if version < 4:
            self.fail(
                root,
                f"platform version {quote(text)} is too old, expected 4 or 4.1 (before 4, speeds were called power "
                "and units differed); SimGrid's simgrid_update_xml converts such files",
            )
        if version > 4.1:
            self.fail(root, f"platform version {quote(text)} is newer than 4.1, the newest one known")

    def _check(self, root: etree._Element) -> None:
        """Check every element's name, attributes and content; without recursion, so depth does not matter."""
        pending = [(root, 1)]
        while pending:
            element, depth = pending.pop()
            if depth > MAX_DEPTH:
                self.fail(element, f"elements are nested more than {MAX_DEPTH} deep")
            allowed = schema.ELEMENTS[element.tag]
            self._check_attributes(element, allowed)
            if not allowed.text and (element.text or "").strip():
                self.fail(element, f"<{element.tag}> holds the text {quote((element.text or '').strip())}")
            for child in element:
                tag = child.tag
                if not isinstance(tag, str):
                    self.fail(element, f"<{element.tag}> holds an entity reference, which is not read")
                if tag in schema.REMOVED_ELEMENTS:
                    self.fail(child, f"<{tag}> was {schema.REMOVED_ELEMENTS[tag]}")
                if tag not in allowed.children:
                    what = "is not allowed in" if tag in schema.ELEMENTS else "is no SimGrid element; found in"
                    self.fail(child, f"<{tag[:40]}> {what} <{element.tag}>")
                if (child.tail or "").strip():
                    self.fail(child, f"<{element.tag}> holds the text {quote((child.tail or '').strip())}")
                if tag in schema.IGNORED_ELEMENTS:
                    self.remark(child, f"<{tag}> is left to SimGrid, it changes nothing here")
                pending.append((child, depth + 1))

    def _check_attributes(self, element: etree._Element, allowed: schema.Element) -> None:
        tag = element.tag
        for name, value in element.attrib.items():
            if name not in allowed.required and name not in allowed.optional:
                known = ", ".join(sorted(allowed.required | allowed.optional))
                self.fail(element, f"<{tag}> has the attribute {quote(str(name))}, expected {known}")
            choices = schema.CHOICES.get((tag, str(name)))
            if choices is not None and value not in choices:
                self.fail(
                    element, f"<{tag}> has {name} {quote(str(value))}, expected one of {', '.join(sorted(choices))}"
                )
        missing = sorted(allowed.required - {str(name) for name in element.attrib})
        if missing:
            name = f" {quote(element.get('id', ''))}" if "id" in element.attrib else ""
            self.fail(element, f"<{tag}>{name} lacks the attribute {', '.join(missing)}")

    def properties(self, element: etree._Element) -> Mapping[str, str]:
        """Return the ``prop`` children of an element.

        Raises:
            InputError: one is given twice.
        """
        found: dict[str, str] = {}
        for prop in children(element, "prop"):
            name = str(prop.attrib["id"])
            if name in found:
                self.fail(prop, f"property {quote(name)} is given twice, first {quote(found[name])}")
            found[name] = str(prop.attrib["value"])
        return found


def children(element: etree._Element, *tags: str) -> Iterator[etree._Element]:
    """Yield the children of these names in the order of the file."""
    for child in element:
        if child.tag in tags:
            yield child
