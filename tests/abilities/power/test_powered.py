"""What holds for every dispatcher under `powered`: no job is lost, and where nothing sleeps nothing changes."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.power import sleep, start
from batdispatch.core.line import dispatcher as dispatchers
from batdispatch.core.line import registry
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.records import EngineOptions
from powered_machines import sleepers
from powering import INSIDE, NAMES, RULES, quick, run, stochastic
from simulating import Task, audit, check_absences, simulate
from stochastic import check, stochastic_workloads
from strategies import absences, workloads


def drawn_tasks(data: st.DataObject, name: str, machine: Machine) -> list[Task]:
    """Draw jobs of the kind that a dispatcher is for."""
    drawn = stochastic_workloads(machine) if stochastic(name) else workloads(machine)
    tasks: list[Task] = data.draw(drawn, label="tasks")
    return tasks


@pytest.mark.parametrize("name", NAMES)
@quick
@given(data=st.data())
def test_no_job_is_lost_when_hosts_sleep_and_go_away(name: str, data: st.DataObject) -> None:
    machine = data.draw(sleepers(), label="machine")
    tasks = drawn_tasks(data, name, machine)
    events = data.draw(absences(machine), label="absences")
    rule = data.draw(st.sampled_from(RULES), label="rule")
    after = data.draw(st.sampled_from(["0", "0.7", "10"]), label="after")
    keep = data.draw(st.sampled_from(["0", "1", "0.5"]), label="keep")
    ahead = data.draw(st.sampled_from(["true", "false"]), label="ahead")
    delay = data.draw(st.sampled_from([0.0, 0.0, 0.003]), label="decision time")
    options = f"sleep={rule},after={after},keep={keep},ahead={ahead}"
    result = run(name, options, machine, tasks, events=events, decision_time=delay)
    (check if stochastic(name) else audit)(machine, tasks, result)
    if not delay:
        check_absences(events, result)
    result.ledger.check()


@pytest.mark.parametrize("name", NAMES)
@quick
@given(data=st.data())
def test_without_a_sleep_rule_it_decides_as_the_dispatcher_inside(name: str, data: st.DataObject) -> None:
    machine = data.draw(sleepers(), label="machine")
    tasks = drawn_tasks(data, name, machine)
    events = data.draw(absences(machine), label="absences")
    engine = EngineOptions(dynamic_jobs=dispatchers.find(name).registers_jobs)
    files = [
        simulate(machine, tasks, each, engine=engine, events=events).files
        for each in (INSIDE.get(name, name), f"powered[dispatcher={INSIDE.get(name, name)}]")
    ]
    assert files[0] == files[1]


@pytest.mark.parametrize("name", NAMES)
@quick
@given(data=st.data())
def test_no_job_is_kept_back_for_longer_than_it_may_wait(name: str, data: st.DataObject) -> None:
    """On a machine of its own each job starts when its rule says, and under load none is lost."""
    machine = data.draw(sleepers(), label="machine")
    tasks = drawn_tasks(data, name, machine)
    prices = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=8), label="prices")
    rule = data.draw(st.sampled_from(registry.names(start.GROUP)), label="rule")
    sleeps = data.draw(st.sampled_from(["none", *registry.names(sleep.GROUP)]), label="sleeps")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "price.csv"
        path.write_text("time,price\n" + "".join(f"{4 * number},{price}\n" for number, price in enumerate(prices)))
        options = f"price={path},start={rule},slack=12.5,sleep={sleeps},after=0.7"
        result = run(name, options, machine, tasks)
    (check if stochastic(name) else audit)(machine, tasks, result)
    result.ledger.check()
    seen = [job for job in tasks if job.id in result.rows]
    assert len(seen) == len(tasks)
