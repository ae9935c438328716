"""What stands in the tables of a comparison: values in common units, the best of them, and what differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from batdispatch.core.line.hindsight import name_list
from batdispatch.results.metrics.attempts import DESCRIPTIONS, SCALES, attempt_metrics
from batdispatch.results.metrics.compute import STARVATION, describe
from batdispatch.results.metrics.measure import remarks_on
from batdispatch.results.metrics.rows import Row, metric_row
from batdispatch.results.numbers import amount, number
from batdispatch.results.runs import Run
from batdispatch.results.starvation import easy_among

#: The metrics of the table one sees first; the others follow further down.
KEY_METRICS = (
    "mean_waiting_time",
    "p99_waiting_time",
    "max_waiting_time",
    STARVATION.name,
    "mean_bounded_slowdown",
    "utilisation",
    "makespan",
    "energy",
    "peak_power",
    "user_fairness",
    "nb_jobs_killed",
    "nb_jobs_rejected",
)


@dataclass(frozen=True)
class Fact:
    """An input of the runs, with its value for each run as text."""

    name: str
    values: Sequence[str]

    @property
    def same(self) -> bool:
        """Whether all runs have the same value."""
        return len(set(self.values)) <= 1


def metric_rows(runs: Sequence[Run], *, only: Sequence[str] | None = None) -> list[Row]:
    """Return the metrics that have a value for some run, in the order of the registry or of `only`."""
    names = list(dict.fromkeys(name for run in runs for name in run.metrics))
    if only is not None:
        # Utilisations of named resources stand where the hosts' would.
        named = [name for name in names if name.startswith("utilisation_")]
        names = [each for name in only for each in ([name, *named] if name == "utilisation" else [name])]
    rows = []
    for name in names:
        metric = describe(name)
        values = [run.metrics.get(name) for run in runs]
        # A column of zeros such as the rejected jobs' is no news at first sight.
        idle = only is not None and name.startswith("nb_jobs_") and not any(values)
        if metric is not None and not idle and any(value is not None for value in values):
            rows.append(metric_row(metric, values))
    return rows


def attempt_rows(runs: Sequence[Run]) -> list[Row]:
    """Return the metrics of attempts as rows; none if no run has attempts.

    They do not speak of runs in which jobs were resized: a segment that a resize ended has wasted nothing.
    """
    resized = [run.lineage.resizes(run.columns) > 0 for run in runs]
    if not any(run.lineage.joined and not other for run, other in zip(runs, resized, strict=True)):
        return []
    metrics = [
        {} if other else attempt_metrics(run.columns, run.hosts, run.lineage)
        for run, other in zip(runs, resized, strict=True)
    ]
    rows = []
    for name, description in DESCRIPTIONS.items():
        values = [each.get(name) for each in metrics]
        if name in ("saved_work", "checkpoint_work") and not any(values):
            continue
        scale = SCALES.get(description.unit, 1)
        rows.append(metric_row(description, [None if value is None else value / scale for value in values]))
    return rows


def best_price(runs: Sequence[Run], best: str) -> str:
    """Say where those who wait longest fare worse under a run than under easy; empty where they do not.

    Args:
        runs: of a comparison, with what they have beside easy.
        best: label of the run.
    """
    easy = easy_among(runs)
    run = next((one for one in runs if one.label == best), None)
    if easy is None or run is None:
        return ""
    found = []
    for name in ("max_waiting_time", "p99_waiting_time"):
        here, there, known = run.metrics.get(name), easy.metrics.get(name), describe(name)
        if known is not None and here and there and round(here / there, 2) > 1:
            found.append(f"{here / there:.2f} times the {known.label} of {easy.label}")
    if starved := run.metrics.get(STARVATION.name):
        found.append(f"{number(starved)} {STARVATION.label}")
    return name_list(found) if found else ""


def group_rows(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return rows by their metric's group, groups in order of first appearance."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.metric.group, []).append(row)
    return groups


def inputs(runs: Sequence[Run]) -> list[Fact]:
    """Return what went into the runs: dispatcher, options, seed, versions, platform and workload with their digests."""

    def fact(name: str, value: Callable[[Run], object]) -> Fact:
        found = [value(run) for run in runs]
        return Fact(name, ["" if each is None else str(each) for each in found])

    options = list(dict.fromkeys(key for run in runs for key in run.result.options))
    facts = [
        fact("dispatcher", lambda run: run.result.dispatcher),
        *(Fact(f"option {key}", [str(run.result.options.get(key, "")) for run in runs]) for key in options),
        fact("seed", lambda run: run.result.seed),
        fact("decision time", lambda run: run.result.decision_time),
        fact(
            "engine", lambda run: f"{run.result.engine.get('name', '')} {run.result.engine.get('version', '')}".strip()
        ),
        fact("batdispatch", lambda run: run.result.batdispatch),
        fact("platform", lambda run: run.result.platform.path),
        fact("platform SHA-256", lambda run: run.result.platform.sha256),
        fact("compute hosts", lambda run: run.hosts),
        fact(
            "resources",
            lambda run: ", ".join(amount(value, name) for name, value in run.result.platform.resources.items()),
        ),
        fact("master host", lambda run: run.result.platform.master),
        fact("workload", lambda run: run.result.workload.path),
        fact("workload SHA-256", lambda run: run.result.workload.sha256),
        fact("jobs", lambda run: len(run.logical)),
    ]
    return [each for each in facts if any(each.values)]


def simulations(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that are simulations: not the log that stands beside them, unless it stands alone."""
    return [run for run in runs if not run.result.is_log] or list(runs)


def warnings(every: Sequence[Run]) -> list[str]:
    """Return why the runs may not be comparable or trustworthy, one sentence each."""
    runs = simulations(every)
    found = [
        f"{run.label} is no simulation: it is what the log says of these jobs." for run in every if run not in runs
    ]
    by_name = {fact.name: fact for fact in inputs(runs)}

    def differs(*names: str) -> bool:
        return any(name in by_name and not by_name[name].same for name in names)

    if differs("platform SHA-256", "compute hosts", "resources", "master host"):
        found.append(
            "The runs were made on different machines. Waits and slowdowns of the same jobs compare; utilisation is a "
            "share of each run's own machine."
        )
    if differs("workload SHA-256") or not same_jobs(runs):
        found.append("The runs served different jobs: their metrics do not compare.")
    if differs("engine"):
        found.append("The runs were made with different engines or versions of one.")
    if differs("decision time"):
        found.append("The runs count decision time differently: one dispatcher pays for thinking, another does not.")
    if differs("batdispatch"):
        found.append("The runs were made with different versions of batdispatch.")
    if differs("seed"):
        found.append("The runs were made with different seeds.")
    found += remarks_on(run.result for run in runs)
    for run in runs:
        if run.result.fallbacks:
            found.append(f"{run.label}: a solver gave up {run.result.fallbacks} times and a simpler plan was used.")
    found += [f"{run.label}: {told}." for run in every for told in run.result.warnings]
    without = [run.label for run in runs if not run.result.batdispatch]
    if without and len(runs) > 1:
        found.append(f"No result.json says what went into {', '.join(without)}: whether they compare is not known.")
    return found


def same_jobs(runs: Sequence[Run]) -> bool:
    """Whether all runs have the same logical jobs: their ids, submission times and sizes."""

    def key(run: Run) -> tuple[object, ...]:
        jobs = run.logical
        order = np.argsort(jobs.submission_time, kind="stable")
        order = order[np.argsort(jobs.job_id[order], kind="stable")]
        times = np.round(jobs.submission_time[order], 3)
        sizes = jobs.requested_number_of_resources[order]
        return tuple(jobs.job_id[order]), times.tobytes(), sizes.tobytes()

    first = key(runs[0])
    return all(key(run) == first for run in runs[1:])
