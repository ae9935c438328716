"""Fails the build of the manual where Markdown was not understood: such a page shows its own source to the reader."""

from __future__ import annotations

import re
from typing import Any

import lxml.html
from mkdocs.exceptions import PluginError

#: What is wrong -> the text outside of code that shows it.
_FAULTS = {
    "an admonition is no block of its own": re.compile(r"(?m)^\s*!!! "),
    "a list is glued to the paragraph before it": re.compile(r"\S[^\n]*\n(?:- |\* |1\. )\S"),
    "a link was not understood": re.compile(r"\]\((?:\S+\.md|https?:|#)"),
    "a table was not understood": re.compile(r"(?m)^\|.*\|$|\|-{3}"),
    "a mark was not filled in": re.compile(r"<!-- |^::: ", re.MULTILINE),
    "a code span was not closed": re.compile(r"(?<!`)`[^`\n]+$", re.MULTILINE),
}


def faults(html: str) -> list[str]:
    """Return what is wrong with a page's content, each with the text that shows it."""
    tree = lxml.html.fromstring(f"<div>{html}</div>")
    found = [f"an escape is shown: {code.text_content()}" for code in tree.iter("code") if "\\|" in code.text_content()]
    for code in list(tree.iter("pre", "code", "script", "style")):
        code.drop_tree()
    for block in tree.iter("p", "li", "td", "dd"):
        text = block.text_content().strip("\n")
        found += [f"{what}: {text[:80]}" for what, pattern in _FAULTS.items() if pattern.search(text)]
    return found


def on_page_content(html: str, *, page: Any, **_: Any) -> None:
    """Refuse a page with faults (mkdocs calls this for each)."""
    if found := faults(html):
        raise PluginError(f"{page.file.src_path}: " + "; ".join(found))
