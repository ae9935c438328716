"""A table of jobs in Parquet, row by row as the texts that a CSV file would have."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from batdispatch.core.errors import InputError
from batdispatch.inputs.files import closest

#: Rows read at a time.
_BATCH = 4096


class ParquetTable:
    """A file opened for reading; a context manager.

    Attributes:
        names: of the columns that are read.
    """

    def __init__(self, path: Path, wanted: Sequence[str]) -> None:
        """Open a file.

        Args:
            path: the file.
            wanted: names of the columns that are to be read, those among them that are there.

        Raises:
            InputError: it cannot be read, or is no Parquet.
        """
        self._path = path
        try:
            self._file = pq.ParquetFile(path)
        except OSError as problem:
            hint = closest(path) if isinstance(problem, FileNotFoundError) else ""
            raise InputError(f"cannot be read: {problem.strerror or problem}{hint}", source=str(path)) from None
        except pa.ArrowException as problem:
            raise InputError(f"is no Parquet: {problem}", source=str(path)) from None
        there = self._file.schema_arrow.names
        alike = {name.strip().casefold() for name in wanted}
        #: If a column is missing, all names help to say which was meant.
        self._read = [name for name in there if name.strip().casefold() in alike]
        self.names = self._read if len(self._read) >= len(alike) else there

    def __enter__(self) -> ParquetTable:
        return self

    def __exit__(self, *problem: object) -> None:
        self._file.close()

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each row's number from 1, and its fields.

        Raises:
            InputError: the content is broken.
        """
        number = 0
        try:
            for batch in self._file.iter_batches(_BATCH, columns=self.names):
                for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    number += 1
                    yield number, [_text(value) for value in row]
        except (OSError, pa.ArrowException) as problem:
            place = f"row {number + 1}"
            raise InputError(f"the content is broken: {problem}", source=str(self._path), place=place) from None


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _text(value: Any) -> str:
    """Return a value as text: moments in ISO 8601, and the mean of samples of equal distance."""
    if _is_nothing(value):
        return ""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list):
        samples = [each for each in value if not _is_nothing(each)]
        return repr(fmean(samples)) if samples else ""
    return str(value)
