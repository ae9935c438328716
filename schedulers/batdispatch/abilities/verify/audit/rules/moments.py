"""What the exchange must say, and what the jobs file must say of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from batdispatch.abilities.verify.audit.case import RULES, Case, Faults, Mask, Rule, claim, rule
from batdispatch.abilities.verify.audit.exchange import Silence
from batdispatch.abilities.verify.audit.findings import KILLED, RECORDING, TOLERANCE, Fault
from batdispatch.abilities.verify.audit.hosts import Floats
from batdispatch.abilities.verify.audit.workload import Job

# Of these, all faults are noted while the exchange is followed.
for _name, _sentence in (
    ("machine told", "The machine that is told is the platform's."),
    ("host away", "No job starts on a host that is away."),
    ("units ordered", "units.csv has the units that EXECUTE_JOB places on each host."),
):
    RULES[_name] = Rule(_name, _sentence, "moments", "", lambda case: ())


@rule("moments")
def exchange(case: Case) -> Faults:
    """The exchange contradicts neither itself nor the inputs, and goes on to the end."""
    recorded = case.said.get("recorded")
    if case.course is None and recorded:
        yield Fault(f"{RECORDING} is missing, and result.json says that the run wrote it")
    if case.course is not None and recorded is False:
        yield Fault(f"{RECORDING} is there, and result.json says that the run wrote none")
    if case.course is None:
        text = f"there is no {RECORDING}: nothing says which decisions led to starts, kills and rejections"
        case.skipped["exchange"] = text


@rule("moments", "exchange")
def outages(case: Case) -> Faults:
    """Hosts go away and come back as the events file says."""
    told, slack = case.exchange.outages, case.clock.slack(1)
    if case.outages is None:
        if told:
            case.skipped["outages"] = "the file of external events is not at hand (say --events)"
        return
    for each, due in zip(told, [*case.outages, *[None] * len(told)], strict=False):
        latest = each.earliest if case.clock.exact else each.latest
        in_time = due is not None and each.earliest - slack <= due.earliest <= latest + TOLERANCE
        if due is None or not in_time or (each.back, each.mask) != (due.back, due.mask):
            wanted = "there is no such event" if due is None else f"the events file has {due}"
            yield Fault(f"{RECORDING} tells {each}: {wanted}", time=each.latest)
            return
    if len(told) < len(case.outages) and case.clock.exact:
        missing = case.outages[len(told)]
        yield Fault(f"{RECORDING} does not tell {missing} of the events file", time=missing.latest)


def _apart(later: Floats, earlier: Floats, slack: Floats) -> Mask:
    """Return where `later` is not from `earlier` to `slack` seconds after it, or one of them is missing."""
    return ~((later >= earlier - TOLERANCE) & (later <= earlier + slack))


@claim("moments", f"is in the jobs file, and {RECORDING} never says that it was submitted", needs="exchange")
def submission_told(case: Case) -> Mask:
    """The exchange says that each job was submitted."""
    return case.exchange.arrived < 0


@claim("moments", "started at {start:.6f}, its EXECUTE_JOB is of {ordered:.6f} (nan: there is none)", needs="exchange")
def start_ordered(case: Case) -> Mask:
    """A job starts when and where EXECUTE_JOB says."""
    return case.rows.ran & _apart(case.rows.start, case.exchange.ordered, case.exchange.late)


@claim(
    "moments",
    "finished at {finish:.6f}, its JOB_COMPLETED is of {ended:.6f} (nan: there is none)",
    time="finish",
    needs="exchange",
)
def end_told(case: Case) -> Mask:
    """A job ends when and where JOB_COMPLETED says."""
    # An end is told after it, a start is ordered before it.
    return case.rows.ran & _apart(case.exchange.ended, case.rows.left, case.exchange.told_late)


@claim("moments", f"is {{states}}, {RECORDING} tells that it ended {{told}}", time="finish", needs="exchange")
def state_told(case: Case) -> Mask:
    """A job ends in the state that JOB_COMPLETED says."""
    pairs = zip(case.exchange.told, case.rows.states, strict=True)
    return np.asarray(case.rows.ran & np.array([bool(told) and told != state for told, state in pairs], dtype=bool))


@claim("moments", "is rejected in the jobs file, and has no REJECT_JOB", needs="exchange")
def rejection_ordered(case: Case) -> Mask:
    """A job that is rejected has a REJECT_JOB."""
    return np.asarray(~case.rows.ran & np.isnan(case.exchange.rejected))


@rule("moments", "exchange")
def metadata(case: Case) -> Faults:
    """A job has the text that the dispatcher gave it."""
    for row, text in enumerate(case.rows.metadata):
        given = case.exchange.metadata.get(row, "")
        if text != given:
            yield Fault(f"is {text[:80]!r}, {RECORDING} gives it {given[:80]!r}", row)


@claim("moments", "was killed at {finish:.6f}, its KILL_JOB is of {killed:.6f}", time="finish")
def kill_ordered(case: Case) -> Mask:
    """A job that was killed has a KILL_JOB of that moment."""
    course, dead = case.course, case.rows.is_state(KILLED)
    if course is None and dead.any():
        case.skipped["kill ordered"] = f"no exchange says who killed {int(dead.sum())} jobs"
    if course is None or not course.complete:
        return np.zeros_like(dead)
    return dead & _apart(case.rows.left, course.killed, course.late)


@claim("moments", "finished at {finish:.6f}, although it was killed at {killed:.6f}", time="finish", needs="exchange")
def kill_ignored(case: Case) -> Mask:
    """A job that is ordered to be killed does not go on."""
    course, rows = case.course, case.rows
    assert course is not None
    return rows.ran & ~rows.is_state(KILLED) & (rows.finish > course.killed + course.late)


#: Without an exchange nobody knows of calls that a dispatcher waited for: only longer waits than this, in s, are told.
_UNRECORDED = 3600.0


@rule("moments")
def idle_machine(case: Case) -> Faults:
    """No job waits while nothing runs, no call is due, and the machine has room for it."""
    if case.queues.windows:
        case.skipped["idle machine"] = "jobs may wait for the end of a reservation"
        return
    if (case.folder / "pstate_changes.csv").is_file():
        case.skipped["idle machine"] = "jobs may wait for hosts that sleep or switch"
        return
    hidden = case.course is None and case.settings.get("external_events")
    for silence in case.course.silences if case.course is not None else () if hidden else _silences(case):
        row = _forgotten(case, silence)
        if row is not None:
            when = f"from {silence.since:.6f} to {silence.until:.6f} s"
            text = f"waits {when} while nothing runs, although the machine has room for it and no call was asked for"
            yield Fault(text, row, time=silence.until)


def _silences(case: Case) -> Iterator[Silence]:
    """Yield when nothing ran and jobs waited for more than `_UNRECORDED` seconds, by the jobs file alone."""
    rows = case.rows
    ran = np.flatnonzero(rows.ran)
    order = ran[np.argsort(rows.start[ran], kind="stable")]
    # Before the first start nothing ran, either.
    begin = np.concatenate(([0.0], np.maximum.accumulate(rows.finish[order])))[:-1]
    end, submission = rows.start[order], rows.submission[order]
    for gap in np.flatnonzero(end - begin > _UNRECORDED).tolist():
        some = gap + np.flatnonzero(submission[gap:] < end[gap] - _UNRECORDED)
        if len(some):
            yield Silence(max(begin[gap], submission[some].max()), end[gap], order[some], 0)


def _forgotten(case: Case, silence: Silence) -> int | None:
    """Return the row of the first job that waits in a silence without a reason; None: there is none."""
    there = np.array([not silence.away >> host & 1 for host in range(case.machine.size)])
    forgotten = None
    for row in silence.waiting.tolist():
        job = case.jobs[row]
        # Where a job may go that is pinned to I/O nodes is for its dispatcher to say.
        fits = job is not None and case.demands.fits(job, there) and not (silence.away and job.io_node)
        if silence.away and not fits:
            # It may hold back all others until the hosts are there again.
            return None
        if job is not None and fits and not _waits(case, row, job, silence) and not case.demands.why_never(job):
            forgotten = row if forgotten is None else forgotten
            if not silence.away:
                break
    return forgotten


def _waits(case: Case, row: int, job: Job, silence: Silence) -> bool:
    """Return whether a job has to wait for others by what it says of itself."""
    parent = case.other(row, job.parent) if job.parent else row
    if parent is None or (job.parent and not case.over[case.lineage.root[parent]] <= silence.since):
        return True
    # Whether other conditions are met takes the times of others: who has one is not looked at.
    if job.array is not None or any(one.kind != "afterok" or one.delay > 0 for one in job.waits_for):
        return True
    others = [case.other(row, one.job) for one in job.waits_for]
    succeeded = [other is not None and case.succeeded[case.lineage.root[other]] <= silence.since for other in others]
    return not all(succeeded)
