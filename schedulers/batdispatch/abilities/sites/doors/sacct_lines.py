"""The lines of ``sacct --parsable``: columns by header, texts that hold the delimiter or line ends.

What stands between the columns is told by the header: ``|``, a tab, a comma, a semicolon or any other text. Behind
commas, semicolons and tabs fields may stand in quotes, as spreadsheets write them.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from batdispatch.abilities.sites.doors.slurm_texts import constraint_of
from batdispatch.core.errors import InputError
from batdispatch.inputs.files import MAX_LINE, Source
from batdispatch.inputs.workloads.bad_records import BadRecords
from batdispatch.inputs.workloads.report import ImportReport

#: Columns whose text is the users' own: they may hold anything.
_FREE = frozenset(
    {"jobname", "submitline", "comment", "admincomment", "systemcomment", "workdir", "container", "extra"}
    | {"stderr", "stdin", "stdout", "failednode", "wckey"}
)
#: A moment of this century as seconds since 1970 (SLURM_TIME_FORMAT=%s).
_SECONDS = re.compile(r"1\d{9}", re.ASCII)
_HEADER = re.compile(r"JobID(?:Raw)?", re.IGNORECASE)
_ID = re.compile(r"\d{1,15}(?:_(?:\d{1,15}|\[[^\]]{0,9999}\]))?(?:\+\d{1,9})?(?:\.\S{1,40})?", re.ASCII)
_STATE = re.compile(r"[A-Z_]{4,20}\+?(?: by \S{1,40})?", re.ASCII)
_TIME = re.compile(r"\d[\d\-:.T +Z]{0,40}|Unknown|None|", re.ASCII)
_AMOUNT = re.compile(r"[\d\-:.]*[KMGT]?|UNLIMITED|Partition_Limit|INVALID", re.ASCII)
_SUMS = re.compile(r"(?:[\w/:.\-]+=[\w.:\-]+,?)*", re.ASCII)
#: What sacct prints for people: names, and a line of dashes below each.
_TABLE = re.compile(rb"\s*(?:[A-Za-z]\w+\s+)+\n(?:-+\s+)+\n?")
_NODE = r"(?:[\w.\-]|\[[\d,\-]{0,9999}\])+"
_NODES = re.compile(rf"{_NODE}(?:,{_NODE})*|None assigned|\(null\)|", re.ASCII)
_CONSTRAINT = re.compile(r"[^\s]*")
_NAMES = re.compile(r"[\w.\-]*(?:,[\w.\-]+)*", re.ASCII)
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
    "nodelist": _NODES,
    "constraints": _CONSTRAINT,
    "partition": _NAMES,
    "workdir": re.compile(r"/.*|", re.DOTALL),
}
#: Columns whose text may hold a delimiter, for each that Slurm itself writes into texts.
_HOLDERS = {
    ",": frozenset(
        {"alloctres", "reqtres", "nodelist", "partition", "constraints", "licenses", "reqgres", "allocgres"}
    ),
    "|": frozenset({"constraints"}),
}
#: Delimiters behind which fields may stand in quotes, and those that sites use most.
_QUOTING = ",;\t"
_USED: tuple[str, ...] = ("|", ",", ";", "\t")
#: Most delimiters in the texts of a record that are shared among several of them, and most ways to share them.
_SHARED, _WAYS = 12, 512
#: Most lines above the header.
_PREAMBLE = 20
HOW = (
    "sacct --allusers --allocations --parsable2 --starttime=... --endtime=... --format=JobID,User,Account,Partition,"
    "QOS,JobName,Submit,Eligible,Start,End,ElapsedRaw,TimelimitRaw,State,NNodes,ReqTRES,AllocTRES,NodeList"
)
#: Of these, a header names at least one beside the job.
_USUAL = frozenset(
    {"submit", "start", "end", "state", "elapsed", "elapsedraw", "timelimit", "timelimitraw", "nnodes", "ncpus"}
    | {"alloccpus", "reqcpus", "alloctres", "reqtres", "nodelist", "partition", "user", "account", "jobname"}
)


def is_header(line: bytes) -> bool:
    """Return whether a line is the header of such an account: names of columns, the job's among them."""
    names = names_of(line.removeprefix(codecs.BOM_UTF8).decode("latin-1").strip("\r\n "))
    small = {name.lower() for name in names}
    return len(names) > 1 and any(map(_HEADER.fullmatch, names)) and not small.isdisjoint(_USUAL)


def looks_headless(line: bytes) -> str | None:
    """Return what stands between the fields of a line that looks like a record of ``sacct --noheader``.

    Empty: blanks, as in what it prints for people; None: it looks like none.
    """
    text = line.decode("latin-1")
    for delimiter in (*_USED, ""):
        fields = [field.strip('"') for field in text.split(delimiter or None)]
        dates = sum(1 for field in fields if len(field) == 19 and _TIME.fullmatch(field))
        dates += sum(1 for field in fields if _SECONDS.fullmatch(field))
        if dates and any(map(_STATE.fullmatch, fields)) and any(field and _ID.fullmatch(field) for field in fields):
            return delimiter
    return None


def stranger(head: bytes) -> str:
    """Return what a file is that begins so, if sacct printed it in a form that is not read, or not without help."""
    first = next((line for line in head.splitlines()[:20] if line.strip()), b"").strip()
    is_table = b"JobID" in first and _TABLE.match(head.replace(b"\r", b"").lstrip(b"\n")) is not None
    delimiter = looks_headless(first)
    if is_table or delimiter == "":
        return "looks like what sacct prints for people, where long fields are cut: export it with sacct --parsable2"
    if delimiter is not None:
        return (
            "looks like what sacct --noheader prints: name its columns as --format had them, --header "
            "JobID,User,Submit,Start,End,State,AllocTRES,NodeList"
        )
    return ""


def delimiter_of(header: str) -> str:
    """Return what stands between the names of a header: whatever comes first that no name holds; '' if nothing does."""
    plain = header.replace('"', "")
    # The last ones are made to stand between fields and units, and count as blanks.
    match = re.search(r"\t|[\x1c-\x1f]|[^A-Za-z0-9_/\s]+", plain)
    return match[0] if match else ""


def names_of(header: str) -> list[str]:
    """Return the names of a header, without quotes."""
    delimiter = delimiter_of(header)
    return [name.strip().strip('"') for name in header.split(delimiter)] if delimiter else [header]


class Columns:
    """Where each column stands, by its name in small letters."""

    def __init__(self, header: str, source: str, place: str, *, delimiter: str = "") -> None:
        """Read a header.

        Args:
            header: names, and what stands between them.
            source: the file.
            place: of the header.
            delimiter: what stands between the fields of a record, where that is something else.

        Raises:
            InputError: it names no job.
        """
        self.header = header
        self.names = names_of(header)
        self.delimiter = delimiter or delimiter_of(header)
        names = [name.lower() for name in self.names]
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
        #: Whether blanks stand around the delimiter, as where a table was made by hand.
        self._padded = any(name != name.strip() for name in header.strip().split(self.delimiter)[1:])
        self._quotes = self.delimiter in _QUOTING or '"' in header
        self._free = [index for index, name in enumerate(names) if name in _FREE]
        holders = _HOLDERS.get(self.delimiter, frozenset())
        self._holds = sorted({*self._free, *(index for index, name in enumerate(names) if name in holders)})
        self._checks = {self.at[name]: form for name, form in _FORMS.items() if name in self.at}

    def fields(self, text: str) -> list[str] | None:
        """Return the fields of a record, None if some are missing."""
        if self._quotes and '"' in text:
            return self._unquoted(text)
        fields = text.split(self.delimiter)
        if self._padded:
            fields = [field.strip() for field in fields]
        if self.trailing:
            if fields[-1]:
                return None
            del fields[-1]
        return fields if len(fields) == self.width else self._joined(fields)

    def is_whole(self, text: str) -> bool:
        """Return whether a text is a record by itself, with fields that look as they should."""
        fields = self.fields(text)
        if not fields:
            return False
        return all(form.fullmatch(fields[index]) for index, form in self._checks.items())

    def goes_on(self, text: str) -> bool:
        """Return whether a line is more of the last text of the record before: it does not begin as a record does."""
        if self.trailing or self.width - 1 not in self._free:
            return False
        begun = text.split(self.delimiter)
        # What comes last may be cut off.
        last = max(len(begun) - 1, 1)
        return any(not form.fullmatch(begun[index]) for index, form in self._checks.items() if index < last)

    def _unquoted(self, text: str) -> list[str] | None:
        """Return the fields of a record some of which stand in quotes, None if it goes on in the next line."""
        try:
            fields = next(csv.reader([text], delimiter=self.delimiter[0]))
        except (csv.Error, StopIteration):
            return []
        if self.trailing and fields and not fields[-1]:
            del fields[-1]
        if len(fields) < self.width:
            return None
        return fields if len(fields) == self.width else self._joined(fields)

    def _joined(self, fields: list[str]) -> list[str] | None:
        """Give what is too much to the texts that may hold the delimiter, if only one way of it makes sense.

        An empty list: there are several ways, or none.
        """
        if len(fields) < self.width:
            return None
        # The job's name is often in the submit line too: ways that differ in the texts alone differ in nothing else.
        found = sorted(_Ways(fields, self._holds, self._checks, self.width, self.delimiter).all(), key=self._doubt)
        loose = {*self._free, self.at.get("constraints", -1)}
        telling = {tuple(text for index, text in enumerate(taken) if index not in loose) for taken in found}
        return found[0] if len(telling) == 1 else []

    def _doubt(self, fields: Sequence[str]) -> tuple[bool, bool, int]:
        """Return a key by which more likely ways to share what is too much come first."""
        line, constraint = self.at.get("submitline", -1), self.at.get("constraints", -1)
        if line < 0:
            return False, False, 0
        begins = fields[line][:7].lstrip().startswith(("sbatch", "srun", "salloc", "scron", "/")) or not fields[line]
        asked = constraint_of(fields[line])
        differs = constraint >= 0 and bool(asked) and asked.strip("'\"") != fields[constraint].strip("'\"")
        return differs, not begins, fields[line].count(self.delimiter) if constraint >= 0 else 0


class _Ways:
    """The ways to put pieces of a line together to fields."""

    def __init__(
        self,
        pieces: Sequence[str],
        holders: Sequence[int],
        checks: dict[int, re.Pattern[str]],
        width: int,
        delimiter: str,
    ) -> None:
        self._pieces, self._holders, self._checks = pieces, frozenset(holders), checks
        self._width, self._delimiter = width, delimiter
        self._surplus = len(pieces) - width
        self._from = cache(self._found_from)

    def all(self) -> list[list[str]]:
        """Return them, or the first ones of many."""
        return [list(way) for way in self._from(0, 0)]

    def _found_from(self, column: int, used: int) -> list[tuple[str, ...]]:
        """Return the ways from a column on, before which so many pieces more than columns were taken."""
        if column == self._width:
            return [()] if used == self._surplus else []
        begin, form = column + used, self._checks.get(column)
        left = self._surplus - used if column in self._holders else 0
        found: list[tuple[str, ...]] = []
        # A text of very many pieces is one text.
        for more in range(left, -1, -1) if self._surplus <= _SHARED else sorted({0, left}, reverse=True):
            text = self._delimiter.join(self._pieces[begin : begin + more + 1])
            if form is None or (form.fullmatch(text) and (form is not _SUMS or _names_once(text))):
                found += [(text, *rest) for rest in self._from(column + 1, used + more)]
            if len(found) >= _WAYS:
                return found[:_WAYS]
        return found


def _names_once(amounts: str) -> bool:
    names = [part.partition("=")[0] for part in amounts.split(",")]
    return len(set(names)) == len(names)


def columns_named(names: str, path: Path) -> Columns:
    """Return the columns of a file without a header, by the names that people give and by its first line.

    Raises:
        InputError: none of the names is a job's.
    """
    # A name may say how wide its column was asked to be (JobID%20).
    wanted = ",".join(name.partition("%")[0] for name in re.split(r"[,|;\s]+", names.strip(" ,|;")) if name)
    with Source(path) as log:
        first = next((line for _, line in log.lines() if line.strip()), b"").decode("utf-8", "replace")
    count = wanted.count(",") + 1
    # That which gives as many fields as there are names, or else most of them.
    delimiter = max(_USED, key=lambda each: (first.rstrip(each).count(each) + 1 == count, first.count(each)))
    trailing = "," if first.endswith(delimiter) and first.count(delimiter) >= count else ""
    return Columns(wanted + trailing, "option --header", "", delimiter=delimiter)


def read_lines(
    path: Path,
    report: ImportReport,
    bad: BadRecords,
    conclude: Callable[[Source], None],
    progress: Callable[[int, int], None] | None = None,
    *,
    columns: Columns | None = None,
) -> Iterator[tuple[Columns, list[str], int]]:
    """Yield the columns, the fields and the line number of each record.

    A header may come again, with other columns, as where accounts of several months were put into one file.

    Args:
        path: the file; plain, gzip or xz.
        report: gets a note about texts that were put together.
        bad: gets the records that have not as many fields.
        conclude: called with the file once it is read.
        progress: told bytes read and bytes in all.
        columns: of a file without a header; None: its header names them.

    Raises:
        InputError: there is no header.
    """
    pending, began = "", 0
    #: Lines at which records with such texts began.
    joined: set[int] = set()
    before = 0
    with Source(path, progress=progress) as log:
        above: list[tuple[int, str]] = []

        def refuse(problem: InputError) -> None:
            report.records += 1
            bad.add(problem)

        for number, line in log.lines():
            text = line.decode("utf-8", "replace")
            if columns is None:
                if text.strip() and is_header(line):
                    columns = Columns(text.lstrip("\ufeff").strip("\r\n "), log.name, f"line {number}")
                elif text.strip():
                    above.append((number, text))
                    if len(above) > _PREAMBLE:
                        break
                continue
            if not pending and text[:4] == columns.header[:4] and is_header(line):
                columns = Columns(text.strip("\r\n "), log.name, f"line {number}")
                continue
            if pending:
                if columns.is_whole(text):
                    # What was pending is no record, as at the end of a file that was cut.
                    refuse(_too_few(pending, columns, log.name, f"line {began}"))
                    pending, began = "", number
                else:
                    # A text with a line end: the record goes on.
                    text = f"{pending}\n{text}"
                    if len(text) > MAX_LINE:
                        refuse(_too_few(pending, columns, log.name, f"line {began}"))
                        pending = ""
                        continue
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
                pending = ""
                refuse(
                    InputError(
                        f"more fields than the {columns.width} of the header, and not only in texts that may hold "
                        f"{columns.delimiter!r}: export with another --delimiter",
                        source=log.name,
                        place=f"line {began}",
                    )
                )
                continue
            if pending or text.count(columns.delimiter) >= columns.width + columns.trailing:
                joined.add(began)
            pending, before = "", began
            yield columns, fields, began
        if pending and columns is not None:
            refuse(_too_few(pending, columns, log.name, f"line {began}"))
        if columns is None and above:
            Columns(above[0][1], log.name, f"line {above[0][0]}")
        if columns is None:
            raise InputError(f"is empty, expected what this prints: {HOW}", source=log.name)
        conclude(log)
    if above:
        report.notes.append(f"{len(above):,} lines above the header: not read")
    if joined:
        report.notes.append(f"{len(joined):,} records hold the delimiter or a line end in a text")


def _too_few(text: str, columns: Columns, source: str, place: str) -> InputError:
    found = text.partition("\n")[0].count(columns.delimiter) + 1
    return InputError(f"found {found} fields, expected the {columns.width} of the header", source=source, place=place)
