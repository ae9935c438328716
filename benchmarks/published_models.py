"""What the published models find on 200 saved instances, beside list schedules and CP-SAT, as a table.

Usage: ``python benchmarks/published_models.py [--work W] [--each N] [--cp-sat] [--out DIR] [--page PAGE]``, see --help

Instances are taken from runs of easy on generated workloads (`batdispatch generate sessions`, fixed seeds) for CINECA's
Eurora and KIT's ForHLR II: of each machine `each` instances, as evenly as there are over five classes of size (2 to 4,
5 to 9, 10 to 19, 20 to 49, and 50 to 100 jobs that fit). Or they are read from FILEs. With PAGE, the table goes to its
section ``published-models``. With --cp-sat, PCP'20's model is searched on both solvers instead, on CP-SAT with and
without the published rule and a complete hint, and the section is ``positions-on-cp-sat``. Not so on KIT, where what
runs makes thousands of boxes: CP-SAT's presolve, which its deterministic limit does not bound, takes half a minute.

The models that grow with the machine are left out on KIT, which pcp19 refuses. A plan counts as found only if the
search found it: where CP-SAT was told a plan, only if what it returns is better, or proved to be optimal. The gap is
(cost - bound) / cost, for the largest bound that is known: of sums of capacity, of CP-SAT with the model of counts, and
of whichever model proved its optimum; the pooled model has a bound of its own. CPU time is that of one process.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from positions_cp_sat import PositionsCpSat

from batdispatch.abilities.solvers.constraint.improvement import LARGEST, improve
from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Plan, Planner, best_of_lists
from batdispatch.abilities.solvers.constraint.model_search import search_plan
from batdispatch.abilities.solvers.doors.files import read_instances
from batdispatch.abilities.solvers.doors.instances import save_instances
from batdispatch.abilities.solvers.solving import Limits, SolverResult, run
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads.sessions import sessions
from batdispatch.inputs.workloads.writer import write_workload
from batdispatch.parts.placement import make_placement
from batdispatch.report.pages import fill
from batdispatch.runs.run import execute, is_made
from batdispatch.runs.spec import RunSpec
from batdispatch_papers.eurora.machine import eurora
from batdispatch_papers.kit.machine import forhlr2

#: Most jobs of the instances of each class.
CLASSES = (4, 9, 19, 49, 100)
#: Nodes of the largest machine for which models are built that grow with it.
LARGEST_MACHINE = 200
#: Variables of the largest model of positions that is built, as the paper counts them. Beyond that `pcp20` has other
#: models, and a search position by position finds no plan.
MOST_VARIABLES = 2_000
#: Label -> model and its options.
SEARCHES: dict[str, tuple[str, dict[str, str]]] = {
    "hcp19's, nodes pooled": ("pooled", {}),
    "pcp19's": ("node-wise", {}),
    "pcp20's": ("positions", {}),
    "pcp20's, units=different": ("positions", {"units": "different"}),
    "pcp20's, backtracking=starts": ("positions", {"backtracking": "starts"}),
}
#: Label -> options of PCP'20's model on CP-SAT.
ON_CP_SAT: dict[str, dict[str, Any]] = {
    "positions, CP-SAT": {},
    "positions, CP-SAT by the search rule": {"rule": "jobs"},
    "positions, CP-SAT by the search rule, starts first": {"rule": "starts"},
    "positions, CP-SAT told best-list's plan": {"told": True},
    "positions, CP-SAT told best-list's plan, by the search rule": {"told": True, "rule": "jobs"},
}
LISTS, SOLVER = "best-list, no solver", "counts, CP-SAT told the list of pcp20's rule"


class Outcome(msgspec.Struct):
    """What came of an instance: the cost found, or None; a proven lower bound; CPU time in s; whether it is optimal."""

    cost: float | None
    bound: float
    seconds: float
    proved: bool


class Sized(msgspec.Struct):
    """A saved instance of which only the number of jobs matters."""

    jobs: list[msgspec.Raw]


def instances(out: Path, machines: Sequence[str]) -> dict[str, list[Path]]:
    """Return files of instances by machine."""
    found = {}
    for name, content, jobs, seeds in (("Eurora", eurora(memory_mib=16), 600, 4), ("KIT", forhlr2(), 1500, 2)):
        if name not in machines:
            continue
        folder = out / name.lower()
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "machine.xml"
        path.write_bytes(content)
        platform = read_platform(path)
        found[name] = []
        for seed in range(seeds):
            workload = folder / f"{name.lower()}-{seed}.json"
            write_workload(sessions(np.random.default_rng(seed), platform.machine, jobs=jobs, load=0.9), workload)
            spec = RunSpec(
                platform=str(path),
                workload=str(workload),
                dispatcher="easy",
                options={"prediction": "oracle"},
                decision_clock="cpu",
            )
            run_folder = out / "runs" / workload.stem
            if not is_made(spec, run_folder):
                execute(spec, run_folder)
            found[name].append(folder / f"instances-{seed}.jsonl")
            save_instances(run_folder, found[name][-1], most=10**9)
    return found


def even(files: Sequence[Path], count: int, chosen: Path) -> list[Instance]:
    """Return so many instances, as evenly over the classes of size as possible, and along the runs in each class."""
    classes: list[list[bytes]] = [[] for _ in CLASSES]
    for line in (line for file in files for line in file.read_bytes().splitlines() if line.strip()):
        jobs = len(msgspec.json.decode(line, type=Sized).jobs)
        classes[next(index for index, most in enumerate(CLASSES) if jobs <= most)].append(line)
    lines: list[bytes] = []
    for done, members in enumerate(sorted(classes, key=len)):
        share = min((count - len(lines)) // (len(CLASSES) - done), len(members))
        lines += [members[index * len(members) // share] for index in range(share)]
    chosen.parent.mkdir(parents=True, exist_ok=True)
    chosen.write_bytes(b"\n".join(lines))
    return [instance for _, instance in read_instances(chosen)]


def outcomes(instance: Instance, limits: Limits, only: Sequence[str] | None = None) -> dict[str, Outcome]:
    """Return what every way to solve an instance makes of it."""
    found: dict[str, Outcome] = {}
    bounds = {False: float(instance.bound), True: 0.0}
    forms = (False, True) if only is None or any("pooled" in name for name in only) else (False,)
    for pooled in forms:
        seen = instance.as_one_node() if pooled else instance
        bounds[pooled] = float(seen.bound)
        placement = make_placement("last-fit")
        placement.begin(instance.ledger.machine)
        began = time.process_time()
        first, best = best_of_lists(Planner(seen, placement), 0)
        label = f"{LISTS}{', nodes pooled' if pooled else ''}"
        found[label] = Outcome(best.cost, seen.bound, time.process_time() - began, best.cost <= seen.bound)
        large = instance.ledger.machine.size > LARGEST_MACHINE
        if not pooled and not large and only is None:
            began = time.process_time()
            told = improve(seen, first, limits, time.process_time)
            seconds = time.process_time() - began
            found[SOLVER] = Outcome(_if_found(told, told=True), told.bound, seconds, told.status == "OPTIMAL")
        for name, (model, options) in SEARCHES.items():
            skipped = (only is not None and name not in only) or (model == "node-wise" and large)
            if (model == "pooled") != pooled or skipped:
                continue
            began = time.process_time()
            if model == "positions" and instance.paper_variables() > MOST_VARIABLES:
                found[name] = Outcome(None, 0.0, 0.0, False)
                continue
            plan = search_plan(model, seen, first, limits, time.process_time, **options)
            proved = plan.status == "OPTIMAL"
            # Boxes need consecutive positions: what is best for them bounds no other model.
            bound = plan.cost if proved and model != "positions" else 0.0
            found[name] = Outcome(_if_found(plan), bound, time.process_time() - began, proved)
        for name, options in ON_CP_SAT.items():
            if not pooled and not large and only is not None and name in only:
                found[name] = on_cp_sat(seen, best if "told" in options else first, limits, options)
    for pooled in forms:
        mine = {name: one for name, one in found.items() if ("pooled" in name) == pooled}
        bounds[pooled] = max(bounds[pooled], *(one.bound for one in mine.values()))
        for one in mine.values():
            one.bound = bounds[pooled]
    return found


def on_cp_sat(instance: Instance, plan: Plan, limits: Limits, options: dict[str, Any]) -> Outcome:
    """Return what CP-SAT makes of PCP'20's model."""
    began = time.process_time()
    too_large = sum(instance.weights.tolist()) * instance.horizon() > LARGEST
    if too_large or instance.paper_variables() > MOST_VARIABLES:
        return Outcome(None, 0.0, 0.0, False)
    found = run(
        lambda: PositionsCpSat(instance, plan, **options),
        (plan, plan.cost),
        bound=instance.bound,
        limits=limits,
        clock=time.process_time,
        trust=False,
    )
    cost = _if_found(found, told="told" in options)
    return Outcome(cost, 0.0, time.process_time() - began, found.status == "OPTIMAL")


def _if_found(found: SolverResult[Plan], *, told: bool = False) -> float | None:
    """Return a plan's cost; None if the solver found none, or returned what it was told, and proved nothing."""
    echoed = told and found.cost >= found.first and found.status != "OPTIMAL"
    return found.cost if found.solved and not echoed else None


def table(machine: str, solved: Sequence[dict[str, Outcome]]) -> list[str]:
    """Return the lines of a machine."""
    lines = []
    for name in solved[0]:
        rows = [one[name] for one in solved]
        lists = [one[f"{LISTS}, nodes pooled" if "pooled" in name else LISTS] for one in solved]
        pairs = [(row.cost, other.cost) for row, other in zip(rows, lists, strict=True) if row.cost is not None]
        gaps = [(row.cost - row.bound) / row.cost if row.cost else 0.0 for row in rows if row.cost is not None]
        assert all(gap >= -1e-9 for gap in gaps), f"{name}: a cost below a bound"
        seconds = 1000 * np.array([row.seconds for row in rows])
        shares = [np.mean([row.cost is not None for row in rows]), np.mean([row.proved for row in rows])]
        shares += [np.mean([mine < other for mine, other in pairs]), np.mean([mine > other for mine, other in pairs])]
        cells = [f"{100 * share:.0f} %" for share in shares]
        cells += [f"{np.mean(gaps):.3f}", f"{np.median(seconds):,.0f}", f"{seconds.mean():,.0f}"]
        lines.append(f"| {machine}: {name} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=float, default=0.2)
    parser.add_argument("--each", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("runs/published-models"))
    parser.add_argument("--machines", default="Eurora,KIT", help="generate for these (%(default)s)")
    parser.add_argument("--instances", type=Path, nargs="*", default=[])
    parser.add_argument("--only", nargs="*", help="search only these, as the table calls them")
    parser.add_argument("--cp-sat", action="store_true", help="search only PCP'20's model, on both solvers")
    parser.add_argument("--page", type=Path)
    asked = parser.parse_args()
    only = ["pcp20's", *ON_CP_SAT] if asked.cp_sat else asked.only
    if asked.instances:
        files = {path.stem: [path] for path in asked.instances}
    else:
        files = instances(asked.out, asked.machines.split(","))
    found = {name: even(mine, asked.each, asked.out / f"{name}.jsonl") for name, mine in files.items()}
    header = "|  | plan found | proved | better than best-list | worse | gap | CPU ms, median | mean |"
    lines, limits = [header, "|---|" + "---:|" * 7], Limits(work=asked.work, wall=3600.0)
    for machine, chosen in found.items():
        solved = []
        for number, instance in enumerate(chosen):
            solved.append(outcomes(instance, limits, only))
            print(f"{machine}: {number + 1} of {len(chosen)}", file=sys.stderr, flush=True)
        sizes = [sum(len(one.jobs) <= most for one in chosen) for most in CLASSES]
        counts = ", ".join(
            f"{number} of up to {most}" for number, most in zip(np.diff([0, *sizes]).tolist(), CLASSES, strict=True)
        )
        print(f"{machine}: {len(chosen)} instances, by jobs: {counts}", file=sys.stderr)
        lines += table(machine, solved)
    text = "\n".join(lines) + f"\n\n`work={asked.work:g}`, {sum(map(len, found.values()))} instances."
    print(text)
    if asked.page:
        fill(asked.page, {"positions-on-cp-sat" if asked.cp_sat else "published-models": text})


if __name__ == "__main__":
    main()
