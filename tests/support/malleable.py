"""Workloads of malleable jobs, and what must hold for every dispatcher of them, read from the output files."""

import math
from itertools import pairwise
from typing import Any

import numpy as np

from batdispatch.abilities.malleable.policy import Action, Policy, Situation
from batdispatch.abilities.malleable.resizing import Resizing
from batdispatch.core.jobs.job import JobState, Stay
from batdispatch.core.jobs.sizes import Sizes, read_sizes
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import parse_options
from batdispatch.core.machine.machine import Machine
from simulating import Result, Row, Task, audit, micro
from stochastic import attempts_of

KILLED = JobState.COMPLETED_KILLED
#: A resize costs nothing, so that what a segment ran is what it worked.
FREE = {"check_cost": "0", "expand_cost": "0", "shrink_cost": "0"}


class Restless(Policy):
    """Goes to any size that can be reached, or to none, by chance."""

    rng: np.random.Generator

    def decide(self, situation: Situation) -> Action:
        fewer = [Action("shrink", size) for size in situation.sizes.below(situation.units)]
        more = [Action("expand", size) for size in situation.fitting]
        chosen = [situation.none(), *fewer, *more][int(self.rng.integers(1 + len(fewer) + len(more)))]
        if chosen.kind == "shrink" and situation.waiting and self.rng.integers(2):
            chosen = Action("shrink", chosen.units, int(self.rng.integers(situation.waiting)))
        return chosen


class Checked(Resizing):
    """Verifies the ledger after every message, and counts how often each logical job ended by itself."""

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self.ended: dict[str, int] = {}

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        super().on_end(ledger, stay)
        if stay.state is not KILLED:
            root = ledger.root(stay.job.id)
            self.ended[root] = self.ended.get(root, 0) + 1

    def decide(self, ledger: Ledger) -> None:
        super().decide(ledger)
        ledger.check()
        self.segments.check(ledger)


def checked(options: dict[str, Any], rng: np.random.Generator | None = None) -> Checked:
    """Return a layer that verifies the ledger and its own segments; with `rng`, its policy goes by chance."""
    made = Checked(parse_options(Checked.options_type, options, "test"))
    if rng is not None:
        made.policy = Restless()
        made.policy.rng = rng
    return made


def sizes_of(task: Task) -> Sizes | None:
    return read_sizes(task.extra["sizes"], "sizes") if "sizes" in task.extra else None


def malleable_tasks(rng: np.random.Generator, hosts: int, count: int, **more: Any) -> list[Task]:
    """Jobs of which two in three can be resized; they bring about as much work as the machine does in that time."""
    tasks = []
    for number in range(count):
        runtime = round(float(rng.uniform(10, 60)), 3)
        units = int(2 ** rng.integers(0, math.log2(hosts) + 1))
        sizes: dict[str, Any] = {
            "least": int(2 ** rng.integers(0, math.log2(units) + 1)),
            "most": int(units * 2 ** rng.integers(0, 3)),
            "kind": "malleable",
            "steps": int(rng.integers(2, 40)),
            "scalability": str(rng.choice(["linear", "power:0.7", "amdahl:0.05", "power:0"])),
            **more,
        }
        if rng.integers(2):
            sizes["preferred"] = int(rng.integers(sizes["least"], sizes["most"] + 1))
        extra = {"sizes": sizes} if number % 3 else {}
        arrives = round(float(rng.uniform(0, 12 * count)), 3)
        tasks.append(Task(f"{number}", arrives, units, runtime, math.inf, extra=extra))
    return tasks


def seconds_on(task: Task, units: int) -> float:
    """How long all of a job's work takes on some units."""
    sizes = sizes_of(task)
    assert sizes is not None
    return task.runtime * sizes.scalability.time(units) / sizes.scalability.time(task.units)


def units_of(row: Row) -> int:
    return sum(row.units.values())


def check(machine: Machine, tasks: list[Task], result: Result, *, late: float = 0.0, overheads: bool = False) -> int:
    """Check a run of jobs without walltimes; return how many resizes, and starts on fewer units than asked for, it has.

    Args:
        machine: on which they ran.
        tasks: the jobs.
        result: what became of them.
        late: seconds up to which the simulator's messages take.
        overheads: whether resizes cost time, so that segments run longer than they work.
    """
    by_id, segments = {task.id: task for task in tasks}, attempts_of(result)
    assert sorted(segments) == sorted(by_id), "a job was lost"
    seen: list[Task] = []
    resizes = started = 0
    for root, rows in segments.items():
        task = by_id[root]
        if len(rows) == 1 and rows[0].state is JobState.REJECTED:
            seen.append(task)
            continue
        if rows[0].state is JobState.REJECTED:
            # It started on another size than it asked for.
            seen.append(task._replace(units=1000))
            rows = rows[1:]
            sizes = sizes_of(task)
            assert sizes is not None
            assert units_of(rows[0]) in sizes.below(task.units)
            started += 1
        assert [row.state for row in rows[:-1]] == [KILLED] * (len(rows) - 1)
        assert rows[-1].state is JobState.COMPLETED_SUCCESSFULLY, "it ends exactly once"
        seen += [
            task._replace(id=row.id, units=units_of(row), runtime=lasted, walltime=lasted + (row is rows[-1]), extra={})
            for row in rows
            for lasted in [(row.end - row.start) / 1e6]
        ]
        sizes = sizes_of(task)
        assert (sizes is not None and sizes.resizable) or len(rows) == 1
        if sizes is None:
            continue
        for before, after in pairwise(rows):
            resizes += 1
            few, many = sorted((before, after), key=units_of)
            kept = all(count <= many.units.get(host, 0) for host, count in few.units.items())
            assert kept, "nodes that are kept are kept"
            assert units_of(many) in {units_of(few), *sizes.above(units_of(few))}
            assert sizes.least <= units_of(few) <= units_of(many) <= sizes.most
            assert 0 <= after.start - before.end <= micro(late), "it goes on at once"
            for other in result.rows.values() if machine.exclusive else ():
                if other.id not in (before.id, after.id) and other.units.keys() & few.units.keys():
                    assert other.end <= before.end or other.start >= after.start, "somebody took a kept node"
        done = sum((row.end - row.start) / 1e6 / seconds_on(task, units_of(row)) for row in rows)
        shortest = min(seconds_on(task, units_of(row)) for row in rows)
        # Six decimals of the progress a resize, and the clock: a microsecond, or what messages take.
        unknown = (1e-6 + max(2e-6, 2 * late) / shortest) * len(rows)
        assert done >= 1 - unknown, "work was lost"
        assert overheads or done <= 1 + unknown, "work was done twice"
    if not late:
        # Killed or at its walltime: the audit of the baselines knows only one.
        at_limit = JobState.COMPLETED_WALLTIME_REACHED
        same = {row.id: row._replace(state=at_limit) if row.state is KILLED else row for row in result.rows.values()}
        audit(machine, seen, result._replace(rows=same))
    return resizes + started


def ended_once(layer: Checked, tasks: list[Task], result: Result) -> None:
    """Check that the layer heard of one end of each logical job, and waits for nothing."""
    alone = [rows[0] for rows in attempts_of(result).values() if len(rows) == 1]
    rejected = {row.id for row in alone if row.state is JobState.REJECTED}
    assert layer.ended == {f"w0!{task.id}": 1 for task in tasks if task.id not in rejected}
    assert not len(layer.segments)
