"""Machines whose hosts burn power and sleep, at random."""

import msgspec
import numpy as np
from hypothesis import strategies as st

from batdispatch.core.machine.machine import Machine
from power_integrator import KINDS, levels
from strategies import machines

HOSTS = 16


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


def machine_of(rng: np.random.Generator, *, shared: bool = False) -> Machine:
    """Hosts that burn and switch in several ways; the first ones can sleep."""
    hosts = []
    for host in Machine.flat(HOSTS).hosts:
        watts, sleeps = KINDS[0] if host.id < 2 else KINDS[int(rng.integers(3))]
        speeds = (1e9, 1.0, 1 / float(rng.choice([0.25, 4.0])), 1 / float(rng.choice([0.5, 16.0])))
        properties = {"wattage_per_state": watts, **({"sleep_pstates": sleeps} if sleeps else {})}
        properties |= {"capacity": "core=3"} if shared else {}
        hosts.append(
            msgspec.structs.replace(host, properties=properties, speed=1e9, speeds=speeds[: len(levels(watts))])
        )
    return Machine(hosts)
