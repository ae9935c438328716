"""What hosts burn under no load, a little and a full one: joules that are watts times seconds, by hand."""

from typing import Any

import numpy as np
import pytest

from batdispatch.abilities.power.engine.energy import EVERY_HOST, OwnMeter
from batdispatch.abilities.power.machine.facet import powers_of
from batdispatch.abilities.power.machine.host_states import HostStates
from batdispatch.core.machine.machine import Host, Machine

#: 100 W idle, 120 W with as little load as can be, 200 W under a full one, which is 8 flop/s.
WATTS = "100:120:200"


def made() -> tuple[Machine, HostStates]:
    hosts = [Host(id=i, name=f"n{i}", properties={"wattage_per_state": WATTS}, speeds=(8.0,)) for i in range(3)]
    machine = Machine(hosts)
    return machine, HostStates(machine)


@pytest.mark.parametrize(("flops", "watts"), [(0.0, 100.0), (2.0, 140.0), (4.0, 160.0), (8.0, 200.0), (80.0, 200.0)])
def test_watts_of_a_load(flops: float, watts: float) -> None:
    machine, states = made()
    (group,) = states.alike(0b111)
    meter = OwnMeter(states, exact=True)
    # 120 W and a share of the 80 W between; but a host on which nothing runs is idle.
    assert meter.watts_of(group, flops) == watts
    assert powers_of(machine)[0].watts(0, flops / 8) == watts
    meter.load(np.array([1]), flops, 10.0)
    # 10 s of three idle hosts, then 5 s with a load on one of them.
    assert meter.joules(EVERY_HOST, 15.0) == pytest.approx(10 * 300 + 5 * (200 + watts))


def test_hosts_of_a_job_on_which_nothing_runs_are_idle() -> None:
    _, states = made()
    meter = OwnMeter(states, exact=True)
    everywhere: Any = slice(0, 3)
    meter.load(everywhere, np.array([0.0, 4.0, 8.0]), 0.0)
    assert [meter.joules(np.array([host]), 10.0) for host in range(3)] == [1000.0, 1600.0, 2000.0]
    meter.unload(everywhere, 10.0)
    assert [meter.joules(np.array([host]), 20.0) for host in range(3)] == [2000.0, 2600.0, 3000.0]
    (group,) = states.alike(0b111)
    meter.load_alike(group, everywhere, 0.0, 20.0)
    assert [meter.joules(np.array([host]), 30.0) for host in range(3)] == [3000.0, 3600.0, 4000.0]


def test_a_host_that_stands_still_burns_as_under_a_full_load() -> None:
    """In its second power state it does no flop/s, and any load is a full one."""
    properties = {"wattage_per_state": f"{WATTS},10:20:30"}
    machine = Machine([Host(id=0, name="n0", properties=properties, speeds=(8.0, 0.0))])
    states = HostStates(machine)
    meter = OwnMeter(states, exact=True)
    still = states.alike(0b1)[0]._replace(pstate=1)
    for flops in (0.0, 4.0):
        assert meter.watts_of(still, flops) == powers_of(machine)[0].watts(1, flops) == 30.0
    # 10 s idle at full speed, then 5 s at a standstill.
    meter.change(still, np.array([0]), 10.0, None)
    assert meter.joules(EVERY_HOST, 15.0) == pytest.approx(10 * 100 + 5 * 30)
