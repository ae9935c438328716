"""Which importer reads which log."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable
from functools import cache
from itertools import starmap
from pathlib import Path
from typing import Any, NamedTuple

from batdispatch.core.errors import InputError
from batdispatch.core.line import registry
from batdispatch.core.machine.machine import Machine
from batdispatch.inputs.files import Source, head_of
from batdispatch.inputs.log_options import ENTRY_POINTS, LogOptions
from batdispatch.inputs.workloads.assembly import assemble, blocks
from batdispatch.inputs.workloads.log_columns import LogColumns
from batdispatch.inputs.workloads.log_workload import LogWorkload
from batdispatch.inputs.workloads.logs import LogFormat, LogInfo, Selection
from batdispatch.inputs.workloads.model import Workload
from batdispatch.inputs.workloads.report import ImportReport

_KNOWN = (
    "expected an SWF log (18 fields a line), what sacct --parsable2 or --json prints (columns by header), accounts of "
    "PBS or Torque, a KIT .rst log (9 fields and ';'), Eurora's (fields, ';' and '__') or a table whose columns "
    "--columns names"
)

#: What a workload of Batsim has near its beginning.
_BATSIM = (b'"nb_res"', b'"subtime"', b'"profiles"')


@cache
def formats() -> dict[str, LogFormat]:
    """Return the formats that are announced, by name.

    Raises:
        InputError: one cannot be loaded.
    """
    return {name: registry.load(ENTRY_POINTS, name, "log format") for name in registry.names(ENTRY_POINTS)}


def guess_format(path: Path) -> str:
    """Return a log's format, told by its name or else by its first lines.

    Raises:
        InputError: it looks like none of the formats.
    """
    head = head_of(path) if path.is_file() else b""
    for name, kind in formats().items():
        if kind.holds is not None and kind.holds(head):
            return name
    if named := _named(path):
        # A table needs to be told more, so that it may well be something else.
        if named == "table" and (other := _stranger(head)):
            raise InputError(other, source=str(path))
        return named
    text = _first_line(path)
    if not text:
        raise InputError(f"is empty, {_KNOWN}", source=str(path))
    if text.startswith(b"{"):
        raise InputError(
            f"looks like JSON; a Batsim workload needs no importer (--to converts between versions); {_KNOWN}",
            source=str(path),
        )
    for name, kind in formats().items():
        if kind.suits is not None and kind.suits(text):
            return name
    raise InputError(_stranger(head) or f"the format is none we know: {_KNOWN}", source=str(path))


def _stranger(head: bytes) -> str:
    """Return what a file is that begins so, if a format knows it as something that is not read; empty: none does."""
    told = (kind.stranger(head) for kind in formats().values() if kind.stranger is not None)
    return next(filter(None, told), "")


def _named(path: Path) -> str:
    """Return the format that a log's name tells; empty: none."""
    for name, kind in formats().items():
        if kind.is_folder if path.is_dir() else _plain_name(path).endswith(kind.endings):
            return name
    return ""


def _plain_name(path: Path) -> str:
    return path.name.lower().removesuffix(".xz").removesuffix(".gz")


def _first_line(path: Path) -> bytes:
    """Return the first line of a file that is not blank, without blanks around it; empty: there is none."""
    with Source(path) as log:
        return next((text for _, line in log.lines() if (text := line.strip())), b"")


def is_workload(path: Path) -> bool:
    """Return whether a file is a Batsim workload rather than a log, told by its name or else by its first byte."""
    if not path.is_file():
        return False
    head = head_of(path)
    looks_so = _plain_name(path).endswith(".json") or head.removeprefix(BOM_UTF8).lstrip().startswith(b"{")
    if not looks_so or any(mark in head for mark in _BATSIM):
        return looks_so
    # Others write JSON, too.
    return not any(kind.holds is not None and kind.holds(head) for kind in formats().values())


class Records(NamedTuple):
    """The records of a log in the order of the file, before anything is selected or repaired."""

    jobs: LogColumns
    report: ImportReport
    info: LogInfo


def read_records(path: str | Path, *, kind: str | None = None, options: LogOptions | None = None) -> Records:
    """Read the jobs of a log that ran, as they stand there; `read_log` makes a workload of them.

    Args:
        path: the log; plain or compressed.
        kind: a key of `formats`; None: guess.
        options: how a record is understood.

    Raises:
        InputError: the log or an option is wrong.
    """
    options = options or LogOptions()
    kind = _kind(Path(path), kind, options)
    report, info = ImportReport(source=str(path), format=kind), LogInfo()
    found = blocks(formats()[kind].read(Path(path), options, report, info, None), report)
    return Records(LogColumns.joined(starmap(LogColumns.sifted, found)), report, info)


def _kind(source: Path, kind: str | None, options: LogOptions) -> str:
    if options.columns:
        kind = kind or "table"
    elif options.header:
        kind = kind or "sacct"
    kind = kind or guess_format(source)
    if kind not in formats():
        raise InputError(f"{kind!r} is no log format, expected one of {', '.join(formats())}", source="option --format")
    return kind


class ImportResult(NamedTuple):
    """What was made of a log."""

    workload: Workload
    report: ImportReport
    #: What the log tells of itself and of its machine.
    info: LogInfo


class ImportedColumns(NamedTuple):
    """What was made of a log, with the jobs in columns."""

    workload: LogWorkload
    report: ImportReport
    info: LogInfo

    def told(self) -> ImportResult:
        """Return the same with an object per job."""
        return ImportResult(self.workload.workload(), self.report, self.info)


def read_log(path: str | Path, **settings: Any) -> ImportResult:
    """Read a log: the workload it makes, the account of what was dropped or altered, and what it tells of itself.

    Settings and errors are those of `import_log`.
    """
    return import_log(path, **settings).told()


def import_log(
    path: str | Path,
    *,
    kind: str | None = None,
    options: LogOptions | None = None,
    selection: Selection | None = None,
    machine: Machine | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ImportedColumns:
    """Read a log as `read_log`, without an object per job.

    Args:
        path: the log; plain or compressed.
        kind: a key of `formats`; None: guess.
        options: how jobs are made.
        selection: which are taken.
        machine: what it is to run on; jobs that cannot are dropped and counted.
        progress: told bytes read and bytes in all.

    Raises:
        InputError: the log or an option is wrong, or no job is left.
    """
    source = Path(path)
    options = options or LogOptions()
    kind = _kind(source, kind, options)
    report = ImportReport(source=str(path), format=kind)
    info = LogInfo()
    workload = assemble(
        formats()[kind].read(source, options, report, info, progress),
        source=source,
        info=info,
        report=report,
        options=options,
        selection=selection or Selection(),
        machine=machine,
    )
    return ImportedColumns(workload, report, info)
