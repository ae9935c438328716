"""Dispatching instances: taken from recorded runs, saved, counted, and solved by any model."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

from batdispatch.abilities.solvers.constraint.improvement import improve
from batdispatch.abilities.solvers.constraint.instance import SCALE, Instance
from batdispatch.abilities.solvers.constraint.lists import Plan, Planner, best_of_lists, first_solution
from batdispatch.abilities.solvers.constraint.model_search import search_plan
from batdispatch.abilities.solvers.doors.files import encode
from batdispatch.abilities.solvers.solving import Limits, SolverResult, result_without_solver
from batdispatch.core.capacity.totals import ResourceTotals
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line.ledger import Ledger
from batdispatch.inputs.files import write_lines
from batdispatch.links.retrace import RetracePeer, retrace
from batdispatch.parts.ordering import make_ordering
from batdispatch.parts.ordering.window import in_order
from batdispatch.parts.placement import make_placement
from batdispatch.parts.prediction import Predictions
from batdispatch.results.runs import read_result

#: Names of the ways to solve an instance -> the placement of the list schedules that each begins with. The first two
#: are list schedules alone, `counts` improves one of these, and the last three are searched from scratch.
MODELS = {
    "search-rule": "last-fit",
    "best-list": "scarce",
    "counts": "last-fit",
    "positions": "last-fit",
    "node-wise": "best-fit",
    "pooled": "best-fit",
}
#: Of these, list schedules alone.
WITHOUT_SOLVER = ("search-rule", "best-list")


class Collector(RetracePeer):
    """Keeps every instance of a run with at least `least` jobs that fit; of each, the first `window` jobs.

    The first jobs are those of highest priority by PCP'20, whatever the dispatcher of the run went by.

    Attributes:
        lines: the instances, encoded.
    """

    def __init__(self, prediction: str, *, least: int, window: int, default_walltime: float = math.inf) -> None:
        """Begin a collection.

        Args:
            prediction: where expected run times come from.
            least: fewest jobs of an instance.
            window: most jobs of an instance.
            default_walltime: how long a job without a walltime is expected to run, s.
        """
        super().__init__()
        self.predictions = Predictions(prediction, default_walltime)
        self.ordering = make_ordering("pcp20-priority")
        self.lines: list[bytes] = []
        self._least = least
        self._window = window

    def begin(self, ledger: Ledger) -> None:
        self.predictions.begin(ledger)
        self.ordering.begin(ledger)
        self._pool = ResourceTotals(ledger.space)

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        self.predictions.of(job)

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        super().on_end(ledger, stay)
        self.predictions.ended(stay, ledger.now)

    def look(self, ledger: Ledger) -> None:
        fitting = ledger.space.fitting(ledger.free, list(ledger.queue.values()))
        if len(fitting) >= self._least:
            jobs = in_order(ledger, self.ordering, fitting, self.predictions.of)[: self._window]
            self.lines.append(encode(Instance(ledger, jobs, self.predictions.of, self._pool)))


def solve_with(name: str, instance: Instance, *, work: float, wall: float, seed: int) -> dict[str, Any]:
    """Return facts about one instance solved by one of `MODELS`.

    `delay` is the objective's part that a schedule decides, sum of (start - now) / duration; `seconds` is CPU time. If
    the status is UNKNOWN or INFEASIBLE, the solver found nothing, and there is no delay, gap, slowdown or start.

    Args:
        name: one of `MODELS`.
        instance: the instance.
        work: limit in deterministic seconds.
        wall: the same in seconds of wall-clock time, a safety net.
        seed: of the solver.
    """
    began = time.process_time()
    whole_hosts = instance.ledger.counts_hosts
    seen = instance.as_one_node() if name == "pooled" or whole_hosts else instance
    placement = make_placement(MODELS[name])
    placement.begin(instance.ledger.machine)
    planner = Planner(seen, placement)
    found: SolverResult[Plan]
    if name == "best-list":
        _, plan = best_of_lists(planner, 0)
    else:
        plan = first_solution(planner)
    if name in WITHOUT_SOLVER:
        found = result_without_solver(plan, plan.cost, bound=seen.bound)
    else:
        limits = Limits(work=work, wall=wall, seed=seed)
        if name == "counts":
            found = improve(seen, plan, limits, time.process_time)
        else:
            found = search_plan(name, seen, plan, limits, time.process_time)
    solved = found.solved
    return {
        "jobs": len(instance.jobs),
        "running": len(instance.running),
        "status": found.status,
        "paper_variables": paper_count(name, instance),
        "variables": found.variables,
        "constraints": found.constraints,
        "delay": found.cost / SCALE if solved else None,
        "bound": found.bound / SCALE,
        "gap": found.gap if solved else None,
        "slowdown": instance.slowdown(found.solution.starts) if solved else None,
        "start_now": len(found.solution.now()) if solved else None,
        "seconds": time.process_time() - began,
    }


def paper_count(name: str, instance: Instance) -> int:
    """Return the variables of a model as its paper counts them.

    HCP'19 (`pooled`) has only start times. `counts` and the list schedules have no paper, and get PCP'20's number.
    """
    if name == "pooled":
        return len(instance.jobs)
    return instance.node_wise_variables() if name == "node-wise" else instance.paper_variables()


def save_instances(
    run: Path, output: Path, *, prediction: str | None = None, least: int = 2, window: int = 100, most: int = 1000
) -> tuple[int, int]:
    """Save what a run's dispatcher had to decide, and return how many instances were kept, and how many there were.

    Args:
        run: a run's folder with decisions.jsonl.
        output: file to write, with one line per instance.
        prediction: where expected run times come from; None: as in the run, also for jobs without a walltime.
        least: fewest jobs of an instance.
        window: most jobs of an instance; those of highest priority are kept.
        most: most instances; if there are more, they are chosen evenly along the run.

    Raises:
        InputError: the run is not recorded, or no decision had so many jobs to choose from.
    """
    default_walltime = math.inf
    options = read_result(run).options
    if prediction is None:
        prediction = str(options.get("prediction", "requested"))
        default_walltime = float(options.get("default_walltime", math.inf))
    collector = Collector(prediction, least=least, window=window, default_walltime=default_walltime)
    retrace(run / "decisions.jsonl", collector)
    lines = collector.lines
    if not lines:
        raise InputError(f"no decision had {least} jobs or more to choose from", source=str(run))
    if len(lines) > most:
        lines = [lines[index * len(lines) // most] for index in range(most)]
    write_lines(output, lines)
    return len(lines), len(collector.lines)
