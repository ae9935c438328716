"""What holds for every dispatcher under `powered`: no job is lost, and where nothing sleeps nothing changes."""

import os

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.core.line import dispatcher as dispatchers
from batdispatch.core.line import registry
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.records import EngineOptions
from batdispatch.parts import sleep
from simulating import Result, Task, audit, check_absences, simulate
from stochastic import check, stochastic_workloads
from strategies import absences, machines, workloads

NAMES = [name for name in registry.names(dispatchers.GROUP) if name not in ("powered", "resizing", "dmr")]
#: Options that keep a solver short.
INSIDE = {
    "pcp19": "pcp19[work=0.02]",
    "pcp20": "pcp20[work=0.02]",
    "hcp19": "hcp19[work=0.02]",
    "aucsched": "aucsched[work=0.02]",
    "attempts": "attempts[dispatcher=conservative]",
}
quick = settings(max_examples=int(os.environ.get("BATDISPATCH_EXAMPLES", "4")))


@st.composite
def sleepers(draw: st.DrawFn) -> Machine:
    """A machine whose hosts burn power and, most of them, sleep; some do so from the beginning."""
    hosts = []
    drawn = draw(machines()).hosts
    first = next(host for host in drawn if not host.storage)
    for host in drawn:
        down, up = draw(st.sampled_from([0.25, 1.0, 4.0])), draw(st.sampled_from([0.5, 2.0, 16.0]))
        # A machine on which no host can sleep is refused.
        sleeps = draw(st.sampled_from([True, True, True, False])) or host is first
        watts = {"wattage_per_state": "100:110:200,10:10,120:120,140:140"}
        hosts.append(
            msgspec.structs.replace(
                host,
                properties={**host.properties, **watts, **({"sleep_pstates": "1:2:3"} if sleeps else {})},
                speed=1e9,
                speeds=(1e9, 1.0, 1 / down, 1 / up),
                pstate=draw(st.sampled_from([0, 0, 1])) if sleeps else 0,
            )
        )
    return Machine(hosts)


def stochastic(name: str) -> bool:
    return "speculate" in dispatchers.find(name).options_type.__struct_fields__


def run(name: str, options: str, machine: Machine, tasks: list[Task], **others: object) -> Result:
    engine = EngineOptions(dynamic_jobs=dispatchers.find(name).registers_jobs, energy="exact")
    text = f"powered[dispatcher={INSIDE.get(name, name)},{options}]"
    return simulate(machine, tasks, text, engine=engine, **others)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
@quick
@given(data=st.data())
def test_no_job_is_lost_when_hosts_sleep_and_go_away(name: str, data: st.DataObject) -> None:
    machine = data.draw(sleepers(), label="machine")
    drawn = stochastic_workloads(machine) if stochastic(name) else workloads(machine)
    tasks: list[Task] = data.draw(drawn, label="tasks")
    events = data.draw(absences(machine), label="absences")
    rule = data.draw(st.sampled_from(registry.names(sleep.GROUP)), label="rule")
    after = data.draw(st.sampled_from(["0", "0.7", "10"]), label="after")
    keep = data.draw(st.sampled_from(["0", "1", "0.5"]), label="keep")
    ahead = data.draw(st.sampled_from(["true", "false"]), label="ahead")
    delay = data.draw(st.sampled_from([0.0, 0.0, 0.003]), label="decision time")
    options = f"sleep={rule},after={after},keep={keep},ahead={ahead}"
    result = run(name, options, machine, tasks, events=events, decision_time=delay)
    (check if stochastic(name) else audit)(machine, tasks, result)
    if not delay:
        check_absences(events, result)
    assert result.session.ledger is not None
    result.session.ledger.check()


@pytest.mark.parametrize("name", NAMES)
@quick
@given(data=st.data())
def test_without_a_sleep_rule_it_decides_as_the_dispatcher_inside(name: str, data: st.DataObject) -> None:
    machine = data.draw(sleepers(), label="machine")
    drawn = stochastic_workloads(machine) if stochastic(name) else workloads(machine)
    tasks: list[Task] = data.draw(drawn, label="tasks")
    events = data.draw(absences(machine), label="absences")
    engine = EngineOptions(dynamic_jobs=dispatchers.find(name).registers_jobs)
    files = [
        simulate(machine, tasks, each, engine=engine, events=events).files
        for each in (INSIDE.get(name, name), f"powered[dispatcher={INSIDE.get(name, name)}]")
    ]
    assert files[0] == files[1]
