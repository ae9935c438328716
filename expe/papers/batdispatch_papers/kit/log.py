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
from batdispatch.inputs.workloads.logs import KnownMachine, LogFormat, LogInfo, LogJob, LogOptions
from batdispatch.inputs.workloads.model import stem
from batdispatch.inputs.workloads.report import ImportReport
from batdispatch.inputs.workloads.tables import read_table
from batdispatch_papers.kit.machine import forhlr2

_COLUMNS = Path(__file__).with_name("log.toml")


def read_kit(
    path: Path,
    options: LogOptions,
    report: ImportReport,
    info: LogInfo,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[LogJob]:
    """Yield the jobs of a ``.rst`` log, plain or compressed.

    Raises:
        InputError: a line is not nine fields, or one cannot be read.
    """
    if options.memory not in (None, "none"):
        raise InputError("this format has no memory figures", source="option --memory")
    yield from read_table(path, structs.replace(options, columns=str(_COLUMNS)), report, info, progress)
    info.hosts = _machine_size(path, options)
    info.why = "the file of the machine beside the log"


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
