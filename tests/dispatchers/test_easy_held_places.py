"""EASY under a placement that refuses to stand next to others: what it is told of who holds what, by hand."""

from pathlib import Path

import pytest

from batdispatch.core.machine.machine import Machine
from simulating import Task, simulate

#: Places a job on consecutive hosts, none of which is next to a host that somebody holds.
APART = '''
from batdispatch import Allocation, Place, Placement


class Apart(Placement):
    """Takes the lowest consecutive hosts with a gap to all that others hold."""

    complete = False

    def place(self, scene, job):
        taken = {host for _, place in scene.held for host in place.allocation.ids}
        for first in range(len(self.machine.hosts) - job.units + 1):
            hosts = range(first, first + job.units)
            if all(scene.free >> host & 1 and not {host - 1, host, host + 1} & taken for host in hosts):
                return Place(Allocation.of(hosts))
        return None
'''


@pytest.fixture
def apart(tmp_path: Path) -> str:
    path = tmp_path / "apart.py"
    path.write_text(APART)
    return f"{path}:Apart"


def starts(apart: str, reservation: str, hosts: int, *tasks: tuple[str, float, int, float]) -> dict[str, float]:
    made = [Task(name, come, units, long, long) for name, come, units, long in tasks]
    options = {"placement": apart, "reservation": reservation}
    return simulate(Machine.flat(hosts), made, "easy", options=options).starts()


both = pytest.mark.parametrize("reservation", ["count", "hosts"])


@pytest.mark.parametrize(("reservation", "long"), [("hosts", 3), ("count", 10)])
def test_what_outlives_the_shadow_time_stands_apart_from_the_head_too(
    apart: str, reservation: str, long: float
) -> None:
    # a holds 0-1 until 10. The head wants 6 of 8 hosts: 0-5, from 10 on. The long job would outlive that. With hosts
    # reserved it takes 7 at 3, apart from the head's place. Counted, it would stand on 3, the lowest host apart from a,
    # and the head could not start at 10: it waits, and takes 7 then. Another one has no place before the head ends.
    found = starts(apart, reservation, 8, ("a", 0, 2, 10), ("head", 1, 6, 20), ("long", 3, 1, 100), ("more", 4, 1, 100))
    assert found == {"a": 0, "head": 10, "long": long, "more": 30}


@both
def test_what_runs_beyond_the_shadow_time_is_in_the_heads_way(apart: str, reservation: str) -> None:
    # a holds 0 until 10, b holds 2 until 50. The head wants 4 of 7 hosts: not 3-6, which is next to b, so from 50 on.
    # Then it has 0-3, and a job of 1 host until 33 is done before: it goes ahead at 3, on 4 and not on 3.
    found = starts(apart, reservation, 7, ("a", 0, 1, 10), ("b", 0, 1, 50), ("head", 1, 4, 5), ("short", 3, 1, 30))
    assert found == {"a": 0, "b": 0, "head": 50, "short": 3}


@both
def test_two_that_go_ahead_together_leave_the_head_its_place(apart: str, reservation: str) -> None:
    # a holds 0 and b holds 2-6 of 9 hosts until 10. The head wants 7, and has 0-6 from 10 on. x goes ahead on 8, the
    # only host apart from all of these. y has no such host before the head has ended at 15.
    found = starts(
        apart,
        reservation,
        9,
        *(("a", 0, 1, 10), ("b", 0, 5, 10), ("head", 1, 7, 5), ("x", 2, 1, 100), ("y", 2, 1, 100)),
    )
    assert found["head"] == 10
    assert (found["x"], found["y"]) == (2, 15)


@both
def test_the_head_stands_apart_from_those_that_still_run_at_the_shadow_time(apart: str, reservation: str) -> None:
    # Of 11 hosts g holds 0-2 and g2 4 until 200, g3 6-8 until 10. The head wants 4: 6-9 or 7-10, from 10 on, since 5 is
    # next to g2. The long job could only stand on 10, where it would leave the head 6-8: it waits until 15.
    found = starts(
        apart,
        reservation,
        11,
        *(("g", 0, 3, 200), ("g2", 0, 1, 200), ("g3", 0, 3, 10), ("head", 1, 4, 5), ("long", 2, 1, 100)),
    )
    assert found == {"g": 0, "g2": 0, "g3": 0, "head": 10, "long": 15}


def test_a_second_that_goes_ahead_counts_with_the_first_one(apart: str) -> None:
    # a holds 0-5 and c holds 9-14 of 17 hosts until 10; b leaves 7 at 1. The head wants 7, from 10 on. x goes ahead on
    # 7: the head then has 9-15, but not 0-6, next to x. y would stand on 16 and leave the head only 0-6: it waits.
    found = starts(
        apart,
        "count",
        17,
        *(("a", 0, 6, 10), ("b", 0, 1, 1), ("c", 0, 6, 10)),
        *(("head", 1.5, 7, 20), ("x", 2, 1, 100), ("y", 3, 1, 100)),
    )
    assert found == {"a": 0, "b": 0, "c": 0, "head": 10, "x": 2, "y": 10}
