"""Which column of a table means what: ``--columns`` as text or as a small TOML file.

``submit=SUBMITTED,runtime=ELAPSED:min,cores=NCPUS,memory=MEM:GiB/node`` names a column for each field, and behind a
colon its unit or the form of its times. A file says the same, also for names that hold commas and colons::

    delimiter = ";"

    [columns]
    submit = { column = "submitted at", unit = "%d.%m.%Y %H:%M" }
    runtime = { column = "elapsed", unit = "min" }
    cores = "cpus"

Only a file can also say ``header`` (the names of the columns, if the first line of the table is a job already) and
``unknown`` (texts that stand for nothing, beside ``NA`` and the like).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from batdispatch.core.errors import InputError
from batdispatch.core.line.options import did_you_mean
from batdispatch.inputs.files import read_all

_OPTION = "option --columns"
#: Seconds of each unit of time.
SECONDS = {
    "": 1.0,
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "ns": 1e-9,
    "min": 60.0,
    "h": 3600.0,
    "d": 86_400.0,
}
#: MiB of each unit of memory.
MEBIBYTES = {
    "": 1.0,
    **{unit: 2.0**power for unit, power in (("KiB", -10), ("MiB", 0), ("GiB", 10), ("TiB", 20), ("B", -20))},
    **{unit: 1000.0**power / 2**20 for unit, power in (("KB", 1), ("MB", 2), ("GB", 3), ("TB", 4))},
}
#: Watts and joules of each unit.
WATTS = {"": 1.0, "W": 1.0, "kW": 1e3, "MW": 1e6}
JOULES = {"": 1.0, "J": 1.0, "kJ": 1e3, "MJ": 1e6, "Wh": 3.6e3, "kWh": 3.6e6, "MWh": 3.6e9}
MOMENTS = ("submit", "eligible", "start", "end")
DURATIONS = ("runtime", "wait", "walltime")
AMOUNTS = ("cores", "allocated", "gpus", "memory", "power", "energy")
TEXTS = ("user", "group", "account", "partition", "queue", "qos", "name")
_UNITS = {"memory": MEBIBYTES, "power": WATTS, "energy": JOULES}
#: What a file may say.
_KEYS = ("columns", "delimiter", "header", "unknown")
FIELDS = (*MOMENTS, *DURATIONS, "nodes", *AMOUNTS, "id", "dependencies", *TEXTS)


class Column(NamedTuple):
    """Where a field stands, and in what form."""

    name: str
    #: Unit, or a pattern of strptime.
    unit: str = ""
    #: What the amount is of: ``node``, ``core``, or the whole job (empty).
    of: str = ""


class Table(NamedTuple):
    """How to read a table."""

    #: Field -> column.
    columns: Mapping[str, Column]
    #: What stands between fields; empty: told by the header.
    delimiter: str = ""
    #: Names of the columns; empty: the first line of the table has them.
    header: tuple[str, ...] = ()
    #: Texts that stand for nothing, beside the usual ones.
    unknown: frozenset[str] = frozenset()
    #: Column -> how it is called in tables that lack it.
    also: Mapping[str, str] = {}


#: Tables whose documentation says what their columns mean.
PRESETS = {
    "pm100": "id=job_id,user=user_id,group=group_id,partition=partition,qos=qos,submit=submit_time,"
    "eligible=eligible_time,start=start_time,end=end_time,runtime=run_time,walltime=time_limit:min,"
    "cores=num_cores_req,allocated=num_cores_alloc,nodes=num_nodes_alloc,gpus=num_gpus_alloc,power=power_consumption",
    "f-data": "id=jid,user=usr,name=jnam,submit=adt,start=sdt,end=edt,runtime=duration,walltime=elpl,cores=cnumr,"
    "allocated=cnumat,nodes=nnuma,power=avgpcon:/node",
}
#: PM100's table was published with another name than its documentation has.
_ALSO = {"pm100": {"power_consumption": "node_power_consumption"}}


def parse_columns(text: str) -> Table:
    """Read the value of ``--columns``: a name of `PRESETS`, that of a TOML file, or fields and columns.

    Raises:
        InputError: a field is unknown or given twice, a unit is none, or the file is wrong.
    """
    if text.endswith(".toml"):
        return _read_file(Path(text))
    unknown = frozenset({"INFINITE"} if text in PRESETS else ())
    also = _ALSO.get(text, {})
    text = PRESETS.get(text, text)
    columns: dict[str, Column] = {}
    for part in text.split(","):
        field, equals, rest = part.partition("=")
        if not equals or not rest:
            raise InputError(
                f"{part[:60]!r}, expected FIELD=COLUMN[:UNIT],... such as submit=SUBMITTED,runtime=ELAPSED:min, the "
                f"name of a .toml file, or one of {', '.join(PRESETS)}",
                source=_OPTION,
            )
        name, _, unit = rest.partition(":")
        if field in columns:
            raise InputError(f"{field!r} is given twice", source=_OPTION)
        columns[field] = _column(field, name, unit, _OPTION)
    return _checked(Table(columns, unknown=unknown, also=also), _OPTION)


def _read_file(path: Path) -> Table:
    content, _ = read_all(path, limit=1 << 20)
    source = str(path)
    try:
        document = tomllib.loads(content.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as problem:
        raise InputError(f"is no TOML: {problem}", source=source) from None
    wrong = next((key for key in document if key not in _KEYS), None)
    if wrong is not None:
        raise InputError(did_you_mean(wrong, _KEYS), source=source, place=wrong[:60])
    delimiter = document.get("delimiter", "")
    if not isinstance(delimiter, str) or len(delimiter) > 1 or delimiter in ('"', "\n", "\r", "\0"):
        raise InputError(f"{str(delimiter)[:20]!r}, expected one character", source=source, place="delimiter")
    table = document.get("columns")
    if not isinstance(table, dict):
        raise InputError("is missing, expected a table [columns]", source=source, place="columns")
    columns = {str(key): _entry(str(key), value, source) for key, value in table.items()}
    header, unknown = (_texts(document, key, source) for key in ("header", "unknown"))
    return _checked(Table(columns, delimiter, header, frozenset(unknown)), source)


def _texts(document: Mapping[str, Any], key: str, source: str) -> tuple[str, ...]:
    texts = document.get(key, [])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError("expected a list of texts", source=source, place=key)
    return tuple(texts)


def _entry(field: str, value: Any, source: str) -> Column:
    entry = {"column": value} if isinstance(value, str) else value
    wrong = not isinstance(entry, dict) or not entry.keys() <= {"column", "unit"} or "column" not in entry
    if wrong or not all(isinstance(text, str) for text in entry.values()):
        raise InputError(
            'expected a name, or { column = "NAME", unit = "UNIT" }', source=source, place=f"columns.{field[:60]}"
        )
    return _column(field, entry["column"], entry.get("unit", ""), source)


def _column(field: str, name: str, unit: str, source: str) -> Column:
    def refuse(message: str) -> InputError:
        return InputError(message, source=source, place=field[:60])

    if field not in FIELDS:
        raise refuse(did_you_mean(field, FIELDS))
    of = ""
    if field in AMOUNTS:
        unit, slash, of = unit.partition("/")
        if ((slash or of) and of not in ("node", "core")) or (of == "core" and field in ("cores", "allocated")):
            raise refuse(f"{of[:40]!r}, expected an amount for each /node or /core, or of the whole job")
    if field in MOMENTS:
        if "%" not in unit and unit not in SECONDS:
            raise refuse(
                f"unit {unit[:40]!r}, expected {', '.join(filter(None, SECONDS))} or a form such as %d.%m.%Y %H:%M"
            )
    elif field in DURATIONS:
        if unit not in SECONDS:
            raise refuse(f"unit {unit[:40]!r}, expected one of {', '.join(filter(None, SECONDS))}")
    elif field in _UNITS:
        if unit not in _UNITS[field]:
            raise refuse(f"unit {unit[:40]!r}, expected one of {', '.join(filter(None, _UNITS[field]))}")
    elif unit:
        raise refuse(f"has no unit, found {unit[:40]!r}")
    return Column(name, unit, of)


def _checked(table: Table, source: str) -> Table:
    """Return the table if it says enough to make jobs of."""
    told = table.columns.keys()
    if "submit" not in told and not {"start", "wait"} <= told:
        raise InputError("names no column for submit (or for start and wait)", source=source)
    if "runtime" not in told and not {"start", "end"} <= told:
        raise InputError("names no column for runtime (or for start and end)", source=source)
    if not {"cores", "nodes"} & told:
        raise InputError("names no column for cores or nodes", source=source)
    return table
