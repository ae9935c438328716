"""What ``scontrol show node|partition|reservation|license``, ``sinfo`` and ``sacctmgr show qos`` print.

These are records of settings, as slurm.conf has them.

What Slurm prints as ``(null)``, ``N/A`` or ``NONE`` is left out.

References:
    Slurm documentation, scontrol(1), https://slurm.schedmd.com/scontrol.html; sinfo(1),
    https://slurm.schedmd.com/sinfo.html; sacctmgr(1), https://slurm.schedmd.com/sacctmgr.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from batdispatch.abilities.sites.doors.slurm.settings import Setting, Settings
from batdispatch.core.errors import InputError

#: A field of scontrol; its text goes on until the next one, since some texts hold blanks.
_FIELD = re.compile(r"(?:^|\s)([A-Za-z][\w:/]*)=", re.ASCII)
#: What the first field of each kind of record is called.
KINDS = ("NodeName", "PartitionName", "ReservationName", "LicenseName")
_NOTHING = frozenset({"", "(null)", "N/A", "n/a", "NONE", "None"})
#: A column of sinfo -> the field of scontrol with the same.
_COLUMNS = {
    "nodelist": "Nodes",
    "partition": "PartitionName",
    "timelimit": "MaxTime",
    "cpus": "CPUTot",
    "memory": "RealMemory",
    "gres": "Gres",
    "avail_fe": "AvailableFeatures",
    "avail_features": "AvailableFeatures",
    "weight": "Weight",
}


def is_scontrol(text: str) -> bool:
    """Return whether a text is what ``scontrol show`` prints of nodes, partitions, reservations or licences."""
    return text.lstrip().startswith(tuple(f"{kind}=" for kind in KINDS))


def is_sinfo(text: str) -> bool:
    """Return whether a text is what ``sinfo`` prints, with a header that names partitions or nodes."""
    header = text.lstrip().partition("\n")[0].lower().split()
    return "nodelist" in header and "partition" in header


def is_qos(text: str) -> bool:
    """Return whether a text is what ``sacctmgr --parsable2 show qos`` prints."""
    header = text.lstrip().partition("\n")[0].lower().split("|")
    return "name" in header and "priority" in header


def qos_records(text: str, source: str) -> Iterator[Settings]:
    """Yield a record for each quality of service.

    Raises:
        InputError: a line has not as many fields as the header, or no name.
    """
    lines = [(number, line.split("|")) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    names = lines[0][1]
    for number, fields in lines[1:]:
        record = _settings(zip(names, fields, strict=False), source, number)
        if len(fields) != len(names) or "name" not in record:
            raise InputError(
                f"found {len(fields)} fields, expected the {len(names)} of the header, with a name",
                source=source,
                place=f"line {number}",
            )
        yield record


def scontrol_records(text: str, source: str) -> Iterator[Settings]:
    """Yield the records of what scontrol printed, also with ``--oneliner``.

    Raises:
        InputError: a line belongs to no record.
    """
    begun, lines = 0, list[str]()
    for number, line in enumerate([*text.splitlines(), ""], 1):
        new = line.startswith(tuple(f"{kind}=" for kind in KINDS))
        if lines and (new or not line.strip()):
            yield _record(" ".join(lines), source, begun)
            lines = []
        if new:
            begun = number
        elif line.strip() and not lines:
            raise InputError(
                f"found {line.strip()[:60]!r}, expected a line that begins with {'=, '.join(KINDS)}=",
                source=source,
                place=f"line {number}",
            )
        if line.strip():
            lines.append(line)


def _record(text: str, source: str, line: int) -> Settings:
    parts = _FIELD.split(text)
    return _settings(zip(parts[1::2], parts[2::2], strict=True), source, line)


def _settings(pairs: Iterable[tuple[str, str]], source: str, line: int) -> Settings:
    said = ((name, text.strip()) for name, text in pairs)
    return {name.lower(): Setting(name, text, source, line) for name, text in said if text not in _NOTHING}


def sinfo_records(text: str, source: str) -> Iterator[Settings]:
    """Yield a record for each line of sinfo, with the names of scontrol's fields.

    Raises:
        InputError: a line has not as many words as the header, apart from a last one that may hold blanks.
    """
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    names = lines[0][1].lower().split()
    for number, line in lines[1:]:
        words = line.split(maxsplit=len(names) - 1)
        if len(words) != len(names):
            raise InputError(
                f"found {len(words)} columns, expected the {len(names)} of the header",
                source=source,
                place=f"line {number}",
            )
        told = {_COLUMNS[name]: word.rstrip("+") for name, word in zip(names, words, strict=True) if name in _COLUMNS}
        if told.get("PartitionName", "").endswith("*"):
            told |= {"PartitionName": told["PartitionName"][:-1], "Default": "YES"}
        yield _settings(told.items(), source, number)
