"""What the terminal and the page say of a workload in words and numbers."""

from __future__ import annotations

from typing import Any

from batdispatch.report.workload.traits import QUANTILES, Traits
from batdispatch.report.workload.waits import wait_groups
from batdispatch.results.numbers import duration, number

HOUR = 3600.0
#: Most users listed.
MOST_LISTED = 10
#: Headings of the quantiles and the mean.
HEADINGS = ("least", "10 %", "median", "90 %", "99 %", "most", "mean")


def facts(traits: Traits) -> list[tuple[str, str]]:
    """Return what there is to know first, as names and texts."""
    workload = traits.workload
    users = traits.users()
    found = [("jobs", f"{len(workload.jobs):,}"), ("from the first submission to the last", duration(traits.span))]
    if traits.capacity:
        found.append(("machine", f"{traits.capacity:,.0f} {traits.unit}s"))
    load = traits.offered_load
    if load is not None:
        found.append(("offered load", f"{load:.1%}"))
    if users:
        found.append(("users", f"{len(users):,}; half of the work is of {traits.users_of_half():,}"))
    if len(traits.accuracy):
        over = float((traits.accuracy > 1).mean())
        found.append(("jobs with a walltime", f"{traits.limited.mean():.1%}; {over:.1%} of these ran longer than it"))
    estimates = traits.estimates()
    if estimates is not None:
        shares = f"{estimates.over:.1%} of these are over-estimated, {estimates.under:.1%} under-estimated"
        found.append(("walltimes", shares))
        found.append(("over-estimated space", f"{number(estimates.mean_space / HOUR)} {traits.unit}-hours on average"))
        if estimates.hours_a_day is not None:
            hours = f"{number(estimates.hours_a_day)} hours a day of the whole machine, if nothing fills it"
            found.append(("unused backfilling space", hours))
    waiting = sum(bool(job.request.dependencies) for job in workload.jobs)
    if waiting:
        found.append(("jobs with dependencies", f"{waiting:,}"))
    found += [(f"jobs that ask for {name}", f"{share:.1%}") for name, share in traits.demands().items()]
    return found


def quantile_rows(traits: Traits) -> list[tuple[str, list[str]]]:
    """Return name and texts, under `HEADINGS`, of each distribution."""
    rows = []
    for name, (unit, values, mean) in traits.quantiles().items():
        shown = [_time(value) if unit == "s" else number(value) for value in (*values, mean)]
        rows.append((f"{name} ({unit})" if unit not in ("", "s") else name, shown))
    return rows


def _time(seconds: float) -> str:
    """Return a duration as text; about a second is written in seconds, not in milliseconds."""
    return f"{number(seconds)}\N{NO-BREAK SPACE}s" if 0.5 <= seconds < 2 else duration(seconds)


def user_rows(traits: Traits) -> list[tuple[str, list[str]]]:
    """Return name, jobs and shares of the users with most work."""
    total = len(traits.workload.jobs)
    return [
        (user.name, [f"{user.jobs:,}", f"{user.jobs / total:.1%}", f"{user.work:.1%}"])
        for user in traits.users()[:MOST_LISTED]
    ]


def as_dict(traits: Traits) -> dict[str, Any]:
    """Return everything as JSON-ready values; times in seconds unless named otherwise, shares from 0 to 1."""
    sizes, weekdays = traits.sizes(), traits.by_weekday()
    return {
        "jobs": len(traits.workload.jobs),
        "span": traits.span,
        "unit": traits.unit,
        "capacity": traits.capacity,
        "offered_load": traits.offered_load,
        "users": [user._asdict() for user in traits.users()],
        "quantiles": {
            name: {"unit": unit, **dict(zip(map(str, QUANTILES), values, strict=True)), "mean": mean}
            for name, (unit, values, mean) in traits.quantiles().items()
        },
        "sizes": [
            {"most": int(most), "jobs": float(jobs), "work": float(work)}
            for most, jobs, work in zip(sizes.largest, sizes.jobs, sizes.work, strict=True)
        ],
        "estimates": None if (estimates := traits.estimates()) is None else estimates._asdict(),
        "accuracy": traits.accuracy_shares().tolist() if len(traits.accuracy) else None,
        "clock": traits.clock or None,
        "by_hour": traits.by_hour().tolist(),
        "by_weekday": None if weekdays is None else weekdays.tolist(),
        "demands": traits.demands(),
        "waits": {kind: [one._asdict() for one in groups] for kind, groups in wait_groups(traits).items()},
    }
