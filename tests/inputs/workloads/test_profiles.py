"""Profiles: their typed forms and how long they take."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.jobs.profiles import Composition, DataStaging, Delay, ProfileSequence, check_profile, runtime_of

PROFILES: dict[str, dict[str, Any]] = {
    "d10": {"type": "delay", "delay": 10},
    "fail": {"type": "delay", "delay": 5, "ret": 3},
    "hom": {"type": "parallel_homogeneous", "cpu": 1, "com": 1},
    "p2": {"type": "parallel", "cpu": [1, 1], "com": [0, 0, 0, 0]},
    "p3": {"type": "parallel", "cpu": [1, 1, 1], "com": [0] * 9},
    "seq": {"type": "composed", "repeat": 3, "seq": ["d10", "d10"]},
    "nested": {"type": "composed", "repeat": 2, "seq": ["seq", "d10"]},
    "stops": {"type": "composed", "repeat": 4, "seq": ["d10", "fail", "d10"]},
    "after": {"type": "composed", "seq": ["d10", "stops", "d10"]},
    "mixed": {"type": "composed", "seq": ["d10", "hom"]},
    "unreached": {"type": "composed", "seq": ["fail", "hom"]},
    "both": {"type": "composed", "seq": ["p2", "d10", "p3"]},
    "outer": {"type": "composed", "seq": ["both", "p2"]},
    "talk": {"type": "recv", "success": "d10", "failure": "talk"},
}


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("d10", 10),
        ("seq", 60),
        ("nested", 140),
        ("stops", 15),
        ("after", 25),
        ("mixed", None),
        ("unreached", 5),
        ("hom", None),
        ("talk", None),
    ],
)
def test_runtime(name: str, seconds: float | None) -> None:
    assert runtime_of(PROFILES[name], PROFILES) == seconds


def test_sizes_that_a_job_must_have() -> None:
    sizes = Composition({name: check_profile(name, profile) for name, profile in PROFILES.items()}).sizes
    assert sizes == {"p2": {2}, "p3": {3}, "both": {2, 3}, "outer": {2, 3}}


def test_typed_forms() -> None:
    assert check_profile("x", {"type": "delay", "delay": 1, "comment": "kept"}) == Delay(delay=1.0)
    staging = check_profile("x", {"type": "data_staging", "nb_bytes": 1, "from": "a", "to": "b"})
    assert staging == DataStaging(nb_bytes=1.0, source="a", target="b")


@given(st.lists(st.tuples(st.integers(1, 4), st.lists(st.integers(0, 30), min_size=1, max_size=4)), max_size=12))
def test_runtime_is_the_sum_of_the_unfolded_delays(shapes: list[tuple[int, list[int]]]) -> None:
    profiles: dict[str, dict[str, Any]] = {"c0": {"type": "delay", "delay": 1.0}}
    total = {"c0": 1}
    for index, (repeat, picks) in enumerate(shapes, start=1):
        parts = [f"c{pick % index}" for pick in picks]
        profiles[f"c{index}"] = {"type": "composed", "repeat": repeat, "seq": parts}
        total[f"c{index}"] = repeat * sum(total[part] for part in parts)
    for name, profile in profiles.items():
        assert runtime_of(profile, profiles) == total[name]


def test_sharing_parts_does_not_take_exponential_time() -> None:
    profiles: dict[str, dict[str, Any]] = {"c0": {"type": "delay", "delay": 1.0}}
    for i in range(1, 60):
        profiles[f"c{i}"] = {"type": "composed", "seq": [f"c{i - 1}", f"c{i - 1}"]}
    assert runtime_of(profiles["c59"], profiles) == 2.0**59
    shallow = {name: check_profile(name, profiles[name]) for name in list(profiles)[:20]}
    assert isinstance(shallow["c19"], ProfileSequence)
    assert Composition(shallow).sizes == {}
