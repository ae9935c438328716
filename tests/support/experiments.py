"""The files of one folder of `expe/`, whose names other folders use too."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

EXPE = Path(__file__).parents[2] / "expe"


@contextmanager
def experiment(folder: str, *names: str) -> Iterator[dict[str, ModuleType]]:
    """Import files of ``expe/FOLDER`` for a while; nobody else's modules of these names are changed."""
    before = {name: sys.modules.pop(name, None) for name in names}
    sys.path.insert(0, str(EXPE / folder))
    try:
        yield {name: __import__(name) for name in names}
    finally:
        sys.path.remove(str(EXPE / folder))
        for name in names:
            sys.modules.pop(name, None)
            if (module := before[name]) is not None:
                sys.modules[name] = module


def sections(folder: str) -> dict[str, str]:
    """Return what stands between the marks of measured sections on the page of results: name -> text."""
    page = (EXPE / folder / "results.md").read_text(encoding="utf-8")
    return dict(re.findall(r"<!-- measured: (\S+) -->\n(.*?)<!-- end -->", page, re.DOTALL))


def pictures_agree(folder: str) -> bool:
    """Return whether the page of results shows just the pictures that the folder holds."""
    page = (EXPE / folder / "results.md").read_text(encoding="utf-8")
    return set(re.findall(r"\]\((\S+\.svg)\)", page)) == {path.name for path in (EXPE / folder).glob("*.svg")}
