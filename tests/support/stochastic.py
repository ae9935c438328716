"""Workloads of stochastic jobs, and what must hold for every dispatcher of them, read from the output files."""

import math
from itertools import pairwise
from typing import Any

import msgspec
from hypothesis import Phase, settings
from hypothesis import strategies as st

from batdispatch.abilities.stochastic.requests import GROUP, make_sequence
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line import registry
from batdispatch.core.machine.machine import Machine
from simulating import Result, Row, Task, audit, micro
from strategies import workloads

NAMES = ["stochastic-batch", "stochastic-easy", "stochastic-conservative"]
LAWS = ["tnorm:0,20,8,4", "texp:0.5,12,3", "beta:2,2,1,9", "empirical:1,2,3,5,8", "tlognorm:0.5,9,1,1"]
#: Request sequences that packages announce; the list of a user needs times.
SEQUENCES = ["list[2,5,9]" if name == "list" else name for name in registry.names(GROUP)]
KILLED = (JobState.COMPLETED_KILLED, JobState.COMPLETED_WALLTIME_REACHED)

quick = settings(max_examples=25, phases=[Phase.reuse, Phase.generate])


@st.composite
def stochastic_workloads(draw: st.DrawFn, machine: Machine) -> list[Task]:
    """Jobs of which most state a law; their run times need not follow it."""
    tasks = []
    for task in draw(workloads(machine, most=10)):
        extra: dict[str, Any] = {}
        if draw(st.integers(0, 3)):
            extra["runtime_law"] = draw(st.sampled_from(LAWS))
            if draw(st.booleans()):
                extra["history"] = draw(st.lists(st.integers(1, 9), max_size=4))
        tasks.append(task._replace(extra=extra))
    return tasks


def with_options(requests: str, **options: Any) -> str:
    """A request sequence with those of some options that it has: ``toptimal[grid=9]``."""
    known = {field.name for field in msgspec.structs.fields(make_sequence(requests).options_type)}
    name, _, given = requests.removesuffix("]").partition("[")
    told = ",".join([given] * bool(given) + [f"{key}={value}" for key, value in options.items() if key in known])
    return f"{name}[{told}]" if told else name


def reserved(limit: float) -> int:
    """Microseconds that are reserved for a limit: whole milliseconds, one more than it takes."""
    return (math.ceil(round(limit * 1000, 3)) + 1) * 1000


def attempts_of(result: Result) -> dict[str, list[Row]]:
    """The rows of each submitted job, in order of attempts, by the parents that the ledger knows."""
    ledger = result.ledger
    found: dict[str, list[tuple[int, Row]]] = {}
    for row in result.rows.values():
        name, before = f"w0!{row.id}", 0
        while name in ledger.parents:
            name, before = ledger.parents[name], before + 1
        found.setdefault(name.removeprefix("w0!"), []).append((before, row))
    attempts = {root: sorted(rows) for root, rows in found.items()}
    for rows in attempts.values():
        assert [before for before, _ in rows] == list(range(len(rows))), "an attempt continues another one's parent"
    return {root: [row for _, row in rows] for root, rows in attempts.items()}


def check(machine: Machine, tasks: list[Task], result: Result, *, again: bool = False) -> None:
    """Check a run; `again`: jobs that state no law may be tried again, until their walltime ends them."""
    by_id = {task.id: task for task in tasks}
    attempts = attempts_of(result)
    assert sorted(attempts) == sorted(by_id), "a job was lost"
    seen = []
    for root, rows in attempts.items():
        task = by_id[root]
        if rows[0].state is JobState.REJECTED:
            assert len(rows) == 1
            seen.append(task)
            continue
        for before, after in pairwise(rows):
            assert before.end <= after.start, "two attempts at once"
        for row in rows:
            killed = row.state in KILLED
            lasted = (row.end - row.start) / 1e6
            seen.append(
                task._replace(id=row.id, runtime=lasted, walltime=lasted if killed else task.runtime + 1, extra={})
            )
            assert killed or row.end - row.start == micro(task.runtime)
            assert not killed or lasted <= task.runtime + 1e-6
        if "runtime_law" in task.extra:
            assert [row.state for row in rows[:-1]] == [row.state for row in rows[:-1] if row.state in KILLED]
            assert rows[-1].state is JobState.COMPLETED_SUCCESSFULLY
        else:
            assert len(rows) == 1 or again
            assert all(row.state in KILLED for row in rows[:-1])
    # Killed or at its walltime: the audit of the baselines knows only one.
    same = {row.id: row._replace(state=KILLED[1]) if row.state is KILLED[0] else row for row in result.rows.values()}
    audit(machine, seen, result._replace(rows=same))
