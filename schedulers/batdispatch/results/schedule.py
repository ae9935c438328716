"""The sums that Batsim writes at the end of a run: schedule.csv (Batsim 4, our engine) or schedule.json (Batsim 5)."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import msgspec

from batdispatch.core.errors import InputError

#: Largest file read, in bytes; it holds some 25 numbers.
MAX_BYTES = 1 << 20


def read_schedule(path: Path) -> dict[str, float | str]:
    """Return the sums by name; what is no number, such as the version, as text.

    Raises:
        InputError: the file cannot be read as what its name says.
    """
    source = str(path)
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise InputError(f"larger than {MAX_BYTES} bytes, which no file of sums is", source=source)
    try:
        if path.suffix == ".json":
            return msgspec.json.decode(data, type=dict[str, float | str])
        rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"))))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, csv.Error) as problem:
        raise InputError(f"expected the sums of a run: {problem}", source=source) from None
    if len(rows) < 2 or len(rows[0]) != len(rows[1]):
        raise InputError("expected a line of names and one of as many values", source=source)
    return {name: _value(text) for name, text in zip(rows[0], rows[1], strict=True)}


def _value(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
