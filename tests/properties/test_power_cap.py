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
from simulating import Result, Task
from strategies import absences, machines, workloads

#: Watts and sleep states of host properties; wake-ups that burn less and more than a busy host.
KINDS = [
    ("100:110:200,10:10,120:120,140:140", "1:2:3"),
    ("30:40:100,9.75:9.75,201:201,425:425", "1:2:3"),
    ("80.5:80.5:90.25,0:0,80:80,90:90", ""),
]


def levels(text: str) -> list[tuple[float, float]]:
    """Idle and full watts of each power state."""
    triples = [[float(word) for word in part.split(":")] for part in text.split(",")]
    return [(words[0], words[-1]) for words in triples]


@st.composite
def burning_machines(draw: st.DrawFn) -> Machine:
    hosts = []
    drawn = draw(machines()).hosts
    first = next(host for host in drawn if not host.storage)
    for host in drawn:
        # A machine on which no host can sleep is refused.
        watts, sleeps = draw(st.sampled_from(KINDS[:2] if host is first else KINDS))
        speeds = (1e9, 1.0, 1 / draw(st.sampled_from([0.25, 4.0])), 1 / draw(st.sampled_from([0.5, 16.0])))
        properties = {**host.properties, "wattage_per_state": watts, **({"sleep_pstates": sleeps} if sleeps else {})}
        pstate = draw(st.sampled_from([0, 0, 1])) if sleeps and not host.storage else 0
        hosts.append(msgspec.structs.replace(host, properties=properties, speed=1e9, speeds=speeds, pstate=pstate))
    return Machine(hosts)


def switches(machine: Machine, result: Result) -> Iterator[tuple[int, float, float, float]]:
    """Host, from when, until when, and the watts that it burns then, for each switch and each sleep."""
    asleep: dict[int, float] = {host.id: 0.0 for host in machine.hosts if host.pstate == 1}
    for _, reply in result.exchanges:
        for decision in reply.decisions:
            if not isinstance(decision, SetResourceState):
                continue
            for host in decision.hosts.ids:
                watts, speeds = levels(machine.hosts[host].properties["wattage_per_state"]), machine.hosts[host].speeds
                virtual = 2 if decision.state == "1" else 3
                until = decision.time + 1 / speeds[virtual]
                if virtual == 3:
                    yield host, asleep.pop(host), decision.time, watts[1][0]
                else:
                    asleep[host] = until
                yield host, decision.time, until, watts[virtual][1]
    for host, since in asleep.items():
        yield host, since, 1e9, levels(machine.hosts[host].properties["wattage_per_state"])[1][0]


def most_power(machine: Machine, result: Result) -> list[tuple[float, float, float]]:
    """From when, until when, and the watts that all hosts burn then, if each job makes its hosts burn all they can."""
    parts = [(host, begin, end, watts, False) for host, begin, end, watts in switches(machine, result)]
    for row in result.rows.values():
        if row.state is not JobState.REJECTED:
            for host in row.units:
                full = levels(machine.hosts[host].properties["wattage_per_state"])[0][1]
                parts.append((host, row.start / 1e6, row.end / 1e6, full, True))
    times = sorted({moment for _, begin, end, _, _ in parts for moment in (begin, end)} | {0.0})
    found = []
    for begin, end in itertools.pairwise(times):
        if end - begin < 2e-6:
            continue
        middle, watts = (begin + end) / 2, {}
        for host, since, until, level, _ in parts:
            if since <= middle < until:
                watts[host] = max(level, watts.get(host, 0.0))
        idle = [levels(host.properties["wattage_per_state"])[0][0] for host in machine.hosts]
        found.append((begin, end, sum(watts.get(host, idle[host]) for host in range(len(idle)))))
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
    cap = idle + data.draw(st.sampled_from([0.3, 0.6, 1.0, 3.0]), label="share") * (full - idle)
    events = data.draw(absences(machine), label="absences")
    result = run(name, f"cap={cap},{data.draw(sleep_options())}", machine, tasks, events=events)
    check_cap(machine, result, [0.0], [cap])
    check_all_there(tasks, result)
    assert result.session.ledger is not None
    result.session.ledger.check()


#: Dispatchers and layers that cannot do with waiting jobs whose demand changes.
RIGID = [name for name in NAMES if not dispatchers.find(name).heeds_reservations]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in RIGID])
@quick
@given(data=st.data())
def test_a_cap_that_changes_over_time_is_never_exceeded(name: str, data: st.DataObject) -> None:
    machine = data.draw(burning_machines(), label="machine")
    tasks: list[Task] = data.draw(workloads(machine), label="tasks")
    idle, full = idle_and_full(machine)
    shares = data.draw(st.lists(st.sampled_from([0.3, 0.6, 1.0, 3.0]), min_size=2, max_size=6), label="shares")
    step = data.draw(st.sampled_from([2.5, 7.0, 30.0]), label="step")
    times, caps = [step * number for number in range(len(shares))], [idle + share * (full - idle) for share in shares]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cap.csv"
        path.write_text("time,watts\n" + "".join(f"{time},{cap!r}\n" for time, cap in zip(times, caps, strict=True)))
        options = f"cap={path},{data.draw(sleep_options())}"
        result = run(name, options, machine, tasks, events=data.draw(absences(machine), label="absences"))
    check_cap(machine, result, times, caps)
    check_all_there(tasks, result)
    assert result.session.ledger is not None
    result.session.ledger.check()


@pytest.mark.parametrize("name", RIGID)
def test_a_cap_that_changes_is_refused_around_those_that_cannot_do_with_it(name: str, tmp_path: Path) -> None:
    (tmp_path / "cap.csv").write_text("time,watts\n0,900\n10,800\n")
    with pytest.raises(InputError, match=r"which changes over time, around .*expected a constant cap"):
        run(name, f"cap={tmp_path / 'cap.csv'}", flat(), [Task("1", 0.0, 1, 1.0, 1.0)])


def flat() -> Machine:
    watts, sleeps = KINDS[0]
    properties = {"wattage_per_state": watts, "sleep_pstates": sleeps}
    speeds = (1e9, 1.0, 1.0, 0.5)
    return Machine([Host(id=n, name=f"h{n}", properties=properties, speed=1e9, speeds=speeds) for n in range(4)])
