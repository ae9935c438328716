"""Finds, builds and loads libraries of what is written in C: the base's, and one of each folder that has sources.

The name of a library holds a digest of the sources, so that one that was built from other sources is not found. The
build hook of the package loads this file on its own.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shlex
from functools import cache, cached_property
from pathlib import Path

#: The sources of the base.
FOLDER = Path(__file__).parent
#: Sums and products must come out as Python's do, so none are contracted to one rounding. Names stay inside, so that no
#: other library of the process can replace a function.
FLAGS = ("-std=c11", "-O3", "-fPIC", "-shared", "-fvisibility=hidden", "-ffp-contract=off")
#: What each library has a copy of: how numbers are rounded and written.
COMMON_SOURCES = ("decimals.c", "rounding.c")


class Library:
    """The library of the sources in a folder, and of those that the base shares with it.

    Attributes:
        folder: of the sources, in which the library is put.
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        self.folder = folder

    @classmethod
    def beside(cls, file: str) -> Library:
        """Return the library of the folder ``native`` beside a file of Python."""
        return cls(Path(file).parent / "native")

    def _sources(self) -> list[Path]:
        common = [FOLDER / name for name in COMMON_SOURCES if self.folder != FOLDER]
        return [*sorted(self.folder.glob("*.c")), *common]

    def path(self) -> Path:
        """Return where the library of these sources is, if it was built."""
        digest = hashlib.sha256()
        for source in sorted({*self._sources(), *self.folder.glob("*.h"), *FOLDER.glob("*.h")}):
            digest.update(source.name.encode() + b"\0" + source.read_bytes())
        return self.folder / f"{self.folder.parent.name}-{digest.hexdigest()[:16]}.so"

    def build(self, target: Path, *flags: str) -> None:
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
        try:
            words = [*compiler, *FLAGS, f"-I{FOLDER}", *flags, "-o", str(made), *map(str, self._sources()), "-lm"]
            subprocess.run(words, check=True, capture_output=True, text=True)
            made.replace(target)
        finally:
            made.unlink(missing_ok=True)

    @cached_property
    def loaded(self) -> ctypes.CDLL | None:
        """The library, or None where it was not built or cannot be loaded."""
        try:
            return ctypes.CDLL(str(self.path()))
        except OSError:
            return None


#: The base's own: texts become numbers, and numbers texts.
OWN = Library()


@cache
def load() -> ctypes.CDLL | None:
    """Return the base's library, or None where it was not built or cannot be loaded."""
    return OWN.loaded


def folders(package: Path) -> list[Path]:
    """Return the folders of a package that have sources in C, the base's first."""
    return sorted({source.parent for source in package.rglob("native/*.c")}, key=lambda each: (len(each.parts), each))
