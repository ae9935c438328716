"""What all hosts burn is the sum over hosts and states of watts times seconds, by a reading that shares no code."""

import csv
import random
import re
import xml.etree.ElementTree as tree
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.abilities.power.machine.facet import HostPowers
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.messages import Message, Reply
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import read_workload
from recorded_energy import ENERGY
from workloads_of_cases import write_workload

HETERO = ENERGY / "platforms" / "hetero12.xml"


class Switcher:
    """Starts jobs on random hosts that are awake, and sets random idle hosts to random states when jobs come."""

    def __init__(self, seed: int, sizes: dict[str, int]) -> None:
        self.random, self.sizes = random.Random(seed), sizes
        self.free, self.asleep = set(range(12)), set[int]()
        self.waiting: list[str] = []

    def handle(self, message: Message) -> Reply:
        now, found = message.now, list[d.Decision]()
        for event in message.events:
            if isinstance(event, e.JobSubmitted):
                self.waiting.append(event.job.id)
                found += self.switches(now)
            elif isinstance(event, e.JobCompleted) and event.allocation is not None:
                self.free |= {*event.allocation.ids}
            elif isinstance(event, e.ResourceStateChanged):
                (self.asleep if event.state in "36" else self.free).update(event.hosts.ids)
        while self.waiting and self.sizes[self.waiting[0]] <= len(self.free):
            job_id = self.waiting.pop(0)
            hosts = self.random.sample(sorted(self.free), self.sizes[job_id])
            self.free -= {*hosts}
            found.append(d.Execute(now, job_id, Allocation.of(hosts)))
        return Reply(now, found)

    def switches(self, now: float) -> list[d.Decision]:
        found: list[d.Decision] = []
        for host in self.random.sample(sorted(self.free), min(len(self.free), 2)):
            target = self.random.choice("0123" + "6" * (host > 9))
            self.free.discard(host)
            found.append(d.SetResourceState(now, Allocation.of([host]), target))
        # Somebody has to be awake for what still waits.
        for host in sorted(self.asleep):
            self.asleep.discard(host)
            found.append(d.SetResourceState(now, Allocation.of([host]), self.random.choice("012")))
        return found


def case(seed: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    chance = random.Random(seed)
    profiles: dict[str, Any] = {f"d{n}": {"type": "delay", "delay": 10 + 7 * n} for n in range(3)}
    profiles |= {f"c{n}": {"type": "parallel_homogeneous", "cpu": n * 5e8, "com": 0} for n in range(1, 4)}
    jobs = [
        {
            "id": str(n),
            "subtime": chance.randrange(400),
            "res": chance.randint(1, 4),
            "profile": chance.choice([*profiles]),
        }
        for n in range(chance.randint(1, 25))
    ]
    return sorted(jobs, key=lambda job: job["subtime"]), profiles


def hosts_of(text: str) -> list[int]:
    return [host for part in text.split() for host in range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)]


class Watts:
    """A host's speeds and watts, read from the platform's XML."""

    def __init__(self, host: tree.Element) -> None:
        of = {each.get("id"): str(each.get("value")) for each in host}
        self.speeds = [
            float(re.sub("Mf|f", "", s)) * (1e6 if "M" in s else 1) for s in str(host.get("speed")).split(",")
        ]
        self.cores = int(host.get("core", "1"))
        triples = [[float(number) for number in part.split(":")] for part in of["wattage_per_state"].split(",")]
        self.watts = [(each[0], each[-2], each[-1]) for each in triples]
        self.sleeps = {}
        for part in of["sleep_pstates"].split(","):
            sleep, down, up = map(int, part.split(":"))
            self.sleeps[sleep] = (down, up)

    def busy(self, state: int, load: float) -> float:
        _, epsilon, full = self.watts[state]
        return epsilon + load * (full - epsilon)


def summed(folder: Path, profiles: dict[str, Any], until: float) -> float:
    hosts = [Watts(host) for host in tree.parse(HETERO).iter("host") if host.get("id") != "master_host"]
    total = 0.0
    #: Host -> (moment, state) of each state that it computes or sleeps in; what lies between is told apart by None.
    states = defaultdict[int, list[tuple[float, int | None]]](list)
    for row in csv.DictReader((folder / "pstate_changes.csv").open()):
        for host in hosts_of(row["machine_id"]):
            state = int(row["new_pstate"])
            states[host].append((float(row["time"]), state if state >= 0 else None))
    for host, changes in states.items():
        power = hosts[host]
        ends = [moment for moment, _ in changes[1:]] + [until]
        for number, ((begin, state), end) in enumerate(zip(changes, ends, strict=True)):
            if state is not None:
                total += power.watts[state][0] * (end - begin)
                continue
            before, after = (changes[at][1] if at < len(changes) else None for at in (number - 1, number + 1))
            assert before is not None
            assert after is not None
            virtual = power.sleeps[after][0] if after in power.sleeps else power.sleeps.get(before, (0, before))[1]
            total += power.busy(virtual, 1 / power.cores) * (end - begin)
    for row in csv.DictReader((folder / "jobs.csv").open()):
        profile = profiles[row["profile"]]
        begin, end = float(row["starting_time"]), float(row["finish_time"])
        for host in hosts_of(row["allocated_resources"]) if profile["type"] != "delay" else ():
            power = hosts[host]
            state = [state for moment, state in states[host] if moment <= begin][-1]
            assert state is not None
            load = profile["cpu"] / (power.speeds[state] * power.cores * (end - begin))
            total += (power.busy(state, load) - power.watts[state][0]) * (end - begin)
    return total


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_joules_of_all_hosts_are_watts_times_seconds_of_their_states(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("sums")
    jobs, profiles = case(seed)
    write_workload(folder / "w.json", jobs, profiles)
    workload, platform = read_workload(folder / "w.json"), read_platform(HETERO)
    platform.facet(HostPowers)
    options = EngineOptions(energy="exact")
    peer = Switcher(seed, {f"w0!{job['id']}": job["res"] for job in jobs})
    EmbeddedEngine(platform.machine, workload, Outputs(folder, 12), options=options).run(peer)
    last = [*csv.DictReader((folder / "consumed_energy.csv").open())][-1]
    assert float(last["energy"]) == pytest.approx(summed(folder, profiles, float(last["time"])), rel=1e-7)
