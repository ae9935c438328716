"""What all hosts of a run burn, worked out from its decisions and jobs alone."""

import itertools
from collections.abc import Iterator, Sequence

from batdispatch.core.jobs.job import JobState
from batdispatch.core.line.decisions import SetResourceState
from batdispatch.core.machine.machine import Machine
from simulating import Result

#: Watts and sleep states of host properties; wake-ups that burn less and more than a busy host.
KINDS = [
    ("100:110:200,10:10,120:120,140:140", "1:2:3"),
    ("30:40:100,9.75:9.75,201:201,425:425", "1:2:3"),
    ("80.5:80.5:90.25,0:0,80:80,90:90", ""),
]


def levels(text: str) -> list[tuple[float, float]]:
    """Idle and full watts of each power state."""
    triples = [[float(word) for word in part.split(":")] for part in text.split(",")]
    return [(words[0], words[-1]) for words in triples]


def switches(machine: Machine, result: Result) -> Iterator[tuple[int, float, float, float]]:
    """Host, from when, until when, and the watts that it burns then, for each switch and each sleep."""
    asleep: dict[int, float] = {host.id: 0.0 for host in machine.hosts if host.pstate == 1}
    for time, host, state in decided(result):
        watts, speeds = levels(machine.hosts[host].properties["wattage_per_state"]), machine.hosts[host].speeds
        sleeps = _sleeps(machine, host, state)
        if not sleeps and host not in asleep:
            continue
        virtual = 2 if sleeps else 3
        until = time + 1 / speeds[virtual]
        if virtual == 3:
            yield host, asleep.pop(host), time, watts[1][0]
        else:
            asleep[host] = until
        yield host, time, until, watts[virtual][1]
    for host, since in asleep.items():
        yield host, since, 1e9, levels(machine.hosts[host].properties["wattage_per_state"])[1][0]


def _sleeps(machine: Machine, host: int, state: int) -> bool:
    return state == 1 and "sleep_pstates" in machine.hosts[host].properties


def decided(result: Result) -> Iterator[tuple[float, int, int]]:
    """When which host was to go to which power state."""
    for _, reply in result.exchanges:
        for decision in reply.decisions:
            if isinstance(decision, SetResourceState):
                for host in decision.hosts.ids:
                    yield decision.time, host, int(decision.state)


def most_power(machine: Machine, result: Result) -> list[tuple[float, float, float]]:
    """From when, until when, and the watts that all hosts burn then, if each job makes its hosts burn all they can."""
    parts = list(switches(machine, result))
    jobs = [
        (host, row.start / 1e6, row.end / 1e6)
        for row in result.rows.values()
        if row.state is not JobState.REJECTED
        for host in row.units
    ]
    changes = list(decided(result))
    moments = [moment for _, *span, _ in parts for moment in span] + [moment for _, *span in jobs for moment in span]
    times = sorted({*moments, *(time for time, _, _ in changes), 0.0})
    tables = [levels(host.properties["wattage_per_state"]) for host in machine.hosts]
    found = []
    for begin, end in itertools.pairwise(times):
        # A job that takes no time lasts 10 us.
        if end - begin < 2e-5:
            continue
        middle = (begin + end) / 2
        states = dict.fromkeys(range(len(tables)), 0)
        states |= {host: state for time, host, state in changes if time <= middle and not _sleeps(machine, host, state)}
        watts = {host: table[states[host]][0] for host, table in enumerate(tables)}
        watts |= {host: level for host, since, until, level in parts if since <= middle < until}
        for host, since, until in jobs:
            if since <= middle < until:
                watts[host] = max(tables[host][states[host]])
        found.append((begin, end, sum(watts.values())))
    return found


def idle_and_full(machine: Machine) -> tuple[float, float]:
    each = [levels(host.properties["wattage_per_state"])[0] for host in machine.hosts]
    return sum(idle for idle, _ in each), sum(full for _, full in each)


def check_cap(machine: Machine, result: Result, times: Sequence[float], caps: Sequence[float]) -> None:
    for begin, end, watts in most_power(machine, result):
        for since, until, cap in zip(times, [*times[1:], 1e9], caps, strict=True):
            if max(begin, since) + 2e-6 < min(end, until):
                assert watts <= cap + 1e-6, f"{watts} W from {begin} to {end} s, the cap is {cap} W"
