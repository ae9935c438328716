"""Hosts that sleep under `powered`, on two hosts that fall asleep in 2 s and wake up in 5 s, worked out by hand."""

from pathlib import Path

import msgspec
import pytest

from batdispatch.abilities.power.concerns.power_states import PowerStates
from batdispatch.abilities.power.concerns.shared_power import SharedPower
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Stay
from batdispatch.core.line.decisions import Execute, SetResourceState
from batdispatch.core.line.dispatcher import Dispatcher, create
from batdispatch.core.line.events import Event, MachinesAvailable, MachinesUnavailable
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.engines.records import EngineOptions
from simulating import Result, Task, simulate

WATTS = {"wattage_per_state": "100:110:200,10:10,120:120,140:140", "sleep_pstates": "1:2:3"}


def machine(count: int = 2, capacity: str = "") -> Machine:
    properties = WATTS | ({"capacity": capacity} if capacity else {})
    speeds = (1.0, 1.0, 0.5, 0.2)
    return Machine([Host(id=n, name=f"h{n}", properties=properties, speed=1.0, speeds=speeds) for n in range(count)])


def run(dispatcher: str, *tasks: Task, events: tuple[Event, ...] = (), hosts: int = 2) -> Result:
    engine = EngineOptions(energy="exact", dynamic_jobs="resizing" in dispatcher)
    return simulate(machine(hosts), tasks, dispatcher, engine=engine, events=events)


def switches(result: Result) -> list[tuple[float, str, str]]:
    return [
        (decision.time, str(decision.hosts), decision.state)
        for _, reply in result.exchanges
        for decision in reply.decisions
        if isinstance(decision, SetResourceState)
    ]


LATE = Task("2", 50.0, 1, 10.0, 10.0)


@pytest.mark.parametrize("name", ["easy", "conservative", "fcfs", "slurm-backfill"])
def test_a_job_on_hosts_that_sleep_begins_when_they_are_awake(name: str) -> None:
    result = run(f"powered[dispatcher={name},sleep=idle,after=20]", Task("1", 0.0, 2, 10.0, 10.0), LATE)
    assert switches(result) == [(30.0, "0-1", "1"), (50.0, "0", "0")]
    assert result.starts() == {"1": 0.0, "2": 55.0}
    assert result.session.report["hosts_put_to_sleep"] == 2
    assert result.session.report["jobs_that_woke_hosts"] == 1


def test_a_host_that_is_falling_asleep_is_woken_when_it_is_there() -> None:
    result = run("powered[sleep=idle,after=20]", Task("1", 0.0, 2, 10.0, 10.0), Task("2", 31.0, 1, 10.0, 10.0))
    assert switches(result) == [(30.0, "0-1", "1"), (32.0, "0", "0")]
    assert result.starts()["2"] == 37.0


def test_as_many_idle_hosts_as_are_to_be_kept_stay_awake() -> None:
    assert [each[1] for each in switches(run("powered[sleep=idle,after=5,keep=1]", LATE))] == ["1"]
    assert [each[1] for each in switches(run("powered[sleep=idle,after=5,keep=0.6]", LATE, hosts=4))] == ["3"]


@pytest.mark.parametrize("capacity", ["", "core=1"])
def test_a_host_that_is_away_counts_neither_as_kept_awake_nor_as_idle_for_long(capacity: str) -> None:
    away = MachinesUnavailable(1.0, Allocation.of([0])), MachinesAvailable(80.0, Allocation.of([0]))
    extra = {"demand": {"core": 1}} if capacity else {}
    tasks = [Task("1", 60.0, 1, 10.0, 10.0, extra=extra), Task("2", 100.0, 1, 10.0, 10.0, extra=extra)]
    engine, name = EngineOptions(energy="exact"), "powered[sleep=idle,after=5,keep=1]"
    result = simulate(machine(2, capacity), tasks, name, engine=engine, events=away)
    assert switches(result) == [(80.0, "1", "1")]


def test_hosts_stay_awake_while_a_job_waits_under_quiet() -> None:
    tasks = [Task("1", 0.0, 1, 40.0, 40.0), Task("2", 1.0, 2, 5.0, 5.0), Task("3", 100.0, 1, 1.0, 1.0)]
    assert switches(run("powered[sleep=quiet,after=10]", *tasks)) == [(55.0, "0-1", "1"), (100.0, "0", "0")]


@pytest.mark.parametrize("name", ["easy", "conservative"])
def test_hosts_are_woken_in_time_for_a_planned_start(name: str) -> None:
    tasks = [Task("1", 0.0, 1, 40.0, 40.0), Task("2", 1.0, 2, 5.0, 5.0)]
    result = run(f"powered[dispatcher={name},sleep=idle,after=10]", *tasks)
    assert switches(result)[:2] == [(10.0, "1", "1"), (35.0, "1", "0")]
    assert result.starts()["2"] == 40.0
    late = run(f"powered[dispatcher={name},sleep=idle,after=10,ahead=false]", *tasks)
    assert late.starts()["2"] == 45.0


@pytest.mark.parametrize("name", ["easy", "conservative"])
def test_no_call_is_asked_for_while_hosts_wake_up_that_are_planned_next(name: str) -> None:
    """They wake up until 10,050 s, and the next job is planned at 10,060 s: it does not help to look every 10 s."""
    slow = [msgspec.structs.replace(host, speeds=(1.0, 1.0, 0.5, 1e-4)) for host in machine().hosts]
    tasks = [Task("1", 50.0, 2, 10.0, 10.0), Task("2", 60.0, 2, 5.0, 5.0)]
    options = f"powered[dispatcher={name},sleep=idle,after=10]"
    result = simulate(Machine(slow), tasks, options, engine=EngineOptions(energy="exact"))
    assert result.starts() == {"1": 10050.0, "2": 10060.0}
    assert len(result.exchanges) < 20


def test_a_call_is_asked_for_only_if_it_is_later_though_sums_are_rounded() -> None:
    """At 1,161.12 s a start is planned for 553.27 + 765.47 s, which is 157.62 s later and rounded up."""
    speeds = (1.0, 1.0, 1 / 6.1, 1 / 151.52)
    hosts = [Host(id=n, name=f"h{n}", properties=WATTS, speed=1.0, speeds=speeds) for n in range(2)]
    tasks = [Task("1", 553.27, 1, 765.47, 765.47), Task("2", 560.0, 2, 5.0, 5.0), Task("3", 1161.12, 2, 5.0, 5.0)]
    engine = EngineOptions(energy="exact")
    result = simulate(Machine(hosts), tasks, "powered[dispatcher=easy,sleep=idle,after=600]", engine=engine)
    assert len(result.starts()) == 3


@pytest.mark.parametrize("name", ["easy", "conservative"])
def test_plans_count_on_the_time_that_hosts_take_to_wake_up(name: str) -> None:
    """Job 1 has its host at 40 s and runs from 45 to 105 s: job 4 would end at 104 s, and may go before job 3."""
    tasks = [
        Task("1", 40.0, 1, 60.0, 60.0),
        Task("2", 50.0, 1, 10.0, 10.0),
        Task("3", 51.0, 3, 5.0, 5.0),
        Task("4", 52.0, 1, 52.0, 52.0),
    ]
    # But job 4 wakes its host up as well, which delays job 3 by as much.
    starts = run(f"powered[dispatcher={name},sleep=idle,after=5]", *tasks, hosts=3).starts()
    assert starts == {"1": 45.0, "2": 55.0, "4": 57.0, "3": 109.0}


def test_hosts_do_not_fall_asleep_while_others_wake_up_for_the_same_planned_start() -> None:
    """Host 2 wakes up from 35 s on for the start at 40 s; host 1, idle since 34 s, would sleep at 37 s."""
    tasks = [Task("1", 0.0, 1, 40.0, 40.0), Task("2", 0.0, 1, 34.0, 34.0), Task("3", 10.0, 3, 5.0, 5.0)]
    result = run("powered[sleep=idle,after=3]", *tasks, hosts=3)
    assert switches(result)[:2] == [(3.0, "2", "1"), (35.0, "2", "0")]
    assert result.starts()["3"] == 40.0


def test_a_job_whose_host_goes_away_while_it_wakes_up_waits_again() -> None:
    gone = MachinesUnavailable(52.0, Allocation.of([0]))
    back = MachinesAvailable(200.0, Allocation.of([0]))
    result = run("powered[sleep=idle,after=20]", Task("1", 0.0, 2, 10.0, 10.0), LATE, events=(gone, back))
    assert switches(result)[1:3] == [(50.0, "0", "0"), (52.0, "1", "0")]
    assert result.starts()["2"] == 57.0
    starts = [d.allocation.mask for _, reply in result.exchanges for d in reply.decisions if isinstance(d, Execute)]
    assert starts == [0b11, 0b10]


def test_a_job_that_waits_again_stands_before_those_that_came_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Job 2 is started at 50 s on both hosts, which wake up; job 3 waits. A host is away from 52 to 60 s."""
    queues, call_off = list[list[str]](), PowerStates._call_off

    def note(power: PowerStates, stay: Stay) -> None:
        call_off(power, stay)
        queues.append(list(power.ledger.queue))

    monkeypatch.setattr(PowerStates, "_call_off", note)
    events = (MachinesUnavailable(52.0, Allocation.of([0])), MachinesAvailable(60.0, Allocation.of([0])))
    tasks = [Task("1", 0.0, 2, 10.0, 10.0), Task("2", 50.0, 2, 10.0, 10.0), Task("3", 51.0, 2, 5.0, 5.0)]
    run("powered[sleep=idle,after=20]", *tasks, events=events)
    assert queues == [["w0!2", "w0!3"]]


def test_powered_stands_around_resizing_and_not_inside_it() -> None:
    create("powered[dispatcher=resizing]")
    with pytest.raises(InputError, match=r"powered: found powered inside it, expected one without powered"):
        create("powered[dispatcher=powered]")
    with pytest.raises(InputError, match=r"found powered\[dispatcher=easy\] inside it, expected one that can do with"):
        create("resizing[dispatcher=powered[dispatcher=easy]]")
    with pytest.raises(InputError, match=r"no sleep rule is called 'idel': did you mean 'idle'"):
        create("powered[sleep=idel]")


#: A job that can run on one or two hosts, and is looked at every 10 s.
SIZES = {"least": 1, "most": 2, "kind": "malleable", "steps": 10, "period": 10.0}
RESIZING = "resizing[dispatcher=easy,check_cost=0,expand_cost=0,shrink_cost=0]"


def test_a_job_grows_onto_hosts_that_are_awake_only() -> None:
    grows = Task("1", 0.0, 1, 100.0, 900.0, extra={"sizes": SIZES})
    for after, sizes in ((50, [1, 2]), (5, [1])):
        result = run(f"powered[dispatcher={RESIZING},sleep=idle,after={after}]", grows)
        assert [len(row.units) for row in result.rows.values()] == sizes


def test_a_job_is_looked_at_when_its_hosts_are_awake() -> None:
    """It is started at 50 s, and runs from 55 s on: its first point is at 65 s."""
    first = Task("1", 0.0, 2, 10.0, 10.0)
    grows = Task("2", 50.0, 1, 100.0, 900.0, extra={"sizes": SIZES})
    awake = Task("3", 51.0, 1, 4.5, 4.5)
    result = run(f"powered[dispatcher={RESIZING},sleep=idle,after=20]", first, grows, awake)
    rows = {name: (row.start / 1e6, row.end / 1e6, len(row.units)) for name, row in result.rows.items()}
    assert rows["2"] == (55.0, 65.0, 1)
    assert rows["2~2"][2] == 2


@pytest.mark.parametrize(("cap", "sizes"), [(880, [1, 2]), (879, [1])])
def test_a_job_that_goes_on_needs_no_power_to_wake_its_hosts(cap: int, sizes: list[int]) -> None:
    """A host burns 30 W idle, 100 W busy and 425 W while it wakes up: two that do ask for 790 W of the 880 - 3 * 30."""
    watts = {"wattage_per_state": "30:40:100,9:9,201:201,425:425", "sleep_pstates": "1:2:3"}
    hosts = [msgspec.structs.replace(host, properties=watts) for host in machine(3).hosts]
    tasks = [Task("1", 0.0, 1, 100.0, 900.0, extra={"sizes": SIZES}), Task("2", 1.0, 1, 900.0, 900.0)]
    engine = EngineOptions(energy="exact", dynamic_jobs=True)
    name = f"powered[dispatcher={RESIZING},sleep=idle,after=500,cap={cap}]"
    result = simulate(Machine(hosts), tasks, name, engine=engine)
    assert [len(row.units) for row in result.rows.values() if row.id != "2"] == sizes


def test_a_host_without_watts_is_named() -> None:
    hosts = [*machine().hosts, Host(id=2, name="dark", speed=1.0, speeds=(1.0,))]
    with pytest.raises(InputError, match=r"dark.*wattage_per_state.*expected Idle:Epsilon:AllCores"):
        simulate(Machine(hosts), [LATE], "powered[sleep=idle]", engine=EngineOptions(energy="exact"))


def test_under_a_cap_a_job_waits_for_power_and_not_for_hosts() -> None:
    """Four hosts burn 400 W at rest and 100 W more with a job; both jobs together would burn 800 W."""
    tasks = [Task("1", 0.0, 2, 10.0, 10.0), Task("2", 1.0, 2, 10.0, 10.0), Task("3", 2.0, 1, 5.0, 5.0)]
    for name in ("easy", "conservative"):
        for cap in ("700", "87.5%"):
            starts = run(f"powered[dispatcher={name},cap={cap}]", *tasks, hosts=4).starts()
            assert starts == {"1": 0.0, "2": 10.0, "3": 2.0}
    result = run("powered[cap=500]", *tasks, hosts=4)
    assert result.starts() == {"3": 2.0}
    assert result.ledger.rejections[0][1] == ("needs 600 W with all hosts at rest, for 10 s: the cap never leaves that")


def test_a_job_starts_only_if_the_cap_does_not_fall_before_it_ends(tmp_path: Path) -> None:
    """Job 1 would burn 600 W until 12 s, and the cap is 500 W from 8 s to 20 s; job 2 ends before."""
    (tmp_path / "cap.csv").write_text("time,watts\n0,600\n8,500\n20,600\n")
    tasks = [Task("1", 2.0, 2, 10.0, 10.0), Task("2", 2.0, 2, 4.0, 4.0), Task("3", 3.0, 1, 10.0, 10.0)]
    starts = run(f"powered[dispatcher=filler,cap={tmp_path / 'cap.csv'}]", *tasks, hosts=4).starts()
    assert starts == {"2": 2.0, "3": 6.0, "1": 20.0}


def test_hosts_fall_asleep_one_after_the_other_if_the_cap_leaves_no_more() -> None:
    """A host burns 120 W while it falls asleep, 20 W more than idle: the cap leaves that to one at a time."""
    result = run("powered[sleep=idle,after=20,cap=530]", Task("1", 60.0, 1, 10.0, 10.0), hosts=4)
    assert [time for time, _, state in switches(result) if state == "1"][:2] == [20.0, 22.0]


def test_a_field_of_the_job_says_what_it_burns() -> None:
    tasks = [Task("1", 0.0, 2, 10.0, extra={"w": 250}), Task("2", 0.0, 2, 10.0, extra={"w": 245.5})]
    assert run("powered[cap=495.5,watts=w]", *tasks, hosts=4).starts() == {"1": 0.0, "2": 0.0}
    assert run("powered[cap=495.4,watts=w]", *tasks, hosts=4).starts() == {"1": 0.0, "2": 10.0}
    with pytest.raises(InputError, match=r"job w0!1, field 'w': found None, expected the watts of its hosts in all"):
        run("powered[cap=495.4,watts=w]", Task("1", 0.0, 2, 10.0), hosts=4)


def test_jobs_are_kept_back_until_the_cheapest_start(tmp_path: Path) -> None:
    (tmp_path / "price.csv").write_text("time,a,b\n0,9,5\n10,9,4\n20,9,1\n30,9,2\n")
    price = f"price={tmp_path / 'price.csv'}:b"
    tasks = [Task("1", 0.0, 1, 10.0, 10.0), Task("2", 1.0, 1, 5.0, 5.0, extra={"may": 12})]
    result = run(f"powered[{price},slack=25]", *tasks, hosts=4)
    assert result.starts() == {"1": 20.0, "2": 20.0}
    assert result.session.report["jobs_kept_back"] == 2
    told = run(f"powered[{price},slack=may]", *tasks, hosts=4)
    assert (told.starts(), told.session.report["jobs_that_say_slack"]) == ({"1": 0.0, "2": 10.0}, 1)
    assert run(f"powered[{price},slack=mai]", *tasks, hosts=4).session.report["jobs_that_say_slack"] == 0
    assert run(f"powered[{price},slack=15]", *tasks, hosts=4).starts() == {"1": 15.0, "2": 16.0}


def test_a_rule_that_knows_no_price_ahead_waits_until_it_is_below_its_mean(tmp_path: Path) -> None:
    (tmp_path / "price.csv").write_text("time,p\n0,2\n10,9\n20,8\n30,1\n")
    option = f"price={tmp_path / 'price.csv'},slack=100,start=below-mean[memory=10]"
    tasks = [Task("1", 5.0, 1, 1.0), Task("2", 12.0, 1, 1.0)]
    assert run(f"powered[{option}]", *tasks).starts() == {"1": 5.0, "2": 30.0}


def test_hosts_sleep_while_the_price_is_above_its_mean(tmp_path: Path) -> None:
    (tmp_path / "price.csv").write_text("time,p\n0,2\n20,9\n40,1\n60,9\n")
    result = run(f"powered[sleep=dear,after=5,price={tmp_path / 'price.csv'}]", Task("1", 50.0, 1, 1.0))
    assert switches(result) == [(20.0, "0-1", "1"), (50.0, "0", "0")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("cap=399", r"option cap=399: found 399 W, expected at least the 400 W that all hosts burn at rest"),
        ("cap=49%", r"option cap=49%: found 392 W, expected at least the 400 W"),
        (
            "cap=499",
            r"found 499 W, expected at least 500 W: all hosts burn 400 W at rest, and a job adds 100 W or more",
        ),
        ("cap=", r"found cap=, expected a number of watts"),
        ("cap=15kW", r"found cap=15kW, expected a number of watts"),
        ("cap=nan", r"found cap=nan, expected a number of watts"),
        ("slack=5", r"found slack=5 without a price, expected price=FILE"),
        ("sleep=dear", r"found sleep=dear without a price, expected price=FILE"),
        ("cap=none.csv", r"none\.csv"),
        ("cap=-1", r"found cap=-1, expected a number of watts of at least 0, a share such as 80%, or a file"),
        ("cap=nan%", r"found cap=nan%, expected a number of watts"),
    ],
)
def test_what_cannot_be_is_refused(options: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(f"powered[{options}]", Task("1", 0.0, 1, 1.0), hosts=4)


@pytest.mark.parametrize("slack", ["-1", "inf"])
def test_a_slack_that_no_job_can_have_is_refused_before_there_are_jobs(tmp_path: Path, slack: str) -> None:
    (tmp_path / "price.csv").write_text("time,p\n0,2\n10,1\n")
    with pytest.raises(InputError, match=rf"dispatcher powered: found slack={slack}, expected a number of seconds"):
        run(f"powered[price={tmp_path / 'price.csv'},slack={slack}]", LATE)


def test_a_slack_beyond_all_numbers_is_told_with_its_job(tmp_path: Path) -> None:
    (tmp_path / "price.csv").write_text("time,p\n0,2\n10,1\n")
    with pytest.raises(InputError, match=r"field 'may': found 1000.*, expected the seconds that it may wait"):
        run(f"powered[price={tmp_path / 'price.csv'},slack=may]", Task("1", 0.0, 1, 1.0, extra={"may": 10**400}))


def test_a_cap_or_a_demand_beyond_all_that_counts_is_as_good_as_none_or_never_met(tmp_path: Path) -> None:
    tasks = [Task("1", 0.0, 1, 1.0, 5.0, extra={"w": 1e308}), Task("2", 0.0, 1, 1.0, 5.0, extra={"w": 200})]
    (tmp_path / "cap.csv").write_text("time,watts\n0,1e15\n50,600\n")
    for cap in ("1e300", "1e300%", tmp_path / "cap.csv"):
        assert run(f"powered[cap={cap}]", *tasks).starts() == {"1": 0.0, "2": 0.0}
    assert run("powered[cap=900,watts=w]", *tasks).starts() == {"2": 0.0}


def test_a_series_may_say_for_long_what_holds_last(tmp_path: Path) -> None:
    (tmp_path / "cap.csv").write_text("date,watts\n2026-01-01,500\n9999-12-31,600\n")
    tasks = [Task("1", 0.0, 1, 10.0, 10.0), Task("2", 0.0, 1, 10.0, 10.0)]
    result = run(f"powered[cap={tmp_path / 'cap.csv'}]", *tasks, hosts=4)
    assert result.starts() == {"1": 0.0, "2": 10.0}


def test_a_cap_that_falls_too_low_is_refused_with_file_and_moment(tmp_path: Path) -> None:
    (tmp_path / "cap.csv").write_text("time,watts\n0,600\n50,300\n")
    with pytest.raises(InputError, match=r"cap=.*cap\.csv, from 50 s on: found 300 W, expected at least the 400 W"):
        run(f"powered[cap={tmp_path / 'cap.csv'}]", LATE, hosts=4)


@pytest.mark.parametrize("name", ["easy", "conservative", "fcfs"])
def test_sleeping_hosts_lend_what_they_save_to_the_first_job_that_lacks_power(name: str) -> None:
    """Four hosts at rest leave 130 W of 530 W; a job adds 100 W, and a sleeping host saves 90 W.

    At 60 s host 3 lends its 90 W to job 2, which wakes host 1. Were host 2 to lend as well, no host would be left for
    job 3, which therefore waits for job 2 to end at 75 s.
    """
    tasks = [Task("1", 50.0, 1, 100.0, 100.0), Task("2", 60.0, 1, 10.0, 10.0), Task("3", 61.0, 1, 10.0, 10.0)]
    result = run(f"powered[dispatcher={name},sleep=idle,after=5,cap=530]", *tasks, hosts=4)
    assert result.starts() == {"1": 55.0, "2": 65.0, "3": 75.0}
    assert run(f"powered[dispatcher={name},cap=530]", *tasks, hosts=4).starts() == {"1": 50.0, "2": 150.0, "3": 160.0}


def test_sleeping_hosts_lend_no_more_than_they_save() -> None:
    """Of six hosts three lend 270 W to three jobs beside the 110 W that all leave at rest, so that none is left."""
    tasks = [Task(str(n), 49.0 + n, 1, 100.0, 100.0) for n in range(1, 5)]
    result = run("powered[sleep=idle,after=5,cap=710]", *tasks, hosts=6)
    assert result.starts() == {"1": 55.0, "2": 56.0, "3": 57.0, "4": 155.0}


@pytest.mark.parametrize(("walltime", "start"), [(10.0, 65.0), (60.0, 65.0), (140.0, 145.0)])
def test_sleeping_hosts_lend_under_a_cap_that_changes(walltime: float, start: float, tmp_path: Path) -> None:
    """At 60 s, 60 W are left, and two hosts can lend 180 W. From 100 s on there are 30 W less, from 160 s on 150 W."""
    (tmp_path / "cap.csv").write_text("time,watts\n0,560\n100,530\n160,410\n250,560\n")
    tasks = [Task("1", 50.0, 1, 90.0, 90.0), Task("2", 60.0, 1, 10.0, walltime)]
    name = f"powered[sleep=idle,after=5,cap={tmp_path / 'cap.csv'}]"
    assert run(name, *tasks, hosts=4).starts()["2"] == start


def test_what_a_job_needs_after_the_cap_has_fallen_is_lent_until_it_ends(tmp_path: Path) -> None:
    """Job 1 needs 50 W of what host 3 lends from 100 s on. At 70 s that much is free, but host 3 is for nobody."""
    (tmp_path / "cap.csv").write_text("time,watts\n0,620\n100,450\n200,620\n")
    tasks = [Task("1", 50.0, 1, 90.0, 90.0, extra={"w": 200}), Task("2", 70.0, 3, 5.0, 5.0, extra={"w": 310})]
    starts = run(f"powered[sleep=idle,after=5,watts=w,cap={tmp_path / 'cap.csv'}]", *tasks, hosts=4).starts()
    assert (starts["1"], starts["2"] >= 145.0) == (55.0, True)


class LastFirst(Dispatcher):
    """Starts what came last."""

    def decide(self, ledger: Ledger) -> None:
        for job in reversed(list(ledger.queue.values())):
            place = ledger.place(job)
            if place is not None:
                ledger.start(job, place)


def test_what_another_job_has_taken_is_lent_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 60 s host 3 lends to job 2, and job 3 takes it."""
    lent, close = list[tuple[float, int]](), SharedPower.close

    def note(shared: SharedPower, hosts: int, power: int) -> None:
        lent.append((shared.ledger.now, hosts))
        close(shared, hosts, power)

    monkeypatch.setattr(SharedPower, "close", note)
    tasks = [Task(str(n), 50.0 if n == 1 else 60.0, 1, 10.0 * (5 - n), 50.0) for n in (1, 2, 3)]
    result = run(f"powered[dispatcher={__file__}:LastFirst,sleep=idle,after=5,cap=530]", *tasks, hosts=4)
    assert result.starts() == {"1": 55.0, "3": 65.0, "2": 85.0}
    assert lent[0] == (60.0, 8)
    assert all(hosts & 8 for now, hosts in lent if now < 85.0)
    assert not lent[-1][1]


def test_a_job_waits_while_hosts_that_fall_asleep_draw_its_power() -> None:
    """Three hosts fall asleep from 20 s to 22 s with 120 W each; the job would add 100 W to 460 W."""
    result = run("powered[sleep=idle,after=20,cap=530]", Task("1", 21.0, 1, 10.0, 10.0), hosts=4)
    assert next(each[:2] for each in switches(result)) == (20.0, "1-3")
    assert result.starts() == {"1": 22.0}
