"""How jobs ended, by id, in a byte per job of the jobs file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from batdispatch.core.job import JobState
from batdispatch.results.audit.rows import RowOf

_STATES: tuple[JobState, ...] = tuple(JobState)
_NONE = len(_STATES)


class Over(Mapping[str, JobState]):
    """The state in which each job ended, by ``workload!name``; jobs that are not over are not in it."""

    def __init__(self, row_of: RowOf, rows: int) -> None:
        """Begin with none; `row_of` are the jobs of a jobs file of so many rows."""
        self._row_of = row_of
        self._codes = np.full(rows, _NONE, dtype=np.uint8)
        #: Of jobs that are not in the jobs file.
        self._others: dict[str, JobState] = {}

    def __setitem__(self, job_id: str, state: JobState) -> None:
        row = self._row_of.get(job_id)
        if row is None:
            self._others[job_id] = state
        else:
            self._codes[row] = _STATES.index(state)

    def __getitem__(self, job_id: str) -> JobState:
        row = self._row_of.get(job_id)
        if row is None:
            return self._others[job_id]
        code = int(self._codes[row])
        if code == _NONE:
            raise KeyError(job_id)
        return _STATES[code]

    def __contains__(self, job_id: object) -> bool:
        row = self._row_of.get(job_id) if isinstance(job_id, str) else None
        return job_id in self._others if row is None else bool(self._codes[row] != _NONE)

    def __iter__(self) -> Iterator[str]:
        yield from (self._row_of.name(row) for row in np.flatnonzero(self._codes != _NONE).tolist())
        yield from self._others

    def __len__(self) -> int:
        return int((self._codes != _NONE).sum()) + len(self._others)
