"""Writing into a folder one at a time, so that its files appear together, and that readers see when they did not.

Theory of operation. Whoever writes into a folder first *claims* it: a folder `MARK` inside it, with a lock that the
system frees when the process ends, however it ends. The new files are written there. To *publish* them is to remove the
folder's old files, to move the new ones to their places, and then to take the mark away. One rename does this, so:

- While the mark is there, the folder is unfinished: a process writes into it, or one that was killed has. Readers ask
  `check_finished` and are told which. What is in the folder beside the mark may be of two writers.
- If there is no mark, the last writer has ended in order. It published everything, or it left alone what was there.

A claim that fails before it publishes takes its mark away and leaves the folder as it was. One that fails later leaves
the mark.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import shutil
import socket
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path

from batdispatch.core.errors import InputError

#: Name of the folder inside a claimed one.
MARK = "unfinished-run"
_LOCK = "lock"
#: Is there from when a claim begins to change what readers of the folder see.
_CHANGING = "changing"
#: Readers hold the lock for microseconds while they look who has it.
_TRIES, _PAUSE = 5, 0.02
#: Some network file systems have no locks. Partial names, marks and digests still tell one run from another there.
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)


class FolderClaim(InputError):
    """Another process has claimed the folder."""


class Claim:
    """The right to write into a folder, which one process has at a time; a context manager.

    Attributes:
        folder: the folder, made if there was none.
        place: where to write the new files until `publish`; empty at the beginning.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.place = folder / MARK
        self._changed = False

    def __enter__(self) -> Claim:
        """Claim the folder.

        Raises:
            Occupied: another process has claimed it.
            OSError: it cannot be made or written.
        """
        self._made = not self.folder.exists()
        self._lock = _acquire(self.folder)
        self._earlier = {path.name: stamp(path) for path in self.folder.iterdir() if path.is_file()}
        # A writer that was killed while it published left files of two runs: they do not become whole by our failing.
        self._changed = (self.place / _CHANGING).exists()
        for path in self.place.iterdir():
            if path.name not in (_LOCK, _CHANGING):
                _remove(path)
        for path in self.folder.glob(f".{MARK}.*"):
            _remove(path)
        return self

    def __exit__(self, kind: object, *problem: object) -> None:
        if kind is None or not self._changed:
            _release(self.folder, self._lock, remove=self._made and kind is not None)
        else:
            os.close(self._lock)

    def changing(self) -> None:
        """Say that what readers see changes from now on: if this process fails later, the mark stays."""
        self._changed = True
        (self.place / _CHANGING).touch()

    def publish(self, names: Collection[str], *, last: str = "") -> None:
        """Move the files at `place` into the folder, in place of the ones that were there when it was claimed.

        Args:
            names: the names that such files may have. If there is no new file of a name, the old one is removed, unless
                somebody has written it since: a scheduler may record into the folder of the engine that it serves.
            last: the file that says that the others are there: its old one goes first and its new one comes last.
        """
        new = {path.name: path for path in self.place.iterdir() if path.name not in (_LOCK, _CHANGING)}
        self.changing()
        for name in sorted({*names, last} - {""}, key=lambda name: (name != last, name)):
            path = self.folder / name
            if name == last or (name not in new and name in self._earlier and stamp(path) == self._earlier[name]):
                path.unlink(missing_ok=True)
        for name in sorted(new, key=lambda name: (name == last, name)):
            new[name].replace(self.folder / name)


def checked_folder(out: str | PathLike[str]) -> Path:
    """Return a folder for results, which is made once their inputs are read.

    Raises:
        InputError: there is a file of that name.
    """
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file, expected a folder for the results", source="option --out")
    return folder


@contextmanager
def clear_mark(folder: Path, *, remove: bool) -> Iterator[Path | None]:
    """Take away the mark of a process of ours that died, when the block ends; yields where its files are.

    Yields None and does nothing if there is no mark, or if it has to stay: the process was publishing.

    Args:
        folder: the one that it had claimed.
        remove: whether to remove the folder too, if it is empty.
    """
    place = folder / MARK
    if not place.is_dir():
        yield None
        if remove:
            with suppress(OSError):
                folder.rmdir()
        return
    lock = _acquire(folder)
    if (place / _CHANGING).exists():
        os.close(lock)
        yield None
        return
    try:
        yield place
    finally:
        _release(folder, lock, remove=remove)


def check_finished(folder: Path) -> None:
    """Check that no process is writing into a folder or was killed while it did.

    Raises:
        InputError: one is, or was.
    """
    check_free(folder)
    if (folder / MARK).exists():
        raise InputError(_INTERRUPTED, source=str(folder))


def check_free(folder: Path) -> None:
    """Check that no process is writing into a folder.

    Raises:
        Occupied: one is.
    """
    try:
        lock = os.open(folder / MARK / _LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    try:
        writer = _writer(lock)
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FolderClaim(f"is being written{writer}: wait until that has ended", source=str(folder)) from None
    except OSError:
        pass
    finally:
        os.close(lock)


_INTERRUPTED = (
    f"is unfinished: what wrote into it was killed. Give the same command again, or remove the folder; {MARK} in it "
    "holds what there was"
)


def _acquire(folder: Path) -> int:
    """Return the descriptor of the mark's file, locked."""
    place = folder / MARK
    writer = ""
    for _ in range(_TRIES):
        current = False
        folder.mkdir(parents=True, exist_ok=True)
        if place.is_symlink():
            raise InputError("is a link, expected a folder of batdispatch's own", source=str(place))
        place.mkdir(exist_ok=True)
        try:
            lock = os.open(place / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        except FileNotFoundError:
            continue  # Its owner has just ended.
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            writer = _writer(lock)
            os.close(lock)
            time.sleep(_PAUSE)
            continue
        except OSError as problem:
            if problem.errno not in _NO_LOCKS:
                os.close(lock)
                raise
        with suppress(FileNotFoundError):
            current = os.path.samestat(os.fstat(lock), (place / _LOCK).lstat())
        if current:
            os.ftruncate(lock, 0)
            os.pwrite(lock, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
            return lock
        os.close(lock)  # Its owner took the mark away before we had the lock.
    raise FolderClaim(
        f"is being written{writer}: two runs into one folder would mix; wait, or choose another folder with --out",
        source=str(folder),
    )


def _release(folder: Path, lock: int, *, remove: bool) -> None:
    """Take the mark away, free the lock, and remove the folder if asked and empty."""
    aside = folder / f".{MARK}.{secrets.token_hex(4)}"
    (folder / MARK).rename(aside)
    # Only then: network file systems keep an open file's folder from being removed.
    os.close(lock)
    _remove(aside)
    if remove:
        with suppress(OSError):
            folder.rmdir()


def _writer(lock: int) -> str:
    said = os.pread(lock, 200, 0).decode("utf-8", "replace")
    return f" by {said}" if said.isprintable() and said else ""


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def stamp(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from one written later under its name; None if there is none."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns
