"""The table of Batsim 4's and 5's profile types has all of them, with the fields that the typed profiles have."""

from typing import Any, get_args

import pytest

from batdispatch.core.jobs.profile_versions import MESSAGES, OF_BATSIM4, OF_BATSIM5, TABLE
from batdispatch.core.jobs.profiles import MAX_NESTING, Profile, spreads_freely

TYPED = {kind.__struct_config__.tag: kind for kind in get_args(Profile)}
TOTAL = {"type": "parallel_homogeneous_total", "cpu": 1, "com": 0}


def test_each_type_is_translated_or_a_message() -> None:
    assert {*OF_BATSIM4, *MESSAGES} == set(TYPED)
    assert not set(OF_BATSIM4) & set(MESSAGES)


@pytest.mark.parametrize("kind", sorted(OF_BATSIM4))
def test_a_row_has_the_fields_of_the_typed_profile(kind: str) -> None:
    assert {field.ours for field in OF_BATSIM4[kind].fields} == set(TYPED[kind].__struct_encode_fields__) - {"ret"}


def test_a_profile_of_batsim_5_belongs_to_one_row() -> None:
    told_apart = [(row.theirs, row.strategy, row.trace_type) for row in TABLE]
    assert len(set(told_apart)) == len(told_apart)
    for rows in OF_BATSIM5.values():
        # Rows of one type have the same names: which row it is decides what the fields mean.
        assert len({row.wire_names for row in rows}) == len({row.file_names for row in rows}) == 1


def nested(levels: int, inmost: dict[str, Any]) -> dict[str, dict[str, Any]]:
    made = {f"c{level}": {"type": "composed", "seq": [f"c{level + 1}"] * 2} for level in range(levels)}
    return {**made, f"c{levels}": inmost}


def test_deep_sequences_spread_as_their_parts_do() -> None:
    # Twice the next one on each level: unfolded, it would be 2 ** 63 parts.
    deep = nested(MAX_NESTING - 1, TOTAL)
    assert spreads_freely(deep["c0"], deep)
    other = nested(MAX_NESTING - 1, {"type": "delay", "delay": 1})
    assert not spreads_freely(other["c0"], other)


def test_sequences_that_no_workload_may_have_do_not_spread() -> None:
    deeper = nested(5000, TOTAL)
    assert not spreads_freely(deeper["c0"], deeper)
    circle = {"a": {"type": "composed", "seq": ["total", "b"]}, "b": {"type": "composed", "seq": ["a"]}, "total": TOTAL}
    assert not spreads_freely(circle["a"], circle)
    assert not spreads_freely({"type": "composed", "seq": ["gone"]}, {})
