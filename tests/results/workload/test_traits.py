"""The traits of a workload, worked out by hand for a few jobs, and against plain loops for many."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request, amounts
from batdispatch.inputs.workloads import Workload
from batdispatch.report.workload.tables import facts
from batdispatch.report.workload.traits import WEEKDAYS, Traits

HOUR, DAY = 3600.0, 86400.0


def workload_of(*jobs: tuple[float, int, float, float, str], nb_res: int | None = 4, **about: Any) -> Workload:
    """Return a workload of (submission, hosts, run time, walltime, user)."""
    return Workload(
        path=Path("w"),
        name="w",
        nb_res=nb_res,
        jobs=[
            Job(id=str(row), request=Request(units=units), submission=at, walltime=limit, profile=f"d{took}", user=user)
            for row, (at, units, took, limit, user) in enumerate(jobs)
        ],
        profiles={f"d{took}": {"type": "delay", "delay": took} for _, _, took, _, _ in jobs},
        about={"origin": about} if about else {},
    )


#: Three hours on four hosts: 2 x 3600, 4 x 1800 (killed at half an hour) and 1 x 7200 host-seconds.
JOBS = (
    (0.0, 2, 3600.0, 7200.0, "ada"),
    (HOUR, 4, 3600.0, 1800.0, "bob"),
    (3 * HOUR, 1, 7200.0, math.inf, "ada"),
)


def test_load() -> None:
    traits = Traits(workload_of(*JOBS))
    assert traits.work.tolist() == [7200, 7200, 7200]
    assert traits.offered_load == 3 * 7200 / (4 * 3 * HOUR)
    edges, load = traits.submitted_load(HOUR)
    assert edges.tolist() == [0, HOUR, 2 * HOUR, 3 * HOUR]
    # The third job begins a stretch that is not full.
    assert load.tolist() == [0.5, 0.5, 0, 0]
    edges, load = traits.submitted_load(DAY)
    assert (edges.tolist(), load.tolist()) == ([0, DAY], [3 * 7200 / (4 * DAY)] * 2)


def test_a_job_that_runs_for_its_walltime_runs_no_longer_than_it() -> None:
    told = dict(facts(Traits(workload_of((0.0, 1, 60.0, 60.0, ""), (1.0, 1, 60.0, 50.0, "")))))
    assert told["jobs with a walltime"] == "100.0%; 50.0% of these ran longer than it"


def test_a_stretch_that_is_not_full_is_left_out() -> None:
    # Two hours and a half: what comes after two hours is in no stretch.
    traits = Traits(workload_of(*((at * HOUR, 4, 1800.0, math.inf, "") for at in (0.0, 1.5, 2.2, 2.5))))
    edges, load = traits.submitted_load(HOUR)
    assert (edges.tolist(), load.tolist()) == ([0, HOUR, 2 * HOUR], [0.5, 0.5, 0.5])


def test_load_without_a_size_is_in_hosts() -> None:
    traits = Traits(workload_of(*JOBS, nb_res=None))
    assert (traits.capacity, traits.offered_load) == (None, None)
    assert traits.submitted_load(HOUR)[1].tolist() == [2, 2, 0, 0]


def test_accuracy() -> None:
    used = [0.0, 0.05, 0.5, 0.999, 1.0, 1.0001, 65.8]
    traits = Traits(workload_of(*((0.0, 1, 100 * share, 100.0, "") for share in used), (0.0, 1, 5.0, math.inf, "")))
    assert traits.accuracy.tolist() == pytest.approx(used)
    shares = 7 * traits.accuracy_shares()
    assert {row: round(share) for row, share in enumerate(shares) if share} == {0: 1, 1: 1, 10: 1, 19: 2, 20: 2}


def test_accuracy_of_walltimes_shorter_than_any_clock_tells_is_a_number() -> None:
    traits = Traits(workload_of(*((0.0, 1, 3e10, walltime, "") for walltime in (1e-320, 1e-320, 60.0))))
    assert traits.accuracy.tolist() == pytest.approx([3e16, 3e16, 5e8])
    assert traits.quantiles()["run time / walltime"][1][2] == pytest.approx(3e16)


def test_space_of_over_estimates_by_hand() -> None:
    """Two hosts for an hour of the two asked for, one for 2 of 5 h, one exactly, one killed; 12 h, 4 hosts."""
    jobs = (
        (0.0, 2, HOUR, 2 * HOUR, ""),
        (HOUR, 1, 2 * HOUR, 5 * HOUR, ""),
        (2 * HOUR, 4, HOUR, HOUR, ""),
        (3 * HOUR, 3, 2 * HOUR, HOUR, ""),
        (12 * HOUR, 4, HOUR, math.inf, ""),
    )
    found = Traits(workload_of(*jobs)).estimates()
    assert found is not None
    assert (found.over, found.under) == (2 / 4, 1 / 4)
    # 2 x 1 h and 1 x 3 h.
    assert found.mean_space == (2 + 3) / 2 * HOUR
    # Five host-hours of 4 hosts in half a day.
    assert found.hours_a_day == pytest.approx(5 / 4 / 0.5)
    unknown = Traits(workload_of(*jobs, nb_res=None)).estimates()
    assert unknown is not None
    assert unknown.hours_a_day is None
    assert Traits(workload_of((0.0, 1, HOUR, math.inf, ""))).estimates() is None
    none = Traits(workload_of((0.0, 1, HOUR, HOUR, ""))).estimates()
    assert none == (0.0, 0.0, 0.0, None)


def test_sizes() -> None:
    traits = Traits(workload_of(*((0.0, size, 60.0, math.inf, "") for size in (2, 3, 4, 5, 16, 17))))
    sizes = traits.sizes()
    assert sizes.names == ["2", "3-4", "5-8", "9-16", "17-32"]
    assert (6 * sizes.jobs).tolist() == pytest.approx([1, 2, 1, 1, 1])
    assert (47 * sizes.work).tolist() == pytest.approx([2, 7, 5, 16, 17])


def test_users() -> None:
    traits = Traits(workload_of(*JOBS, (4 * HOUR, 1, 100.0, math.inf, "")))
    assert [(user.name, user.jobs) for user in traits.users()] == [("ada", 2), ("bob", 1)]
    assert traits.users_of_half() == 1
    assert Traits(workload_of((0.0, 1, 1.0, 1.0, ""))).users() == []


def test_half_of_the_work_is_half_of_what_jobs_with_users_do() -> None:
    # Of 100 s, 60 have no user. Of the other 40 s, half is 20 s, which cy and ada do together, and cy does not alone.
    seconds = {"": 60.0, "ada": 10.0, "bob": 9.0, "cy": 12.0, "dan": 9.0}
    jobs = [(float(place), 1, took, took, user) for place, (user, took) in enumerate(seconds.items())]
    assert Traits(workload_of(*jobs)).users_of_half() == 2


def test_waits_in_the_log() -> None:
    starts = np.array([5.0, math.nan, 3 * HOUR + 7])
    traits = Traits(workload_of(*JOBS), starts=starts)
    assert traits.waits.tolist() == [5, 7]
    assert traits.quantiles()["waiting time in the log"][2] == 6
    assert "waiting time in the log" not in Traits(workload_of(*JOBS)).quantiles()


def test_cores_of_shared_hosts() -> None:
    job = Job(
        id="1",
        request=Request(units=3, per_unit=amounts({"core": 4, "memory": 9}), per_node=amounts({"gpu": 1})),
        submission=0.0,
        profile="d",
    )
    workload = Workload(path=Path("w"), name="w", nb_res=2, jobs=[job], profiles={"d": {"type": "delay", "delay": 1}})
    traits = Traits(workload, capacity=32)
    assert (traits.unit, traits.size.tolist(), traits.capacity) == ("core", [12], 32)
    assert traits.demands() == {"gpu": 1, "memory": 1}
    assert Traits(workload).capacity is None


def test_run_times_that_depend_on_the_platform() -> None:
    workload = workload_of(*JOBS)
    workload.profiles["d7200.0"] = {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0}
    traits = Traits(workload)
    assert (traits.offered_load, traits.work.tolist()) == (None, [7200, 7200, 0])
    assert traits.quantiles()["run time"][1][-1] == 3600


# Thursday, 1 January 1970, 23:30 UTC: Friday half past midnight in Berlin.
LATE = {"UnixStartTime": 947116800, "time_origin": 23.5 * HOUR}


@pytest.mark.parametrize(
    ("about", "hour", "day", "clock"),
    [
        (LATE, 23, "Thu", "UTC"),
        (LATE | {"TimeZoneString": "Europe/Berlin"}, 0, "Fri", "Europe/Berlin"),
        (LATE | {"TimeZoneString": "Mars"}, 23, "Thu", "UTC"),
        (LATE | {"UnixStartTime": "x"}, 0, None, ""),
        (LATE | {"UnixStartTime": 1e15}, 0, None, ""),
        ({"time_origin": 23.5 * HOUR}, 0, None, ""),
    ],
)
def test_arrivals(about: dict[str, Any], hour: int, day: str | None, clock: str) -> None:
    traits = Traits(workload_of((0.0, 1, 1.0, 1.0, ""), **about))
    assert (traits.clock, int(np.argmax(traits.by_hour()))) == (clock, hour)
    weekdays = traits.by_weekday()
    assert (None if weekdays is None else WEEKDAYS[int(np.argmax(weekdays))]) == day


def test_summer_time() -> None:
    """At noon in Berlin it is 11 o'clock UTC in winter and 10 in summer."""
    noons = [1767610800.0, 1783332000.0]
    jobs = ((noon - noons[0], 1, 1.0, 1.0, "") for noon in noons)
    traits = Traits(workload_of(*jobs, UnixStartTime=0, time_origin=noons[0], TimeZoneString="Europe/Berlin"))
    assert traits.by_hour()[12] == 1


def test_the_hour_that_a_clock_leaves_out_has_no_job() -> None:
    """On 29 March 2026, at 1 o'clock UTC, Berlin's clocks go from 2 to 3: jobs before, then, and after."""
    change = 1774746000.0
    jobs = ((at, 1, 1.0, 1.0, "") for at in (0.0, 3600.0, 3601.0))
    traits = Traits(workload_of(*jobs, UnixStartTime=0, time_origin=change - 3600.0, TimeZoneString="Europe/Berlin"))
    assert {hour: share for hour, share in enumerate(traits.by_hour()) if share} == {1: 1 / 3, 3: 2 / 3}


JOB = st.tuples(
    st.floats(0, 1e7),
    st.integers(1, 100),
    st.floats(0.1, 1e6),
    st.sampled_from([60.0, 3600.0, math.inf]),
    st.sampled_from("abc"),
)


@given(st.lists(JOB, min_size=1, max_size=40).map(sorted), st.sampled_from([3600.0, 86400.0, 604800.0]))
def test_against_plain_loops(jobs: list[tuple[float, int, float, float, str]], seconds: float) -> None:
    traits = Traits(workload_of(*jobs))
    work = [units * min(took, limit) for _, units, took, limit, _ in jobs]
    edges, load = traits.submitted_load(seconds)
    for row in range(len(edges) - 1):
        here = sum(
            amount for amount, job in zip(work, jobs, strict=True) if int((job[0] - jobs[0][0]) // seconds) == row
        )
        assert load[row] == pytest.approx(here / (4 * seconds))
    sizes = traits.sizes()
    assert sum(sizes.jobs) == pytest.approx(1)
    assert sum(sizes.work) == pytest.approx(1)
    for row, most in enumerate(sizes.largest):
        assert sizes.jobs[row] * len(jobs) == pytest.approx(sum(most / 2 < job[1] <= most for job in jobs))
    for user in traits.users():
        assert user.jobs == sum(job[4] == user.name for job in jobs)
        assert user.work * sum(work) == pytest.approx(
            sum(amount for amount, job in zip(work, jobs, strict=True) if job[4] == user.name)
        )
    assert sum(traits.by_hour()) == pytest.approx(1)
    assert sum(traits.accuracy_shares()) == pytest.approx(1 if traits.limited.any() else 0)
