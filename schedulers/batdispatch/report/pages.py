"""Pages with measured sections, which the program that measures fills."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from batdispatch.core.errors import InputError
from batdispatch.inputs.files import write_whole


def fill(page: Path, sections: Mapping[str, str]) -> None:
    """Replace what stands between ``<!-- measured: NAME -->`` and ``<!-- end -->`` on a page, for each section.

    Raises:
        InputError: the page has no such section.
    """
    text = page.read_text(encoding="utf-8")
    for name, content in sections.items():
        begin = f"<!-- measured: {name} -->"
        before, found, after = text.partition(begin)
        _, closed, rest = after.partition("<!-- end -->")
        if not found or not closed:
            raise InputError(f"found no section {begin} ... <!-- end -->", source=str(page))
        text = f"{before}{begin}\n\n{content}\n\n{closed}{rest}"
    write_whole(page, text.encode())


def publish(page: Path, sections: Mapping[str, str], *, write: bool) -> None:
    """Print each section of a page under its name; if `write`, fill them into the page, too.

    Raises:
        InputError: the page has no such section.
    """
    for name, content in sections.items():
        print(f"\n{name}\n\n{content}", flush=True)
    if write:
        fill(page, sections)
