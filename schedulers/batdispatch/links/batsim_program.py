"""A real Batsim: found, and asked for its version."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import NamedTuple

from batdispatch.core.errors import InputError

_VERSION = re.compile(r"\bv?(\d+)\.(\d+\S*)")
#: Seconds within which Batsim must say its version.
_ASK = 20.0


class Found(NamedTuple):
    """A Batsim: its path and the version that it states, such as ``4.2.0``."""

    path: str
    version: str


def find_batsim(major: int, given: str | None = None) -> Found:
    """Return a Batsim of a major version: the one given, or ``batsimMAJOR`` or ``batsim`` on PATH.

    Raises:
        InputError: there is none, it does not run, or it is of another version.
    """
    names = [given] if given is not None else [f"batsim{major}", "batsim"]
    paths = [path for path in map(shutil.which, names) if path is not None]
    source = "option --batsim" if given is not None else f"engine batsim{major}"
    if not paths:
        where = f"{given!r} is no program that can be run" if given is not None else "there is no batsim on PATH"
        raise InputError(
            f"{where}; install Batsim {major} (with Nix: nix develop .#batsim{major}) or name the program with "
            "--batsim PATH",
            source=source,
        )
    others: list[Found] = []
    for path in paths:
        found = Found(path, _version_of(path))
        if found.version.partition(".")[0] == str(major):
            return found
        others.append(found)
    listed = ", ".join(f"{found.path} is Batsim {found.version}" for found in others)
    raise InputError(f"{listed}, expected Batsim {major}", source=source)


def _version_of(path: str) -> str:
    try:
        asked = subprocess.run(
            [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_ASK, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        reason = "it does not answer" if isinstance(problem, subprocess.TimeoutExpired) else problem.strerror
        raise InputError(f"{path} --version: {reason}") from None
    said = asked.stdout[:4096].decode("utf-8", "replace").strip()
    match = _VERSION.search(said)
    if match is None:
        raise InputError(f"{path} --version: found {said[:60]!r}, expected the version of a Batsim")
    return match[0].lstrip("v")
