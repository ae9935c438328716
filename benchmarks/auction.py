"""CPU time and quality of IPSCHED: on hard windows drawn at random, and over the decisions of a simulation.

Usage: ``python benchmarks/auction.py windows [--first 0] [--count 50] [--priorities basic|ranks] [--work 1]``
       ``python benchmarks/auction.py solvers [--first 0] [--count 3] [--seconds 3]``
       ``python benchmarks/auction.py esp [--seeds 3] [--priorities basic]``

A hard window has 1,024 nodes and 200 jobs. The nodes have 3 to 8 free cores and 0 to 2 free GPUs, which makes 18
classes; the sizes of the classes are multinomial, with shares from a flat Dirichlet distribution. A job's cores are
lognormal (median 1/60 of 8 x 1,024 cores, sigma 1.2) and at most half of them. Half of the jobs ask for 0 to 2 GPUs a
node. A quarter fixes the number of nodes, a fifth gives a range, and about a seventh fixes the cores per node. The
window is drawn from its seed. CPU time is that of the choice, by `time.process_time`.

`solvers` gives CP-SAT and SCIP, as OR-Tools has them, and SciPy's HiGHS the whole program over classes of hard windows,
with one worker and the same limit: so many wall-clock seconds, in which a busy machine does less. CP-SAT and SCIP are
told the greedy plan; HiGHS takes none. Figures are of the program, before any split over the nodes; `nan`: none was
found.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter
from statistics import median
from typing import Any

import numpy as np
from ortools.linear_solver import pywraplp
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from batdispatch.abilities.solvers.auction.groups import classes
from batdispatch.abilities.solvers.auction.ipsched import Ipsched, IpschedOptions
from batdispatch.abilities.solvers.auction.problem import Choice, Problem
from batdispatch.abilities.solvers.auction.program import Program
from batdispatch.abilities.solvers.auction.worth import spread_of, worth
from batdispatch.abilities.solvers.solving import Limits, SolverResult
from batdispatch.core.jobs.fields import read_request
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.events import JobSubmitted, SimulationBegins
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.parts.ordering.priority import TOP
from batdispatch.testing.simulation import Task, simulate

NODES, CORES, JOBS = 1024, 8, 200
#: ESP-2: fraction of the machine, number of jobs, run time in s.
ESP = [
    (0.03125, 75, 267), (0.0625, 9, 322), (0.5, 3, 534), (0.25, 3, 616), (0.5, 3, 315), (0.0625, 9, 1846),
    (0.125, 6, 1334), (0.1582, 6, 1067), (0.03125, 24, 1432), (0.0625, 24, 725), (0.0957, 15, 487), (0.125, 36, 366),
    (0.25, 15, 187), (1.0, 2, 100),
]  # fmt: skip
#: A bound this close to the worth is a good one.
GOOD = 0.01


def hard_window(seed: int, priorities: str) -> Problem:
    """Return the hard window of a seed; see the head of this file."""
    rng = np.random.default_rng(seed)
    kinds = [(cores, gpus) for cores in range(3, CORES + 1) for gpus in range(3)]
    counts = 1 + rng.multinomial(NODES - len(kinds), rng.dirichlet(np.ones(len(kinds))))
    texts = [f"core={c} gpu={g}" for (c, g), count in zip(kinds, counts, strict=True) for _ in range(count)]
    rng.shuffle(texts)
    machine = Machine([Host(id=i, name=f"n{i}", properties={"capacity": text}) for i, text in enumerate(texts)])
    ledger = Ledger(SimulationBegins(time=0.0, machine=machine))
    window = []
    for number in range(JOBS):
        job = Job(id=f"w!{number}", request=read_request(*_asked(rng)))
        ledger.apply_submitted(JobSubmitted(time=0.0, job=job))
        if not ledger.why_impossible(job):
            window.append((job, TOP - number if priorities == "basic" else JOBS - number))
    return Problem(ledger, window)


def _asked(rng: np.random.Generator) -> tuple[int, dict[str, Any]]:
    """Return the units and further fields of a job."""
    total = NODES * CORES
    units = min(max(1, round(float(np.exp(rng.normal(np.log(total / 60), 1.2))))), total // 2)
    fields: dict[str, Any] = {"demand": {"core": 1}}
    gpus = int(rng.integers(0, 3)) if rng.random() < 0.5 else 0
    if gpus:
        fields["per_node"] = {"gpu": gpus}
    kind, cores = rng.random(), int(rng.choice([1, 2, 3, 4, 6, 8]))
    nodes = max(1, -(-units // cores))
    if kind < 0.25:
        fields["nodes"] = min(nodes, NODES // 2)
    elif kind < 0.45:
        least = max(1, min(nodes // 2, NODES // 2))
        fields["nodes"] = [1 if least > units else least, max(1, min(nodes * 2, NODES))]
    elif kind < 0.6:
        each = min(cores, 4)
        units = max(each, units // each * each)
        fields["units_per_node"] = each
    return units, fields


class Timed(Ipsched):
    """IPSCHED that notes status, gap and CPU time of each choice."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.seen: list[tuple[str, float, float]] = []

    def choose(self, problem: Problem, counters: dict[str, int]) -> SolverResult[Choice]:
        began = time.process_time()
        found = super().choose(problem, counters)
        self.seen.append((found.status, found.gap, time.process_time() - began))
        return found


def windows(first: int, count: int, priorities: str, work: float) -> None:
    """Print a line per window, and a summary."""
    dispatcher = Timed(IpschedOptions(work=work))
    for seed in range(first, first + count):
        problem = hard_window(seed, priorities)
        found = dispatcher.choose(problem, {})
        status, gap, seconds = dispatcher.seen[-1]
        top = problem.askings[0].priority
        print(
            f"{seed:3d} {status:8s} greedy {-found.first / top:7.2f} ipsched {-found.cost / top:7.2f} "
            f"bound {-found.bound / top:7.2f} gap {gap:.3%} {seconds:.2f} s",
            flush=True,
        )
    gaps = [gap for _, gap, _ in dispatcher.seen]
    print(
        f"gap: median {median(gaps):.2%}, worst {max(gaps):.2%}, at most {GOOD:.0%} in "
        f"{sum(gap <= GOOD for gap in gaps)} of {len(gaps)}; CPU: {_times(dispatcher)}"
    )


def solvers(first: int, count: int, seconds: float) -> None:
    """Print for each window and solver what the plan of the program is worth, the bound, and the CPU time."""
    for seed in range(first, first + count):
        for priorities in ("basic", "ranks"):
            problem = hard_window(seed, priorities)
            jobs = problem.fitting()
            groups = classes(problem, jobs)
            greedy = problem.greedy()
            hint = spread_of(problem, greedy, groups)
            top = problem.askings[0].priority * 2 * len(problem.hosts)
            print(f"{seed:3d} {priorities:5s} greedy {worth(problem, greedy) / top:7.2f}", flush=True)
            for name, solved in (("CP-SAT", _cp_sat), ("HiGHS", _highs), ("SCIP", _scip)):
                program = Program(problem, jobs, groups, hint)
                began = time.process_time()
                cost, bound = solved(program, seconds)
                used = time.process_time() - began
                print(
                    f"    {name:6s} plan {program.worth(cost) / top:7.2f} bound {program.worth(bound) / top:7.2f} "
                    f"{used:.2f} s",
                    flush=True,
                )


def _cp_sat(program: Program, seconds: float) -> tuple[float, float]:
    """Return cost and bound of a program after so many seconds of CP-SAT, in the program's own unit."""
    answer = program.solve(Limits(work=1e9, wall=seconds))
    cost = math.nan if answer.value is None else program.read(answer.value)[1] / program.worth(-1)
    return cost, answer.bound / program.worth(-1)


def _scip(program: Program, seconds: float) -> tuple[float, float]:
    """Return cost and bound of a program after so many seconds of SCIP, in the program's own unit."""
    proto = program.cp.proto
    solver = pywraplp.Solver.CreateSolver("SCIP")
    solver.SetTimeLimit(round(1000 * seconds))
    domains = [list(variable.domain) for variable in proto.variables]
    variables = [solver.IntVar(domain[0], domain[-1], f"v{index}") for index, domain in enumerate(domains)]
    for constraint in proto.constraints:
        row = solver.Constraint(*_sides(constraint))
        for index, factor in zip(constraint.linear.vars, constraint.linear.coeffs, strict=True):
            row.SetCoefficient(variables[index], factor)
    scale = _scale(proto)
    for index, factor in zip(proto.objective.vars, proto.objective.coeffs, strict=True):
        solver.Objective().SetCoefficient(variables[index], factor / scale)
    solver.Objective().SetMinimization()
    told = proto.solution_hint
    solver.SetHint([variables[index] for index in told.vars], list(told.values))
    if solver.Solve() not in (pywraplp.Solver.OPTIMAL, pywraplp.Solver.FEASIBLE):
        return math.nan, math.nan
    return solver.Objective().Value() * scale, solver.Objective().BestBound() * scale


def _highs(program: Program, seconds: float) -> tuple[float, float]:
    """Return cost and bound of a program after so many seconds of HiGHS, in the program's own unit."""
    proto = program.cp.proto
    rows, columns, factors = [], [], []
    for number, constraint in enumerate(proto.constraints):
        rows += [number] * len(constraint.linear.vars)
        columns += list(constraint.linear.vars)
        factors += list(constraint.linear.coeffs)
    matrix = csr_array((np.array(factors, dtype=float), (rows, columns)), shape=program.size()[::-1])
    low, high = zip(*map(_sides, proto.constraints), strict=True)
    domains = [list(variable.domain) for variable in proto.variables]
    costs = np.zeros(len(domains))
    costs[list(proto.objective.vars)] = list(proto.objective.coeffs)
    scale = _scale(proto)
    answer = milp(
        costs / scale,
        constraints=LinearConstraint(matrix, low, high),
        integrality=np.ones(len(domains)),
        bounds=Bounds([domain[0] for domain in domains], [domain[-1] for domain in domains]),
        options={"time_limit": seconds},
    )
    cost = math.nan if answer.fun is None else answer.fun * scale
    return cost, math.nan if answer.mip_dual_bound is None else answer.mip_dual_bound * scale


def _sides(constraint: Any) -> tuple[float, float]:
    """Return between which values a row lies."""
    domain = list(constraint.linear.domain)
    least, most = (side if abs(side) < 2**61 else math.copysign(math.inf, side) for side in (domain[0], domain[-1]))
    return least, most


def _scale(proto: Any) -> float:
    """Return what costs are divided by: as large as priorities are, they are beyond these solvers' tolerances."""
    return float(max(abs(factor) for factor in proto.objective.coeffs))


def esp(seed: int, spread: float) -> list[Task]:
    """Return the jobs of ESP-2, each once with and once without GPUs, in a random order and at an even pace."""
    rows = [
        (round(fraction * NODES * CORES), runtime, gpus)
        for fraction, count, runtime in ESP
        for _ in range(count)
        for gpus in (0, 2)
    ]
    np.random.default_rng(seed).shuffle(rows)
    return [
        Task(
            str(number),
            number * spread / len(rows),
            int(units),
            float(runtime),
            1.5 * float(runtime),
            {"core": 1},
            extra={"per_node": {"gpu": 2}} if gpus else {},
        )
        for number, (units, runtime, gpus) in enumerate(rows)
    ]


def esp_run(seed: int, priorities: str) -> None:
    """Print how the decisions of a run of ESP ended, and what they cost."""
    dispatcher = Timed(IpschedOptions(priorities=priorities))
    tasks = esp(seed, 10_800)
    starts = simulate(Machine.flat(NODES, f"core={CORES} gpu=2"), tasks, dispatcher).starts()
    wait = sum(starts[task.id] - task.submission for task in tasks) / len(tasks)
    statuses = dict(sorted(Counter(status for status, _, _ in dispatcher.seen).items()))
    print(f"seed {seed}: {statuses}; CPU: {_times(dispatcher)}; mean wait {wait / 3600:.3f} h")


def _times(dispatcher: Timed) -> str:
    seconds = [seconds for _, _, seconds in dispatcher.seen]
    return f"median {median(seconds):.4f} s, worst {max(seconds):.3f} s"


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    hard = commands.add_parser("windows")
    hard.add_argument("--first", type=int, default=0)
    hard.add_argument("--count", type=int, default=50)
    hard.add_argument("--priorities", choices=["basic", "ranks"], default="basic")
    hard.add_argument("--work", type=float, default=IpschedOptions().work)
    compared = commands.add_parser("solvers")
    compared.add_argument("--first", type=int, default=0)
    compared.add_argument("--count", type=int, default=3)
    compared.add_argument("--seconds", type=float, default=3.0)
    run = commands.add_parser("esp")
    run.add_argument("--seeds", type=int, default=3)
    run.add_argument("--priorities", default="basic")
    arguments = parser.parse_args()
    if arguments.command == "windows":
        windows(arguments.first, arguments.count, arguments.priorities, arguments.work)
    elif arguments.command == "solvers":
        solvers(arguments.first, arguments.count, arguments.seconds)
    else:
        for seed in range(arguments.seeds):
            esp_run(seed, arguments.priorities)


if __name__ == "__main__":
    main()
