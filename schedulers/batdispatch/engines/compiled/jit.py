"""The one place where Numba is asked to compile.

Kernels are compiled at their first call, for the machine at hand, and kept on disk. Numba notices when a kernel's own
file changes, but not when a file does that the kernel calls functions of. So the folder in which kernels are kept is
named after a digest of all files here.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])

_njit: Any = numba.njit
_config: Any = numba.config
#: A division by zero is no exception in a kernel; nothing here divides by what may be zero. Kernels allocate nothing:
#: Numba then counts no references, which for tuples of arrays takes ten times as long as what the kernels do.
_OPTIONS = {"error_model": "numpy", "_nrt": False}


def part(function: F) -> F:
    """Compile a function as a part of the kernels that call it."""
    return cast(F, _njit(**_OPTIONS)(function))


def kernel(function: F) -> F:
    """Compile a function that Python calls, and keep what was compiled where a folder for it can be written."""
    folder = _folder()
    if folder is None:
        return part(function)
    before = _config.CACHE_DIR
    _config.CACHE_DIR = str(folder)
    try:
        return cast(F, _njit(cache=True, **_OPTIONS)(function))
    finally:
        _config.CACHE_DIR = before


@cache
def _folder() -> Path | None:
    """Return where compiled kernels are kept; None where nothing can be written, and each process compiles anew."""
    found = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        found.update(path.name.encode() + b"\0" + path.read_bytes())
    chosen = _config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME")
    try:
        root = Path(chosen) if chosen else Path.home() / ".cache"
        folder = root / "batdispatch" / f"kernels-{found.hexdigest()[:16]}"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        # It cannot be written, or there is no home.
        return None
    return folder if os.access(folder, os.W_OK) else None
