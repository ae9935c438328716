"""Hosts are woken in time for the starts that the dispatcher inside plans, whatever moment that takes."""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.line import dispatcher as dispatchers
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.records import EngineOptions
from powered_machines import sleepers
from powering import INSIDE, NAMES, quick, stochastic
from punctual import punctual
from simulating import Task, simulate
from stochastic import stochastic_workloads
from strategies import workloads

#: Layers around dispatchers that say which starts they plan.
LAYERED = (
    *("attempts[dispatcher=easy,speculate=true]", "attempts[dispatcher=conservative]"),
    *("resizing[dispatcher=easy]", "resizing[dispatcher=conservative,mode=sync]"),
)
#: Seconds to fall asleep and to wake up that are no whole microseconds, or are sums with a rest.
SECONDS = st.sampled_from([0.25, 1 / 3, 2 / 3, 6.1, 1 / 0.29, 1 / 0.013, 7.0000004, 0.0003])


@st.composite
def odd_sleepers(draw: st.DrawFn) -> Machine:
    """A machine whose hosts take odd times to switch."""
    machine = draw(sleepers())
    hosts = []
    for host in machine.hosts:
        down, up = draw(SECONDS), draw(SECONDS)
        hosts.append(msgspec.structs.replace(host, speeds=(1e9, 1.0, 1 / down, 1 / up)))
    return Machine(hosts)


@pytest.mark.parametrize("name", [*NAMES, *LAYERED])
@quick
@given(data=st.data())
def test_no_host_wakes_later_than_its_plan(name: str, data: st.DataObject) -> None:
    machine = data.draw(odd_sleepers(), label="machine")
    base = name.split("[", maxsplit=1)[0]
    drawn = stochastic_workloads(machine) if stochastic(base) else workloads(machine)
    tasks = data.draw(drawn, label="tasks")
    after = data.draw(st.sampled_from(["0", "0.7", "3", "0.3333333"]), label="after")
    watched = punctual(INSIDE.get(name, name), sleep="idle", after=after)
    engine = EngineOptions(dynamic_jobs=dispatchers.find(base).registers_jobs, energy="exact")
    simulate(machine, tasks, watched, engine=engine)
    assert not watched.late
    assert not watched.drowsy


def cluster(hosts: int) -> Machine:
    """Hosts as `--power batsim-cluster` makes them."""
    properties = {"wattage_per_state": "95:95:190.738,9.75:9.75:9.75,100.0:100.0:100.0,125.17:125.17:125.17"}
    speeds = (1e9, 1e9, 1 / 6.1, 1 / 151.52)
    return Machine(
        [
            msgspec.structs.replace(host, properties={**properties, "sleep_pstates": "1:2:3"}, speed=1e9, speeds=speeds)
            for host in Machine.flat(hosts).hosts
        ]
    )


def spread(seed: int, count: int, hosts: int) -> list[Task]:
    """Return jobs with gaps between them, in which hosts fall asleep while others keep jobs waiting."""
    rng = np.random.default_rng(seed)
    submission, tasks = 0.0, []
    for index in range(count):
        submission += float(rng.exponential(240))
        runtime = round(float(rng.lognormal(5.5, 1.2)), 2) + 1
        units = int(rng.integers(1, hosts + 1))
        tasks.append(Task(str(index), round(submission, 3), units, runtime, round(runtime * rng.uniform(1, 3), 2)))
    return tasks


@pytest.mark.parametrize("jobs", [60, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("seed", range(7, 13))
@pytest.mark.parametrize("inside", ["easy", "conservative"])
def test_hosts_of_a_cluster_are_woken_in_time(inside: str, seed: int, jobs: int) -> None:
    watched = punctual(inside, sleep="idle", after="60")
    simulate(cluster(16), spread(seed, jobs, 16), watched, engine=EngineOptions(energy="exact"))
    assert watched.planned > 10
    assert not watched.late
    assert not watched.drowsy


@pytest.mark.parametrize("inside", ["easy", "conservative", "easy[reservation=hosts]"])
def test_a_job_begins_when_it_was_planned_for_though_its_host_takes_no_whole_microseconds_to_wake(inside: str) -> None:
    """The second host sleeps from 33.4 s on, and has to be woken at 423.076923 s for the start at 500 s."""
    watts = {"wattage_per_state": "70:90:160,9:9:9,100:100:100,120:120:120", "sleep_pstates": "1:2:3"}
    hosts = [
        msgspec.structs.replace(host, properties=watts, speed=1e6, speeds=(1e6, 1.0, 0.29, 0.013))
        for host in Machine.flat(2).hosts
    ]
    tasks = [Task("a", 0, 1, 500, 500), Task("b", 300, 2, 40, 50)]
    layer = f"powered[dispatcher={inside},sleep=idle,after=30]"
    starts = simulate(Machine(hosts), tasks, layer, engine=EngineOptions(energy="exact")).starts()
    assert starts == {"a": 0.0, "b": 500.0}
