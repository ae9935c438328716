"""What the exchange must say, and what the jobs file must say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from batdispatch.audit.case import Case, Mask, faults, rule
from batdispatch.audit.findings import Fault
from batdispatch.audit.hosts import Floats
from batdispatch.audit.words import KILLED, RECORDING, TOLERANCE

Found = Iterator[Fault]


def _noted(name: str) -> Callable[[Case], Found]:
    """Return what yields the faults of a rule that were noted while the exchange was followed."""
    return lambda case: iter(() if case.course is None else case.course.faults.get(name, ()))


def _noted_rules() -> None:
    for name, sentence in (
        ("machine told", "The machine that is told is the platform's."),
        ("host away", "No job starts on a host that is away."),
        ("decision time", "A decision takes the time that result.json says."),
        ("units ordered", "units.csv has the units that EXECUTE_JOB places on each host."),
    ):
        rule(name, "moments", sentence)(_noted(name))


_noted_rules()


@rule("exchange", "moments", "The exchange contradicts neither itself nor the inputs, and goes on to the end.")
def exchange(case: Case) -> Found:
    yield from _noted("exchange")(case)
    recorded = case.said.get("recorded")
    if case.course is None and recorded:
        yield Fault(f"{RECORDING} is missing, and result.json says that the run wrote it")
    if case.course is not None and recorded is False:
        yield Fault(f"{RECORDING} is there, and result.json says that the run wrote none")
    if case.course is None:
        case.skipped["exchange"] = (
            f"there is no {RECORDING}: nothing says which decisions led to starts, kills and rejections"
        )


@rule("outages", "moments", "Hosts go away and come back as the events file says.", "exchange")
def outages(case: Case) -> Found:
    assert case.course is not None
    if case.outages is None:
        if case.course.outages:
            case.skipped["outages"] = "the file of external events is not at hand (say --events)"
        return
    left = list(reversed(case.outages))
    for told in case.course.outages:
        due = left.pop() if left else None
        slack = case.clock.slack(1)
        latest = told.earliest if case.clock.exact else told.latest
        in_time = due is not None and told.earliest - slack <= due.earliest <= latest + TOLERANCE
        if due is None or not in_time or (told.back, told.mask) != (due.back, due.mask):
            wanted = "there is no such event" if due is None else f"the events file has {due}"
            yield Fault(f"{RECORDING} tells {told}: {wanted}", time=told.latest)
            return
    if left and case.clock.exact:
        yield Fault(f"{RECORDING} does not tell {left[-1]} of the events file", time=left[-1].latest)


def _apart(later: Floats, earlier: Floats, slack: Floats) -> Mask:
    """Return where `later` is not from `earlier` to `slack` seconds after it, or one of them is missing."""
    return ~((later >= earlier - TOLERANCE) & (later <= earlier + slack))


@rule("submission told", "moments", "The exchange says that each job was submitted.", "exchange")
def submission_told(case: Case) -> Found:
    assert case.course is not None
    text = f"is in the jobs file, and {RECORDING} never says that it was submitted"
    yield from faults(case.course.arrived < 0, lambda row: text, case.rows.submission)


@rule("start ordered", "moments", "A job starts when and where EXECUTE_JOB says.", "exchange")
def start_ordered(case: Case) -> Found:
    course, rows = case.course, case.rows
    assert course is not None
    yield from _noted("start ordered")(case)
    ordered = ~np.isnan(course.ordered)
    yield from faults(
        rows.ran & _apart(rows.start, course.ordered, course.late),
        lambda row: (
            f"started at {rows.start[row]:.6f}, "
            + (f"it is of {course.ordered[row]:.6f}" if ordered[row] else f"{RECORDING} holds no EXECUTE_JOB for it")
        ),
    )


@rule("end told", "moments", "A job ends when and where JOB_COMPLETED says.", "exchange")
def end_told(case: Case) -> Found:
    course, rows = case.course, case.rows
    assert course is not None
    yield from _noted("end told")(case)
    told = ~np.isnan(course.ended)
    # An end is told after it, a start is ordered before it.
    yield from faults(
        rows.ran & _apart(course.ended, rows.left, course.told_late),
        lambda row: (
            f"finished at {rows.finish[row]:.6f}, {RECORDING} "
            + (f"tells its end at {course.ended[row]:.6f}" if told[row] else "does not tell its end")
        ),
        rows.finish,
    )


@rule("state told", "moments", "A job ends in the state that JOB_COMPLETED says.", "exchange")
def state_told(case: Case) -> Found:
    assert case.course is not None
    for row, (told, found) in enumerate(zip(case.course.states, case.rows.states, strict=True)):
        if told and told != found and case.rows.ran[row]:
            time = float(case.rows.finish[row])
            yield Fault(f"is {found}, {RECORDING} tells that it ended {told}", row, time=time)


@rule("rejection ordered", "moments", "A job that is rejected has a REJECT_JOB.", "exchange")
def rejection_ordered(case: Case) -> Found:
    course = case.course
    assert course is not None
    started = ~np.isnan(course.ordered)
    yield from faults(
        ~case.rows.ran & np.isnan(course.rejected),
        lambda row: (
            "is rejected in the jobs file, and "
            + (
                f"was started at {course.ordered[row]:.6f}"
                if started[row]
                else f"{RECORDING} holds no REJECT_JOB for it"
            )
        ),
    )


@rule("metadata", "moments", "A job has the text that the dispatcher gave it.", "exchange")
def metadata(case: Case) -> Found:
    assert case.course is not None
    for row, text in enumerate(case.rows.metadata):
        given = case.course.metadata.get(row, "")
        if text != given:
            yield Fault(f"is {text[:80]!r}, {RECORDING} gives it {given[:80]!r}", row)


@rule("kill ordered", "moments", "A job that was killed has a KILL_JOB of that moment.")
def kill_ordered(case: Case) -> Found:
    course, rows, dead = case.course, case.rows, case.rows.is_state(KILLED)
    if course is None and dead.any():
        case.skipped["kill ordered"] = f"no exchange says who killed {int(dead.sum())} jobs"
    if course is None or not course.complete:
        return
    yield from faults(
        dead & _apart(rows.left, course.killed, course.late),
        lambda row: f"was killed at {rows.finish[row]:.6f}, its KILL_JOB is of {course.killed[row]:.6f}",
        rows.finish,
    )


@rule("kill ignored", "moments", "A job that is ordered to be killed does not go on.", "exchange")
def kill_ignored(case: Case) -> Found:
    course, rows = case.course, case.rows
    assert course is not None
    wrong = rows.ran & ~rows.is_state(KILLED) & (rows.finish > course.killed + course.late)
    yield from faults(
        wrong,
        lambda row: f"finished at {rows.finish[row]:.6f}, although it was killed at {course.killed[row]:.6f}",
        rows.finish,
    )


@rule("idle machine", "moments", "No job waits while nothing runs, no call is due, and the machine has room for it.")
def idle_machine(case: Case) -> Found:
    if case.queues.windows:
        case.skipped["idle machine"] = "jobs may wait for the end of a reservation"
    elif case.course is not None:
        yield from _noted("idle machine")(case)
    elif "--events" not in str(case.said.get("command")):
        yield from _forgotten(case)


#: Without an exchange nobody knows of calls that a dispatcher waited for: only longer waits than this, in s, are told.
_UNRECORDED = 3600.0


def _forgotten(case: Case) -> Found:
    """Find the jobs that waited for more than `_UNRECORDED` seconds while nothing ran, by the jobs file alone."""
    rows = case.rows
    ran = np.flatnonzero(rows.ran)
    order = ran[np.argsort(rows.start[ran], kind="stable")]
    # Before the first start nothing ran, either.
    begin = np.concatenate(([0.0], np.maximum.accumulate(rows.finish[order])[:-1])) if len(order) else order
    end = rows.start[order]
    gaps = np.flatnonzero(end - begin > _UNRECORDED)
    everything = np.ones(case.machine.size, dtype=bool)
    for row in order[rows.start[order] - rows.submission[order] > _UNRECORDED].tolist() if len(gaps) else ():
        job = case.jobs[row]
        if job is None or job.parent or job.dependencies or job.array or not case.demands.fits(job, everything):
            continue
        overlap = np.minimum(end[gaps], rows.start[row]) - np.maximum(begin[gaps], rows.submission[row])
        if overlap.max() > _UNRECORDED:
            text = "while nothing ran on the machine, which has room for it"
            yield Fault(f"waited {overlap.max():.0f} s {text}", row)
