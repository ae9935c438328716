"""A YAML file as texts that know their line: nothing in it is given a type, evaluated or constructed.

YAML would read ``no`` as false, ``1e5`` as a text and ``12:30`` as 750. Here every value is the text that stands in the
file, and whoever knows what it should be reads it as that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import yaml

from batdispatch.core.errors import InputError
from batdispatch.core.line.options import did_you_mean
from batdispatch.inputs.files import read_all

#: Longest file accepted, bytes.
MAX_BYTES = 1 << 22
#: The most values in a file, each use of an anchor counted, and how deep they may be nested.
MAX_VALUES, MAX_DEPTH = 100_000, 20


@dataclass(frozen=True)
class Entry:
    """A value of a file.

    Attributes:
        source: the file.
        line: where it begins, from 1.
        value: a text, a list, or a table by key.
    """

    source: str
    line: int
    value: str | list[Entry] | dict[str, Entry]

    def error(self, message: str) -> InputError:
        """Return an error that says where this stands."""
        return InputError(message, source=self.source, place=f"line {self.line}")

    def text(self, what: str) -> str:
        """Return a text that is not empty.

        Raises:
            InputError: it is none.
        """
        if not isinstance(self.value, str):
            raise self.error(f"{what}: found {self._kind()}, expected a text")
        if not self.value.strip():
            raise self.error(f"{what}: found nothing, expected a text")
        return self.value.strip()

    def each(self) -> list[Entry]:
        """Return the items of a list; anything else is its only one."""
        return self.value if isinstance(self.value, list) else [self]

    def table(self, what: str, known: Iterable[str] | None = None) -> dict[str, Entry]:
        """Return a table.

        Args:
            what: it is, for the message.
            known: the keys that it may have; None: any.

        Raises:
            InputError: it is none, or has another key.
        """
        if not isinstance(self.value, dict):
            raise self.error(f"{what}: found {self._kind()}, expected a table of key: value")
        if known is not None:
            known = list(known)
            for key, entry in self.value.items():
                if key not in known:
                    raise entry.error(f"{what} has no key {key!r}: {did_you_mean(key, known)}")
        return self.value

    def _kind(self) -> str:
        if isinstance(self.value, str):
            return repr(self.value[:60]) if self.value else "nothing"
        return "a list" if isinstance(self.value, list) else "a table"


def read_entries(path: Path) -> Entry:
    """Read a YAML file.

    Raises:
        InputError: it cannot be read, is no YAML, has a key twice or a tag, or is too large.
    """
    content, _ = read_all(path, limit=MAX_BYTES)
    source = str(path)
    try:
        root = yaml.compose(content.decode("utf-8"), Loader=yaml.BaseLoader)
    except UnicodeDecodeError:
        raise InputError("is not UTF-8, expected a YAML file", source=source) from None
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        place = "" if mark is None else f"line {mark.line + 1}"
        begin = f" from line {problem.context_mark.line + 1}" if problem.context_mark else ""
        context = [f"{problem.context}{begin}"] if problem.context else []
        said = ", ".join([*context, problem.problem or ""])
        raise InputError(f"is no YAML: {said}", source=source, place=place) from None
    except (yaml.YAMLError, RecursionError) as problem:
        said = " ".join(str(problem).split())[:200]
        raise InputError(f"is no YAML: {said}", source=source) from None
    if root is None:
        raise InputError("is empty", source=source)
    return _Reader(source).entry(root, 0)


def merge(base: Entry, other: Entry) -> Entry:
    """Return a value in which another one has changed what it states: tables key by key, all else as a whole."""
    if not isinstance(base.value, dict) or not isinstance(other.value, dict):
        return other
    changed = {key: merge(base.value[key], one) if key in base.value else one for key, one in other.value.items()}
    return Entry(base.source, base.line, {**base.value, **changed})


class _Reader:
    def __init__(self, source: str) -> None:
        self._source = source
        self._count = 0

    def entry(self, node: yaml.Node, depth: int) -> Entry:
        line = node.start_mark.line + 1
        here = Entry(self._source, line, "")
        self._count += 1
        if self._count > MAX_VALUES:
            raise here.error(f"more than {MAX_VALUES:,} values in this file")
        if depth > MAX_DEPTH:
            raise here.error(f"nested more than {MAX_DEPTH} deep")
        if isinstance(node, yaml.ScalarNode):
            self._plain(node, here, "str")
            return Entry(self._source, line, node.value)
        if isinstance(node, yaml.SequenceNode):
            self._plain(node, here, "seq")
            return Entry(self._source, line, [self.entry(item, depth + 1) for item in node.value])
        assert isinstance(node, yaml.MappingNode)
        self._plain(node, here, "map")
        table: dict[str, Entry] = {}
        for key, value in node.value:
            name = self.entry(key, depth + 1)
            if not isinstance(name.value, str):
                raise name.error("a key is a list or a table, expected a text")
            if name.value in table:
                raise name.error(f"the key {name.value!r} stands twice, first in line {table[name.value].line}")
            table[name.value] = self.entry(value, depth + 1)
        return Entry(self._source, line, table)

    def _plain(self, node: yaml.Node, here: Entry, kind: str) -> None:
        if node.tag != f"tag:yaml.org,2002:{kind}":
            raise here.error(f"found the tag {node.tag!r}: nothing in this file is evaluated, so it has no tags")
