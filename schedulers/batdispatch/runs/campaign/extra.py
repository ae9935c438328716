"""Whether what campaigns need is installed."""

from __future__ import annotations

import importlib.util

from batdispatch.core.errors import InputError


def needs(*modules: str) -> None:
    """Check that libraries of the extra ``campaign`` are there, before anything imports them.

    Raises:
        InputError: one is missing.
    """
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(f"a campaign needs {' and '.join(missing)}: pip install 'batdispatch[campaign]'")
