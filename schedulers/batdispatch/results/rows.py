"""Small tables of a run (units.csv, network.csv, lineage.csv): read row by row with the line of each, and written."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from batdispatch.core.errors import InputError

#: Largest table read, in bytes.
MAX_BYTES = 1 << 30


def write_rows(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Return a table as a file has it."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows((header, *rows))
    return text.getvalue().encode()


def read_rows(
    path: Path, columns: Sequence[str], *, more: Sequence[str] = (), others: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line of each row below the header, and the row's fields.

    Args:
        path: of the table.
        columns: which the table has, in this order; with `others`, in any order, and fields are those of these columns.
        more: further columns, which all stand behind these or are not there at all.
        others: whether the table may have columns that nobody names.

    Raises:
        InputError: the table is no such one, or a row has another number of fields than the header.
    """
    source = str(path)
    if path.stat().st_size > MAX_BYTES:
        raise InputError(f"larger than {MAX_BYTES} bytes", source=source)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            header = next(reader, [])
            if not (set(columns) <= set(header) if others else header in (list(columns), [*columns, *more])):
                raise InputError(
                    f"found columns {','.join(header)[:80]!r}, expected {','.join(columns)}",
                    source=source,
                    place="line 1",
                )
            places = [header.index(name) for name in columns] if others else range(len(header))
            for fields in reader:
                if len(fields) != len(header):
                    raise InputError(
                        f"{len(fields)} fields, expected {len(header)}", source=source, place=f"line {reader.line_num}"
                    )
                yield reader.line_num, [fields[place] for place in places]
    except (UnicodeDecodeError, csv.Error) as problem:
        raise InputError(str(problem), source=source) from None
