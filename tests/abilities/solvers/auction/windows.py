"""Windows of jobs on machines of cores and GPUs, as the oracles state them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from batdispatch.abilities.solvers.auction.ipsched import Ipsched, IpschedOptions
from batdispatch.abilities.solvers.auction.problem import Choice, Problem
from batdispatch.abilities.solvers.solving import SolverResult
from batdispatch.core.jobs.fields import read_request
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.events import JobSubmitted, SimulationBegins
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Host, Machine

ORACLES = Path(__file__).parents[3] / "oracles" / "auction"


def oracle(name: str) -> Any:
    """Return an oracle's content."""
    return json.loads((ORACLES / f"{name}.json").read_text())


def machine_of(nodes: Sequence[Sequence[int]], licences: str = "") -> Machine:
    """Return a machine whose nodes have so many cores and GPUs."""
    properties = {"licences": licences} if licences else {}
    return Machine(
        [
            Host(id=index, name=f"n{index}", properties={"capacity": f"core={cores} gpu={gpus} disk=1", **properties})
            for index, (cores, gpus) in enumerate(nodes)
        ]
    )


def problem_of(machine: Machine, asked: Sequence[tuple[int, int, dict[str, Any]]]) -> Problem:
    """Return the problem of jobs (priority, units, further fields) on an idle machine, in this order."""
    ledger = Ledger(SimulationBegins(time=0.0, machine=machine))
    window = []
    for number, (priority, units, fields) in enumerate(asked):
        job = Job(id=f"w!{number}", request=read_request(units, fields))
        ledger.apply_submitted(JobSubmitted(time=0.0, job=job))
        window.append((job, priority))
    return Problem(ledger, window)


def cores(job: dict[str, Any], nodes: int) -> tuple[int, int, dict[str, Any]]:
    """Return a job of an oracle as `problem_of` takes it."""
    fields: dict[str, Any] = {"demand": {"core": 1}}
    if job["g"]:
        fields["per_node"] = {"gpu": job["g"]}
    if (job["nmin"], job["nmax"]) != (1, nodes):
        fields["nodes"] = [job["nmin"], min(job["nmax"], job["r"])]
    return job["p"], job["r"], fields


def solve(problem: Problem, **options: Any) -> tuple[SolverResult[Choice], dict[str, int], Ipsched]:
    """Return what IPSCHED chooses, its counters, and the dispatcher."""
    dispatcher = Ipsched(IpschedOptions(**options))
    counters: dict[str, int] = {}
    return dispatcher.choose(problem, counters), counters, dispatcher


def scaled(problem: Problem, choice: Choice) -> int:
    """Return sum p_j (2 N s_j - T_j), worked out from the allocations alone."""
    total = 0
    for asking, allocation in zip(problem.askings, choice, strict=True):
        if allocation is not None:
            total += asking.priority * (2 * len(problem.hosts) - len(allocation.ids))
    return total


def carry_out(problem: Problem, choice: Choice) -> None:
    """Start the jobs of a choice on the problem's ledger, which refuses what does not fit."""
    for asking, allocation in zip(problem.askings, choice, strict=True):
        if allocation is not None:
            problem.ledger.start(asking.job, allocation)
    problem.ledger.check()
