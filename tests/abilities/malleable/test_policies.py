"""Policies: the 40 situations worked out for the paper's sentences, and the two policies of our own by hand."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.malleable.policy import GROUP, Action, Situation, make_policy
from batdispatch.core.jobs.scalability import parse_scalability
from batdispatch.core.jobs.sizes import Ask, Sizes
from batdispatch.core.line import registry

SITUATIONS = json.loads((Path(__file__).parents[2] / "oracles/malleable/policy.json").read_text())


def situation(
    n: int,
    mn: int,
    mx: int,
    pref: int | None = None,
    f: int = 2,
    free: int = 0,
    queue: tuple[int, ...] | list[int] = (),
    req_min: int | None = None,
    req_max: int | None = None,
    since: float | None = None,
    period: float = 0.0,
    *,
    share: float = 0.0,
    gain: float = 1.0,
    **more: Any,
) -> Situation:
    """A job on n of a machine's nodes, in the oracle's words; waiting jobs ask for `queue` nodes."""
    asks = None if req_min is req_max is None else Ask(0, req_min, req_max)
    return Situation(
        units=n,
        sizes=Sizes(mn, mx, f, pref, "malleable", 9, period, **more),
        free=free,
        waiting=len(queue),
        starts=lambda index, size: queue[index] <= free + n - size,
        gain=lambda size: gain,
        share=share,
        since=since,
        ask=asks,
        smallest=min(queue, default=0),
    )


def test_there_are_forty_situations() -> None:
    assert len(SITUATIONS) == 40
    assert {"ignored", "none", "expand", "shrink"} == {case["action"] for case in SITUATIONS}


@pytest.mark.parametrize("case", SITUATIONS, ids=lambda case: case["sentence"][:70])
def test_dmr_in_each_situation(case: dict[str, Any]) -> None:
    expected = Action(case["action"], case["nodes"], case["boosted_waiting_job"])
    assert make_policy("dmr").answer(situation(**case["state"])) == expected


def test_a_job_of_its_preferred_size_may_be_left_alone_when_nothing_waits() -> None:
    quiet = make_policy("dmr[idle_expand=false]")
    assert quiet.answer(situation(8, 2, 32, pref=8, free=56)) == Action("none", 8)
    assert quiet.answer(situation(4, 2, 32, pref=8, free=56)) == Action("expand", 32)


@given(st.integers(0, 8), st.integers(1, 16), st.lists(st.integers(1, 20), max_size=5))
def test_the_first_waiting_job_that_could_start_is_that_of_a_search(free: int, size: int, queue: list[int]) -> None:
    found = situation(16, 1, 16, free=free, queue=queue).first_start(size)
    able = [index for index, need in enumerate(queue) if need <= free + 16 - size]
    assert found == (able[0] if able else None)


@pytest.mark.parametrize("name", registry.names(GROUP))
def test_an_evolving_job_only_gets_what_it_asks_for(name: str) -> None:
    policy = make_policy(name)
    asking = {"n": 4, "mn": 1, "mx": 16, "free": 12, "queue": [6], "share": 1.0}

    def evolving(**more: Any) -> Action:
        found = situation(**asking, **more)
        kind = Sizes(1, 16, kind="evolving", steps=9)
        return policy.answer(Situation(**{n: getattr(found, n) for n in found.__struct_fields__} | {"sizes": kind}))

    assert evolving() == Action("none", 4)
    assert evolving(req_min=8) == Action("expand", 8)
    assert evolving(req_max=2) == Action("shrink", 2)
    assert evolving(req_min=2, req_max=8) == Action("none", 4)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        # A share of 6 nodes: 16 -> 4, which lets the second job start, but not the first.
        (situation(16, 1, 16, queue=[14, 12], share=6.0), Action("shrink", 4, 1)),
        (situation(16, 8, 16, queue=[14], share=6.0), Action("shrink", 8, None)),
        (situation(16, 16, 16, queue=[14], share=6.0), Action("none", 16)),
        (situation(2, 1, 16, queue=[14], free=9, share=6.0), Action("expand", 4)),
        (situation(4, 1, 16, queue=[14], free=9, share=6.0), Action("none", 4)),
        # A size within the share is not too large, whatever is free.
        (situation(2, 1, 16, queue=[14], free=9, share=4.0), Action("expand", 4)),
        (situation(4, 1, 16, queue=[14], free=9, share=4.0), Action("none", 4)),
        (situation(4, 1, 16, free=9, share=6.0), Action("expand", 8)),
        (situation(16, 1, 16, share=6.0), Action("none", 16)),
    ],
)
def test_equal_share_by_hand(state: Situation, expected: Action) -> None:
    assert make_policy("equal-share").answer(state) == expected


@pytest.mark.parametrize(
    ("scalability", "efficiency", "expected"),
    [
        ("linear", 1.0, 32),
        # n^0.5: twice the nodes are 0.71 as efficient, four times 0.5.
        ("power:0.5", 0.7, 8),
        ("power:0.5", 0.5, 16),
        ("power:0.5", 0.8, 4),
        # Amdahl with a tenth: 4 -> 8 nodes takes 0.325 -> 0.2125 of the time, 16 0.15625, 32 0.128.
        ("amdahl:0.1", 0.7, 8),
        ("amdahl:0.1", 0.5, 16),
    ],
)
def test_speed_up_by_hand(scalability: str, efficiency: float, expected: int) -> None:
    policy = make_policy(f"speed-up[efficiency={efficiency}]")
    found = policy.answer(situation(4, 1, 32, free=28, scalability=parse_scalability(scalability)))
    assert found == (Action("expand", expected) if expected > 4 else Action("none", 4))


def test_speed_up_does_not_expand_what_would_gain_less_than_the_resize_takes() -> None:
    policy = make_policy("speed-up")
    assert policy.answer(situation(4, 1, 32, free=28, gain=0.0)) == Action("none", 4)
    assert policy.answer(situation(4, 1, 32, free=28, gain=-math.inf)) == Action("none", 4)
    assert policy.answer(situation(4, 1, 32, free=28, gain=0.1)) == Action("expand", 32)
    # It shrinks as dmr does, and an application gets what it asks for.
    assert policy.answer(situation(4, 1, 32, queue=[2], gain=-1.0)) == Action("shrink", 2, 0)
    assert policy.answer(situation(4, 1, 32, free=28, req_min=8, gain=-1.0)) == Action("expand", 8)


@pytest.mark.parametrize("name", registry.names(GROUP))
@given(
    n=st.integers(1, 40),
    spread=st.tuples(st.integers(0, 39), st.integers(0, 40)),
    preferred=st.none() | st.integers(0, 80),
    factor=st.integers(2, 4),
    free=st.integers(0, 40),
    queue=st.lists(st.integers(1, 50), max_size=4),
    share=st.floats(0.5, 40),
)
def test_what_every_policy_keeps(
    name: str,
    n: int,
    spread: tuple[int, int],
    preferred: int | None,
    factor: int,
    free: int,
    queue: list[int],
    share: float,
) -> None:
    least, most = max(1, n - spread[0]), n + spread[1]
    pref = None if preferred is None else min(max(preferred, least), most)
    state = situation(n, least, most, pref, factor, free, queue, share=share)
    found = make_policy(name).answer(state)
    assert least <= found.units <= most
    if found.kind == "expand":
        assert n < found.units <= n + free
        assert found.units in state.sizes.above(n)
    elif found.kind == "shrink":
        assert queue, "it shrinks although nothing waits"
        assert found.units in state.sizes.below(n)
        if found.boosted is not None:
            assert queue[found.boosted] <= free + n - found.units
            assert not any(asked <= free for asked in queue) or name == "equal-share"
    else:
        assert (found.kind, found.units, found.boosted) == ("none", n, None)
