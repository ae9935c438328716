"""What Slurm's plugin ``jobcomp/filetxt`` writes of each job that ended: ``JobId=3 UserId=ada(1000) ... `` a line.

Each line becomes a record with the columns of ``sacct``, so that it is read by the same rules. A name and a folder may
hold blanks and look like fields; what stands around them tells where they end.

References:
    Slurm, src/plugins/jobcomp/filetxt, https://github.com/SchedMD/slurm.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from batdispatch.abilities.sites.doors.sacct_lines import Columns
from batdispatch.core.errors import InputError
from batdispatch.inputs.files import Source
from batdispatch.inputs.workloads.bad_records import BadRecords
from batdispatch.inputs.workloads.report import ImportReport

_BEGIN = re.compile(rb"JobId=\d+ UserId=\S* GroupId=")
_LINE = re.compile(
    r"JobId=(?P<id>\d+) UserId=(?P<user>\S*) GroupId=(?P<group>\S*) Name=(?P<name>.*) JobState=(?P<state>\S*) "
    r"Partition=(?P<partition>\S*) TimeLimit=(?P<limit>\S*) StartTime=(?P<start>\S*) EndTime=(?P<end>\S*) "
    r"NodeList=(?P<nodes>.*?) NodeCnt=(?P<count>\d*) ProcCnt=(?P<cores>\d*) WorkDir=(?P<more>.*)"
)
#: Fields behind the folder, from the right end on: none of them holds a blank.
_MORE = re.compile(r"(?<= )([A-Z]\w+)=(\S*)", re.ASCII)
_COLUMNS = (
    "JobID|JobIDRaw|Cluster|User|Group|Account|Partition|QOS|JobName|Reservation|Submit|Eligible|Start|End|Timelimit|"
    "State|NNodes|ReqCPUS|AllocTRES|NodeList"
)
_NOTHING = frozenset({"", "(null)", "Unknown", "N/A", "NONE"})


def is_jobcomp(line: bytes) -> bool:
    """Return whether a line is such a record."""
    return _BEGIN.match(line.lstrip()) is not None


def read_jobcomp(
    path: Path,
    report: ImportReport,
    bad: BadRecords,
    conclude: Callable[[Source], None],
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[tuple[Columns, list[str], int]]:
    """Yield the columns of sacct, the fields and the line number of each record."""
    columns = Columns(_COLUMNS, str(path), "")
    with Source(path, progress=progress) as log:
        for number, line in log.lines():
            text = line.decode("utf-8", "replace").strip()
            if not text:
                continue
            match = _LINE.fullmatch(text)
            if match is None:
                report.records += 1
                bad.add(
                    InputError(
                        f"found {text[:60]!r}, expected JobId=... UserId=... up to WorkDir=...",
                        source=log.name,
                        place=f"line {number}",
                    )
                )
                continue
            yield columns, _fields(match), number
        conclude(log)


def _fields(match: re.Match[str]) -> list[str]:
    more = dict(_MORE.findall(match["more"]))
    told = {name: "" if text in _NOTHING else text for name, text in (match.groupdict() | more).items()}
    array, task = more.get("ArrayJobId", ""), more.get("ArrayTaskId", "")
    leader, offset = more.get("HetJobId", ""), more.get("HetJobOffset", "")
    name = match["id"]
    if array.isdigit() and int(array) and task.isdigit():
        name = f"{array}_{task}"
    elif leader.isdigit() and int(leader):
        name = f"{leader}+{offset}"
    return [
        name,
        match["id"],
        told.get("Cluster", ""),
        match["user"].partition("(")[0],
        match["group"].partition("(")[0],
        told.get("Account", ""),
        told["partition"],
        told.get("QOS", ""),
        match["name"],
        told.get("ReservationName", ""),
        told.get("SubmitTime", "") or told["start"],
        told.get("EligibleTime", ""),
        told["start"],
        told["end"],
        _limit(told["limit"]),
        told["state"],
        told["count"],
        told["cores"],
        told.get("Tres", ""),
        told["nodes"],
    ]


def _limit(text: str) -> str:
    """Return a limit that is told in minutes as sacct writes one."""
    if text.isascii() and text.isdigit() and len(text) < 10:
        return f"{int(text) // 60:02d}:{int(text) % 60:02d}:00"
    return {"UNLIMITED": "UNLIMITED", "Partition_Limit": "Partition_Limit"}.get(text, text)
