"""Random machines with networks for property tests."""

from hypothesis import strategies as st

from batdispatch.abilities.topology.networks import FatTree, Flat, Grid
from batdispatch.core.machine.machine import Machine


@st.composite
def networked(draw: st.DrawFn, machines: st.SearchStrategy[Machine]) -> Machine:
    """A machine with a network: a torus or mesh with one or two hosts a router, a fat tree, or one router."""
    hosts = draw(machines).hosts
    count = len(hosts)
    inside = [not (host.storage and draw(st.booleans())) for host in hosts]
    kind = draw(st.sampled_from(["grid", "grid", "fat tree", "flat"]))
    if kind == "flat":
        return Machine(hosts, Flat(inside))
    if kind == "fat tree":
        leaves = -(-count // 2)
        tree = FatTree([host if there else -1 for host, there in enumerate(inside)], [2, leaves], [1, 2], [1, 1])
        return Machine(hosts, tree)
    each = draw(st.integers(1, 2))
    rows = draw(st.integers(1, 2))
    dims = [-(-count // (each * rows)), rows]
    routers = [host // each if there else -1 for host, there in enumerate(inside)]
    return Machine(hosts, Grid(routers, dims, wrap=draw(st.booleans())))
