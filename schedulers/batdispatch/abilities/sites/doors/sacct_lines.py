"""The lines of ``sacct --parsable``: columns by header, texts that hold the delimiter or line ends."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from batdispatch.core.errors import InputError
from batdispatch.inputs.files import MAX_LINE, Source
from batdispatch.inputs.workloads.report import ImportReport

#: Columns whose text is the users' own: they may hold anything.
_FREE = frozenset(
    {"jobname", "submitline", "comment", "admincomment", "systemcomment", "workdir", "container", "extra"}
)
_HEADER = re.compile(r"JobID(?:Raw)?", re.IGNORECASE)
_ID = re.compile(r"\d{1,15}(?:_(?:\d{1,15}|\[[^\]]{0,9999}\]))?(?:\+\d{1,9})?(?:\.\S{1,40})?", re.ASCII)
_STATE = re.compile(r"[A-Z_]{4,20}\+?(?: by \S{1,40})?", re.ASCII)
_TIME = re.compile(r"\d[\d\-:.T +Z]{0,40}|Unknown|None|", re.ASCII)
_AMOUNT = re.compile(r"[\d\-:.]*[KMGT]?|UNLIMITED|Partition_Limit|INVALID", re.ASCII)
_SUMS = re.compile(r"(?:[\w/:.\-]+=[\w.:\-]+,?)*", re.ASCII)
#: What fields look like, by which texts that hold the delimiter are told apart.
_FORMS = {
    **dict.fromkeys(("jobid", "jobidraw"), _ID),
    "state": _STATE,
    **dict.fromkeys(("submit", "eligible", "start", "end"), _TIME),
    **dict.fromkeys(
        ("elapsed", "elapsedraw", "suspended", "timelimit", "timelimitraw", "systemcpu", "usercpu"), _AMOUNT
    ),
    **dict.fromkeys(("totalcpu", "uid", "gid", "nnodes", "ncpus", "reqcpus", "alloccpus", "allocnodes"), _AMOUNT),
    **dict.fromkeys(("alloctres", "reqtres"), _SUMS),
}
#: Most delimiters in the texts of a record that are shared among two of them.
_SHARED = 16
HOW = (
    "sacct --allusers --allocations --parsable2 --starttime=... --endtime=... --format=JobID,User,Account,Partition,"
    "QOS,JobName,Submit,Eligible,Start,End,ElapsedRaw,TimelimitRaw,State,NNodes,ReqTRES,AllocTRES,NodeList"
)


def is_header(line: bytes) -> bool:
    """Return whether a line is the header of such an account: names of columns, the job's among them."""
    text = line.removeprefix(codecs.BOM_UTF8).decode("latin-1")
    return delimiter_of(text) != "" and any(_HEADER.fullmatch(name) for name in text.split(delimiter_of(text)))


def delimiter_of(header: str) -> str:
    """Return what stands between the names of a header: whatever comes first that no name holds; '' if nothing does."""
    match = re.search(r"[^A-Za-z0-9_/]+", header)
    return match[0] if match and not match[0].isspace() else ""


class Columns:
    """Where each column stands, by its name in small letters."""

    def __init__(self, header: str, source: str, place: str) -> None:
        """Read a header.

        Raises:
            InputError: it names no job.
        """
        self.header = header
        self.delimiter = delimiter_of(header)
        names = header.lower().split(self.delimiter) if self.delimiter else [header.lower()]
        #: Whether each line ends in a delimiter (``--parsable``).
        self.trailing = len(names) > 1 and not names[-1]
        if self.trailing:
            del names[-1]
        self.width = len(names)
        self.at = {name: index for index, name in reversed(list(enumerate(names)))}
        if not self.delimiter or not {"jobid", "jobidraw"} & self.at.keys():
            raise InputError(
                f"the first line is {header[:60]!r}, expected names of columns with JobID; export with: {HOW}",
                source=source,
                place=place,
            )
        self._free = [index for index, name in enumerate(names) if name in _FREE]
        self._checks = [(self.at[name], form) for name, form in _FORMS.items() if name in self.at]

    def fields(self, text: str) -> list[str] | None:
        """Return the fields of a record, None if some are missing."""
        fields = text.split(self.delimiter)
        if self.trailing:
            if fields[-1]:
                return None
            del fields[-1]
        return fields if len(fields) == self.width else self._joined(fields)

    def goes_on(self, text: str) -> bool:
        """Return whether a line is more of the last text of the record before: it does not begin as a record does."""
        if self.trailing or self.width - 1 not in self._free:
            return False
        begun = text.split(self.delimiter)
        # What comes last may be cut off.
        return any(not form.fullmatch(begun[index]) for index, form in self._checks if index < max(len(begun) - 1, 1))

    def _joined(self, fields: list[str]) -> list[str] | None:
        """Give what is too much to the texts that may hold the delimiter, if only one way of it makes sense.

        An empty list: there are several ways, or none.
        """
        surplus = len(fields) - self.width
        if surplus < 0:
            return None
        found: list[list[str]] = []
        free = self._free[:8]
        for shares in _shares(surplus, len(free)):
            taken = fields
            for index, share in zip(free, shares, strict=True):
                taken = [
                    *taken[:index],
                    self.delimiter.join(taken[index : index + share + 1]),
                    *taken[index + share + 1 :],
                ]
            if all(form.fullmatch(taken[index]) for index, form in self._checks):
                found.append(taken)
        # The job's name is often in the submit line too: ways that differ in the texts alone differ in nothing else.
        telling = {tuple(text for index, text in enumerate(taken) if index not in free) for taken in found}
        return found[0] if len(telling) == 1 else []


def _shares(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to share a number among parts of which at most two get any, as for a name and a line with it."""
    for first in range(parts):
        yield tuple(total if part == first else 0 for part in range(parts))
        for second in range(first + 1, parts):
            for share in range(1, total if total <= _SHARED else 0):
                yield tuple({first: share, second: total - share}.get(part, 0) for part in range(parts))


def read_lines(
    path: Path,
    report: ImportReport,
    conclude: Callable[[Source], None],
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[tuple[Columns, list[str], int]]:
    """Yield the columns, the fields and the line number of each record.

    A header may come again, with other columns, as where accounts of several months were put into one file.

    Args:
        path: the file; plain, gzip or xz.
        report: gets a note about texts that were put together.
        conclude: called with the file once it is read.
        progress: told bytes read and bytes in all.

    Raises:
        InputError: the first line is no header, or a record has not as many fields.
    """
    columns: Columns | None = None
    pending, began = "", 0
    #: Lines at which records with such texts began.
    joined: set[int] = set()
    before = 0
    with Source(path, progress=progress) as log:
        for number, line in log.lines():
            text = line.decode("utf-8", "replace")
            if columns is None or (not pending and text[:5].lower() == "jobid" and is_header(line)):
                if text.strip():
                    columns = Columns(text.lstrip("\ufeff").strip(), log.name, f"line {number}")
                continue
            if pending:
                # A text with a line end: the record goes on.
                text, place = f"{pending}\n{text}", f"line {began}"
                if len(text) > MAX_LINE:
                    raise _too_few(pending, columns, log.name, place)
            elif not text or text.isspace():
                continue
            else:
                began = number
            fields = columns.fields(text)
            if fields is None and not pending and before and columns.goes_on(text):
                joined.add(before)
                continue
            if fields is None:
                pending = text
                continue
            if not fields:
                raise InputError(
                    f"more fields than the {columns.width} of the header, and not only in texts that may hold "
                    f"{columns.delimiter!r}: export with another --delimiter",
                    source=log.name,
                    place=f"line {began}",
                )
            if pending or text.count(columns.delimiter) >= columns.width + columns.trailing:
                joined.add(began)
            pending, before = "", began
            yield columns, fields, began
        if pending and columns is not None:
            raise _too_few(pending, columns, log.name, f"line {began}")
        if columns is None:
            raise InputError(f"is empty, expected what this prints: {HOW}", source=log.name)
        conclude(log)
    if joined:
        report.notes.append(f"{len(joined):,} records hold the delimiter or a line end in a text")


def _too_few(text: str, columns: Columns, source: str, place: str) -> InputError:
    found = text.partition("\n")[0].count(columns.delimiter) + 1
    return InputError(f"found {found} fields, expected the {columns.width} of the header", source=source, place=place)
