"""Links within the manual lead to headings that are there, and the build of the manual counts warnings about them."""

import re
from pathlib import Path

import pytest
from markdown.extensions.toc import slugify

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
#: A heading; a place named otherwise; a link to a place on a page.
HEADING = re.compile(r"^#+ (.+?)(?: \{ ?#(\S+?) ?\})?$", re.MULTILINE)
PLACE = re.compile(r'(?:\bid="|\{ ?#)([\w.-]+)')
LINK = re.compile(r"\]\(([\w./-]*\.md)?#([\w.-]+)\)")
#: What a hook or a plug-in fills in may bring headings of its own, which the build looks at.
FILLED = re.compile(r"^::: |<!-- generated", re.MULTILINE)


def places(text: str) -> set[str]:
    """Return the anchors of a page."""
    plain = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    named = {other or slugify(re.sub(r"[`*]|\]\(.*?\)", "", title), "-") for title, other in HEADING.findall(plain)}
    return named | set(PLACE.findall(text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT / "docs")))
def test_links_lead_to_headings(page: Path) -> None:
    text = page.read_text()
    missing = []
    for file, anchor in LINK.findall(text):
        target = (page.parent / file).read_text() if file else text
        if not FILLED.search(target) and anchor not in places(target):
            missing.append(f"{file}#{anchor}")
    assert missing == []


def test_a_missing_heading_is_found() -> None:
    assert places("# A *b*\n\n## `x`: y\n\n```\n# no\n```\n### Z { #own }\n") == {"a-b", "x-y", "own"}


def test_the_build_of_the_manual_fails_on_warnings() -> None:
    # With --quiet, MkDocs counts no warning, and --strict says nothing.
    [line] = [line for line in (ROOT / "Makefile").read_text().splitlines() if "mkdocs build" in line]
    assert "--strict" in line
    assert "--quiet" not in line
