"""Which nodes are free, and the longest run of them, on four nodes beside each other."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.topology.networks.grid import Grid
from batdispatch.abilities.topology.results.free import free_nodes
from batdispatch.core.hosts.hostsets import Intervals
from batdispatch.core.machine.machine import Machine


def test_a_node_that_is_away_is_not_free() -> None:
    """Node 0 has a job from 0 to 4 s; node 2 is away in the first two of the three stretches, to 4, 6 and 10 s."""

    def away(moments: NDArray[np.float64]) -> Iterator[NDArray[np.int64]]:
        for moment in moments.tolist():
            yield np.array([2] if moment < 6 else [], dtype=np.int64)

    hosts = Intervals(np.array([0, 3]), np.array([0, 3]), np.array([0, 1]), 2)
    start, finish = np.array([0.0, 6.0]), np.array([4.0, 10.0])
    machine, line = Machine.flat(4), Grid(range(4), [4])
    found = free_nodes(machine, line, hosts, start, finish, 0.0, 10.0, away)
    assert found.moments.tolist() == [2.0, 5.0, 8.0]
    assert found.weight.tolist() == [4.0, 2.0, 4.0]
    # 1 and 3; 0, 1 and 3; 0, 1 and 2.
    assert found.free.tolist() == [2, 3, 3]
    assert found.run.tolist() == [1, 2, 3]
    # Of 26 free node-seconds, 4 x 1 + 2 x 2 + 4 x 3 = 20 lie in the longest run.
    assert found.outside(found.run) == 1 - 20 / 26
