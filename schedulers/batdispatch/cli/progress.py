"""Progress bars: on a terminal only, on standard error."""

from __future__ import annotations

import sys
from typing import Any

import click


def progress_bar(label: str) -> Any:
    """Return a progress bar, a context manager with `length`, `pos` and `update(steps)`; hidden in a pipe."""
    return click.progressbar(length=1, label=label, file=sys.stderr, hidden=not sys.stderr.isatty())
