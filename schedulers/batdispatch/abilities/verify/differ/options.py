"""What people state of schedules that are held against definitions; nothing large is imported."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from batdispatch.core.errors import InputError
from batdispatch.core.line.settings import Form
from batdispatch.inputs.log_options import LogOptions

#: The keys of `differ.variants.DEFINITIONS`.
Policy = Literal["fcfs", "easy", "easy-sjbf", "conservative", "conservative-uncompressed", "filling", "sjf-filling"]


def numbers_of(text: str) -> tuple[int, ...]:
    """Read numbers of processors, such as 338,512.

    Raises:
        InputError: one is none.
    """
    parts = text.split(",") if text else []
    for part in parts:
        if not part.strip().isdigit() or not 1 <= int(part) <= 1 << 40:
            raise InputError(f"{part[:40]!r}, expected numbers of processors such as 338,512", source="option --hosts")
    return tuple(map(int, parts))


class ScheduleOptions(msgspec.Struct, frozen=True, kw_only=True):
    """A definition, and how a job file is read.

    policy: Hold the schedules against this policy's definition.
    kind: Read the job file in this format. By default, its name or its content tells.
    columns: Read the job file as a table, in which these columns mean these fields, written as for `batdispatch
        convert`. There must be a column for start or for wait.
    size: Take this processor count of an SWF file as a job's size.
    """

    policy: Policy = "easy"
    kind: Annotated[str | None, Form("NAME", name="--format")] = None
    columns: Annotated[str, Form("FIELD=COLUMN[:UNIT],...")] = ""
    size: Literal["requested", "allocated"] = "requested"

    @property
    def log_options(self) -> LogOptions:
        """How the records of the job file are understood."""
        return LogOptions(columns=self.columns, size=self.size)


class FileOptions(ScheduleOptions, frozen=True, kw_only=True):
    """What a schedule is compared with.

    log: Read what the jobs asked for from this log, which was simulated. By default, the job file says it itself.
    hosts: Take this as the number of processors of the machine. By default, the header of the log or of the job file
        says it.
    tolerance: Count two starts as equal if they differ by at most this many seconds.
    """

    log: Annotated[Path | None, Form("LOG")] = None
    hosts: Annotated[Annotated[int, Meta(ge=1)] | None, Form("N")] = None
    tolerance: Annotated[Annotated[float, Meta(ge=0)], Form("SECONDS")] = 0.5


class CasesOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What is done with cases.

    write: Write the cases into DIR.
    """

    write: bool = False


class FigureOptions(ScheduleOptions, frozen=True, kw_only=True):
    """Which figures are computed.

    hosts: Try these numbers of processors. By default, the one that the log's header says, and the next power of two.
    threshold: Count a run time below this many seconds as this long in the bounded slowdown.
    quantile: Compute this quantile of the bounded slowdown.
    together: Combine up to this many mistakes in one simulation.
    published: Mark every figure that is within 1 % of this published one.
    """

    hosts: Annotated[tuple[int, ...], Form("N,...", read=numbers_of)] = ()
    threshold: Annotated[Annotated[float, Meta(gt=0)], Form("SECONDS")] = 10.0
    quantile: Annotated[float, Meta(ge=0, le=1)] = 0.95
    together: Annotated[int, Meta(ge=1, le=3)] = 1
    published: Annotated[float | None, Form("X")] = None
