"""The file units.csv: how many units of a job stand on each of its hosts, where a host carries several."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job_table import JobTable
from batdispatch.results.rows import read_rows


def read_units(path: Path, columns: JobTable, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Read units.csv: how many units of its job each host slot carries, int64 [slot] along the hosts of each row.

    A job that is not in the file, and every job when there is no such file, has one unit on each host.

    Args:
        path: of the file.
        columns: of the run, from `jobs_file.read_columns`.
        sizes: number of hosts of each row's job.

    Raises:
        InputError: the file is malformed, names a job that is not in the run, or gives a job another number of
            hosts than its allocation has.
    """
    if not path.exists():
        # A view of a single number: millions of slots would otherwise be written out for nothing.
        return np.broadcast_to(np.int64(1), (int(sizes.sum()),))
    units = np.ones(int(sizes.sum()), dtype=np.int64)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    rows = {job_id: row for row, job_id in enumerate(columns.job_id.tolist())}
    for line, (name, told) in read_rows(path, ("job_id", "units"), others=True):
        place = f"line {line}"
        row = rows.get(name)
        if row is None:
            raise InputError(f"job {name[:80]!r} is not in the jobs file", source=str(path), place=place)
        counts = told.split()
        if not all(part.isascii() and part.isdigit() and len(part) <= 9 and int(part) for part in counts):
            raise InputError(
                f"units {told[:80]!r}, expected a positive number a host, such as '2 3 1'",
                source=str(path),
                place=place,
            )
        if len(counts) != sizes[row]:
            raise InputError(
                f"job {name[:80]!r} has units on {len(counts)} hosts and {sizes[row]} hosts",
                source=str(path),
                place=place,
            )
        units[offsets[row] : offsets[row + 1]] = [int(part) for part in counts]
    return units
