"""Links the words that docs/words.md defines where they first occur on each page, with the definition as a tooltip."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mkdocs.utils import get_relative_url

WORDS = "words.md"
#: Defined words that mostly stand in their everyday sense, as "in the first place": nobody wants these as links.
_EVERYDAY = (
    "attempt decision demand distance hold instance job layer link machine place plan platform request room route run "
    "session shape space stay task unit"
)
EVERYDAY = frozenset(_EVERYDAY.split())
#: Elements whose text stays as it is.
_APART = re.compile(r"<(/?)(a|code|pre|h[1-6]|th|script|style|svg|button|kbd|figcaption|dt)\b")
_TAG = re.compile(r"(<!--.*?-->|<[^>]+>)", re.DOTALL)
_ENTRY = re.compile(r"^(?P<words>[^\s:#|`].*)\n:   (?P<text>(?:.+\n?)+)", re.MULTILINE)


class Word(NamedTuple):
    """A word, where it is defined, and in which words."""

    word: str
    anchor: str
    meaning: str


def read_words(page: str) -> Iterator[Word]:
    """Return the words that the page defines; an entry may define several, with commas between them."""
    for entry in _ENTRY.finditer(page):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(entry["text"].split()))
        meaning = re.match(r".+?[.?!](?= |$)|.+", re.sub(r"[*`]", "", text))
        assert meaning is not None
        for word in entry["words"].split(", "):
            yield Word(word, anchor(word), meaning[0])


def anchor(word: str) -> str:
    """Return the anchor of a word on its page."""
    return "word-" + re.sub(r"\W+", "-", word.lower())


def link(content: str, words: list[Word], target: str) -> str:
    """Return HTML in which each word is a link where it first occurs in running text.

    Args:
        content: of a page.
        words: that are looked for, in singular or plural.
        target: path of the page of words, from the page.
    """
    known = {word.word.lower(): word for word in words}
    # Of "bounded slowdown", the second word is no occurrence of "slowdown".
    longest = sorted(known, key=lambda word: (-len(word), word))
    pattern = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, longest))})(s?)(?![\w-])", re.IGNORECASE)
    seen: set[str] = set()

    def once(found: re.Match[str]) -> str:
        word = known[found[1].lower()]
        if word.word in seen:
            return found[0]
        seen.add(word.word)
        meaning = html.escape(word.meaning)
        return f'<a class="word" href="{target}#{word.anchor}" title="{meaning}">{found[0]}</a>'

    parts, apart = [], list[str]()
    for part in _TAG.split(content):
        if part.startswith("<"):
            _enter(part, apart)
        elif not apart:
            part = pattern.sub(once, part)
        parts.append(part)
    return "".join(parts)


def _enter(tag: str, apart: list[str]) -> None:
    """Keep the elements around the text that stay as they are."""
    found = _APART.match(tag)
    if found is None:
        return
    if not found[1]:
        apart.append(found[2])
    elif found[2] in apart:
        del apart[len(apart) - 1 - apart[::-1].index(found[2]) :]


def with_anchors(content: str) -> str:
    """Return the page of words with an anchor at each word."""

    def anchored(found: re.Match[str]) -> str:
        marks = (f'<span id="{anchor(word)}">{word}</span>' for word in found[1].split(", "))
        return f"<dt>{', '.join(marks)}</dt>"

    return re.sub(r"<dt>(.*?)</dt>", anchored, content)


def on_page_content(content: str, page: Any, config: Any, **_: Any) -> str:
    """Link the words of a page (mkdocs calls this for each)."""
    if page.file.src_uri == WORDS:
        return with_anchors(content)
    words = read_words((Path(config["docs_dir"]) / WORDS).read_text(encoding="utf-8"))
    chosen = [word for word in words if word.word not in EVERYDAY]
    return link(content, chosen, get_relative_url("words.html", page.url))
