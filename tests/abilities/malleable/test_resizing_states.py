"""The states of segments under `resizing`: which moves there are. Tests with `checked` verify what holds in each."""

from __future__ import annotations

import itertools

import pytest

from batdispatch.abilities.malleable.flexible import Flexible
from batdispatch.abilities.malleable.segments import MOVES, Segment, Segments, SegmentState
from batdispatch.core.jobs.sizes import Sizes
from strategies import make_job


def segment(state: SegmentState) -> Segment:
    job = make_job("w0!1", 2)
    return Segment(job.id, Flexible(job, Sizes(1, 4), {job.profile: {"type": "delay", "delay": 10.0}}), state)


def test_a_segment_makes_the_moves_of_the_table_and_no_others() -> None:
    for before, after in itertools.product(SegmentState, SegmentState):
        segments, one = Segments(), segment(before)
        segments.enter(one)
        if after in MOVES[before]:
            segments.move(one, after)
            reached = after
        else:
            with pytest.raises(RuntimeError, match=f"from {before.name} to {after.name}"):
                segments.move(one, after)
            reached = before
        assert [state for state in SegmentState if segments.of(state)] == [reached]
        assert segments.get(one.name) is segments.drop(one.name) is one
        assert not len(segments)
        assert not segments.of(reached)
