"""Lets the reference show what stands in ``#:`` comments above attributes, as our code documents them (for griffe)."""

from __future__ import annotations

from typing import Any

from griffe import Attribute, Docstring, Extension


class AttributeComments(Extension):
    """Take the ``#:`` comments above an attribute for its docstring."""

    def on_attribute_instance(self, *, attr: Attribute, **_: Any) -> None:
        """Look above an attribute (griffe calls this for each)."""
        if attr.docstring is not None or attr.lineno is None:
            return
        lines = attr.lines_collection[attr.filepath]
        said: list[str] = []
        for number in range(attr.lineno - 2, -1, -1):
            text = lines[number].strip()
            if not text.startswith("#:"):
                break
            said.insert(0, text.removeprefix("#:").strip())
        if said:
            attr.docstring = Docstring(" ".join(said), parent=attr)
