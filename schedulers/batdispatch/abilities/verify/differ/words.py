"""What was found, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from batdispatch.abilities.verify.differ.files import CaseResult
from batdispatch.abilities.verify.differ.hold import Comparison, Explanation, Starts
from batdispatch.abilities.verify.differ.job_files import Schedule
from batdispatch.abilities.verify.differ.textbook import seconds
from batdispatch.results.numbers import duration, number

#: Policy -> how sentences call it.
POLICY_NAMES: Mapping[str, str] = {
    "fcfs": "first come first served",
    "easy": "EASY",
    "easy-sjbf": "EASY that backfills the shortest job first",
    "conservative": "conservative backfilling",
    "conservative-uncompressed": "conservative backfilling without compression",
    "filling": "filling",
    "sjf-filling": "shortest-first filling",
}


def rules_in_words(explanation: Explanation, of: int) -> str:
    """Return rules as a noun phrase.

    Args:
        explanation: the rules.
        of: processors of the machine, which are said anyway.
    """
    text = f"{POLICY_NAMES[explanation.policy]} on {explanation.rules.hosts:,} processors"
    if explanation.rules.hosts != of:
        text += f" instead of {of:,}"
    for mistake in explanation.mistakes:
        text += f", but {mistake.about}"
    return f"{text}, where {'; '.join(reading.about for reading in explanation.readings)}"


def verdict(held: Comparison, policy: str, hosts: int) -> str:
    """Return one sentence that says what the schedule is."""
    name = f"{POLICY_NAMES[policy]} on {hosts:,} processors"
    if held.closest.exact:
        return f"This is {rules_in_words(held.closest, hosts)}: every job starts when it should."
    if held.explained is not None:
        return f"This is not {name}. It is exactly {rules_in_words(held.explained, hosts)}."
    assert held.followed is not None
    return (
        f"This is not {name}, and no known variant gives all its starts. For its first {held.followed.alike:,} starts "
        f"it is {rules_in_words(held.followed, hosts)}."
    )


def differences(schedule: Schedule, held: Comparison) -> list[str]:
    """Return sentences about the jobs that start otherwise; none if there are none."""
    if not held.differing:
        return []
    jobs, found = schedule.jobs, schedule.starts
    first = held.differing[0]
    off = [
        abs(start - expected)
        for index in held.differing
        if (start := found[index]) is not None and (expected := held.expected[index]) is not None
    ]
    count = f"{len(held.differing):,} of {len(jobs):,} jobs start otherwise."
    moments = f"at {_at(found[first])}, expected at {_at(held.expected[first])}"
    lines = [f"{count} The first one is job {jobs[first].id}: {moments}."]
    if off:
        lines.append(f"Starts are off by up to {duration(max(off) / 1e6)}, {duration(fmean(off) / 1e6)} on average.")
    lines.append(
        f"The mean wait is {number(_mean_wait(schedule, found))} s, expected "
        f"{number(_mean_wait(schedule, held.expected))} s."
    )
    return lines


def _at(start: int | None) -> str:
    return "no time (it never starts)" if start is None else f"{seconds(start):,.6f}".rstrip("0").rstrip(".") + " s"


def _mean_wait(schedule: Schedule, starts: Starts) -> float:
    waits = [
        (start - job.submission) / 1e6 for job, start in zip(schedule.jobs, starts, strict=True) if start is not None
    ]
    return fmean(waits) if waits else 0.0


def as_dict(schedule: Schedule, held: Comparison, policy: str, hosts: int) -> dict[str, Any]:
    """Return what came of holding a schedule as JSON has it."""
    return {
        "policy": policy,
        "hosts": hosts,
        "jobs": len(schedule.jobs),
        "differing": [schedule.jobs[index].id for index in held.differing],
        "verdict": verdict(held, policy, hosts),
        "explained_by": None if held.explained is None else _explanation_as_dict(held.explained),
        "notes": schedule.notes,
    }


def _explanation_as_dict(explanation: Explanation) -> dict[str, Any]:
    return {
        "policy": explanation.policy,
        "hosts": explanation.rules.hosts,
        "readings": [reading.name for reading in explanation.readings],
        "mistakes": [mistake.name for mistake in explanation.mistakes],
    }


def cases_as_dict(checked: Sequence[CaseResult]) -> dict[str, Any]:
    """Return what came of the cases as JSON has it."""
    listed = [
        {
            "case": each.case.name,
            "policy": each.policy,
            "right": each.held.closest.exact,
            "verdict": verdict(each.held, each.policy, each.case.hosts),
        }
        for each in checked
    ]
    return {"schedules": len(listed), "wrong": sum(not each["right"] for each in listed), "found": listed}
