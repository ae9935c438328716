"""A run's jobs.csv for spreadsheets: no text in it is read as a formula."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

from batdispatch.core.errors import InputError
from batdispatch.core.numerals import number_of
from batdispatch.inputs.files import read_all, write_whole

#: What spreadsheets take for the beginning of a formula.
_BEGINS = ("=", "+", "-", "@", "\t", "\r")


def write_spreadsheet(run: Path, output: Path) -> int:
    """Write the jobs.csv of a run's folder with an apostrophe before each text that a spreadsheet would calculate.

    Returns the number of jobs.

    Raises:
        InputError: there is no such file, it is no table in UTF-8, or the other one cannot be written.
    """
    source = run / "jobs.csv"
    content, _ = read_all(source)
    table = io.StringIO(newline="")
    try:
        read = csv.reader(io.StringIO(content.decode(), newline=""), strict=True)
        rows = [[_plain(cell) for cell in row] for row in read]
    except (UnicodeDecodeError, csv.Error) as problem:
        raise InputError(f"is no table: {problem}", source=str(source)) from None
    csv.writer(table, lineterminator="\n").writerows(rows)
    write_whole(output, table.getvalue().encode())
    return max(0, len(rows) - 1)


def _plain(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_BEGINS) and math.isnan(number_of(cell)) else cell
