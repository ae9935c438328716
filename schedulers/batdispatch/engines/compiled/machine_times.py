"""How long hosts computed and were idle, as `batdispatch.engines.machine_times` sums it up."""

from __future__ import annotations

import numpy as np

from batdispatch.engines.compiled.jit import kernel
from batdispatch.engines.compiled.state import Counts, Ints


@kernel
def left_last(jobs: Ints, at: Ints, runs: Counts, first: Counts, last: Counts, following: Ints, found: Ints) -> None:
    """Count for each of these jobs how many hosts no later one had.

    Time: nearly linear in the runs of hosts of all jobs, whatever the number of hosts.

    Args:
        jobs: in order of their end.
        at: first run of hosts of each job of the workload.
        runs: how many it has.
        first: first host of each run.
        last: last host of each run.
        following: 0, 1, 2, ... up to a number above all hosts; becomes the next host that none of these jobs had.
        found: zeros, one for each of these jobs; becomes the answer.
    """
    known, hosts = 0, len(following) - 1
    for index in range(len(jobs) - 1, -1, -1):
        job = jobs[index]
        for run in range(at[job], at[job] + runs[job]):
            host = np.int64(first[run])
            while True:
                # Two steps at a time, which shortens the way for whoever comes later.
                while following[host] != host:
                    following[host] = following[following[host]]
                    host = following[host]
                if host > last[run]:
                    break
                found[index] += 1
                following[host] = host + 1
        known += found[index]
        if known == hosts:
            break
