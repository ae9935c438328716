"""What holds for dispatchers that let hosts sleep by themselves, on any machine: no job is lost."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.core.line import dispatcher as dispatchers
from batdispatch.core.line import registry
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.records import EngineOptions
from malleable import FREE, check, checked, ended_once, malleable_tasks
from powered_machines import HOSTS, machine_of, sleepers
from simulating import audit, check_absences, simulate
from stochastic import check as check_attempts
from stochastic import stochastic_workloads
from strategies import absences, machines, workloads

NAMES = [name for name in registry.names(dispatchers.GROUP) if dispatchers.find(name).needs_energy]
OPTIONS = {
    "energy-bf": ["", "rjms_delay=0", "least_sleep=30", "ordering=sjf", "prediction=last-two"],
    "energy-bf-dicho": [
        "",
        "tolerated_slowdown_loss_ratio=2,comparison_type=switch_on",
        "tolerated_slowdown_loss_ratio=0.9,least_sleep=30",
        "tolerated_slowdown_loss_ratio=1e9,ordering=sjf",
    ],
    "energy-bf-idle-sleeper": ["", "idle_time_to_sedate=0,monitoring_period=3", "sedate_idle_on_classical_events=true"],
    "energy-bf-subpart-sleeper": [
        "",
        "monitoring_period=3,fraction_of_machines_to_let_awake=0",
        "monitoring_period=5,idle_time_to_sedate=1,sedate_idle_on_classical_events=true",
    ],
}
quick = settings(max_examples=int(os.environ.get("BATDISPATCH_EXAMPLES", "20")))


@pytest.mark.parametrize("name", NAMES)
@quick
@given(data=st.data())
def test_no_job_is_lost_when_hosts_sleep_as_planned_and_go_away(name: str, data: st.DataObject) -> None:
    machine: Machine = data.draw(sleepers(), label="machine")
    tasks = data.draw(workloads(machine), label="tasks")
    events = data.draw(absences(machine), label="absences")
    options = data.draw(st.sampled_from(OPTIONS[name]), label="options")
    delay = data.draw(st.sampled_from([0.0, 0.0, 0.003]), label="decision time")
    engine = EngineOptions(energy="exact")
    result = simulate(machine, tasks, f"{name}[{options}]", engine=engine, events=events, decision_time=delay)
    audit(machine, tasks, result)
    if not delay:
        check_absences(events, result)
    result.ledger.check()


@pytest.mark.parametrize("name", NAMES)
@quick
@given(data=st.data())
def test_on_a_machine_that_states_no_watts_all_hosts_stay_awake(name: str, data: st.DataObject) -> None:
    machine = data.draw(machines(), label="machine")
    tasks = data.draw(workloads(machine), label="tasks")
    result = simulate(machine, tasks, name, events=data.draw(absences(machine), label="absences"))
    audit(machine, tasks, result)
    assert result.ledger.states is None


@pytest.mark.parametrize(
    ("name", "seed", "mode"),
    [("energy-bf", 4, "async"), ("energy-bf-idle-sleeper", 1, "sync"), ("energy-bf-subpart-sleeper", 2, "sync")],
)
def test_malleable_jobs_are_resized_above_hosts_that_sleep_as_planned(name: str, seed: int, mode: str) -> None:
    """A job goes on where hosts have woken up sooner than was expected."""
    rng = np.random.default_rng(seed)
    machine = machine_of(rng)
    tasks = malleable_tasks(rng, HOSTS, 25)
    options = "" if name == "energy-bf" else "[monitoring_period=7,idle_time_to_sedate=2]"
    layer = checked({"dispatcher": f"{name}{options}", "mode": mode, **FREE}, rng)
    result = simulate(machine, tasks, layer, engine=EngineOptions(dynamic_jobs=True, energy="exact"))
    assert check(machine, tasks, result, overheads=mode == "async") > 10
    ended_once(layer, tasks, result)


@pytest.mark.parametrize("name", NAMES)
@settings(quick, max_examples=5)
@given(data=st.data())
def test_no_attempt_is_lost_above_hosts_that_sleep_as_planned(name: str, data: st.DataObject) -> None:
    machine = data.draw(sleepers(), label="machine")
    tasks = data.draw(stochastic_workloads(machine), label="tasks")
    engine = EngineOptions(dynamic_jobs=True, energy="exact")
    result = simulate(machine, tasks, f"attempts[dispatcher={name}]", engine=engine)
    check_attempts(machine, tasks, result)
