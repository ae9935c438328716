"""A cap on power is never exceeded, by an integrator of its own, and no job is lost under one."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line import dispatcher as dispatchers
from batdispatch.core.machine.machine import Host, Machine
from power_integrator import KINDS, check_cap, idle_and_full
from powering import NAMES, RULES, quick, run
from simulating import Result, Task, micro
from strategies import absences, exclusive_machines, machines, workloads

#: The same, with two power states to compute in more slowly.
SLOWER = [
    ("100:110:200,10:10,120:120,140:140,80:85:120,90:95:150", "1:2:3"),
    ("30:40:100,9.75:9.75,201:201,425:425,28:30:60,25:25:90", "1:2:3"),
    ("80.5:80.5:90.25,70:70:80,80:80:120", ""),
]


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
