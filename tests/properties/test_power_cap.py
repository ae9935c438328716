"""A cap on power is never exceeded, by an integrator of its own, and no job is lost under one."""

import itertools
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line import dispatcher as dispatchers
from batdispatch.core.line.decisions import SetResourceState
from batdispatch.core.machine.machine import Host, Machine
from powering import NAMES, RULES, quick, run
from simulating import Result, Task, micro
from strategies import absences, exclusive_machines, machines, workloads

#: Watts and sleep states of host properties; wake-ups that burn less and more than a busy host.
KINDS = [
    ("100:110:200,10:10,120:120,140:140", "1:2:3"),
    ("30:40:100,9.75:9.75,201:201,425:425", "1:2:3"),
    ("80.5:80.5:90.25,0:0,80:80,90:90", ""),
]
#: The same, with two power states to compute in more slowly.
SLOWER = [
    ("100:110:200,10:10,120:120,140:140,80:85:120,90:95:150", "1:2:3"),
    ("30:40:100,9.75:9.75,201:201,425:425,28:30:60,25:25:90", "1:2:3"),
    ("80.5:80.5:90.25,70:70:80,80:80:120", ""),
]


def levels(text: str) -> list[tuple[float, float]]:
    """Idle and full watts of each power state."""
    triples = [[float(word) for word in part.split(":")] for part in text.split(",")]
    return [(words[0], words[-1]) for words in triples]


@st.composite
def burning_machines(draw: st.DrawFn, slower: bool = False) -> Machine:
    hosts = []
    drawn = draw(exclusive_machines() if slower else machines()).hosts
    first = next(host for host in drawn if not host.storage)
    for host in drawn:
        # A machine on which no host can sleep is refused, and so is one with no slower state where such are to be used.
        kinds = [*SLOWER, *KINDS[:2]] if slower else KINDS
        watts, sleeps = draw(st.sampled_from(kinds[:2] if host is first else kinds))
        switching = (1.0, 1 / draw(st.sampled_from([0.25, 4.0])), 1 / draw(st.sampled_from([0.5, 16.0])))
        computing = (draw(st.sampled_from([2e8, 5e8])), draw(st.sampled_from([5e8, 7e8, 2e9])))
        speeds = (1e9, *(switching if sleeps or not slower else ()), *computing)[: watts.count(",") + 1]
        properties = {**host.properties, "wattage_per_state": watts, **({"sleep_pstates": sleeps} if sleeps else {})}
        pstate = draw(st.sampled_from([0, 0, 1])) if sleeps and not host.storage else 0
        hosts.append(msgspec.structs.replace(host, properties=properties, speed=1e9, speeds=speeds, pstate=pstate))
    return Machine(hosts)


def switches(machine: Machine, result: Result) -> Iterator[tuple[int, float, float, float]]:
    """Host, from when, until when, and the watts that it burns then, for each switch and each sleep."""
    asleep: dict[int, float] = {host.id: 0.0 for host in machine.hosts if host.pstate == 1}
    for time, host, state in decided(result):
        watts, speeds = levels(machine.hosts[host].properties["wattage_per_state"]), machine.hosts[host].speeds
        sleeps = _sleeps(machine, host, state)
        if not sleeps and host not in asleep:
            continue
        virtual = 2 if sleeps else 3
        until = time + 1 / speeds[virtual]
        if virtual == 3:
            yield host, asleep.pop(host), time, watts[1][0]
        else:
            asleep[host] = until
        yield host, time, until, watts[virtual][1]
    for host, since in asleep.items():
        yield host, since, 1e9, levels(machine.hosts[host].properties["wattage_per_state"])[1][0]


def _sleeps(machine: Machine, host: int, state: int) -> bool:
    return state == 1 and "sleep_pstates" in machine.hosts[host].properties


def decided(result: Result) -> Iterator[tuple[float, int, int]]:
    """When which host was to go to which power state."""
    for _, reply in result.exchanges:
        for decision in reply.decisions:
            if isinstance(decision, SetResourceState):
                for host in decision.hosts.ids:
                    yield decision.time, host, int(decision.state)


def most_power(machine: Machine, result: Result) -> list[tuple[float, float, float]]:
    """From when, until when, and the watts that all hosts burn then, if each job makes its hosts burn all they can."""
    parts = list(switches(machine, result))
    jobs = [
        (host, row.start / 1e6, row.end / 1e6)
        for row in result.rows.values()
        if row.state is not JobState.REJECTED
        for host in row.units
    ]
    changes = list(decided(result))
    moments = [moment for _, *span, _ in parts for moment in span] + [moment for _, *span in jobs for moment in span]
    times = sorted({*moments, *(time for time, _, _ in changes), 0.0})
    tables = [levels(host.properties["wattage_per_state"]) for host in machine.hosts]
    found = []
    for begin, end in itertools.pairwise(times):
        # A job that takes no time lasts 10 us.
        if end - begin < 2e-5:
            continue
        middle = (begin + end) / 2
        states = dict.fromkeys(range(len(tables)), 0)
        states |= {host: state for time, host, state in changes if time <= middle and not _sleeps(machine, host, state)}
        watts = {host: table[states[host]][0] for host, table in enumerate(tables)}
        watts |= {host: level for host, since, until, level in parts if since <= middle < until}
        for host, since, until in jobs:
            if since <= middle < until:
                watts[host] = max(tables[host][states[host]])
        found.append((begin, end, sum(watts.values())))
    return found


def idle_and_full(machine: Machine) -> tuple[float, float]:
    each = [levels(host.properties["wattage_per_state"])[0] for host in machine.hosts]
    return sum(idle for idle, _ in each), sum(full for _, full in each)


def check_cap(machine: Machine, result: Result, times: Sequence[float], caps: Sequence[float]) -> None:
    for begin, end, watts in most_power(machine, result):
        for since, until, cap in zip(times, [*times[1:], 1e9], caps, strict=True):
            if max(begin, since) + 2e-6 < min(end, until):
                assert watts <= cap + 1e-6, f"{watts} W from {begin} to {end} s, the cap is {cap} W"


@st.composite
def sleep_options(draw: st.DrawFn) -> str:
    rule = draw(st.sampled_from(["none", *RULES]))
    after, keep = draw(st.sampled_from(["0", "0.7", "10"])), draw(st.sampled_from(["0", "1"]))
    return f"sleep={rule},after={after},keep={keep},ahead={draw(st.sampled_from(['true', 'false']))}"


def check_all_there(tasks: Sequence[Task], result: Result) -> None:
    assert {task.id for task in tasks} <= set(result.rows)


@pytest.mark.parametrize("name", NAMES)
@quick
@given(data=st.data())
def test_a_constant_cap_is_never_exceeded(name: str, data: st.DataObject) -> None:
    machine = data.draw(burning_machines(), label="machine")
    tasks: list[Task] = data.draw(workloads(machine), label="tasks")
    idle, full = idle_and_full(machine)
    cap = idle + data.draw(st.sampled_from([0.2, 0.3, 0.6, 1.0, 3.0]), label="share") * (full - idle)
    events = data.draw(absences(machine), label="absences")
    result = run(name, f"cap={cap},{data.draw(sleep_options())}", machine, tasks, events=events)
    check_cap(machine, result, [0.0], [cap])
    check_all_there(tasks, result)
    result.ledger.check()


def run_under_series(name: str, data: st.DataObject, machine: Machine, options: str, **others: object) -> Result:
    """Run random jobs under a cap that changes over time, while hosts come and go, and check the cap and their ends."""
    tasks: list[Task] = data.draw(workloads(machine), label="tasks")
    idle, full = idle_and_full(machine)
    shares = data.draw(st.lists(st.sampled_from([0.3, 0.6, 1.0, 3.0]), min_size=1, max_size=6), label="shares")
    step = data.draw(st.sampled_from([2.5, 7.0, 30.0]), label="step")
    times, caps = [step * number for number in range(len(shares))], [idle + share * (full - idle) for share in shares]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cap.csv"
        path.write_text("time,watts\n" + "".join(f"{time},{cap!r}\n" for time, cap in zip(times, caps, strict=True)))
        options = f"cap={path},{options}{data.draw(sleep_options())}"
        result = run(name, options, machine, tasks, events=data.draw(absences(machine), label="absences"), **others)
    check_cap(machine, result, times, caps)
    check_all_there(tasks, result)
    for task in tasks:
        last = [row for row in result.rows.values() if row.id.partition("~")[0] == task.id][-1]
        if last.state is not JobState.REJECTED and task.runtime < task.walltime:
            assert last.state is JobState.COMPLETED_SUCCESSFULLY
            assert last.end - last.start >= micro(task.runtime)
    result.ledger.check()
    return result


#: Dispatchers and layers that cannot do with waiting jobs whose demand changes.
RIGID = [name for name in NAMES if not dispatchers.find(name).heeds_reservations]


PLIABLE = [name for name in NAMES if name not in RIGID]


@pytest.mark.parametrize("name", PLIABLE)
@quick
@given(data=st.data())
def test_a_cap_that_changes_over_time_is_never_exceeded(name: str, data: st.DataObject) -> None:
    run_under_series(name, data, data.draw(burning_machines(), label="machine"), "")


@pytest.mark.parametrize("name", PLIABLE)
@quick
@given(data=st.data())
def test_jobs_in_lower_power_states_keep_the_cap_and_have_time_enough(name: str, data: st.DataObject) -> None:
    """One whose walltime is enough at the usual speed has enough at a lower one."""
    machine = data.draw(burning_machines(slower=True), label="machine")
    run_under_series(name, data, machine, "states=lower,", flops=1e9)


@pytest.mark.parametrize("name", RIGID)
def test_a_cap_that_changes_is_refused_around_those_that_cannot_do_with_it(name: str, tmp_path: Path) -> None:
    (tmp_path / "cap.csv").write_text("time,watts\n0,900\n10,800\n")
    with pytest.raises(InputError, match=r"which changes over time, around .*expected a constant cap"):
        run(name, f"cap={tmp_path / 'cap.csv'}", flat(), [Task("1", 0.0, 1, 1.0, 1.0)])
    with pytest.raises(InputError, match=r"states=lower, around .*expected a constant cap and states=usual"):
        run(name, "cap=900,states=lower", flat(), [Task("1", 0.0, 1, 1.0, 1.0)])


def flat() -> Machine:
    watts, sleeps = KINDS[0]
    properties = {"wattage_per_state": watts, "sleep_pstates": sleeps}
    speeds = (1e9, 1.0, 1.0, 0.5)
    return Machine([Host(id=n, name=f"h{n}", properties=properties, speed=1e9, speeds=speeds) for n in range(4)])
