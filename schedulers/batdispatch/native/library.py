"""Finds, builds and loads the library of what is written in C.

The name of the library holds a digest of the sources, so that one that was built from other sources is not found. The
build hook of the package loads this file on its own.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shlex
from functools import cache
from pathlib import Path

#: The sources.
FOLDER = Path(__file__).parent
#: Sums and products must come out as Python's do, so none are contracted to one rounding. Names stay inside, so that no
#: other library of the process can replace a function.
FLAGS = ("-std=c11", "-O3", "-fPIC", "-shared", "-fvisibility=hidden", "-ffp-contract=off")


def path() -> Path:
    """Return where the library of these sources is, if it was built."""
    digest = hashlib.sha256()
    for source in sorted((*FOLDER.glob("*.c"), *FOLDER.glob("*.h"))):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return FOLDER / f"kernels-{digest.hexdigest()[:16]}.so"


def build(target: Path, *flags: str) -> None:
    """Build the library with the compiler that ``$CC`` names, else ``cc``; it appears whole or not at all.

    Args:
        target: where it is to be.
        flags: more flags for the compiler.

    Raises:
        OSError: there is no compiler, or nothing can be written there.
        subprocess.CalledProcessError: the compiler fails.
    """
    import subprocess

    made = target.with_suffix(f".{os.getpid()}")
    compiler = shlex.split(os.environ.get("CC") or "cc")
    sources = sorted(str(source) for source in FOLDER.glob("*.c"))
    try:
        words = [*compiler, *FLAGS, *flags, "-o", str(made), *sources, "-lm"]
        subprocess.run(words, check=True, capture_output=True, text=True)
        made.replace(target)
    finally:
        made.unlink(missing_ok=True)


@cache
def load() -> ctypes.CDLL | None:
    """Return the library, or None where it was not built or cannot be loaded."""
    try:
        return ctypes.CDLL(str(path()))
    except OSError:
        return None


def why_missing() -> str | None:
    """Return why there is no library, as a sentence without its full stop, or None if there is one."""
    if load() is not None:
        return None
    return "the kernels, which are written in C, were not built: install batdispatch again where there is a C compiler"
