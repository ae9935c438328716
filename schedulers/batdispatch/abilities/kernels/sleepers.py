"""Hosts that sleep under the layer `powered`, for a kernel: what the structure of native/sleepers.h holds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.kernels.columns import path_of
from batdispatch.abilities.kernels.knowledge import knowledge_of, names
from batdispatch.abilities.kernels.library import structure_of
from batdispatch.abilities.kernels.nodes import masks_of, words_of
from batdispatch.abilities.power.machine.host_states import HostStates
from batdispatch.abilities.power.machine.power import HostPower
from batdispatch.core.jobs.fields import MAX_MOMENT
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.machine.machine import Machine
from batdispatch.dispatchers.backfilling.queue import QueueDispatcher
from batdispatch.native.record import Record

#: The class of `powered`, and those of the rules of sleep that kernels know. They are not imported, since most runs do
#: without them.
POWER_LAYER = "batdispatch.abilities.power.power_saving.PowerSaving"
IDLE, QUIET = (f"batdispatch.abilities.power.sleep.rules.{name}" for name in ("Idle", "Quiet"))
#: Phases of a switch that are noted.
DECISION, _, _, ARRIVAL, _ = range(PHASES := 5)


class Sleepers(Record):
    """Hosts that sleep, switch, and are waited for."""

    kinds, _fields_ = structure_of("sleepers.h", "Sleepers")


def power_layer(dispatcher: Dispatcher) -> Any:
    """Return a dispatcher that is the layer `powered`; None: it is another one."""
    return dispatcher if path_of(type(dispatcher)) == POWER_LAYER else None


def inside(dispatcher: Dispatcher) -> Dispatcher:
    """Return the dispatcher inside the layer that saves power, or the dispatcher itself."""
    layer = power_layer(dispatcher)
    inner: Dispatcher = dispatcher if layer is None else layer.inner
    return inner


def why_never(dispatcher: Dispatcher, machine: Machine) -> str | None:
    """Return why no kernel knows what the layer that saves power does around a dispatcher that has one, or None."""
    layer = power_layer(dispatcher)
    if layer is None:
        return None
    if machine.site is not None and machine.site.windows:
        return "the machine has reservations, which layers do not take"
    options = layer.options
    for name in ("cap", "price"):
        if getattr(options, name) != "none":
            return f"powered has a {name}, and kernels know none"
    return None if layer.sleep is None else _of_sleep(layer, machine)


def _of_sleep(layer: Any, machine: Machine) -> str | None:
    inner = layer.inner
    if path_of(type(layer.sleep)) not in (IDLE, QUIET):
        return f"sleep={layer.options.sleep} has no kernel, idle and quiet have"
    knowledge = knowledge_of(inner)
    if not isinstance(inner, QueueDispatcher) or knowledge is None or not knowledge.sleepers:
        return f"hosts that sleep have a kernel only under {names(sleepers=True)}"
    if inner.ordering.dynamic or not inner.predictions.sure:
        return (
            "hosts that sleep have a kernel only under an ordering that does not change over time, with "
            "prediction=requested and without default_walltime"
        )
    if not machine.plain:
        return "hosts that sleep have a kernel only on whole hosts without partitions"
    if not HostStates(machine).can_sleep & machine.compute:
        return "no host can sleep"
    return why_not_counted(machine)


def why_not_counted(machine: Machine) -> str | None:
    """Return why no kernel counts what the hosts of a machine burn, or None."""
    return "hosts sleep at first, and kernels know none that do" if HostStates(machine).asleep else None


def sleepers_of(layer: Any, machine: Machine, jobs: int) -> Sleepers:
    """Return the sleepers before anything happens."""
    states, words, size = HostStates(machine), words_of(machine), machine.size
    # Those of each that run jobs.
    kinds = [(power, hosts & machine.compute) for power, hosts in states.kinds if power.sleeps]
    sleepers = Sleepers(
        words=words,
        sorts=len(kinds),
        longest=states.longest_wake,
        after=layer.options.after,
        keep=layer.kept_awake(machine),
        if_nobody_waits=path_of(type(layer.sleep)) == QUIET,
        ahead=layer.options.ahead,
        last_moment=MAX_MOMENT,
        news=1,
        due=math.inf,
        next=-math.inf,
        called=-math.inf,
    )
    seconds = [(power.seconds_down(deepest_of(power)), power.seconds_up(deepest_of(power))) for power, _ in kinds]
    sleepers.hold(
        members=masks_of([hosts for _, hosts in kinds], words),
        seconds=np.array(seconds).ravel(),
        foreseen=np.full(jobs, np.nan),
    )
    sleepers.hold_zeros(
        words, "free", "falling", "asleep", "rising", "wanted", "idle", "some", "others", "planned_hosts"
    )
    sleepers.hold_zeros(size, "booting_job", "active_switch", "leaving_switch", "told_switch")
    # A job takes three numbers.
    sleepers.hold_zeros(3 * jobs, "planned")
    # Each job may wake hosts up; what is never written takes no memory.
    make_room(sleepers, size + jobs)
    return sleepers


def deepest_of(power: HostPower) -> int:
    """Return the power state in which a host sleeps that can."""
    assert power.deepest is not None, "it can sleep"
    return power.deepest


def lacks_room(sleepers: Sleepers, size: int) -> bool:
    """Return whether there is too little room for what may happen in a moment to so many hosts."""
    spare = (
        sleepers.most_switches - sleepers.switches - size,
        sleepers.room - sleepers.runs - size,
        sleepers.most_events - sleepers.events - PHASES * size,
        sleepers.most_groups - sleepers.groups - 2,
    )
    return any(each < 0 for each in spare)


def make_room(sleepers: Sleepers, size: int) -> None:
    """Make room for more of what may happen in a moment to so many hosts."""
    switches, groups = 2 * sleepers.switches + 2 * size, 2 * sleepers.groups + 8
    runs, events = 2 * sleepers.runs + 2 * size, 2 * sleepers.events + 2 * PHASES * size
    sleepers.lengthen(sleepers.switches, switches, "turn", "at", "pieces", "expected", "end")
    sleepers.lengthen(sleepers.runs, runs, "first", "last")
    sleepers.lengthen(sleepers.events, events, "event", "event_at", "event_line")
    sleepers.lengthen(sleepers.groups, groups, "since")
    sleepers.lengthen(sleepers.groups * sleepers.words, groups * sleepers.words, "group")
    sleepers.most_switches, sleepers.room = switches, runs
    sleepers.most_events, sleepers.most_groups = events, groups


def switches_of(sleepers: Sleepers) -> dict[str, NDArray[Any]]:
    """Return what became of the hosts that slept, see `Sleepers`, by the names that native/energy.c has for it."""
    of = sleepers.arrays
    return {
        **{name: of[name][: sleepers.switches] for name in ("turn", "at", "pieces")},
        **{f"switch_{name}": of[name][: sleepers.runs] for name in ("first", "last")},
        **{name: of[name][: sleepers.events] for name in ("event", "event_at", "event_line")},
    }
