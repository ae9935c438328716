"""network.csv: what each row of the jobs file makes of the network, for whoever wants to know it job by job."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job_table import JobTable
from batdispatch.engines.job_rows import quote_texts
from batdispatch.inputs.files import write_whole
from batdispatch.results.metrics.measure import Difference
from batdispatch.results.rows import read_rows

if TYPE_CHECKING:
    from batdispatch.abilities.topology.results.use import NetworkUse

FILE = "network.csv"
#: Relative difference below which two values are the same.
TOLERANCE = 1e-9
#: Column -> field of `NetworkUse`.
FIELDS = {
    "compactness": "compactness",
    "proximity": "proximity",
    "locality_factor": "locality",
    "links": "links",
    "shared_links": "shared",
    "shared_time": "busy",
}
HEADER = ("job_id", "workload_name", *FIELDS)


def write_table(use: NetworkUse | None, columns: JobTable, path: Path) -> None:
    """Write a row for each row of the jobs file, in its order; without a network, remove what an earlier run left.

    Numbers have six decimals, a whole number none; what has no meaning for a row is empty.
    """
    if use is None:
        path.unlink(missing_ok=True)
        return
    cells = [_texts(getattr(use, field)) for field in FIELDS.values()]
    names = [quote_texts(columns.job_id.tolist()), quote_texts(columns.workload_name.tolist())]
    lines = map(",".join, zip(*names, *cells, strict=True))
    write_whole(path, "\n".join([",".join(HEADER), *lines, ""]).encode())


def _texts(values: NDArray[np.generic]) -> list[str]:
    if values.dtype.kind == "i":
        return [str(value) for value in values.tolist()]
    return ["" if isnan(value) else f"{value:.6f}" for value in values.tolist()]


def read_table(path: Path, columns: JobTable) -> dict[str, NDArray[np.float64]]:
    """Read the file: column -> float64 [row of the jobs file], NaN where it is empty.

    Raises:
        InputError: it is no such table, or its jobs are not those of the jobs file in their order.
    """
    found: list[list[float]] = [[] for _ in FIELDS]
    jobs = zip(columns.job_id.tolist(), columns.workload_name.tolist(), strict=True)
    for line, fields in read_rows(path, HEADER):
        place = f"line {line}"
        job = next(jobs, None)
        if tuple(fields[:2]) != job:
            expected = "no further row" if job is None else f"job {job[0]!r}"
            raise InputError(f"found {fields[:3]}, expected {expected}", source=str(path), place=place)
        for column, text in zip(found, fields[2:], strict=True):
            try:
                column.append(float(text) if text else np.nan)
            except ValueError:
                raise InputError(f"{text[:80]!r} is no number", source=str(path), place=place) from None
    missing = next(jobs, None)
    if missing is not None:
        raise InputError(f"job {missing[0]!r} is missing", source=str(path))
    return {name: np.array(column) for name, column in zip(FIELDS, found, strict=True)}


def differences(use: NetworkUse | None, columns: JobTable, path: Path) -> Iterator[Difference]:
    """Yield what the file says otherwise than what was measured.

    Raises:
        InputError: it is no such table.
    """
    if use is None:
        yield Difference("network", f"{path.name} is there, and the machine has no network")
        return
    table = read_table(path, columns)
    for name, field in FIELDS.items():
        found, expected = table[name], getattr(use, field).astype(np.float64)
        # Six decimals are written.
        same = np.isclose(found, expected, rtol=TOLERANCE, atol=2e-6, equal_nan=True)
        for row in np.flatnonzero(~same).tolist():
            message = f"{path.name}: {name} is {found[row]:g}, its hosts and times give {expected[row]:g}"
            yield Difference("network", message, str(columns.job_id[row]))
