"""Programs from a shell of a Nix flake, such as the pinned Batsim of this project's ``batsim4``."""

from __future__ import annotations

import shutil
from pathlib import Path

from batdispatch.core.errors import InputError
from batdispatch.inputs.files import file_digest

#: Nix's features that a flake needs, whatever the user's configuration says.
_FEATURES = "nix-command flakes"


def shell_of(text: str, here: Path, source: str = "option --nix") -> str:
    """Return a shell as ``FLAKE#SHELL``.

    Args:
        text: ``FLAKE#SHELL``, or the name of a shell alone: of the flake in the nearest folder that has one.
        here: the folder from which that is looked for, outwards.
        source: of the text, for messages.

    Raises:
        InputError: there is no flake, or no Nix.
    """
    flake, mark, shell = text.rpartition("#")
    if not shell or (mark and not flake):
        raise InputError(f"found {text!r}, expected a shell such as batsim4, or FLAKE#SHELL", source=source)
    if shutil.which("nix") is None:
        raise InputError(f"shell {text!r} needs Nix, and there is no nix on PATH", source=source)
    if mark:
        return text
    here = here.absolute()
    for folder in (here, *here.parents):
        if (folder / "flake.nix").is_file():
            return f"{folder}#{shell}"
    raise InputError(f"there is no flake.nix in {here} or above it; name the flake: FLAKE#{shell}", source=source)


def in_shell(shell: str, program: str) -> list[str]:
    """Return the command that runs a program in a shell of `shell_of`; arguments may follow.

    Raises:
        InputError: there is no Nix.
    """
    nix = shutil.which("nix")
    if nix is None:
        raise InputError(f"shell {shell!r} needs Nix, and there is no nix on PATH")
    return [nix, "--extra-experimental-features", _FEATURES, "develop", shell, "--command", program]


def pins_of(shell: str, here: Path) -> dict[str, str]:
    """Return what says which programs a shell holds: name -> SHA-256 of the flake's lock and of its Nix files.

    These are ``flake.lock``, ``flake.nix``, and all files of Nix in a folder ``nix`` beside them. Of a flake that is
    elsewhere, such as one at an address, nothing is known here.

    Args:
        shell: ``FLAKE#SHELL``.
        here: the folder where the path of a flake begins.

    Raises:
        InputError: a file cannot be read.
    """
    folder = here / shell.rpartition("#")[0].removeprefix("path:")
    files = [folder / "flake.lock", folder / "flake.nix", *sorted((folder / "nix").rglob("*.nix"))]
    return {str(path.relative_to(folder)): file_digest(path) for path in files if path.is_file()}
