"""Logs of KIT's ForHLR II: a line a job, nine fields separated by semicolons.

Fields: id; requested processors; processors; walltime; run time; wait; submit; start; end (s). Processors are cores: by
default a unit is a core on nodes that jobs share. A file beside the log, ``NAME_node.con`` (``MaxNodes=``,
``MaxProcs=``), gives the size of the machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

from batdispatch.core.errors import InputError
from batdispatch.inputs.files import Source
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads.logs import LogInfo, LogJob, check_processors_per_host
from batdispatch.inputs.workloads.model import stem
from batdispatch.inputs.workloads.report import ImportReport

_FIELDS = ("id", "requested processors", "processors", "walltime", "run time", "wait", "submit", "start", "end")


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
    units = options.units or "cores"
    check_processors_per_host(options, units)
    if options.memory not in (None, "none"):
        raise InputError("this format has no memory figures", source="option --memory")
    with Source(path, progress=progress) as log:
        for line_number, line in log.lines():
            if not line.strip() or line.lstrip().startswith((b"#", b";")):
                continue
            report.records += 1
            job = _job(line, options, units, report, log.name, f"line {line_number}")
            if job is not None:
                yield job
        info.digest = log.digest()
    info.hosts = _machine_size(path, units, options)
    info.why = "the file of the machine beside the log"


def _job(line: bytes, options: LogOptions, units: str, report: ImportReport, source: str, place: str) -> LogJob | None:
    fields = line.split(b";")
    if len(fields) != len(_FIELDS):
        raise InputError(f"found {len(fields)} fields, expected {'; '.join(_FIELDS)}", source=source, place=place)
    values: list[float] = []
    for name, field in zip(_FIELDS, fields, strict=True):
        try:
            value = float(field)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or b"_" in field:
            raise InputError(
                f"{name} is {field.decode('latin-1')[:40]!r}, expected a number", source=source, place=place
            )
        values.append(value)
    number, asked, given, walltime, runtime, _, submit, start, _ = values
    if number != int(number) or number < 0:
        raise InputError(f"id is {number:g}, expected a whole number from 0", source=source, place=place)
    job = str(int(number))
    if runtime < 0 or submit < 0:
        report.drop("without a run time" if runtime < 0 else "without a submit time", job)
        return None
    first, second = (asked, given) if options.size == "requested" else (given, asked)
    size = math.ceil(first if first > 0 else second)
    if size < 1:
        raise InputError(f"{size} processors, expected at least 1", source=source, place=place)
    return LogJob(
        id=job,
        submission=submit,
        runtime=runtime,
        start=start if start >= submit else math.nan,
        walltime=walltime if walltime > 0 else math.inf,
        units=-(-size // options.processors_per_host),
        demand={"core": 1} if units == "cores" else None,
    )


def _machine_size(path: Path, units: str, options: LogOptions) -> int | None:
    beside = path.with_name(stem(path) + "_node.con")
    if not beside.is_file():
        return None
    sizes: dict[str, int] = {}
    with Source(beside, limit=1 << 16) as file:
        for _, line in file.lines():
            name, _, value = line.decode("latin-1").partition("=")
            if name in ("MaxNodes", "MaxProcs") and value.isascii() and value.isdigit() and 0 < len(value) < 9:
                sizes[name] = int(value)
    if units == "cores":
        return sizes.get("MaxNodes")
    return math.ceil(sizes["MaxProcs"] / options.processors_per_host) if "MaxProcs" in sizes else None
