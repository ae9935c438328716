"""What the files of a compiled simulation say of nodes that jobs share."""

from __future__ import annotations

import numpy as np

from batdispatch.abilities.kernels.simulate import Schedule
from batdispatch.abilities.kernels.state import KINDS, REJECTS, STARTS, Ints
from batdispatch.core.hosts import hostruns
from batdispatch.core.hosts.hostsets import ranges
from batdispatch.engines.outputs import Outputs
from batdispatch.inputs.workloads.columns import JobColumns


class SharedHosts:
    """The hosts of all jobs of a schedule one by one, in order of their starts, with the units on each."""

    def __init__(self, schedule: Schedule) -> None:
        assert schedule.counts is not None
        self._schedule, self._counts = schedule, schedule.counts.tolist()
        lengths = schedule.last.astype(np.int64) - schedule.first + 1
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        self._hosts = ranges(schedule.first.astype(np.int64), lengths)
        #: Of each job: where its hosts begin, and how many there are; both int64 [job].
        self._at = bounds[schedule.at]
        self._size = bounds[schedule.at + schedule.runs] - self._at

    def counts(self, rank: int) -> tuple[int, ...] | None:
        """Return how many units each host of a job that was started carries; None: one each."""
        own = self._counts[self._at[rank] : self._at[rank] + self._size[rank]]
        return tuple(own) if max(own) > 1 else None

    def changes(self) -> Ints:
        """Return how many hosts more compute than before after each line of the log, int64 [line]."""
        log = self._schedule.log
        who, kind = log // KINDS, log % KINDS
        lines = np.flatnonzero(kind != REJECTS)
        sizes = self._size[who[lines]]
        hosts = self._hosts[ranges(self._at[who[lines]], sizes)]
        by_host = np.argsort(hosts, kind="stable")
        line = np.repeat(lines, sizes)[by_host]
        sign = np.where(kind[line] == STARTS, 1, -1)
        # In the end no host has a job, so that the sum over the hosts before is 0.
        jobs = np.cumsum(sign)
        # The first job on a host begins, and the last one ends.
        turns = jobs == (sign > 0)
        found = np.zeros(len(log), dtype=np.int64)
        np.add.at(found, line[turns], sign[turns])
        return found

    def sizes(self, over: Ints) -> Ints:
        """Return how many hosts some jobs have, int64 [job]."""
        return np.asarray(self._size[over], dtype=np.int64)

    def write_units(self, outputs: Outputs, said: JobColumns, ended: Ints) -> None:
        """Write units.csv, of the jobs that ended in this order, if hosts carry several units of one."""
        schedule, names = self._schedule, said.ids.tolist()
        bounds = np.stack([schedule.first, schedule.last + 1], axis=1).ravel().tolist()
        columns = (ended, schedule.at[ended], schedule.runs[ended])
        for rank, run, runs in zip(*(column.tolist() for column in columns), strict=True):
            own = self.counts(rank)
            if own is not None:
                outputs.write_units(names[rank], hostruns.text_of(tuple(bounds[2 * run : 2 * (run + runs)])), own)
