"""Circles in a directed graph: who can be reached from itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def in_circles(graph: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the nodes that can be reached from themselves; those with one value are reached from each other.

    There is an answer for every graph, and no recursion. Time: O(n + m) for n nodes and m edges.

    Args:
        graph: node -> the nodes to which edges lead from it, each of them a node of the graph.

    References:
        Sharir: "A strong-connectivity algorithm and its applications in data flow analysis", Computers & Mathematics
        with Applications 7(1), 1981, pp. 67-72. doi:10.1016/0898-1221(81)90008-0
    """
    backward: dict[str, list[str]] = {node: [] for node in graph}
    for node, others in graph.items():
        for other in others:
            backward[other].append(node)
    found: dict[str, str] = {}
    left: set[str] = set()
    for start in reversed(_by_end(graph, graph, set())):
        if start not in left:
            together = _by_end(backward, [start], left)
            if len(together) > 1 or start in graph[start]:
                found.update(dict.fromkeys(together, start))
    return found


def _by_end(graph: Mapping[str, Sequence[str]], starts: Iterable[str], seen: set[str]) -> list[str]:
    """Return the nodes that a search in depth reaches and that were not seen before, in the order of leaving them."""
    left: list[str] = []
    for start in starts:
        if start in seen:
            continue
        seen.add(start)
        path = [(start, iter(graph[start]))]
        while path:
            node, others = path[-1]
            step = next((other for other in others if other not in seen), None)
            if step is None:
                left.append(node)
                path.pop()
            else:
                seen.add(step)
                path.append((step, iter(graph[step])))
    return left
