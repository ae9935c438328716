"""The metrics of a run, worked out from its rows by the formulas of `docs/metrics.md`."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.verify.audit.case import Case
from batdispatch.abilities.verify.audit.findings import FAILED, KILLED, REJECTED, STATES, SUCCESS, WALLTIME, part
from batdispatch.abilities.verify.audit.hosts import Floats
from batdispatch.abilities.verify.audit.power_states import given_series, joules_by_state, options_of_powered, sums_of
from batdispatch.abilities.verify.audit.request import holdings

Value = float | int | None
#: Threshold of the bounded slowdown, s.
_TAU = 10.0
#: Metrics of the network, which are measured again by the code that wrote them.
_MEASURES = ("compactness", "proximity", "locality_factor", "shared_links", "shared_time")
NETWORK = (
    *(f"{mean}_{name}" for name in _MEASURES for mean in ("mean", "weighted")),
    *("free_fragmentation", "line_fragmentation"),
)
#: Metrics of `powered` that need its price, its cap or its carbon.
_OF_SERIES = ("energy_cost", "energy_carbon", "time_above_cap")
_DECISIONS = ("count", "seconds_total", "seconds_p50", "seconds_p90", "seconds_p99", "seconds_max")


class _Jobs:
    """The logical jobs that started, float64 [job], as `docs/metrics.md` writes them.

    Attributes:
        first: row of the first segment, int64 [job].
        window: from the first submission to the last end, s.
        columns: what statistics are made of, by the name that these give it; of a slowdown, only jobs that took time.
    """

    def __init__(self, case: Case) -> None:
        rows, root, ran = case.rows, case.lineage.root, case.rows.ran
        self.first = first = np.flatnonzero((case.lineage.parent < 0) & ~np.isnan(case.began))
        self.count = len(first)
        finish = np.full(len(rows), np.nan)
        np.fmax.at(finish, root[ran], rows.finish[ran])
        run = np.bincount(root[ran], weights=case.run_time[ran], minlength=len(rows))[first]
        segments = np.bincount(root, minlength=len(rows))[first]
        turnaround, some, long = finish[first] - rows.submission[first], run > 0, np.maximum(run, _TAU)
        self.wait = np.where(segments == 1, case.began[first] - rows.submission[first], turnaround - run)
        self.bounded = np.maximum(1.0, turnaround / long)
        self.window = float(finish[first].max() - rows.submission.min()) if self.count else 0.0
        self.columns = {
            "waiting_time": self.wait,
            "turnaround_time": turnaround,
            "slowdown": turnaround[some] / run[some],
            "bounded_slowdown": self.bounded,
            "per_processor_slowdown": np.maximum(1.0, turnaround / (rows.size[first] * long)),
        }


_Statistic = Callable[[Floats], Any]
_STATISTICS: dict[str, _Statistic] = {"mean": np.mean, "median": np.median, "max": np.max, "std": np.std}
_STATISTICS |= {"p95": partial(np.percentile, q=95), "p99": partial(np.percentile, q=99)}
#: Column of `_Jobs` -> the statistics of it that are metrics.
_METRICS = {
    "waiting_time": ("mean", "median", "p95", "p99", "max", "std"),
    "turnaround_time": ("mean", "median", "max"),
    "slowdown": ("mean", "median", "max"),
    "bounded_slowdown": ("mean", "median", "p95", "max"),
    "per_processor_slowdown": ("mean",),
}


def metrics_of(case: Case) -> dict[str, Value]:
    """Return every metric of a run but those of the network; without meaning for the run, it is None."""
    jobs, ran = _Jobs(case), case.rows.ran
    found: dict[str, Value] = {
        f"{name}_{column}": _statistic(jobs.columns[column], _STATISTICS[name])
        for column, names in _METRICS.items()
        for name in names
    }
    pieces = case.rows.hosts.pieces()[ran]
    found |= {
        "makespan": jobs.window if jobs.count else None,
        "throughput": 3600.0 * jobs.count / jobs.window if jobs.window else None,
        "fragmentation": _statistic(pieces.astype(np.float64), np.mean),
        "mean_queue_length": float(jobs.wait.sum()) / jobs.window if jobs.window else None,
        "max_queue_length": _longest_queue(case) if jobs.count else None,
    }
    stated = part(case.said, "decisions")
    found |= {f"decisions_{name}": stated.get(name) for name in _DECISIONS}
    return found | _utilisations(case, jobs.window) | _fairness(case, jobs) | _states(case) | _power(case, jobs.window)


def _power(case: Case, window: float) -> dict[str, Value]:
    """Return what consumed_energy.csv, schedule.csv and the rows say of power; nothing without these files."""
    path, sums = case.folder / "consumed_energy.csv", sums_of(case)
    if not path.is_file() or not sums:
        return {}
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    # From the joules, as the metric: of a short time, these tell the watts with fewer digits than the column of watts.
    moments = {float(row["time"]): float(row["energy"]) for row in rows}.items()
    mean = sorted(((last - first) / (end - begin), end - begin) for (begin, first), (end, last) in pairwise(moments))
    rest, most = 0.95 * sum(seconds for _, seconds in mean), 0.0
    for watts, seconds in mean:
        rest, most = rest - seconds, watts
        if rest <= 1e-6:
            break
    joules, size = float(sums["consumed_joules"]), case.machine.size
    ran, exclusive = case.rows.ran, case.machine.exclusive
    used = float(case.rows.energy[ran].sum()) / 3.6e6
    first = np.flatnonzero((case.lineage.parent < 0) & ~np.isnan(case.began))
    run = np.bincount(case.lineage.root[ran], weights=case.run_time[ran], minlength=len(ran))[first]
    work = float((case.rows.size[first] * run).sum())
    by_state = {f"energy_{doing}": burnt / 3.6e6 for doing, burnt in joules_by_state(case).items()}
    idle = joules / 3.6e6 - used - sum(by_state.values())
    return {
        **by_state,
        **({"energy_idle": idle if exclusive else None} if by_state else {}),
        "energy": joules / 3.6e6,
        "energy_of_jobs": used if exclusive else None,
        "energy_without_jobs": joules / 3.6e6 - used if exclusive else None,
        "energy_per_unit_hour": joules / work if work else None,
        "peak_power": (mean[-1][0] if mean else 0.0) / 1000,
        "p95_power": most / 1000,
        "time_asleep": 100 * float(sums["time_sleeping"]) / (size * window) if window else None,
        "switches_per_host_day": 86400 * float(sums["nb_machine_switches"]) / (size * window) if window else None,
        **_price_and_cap(case, [(float(row["time"]), float(row["energy"])) for row in rows]),
    }


def _price_and_cap(case: Case, rows: list[tuple[float, float]]) -> dict[str, Value]:
    """Return what energy cost and emitted, and the time above the cap; as noted, if a series is not at hand."""
    options = options_of_powered(case)
    stated = {name: options.get(name, "none") for name in ("price", "cap", "carbon")}
    if {*stated.values()} == {"none"}:
        return {}
    series = {name: given_series(case, text) for name, text in stated.items() if text != "none"}
    missing, noted = [name for name in series if series[name] is None], part(case.said, "metrics")
    if missing:
        case.skipped["cost and cap"] = f"{stated[missing[0]]} is not at hand, or has no such form"
        return {name: noted[name] for name in _OF_SERIES if name in noted}
    found: dict[str, Value] = dict.fromkeys(_OF_SERIES)
    cost = carbon = above = whole = 0.0
    for (begin, before), (end, after) in pairwise(rows):
        if end <= begin:
            continue
        watts = (after - before) / (end - begin)
        whole += end - begin
        cost += sum(watts * value * length for value, length in _held(series.get("price") or [], begin, end))
        carbon += sum(watts * value * length for value, length in _held(series.get("carbon") or [], begin, end))
        most = [value for value, _ in _held(series.get("cap") or [], begin, end)]
        # Joules have six digits.
        above += end - begin if most and watts > min(most) * (1 + 1e-6) + 2e-6 / (end - begin) else 0.0
    if "price" in series:
        found["energy_cost"] = cost / 3.6e6
    if "carbon" in series:
        found["energy_carbon"] = carbon / 3.6e6
    if "cap" in series and whole:
        found["time_above_cap"] = 100 * above / whole
    return found


def _held(steps: list[tuple[float, float]], begin: float, end: float) -> list[tuple[float, float]]:
    """Return each value that holds between two times, and for how many seconds; the first one holds before, too."""
    changes = [moment for moment, _ in steps[1:]]
    since, until = [-math.inf, *changes][: len(steps)], [*changes, math.inf][: len(steps)]
    parts = [
        (value, min(after, end) - max(before, begin))
        for (_, value), before, after in zip(steps, since, until, strict=True)
    ]
    return [(value, length) for value, length in parts if length > 0]


def _statistic(values: Floats, statistic: _Statistic) -> Value:
    return float(statistic(values)) if len(values) else None


def _utilisations(case: Case, window: float) -> dict[str, Value]:
    """Return the shares of hosts, resources and licences that were held, sum_i a_i p_i / (C window)."""
    ran = np.flatnonzero(case.rows.ran)
    run, machine = np.where(case.rows.ran, case.run_time, 0.0), case.machine
    hosts = float((case.rows.hosts.sizes[ran] * run[ran]).sum())
    found: dict[str, Value] = {"utilisation": hosts / (machine.size * window) if window and machine.exclusive else None}
    if not machine.exclusive:
        held = np.zeros(len(machine.resources))
        for slots in holdings(machine, case.asking, case.rows.hosts, case.units.slots):
            held += (slots.amount * run[slots.row, None]).sum(axis=0)
        totals = machine.capacity.sum(axis=0).tolist()
        for name, amount, total in zip(machine.resources, held.tolist(), totals, strict=True):
            found[f"utilisation_{name}"] = amount / (total * window) if window and total else None
    for name, total in machine.licences.items():
        amount = sum(job.licences.get(name, 0) * float(run[row]) for row, job in case.that_ran())
        found[f"utilisation_{name}"] = amount / (total * window) if window and total else None
    return found


def _longest_queue(case: Case) -> int:
    """Return the most jobs that waited at a time: before their first start, or between two of their segments."""
    ran, root, rows = np.flatnonzero(case.rows.ran), case.lineage.root, case.rows
    order = ran[np.lexsort((rows.start[ran], root[ran]))]
    begin = rows.submission[root[order]]
    again = np.flatnonzero(root[order][1:] == root[order][:-1]) + 1
    begin[again] = rows.finish[order[again - 1]]
    waited = rows.start[order] > begin
    begin, end = begin[waited], rows.start[order][waited]
    change = np.repeat([1, -1], len(begin))
    # At one time those that start leave before those that arrive are counted.
    return int(change[np.lexsort((change, np.concatenate((begin, end))))].cumsum().max(initial=0))


def _fairness(case: Case, jobs: _Jobs) -> dict[str, Value]:
    """Return how alike the mean bounded slowdowns of the users are; without users, nothing."""
    names: tuple[str, ...] = ("nb_users", "user_fairness", "user_spread")
    of_jobs = [case.asking[row] for row in jobs.first.tolist()]
    users: NDArray[Any] = np.array(["" if job is None else str(job.user) for job in of_jobs], dtype=object)
    known = users != ""
    if not known.any():
        return dict.fromkeys(names)
    _, user = np.unique(users[known].astype(str), return_inverse=True)
    means = np.bincount(user, weights=jobs.bounded[known]) / np.bincount(user)
    jain = float(means.sum() ** 2 / (len(means) * (means**2).sum()))
    return dict(zip(names, (len(means), jain, float(means.max() / np.median(means))), strict=True))


def _states(case: Case) -> dict[str, Value]:
    """Return how many logical jobs ended how: in the state of the segment that ended last."""
    rows, root = case.rows, case.lineage.root
    ran, last = np.flatnonzero(rows.ran), np.arange(len(rows))
    order = ran[np.lexsort((rows.start[ran], rows.finish[ran]))]
    # Of several segments, numpy keeps the one that is assigned last.
    last[root[order]] = order
    states = rows.state[last[case.lineage.parent < 0]]
    counts = dict(zip(STATES, np.bincount(states, minlength=len(STATES)).tolist(), strict=True))
    return {
        "nb_jobs": len(states),
        "nb_jobs_success": counts[SUCCESS],
        "nb_jobs_killed": counts[WALLTIME] + counts[KILLED],
        "nb_jobs_failed": counts[FAILED],
        "nb_jobs_rejected": counts[REJECTED],
    }


def attempts_of(case: Case) -> dict[str, Value]:
    """Return what the attempts of the jobs cost, by the formulas of `docs/stochastic.md`."""
    rows, lineage, ran = case.rows, case.lineage, np.flatnonzero(case.rows.ran)
    if not len(ran):
        return {"jobs": 0}
    jobs, good, units = _Jobs(case), rows.success[ran], rows.size[ran].astype(np.float64)
    root = lineage.root[ran]
    first, last = np.full((2, len(rows)), np.nan)
    np.fmin.at(first, root, rows.submission[ran])
    np.fmax.at(last, root, rows.finish[ran])
    some = np.unique(root)
    window = float(np.nanmax(last) - np.nanmin(first))
    work = case.run_time[ran] * units
    saved, read = float((units * lineage.saved[ran])[good].sum()), units * lineage.restart[ran]
    useful = float(work[good].sum()) + saved - float(read[good].sum())
    more: dict[str, Value] = {}
    if lineage.saved.any():
        more = {"saved_work": saved, "checkpoint_work": float(read.sum()) + _written(case)}
    return {
        "jobs": jobs.count,
        "jobs_succeeded": len(np.unique(root[good])),
        "useful_work": useful,
        "wasted_work": float(work.sum()) - useful,
        **more,
        "failures_per_job": float((~good).sum()) / len(some),
        "mean_response_time": float((last[some] - first[some]).mean()),
        "effective_utilisation": useful / (case.machine.size * window) if window else None,
    }


def _written(case: Case) -> float:
    """Return the unit-seconds that writing checkpoints took: what was held, but neither read nor added."""
    lineage = case.lineage
    row = np.flatnonzero((lineage.parent >= 0) & (lineage.saved > lineage.saved[lineage.parent]))
    before = lineage.parent[row]
    added = lineage.saved[row] - lineage.saved[before] + lineage.restart[before]
    return float((case.rows.size[before] * (case.run_time[before] - added)).sum())
