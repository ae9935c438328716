"""Logs of CINECA's Eurora, whose jobs need cores, GPUs, MICs and memory on each node.

One line a job: ``id;executable;user;queue;submit__node;cores;gpus;mics;memory#...#__start;end;nodes;cores;memory;
walltime;NA;NA;status;type``. Between the double underscores stands what the job used, an entry a node. The archive
holds many overlapping files, so the distinct lines are the log.

A job's units are its requested nodes; a unit's demand is what one node entry says, the largest of each resource should
entries differ. Two entries may name one node: units of a job may share a node. Memory is in KB and becomes MiB. The
requested totals are not used: they count memory in changing units.

References:
    Borghesi et al., "Power capping in high performance computing systems", CP 2015.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from batdispatch.core.errors import InputError
from batdispatch.inputs.files import MAX_LINE, Source
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads.logs import KnownMachine, LogFormat, LogInfo, LogJob
from batdispatch.inputs.workloads.report import ImportReport
from batdispatch_papers.eurora.machine import eurora

#: Ending of the files that hold jobs.
ENDING = ".log_crypt"
#: Names that stand for masked ones.
_MASKED = frozenset({"xxx", "yyy", ""})
_WALLTIME = re.compile(r"(?:(\d{1,4})-)?(\d{1,5}):(\d{2})(?::(\d{2}))?")
_RESOURCES = ("core", "gpu", "mic", "memory")
#: Most nodes a job may use.
_MAX_NODES = 100_000


def read_eurora(
    path: Path,
    options: LogOptions,
    report: ImportReport,
    info: LogInfo,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[LogJob]:
    """Yield the distinct jobs of one file, of a folder, or of a tar archive (plain, xz or gzip; read, never unpacked).

    Raises:
        InputError: a line is malformed, or there is no file of jobs.
    """
    if options.processors_per_host != 1:
        raise InputError("this format counts nodes already", source="option --processors-per-host")
    if options.memory not in (None, "none"):
        raise InputError("memory is always read from this format", source="option --memory")
    info.dated = True
    seen: dict[bytes, bytes] = {}
    repeats = 0
    masked = False
    for source, number, line in _all_lines(path, info, progress):
        if not line.strip():
            continue
        identity = line.partition(b";")[0]
        if seen.get(identity) == line:
            repeats += 1
            continue
        report.records += 1
        if identity in seen:
            report.drop("other accounts of a job already read", identity.decode("latin-1")[:32])
            continue
        seen[identity] = line
        job = _job(line, options, report, source, f"line {number}")
        masked = masked or "user" not in job.extra
        yield job
    if repeats:
        report.notes.append(f"{repeats:,} lines repeat a job of another file")
    if masked:
        report.notes.append("user and executable names are masked in this log: jobs have none")


def _all_lines(
    path: Path, info: LogInfo, progress: Callable[[int, int], None] | None
) -> Iterator[tuple[str, int, bytes]]:
    if path.is_dir():
        files = sorted(file for file in path.rglob(f"*{ENDING}") if file.is_file())
        if not files:
            raise InputError(f"there is no file *{ENDING} in this folder", source=str(path))
        for file in files:
            with Source(file, progress=progress) as log:
                for number, line in log.lines():
                    yield log.name, number, line
        return
    with Source(path, progress=progress) as log:
        # The mark of a tar archive; without it this is a file of jobs.
        if log.stream.peek(262)[257:262] == b"ustar":  # type: ignore[attr-defined]
            yield from _tar_lines(log)
        else:
            for number, line in log.lines():
                yield log.name, number, line
        info.digest = log.digest()


def _tar_lines(log: Source) -> Iterator[tuple[str, int, bytes]]:
    found = False
    try:
        with tarfile.open(fileobj=log.stream, mode="r|") as archive:
            for member in archive:
                log.tell_progress()
                if not member.isfile() or not member.name.endswith(ENDING):
                    continue
                found = True
                name = f"{log.name}({member.name})"
                content = archive.extractfile(member)
                assert content is not None, "a regular file"
                number = 0
                while line := content.readline(MAX_LINE + 1):
                    number += 1
                    if len(line) > MAX_LINE:
                        raise InputError(f"longer than {MAX_LINE:,} bytes", source=name, place=f"line {number}")
                    yield name, number, line.rstrip(b"\r\n")
    except (tarfile.TarError, ValueError, OverflowError) as problem:
        raise InputError(f"the archive is broken: {problem}", source=log.name) from None
    if not found:
        raise InputError(f"there is no file *{ENDING} in this archive", source=log.name)


def _job(line: bytes, options: LogOptions, report: ImportReport, source: str, place: str) -> LogJob:
    def error(message: str) -> InputError:
        return InputError(message, source=source, place=place)

    parts = line.decode("latin-1").split("__")
    if len(parts) != 3:
        raise error(f"found {len(parts)} parts between '__', expected 3: the job, the nodes used, its times")
    head, tail = parts[0].split(";"), parts[2].split(";")
    if len(head) != 5 or len(tail) != 10:
        raise error(f"found {len(head)} and {len(tail)} fields around the nodes used, expected 5 and 10")
    name, executable, user, queue, submit = head
    start, end, nodes, _, _, asked, _, _, _, kind = tail
    if not (name.isascii() and name.isdigit() and len(name) <= 18):
        raise error(f"job id {name[:40]!r}, expected a whole number")
    begin, finish = _moment(start, error), _moment(end, error)
    if not (nodes.isascii() and nodes.isdigit() and 1 <= int(nodes[:9]) <= _MAX_NODES and len(nodes) <= 9):
        raise error(f"requested nodes {nodes[:40]!r}, expected a whole number from 1 to {_MAX_NODES}")
    if finish < begin:
        raise error(f"ends ({end}) before it starts ({start})")
    entries = [_entry(text, error) for text in parts[1].split("#") if text]
    if not entries:
        raise error("no node used, expected node;cores;gpus;mics;memory")
    if len(entries) != int(nodes):
        report.change("used another number of nodes than requested: the request taken", name)
    if len(set(entries)) > 1:
        report.change("used nodes differently: the largest amount of each resource taken", name)
    amounts = [max(entry[i] for entry in entries) for i in range(len(_RESOURCES))]
    amounts[-1] = -(-amounts[-1] // 1024)
    extra: dict[str, Any] = {"queue": queue, "application_type": kind}
    if user not in _MASKED:
        extra["user"] = user
    if executable not in _MASKED:
        extra["executable"] = executable
    return LogJob(
        id=str(int(name)),
        submission=_moment(submit, error),
        runtime=finish - begin,
        start=begin,
        walltime=_duration(asked, error),
        units=int(nodes),
        demand=None
        if options.units == "hosts"
        else {resource: amount for resource, amount in zip(_RESOURCES, amounts, strict=True) if amount},
        extra=extra,
    )


def _moment(text: str, error: Callable[[str], InputError]) -> float:
    """Return seconds since 1970 on the log's own clock."""
    try:
        return (datetime.strptime(text.strip(), "%Y-%m-%d %H:%M:%S") - datetime(1970, 1, 1)).total_seconds()
    except ValueError:
        raise error(f"time {text[:40]!r}, expected a date and time such as 2014-03-31 11:09:04") from None


def _duration(text: str, error: Callable[[str], InputError]) -> float:
    match = _WALLTIME.fullmatch(text.strip())
    if match is None or not text.isascii():
        raise error(f"walltime {text[:40]!r}, expected HH:MM, HH:MM:SS or D-HH:MM:SS")
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    total = float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
    if total <= 0 or minutes > 59 or seconds > 59:
        raise error(f"walltime {text[:40]!r}, expected a time above 0")
    return total


def _entry(text: str, error: Callable[[str], InputError]) -> tuple[int, ...]:
    fields = text.strip().split(";")
    if len(fields) != 5 or not all(f.isascii() and f.isdigit() and len(f) <= 15 for f in fields):
        raise error(f"node used {text[:60]!r}, expected node;cores;gpus;mics;memory in whole numbers")
    return tuple(int(field) for field in fields[1:])


FORMAT = LogFormat(
    read_eurora,
    endings=(ENDING, ".tar"),
    suits=lambda line: b"__" in line and b";" in line,
    is_folder=True,
    # The memory is what the node file beside the published logs states.
    machine=KnownMachine("Eurora", partial(eurora, memory_mib=32768)),
)
