"""Lets the copy button of a block of commands copy the commands alone: no prompts, and nothing that they print.

The theme's button copies what an element around the code states as ``data-copy``.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

_BLOCK = re.compile(r'<div class="(?P<classes>[^"]*\bhighlight\b[^"]*)">(?P<code><pre>.*?</code></pre>)', re.DOTALL)
#: How Pygments marks a prompt.
_PROMPT = '<span class="gp">$ </span>'


def on_page_content(content: str, **_: Any) -> str:
    """State what is copied at each block that has output, too (mkdocs calls this for each page)."""
    return _BLOCK.sub(stated, content)


def stated(block: re.Match[str]) -> str:
    """Return a block that states its commands, if it has prompts."""
    if _PROMPT not in block["code"]:
        return block[0]
    text = html.unescape(re.sub(r"<[^>]+>", "", block["code"]))
    copied = html.escape("\n".join(commands(text))).replace("\n", "&#10;")
    return f'<div class="{block["classes"]}" data-copy="{copied}">{block["code"]}'


def commands(text: str) -> Iterator[str]:
    """Return the lines of a block that are commands or go on with one, without prompts."""
    going_on = False
    for line in text.splitlines():
        if going_on or line.startswith("$ "):
            yield line if going_on else line.removeprefix("$ ")
            going_on = line.endswith("\\")
