"""The windows in which ends of running jobs are taken together (`_will_run_test` of Slurm 22.05), by hand."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from batdispatch.abilities.sites.slurm.will_run import WillRun

#: All hosts that the waiting job may use.
HOSTS = 0b11


def windows(
    ends: list[float], width: float, linear: float = 0.0, clock: float = 0.0, elsewhere: tuple[int, ...] = ()
) -> list[tuple[int, float]]:
    running: Any = [
        (end, place, SimpleNamespace(allocation=SimpleNamespace(mask=0b100 if place in elsewhere else 0b01)))
        for place, end in enumerate(ends)
    ]
    ledger: Any = SimpleNamespace(free=None)
    return list(WillRun(ledger, lambda: ledger.free, lambda *_: None, running, width, linear, clock)._windows(HOSTS))


@pytest.mark.parametrize(
    ("ends", "options", "expected"),
    [
        # The first end is 10, so the first edge is 30 and what ends by 30 + 30 belongs to it: 60 does, 61 does not.
        ([10, 60, 61], {}, [(2, 60), (3, 61)]),
        # Then 60 s: by 30 + 60 the ends at 61 and 80, not 95; then 120 s: 95 by 150, and not 500; then 500.
        ([10, 61, 80, 95, 500], {}, [(1, 10), (3, 80), (4, 95), (5, 500)]),
        # 5 s more each time, and as often as it takes to reach the next end: by 30 + 35, by 30 + 50, by 30 + 65.
        ([10, 61, 80, 95, 500], {"linear": 5.0}, [(1, 10), (2, 61), (3, 80), (4, 95), (5, 500)]),
        # The clock shows 20 at 0: its next multiple of 30 is at 40, and 61 is in time for 40 + 30.
        ([10, 61, 80], {"clock": 20.0}, [(2, 61), (3, 80)]),
        # An end on the edge itself begins the next multiple: 30 -> 60, so that 90 is still in time and 91 is not.
        ([30, 90, 91], {}, [(2, 90), (3, 91)]),
        # 60 s do not reach 200, nor do 120: 240 do, and 215 is in time as well.
        ([10, 200, 215], {}, [(1, 10), (3, 215)]),
        # Each end by itself; what ends at one moment is one end.
        ([10, 10, 61], {"width": 0.0}, [(2, 10), (3, 61)]),
        # The second gives back no host that the job may use, but has ended when the third has.
        ([10, 70, 80], {"elsewhere": (1,)}, [(1, 10), (3, 80)]),
        # What gives back no host is not waited for, even where it ends in time.
        ([10, 70, 80], {"elsewhere": (2,)}, [(1, 10), (2, 70)]),
        # Who never ends gives nothing back.
        ([10, math.inf], {}, [(1, 10)]),
        ([math.inf], {}, []),
    ],
)
def test_windows(ends: list[float], options: dict[str, Any], expected: list[tuple[int, float]]) -> None:
    assert windows(ends, **{"width": 30.0, **options}) == expected


@pytest.mark.parametrize(
    ("end", "start"),
    # At 100 s: what has outlived its end is killed 30 s after that end, and at the soonest in a second.
    [(120.0, 120.0), (100.0, 130.0), (90.0, 120.0), (71.5, 101.5), (70.5, 101.0), (5.0, 101.0)],
)
def test_what_has_outlived_its_end_is_taken_to_be_killed_half_a_minute_later(end: float, start: float) -> None:
    space = SimpleNamespace(
        give=lambda free, job, allocation: free | allocation.mask,
        only=lambda free, hosts: free & hosts,
        fits=lambda free, job: bool(free),
        pooled=lambda free: np.array([free.bit_count()]),
        sums_needed=lambda job: [1],
    )
    ledger: Any = SimpleNamespace(free=0, now=100.0, space=space)
    stay: Any = SimpleNamespace(job=SimpleNamespace(id="a"), allocation=SimpleNamespace(mask=0b01))
    run = WillRun(ledger, lambda: ledger.free, lambda free, _: free, [(end, 0, stay)], 30.0, 0.0, 0.0)
    job: Any = SimpleNamespace(id="b")
    assert run.first(job, HOSTS, now_only=False) == (start, 0b01)
    assert run.first(job, HOSTS, now_only=True) is None
