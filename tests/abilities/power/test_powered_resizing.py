"""Malleable jobs under `powered`: none is lost, and none loses work or a node that it keeps, while hosts sleep."""

from typing import Any
from unittest import mock

import msgspec
import numpy as np
import pytest

from batdispatch.abilities.power.power_saving import PowerSaving
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job
from batdispatch.core.line import events as e
from batdispatch.core.line.concerns.holds import Holds
from batdispatch.core.line.dispatcher import Dispatcher, create
from batdispatch.core.line.options import parse_options
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.records import EngineOptions
from malleable import FREE, Checked, check, checked, ended_once, malleable_tasks
from power_integrator import check_cap, idle_and_full
from powered_machines import HOSTS, machine_of
from simulating import Result, Task, simulate
from stochastic import attempts_of

ENGINE = EngineOptions(dynamic_jobs=True, energy="exact")
SLEEPS = ["sleep=idle,after=0", "sleep=idle,after=7,keep=3", "sleep=quiet,after=2", "sleep=idle,after=1,ahead=false"]


class Powered(PowerSaving):
    """`powered` around a layer that is at hand."""

    def __init__(self, options: dict[str, Any], inside: Dispatcher) -> None:
        self._inside = inside
        super().__init__(parse_options(PowerSaving.options_type, options, "test"))

    def make_inner(self, seed: int) -> Dispatcher:
        return self._inside


def options_of(text: str) -> dict[str, str]:
    return dict(part.split("=") for part in text.split(",")) if text else {}


def ran(seed: int, text: str, inside: dict[str, str], *, shared: bool = False) -> tuple[Machine, int, Result]:
    """Run random jobs, check them, and return the machine, the number of resizes and the result."""
    rng = np.random.default_rng(seed)
    machine = machine_of(rng, shared=shared)
    tasks = malleable_tasks(rng, HOSTS if not shared else 8, 25)
    if shared:
        tasks = [task._replace(demand={"core": 1}) for task in tasks]
    layer = checked({**inside, **FREE}, rng)
    result = simulate(machine, tasks, Powered(options_of(text), layer), engine=ENGINE)
    resizes = check(machine, tasks, result, overheads=inside.get("mode") == "async")
    ended_once(layer, tasks, result)
    return machine, resizes, result


@pytest.mark.parametrize("shared", [False, True], ids=["hosts", "nodes"])
@pytest.mark.parametrize("inner", ["easy", "conservative", "filler", "slurm-backfill"])
def test_malleable_jobs_are_resized_while_hosts_sleep(inner: str, shared: bool) -> None:
    resizes = switches = 0
    for seed, text in enumerate(SLEEPS):
        for mode in ("sync", "async"):
            _, count, result = ran(seed, text, {"dispatcher": inner, "mode": mode}, shared=shared)
            resizes += count
            switches += result.files["pstate_changes.csv"].count(b"\n") - 2
    assert resizes > 15
    assert switches > 50


@pytest.mark.parametrize("inner", ["easy", "conservative", "fcfs"])
def test_the_cap_is_kept_while_jobs_are_resized(inner: str) -> None:
    resizes = 0
    for seed in range(6):
        idle, full = idle_and_full(machine_of(np.random.default_rng(seed)))
        cap = idle + (full - idle) * (0.5, 0.6, 0.8)[seed % 3]
        sleep = ["sleep=none", *SLEEPS][seed % 5]
        machine, count, result = ran(seed, f"cap={cap},{sleep}", {"dispatcher": inner})
        check_cap(machine, result, [0.0], [cap])
        resizes += count
    assert resizes > 5


def test_a_job_that_grows_takes_as_much_more_power() -> None:
    held = list[int]()
    hold = Holds.hold

    def seen(holds: Holds, job: Job, hosts: Allocation, power: int = 0) -> None:
        held.append(power)
        hold(holds, job, hosts, power)

    with mock.patch.object(Holds, "hold", seen):
        ran(1, "cap=80%,sleep=none", {"dispatcher": "easy"})
    assert 0 in held
    assert any(held)


@pytest.mark.parametrize("acknowledged", [True, False])
@pytest.mark.parametrize("cap", ["none", "80%"])
def test_no_malleable_job_is_lost_when_hosts_go_away(cap: str, acknowledged: bool) -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        machine = machine_of(rng)
        tasks: list[Task] = malleable_tasks(rng, HOSTS // 2, 20)
        events: list[e.Event] = []
        for _ in range(6):
            begin, hosts = float(rng.uniform(0, 200)), Allocation(int(rng.integers(1, 2**HOSTS)))
            events += [e.MachinesUnavailable(begin, hosts), e.MachinesAvailable(begin + 30, hosts)]
        layer: Checked = checked({"dispatcher": "easy", **FREE}, rng)
        engine = msgspec.structs.replace(ENGINE, acknowledge_dynamic_jobs=acknowledged)
        powered = Powered(options_of(f"{SLEEPS[seed % 4]},cap={cap}"), layer)
        events.sort(key=lambda event: event.time)
        result = simulate(machine, tasks, powered, engine=engine, events=events)
        assert sorted(attempts_of(result)) == sorted(task.id for task in tasks)
        ended_once(layer, tasks, result)


@pytest.mark.parametrize("inside", ["resizing[dispatcher=easy]", "dmr"])
def test_with_everything_off_it_decides_as_the_layer_inside(inside: str) -> None:
    machine, tasks = machine_of(np.random.default_rng(1)), malleable_tasks(np.random.default_rng(1), HOSTS, 20)
    engine = EngineOptions(dynamic_jobs=True)
    files = [simulate(machine, tasks, each, engine=engine).files for each in (inside, f"powered[dispatcher={inside}]")]
    assert files[0] == files[1]


def test_watts_of_a_field_around_resizing_are_refused() -> None:
    with pytest.raises(InputError, match=r"found watts=power around dmr, expected no watts"):
        create("powered[dispatcher=dmr,cap=80%,watts=power]")
