"""What people state of a page over runs; nothing large is imported, so that help is quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from batdispatch.core.line.settings import Form


class ReportOptions(msgspec.Struct, frozen=True, kw_only=True):
    """A page over runs.

    output: Write the page here, or into this folder. The default is report/index.html in DIR, or here if there are
        several.
    title: Give the page this heading.
    baseline: Compare the other dispatchers of a campaign with this one. The default is easy, else the first.
    """

    output: Annotated[Path | None, Form("OUT", name="-o/--out")] = None
    title: Annotated[str | None, Form("TEXT")] = None
    baseline: Annotated[str | None, Form("NAME")] = None
