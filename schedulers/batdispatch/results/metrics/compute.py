"""Every metric of a run, each with its formula and unit.

Words in the formulas: job j is submitted at r_j, starts at s_j, ends at f_j, ran for p_j and asked for u_j units;
w_j = f_j - r_j - p_j. Sums and means are over the n jobs that started, however they ended; rejected jobs are only
counted. Percentiles interpolate linearly. A metric without meaning for a run (no job, no user known) is None.

Jobs are logical jobs: a job that was run in several segments (attempts, resizes, restarts) is one job, which starts
with the first segment, ends with the last, and runs as long as all of them together (see `results.lineage`). A job of
one segment has p_j = f_j - s_j and w_j = s_j - r_j. Metrics of the machine sum over the segments i, each of which runs
for p_i and holds h_i hosts, which make up c_i runs of consecutive host ids.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial

import numpy as np

from batdispatch.core.jobs.job import JobState
from batdispatch.core.jobs.job_table import Floats
from batdispatch.results.metrics.measure import measures
from batdispatch.results.metrics.metric import Description, Metric, Value, register
from batdispatch.results.metrics.percentile import median, percentile
from batdispatch.results.metrics.sample import Sample

#: The base's metrics by name, in the order of the report; `metrics` adds those of measures.
METRICS: dict[str, Metric] = {}
#: A job starves if it waits longer than so many times its wait under easy, and longer than so many seconds.
STARVING_FACTOR, STARVING_FLOOR = 3.0, 3600.0
#: What no run has alone: a run of easy stands beside it, see `results.starvation`.
STARVATION = Description(
    "nb_jobs_starved",
    "starved jobs",
    "",
    "lower",
    "Waiting time",
    "Jobs that wait more than 3 times as long as the same jobs under easy, and more than 1 h.",
    "Number of jobs j with w_j > max(3 e_j, 3600 s), where e_j is the wait of job j in the run of easy, in order of "
    "arrival, that stands in the same comparison. Jobs that start in only one of the two runs are left out.",
)


metric = partial(register, METRICS)


def _statistic(values: Floats, statistic: Callable[[Floats], np.float64]) -> Value:
    return float(statistic(values)) if len(values) else None


def _median(values: Floats) -> np.float64:
    return np.float64(median(values))


def _p95(values: Floats) -> np.float64:
    return np.float64(percentile(values, 95))


def _p99(values: Floats) -> np.float64:
    return np.float64(percentile(values, 99))


@cache
def metrics() -> Mapping[str, Metric]:
    """Return every metric by name, in the order of the report: the base's, and those of the measures announced.

    Raises:
        InputError: a measure cannot be loaded.
    """
    order, table = list(METRICS), dict(METRICS)
    for measure in measures():
        place = order.index(measure.after) + 1 if measure.after in order else len(order)
        order[place:place] = measure.metrics
        table |= measure.metrics
    return {name: table[name] for name in order}


def compute(sample: Sample) -> dict[str, Value]:
    """Return every metric of a run by name, apart from groups that a measure leaves out.

    Each named resource and licence has a metric ``utilisation_NAME``.
    """
    unasked = {group for measure in measures() for group in measure.leaves_out(sample)}
    asked = {name: found for name, found in metrics().items() if found.group not in unasked}
    values = {name: found.compute(sample) for name, found in asked.items()}
    named = {**sample.totals, **sample.licences}
    return values | {f"utilisation_{name}": resource_utilisation(sample, name) for name in named}


def describe(name: str) -> Description | None:
    """Return what a metric is, also the utilisation of a named resource, and `STARVATION`; None for an unknown name."""
    if name == STARVATION.name:
        return STARVATION
    prefix, _, resource = name.partition("_")
    if name not in metrics() and prefix == "utilisation" and resource:
        return Metric(
            name,
            f"utilisation of {resource}",
            "",
            "higher",
            METRICS["utilisation"].group,
            f"Share of the machine's {resource} that jobs held.",
            f"sum_i a_i p_i / (C (max_j f_j - min_j r_j)), with a_i the {resource} that segment i held (units times "
            f"demand and what it takes once on every node, a whole node's where it takes whole nodes) and C the "
            f"machine's {resource}.",
            lambda sample: resource_utilisation(sample, resource),
        )
    return metrics().get(name)


def resource_utilisation(sample: Sample, resource: str) -> Value:
    """Return sum_i a_i p_i / (C window) of a named resource or licence; None when what was held of it is not known."""
    total = sample.totals.get(resource, sample.licences.get(resource, 0))
    if resource not in sample.amounts or not total or not sample.window:
        return None
    return float((sample.amounts[resource] * sample.segment_run).sum() / (total * sample.window))


# --- waiting ---------------------------------------------------------------------------------------------------------


@metric("mean wait", unit="s", group="Waiting time")
def mean_waiting_time(sample: Sample) -> Value:
    """Mean time between a job's submission and its start.

    (1/n) sum_j w_j. Batsim's mean_waiting_time where no job is rejected (it also divides by the rejected jobs).
    """
    return _statistic(sample.wait, np.mean)


@metric("median wait", unit="s", group="Waiting time")
def median_waiting_time(sample: Sample) -> Value:
    """Waiting time that half of the jobs do not exceed.

    50th percentile of w_j.
    """
    return _statistic(sample.wait, _median)


@metric("95 % wait", unit="s", group="Waiting time")
def p95_waiting_time(sample: Sample) -> Value:
    """Waiting time that 95 % of the jobs do not exceed.

    95th percentile of w_j.
    """
    return _statistic(sample.wait, _p95)


@metric("99 % wait", unit="s", group="Waiting time")
def p99_waiting_time(sample: Sample) -> Value:
    """Waiting time that 99 % of the jobs do not exceed.

    99th percentile of w_j.
    """
    return _statistic(sample.wait, _p99)


@metric("longest wait", unit="s", group="Waiting time")
def max_waiting_time(sample: Sample) -> Value:
    """Longest waiting time of any job.

    max_j w_j. Batsim's max_waiting_time.
    """
    return _statistic(sample.wait, np.max)


@metric("std of wait", unit="s", group="Waiting time")
def std_waiting_time(sample: Sample) -> Value:
    """How far waiting times spread around their mean.

    Square root of (1/n) sum_j (w_j - mean w)^2.
    """
    return _statistic(sample.wait, np.std)


# --- turnaround ------------------------------------------------------------------------------------------------------


@metric("mean turnaround", unit="s", group="Turnaround time")
def mean_turnaround_time(sample: Sample) -> Value:
    """Mean time between a job's submission and its end.

    (1/n) sum_j (f_j - r_j). Batsim's mean_turnaround_time where no job is rejected.
    """
    return _statistic(sample.turnaround, np.mean)


@metric("median turnaround", unit="s", group="Turnaround time")
def median_turnaround_time(sample: Sample) -> Value:
    """Turnaround time that half of the jobs do not exceed.

    50th percentile of f_j - r_j.
    """
    return _statistic(sample.turnaround, _median)


@metric("max turnaround", unit="s", group="Turnaround time")
def max_turnaround_time(sample: Sample) -> Value:
    """Longest turnaround time of any job.

    max_j (f_j - r_j). Batsim's max_turnaround_time.
    """
    return _statistic(sample.turnaround, np.max)


# --- slowdown --------------------------------------------------------------------------------------------------------


@metric("mean slowdown", group="Slowdown")
def mean_slowdown(sample: Sample) -> Value:
    """Mean of how many times its run time a job spent in the system.

    Mean of (f_j - r_j) / p_j over the jobs with p_j > 0. Batsim's mean_slowdown where no job is rejected. A few very
    short jobs decide it; see the bounded slowdown.
    """
    return _statistic(sample.slowdown, np.mean)


@metric("median slowdown", group="Slowdown")
def median_slowdown(sample: Sample) -> Value:
    """Slowdown that half of the jobs do not exceed.

    50th percentile of (f_j - r_j) / p_j over the jobs with p_j > 0.
    """
    return _statistic(sample.slowdown, _median)


@metric("max slowdown", group="Slowdown")
def max_slowdown(sample: Sample) -> Value:
    """Largest slowdown of any job.

    max_j (f_j - r_j) / p_j over the jobs with p_j > 0. Batsim's max_slowdown.
    """
    return _statistic(sample.slowdown, np.max)


@metric("mean bounded slowdown", group="Slowdown")
def mean_bounded_slowdown(sample: Sample) -> Value:
    """Mean slowdown, with jobs shorter than a threshold counted as long as the threshold.

    Mean of max(1, (w_j + p_j) / max(p_j, tau)), tau = 10 s unless said (Feitelson and Rudolph 1998).
    """
    return _statistic(sample.bounded_slowdown, np.mean)


@metric("median bounded slowdown", group="Slowdown")
def median_bounded_slowdown(sample: Sample) -> Value:
    """Bounded slowdown that half of the jobs do not exceed.

    50th percentile of max(1, (w_j + p_j) / max(p_j, tau)), tau = 10 s unless said.
    """
    return _statistic(sample.bounded_slowdown, _median)


@metric("95 % bounded slowdown", group="Slowdown")
def p95_bounded_slowdown(sample: Sample) -> Value:
    """Bounded slowdown that 95 % of the jobs do not exceed.

    95th percentile of max(1, (w_j + p_j) / max(p_j, tau)), tau = 10 s unless said.
    """
    return _statistic(sample.bounded_slowdown, _p95)


@metric("max bounded slowdown", group="Slowdown")
def max_bounded_slowdown(sample: Sample) -> Value:
    """Largest bounded slowdown of any job.

    max_j max(1, (w_j + p_j) / max(p_j, tau)), tau = 10 s unless said.
    """
    return _statistic(sample.bounded_slowdown, np.max)


@metric("mean per-processor slowdown", group="Slowdown")
def mean_per_processor_slowdown(sample: Sample) -> Value:
    """Mean bounded slowdown per unit, so that waiting weighs less for larger jobs.

    Mean of max(1, (w_j + p_j) / (u_j max(p_j, tau))), tau = 10 s unless said (Zotkin and Keleher 1999).
    """
    bounded = sample.turnaround / (sample.units * np.maximum(sample.run, sample.threshold))
    return _statistic(np.maximum(1.0, bounded), np.mean)


# --- machine ---------------------------------------------------------------------------------------------------------


@metric("utilisation", better="higher", group="Machine")
def utilisation(sample: Sample) -> Value:
    """Share of the compute hosts that jobs held, between the first submission and the last end.

    sum_i h_i p_i / (H (max_j f_j - min_j r_j)), with H the compute hosts. Where nodes are shared by jobs each resource
    has its own utilisation and this one is None.
    """
    if not sample.hosts or not sample.window or sample.totals:
        return None
    return float((sample.held * sample.segment_run).sum() / (sample.hosts * sample.window))


@metric("makespan", unit="s", group="Machine")
def makespan(sample: Sample) -> Value:
    """Time from the first submission to the end of the last job.

    max_j f_j - min_j r_j. Batsim's makespan counts from time 0: it is larger by the first submission time.
    """
    return sample.window if len(sample.finish) else None


@metric("throughput", unit="jobs/h", better="higher", group="Machine")
def throughput(sample: Sample) -> Value:
    """Jobs that ended an hour, in whatever way, rejected ones excluded.

    3600 n / (max_j f_j - min_j r_j).
    """
    return 3600.0 * len(sample.finish) / sample.window if sample.window else None


@metric("fragmentation", group="Machine")
def fragmentation(sample: Sample) -> Value:
    """Mean number of pieces in which a job holds its hosts, where neighbours are one piece.

    (1/m) sum_i c_i over the m segments, with c_i the number of maximal runs of consecutive ids among the hosts that
    segment i held.
    """
    return _statistic(sample.pieces, np.mean)


# --- queue -----------------------------------------------------------------------------------------------------------


@metric("mean queue", unit="jobs", group="Queue")
def mean_queue_length(sample: Sample) -> Value:
    """Number of waiting jobs, averaged over time.

    sum_j w_j / (max_j f_j - min_j r_j).
    """
    return float(sample.wait.sum() / sample.window) if sample.window else None


@metric("max queue", unit="jobs", group="Queue")
def max_queue_length(sample: Sample) -> Value:
    """Most jobs that ever waited at the same time.

    max over t of the number of jobs with r_j <= t < s_j, or between two of their segments at t.
    """
    begin, end = sample.waits
    waited = end > begin
    if not len(sample.start):
        return None
    times = np.concatenate((begin[waited], end[waited]))
    change = np.concatenate((np.ones(waited.sum(), dtype=np.int64), -np.ones(waited.sum(), dtype=np.int64)))
    # At one time those that start leave before those that arrive are counted.
    return int(change[np.lexsort((change, times))].cumsum().max(initial=0))


# --- fairness --------------------------------------------------------------------------------------------------------


def _mean_per_user(sample: Sample) -> Floats | None:
    if sample.users is None:
        return None
    known = sample.users != ""
    if not known.any():
        return None
    names = sample.users[known].tolist()
    place = {name: number for number, name in enumerate(sorted(set(names)))}
    user = np.fromiter(map(place.__getitem__, names), dtype=np.int64, count=len(names))
    return np.asarray(np.bincount(user, weights=sample.bounded_slowdown[known]) / np.bincount(user), dtype=np.float64)


@metric("users", better="", group="Fairness")
def nb_users(sample: Sample) -> Value:
    """Users with a job that started.

    Number of different users; None when the workload names none.
    """
    means = _mean_per_user(sample)
    return None if means is None else len(means)


@metric("fairness over users", better="", group="Fairness")
def user_fairness(sample: Sample) -> Value:
    """How alike users are served, however well: 1 when all fare alike, 1/m when one of m users has all the slowdown.

    Jain's index (sum_i x_i)^2 / (m sum_i x_i^2), with x_i the mean bounded slowdown of the jobs of user i of m.
    """
    means = _mean_per_user(sample)
    return None if means is None else float(means.sum() ** 2 / (len(means) * (means**2).sum()))


@metric("worst user / median user", better="", group="Fairness")
def user_spread(sample: Sample) -> Value:
    """How much worse the worst-served user fares than the median user.

    max_i x_i / median_i x_i, with x_i the mean bounded slowdown of the jobs of user i.
    """
    means = _mean_per_user(sample)
    return None if means is None else float(means.max() / median(means))


# --- jobs ------------------------------------------------------------------------------------------------------------


def _count(sample: Sample, *states: JobState) -> int:
    return sum(sample.states.get(state.value, 0) for state in states)


@metric("jobs", better="", group="Jobs")
def nb_jobs(sample: Sample) -> Value:
    """Jobs of the run, rejected ones included.

    Rows of the jobs file, those of one logical job counted once.
    """
    return sum(sample.states.values())


@metric("successful", better="higher", group="Jobs")
def nb_jobs_success(sample: Sample) -> Value:
    """Jobs that ended by themselves, without a failure.

    Jobs with final state COMPLETED_SUCCESSFULLY; a job's state is its last segment's.
    """
    return _count(sample, JobState.COMPLETED_SUCCESSFULLY)


@metric("killed", group="Jobs")
def nb_jobs_killed(sample: Sample) -> Value:
    """Jobs that were ended at their walltime or by the dispatcher.

    Jobs with final state COMPLETED_WALLTIME_REACHED or COMPLETED_KILLED. (Batsim's nb_jobs_killed counts the failed
    ones too.)
    """
    return _count(sample, JobState.COMPLETED_WALLTIME_REACHED, JobState.COMPLETED_KILLED)


@metric("failed", group="Jobs")
def nb_jobs_failed(sample: Sample) -> Value:
    """Jobs that ended by themselves with a failure.

    Jobs with final state COMPLETED_FAILED.
    """
    return _count(sample, JobState.COMPLETED_FAILED)


@metric("rejected", group="Jobs")
def nb_jobs_rejected(sample: Sample) -> Value:
    """Jobs that the dispatcher refused to run.

    Jobs with final state REJECTED.
    """
    return _count(sample, JobState.REJECTED)


# --- decisions -------------------------------------------------------------------------------------------------------


@metric("decisions", better="", group="Decision time")
def decisions_count(sample: Sample) -> Value:
    """How often the dispatcher was asked to decide.

    Number of decisions that were timed.
    """
    return sample.decisions.get("count")


@metric("total decision time", unit="s", group="Decision time")
def decisions_seconds_total(sample: Sample) -> Value:
    """Wall-clock time that the dispatcher spent deciding.

    Sum over the decisions.
    """
    return sample.decisions.get("seconds_total")


def _decision_percentile(percent: int) -> None:
    def value(sample: Sample) -> Value:
        return sample.decisions.get(f"seconds_p{percent}")

    value.__name__ = f"decisions_seconds_p{percent}"
    value.__doc__ = f"""Wall-clock time that {percent} % of the decisions do not exceed.

    {percent}th percentile over the decisions."""
    metric(f"{percent} % decision", unit="s", group="Decision time")(value)


for _percent in (50, 90, 99):
    _decision_percentile(_percent)


@metric("max decision", unit="s", group="Decision time")
def decisions_seconds_max(sample: Sample) -> Value:
    """Longest wall-clock time of a decision.

    Maximum over the decisions.
    """
    return sample.decisions.get("seconds_max")
