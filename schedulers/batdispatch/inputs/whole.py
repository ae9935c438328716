"""One file under construction: it appears whole or not at all, wherever its name leads to.

Theory of operation. A file is written beside its place as ``NAME.XXXXXXXX.partial`` and renamed when it is complete.

- A name that is a link stays a link: the file that it leads to is written so, whether it is there yet or not.
- A name of what is no regular file (a device, a pipe), or of an open descriptor (``/dev/stdout``), can be neither
  replaced nor taken back: it is written into, from the first byte on.
- A writer has a lock on its partial file until it is renamed, and the system frees the lock when the writer dies.
  Whoever writes the same name next removes partial files that nobody has locked.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

#: Links followed before a circle of them is assumed, as Linux does.
_MOST_LINKS = 40


class Whole:
    """A file that appears whole or not at all: it is called ``NAME.XXXXXXXX.partial`` until `finish` gives it its name.

    Two writers of one name never share a file: the partial name is new, and whichever finishes last has the name.

    Attributes:
        path: the file's name once it is finished, behind all links.
        partial: its name until then, unique; None if it is written in place, since it is no regular file.
        stream: where to write.
    """

    def __init__(self, path: Path, *, buffering: int = io.DEFAULT_BUFFER_SIZE) -> None:
        """Open the file under its partial name.

        Raises:
            OSError: it cannot be opened.
        """
        self.path = _followed(path)
        self.partial: Path | None = None
        #: Keeps the lock of the partial file when `stream` is closed.
        self._lock = -1
        if _is_written_in_place(self.path):
            handle = _open_in_place(self.path)
        else:
            _remove_orphans(self.path)
            self.partial, handle = _open_partial(self.path)
            self._lock = os.dup(handle)
        raw = _NamedFile(handle, "wb", self.path)
        self.stream: BinaryIO = io.BufferedWriter(raw, buffering)

    def finish(self) -> None:
        """Close the file and give it its name, in place of one that had it before.

        Raises:
            OSError: the end of it cannot be written; it is to be discarded.
        """
        self.stream.close()
        self._rename(self.path)

    def keep_partial(self) -> None:
        """Close the file and call it ``NAME.partial``, in place of an earlier one of that name."""
        try:
            self.stream.close()
        finally:
            self._rename(self.path.with_name(f"{self.path.name}.partial"))

    def discard(self) -> None:
        """Close the file and remove it; what had its name before stays."""
        # A full disk has no room for what is not written yet, and nobody wants it any more.
        with suppress(OSError):
            self.stream.close()
        if self.partial is not None:
            self.partial.unlink(missing_ok=True)
            self._unlock()

    def _rename(self, name: Path) -> None:
        if self.partial is not None:
            # The one call that is documented as atomic.
            self.partial.replace(name)
            self._unlock()

    def _unlock(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


class _NamedFile(io.FileIO):
    """A file whose errors say which file it is, as those of opening it do."""

    def __init__(self, handle: int, mode: str, path: Path) -> None:
        super().__init__(handle, mode)
        self._path = path

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as problem:
            problem.filename = str(self._path)
            raise


def _followed(path: Path) -> Path:
    """Return where links lead to in the end, whether it is there or not; an open descriptor's name is an end."""
    for _ in range(_MOST_LINKS):
        path = Path(os.path.realpath(path.parent)) / path.name
        if _is_descriptor(path) or not path.is_symlink():
            return path
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def _is_descriptor(path: Path) -> bool:
    """Return whether a path is the name of an open descriptor of this process, such as /dev/stdout leads to."""
    return path.name.isdecimal() and str(path.parent) in ("/dev/fd", f"/proc/{os.getpid()}/fd")


def _is_written_in_place(path: Path) -> bool:
    # Opening a folder says itself what is wrong.
    return _is_descriptor(path) or (path.exists() and not path.is_file())


def _open_in_place(path: Path) -> int:
    """Return a new descriptor of something that is there and must not be replaced."""
    if _is_descriptor(path):
        # To open its name would begin a file anew that others write, too.
        return os.dup(int(path.name))
    return os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)


def _open_partial(path: Path) -> tuple[Path, int]:
    """Return the name and the descriptor of a new partial file, which is locked where the file system has locks."""
    while True:
        partial = path.with_name(f"{path.name}.{secrets.token_hex(4)}.partial")
        # Neither a file nor a link that somebody put there is ever opened.
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return partial, handle
        os.close(handle)  # Another writer took it for an orphan before it was locked.


def _remove_orphans(path: Path) -> None:
    """Remove the partial files of writers that were killed."""
    name = re.compile(re.escape(path.name) + r"\.[0-9a-f]{8}\.partial")
    # What cannot be listed or removed is no reason not to write.
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            if name.fullmatch(entry.name):
                _remove_orphan(path.parent / entry.name)


def _remove_orphan(partial: Path) -> None:
    with suppress(OSError):
        handle = os.open(partial, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if stat.S_ISREG(os.fstat(handle).st_mode):
                partial.unlink()
        finally:
            os.close(handle)
