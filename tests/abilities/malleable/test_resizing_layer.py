"""Any dispatcher under `resizing`: what the layer promises, whoever decides inside, wherever jobs are stopped."""

import numpy as np
import pytest

from batdispatch.abilities.malleable.policy import GROUP as POLICIES
from batdispatch.core.errors import InputError
from batdispatch.core.line import registry
from batdispatch.core.line.dispatcher import GROUP, create
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.engines.mail import Delay
from batdispatch.engines.records import EngineOptions
from malleable import FREE, check, checked, ended_once, malleable_tasks
from simulating import Task, simulate

STRANGER = "batdispatch.examples.smallest_first:SmallestFirst"
PLAIN = sorted({"fcfs", "filler", "easy", "conservative", "slurm-backfill", "best-list"} & set(registry.names(GROUP)))
SOLVERS = sorted({"pcp20", "pcp19", "hcp19", "ipsched", "aucsched"} & set(registry.names(GROUP)))
HOSTS = 16


def shared(count: int) -> Machine:
    """Nodes that carry several units each."""
    return Machine([Host(id=i, name=f"n{i}", properties={"capacity": "core=3"}) for i in range(count)])


@pytest.mark.parametrize("acknowledged", [True, False])
def test_a_thousand_random_kill_times(acknowledged: bool) -> None:
    """Each logical job ends exactly once, no work is lost, and nodes that are kept are kept."""
    resizes = 0
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        tasks = malleable_tasks(rng, HOSTS, 12)
        layer = checked({"acknowledge": str(acknowledged), "dispatcher": "easy", **FREE}, rng)
        engine = EngineOptions(dynamic_jobs=True, acknowledge_dynamic_jobs=acknowledged)
        result = simulate(Machine.flat(HOSTS), tasks, layer, engine=engine)
        resizes += check(Machine.flat(HOSTS), tasks, result)
        ended_once(layer, tasks, result)
        if resizes >= 1000:
            return
    raise AssertionError("too few resizes")


@pytest.mark.parametrize("acknowledged", [True, False])
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_where_messages_take_time(acknowledged: bool, mode: str) -> None:
    """Kills and ends are told 0.1 ms late, so that jobs end while they are being stopped."""
    resizes = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        tasks = malleable_tasks(rng, HOSTS, 15)
        layer = checked({"mode": mode, "acknowledge": str(acknowledged), **FREE}, rng)
        engine = EngineOptions(dynamic_jobs=True, acknowledge_dynamic_jobs=acknowledged)
        result = simulate(Machine.flat(HOSTS), tasks, layer, engine=engine, delays=lambda host: Delay(1e-4, 1e-9))
        resizes += check(Machine.flat(HOSTS), tasks, result, late=2e-3, overheads=mode == "async")
        ended_once(layer, tasks, result)
    assert resizes > 30


@pytest.mark.parametrize("machine", [Machine.flat(HOSTS), shared(5)], ids=["hosts", "nodes"])
@pytest.mark.parametrize("inner", [*PLAIN, STRANGER])
def test_any_dispatcher_runs_malleable_jobs(inner: str, machine: Machine) -> None:
    resizes = 0
    for seed in range(2):
        rng = np.random.default_rng(seed)
        tasks = malleable_tasks(rng, HOSTS if machine.exclusive else 8, 25)
        if not machine.exclusive:
            tasks = [task._replace(demand={"core": 1}) for task in tasks]
        layer = checked({"dispatcher": inner, **FREE}, rng)
        result = simulate(machine, tasks, layer)
        resizes += check(machine, tasks, result)
        ended_once(layer, tasks, result)
    assert resizes > 15


@pytest.mark.parametrize("acknowledged", [True, False])
@pytest.mark.parametrize("inner", ["easy", "conservative", "filler"])
def test_moldable_jobs_beside_malleable_ones(inner: str, acknowledged: bool) -> None:
    molded = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        tasks = malleable_tasks(rng, HOSTS, 25)
        for index, task in enumerate(tasks):
            if index % 3 == 1:
                task.extra["sizes"] |= {"kind": "moldable", "least": 1}
        layer = checked({"dispatcher": inner, "moldable": "fitting", **FREE}, rng)
        engine = EngineOptions(dynamic_jobs=True, acknowledge_dynamic_jobs=acknowledged)
        result = simulate(Machine.flat(HOSTS), tasks, layer, engine=engine)
        check(Machine.flat(HOSTS), tasks, result)
        ended_once(layer, tasks, result)
        molded += sum(f"{task.id}~2" in result.rows for task in tasks[1::3])
    assert molded > 4


@pytest.mark.slow
@pytest.mark.parametrize("inner", SOLVERS)
def test_dispatchers_with_a_solver_run_malleable_jobs(inner: str) -> None:
    rng = np.random.default_rng(3)
    tasks = malleable_tasks(rng, HOSTS, 25)
    layer = checked({"dispatcher": inner, **FREE}, rng)
    result = simulate(Machine.flat(HOSTS), tasks, layer)
    assert check(Machine.flat(HOSTS), tasks, result) > 10
    ended_once(layer, tasks, result)


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("policy", registry.names(POLICIES))
def test_every_policy(policy: str, mode: str) -> None:
    resizes = 0
    for seed in range(4):
        tasks = malleable_tasks(np.random.default_rng(seed), HOSTS, 25, data=1e9, period=2)
        layer = checked({"policy": policy, "mode": mode})
        result = simulate(Machine.flat(HOSTS), tasks, layer)
        resizes += check(Machine.flat(HOSTS), tasks, result, overheads=True)
        ended_once(layer, tasks, result)
    assert resizes > 10


@pytest.mark.parametrize("machine", [Machine.flat(HOSTS), shared(5)], ids=["hosts", "nodes"])
@pytest.mark.parametrize("inner", [*PLAIN, STRANGER])
def test_costs_that_grow_with_the_nodes_under_any_dispatcher(inner: str, machine: Machine) -> None:
    rng = np.random.default_rng(5)
    tasks = malleable_tasks(rng, HOSTS if machine.exclusive else 8, 25, data=1e9)
    if not machine.exclusive:
        tasks = [task._replace(demand={"core": 1}) for task in tasks]
    layer = checked({"dispatcher": inner, "unit_cost": "0.1", "acknowledge_cost": "0.2"}, rng)
    result = simulate(machine, tasks, layer)
    assert check(machine, tasks, result, overheads=True) > 5
    ended_once(layer, tasks, result)


@pytest.mark.parametrize("name", [name for name in PLAIN if name != "slurm-backfill"])
def test_without_malleable_jobs_the_layer_changes_nothing(name: str) -> None:
    tasks = [task._replace(extra={}, walltime=100.0) for task in malleable_tasks(np.random.default_rng(1), 8, 60)]
    alone = simulate(Machine.flat(8), tasks, name)
    layered = simulate(Machine.flat(8), tasks, "resizing", options={"dispatcher": name})
    assert layered.files["jobs.csv"] == alone.files["jobs.csv"]


def test_resizing_does_not_stand_inside_resizing() -> None:
    with pytest.raises(InputError, match="both would resize the same jobs"):
        create("resizing[dispatcher=resizing]")


def test_options_reach_the_dispatcher_inside() -> None:
    made = create("resizing[dispatcher=easy[ordering=sjf,placement=contiguous],policy=speed-up[efficiency=0.4]]")
    assert (made.inner.options.ordering, made.inner.options.placement) == ("sjf", "contiguous")
    assert made.policy.options.efficiency == 0.4


@pytest.mark.parametrize("task", [Task("x", 0.0, 2, 5.0, extra={"sizes": {"least": 1, "most": 4}})])
def test_a_moldable_job_is_not_resized(task: Task) -> None:
    result = simulate(Machine.flat(4), [task], "resizing")
    assert list(result.rows) == ["x"]


def test_a_dispatcher_that_plans_rigidly_is_refused_by_its_name() -> None:
    with pytest.raises(InputError, match=r"found stochastic-batch inside it, expected one"):
        create("resizing[dispatcher=stochastic-batch]")
