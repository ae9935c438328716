"""Runs under `powered`, and runs of which energy is counted, are the same in a kernel and in Python, byte for byte."""

import math
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.abilities.kernels import applies, simulate
from batdispatch.core.errors import SimulationError
from batdispatch.core.line.dispatcher import create
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.simulation import Refusal
from compiling import Came, compiled, in_python, needs_kernels, workload_of
from simulating import Task
from strategies import exclusive_machines, shared_machines

pytestmark = needs_kernels
#: Dispatchers whose kernels know hosts that sleep.
INSIDE = (
    *("fcfs", "filler", "easy", "easy[reservation=hosts]", "easy[backfill=sjf]", "easy[ordering=smallest-first]"),
    *("fcfs[ordering=sjf]", "filler[ordering=largest-area]", "easy[reservation=hosts,backfill=ljf,rjms_delay=1]"),
    *("conservative", "conservative[ordering=sjf]", "conservative[rjms_delay=0.5]"),
)


@st.composite
def sleepers(draw: st.DrawFn) -> Machine:
    """Return whole hosts, most of which sleep, in up to three kinds that switch in their own times; some may store."""
    seconds = st.sampled_from([0.25, 1.0, 3.0, 16.0, 6.1, 1 / 3, 2 / 3, 2 / 3, 0.3])
    kinds = draw(st.lists(st.tuples(seconds, seconds), min_size=1, max_size=3))
    hosts = []
    drawn = draw(st.one_of(st.integers(1, 9).map(Machine.flat), exclusive_machines())).hosts
    first = next(host for host in drawn if not host.storage)
    for host in drawn:
        down, up = draw(st.sampled_from(kinds))
        watts = f"95:{draw(st.sampled_from(['', '100:']))}190.738,9.75:9.75,100.5:120.25,125.17:140"
        sleeps = {"sleep_pstates": "1:2:3"} if host is first or draw(st.integers(0, 4)) else {}
        hosts.append(
            msgspec.structs.replace(
                host,
                properties={"wattage_per_state": watts, **sleeps},
                cores=draw(st.sampled_from([1, 1, 4])),
                speeds=(1e9, draw(st.sampled_from([1.0, 0.0, 1e9])), 1 / down, 1 / up),
                speed=1e9,
            )
        )
    return Machine(hosts)


@st.composite
def loads(draw: st.DrawFn, hosts: int) -> list[Task]:
    """Return jobs that leave hosts idle for a while now and then; ends, calls and switches fall together."""
    tasks = []
    for index in range(draw(st.integers(1, 16))):
        runtime = draw(st.sampled_from([1, 2, 3, 5, 8, 0.7, 2e-7]))
        walltime = max(runtime + draw(st.sampled_from([0, 0, 1, 5, 30, -1, 0.25, -2e-7, math.inf])), 0.5)
        units = draw(st.integers(1, hosts + (index == 3)))
        tasks.append(Task(f"j{index}", draw(st.sampled_from([0, 1, 4, 5, 9, 20, 30, 31.5])), units, runtime, walltime))
    return tasks


def busy(seed: int, hosts: int) -> list[Task]:
    """Return jobs that leave some hosts idle and keep others waiting, so that some begin later than planned."""
    rng = np.random.default_rng(seed)
    submission, tasks = 0.0, []
    for index in range(int(rng.integers(20, 60))):
        submission += float(rng.integers(0, 12)) * (index % 9 > 0 or 4)
        runtime = int(rng.integers(1, 40))
        walltime = max(runtime + float(rng.choice([0, 0, 3, 20, 60, -1, -2e-7])), 1)
        tasks.append(Task(f"j{index}", submission, int(rng.integers(1, hosts + 1)), runtime, walltime))
    return tasks


def same(machine: Machine, tasks: list[Task], dispatcher: str, energy: Any) -> Came | None:
    """Compare both; None: the kernel leaves the run to Python."""
    workload = workload_of(tasks)
    name, options = "powered", {"dispatcher": dispatcher}
    if dispatcher.startswith("powered["):
        name, options = dispatcher, {}
    expected = in_python(machine, workload, name, options, energy)
    try:
        found = compiled(machine, workload, name, options, energy)
    except Refusal as refusal:
        if "conservative" in dispatcher and str(refusal).startswith("a place in the plan is too short"):
            return None
        raise
    assert found.energy[1:] == expected.energy[1:]
    assert found.jobs == expected.jobs
    assert found == expected
    return found


@pytest.mark.parametrize("inside", INSIDE)
@given(data=st.data())
def test_hosts_that_sleep(inside: str, data: st.DataObject) -> None:
    machine = data.draw(sleepers(), label="machine")
    seeds = st.integers(0, 10**6).map(lambda seed: busy(seed, machine.size))
    tasks = data.draw(st.one_of(loads(machine.size), seeds), label="tasks")
    rule = data.draw(st.sampled_from(["idle", "quiet"]), label="rule")
    after = data.draw(st.sampled_from(["0", "0.7", "1", "3", "10", "0.3333333"]), label="after")
    keep = data.draw(st.sampled_from(["0", "1", "3", "0.5"]), label="keep")
    ahead = data.draw(st.sampled_from(["true", "true", "false"]), label="ahead")
    options = f"dispatcher={inside},sleep={rule},after={after},keep={keep},ahead={ahead}"
    energy = data.draw(st.sampled_from(["exact", "batsim"]), label="energy")
    same(machine, tasks, f"powered[{options}]", energy)


@settings(max_examples=40)
@given(data=st.data())
def test_a_plan_of_blocks_of_hosts_that_sleep_with_room_for_little(data: st.DataObject) -> None:
    """On small machines each host is a block, and plans seldom outgrow their room."""
    machine = data.draw(sleepers(), label="machine")
    tasks = busy(data.draw(st.integers(0, 10**6)), machine.size)
    options = data.draw(st.sampled_from(["sleep=idle,after=0.7", "sleep=quiet,after=3", "sleep=idle,after=3,keep=1"]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulate, "PLAN_STEPS", 2)
        patch.setattr(simulate.plan, "FEW_HOSTS", 1)
        same(machine, tasks, f"powered[dispatcher=conservative,{options}]", "exact")


@pytest.mark.parametrize("dispatcher", ["fcfs", "easy[backfill=unicef]", "conservative", "slurm-backfill[interval=2]"])
@pytest.mark.parametrize("layer", ["{}", "powered[dispatcher={}]"])
@settings(max_examples=25)
@given(data=st.data())
def test_energy_of_hosts_that_stay_awake(dispatcher: str, layer: str, data: st.DataObject) -> None:
    machine = data.draw(sleepers(), label="machine")
    tasks = data.draw(loads(machine.size), label="tasks")
    energy = data.draw(st.sampled_from(["exact", "batsim", None]), label="energy")
    found = same(machine, tasks, layer.format(dispatcher), energy)
    assert found is None or len(found.energy) == (0 if energy is None else 2)


@settings(max_examples=40)
@given(data=st.data())
def test_energy_of_nodes_that_jobs_share(data: st.DataObject) -> None:
    machine = data.draw(shared_machines(), label="machine")
    watts = {"wattage_per_state": "95:100:190"}
    hosts = [msgspec.structs.replace(host, properties={**host.properties, **watts}) for host in machine.hosts]
    shares = st.sampled_from([None, {"core": 1}, {"core": 1}])
    tasks = [task._replace(demand=data.draw(shares)) for task in data.draw(loads(machine.size), label="tasks")]
    same(Machine(hosts), tasks, data.draw(st.sampled_from(["easy", "filler", "slurm-backfill"])), "exact")


@pytest.mark.parametrize(
    ("first", "second", "messages"),
    [
        (0.3, 0.3 + 5e-10, 15),
        (0.3, 0.3 + 2e-9, 19),
        (0.3, 0.3000004, 19),
        (0.2999996, 0.2999999, 19),
        (2 / 3, 0.6666668, 19),
    ],
)
@pytest.mark.parametrize("energy", ["exact", "batsim"])
def test_switches_whose_ends_are_hardly_apart(first: float, second: float, messages: int, energy: str) -> None:
    """Those within a nanosecond end together. Messages name microseconds, and may do so before the hosts are there."""
    hosts = [
        msgspec.structs.replace(
            host,
            properties={"wattage_per_state": "95:190.7,9:9,10:100.5,11:111.1", "sleep_pstates": "1:2:3"},
            speeds=(1e9, 1.0, 1 / down, 1 / down),
            speed=1e9,
        )
        for host, down in zip(Machine.flat(3).hosts, (first, second, 1.0), strict=True)
    ]
    tasks = [Task("early", 5, 3, 0.25, 1), Task("late", 9, 2, 0.7, 1)]
    found = same(Machine(hosts), tasks, "powered[dispatcher=easy,sleep=idle,after=1]", energy)
    assert found is not None
    assert found.messages == messages


@pytest.mark.parametrize("inside", ["easy", "easy[ordering=smallest-first]", "conservative"])
def test_hosts_woken_for_a_plan_that_no_job_takes_sleep_again(inside: str) -> None:
    """The fourth host is awake at 10 s, when the third has fallen asleep, and nothing else happens."""
    properties = {"wattage_per_state": "95:190.7,9:9,10:100.5,11:111.1", "sleep_pstates": "1:2:3"}
    hosts = [
        msgspec.structs.replace(host, properties=properties, speeds=(1e9, 1.0, 1.0, 1 / 3), speed=1e9)
        for host in Machine.flat(4).hosts
    ]
    running = [Task(f"r{number}", 0, 1, 8.5, walltime) for number, walltime in enumerate((20, 10, 30))]
    tasks = [*running, Task("w", 2, 2, 30, 40)]
    found = same(Machine(hosts), tasks, f"powered[dispatcher={inside},sleep=idle,after=0.5]", "exact")
    assert found is not None
    assert "\n10.5,3,-2\n" in found.energy[1]


@pytest.mark.parametrize("tasks", [[], [Task("large", 9.5, 3, 1, 1)]])
def test_energy_of_runs_in_which_no_job_starts(tasks: list[Task]) -> None:
    properties = {"wattage_per_state": "95:190.7"}
    hosts = [msgspec.structs.replace(host, properties=properties) for host in Machine.flat(2).hosts]
    found = same(Machine(hosts), tasks, "easy", "exact")
    assert found is not None
    assert float(found.sums["consumed_joules"]) == 0


def test_the_sums_over_many_hosts_are_those_of_numpy() -> None:
    """NumPy adds more than 128 numbers in halves, and more than 7 in eight rows."""
    watts = "1:1.3,0.7:0.7,0.9:0.9,1.1:1.1"
    hosts = [
        msgspec.structs.replace(
            host,
            properties={"wattage_per_state": f"{(number % 7) / 7}:{watts}", "sleep_pstates": "1:2:3"},
            speeds=(1e9, 1.0, 1.0, 0.7),
            speed=1e9,
        )
        for number, host in enumerate(Machine.flat(700).hosts)
    ]
    sizes = [1, 7, 8, 9, 15, 16, 127, 128, 129, 255, 256, 257, 300, 699]
    tasks = [Task(f"j{number}", 10 * number, size, 3.7, 9) for number, size in enumerate(sizes)]
    machine = Machine(hosts)
    for options in ("dispatcher=easy", "dispatcher=easy,sleep=idle,after=1.1"):
        assert same(machine, tasks, f"powered[{options}]", "exact") is not None


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("cap=1e6", "powered has a cap, and kernels know none"),
        ("dispatcher=slurm-backfill,sleep=idle", "hosts that sleep have a kernel only under"),
        ("dispatcher=easy[ordering=unicef],sleep=idle", "hosts that sleep have a kernel only under an ordering"),
        ("dispatcher=fcfs[default_walltime=9],sleep=idle", "hosts that sleep have a kernel only under an ordering"),
        ("dispatcher=easy[ordering=guarded],sleep=quiet", "hosts that sleep have a kernel only under an ordering"),
        ("dispatcher=best-list", "dispatcher best-list has no kernel"),
    ],
)
def test_what_kernels_do_not_know_of_the_layer(options: str, reason: str) -> None:
    properties = {"wattage_per_state": "95:190,9:9,10:10,11:11", "sleep_pstates": "1:2:3"}
    hosts = [
        msgspec.structs.replace(host, properties=properties, speeds=(1e9, 1.0, 1.0, 1.0))
        for host in Machine.flat(2).hosts
    ]
    said = applies.why_never(create(f"powered[{options}]"), Machine(hosts))
    assert said is not None
    assert said.startswith(reason)


def test_hosts_that_cannot_sleep_or_do_so_at_first_are_left_to_python() -> None:
    properties = {"wattage_per_state": "95:190,9:9,10:10,11:11"}
    awake = msgspec.structs.replace(Machine.flat(1).hosts[0], properties=properties, speeds=(1e9, 1.0, 1.0, 1.0))
    asleep = msgspec.structs.replace(awake, properties={**properties, "sleep_pstates": "1:2:3"}, pstate=1)
    for host, reason in ((awake, "no host can sleep"), (asleep, "hosts sleep at first, and kernels know none that do")):
        assert applies.why_never(create("powered[dispatcher=easy,sleep=idle]"), Machine([host])) == reason


def test_runs_of_no_jobs_are_left_to_python() -> None:
    with pytest.raises(Refusal, match="there are no jobs"):
        compiled(slow_host(1.0), workload_of([]), "powered[sleep=idle,after=1]", {}, "exact")


def test_switches_beyond_the_end_of_time_end_runs_as_in_python() -> None:
    machine, workload = slow_host(1e-12), workload_of([Task("j", 9, 1, 1, 1)])
    for simulate_in in (compiled, in_python):
        with pytest.raises(SimulationError, match=r"the next event is at 1e\+12 s; simulated time ends at"):
            simulate_in(machine, workload, "powered[sleep=idle,after=1]", {}, "exact")


def slow_host(wake_speed: float) -> Machine:
    """Return a host that sleeps, and takes 1 / `wake_speed` seconds to wake up."""
    properties = {"wattage_per_state": "95:190,9:9,10:10,11:11", "sleep_pstates": "1:2:3"}
    host = msgspec.structs.replace(Machine.flat(1).hosts[0], properties=properties, speeds=(1e9, 1.0, 1.0, wake_speed))
    return Machine([host])
