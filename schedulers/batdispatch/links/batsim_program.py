"""A real Batsim: found, asked for its version, and the options with which a user wants it to be started."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from typing import NamedTuple

from batdispatch.core.errors import InputError
from batdispatch.links.nix import in_shell
from batdispatch.links.watched_process import telling_lines

_VERSION = re.compile(r"\bv?(\d+)\.(\d+\S*)")
#: Seconds within which Batsim must say its version.
_ASK = 20.0
#: The same where Nix may have to fetch or build it first.
_BUILD = 7200.0
#: Options by which `run` says what it was told itself, or without which it could not follow Batsim.
_OURS = {
    "-p": "--platform",
    "-w": "--workload",
    "-m": "--master-host",
    "-e": "--out",
    "-s": "",
    "--platform": "--platform",
    "--workload": "--workload",
    "--master-host": "--master-host",
    "--export": "--out",
    "--socket-endpoint": "",
    "--edc-socket-str": "",
    "--events": "--events",
    "--external-events": "--events",
    "--ee": "--events",
}
_SOURCE = "option --batsim-option"


class BatsimProgram(NamedTuple):
    """A Batsim: the command that starts it and the version that it states, such as ``4.2.0``."""

    command: list[str]
    version: str

    @property
    def name(self) -> str:
        """How messages call it."""
        return shlex.join(self.command)


def find_batsim(major: int, given: str | None = None, shell: str | None = None) -> BatsimProgram:
    """Return a Batsim of a major version: the one given, or ``batsimMAJOR`` or ``batsim`` on PATH.

    Args:
        major: the version.
        given: its program.
        shell: one of Nix, as ``FLAKE#SHELL``, in which the program is looked for: ``batsim``, unless another is given.

    Raises:
        InputError: there is none, it does not run, or it is of another version.
    """
    if shell is not None:
        found = _asked(in_shell(shell, given or "batsim"), _BUILD)
        if found.version.partition(".")[0] != str(major):
            raise InputError(f"{shell} has Batsim {found.version}, expected Batsim {major}", source="option --nix")
        return found
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
    others: list[BatsimProgram] = []
    for path in paths:
        found = _asked([path], _ASK)
        if found.version.partition(".")[0] == str(major):
            return found
        others.append(found)
    listed = ", ".join(f"{found.name} is Batsim {found.version}" for found in others)
    raise InputError(f"{listed}, expected Batsim {major}", source=source)


def _asked(command: list[str], seconds: float) -> BatsimProgram:
    """Ask a Batsim for its version."""
    told = f"{shlex.join(command)} --version"
    try:
        asked = subprocess.run(
            [*command, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        reason = "it does not answer" if isinstance(problem, subprocess.TimeoutExpired) else problem.strerror
        raise InputError(f"{told}: {reason}") from None
    said = asked.stdout[:4096].decode("utf-8", "replace").strip()
    match = _VERSION.search(said)
    if match is None:
        # Nix says there why a shell cannot be had.
        why = telling_lines(asked.stderr.splitlines()) if asked.returncode else []
        raise InputError(
            f"{told}: found {said[:60]!r}, expected the version of a Batsim" + "".join(f"\n  {line}" for line in why)
        )
    return BatsimProgram(command, match[0].lstrip("v"))


def check_options(text: str, engine: str) -> None:
    """Check options that were given for a real Batsim.

    Raises:
        InputError: no real Batsim simulates, the text is no command line, or an option is for `run` to set.
    """
    if engine == "embedded":
        raise InputError("needs --engine batsim4 or batsim5", source=_SOURCE)
    try:
        words = shlex.split(text)
    except ValueError as problem:
        raise InputError(f"found {text[:80]!r}: {problem}", source=_SOURCE) from None
    for word in words:
        ours = _OURS.get(word.partition("=")[0])
        if ours is not None:
            how = f"say {ours} of run itself" if ours else "run finds an address by itself"
            raise InputError(f"found {word[:80]!r}: {how}", source=_SOURCE)
