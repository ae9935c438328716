"""energy-bf-dicho on cases small enough to do by hand."""

import math
from pathlib import Path
from typing import Any

import pytest

from recorded_energy import rows
from sites import HEAD, delays, hosts_of, simulated

#: One second down at 240 W and two up at 40 W; 10 W asleep, 100 W idle: a sleep saves after 2.6 s.
POWER = '<prop id="wattage_per_state" value="100:200,10:10,240:240,40:40"/><prop id="sleep_pstates" value="1:2:3"/>'


def switches(folder: Path, options: str, hosts: int, jobs: list[tuple[float, int, float]]) -> list[tuple[str, ...]]:
    """Return when which hosts were set to which power state.

    Jobs are (submission, hosts, seconds); of infinitely many: a job of 400 s without a walltime.
    """
    text = hosts_of(hosts, POWER).replace('speed="1Gf"', 'speed="1Gf,1Gf,1f,0.5f"')
    listed: list[dict[str, Any]] = []
    for number, (at, units, seconds) in enumerate(jobs):
        walltime = {} if seconds == math.inf else {"walltime": seconds + 1}
        profile = f"d{min(seconds, 400)}"
        listed.append({"id": str(number), "subtime": at, "res": units, "profile": profile, **walltime})
    simulated(
        folder,
        f"energy-bf-dicho[rjms_delay=0,{options}]",
        f'{HEAD}<platform version="4.1"><zone id="all" routing="Full">{text}</zone></platform>',
        listed,
        delays(*(min(seconds, 400) for _, _, seconds in jobs)),
    )
    assert len(rows(folder / "run" / "jobs.csv")) == len(jobs)
    found = rows(folder / "run" / "pstate_changes.csv")[1:]
    return [(row["time"], row["machine_id"], row["new_pstate"]) for row in found if int(row["new_pstate"]) >= 0]


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        # Of 4 idle hosts the search by halving tries 2, then 3; the job is planned on the host that is left.
        (1, [("1", "0-2", "1")]),
        # A plan is never faster than half of itself.
        (0.5, []),
    ],
)
def test_as_many_idle_hosts_sleep_as_the_search_meets(
    ratio: float, expected: list[tuple[str, ...]], tmp_path: Path
) -> None:
    assert switches(tmp_path, f"tolerated_slowdown_loss_ratio={ratio}", 4, [(0, 1, 100)])[:1] == expected


def test_hosts_do_not_sleep_for_a_plan_that_ends_before_it_saves(tmp_path: Path) -> None:
    assert switches(tmp_path, "tolerated_slowdown_loss_ratio=9", 4, [(0, 1, 1)]) == []


@pytest.mark.parametrize("compare", ["switch_on", "remove_sleep_jobs"])
def test_as_many_hosts_are_woken_as_a_waiting_job_lacks(compare: str, tmp_path: Path) -> None:
    options = f"tolerated_slowdown_loss_ratio=1.01,comparison_type={compare}"
    found = switches(tmp_path, options, 4, [(0, 1, 300), (100, 3, 20)])
    assert found[0] == ("1", "0-2", "1")
    # The running job leaves its host, too, so that the job of 3 lacks 2; of the plans met none burns less.
    assert ("102", "0-1", "0") in found


def test_a_job_without_end_is_not_kept_waiting_by_hosts_that_sleep_and_wake_in_turn(tmp_path: Path) -> None:
    found = switches(tmp_path, "tolerated_slowdown_loss_ratio=1000,least_sleep=30", 3, [(100, 3, math.inf)])
    assert len(found) < 10
