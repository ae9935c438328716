"""What holds for every dispatcher while hosts go away and come back: no job is lost, nothing exceeds what is there."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line import dispatcher as dispatchers
from batdispatch.core.line import registry
from batdispatch.core.line.events import MachinesAvailable, MachinesUnavailable
from batdispatch.core.machine.machine import Machine
from simulating import Task, audit, check_absences, simulate
from stochastic import check, stochastic_workloads
from strategies import absences, exclusive_machines, shared_machines, workloads

NAMES = registry.names(dispatchers.GROUP)
#: Options that keep a solver short, and those that make a plan move.
OPTIONS = {
    "pcp19": {"work": "0.02"},
    "pcp20": {"work": "0.02"},
    "hcp19": {"work": "0.02"},
    "aucsched": {"work": "0.02"},
    "attempts": {"dispatcher": "conservative"},
    "resizing": {"dispatcher": "conservative"},
}
quick = settings(max_examples=int(os.environ.get("BATDISPATCH_EXAMPLES", "4")))


def runs_to_the_end(data: st.DataObject, name: str, machine: Machine) -> None:
    cls = dispatchers.find(name)
    stochastic = "speculate" in cls.options_type.__struct_fields__
    tasks: list[Task] = data.draw(stochastic_workloads(machine) if stochastic else workloads(machine), label="tasks")
    options = dict(OPTIONS.get(name, {}))
    if stochastic:
        options["speculate"] = data.draw(st.sampled_from(["true", "false"]), label="speculate")
    if name == "stochastic-batch":
        options["plan"] = data.draw(st.sampled_from(["rigid", "repack"]), label="plan")
    events = data.draw(absences(machine), label="absences")
    result = simulate(machine, tasks, name, options=options, events=events)
    (check if stochastic else audit)(machine, tasks, result)
    check_absences(events, result)


@pytest.mark.parametrize("name", NAMES)
@quick
@given(data=st.data())
def test_on_whole_hosts(name: str, data: st.DataObject) -> None:
    runs_to_the_end(data, name, data.draw(exclusive_machines(), label="machine"))


@pytest.mark.parametrize("name", NAMES)
@quick
@given(data=st.data())
def test_on_shared_nodes(name: str, data: st.DataObject) -> None:
    runs_to_the_end(data, name, data.draw(shared_machines(), label="machine"))


@pytest.mark.parametrize("name", ["conservative", "stochastic-batch", "stochastic-conservative"])
def test_a_job_that_ends_on_an_absent_host_gives_nothing_back_there(name: str) -> None:
    machine = Machine.flat(1, "core=4 mem=8")
    tasks = [Task("1", 0.0, 1, 1.0, 9.0, extra={"runtime_law": "tnorm:0,20,8,4"}), Task("2", 0.0, 100, 1.0, 1.0, {})]
    hosts = Allocation(1)
    events = [MachinesUnavailable(0.1, hosts), MachinesAvailable(30.0, hosts)]
    assert simulate(machine, tasks, name, events=events).starts() == {"1": 0.0, "2": 30.0}
