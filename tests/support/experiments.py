"""The files of one folder of `expe/`, whose names other folders use too."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pandas as pd

from batdispatch.abilities.campaigns.campaign.plan import Plan
from campaigns import make, read
from expe.common.running import FILE, Experiment

EXPE = Path(__file__).parents[2] / "expe"
#: Where the real logs are, if they are.
SHARED_LOGS = Path(os.environ.get("BATDISPATCH_SHARED", Path(__file__).parents[3] / "shared")) / "data"


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


def small(name: str, out: Path, *changes: tuple[str, str], parts: list[str] | None = None) -> pd.DataFrame:
    """Run the quick version of a folder's campaign, made smaller by changes of its text; return its rows."""
    text = (EXPE / name / FILE).read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    make(Plan(read(out / "file", text, quick=True, parts=parts), out))
    return Experiment(name, out, quick=True).rows()
