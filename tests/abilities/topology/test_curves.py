"""Orders of a machine's hosts along curves through its routers."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.topology.networks import Flat, Grid
from batdispatch.abilities.topology.networks.curves import Curve, line, positions

CURVES: list[Curve] = ["row-major", "snake", "hilbert"]


def walk(dims: list[int], curve: Curve) -> list[tuple[int, ...]]:
    """The coordinates of a grid's routers in the order of a curve."""
    order = np.argsort(positions(dims, curve))
    return [tuple(row) for row in Grid([], dims).coordinates(order).tolist()]


def steps(places: list[tuple[int, ...]]) -> set[int]:
    """Distances between consecutive places, without wrap-around."""
    return {sum(abs(a - b) for a, b in zip(here, there, strict=True)) for here, there in pairwise(places)}


@pytest.mark.parametrize("curve", CURVES)
@given(dims=st.lists(st.integers(1, 6), min_size=1, max_size=4))
def test_every_router_has_a_place_of_its_own(curve: Curve, dims: list[int]) -> None:
    places = positions(dims, curve)
    assert len(places) == math.prod(dims)
    assert len(set(places.tolist())) == len(places)
    assert places.min() >= 0


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4))
def test_a_snake_takes_single_steps_in_any_grid(dims: list[int]) -> None:
    assert steps(walk(dims, "snake")) <= {1}


@given(st.integers(1, 4), st.integers(1, 3))
def test_a_hilbert_curve_takes_single_steps_in_a_cube_of_a_power_of_two(dimensions: int, bits: int) -> None:
    assert steps(walk([2**bits] * dimensions, "hilbert")) <= {1}


@given(st.integers(1, 3), st.integers(2, 3))
def test_each_part_of_a_hilbert_curve_fills_a_cube_of_half_the_size(dimensions: int, bits: int) -> None:
    # What makes the curve compact: 2^(D i) routers from a multiple of that on lie in a cube of 2^i routers a side.
    places = walk([2**bits] * dimensions, "hilbert")
    size = 2 ** (dimensions * (bits - 1))
    for first in range(0, len(places), size):
        part = places[first : first + size]
        assert len({tuple(place >> (bits - 1) for place in each) for each in part}) == 1


def test_curves_of_a_square_of_4_by_hand() -> None:
    order = {curve: np.argsort(positions([4, 4], curve)).tolist() for curve in CURVES}
    assert order["row-major"] == list(range(16))
    assert order["snake"] == [0, 1, 2, 3, 7, 6, 5, 4, 8, 9, 10, 11, 15, 14, 13, 12]
    # The curve of the picture in every textbook: into the second quarter, across, and back down.
    assert order["hilbert"] == [0, 1, 5, 4, 8, 12, 13, 9, 10, 14, 15, 11, 7, 6, 2, 3]


def test_a_grid_that_is_no_power_of_two_is_cut_out_of_the_cube_around_it() -> None:
    whole, part = walk([4, 4, 4], "hilbert"), walk([3, 4, 2], "hilbert")
    assert part == [place for place in whole if place[0] < 3 and place[2] < 2]


def test_a_line_leaves_io_hosts_out_and_keeps_hosts_of_a_router_together() -> None:
    # Two hosts on each router of a 2 x 2 mesh, host i and i + 4 on the same one; host 3 is for I/O.
    topology = Grid([0, 1, 2, 3] * 2, [2, 2], wrap=False)
    compute = np.array([0, 1, 2, 4, 5, 6, 7])
    assert line(compute, topology, "ids").tolist() == [0, 1, 2, 4, 5, 6, 7]
    assert line(compute, topology, "row-major").tolist() == [0, 4, 1, 5, 2, 6, 7]
    assert line(compute, topology, "snake").tolist() == [0, 4, 1, 5, 7, 2, 6]


def test_an_order_through_routers_needs_a_grid() -> None:
    hosts = np.arange(2)
    assert line(hosts, None, "ids").tolist() == [0, 1]
    with pytest.raises(ValueError, match=r"order snake leads through .* topology is of the kind 'flat'"):
        line(hosts, Flat([True, True]), "snake")
    with pytest.raises(ValueError, match=r"order hilbert leads through .* topology is not known"):
        line(hosts, None, "hilbert")
    with pytest.raises(ValueError, match="there is no curve 'zigzag'"):
        positions([2], "zigzag")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="too long"):
        positions([2**21] + [1] * 2, "hilbert")
