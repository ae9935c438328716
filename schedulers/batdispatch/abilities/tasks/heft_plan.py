"""HEFT's two phases on a graph of tasks: upward ranks, and the earliest finish by insertion.

The graph, the resources and what copies cost are given as numbers; nothing here knows of jobs.

References:
    [1] Topcuoglu, Hariri, Wu: "Performance-effective and low-complexity task scheduling for heterogeneous computing",
    IEEE TPDS 13(3), 2002.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Graph(NamedTuple):
    """Tasks and what they hand on, as HEFT sees them. A task has a higher number than those that it waits for.

    Attributes:
        times: seconds of each task on each resource, [task][resource]; infinite where it cannot run.
        edges: for each task those that it waits for, and the bytes that it gets from each.
        entry: seconds that it takes to bring what a task gets from no task of the graph to each memory, [task][memory].
    """

    times: Sequence[Sequence[float]]
    edges: Sequence[Mapping[int, int]]
    entry: Sequence[Sequence[float]]


class Step(NamedTuple):
    """Where and when a task is planned."""

    resource: int
    start: float
    finish: float


def mean_costs(memories: Sequence[int], seconds: Callable[[int, int, int], float]) -> tuple[float, float]:
    """Return (latency, seconds a byte) of a copy, on average over all ordered pairs of different resources.

    Args:
        memories: memory of each resource.
        seconds: how long a copy of so many bytes takes from one memory to another.
    """
    pairs = [(a, b) for i, a in enumerate(memories) for j, b in enumerate(memories) if i != j]
    if not pairs:
        return 0.0, 0.0
    fixed = sum(seconds(0, a, b) for a, b in pairs) / len(pairs)
    # A size at which the latency does not hide what a byte costs.
    size = 10**9
    return fixed, (sum(seconds(size, a, b) for a, b in pairs) / len(pairs) - fixed) / size


def upward_ranks(graph: Graph, latency: float, per_byte: float) -> list[float]:
    """Return rank_u of each task, in seconds: the longest way to the end of the graph by mean costs ([1], section 4.1).

    A task's mean time is over the resources that can run it. Edges without bytes cost nothing.
    """
    ranks = [0.0] * len(graph.times)
    behind = [0.0] * len(graph.times)
    for task in reversed(range(len(graph.times))):
        finite = [time for time in graph.times[task] if time < math.inf]
        ranks[task] = sum(finite) / len(finite) + behind[task]
        for before, size in graph.edges[task].items():
            cost = latency + per_byte * size if size else 0.0
            behind[before] = max(behind[before], cost + ranks[task])
    return ranks


def plan(
    graph: Graph,
    memories: Sequence[int],
    ranks: Sequence[float],
    free_from: Sequence[float],
    seconds: Callable[[int, int, int], float],
    *,
    now: float = 0.0,
    begun: Sequence[Step] = (),
    hold: bool = False,
) -> list[Step]:
    """Place each task, by decreasing rank, where it finishes first; it may go between tasks placed before ([1], 4.2).

    Ties: of ranks by task, of finishes by resource.

    Args:
        graph: the tasks.
        memories: memory of each resource.
        ranks: of each task, see `upward_ranks`.
        free_from: when each resource becomes idle, s.
        seconds: how long a copy of so many bytes takes from one memory to another.
        now: when data can begin to move, s.
        begun: where the first tasks of the graph are already; only their ends matter.
        hold: whether a task holds its resource while its data are copied, one copy after another; else data move
            beside all computation as soon as they are made, as in [1].
    """
    steps: list[Step] = [*begun, *([Step(-1, 0.0, 0.0)] * (len(graph.times) - len(begun)))]
    # Starts and finishes of what is placed on each resource, ascending.
    starts: list[list[float]] = [[] for _ in memories]
    finishes: list[list[float]] = [[] for _ in memories]
    for task in sorted(range(len(begun), len(graph.times)), key=lambda one: (-ranks[one], one)):
        begin, held = {}, {}
        for memory in set(memories):
            costs = {
                before: seconds(size, memories[steps[before].resource], memory) if size else 0.0
                for before, size in graph.edges[task].items()
            }
            ends = {before: steps[before].finish for before in costs}
            if hold:
                begin[memory] = max([now, *ends.values()])
                held[memory] = graph.entry[task][memory] + sum(costs.values())
            else:
                arrivals = [ends[before] + cost for before, cost in costs.items()]
                begin[memory], held[memory] = max([now + graph.entry[task][memory], *arrivals]), 0.0
        best = Step(-1, 0.0, math.inf)
        for resource, memory in enumerate(memories):
            time = graph.times[task][resource] + held[memory]
            if time < math.inf:
                ready = max(begin[memory], free_from[resource])
                start = _first_gap(starts[resource], finishes[resource], ready, time)
                if start + time < best.finish:
                    best = Step(resource, start, start + time)
        steps[task] = best
        index = bisect_right(starts[best.resource], best.start)
        starts[best.resource].insert(index, best.start)
        finishes[best.resource].insert(index, best.finish)
    return steps


def _first_gap(starts: Sequence[float], finishes: Sequence[float], ready: float, time: float) -> float:
    """Return when a task can first start on a resource between what is placed there."""
    start = ready
    for index in range(bisect_left(finishes, ready), len(starts)):
        if start + time <= starts[index]:
            break
        start = max(start, finishes[index])
    return start
