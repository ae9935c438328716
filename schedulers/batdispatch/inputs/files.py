"""Reading files of unknown origin with bounds, and writing files that appear whole or not at all."""

from __future__ import annotations

import codecs
import contextlib
import difflib
import gzip
import hashlib
import io
import lzma
import os
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol, TypeVar

import msgspec

from batdispatch.core.errors import InputError
from batdispatch.inputs.whole import Whole

#: Longest content accepted line by line, after decompression, in bytes: a year of a large machine is a few per cent of
#: it.
MAX_BYTES = 1 << 30
#: Longest content accepted in one piece, after decompression, in bytes: a million jobs with some fields of their own.
MAX_WHOLE = 1 << 28
#: Longest line accepted in a log, in bytes.
MAX_LINE = 1 << 16
#: Bytes between two reports of progress.
STEP = 1 << 20
#: Bytes of the lines that are taken together.
_BLOCK = 1 << 18


class Digest(Protocol):
    """What hashlib's hashes are."""

    def update(self, data: Any, /) -> None:
        """Add bytes."""


#: Told bytes of the file read so far and its size.
Progress = Callable[[int, int], None]

_Record = TypeVar("_Record")

_BROKEN = (lzma.LZMAError, gzip.BadGzipFile, zlib.error, EOFError)


def closest(path: str | Path) -> str:
    """Return a proposal for a path that leads nowhere: what the folder holds of the closest name; empty if nothing."""
    path = Path(path)
    with contextlib.suppress(OSError):
        others = [] if path.exists() else sorted(each.name for each in path.parent.iterdir())
        close = difflib.get_close_matches(path.name, others, n=1, cutoff=0.8)
        return f"; did you mean {str(path.with_name(close[0]))!r}?" if close else ""
    return ""


class _Hashed(io.RawIOBase):
    """A file that is hashed while it is read."""

    def __init__(self, raw: io.FileIO) -> None:
        self._raw = raw
        self.hash = hashlib.sha256()
        self.position = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._raw.readinto(buffer) or 0
        self.hash.update(memoryview(buffer)[:count])
        self.position += count
        return count


class _Bounded(io.RawIOBase):
    """A stream that reports broken compression and endless content as input errors."""

    def __init__(self, inner: IO[bytes], source: str, limit: int) -> None:
        self._inner = inner
        self._source = source
        self._limit = limit
        self._seen = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._inner.read(len(buffer))
        except _BROKEN as problem:
            raise InputError(f"the compressed data is broken: {problem}", source=self._source) from None
        self._seen += len(data)
        if self._seen > self._limit:
            raise InputError(f"more than {self._limit:,} bytes of content, the most accepted", source=self._source)
        buffer[: len(data)] = data
        return len(data)


class _Recoded(io.RawIOBase):
    """A stream of UTF-16 as UTF-8."""

    def __init__(self, inner: BinaryIO) -> None:
        self._inner = inner
        self._decoder = codecs.getincrementaldecoder("utf-16")("replace")
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            data = self._inner.read(_BLOCK)
            self._left = self._decoder.decode(data, final=not data).encode()
            if not data:
                break
        data, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


class Source:
    """A file opened for reading, decompressed on the fly when it is gzip or xz (told by its first bytes).

    UTF-16 that says so in its first bytes, as PowerShell and Excel write it, is read as UTF-8.

    Attributes:
        name: the path, for messages.
        stream: the content, at most `limit` bytes of it.
        size: bytes on disk; 0 when unknown (a pipe).
    """

    def __init__(self, path: str | Path, *, limit: int = MAX_BYTES, progress: Progress | None = None) -> None:
        """Open a file.

        Raises:
            InputError: it cannot be opened.
        """
        self.name = str(path)
        try:
            self._raw = io.FileIO(self.name)
        except OSError as problem:
            hint = closest(path) if isinstance(problem, FileNotFoundError) else ""
            raise InputError(f"cannot be read: {problem.strerror}{hint}", source=self.name) from None
        except ValueError:
            raise InputError("cannot be read: the name holds a null character", source=repr(self.name)) from None
        status = os.fstat(self._raw.fileno())
        self.size = status.st_size if stat.S_ISREG(status.st_mode) else 0
        self._progress = progress
        self._told = 0
        self._hashed = _Hashed(self._raw)
        self._front = io.BufferedReader(self._hashed, 1 << 16)
        start = self._front.peek(6)
        inner: Any = self._front
        if start.startswith(b"\xfd7zXZ\x00"):
            inner = lzma.LZMAFile(self._front)  # noqa: SIM115 - lives as long as this object
        elif start.startswith(b"\x1f\x8b"):
            inner = gzip.GzipFile(fileobj=self._front)
        self.stream: BinaryIO = io.BufferedReader(_Bounded(inner, self.name, limit), 1 << 16)
        if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            self.stream = io.BufferedReader(_Recoded(self.stream), 1 << 16)

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *problem: object) -> None:
        self._raw.close()

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield ``(line number from 1, line without its end)``.

        Raises:
            InputError: a line is longer than `MAX_LINE`, or the file is broken.
        """
        for first, lines in self.blocks():
            yield from enumerate(lines, first)

    def blocks(self) -> Iterator[tuple[int, list[bytes]]]:
        """Yield ``(number of the first line from 1, lines without their ends)``, many lines at a time.

        Raises:
            InputError: as `lines`.
        """
        number, rest = 1, b""
        while data := self.stream.read(_BLOCK):
            *lines, rest = (rest + data).split(b"\n")
            long = next((index for index, line in enumerate([*lines, rest]) if len(line) > MAX_LINE), None)
            yield number, [line.rstrip(b"\r") for line in lines[:long]]
            if long is not None:
                place = f"line {number + long}"
                raise InputError(f"longer than {MAX_LINE:,} bytes, expected a text file", source=self.name, place=place)
            self.tell_progress()
            number += len(lines)
        if rest:
            yield number, [rest.rstrip(b"\r")]

    def tell_progress(self) -> None:
        """Report the position if it moved far enough."""
        if self._progress is not None and self._hashed.position - self._told >= STEP:
            self._told = self._hashed.position
            self._progress(self._told, max(self.size, self._told))

    def digest(self) -> str:
        """Return the SHA-256 of the file as it is on disk, in hexadecimal; reads what is left of it."""
        while self._front.read(1 << 16):
            pass
        if self._progress is not None:
            self._progress(self._hashed.position, self._hashed.position)
        return self._hashed.hash.hexdigest()


def read_all(path: str | Path, *, limit: int = MAX_WHOLE) -> tuple[bytes, str]:
    """Return a file's (decompressed) content and the SHA-256 of the file as it is on disk.

    Raises:
        InputError: it cannot be read, is broken, or is longer than `limit` bytes.
    """
    with Source(path, limit=limit) as source:
        content = source.stream.read()
        return content, source.digest()


def head_of(path: str | Path) -> bytes:
    """Return how a file begins (decompressed), as far as a look at it tells what it is.

    Raises:
        InputError: as `Source`.
    """
    with Source(path) as source:
        return source.stream.read(_BLOCK)


def read_text(path: str | Path, *, limit: int = MAX_WHOLE) -> str:
    """Return a file's content as text: UTF-8 or UTF-16, or else Latin-1, in which every byte is a letter.

    Raises:
        InputError: as `read_all`.
    """
    content, _ = read_all(path, limit=limit)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def read_record(path: Path, kind: type[_Record]) -> _Record:
    """Return what a JSON file of this package's own holds.

    Args:
        path: of the file.
        kind: what it holds, as a type that msgspec knows.

    Raises:
        InputError: it cannot be read, or holds something else.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except OSError as problem:
        raise InputError(f"cannot be read: {problem.strerror}", source=str(path)) from None
    except msgspec.MsgspecError as problem:
        raise InputError(f"cannot be read: {problem}", source=str(path)) from None


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file as it is on disk, in hexadecimal.

    Raises:
        InputError: it cannot be read.
    """
    with Source(path) as source:
        return source.digest()


def content_digest(path: Path) -> str:
    """Return the SHA-256 of a file's content, of what is inside if it is packed (``.gz``, ``.xz``), in hexadecimal.

    Raises:
        InputError: it cannot be read, is broken, or holds more than `MAX_BYTES` once unpacked.
    """
    if path.suffix not in (".gz", ".xz"):
        return file_digest(path)
    inside = hashlib.sha256()
    with Source(path) as source:
        while block := source.stream.read(STEP):
            inside.update(block)
    return inside.hexdigest()


class _Digested:
    """A stream whose bytes are hashed while they are written: what went into a pipe cannot be read again."""

    def __init__(self, stream: BinaryIO, digest: Digest) -> None:
        self._stream = stream
        self._digest = digest

    def write(self, data: Any) -> int:
        self._digest.update(data)
        return self._stream.write(data)

    def flush(self) -> None:
        self._stream.flush()


@contextlib.contextmanager
def replace_file(path: str | Path, digest: Digest | None = None) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of `path` when the block ends well, and leaves no trace when it does not.

    Names that end in ``.gz`` or ``.xz`` are compressed, with no time stamp: same content, same bytes. What is no
    regular file is written into, see `batdispatch.inputs.whole`.

    Args:
        path: the file.
        digest: is told every byte of the file as it is on disk.

    Raises:
        InputError: there is no such folder, or `path` is one.
    """
    target = Path(path)
    if target.is_dir():
        raise InputError("is a folder, expected the name of a file to write", source=str(path))
    if not target.parent.is_dir():
        raise InputError(f"cannot be written: there is no folder {target.parent}", source=str(path))
    try:
        file = Whole(target)
        try:
            plain: Any = file.stream if digest is None else _Digested(file.stream, digest)
            stream = _compressing(plain, target.suffix)
            yield stream
            if stream is not plain:
                stream.close()
            file.finish()
        except BaseException:
            file.discard()
            raise
    except OSError as problem:
        raise InputError(f"cannot be written: {problem.strerror or problem}", source=str(path)) from None


def _compressing(stream: Any, suffix: str) -> Any:
    """Return what compresses into a stream as the suffix says, or the stream."""
    if suffix == ".gz":
        return gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0)
    return lzma.LZMAFile(stream, "wb", preset=1) if suffix == ".xz" else stream


def write_whole(path: Path, data: bytes) -> None:
    """Write a file in one piece; a failure leaves what was there before.

    Raises:
        InputError: the file cannot be written.
    """
    with replace_file(path) as stream:
        stream.write(data)


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write a JSON file, indented for readers."""
    write_whole(path, msgspec.json.format(msgspec.json.encode(data), indent=2) + b"\n")


def write_lines(path: Path, lines: Sequence[bytes]) -> None:
    """Write lines; if there are none, remove the file."""
    if lines:
        write_whole(path, b"\n".join(lines) + b"\n")
    else:
        path.unlink(missing_ok=True)
