"""Logs of KIT's ForHLR II: a table without a header, whose columns ``log.toml`` names.

Processors are cores: by default a unit is a core on nodes that jobs share. A file beside the log, ``NAME_node.con``
(``MaxNodes=``, ``MaxProcs=``), gives the size of the machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import structs

from batdispatch.core.errors import InputError
from batdispatch.inputs.files import Source
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads.logs import KnownMachine, LogFormat, LogInfo, LogJob
from batdispatch.inputs.workloads.mapping import parse_columns
from batdispatch.inputs.workloads.model import stem
from batdispatch.inputs.workloads.report import ImportReport
from batdispatch.inputs.workloads.tables import read_table
from batdispatch_papers.kit.machine import forhlr2

_COLUMNS = Path(__file__).with_name("log.toml")
_FIELDS = parse_columns(str(_COLUMNS)).header


def read_kit(
    path: Path,
    options: LogOptions,
    report: ImportReport,
    info: LogInfo,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[LogJob]:
    """Yield the jobs of a ``.rst`` log, plain or compressed.

    Raises:
        InputError: a line is not nine numbers, or they contradict each other.
    """
    if options.memory not in (None, "none"):
        raise InputError("this format has no memory figures", source="option --memory")
    options = structs.replace(options, columns=str(_COLUMNS))
    yield from read_table(path, options, report, info, progress, check=_checked)
    info.hosts = _machine_size(path, options)
    info.why = "the file of the machine beside the log"


def _checked(row: list[str]) -> list[str]:
    """Return the fields of a row with whole numbers of processors, and without what is negative and so unknown.

    A start before the submission is unknown, too. A line that is empty or a remark has no fields.

    Raises:
        ValueError: a field is no number, the id is no whole number, or a job that ran had no processor.
    """
    if not row or row[0].lstrip()[:1] in ("", "#"):
        return []
    if len(row) != len(_FIELDS):
        raise ValueError(f"found {len(row)} fields, expected {'; '.join(_FIELDS)}")
    values = [_number(name, text) for name, text in zip(_FIELDS, row, strict=True)]
    number, asked, given, _, runtime, _, submit, start, _ = values
    if number != int(number) or number < 0:
        raise ValueError(f"id is {number:g}, expected a whole number from 0")
    processors = [math.ceil(asked), math.ceil(given)]
    if runtime >= 0 and submit >= 0 and max(processors) < 1:
        raise ValueError(f"{max(processors)} processors, expected at least 1")
    known = [value >= 0 and (name != "start" or start >= submit) for name, value in zip(_FIELDS, values, strict=True)]
    texts = [str(int(number)), *map(str, processors), *row[3:]]
    return [text if is_known else "" for text, is_known in zip(texts, known, strict=True)]


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in text:
        raise ValueError(f"{name} is {text[:40]!r}, expected a number")
    return value


def _machine_size(path: Path, options: LogOptions) -> int | None:
    beside = path.with_name(stem(path) + "_node.con")
    if not beside.is_file():
        return None
    sizes: dict[str, int] = {}
    with Source(beside, limit=1 << 16) as file:
        for _, line in file.lines():
            name, _, value = line.decode("latin-1").partition("=")
            if name in ("MaxNodes", "MaxProcs") and value.isascii() and value.isdigit() and 0 < len(value) < 9:
                sizes[name] = int(value)
    if options.units != "hosts":
        return sizes.get("MaxNodes")
    return math.ceil(sizes["MaxProcs"] / options.processors_per_host) if "MaxProcs" in sizes else None


FORMAT = LogFormat(
    read_kit,
    endings=(".rst",),
    suits=lambda line: line.count(b";") == 8 and not line.startswith(b";"),
    machine=KnownMachine("ForHLR II", forhlr2),
)
