"""What ``scontrol show node|partition|reservation|license``, ``sinfo`` and ``sacctmgr show qos`` print.

These are records of settings, as slurm.conf has them.

What Slurm prints as ``(null)``, ``N/A`` or ``NONE`` is left out. What people write freely (a node's reason) may look
like a field: such a text ends where its line does, and of a field that comes twice the first one counts, since Slurm
prints its own fields before free texts.

References:
    Slurm documentation, scontrol(1), https://slurm.schedmd.com/scontrol.html; sinfo(1),
    https://slurm.schedmd.com/sinfo.html; sacctmgr(1), https://slurm.schedmd.com/sacctmgr.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from batdispatch.abilities.sites.doors.slurm.keys import GENERAL
from batdispatch.abilities.sites.doors.slurm.settings import Setting, Settings
from batdispatch.core.errors import InputError

#: A field of scontrol; its text goes on until the next one, since some texts hold blanks.
_FIELD = re.compile(r"(?:^|\s)([A-Za-z][\w:/]*)=", re.ASCII)
#: A line that is a field alone whose text people write, or programs.
_FREE = re.compile(r"\s*(?:OS|Reason|Comment|Extra|Command|WorkDir|\w+Comment)=", re.ASCII)
#: What the first field of each kind of record is called.
KINDS = ("NodeName", "PartitionName", "ReservationName", "LicenseName")
#: Units that ``scontrol show config`` spells out behind numbers.
_SPELLED_UNIT = re.compile(r"(?<=\d) (?:sec|min|KB|MB|pct)\b.*")
_NOTHING = frozenset({"", "(null)", "N/A", "n/a", "NONE", "None"})
#: A column of sinfo -> the field of scontrol with the same.
_COLUMNS = {
    "nodelist": "Nodes",
    "hostnames": "Nodes",
    "partition": "PartitionName",
    "avail": "Avail",
    "timelimit": "MaxTime",
    "defaulttime": "DefaultTime",
    "cpus": "CPUTot",
    "memory": "RealMemory",
    "gres": "Gres",
    "avail_fe": "AvailableFeatures",
    "avail_features": "AvailableFeatures",
    "features": "AvailableFeatures",
    "weight": "Weight",
    "state": "State",
    "statelong": "State",
    "statecompact": "State",
    "oversubs": "OverSubscribe",
}
#: Columns that hold other things in words of their own: how many of a kind are in use, sockets and so on.
_IN_PARTS = {"cpus(a/i/o/t)": "CPUTot", "s:c:t": "CPUTot"}
#: What else `sinfo` prints beside its tables: when it was asked, and of which cluster.
DATE = re.compile(r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}\s*")
CLUSTER = re.compile(r"CLUSTER:\s*(\S+)\s*", re.ASCII)
#: Most lines above the header of a table.
_PREAMBLE = 8
#: A state of sinfo is followed by signs: it does not answer, it sleeps, it boots, it is in maintenance, ...
_SIGNS = "*~#!%$@+^-"
#: A line of a table that separates its header from the rest.
_RULE = re.compile(r"[\s\-=+|]+")


def is_scontrol(text: str) -> bool:
    """Return whether a text is what ``scontrol show`` prints of nodes, partitions, reservations or licences."""
    return text.lstrip().startswith(tuple(f"{kind}=" for kind in KINDS))


def is_sinfo(text: str) -> bool:
    """Return whether a text is what ``sinfo`` prints, with a header that names partitions or nodes."""
    return any(_is_header(_names(line)) for line in text[:4096].splitlines()[:_PREAMBLE])


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
        record = record_of(zip(names, fields, strict=False), source, number)
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
            yield record_of(_fields(lines), source, begun)
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


def _fields(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a record; what goes on in a further line is part of the last one."""
    for line in lines:
        if _FREE.match(line):
            name, _, text = line.strip().partition("=")
            yield name, text
        else:
            parts = _FIELD.split(line)
            yield from zip(parts[1::2], parts[2::2], strict=True)


def record_of(pairs: Iterable[tuple[str, str]], source: str, line: int) -> Settings:
    """Return fields as settings, without those that say nothing; of those of one name the first one."""
    said: dict[str, Setting] = {}
    for name, text in pairs:
        said.setdefault(name.lower(), Setting(name, text.strip(), source, line))
    return {name: setting for name, setting in said.items() if setting.value not in _NOTHING}


# ---------------------------------------------------------------------- the configuration


def is_config(text: str) -> bool:
    """Return whether a text is what ``scontrol show config`` prints."""
    return text.lstrip().startswith("Configuration data as of")


def config_settings(text: str, source: str) -> Settings:
    """Return the settings of the whole cluster that ``scontrol show config`` prints and slurm.conf knows."""
    found: dict[str, Setting] = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, equals, value = line.partition("=")
        name, value = name.strip(), _SPELLED_UNIT.sub("", value.strip())
        if equals and name.lower() in GENERAL and value not in _NOTHING:
            found.setdefault(name.lower(), Setting(GENERAL[name.lower()], value, source, number))
    return found


# ---------------------------------------------------------------------- sinfo


def sinfo_records(text: str, source: str, cluster: str = "") -> Iterator[Settings]:
    """Yield a record for each line of sinfo that names nodes, with the names of scontrol's fields.

    Args:
        text: what it printed, perhaps below a date, and for several clusters.
        source: the file.
        cluster: whose lines are wanted, if there are several.

    Raises:
        InputError: there are several clusters and none of them is chosen, or a line is no row of the table.
    """
    lines = text.splitlines()
    named = [match[1] for line in lines if (match := CLUSTER.fullmatch(line))]
    if len(set(named)) > 1 and cluster not in named:
        raise InputError(
            f"is of several clusters ({', '.join(dict.fromkeys(named))}): choose one with --cluster NAME", source=source
        )
    header: Sequence[tuple[str, int]] = ()
    current = ""
    for number, line in enumerate(lines, 1):
        if match := CLUSTER.fullmatch(line):
            current, header = match[1], ()
        elif not line.strip() or DATE.fullmatch(line) or _RULE.fullmatch(line):
            continue
        elif _is_header(_names(line)):
            header = _names(line)
        elif not header:
            continue
        elif not named or not cluster or current == cluster:
            yield record_of(_told(_cells(line, header, source, number)), source, number)


def _is_header(names: Sequence[tuple[str, int]]) -> bool:
    told = {name for name, _ in names}
    return "partition" in told and not told.isdisjoint(("nodelist", "hostnames"))


def _names(line: str) -> Sequence[tuple[str, int]]:
    """Return the names of a header in small letters, and where each begins; a table with ``|`` has no places."""
    if "|" in line:
        return [(name.strip().lower(), -1) for name in line.split("|")]
    return [(match[0].lower(), match.start()) for match in re.finditer(r"\S+", line)]


def _cells(line: str, header: Sequence[tuple[str, int]], source: str, number: int) -> dict[str, str]:
    """Return the cells of a line by the names of the header.

    Raises:
        InputError: the line has not as many words as the header, and its columns do not stand below the names.
    """
    names = [name for name, _ in header]
    if header[0][1] < 0:
        words = [word.strip() for word in line.split("|")]
    else:
        words = line.split(maxsplit=len(names) - 1)
        if len(words) < len(names):
            words = _below(line, header)
    if len(words) != len(names):
        raise InputError(
            f"found {len(words)} columns, expected the {len(names)} of the header",
            source=source,
            place=f"line {number}",
        )
    return dict(zip(names, words, strict=True))


def _below(line: str, header: Sequence[tuple[str, int]]) -> list[str]:
    """Return the words that stand below each name, empty where none does: each word is below the name that it meets."""
    ends = [begin + len(name) for name, begin in header]
    words = [""] * len(header)
    for match in re.finditer(r"\S+", line):
        meets = [at for at, (_, begin) in enumerate(header) if match.start() < ends[at] and begin < match.end()]
        if not meets or words[meets[0]]:
            # As far left as the header allows.
            return line.split()
        words[meets[0]] = match[0]
    return words


def _told(cells: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what the cells of a line say in scontrol's names."""
    for name, text in cells.items():
        if name in _COLUMNS and _COLUMNS[name] == "PartitionName":
            yield "PartitionName", text.rstrip("*")
            if text.endswith("*"):
                yield "Default", "YES"
        elif name in _COLUMNS:
            yield _COLUMNS[name], text.rstrip(_SIGNS) if _COLUMNS[name] == "State" else text.rstrip("+")
    for name, field in _IN_PARTS.items():
        # Behind the column of CPUs itself, which counts where it is there.
        parts = cells.get(name, "").rstrip("+").replace("/", ":").split(":")
        if all(part.isascii() and part.isdigit() for part in parts):
            cpus = int(parts[-1]) if "/" in name else _product(parts)
            yield field, str(cpus)


def _product(parts: Iterable[str]) -> int:
    product = 1
    for part in parts:
        product *= int(part)
    return product
