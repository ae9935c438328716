"""Lines of slurm.conf and of the files it includes, taken apart as Slurm does it, without asking what they mean.

A ``#`` begins a comment, a backslash at the end of a line joins the next one to it, and behind any other backslash a
character stands for itself. A value in double quotes may hold spaces. ``Include FILE`` reads another file in its place;
its path is relative to the folder of the first file, and ``%c`` stands for the cluster's name. Of an absolute path, a
copy in the folder of the first file is taken if there is one, since a site's files are seldom read where they belong.

References:
    Slurm documentation, slurm.conf(5), https://slurm.schedmd.com/slurm.conf.html.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from pathlib import Path

from batdispatch.abilities.sites.doors.slurm.settings import Setting
from batdispatch.core.errors import InputError
from batdispatch.inputs.files import read_text

#: Longest file that is read, in bytes, and how deeply files may include each other.
_MOST, _DEEPEST = 1 << 24, 8
_COMMENT = re.compile(r"((?:[^#\\]|\\.|\\$)*)#.*", re.DOTALL)
_CONTINUED = re.compile(r"(?<!\\)(?:\\\\)*(\\)\s*$")
_INCLUDE = re.compile(r"\s*include\s+(\S+)\s*", re.IGNORECASE)
_PAIR = re.compile(r'\s*([A-Za-z0-9_.]+)\s*=\s*(?:"([^"]*)"|([^\s"]\S*))(?=\s|$)', re.ASCII)


class ConfLines:
    """What a file and those that it includes say, line by line.

    Attributes:
        cut: files that do not end with a line break, so that their last line may be cut.
        missing: a sentence for each file of an absolute path that is included and not there.
    """

    def __init__(self) -> None:
        self.cut: list[str] = []
        self.missing: list[str] = []
        self._cluster = ""

    def read(self, path: Path) -> Iterator[tuple[Setting, ...]]:
        """Yield the settings of each line that has any.

        Raises:
            InputError: a file cannot be read, or a line is no list of ``KEY=VALUE``.
        """
        yield from self._read(path, path.parent, ())

    def _read(self, path: Path, folder: Path, within: tuple[Path, ...]) -> Iterator[tuple[Setting, ...]]:
        source = str(path)
        for numbers, text in _joined(self._text(path)):
            include = _INCLUDE.fullmatch(text)
            if include is None:
                settings = tuple(_settings(text, numbers, source))
                self._note(settings)
                if settings:
                    yield settings
                continue
            inner = _included(include[1].strip('"').replace("%c", self._cluster), folder)
            where = {"source": source, "place": f"line {numbers[0][1]}"}
            if inner in (*within, path) or len(within) >= _DEEPEST:
                raise InputError(f"includes {include[1][:60]!r}, which is being read already", **where)
            try:
                yield from self._read(inner, folder, (*within, path))
            except FileNotFoundError:
                if Path(include[1].strip('"')).is_absolute():
                    # It stayed where it belongs, perhaps for good reasons: keys and passwords are kept so.
                    self.missing.append(f"{source}, line {numbers[0][1]}: includes {inner}, of which there is no copy")
                    continue
                raise InputError(f"includes {str(inner)!r}, which does not exist", **where) from None

    def _text(self, path: Path) -> str:
        if not path.exists():
            raise FileNotFoundError(path)
        text = read_text(path, limit=_MOST)
        if "\0" in text:
            raise InputError("holds zero bytes, expected text", source=str(path))
        if text and not text.endswith("\n"):
            self.cut.append(str(path))
        return text

    def _note(self, settings: tuple[Setting, ...]) -> None:
        for setting in settings:
            if setting.key.lower() == "clustername":
                self._cluster = setting.value.lower()


def _included(name: str, folder: Path) -> Path:
    """Return the file that an Include names: below the folder by as much of an absolute path as leads to one."""
    parts = Path(name).parts
    if not Path(name).is_absolute():
        return folder / name
    copies = (folder.joinpath(*parts[begin:]) for begin in range(1, len(parts)))
    return next((copy for copy in copies if copy.is_file()), Path(name))


def _joined(text: str) -> Iterator[tuple[list[tuple[int, int]], str]]:
    """Yield lines joined at backslashes, without comments: (where each line of the file begins, its number), text."""
    joined, numbers = "", []
    for number, line in enumerate(text.splitlines(), 1):
        comment = _COMMENT.fullmatch(line)
        line = comment[1] if comment else line
        numbers.append((len(joined), number))
        continued = _CONTINUED.search(line)
        joined += line[: continued.start(1)] if continued else line
        if continued is None:
            yield numbers, joined
            joined, numbers = "", []
    if numbers:
        yield numbers, joined


def _settings(text: str, numbers: list[tuple[int, int]], source: str) -> Iterator[Setting]:
    position = 0
    while text[position:].strip():
        match = _PAIR.match(text, position)
        begin = position + len(text[position:]) - len(text[position:].lstrip())
        line = numbers[bisect.bisect_right(numbers, (begin, len(text) + numbers[-1][1])) - 1][1]
        if match is None:
            word = text[begin:].split(maxsplit=1)[0]
            raise InputError(f"found {word[:60]!r}, expected KEY=VALUE", source=source, place=f"line {line}")
        key, quoted, plain = match.groups()
        value = quoted if plain is None else plain
        yield Setting(key, re.sub(r"\\(.)", r"\1", value), source, line)
        position = match.end()
