"""What a report shows of jobs that were run in several attempts."""

from __future__ import annotations

from collections.abc import Sequence

from batdispatch.results.metrics.attempts import attempt_metrics
from batdispatch.results.metrics.compute import Description
from batdispatch.results.metrics.rows import Row, metric_row
from batdispatch.results.runs import Run

#: Of which `attempt_rows` makes rows: label, unit of the table, which is better, summary, formula.
_WORDS = {
    "effective_utilisation": (
        "effective utilisation",
        "%",
        "higher",
        "Share of the machine's time that did useful work.",
        "useful work / (hosts (max_j f_j - min_j r_j))",
    ),
    "mean_response_time": (
        "mean response time",
        "s",
        "lower",
        "Mean time from a job's submission to the end of its last attempt.",
        "mean over jobs of max f_j - min r_j over the job's attempts j",
    ),
    "useful_work": (
        "useful work",
        "unit h",
        "",
        "What the attempts that succeeded held.",
        "sum_j u_j p_j over the attempts that succeeded",
    ),
    "wasted_work": (
        "wasted work",
        "unit h",
        "lower",
        "What the attempts that did not succeed held.",
        "sum_j u_j p_j over the attempts that did not succeed",
    ),
    "saved_work": (
        "work saved",
        "unit h",
        "",
        "What checkpoints saved of the attempts that were stopped, as part of the useful work.",
        "sum_j u_j s_j over the attempts that succeeded, with s_j the run time saved before",
    ),
    "checkpoint_work": (
        "checkpointing",
        "unit h",
        "lower",
        "What writing and reading checkpoints took, as part of the wasted work.",
        "sum_j u_j (p_j - the run time that attempt j added)",
    ),
    "failures_per_job": (
        "failures per job",
        "",
        "lower",
        "How often a job was stopped before it was done, failed speculations included.",
        "attempts that did not succeed / jobs",
    ),
    "jobs_succeeded": ("jobs that succeeded", "", "higher", "Jobs of which an attempt succeeded.", "A count."),
}
#: Unit of the table -> how many of a metric's own unit make one.
_SCALES = {"%": 0.01, "unit h": 3600.0}


def attempt_rows(runs: Sequence[Run]) -> list[Row]:
    """Return `attempt_metrics` of runs as rows of a comparison; none where no run has attempts.

    They do not speak of runs in which jobs were resized: a segment that a resize ended has wasted nothing.
    """
    resized = [run.lineage.resizes(run.columns) > 0 for run in runs]
    if not any(run.lineage.joined and not other for run, other in zip(runs, resized, strict=True)):
        return []
    found = [
        {} if other else attempt_metrics(run.columns, run.hosts, run.lineage)
        for run, other in zip(runs, resized, strict=True)
    ]
    listed = []
    for name, (label, unit, better, summary, formula) in _WORDS.items():
        values = [each.get(name) for each in found]
        if name in ("saved_work", "checkpoint_work") and not any(values):
            continue
        scaled = [None if value is None else value / _SCALES.get(unit, 1) for value in values]
        group = "Jobs over all their attempts"
        listed.append(metric_row(Description(f"attempts_{name}", label, unit, better, group, summary, formula), scaled))
    return listed
