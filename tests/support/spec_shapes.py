"""What shapes mean, read from their definitions alone: nothing here asks the package, apart from what it placed.

Routers and routes are worked out anew: router = x + X (y + Y z), node n on router n // per; in each dimension, x first,
from a to b in a ring of k a message goes up iff a < b <= a + k // 2, or a > k // 2 and (a + k // 2) mod k >= b.
"""

from collections.abc import Iterable, Sequence
from itertools import permutations
from typing import Any

Router = tuple[int, ...]
Link = tuple[Router, Router]


class Net:
    """A torus or mesh with `per` nodes on each router."""

    def __init__(self, kind: str, dims: Sequence[int], per: int) -> None:
        self.wraps, self.dims, self.per = kind == "torus", list(dims), per

    def router(self, node: int) -> Router:
        number, place = node // self.per, []
        for size in self.dims:
            place.append(number % size)
            number //= size
        return tuple(place)

    def route(self, source: Router, target: Router) -> list[Link]:
        at, links = list(source), []
        for axis, k in enumerate(self.dims):
            a, b = at[axis], target[axis]
            up = a < b
            if self.wraps:
                up = a < b <= a + k // 2 or (a > k // 2 and (a + k // 2) % k >= b)
            while at[axis] != b:
                here = tuple(at)
                at[axis] = (at[axis] + (1 if up else -1)) % k
                links.append((here, tuple(at)))
        return links

    def distance(self, one: int, other: int) -> int:
        return len(self.route(self.router(one), self.router(other)))

    def links(self, nodes: Iterable[int]) -> set[Link]:
        routers = {self.router(node) for node in nodes}
        return {link for a, b in permutations(sorted(routers), 2) for link in self.route(a, b)}

    def gamma(self, nodes: Sequence[int]) -> float:
        q = len(nodes)
        return sum(self.distance(a, b) for a, b in permutations(nodes, 2)) / (q * (q - 1)) if q > 1 else 0.0


def keeps(
    shape: str, net: Net, nodes: list[int], running: list[list[int]], io: list[int], pinned: list[int], count: int
) -> bool:
    """Whether nodes keep a constraint of the oracle, by its name there."""
    if shape in ("contiguous", "contiguous_wrap"):
        line = [node for node in range(count) if node not in io]
        starts = range(len(line)) if shape == "contiguous_wrap" else range(len(line) - len(nodes) + 1)
        twice = line + line
        return any(set(twice[first : first + len(nodes)]) == set(nodes) for first in starts)
    routers = {net.router(node) for node in nodes}
    if shape == "connected":
        seen, todo = set(), [min(routers)]
        while todo:
            one = todo.pop()
            if one not in seen:
                seen.add(one)
                todo += [other for other in routers if _beside(net, one, other)]
        return seen == routers
    if shape == "local":
        return all(min(net.distance(host, node) for node in nodes) <= 1 for host in pinned)
    others: set[Link] = set().union(*(net.links(job) for job in running)) if running else set()
    own = net.links(nodes)
    if own & others:
        return False
    if shape == "convex":
        return True
    assert shape == "convex_strict"
    on_routes = {router for link in own for router in link} | routers
    theirs = {router for link in others for router in link} | {net.router(node) for job in running for node in job}
    return on_routes == routers and not on_routes & theirs


def _beside(net: Net, one: Router, other: Router) -> bool:
    return len(net.route(one, other)) == 1


def case_net(case: dict[str, Any]) -> Net:
    """The network of a case of the oracle."""
    return Net(case["topology"]["kind"], case["topology"]["dims"], case["topology"]["per"])
