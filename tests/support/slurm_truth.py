"""Recordings of a real Slurm, and how near a simulated dispatcher comes to one.

A recording is NAME.csv (what slurmctld did, one line per job) and NAME.conf (its settings, with its clock where it is
known).
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from batdispatch.abilities.sites.doors.slurm.conf import SlurmConf, read_conf
from batdispatch.abilities.sites.doors.slurm.scheduling import scheduling_of
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.core.machine.site import Partition, QueuesProperty, Window
from batdispatch.testing.simulation import Task, simulate

#: Recordings that tests read.
FOLDER = Path(__file__).parents[1] / "data" / "slurm"
#: Seconds from the end of a job's `sleep` to its end in slurmctld's books, as measured.
OVERHEAD = 0.15


class Recording(NamedTuple):
    """What slurmctld was given, and what it did. Times in seconds."""

    name: str
    machine: Machine
    tasks: list[Task]
    #: Start of each job by its id.
    starts: dict[str, float]
    #: Of slurm-backfill, from the settings.
    options: dict[str, str]
    #: What the clock showed at 0, when the first backfill pass was made, and how often it ticked; None: not known.
    clock: float | None
    phase: float | None
    tick: float | None

    @property
    def interval(self) -> float:
        """Seconds between two backfill passes."""
        return float(self.options.get("interval", 30))

    def wait(self, starts: Mapping[str, float]) -> float:
        """Return the mean wait under some starts, in seconds."""
        return sum(starts[task.id] - task.submission for task in self.tasks) / len(self.tasks)

    def pairs(self, starts: Mapping[str, float]) -> float:
        """Return the share of the pairs of jobs that start in Slurm's order; jobs that start together count half."""
        right = total = 0.0
        for a, b in itertools.combinations(self.starts, 2):
            real, ours = self.starts[a] - self.starts[b], starts[a] - starts[b]
            if real:
                total += 1.0
                right += 0.5 if not ours else float((real > 0) == (ours > 0))
        return right / total

    def run(self, dispatcher: str = "slurm-backfill", **changes: str) -> dict[str, float]:
        """Return the start of each job under a dispatcher, in seconds, as scontrol tells it.

        Of a job that was queued again that is its last one, and of a job that was suspended its first one.
        """
        own = self.own_options() if dispatcher == "slurm-backfill" else {}
        options = {key: text for key, text in self.options.items() if key == "ordering"} | own | changes
        result = simulate(self.machine, self.tasks, dispatcher, options=options)
        suspends = options.get("preempt_mode") == "suspend"
        in_order = sorted(result.starts().items(), key=lambda one: one[1], reverse=suspends)
        return {name.partition("~")[0]: start for name, start in in_order}

    def ends(self) -> dict[str, float]:
        """Return the last end of each job under slurm-backfill, in seconds."""
        result = simulate(self.machine, self.tasks, "slurm-backfill", options=self.own_options())
        in_order = sorted(result.rows.items(), key=lambda one: one[1].end)
        return {name.partition("~")[0]: row.end / 1e6 for name, row in in_order}

    def own_options(self) -> dict[str, str]:
        """Return the options of slurm-backfill from the settings and the clock."""
        known = {"clock": self.clock, "phase": self.phase, "tick": self.tick}
        return self.options | {key: f"{time:.7g}" for key, time in known.items() if time is not None}

    def phases(self) -> Iterator[dict[str, str]]:
        """Yield phases of the backfill passes and of the clock that may have been."""
        clocks = range(0, 60, 6) if self.clock is None else [round(self.clock)]
        for clock, step in itertools.product(clocks, range(5)):
            yield {"clock": str(clock), "phase": f"{(self.phase or 0) % self.interval + step * self.interval / 5:g}"}


def read_recording(path: Path) -> Recording:
    """Read a recording by the path of its table."""
    conf_path = path.with_suffix(".conf")
    conf, text = read_conf(conf_path), conf_path.read_text()
    rows = list(csv.DictReader(path.read_text().splitlines()))
    # Recordings without the column say whole nodes by jobs that have as many as they asked for, all of them.
    whole = all(row["asked"] == row["num_nodes"] for row in rows) if "whole" not in rows[0] else False
    tasks = [_task(row, whole=row.get("whole") == "1" or whole) for row in rows]
    known = re.search(r"^# clock (\S+) phase (\S+) tick (\S+)$", text, re.MULTILINE)
    return Recording(
        path.stem,
        _machine(conf, text),
        tasks,
        {task.id: float(row["start"]) for task, row in zip(tasks, rows, strict=True)},
        scheduling_of(conf).options,
        float(known[1]) if known else None,
        float(known[2]) if known else None,
        float(known[3]) if known else None,
    )


def _task(row: Mapping[str, str], *, whole: bool) -> Task:
    lasts = float(row["sleep_s"]) + OVERHEAD
    extra: dict[str, Any] = {}
    if row.get("partition"):
        extra["partition"] = row["partition"]
    if row.get("licences"):
        name, _, count = row["licences"].partition(":")
        extra["licences"] = {name: int(count)}
    if row.get("node"):
        extra["node_list"] = [row["node"]]
    if row.get("nice"):
        extra["nice"] = int(row["nice"])
    if row.get("after"):
        kind, _, number = row["after"].partition(":")
        extra["dependencies"] = [{"job": f"j{int(number) - 1}", "kind": kind}]
    limit = 60.0 * float(row["limit_min"])
    demand = None if whole else {"core": 1}
    return Task(f"j{row['job']}", float(row["submit"]), int(row["asked"]), lasts, limit, demand, extra=extra)


def _machine(conf: SlurmConf, text: str) -> Machine:
    (nodes,) = conf.nodes
    partitions = [
        Partition(
            name=one.name,
            hosts=list(one.nodes),
            default=one.default,
            tier=one.priority_tier,
            preempt_mode=one.preempt_mode,
        )
        for one in conf.partitions
    ]
    windows = [
        Window(name=name, start=float(start), end=float(end), hosts=[hosts], users=["root"])
        for name, start, end, hosts in re.findall(r"^# reservation (\S+) (\S+) (\S+) (\S+)$", text, re.MULTILINE)
    ]
    properties = {"queues": msgspec.json.encode(QueuesProperty(partitions=partitions, reservations=windows)).decode()}
    if "licenses" in conf.general:
        properties["licences"] = conf.general["licenses"].value.replace(":", "=")
    flat = Machine.flat(len(nodes.names), f"core={nodes.cores}")
    hosts = [
        Host(id=host.id, name=name, properties={**host.properties, **properties})
        for host, name in zip(flat.hosts, nodes.names, strict=True)
    ]
    return Machine(hosts)
