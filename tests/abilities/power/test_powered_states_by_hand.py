"""Jobs in lower power states under a cap, on four hosts, worked out by hand.

A host burns 100 W idle. At work it burns 200 W at 1 Gflop/s, 150 W at half of that, and 120 W at a quarter.
"""

import pytest

from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.events import Event, MachinesAvailable, MachinesUnavailable
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.engines.records import EngineOptions
from simulating import Result, Task, simulate

POWER = {
    "wattage_per_state": "100:110:200,10:10,120:120,140:140,90:95:150,80:85:120",
    "sleep_pstates": "1:2:3",
}
SPEEDS = (1e9, 1.0, 0.5, 0.2, 5e8, 2.5e8)


def run(options: str, *tasks: Task, events: tuple[Event, ...] = (), platform: Machine | None = None) -> Result:
    hosts = [Host(id=n, name=f"h{n}", properties=POWER, speed=1e9, speeds=SPEEDS) for n in range(4)]
    engine = EngineOptions(energy="exact", dynamic_jobs=True)
    return simulate(platform or Machine(hosts), tasks, f"powered[{options}]", engine=engine, events=events, flops=1e9)


def changes(result: Result) -> list[str]:
    return result.files["pstate_changes.csv"].decode().split()[2:]


def spans(result: Result) -> dict[str, tuple[float, float]]:
    return {row.id: (row.start / 1e6, row.end / 1e6) for row in result.rows.values() if row.end - row.start > 10}


@pytest.mark.parametrize("name", ["fcfs", "easy", "conservative"])
def test_a_job_that_lacks_only_power_starts_in_the_fastest_state_that_fits(name: str) -> None:
    """Two hosts add 200 W to 400 W, two more add 100 W at half the speed, and 40 W at a quarter of it."""
    tasks = [Task("1", 0.0, 2, 10.0, 11.0), Task("2", 1.0, 2, 10.0, 11.0)]
    half = run(f"dispatcher={name},cap=720,states=lower", *tasks)
    assert spans(half) == {"1": (0.0, 10.0), "2~2": (1.0, 21.0)}
    assert changes(half) == ["1,2-3,-1", "1,2-3,4", "21,2-3,-1", "21,2-3,0"]
    quarter = run(f"dispatcher={name},cap=650,states=lower", *tasks)
    assert spans(quarter) == {"1": (0.0, 10.0), "2~2": (1.0, 41.0)}
    assert quarter.session.report["jobs_slowed_down"] == 1
    assert spans(run(f"dispatcher={name},cap=639.9,states=lower", *tasks)) == {"1": (0.0, 10.0), "2": (10.0, 20.0)}
    assert spans(run(f"dispatcher={name},cap=720", *tasks)) == {"1": (0.0, 10.0), "2": (10.0, 20.0)}


def test_a_job_that_is_killed_in_the_moment_it_starts_takes_no_time_and_its_rest_does_not_overlap_it() -> None:
    """Its stretch is that of a job that Batsim kills as soon as it can, a tenth of a nanosecond after its start."""
    result = run("cap=520,states=lower", Task("1", 0.0, 2, 10.0, 11.0), Task("2", 1.0, 2, 10.0, 11.0))
    rows = {line.split(",")[0]: line.split(",") for line in result.files["jobs.csv"].decode().splitlines()[1:]}
    assert rows["2"][7:13] == ["COMPLETED_KILLED", "20.000000", "0.000000", "20.000000", "19.000000", "19.000000"]
    assert float(rows["2"][13]) == pytest.approx(19e10)
    assert rows["2~2"][8] == "20.000000"


def test_a_job_with_too_short_a_walltime_has_as_much_of_its_work_done() -> None:
    result = run("cap=720,states=lower", Task("1", 0.0, 2, 10.0, 11.0), Task("2", 1.0, 2, 10.0, 8.0))
    assert spans(result)["2~2"] == (1.0, 17.0)
    assert result.rows["2~2"].state is JobState.COMPLETED_WALLTIME_REACHED


def test_a_job_without_a_walltime_is_not_killed_first() -> None:
    result = run("cap=720,states=lower", Task("1", 0.0, 2, 10.0, 11.0), Task("2", 1.0, 2, 10.0))
    assert spans(result) == {"1": (0.0, 10.0), "2": (1.0, 21.0)}
    assert changes(result)[:2] == ["1,2-3,-1", "1,2-3,4"]


def test_a_job_that_never_fits_at_full_speed_runs_at_the_one_that_fits() -> None:
    task = Task("1", 0.0, 4, 10.0, 11.0)
    assert run("cap=799", task).rows["1"].state is JobState.REJECTED
    assert spans(run("cap=799,states=lower", task)) == {"1~2": (0.0, 20.0)}
    assert run("cap=479,states=lower", task).rows["1"].state is JobState.REJECTED


def test_only_the_first_waiting_job_is_slowed_down() -> None:
    """Job 2 lacks hosts, so job 3 waits for power although it would fit at half the speed."""
    tasks = [Task("1", 0.0, 2, 10.0, 11.0), Task("2", 1.0, 4, 10.0, 11.0), Task("3", 1.0, 2, 5.0, 5.0)]
    assert spans(run("cap=720,states=lower", *tasks))["3"][0] >= 10.0


def test_a_slowed_job_wakes_its_hosts_and_waits_again_if_one_goes_away() -> None:
    """Hosts sleep from 7 s on. Woken at 50 s, they would be there at 55 s; host 0 goes at 52 s, and is back at 58 s."""
    tasks = [Task("1", 50.0, 4, 10.0, 11.0)]
    options = "sleep=idle,after=5,cap=799,states=lower"
    assert spans(run(options, *tasks)) == {"1~2": (55.0, 75.0)}
    events = (MachinesUnavailable(52.0, Allocation.of([0])), MachinesAvailable(58.0, Allocation.of([0])))
    again = run(options, *tasks, events=events)
    assert spans(again) == {"1~2": (58.0, 78.0)}
    again.ledger.check()


SLOWLESS = Machine([Host(id=0, name="h", properties={"wattage_per_state": "1:2"}, speed=1.0, speeds=(1.0,))])
SHARED = Machine([Host(id=0, name="h", properties={**POWER, "capacity": "core=4"}, speed=1e9, speeds=SPEEDS)])


@pytest.mark.parametrize(
    ("options", "platform", "message"),
    [
        ("states=lower", None, "found states=lower without a cap, expected cap=WATTS"),
        ("states=lower,cap=900,watts=w", None, "found states=lower beside watts=w, expected no watts"),
        ("states=lower,cap=900", SLOWLESS, "no host computes in a slower power state, expected speeds of several"),
        ("states=lower,cap=900", SHARED, "states=lower on a platform that states what its hosts offer, expected one"),
        ("states=slow,cap=900", None, "states"),
    ],
)
def test_what_cannot_be_is_refused(options: str, platform: Machine | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(options, Task("1", 0.0, 1, 1.0), platform=platform)


def test_attempts_stand_inside_only() -> None:
    with pytest.raises(
        InputError, match=r"dispatcher attempts: found powered\[cap=9,states=lower\] inside it, expected"
    ):
        create("attempts[dispatcher=powered[cap=9,states=lower]]")
