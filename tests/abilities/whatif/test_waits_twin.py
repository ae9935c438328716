"""Idle waiting and what is concluded of it beside a count second by second, and sentences at their borders."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.whatif.fidelity.waits import Waits
from batdispatch.abilities.whatif.fidelity.words import _idle

JOB = st.tuples(st.integers(0, 12), st.integers(0, 9), st.integers(1, 9), st.integers(1, 4))


@given(st.lists(JOB, min_size=1, max_size=8), st.integers(1, 6))
def test_the_idle_share_is_that_of_a_count_second_by_second(jobs: list[tuple[int, int, int, int]], hosts: int) -> None:
    """Jobs of (submission, wait, run time, units), whole seconds."""
    submission, wait, runtime, units = np.array(jobs, dtype=np.float64).T
    told = Waits(submission, submission + wait, runtime, units, hosts)
    idle = waited = 0
    for at in range(40):
        held = sum(size for came, late, lasts, size in jobs if came + late <= at < came + late + lasts)
        waiting = [size for came, late, _, size in jobs if came <= at < came + late]
        waited += len(waiting)
        idle += sum(size <= hosts - held for size in waiting)
    if waited:
        assert told.idle_share() == pytest.approx(idle / waited)
    else:
        assert math.isnan(told.idle_share())


def waits_with(idle: int) -> Waits:
    """Return jobs of which one waits for 100 s, in so many of which a host is free."""
    return Waits(np.array([0.0, 0.0]), np.array([0.0, 100.0]), np.array([100.0 - idle, 10.0]), np.ones(2), 1)


@pytest.mark.parametrize(("log", "here", "causes"), [(50, 45, False), (50, 39, True), (50, 50, False), (0, 0, False)])
def test_unknown_causes_are_named_only_where_a_tenth_more_of_the_waiting_is_idle(
    log: int, here: int, causes: bool
) -> None:
    text = _idle(waits_with(log), waits_with(here), "easy")
    assert text.startswith(f"In {log}% of the log's waiting time enough hosts were free")
    assert f"under easy in {here}%." in text
    assert ("has causes that the log does not tell" in text) == causes
