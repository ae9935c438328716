"""explain-wait tells how long a job waited for its hosts to wake up, and that others could not have these meanwhile."""

from pathlib import Path

import pytest

from batdispatch.explain import wait_causes
from batdispatch.explain.records import Explanation
from batdispatch.explain.wait_causes import explain
from batdispatch.explain.words import in_words
from sites import delays, hosts_of, platform_of, simulated

WATTS = """<prop id="wattage_per_state" value="100:110:200,10:10,120:120,140:140"/>
<prop id="sleep_pstates" value="1:2:3"/>"""
#: Falls asleep in 2 s, wakes up in 20 s.
SPEEDS = "1Gf,1f,0.5f,0.05f"
JOBS = [
    {"id": "1", "subtime": 0, "walltime": 100, "res": 4, "profile": "d60"},
    {"id": "2", "subtime": 1000, "walltime": 100, "res": 2, "profile": "d60"},
    {"id": "3", "subtime": 1010, "walltime": 100, "res": 3, "profile": "d60"},
    {"id": "4", "subtime": 2000, "walltime": 100, "res": 1, "profile": "d60"},
]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    platform = platform_of(hosts_of(4, WATTS)).replace('speed="1Gf"', f'speed="{SPEEDS}"')
    return simulated(tmp_path, "powered[sleep=idle,after=100]", platform, JOBS, delays(60))


def phases(found: Explanation) -> list[tuple[str, float, float]]:
    return [(phase.kind, phase.start, phase.end) for phase in found.phases]


def test_the_time_that_hosts_take_to_wake_up_is_a_phase(run: Path) -> None:
    second, third, fourth = explain(run / "decisions.jsonl", ["2", "3", "4"])
    assert phases(second) == [("waking", 1000, 1020)]
    # Until 1,080 s job 2 has two hosts, also while they wake up; then the fourth host wakes up for job 3.
    assert phases(third) == [("short", 1010, 1080), ("waking", 1080, 1100)]
    assert [(holder.job, holder.seconds) for holder in third.phases[0].holders] == [("w0!2", 70)]
    assert phases(fourth) == [("waking", 2000, 2020)]
    assert "20 s 100.0%  waited for its hosts to wake up" in "\n".join(in_words(second, limit=5))


def test_it_is_told_alike_whether_a_part_of_the_recording_is_read_or_all_of_it(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = run / "decisions.jsonl"
    (part,) = explain(path, ["3"])
    monkeypatch.setattr(wait_causes, "excerpt_of", lambda *_: None)
    assert phases(explain(path, ["3"])[0]) == phases(part)
