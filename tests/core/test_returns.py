"""Up to when a plan got something back since a job was placed, against a list of all that it got back."""

import math

from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.plans.returns import Returns


@given(st.lists(st.one_of(st.tuples(st.integers(0, 9), st.integers(0, 9)), st.sampled_from("abc")), max_size=30))
def test_the_latest_end_since_a_job_was_placed(happened: list[tuple[int, int] | str]) -> None:
    returns = Returns()
    ends: list[float] = []
    placed: dict[str, tuple[object, int]] = {}
    for what in happened:
        if isinstance(what, str):
            kept = object()
            returns.placed(what, kept)
            placed[what] = kept, len(ends)
        else:
            start, end = what
            returns.add(start, end)
            if end > start:
                ends.append(end)
        for key, (kept, count) in placed.items():
            assert returns.since(key, kept) == max(ends[count:], default=-math.inf)
            assert returns.since(key, object()) == math.inf, "another reservation than the one that was placed"


def test_after_many_returns_each_job_is_placed_anew() -> None:
    returns = Returns()
    kept = object()
    returns.placed("a", kept)
    for number in range(2000, 0, -1):
        returns.add(0.0, float(number))
    assert returns.since("a", kept) == math.inf
