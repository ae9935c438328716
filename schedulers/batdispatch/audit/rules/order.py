"""What jobs wait for: others of their array or name, those that they depend on or continue; why some never ran."""

from __future__ import annotations

import re

import numpy as np

from batdispatch.audit.case import Case, Found, rule
from batdispatch.audit.findings import TOLERANCE, Fault
from batdispatch.audit.hosts import Floats, Ints
from batdispatch.audit.workload import Dependency, Job

#: How the reasons begin that are given before a dispatcher hears of a job: what they claim can be worked out again.
_OF_MACHINE = re.compile(r"(asks for|names no|needs|is pinned|node_list|exclude_nodes)\b")
_OF_OTHERS = re.compile(r"(depends on (the failure of )?job \S+, which|continues )")
_DONE = {"afterok": "succeeded", "after": "started"}


@rule("order", "exchange")
def row_order(case: Case) -> Found:
    """Rows stand in the order in which jobs were over."""
    if not case.embedded or case.course is None:
        return
    rows, gone = case.rows, case.course.gone
    wrong = np.diff(np.where(rows.ran, rows.left, case.course.rejected)) < -TOLERANCE
    if (case.said.get("decision_time"), case.said.get("clock")) == ("none", "together"):
        # What happens while somebody decides is told after what was decided.
        wrong |= (np.diff(gone) < 0) & (gone[1:] >= 0)
    for row in np.flatnonzero(wrong).tolist():
        yield Fault(f"stands behind job {rows.ids[row]}, which was over later", row + 1)


def _over(case: Case) -> Floats:
    """Return when the logical job of each row was over, rejected ones included, s, float64 [row]; NaN: nobody knows."""
    over, course = case.over.copy(), case.course
    if course is not None:
        np.fmax.at(over, case.lineage.root, course.rejected)
    return np.asarray(over[case.lineage.root])


@rule("order")
def dependency(case: Case) -> Found:
    """A job starts only after others have done what it waits for."""
    root = case.lineage.root
    over, succeeded = _over(case), case.succeeded[root]
    since = {"afterok": succeeded, "after": np.where(np.isnan(case.began[root]), over, case.began[root])}
    for row in np.flatnonzero(case.rows.ran).tolist():
        job = case.jobs[row]
        for one in job.waits_for if job is not None and job.dependencies else ():
            start, other = case.rows.start[row], case.other(row, one.job)
            if one.kind == "singleton":
                yield from _not_alone(case, row, over)
            elif other is None:
                yield Fault(f"depends on job {one.job}, which is not in the jobs file", row)
            elif one.kind == "afternotok" and succeeded[other] <= start + TOLERANCE:
                yield Fault(f"depends on the failure of job {one.job}, which succeeded", row)
            elif one.kind == "afterok" and np.isnan(succeeded[other]):
                yield Fault(f"depends on job {one.job}, which never succeeded", row)
            elif (time := since.get(one.kind, over)[other]) > start - one.delay + TOLERANCE:
                wait = f", and waits for another {one.delay:g} s" if one.delay else ""
                done = _DONE.get(one.kind, "ended")
                yield Fault(f"depends on job {one.job}, which {done} only at {time:.6f}{wait}", row)


def _not_alone(case: Case, row: int, over: Floats) -> Found:
    """All jobs of the same user and name that came before have ended when a job starts that is to run alone."""
    job, parent = case.jobs[row], case.lineage.parent
    arrival = _arrival(case)
    late = (arrival < arrival[row]) & (over > case.rows.start[row] + TOLERANCE) & (parent < 0)
    for other in np.flatnonzero(late).tolist() if parent[row] < 0 else ():
        one = case.jobs[other]
        if job is not None and one is not None and one.name is not None and one.namesakes == job.namesakes:
            message = f"is to run alone of its name, and job {case.rows.ids[other]} ended only at {over[other]:.6f}"
            yield Fault(message, row)
            return


def _arrival(case: Case) -> Ints:
    """Return in which order jobs came: as the exchange tells it, or by submission and name, int64 [row]."""
    if case.course is not None and case.course.complete:
        return case.course.arrived
    at = np.array(case.at, dtype=np.int64)
    return np.where(at < 0, len(case.workload.jobs), at)


@rule("order")
def array(case: Case) -> Found:
    """When a task of an array starts, no more tasks of the array run than may."""
    arrays: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for row, job in case.that_ran():
        if job.array is not None and job.array.get("limit"):
            key = (case.rows.workloads[row], str(job.array.get("id")))
            arrays.setdefault(key, []).append((row, int(job.array["limit"])))
    for (_, name), listed in arrays.items():
        which, most = np.array([row for row, _ in listed]), max(limit for _, limit in listed)
        starts, ends = np.sort(case.rows.start[which]), np.sort(case.rows.left[which])
        moments = case.rows.start[which] + TOLERANCE
        running = np.searchsorted(starts, moments, side="right") - np.searchsorted(ends, moments, side="right")
        for at in np.flatnonzero((running > most) & (case.lineage.parent[which] < 0)).tolist():
            yield Fault(f"is task number {running[at]} of array {name} that runs, of which {most} may", int(which[at]))


@rule("order")
def lineage(case: Case) -> Found:
    """A segment of a job starts only after the one that it continues has ended."""
    rows = case.rows
    for row in np.flatnonzero((case.lineage.parent >= 0) & rows.ran).tolist():
        parent = int(case.lineage.parent[row])
        # What was rejected is continued by a job of another size: a moldable job need not start on what it asks for.
        if not rows.ran[parent] and rows.size[row] == rows.size[parent]:
            yield Fault(f"continues job {rows.ids[parent]}, which was rejected", row)
        elif rows.ran[parent] and rows.start[row] < rows.left[parent] - TOLERANCE:
            end = f"ended only at {rows.finish[parent]:.6f}"
            yield Fault(f"continues job {rows.ids[parent]}, which {end}", row)


@rule("order")
def lineage_told(case: Case) -> Found:
    """lineage.csv joins the jobs that the exchange, or the workload, says to continue others."""
    course, joined = case.course, case.lineage.parent
    if course is not None and not course.complete:
        return
    told = _parents_asked(case) if course is None else course.parents
    # Without an exchange, nothing tells which jobs were registered and why.
    listed = set() if course is None else set(np.flatnonzero(joined >= 0).tolist())
    for row in sorted({*told, *listed}):
        pair = int(joined[row]), told.get(row, -1)
        if pair[0] != pair[1]:
            said, is_so = (f"continues {f'job {case.rows.ids[at]}' if at >= 0 else 'no job'}" for at in pair)
            yield Fault(f"{said} by lineage.csv, and it {is_so}", row)


def _parents_asked(case: Case) -> dict[int, int]:
    """Return the row of the job that each job continues by the workload, by row; what is continued came before."""
    named = ((row, case.other(row, job.parent)) for row, job in enumerate(case.jobs) if job is not None and job.parent)
    submission = case.rows.submission
    return {row: at for row, at in named if at is not None and submission[at] <= submission[row]}


# ---------------------------------------------------------------------- rejections


@rule("order")
def rejection(case: Case) -> Found:
    """A rejected job has a reason that holds, or one that its dispatcher gives."""
    listed = case.said.get("rejected") or []
    reasons = {str(one.get("job", "")): str(one.get("reason", "")) for one in listed}
    rejected = {case.rows.names[row]: row for row in np.flatnonzero(~case.rows.ran).tolist()}
    unexplained = 0
    for name, row in rejected.items():
        job = case.jobs[row]
        if case.said and name not in reasons:
            yield Fault("is rejected in the jobs file, and result.json does not list it", row)
        elif job is not None and (problem := _untrue(case, row, job, reasons.get(name, ""))):
            unexplained += not case.said
            yield from [Fault(problem, row)] if case.said else []
    if unexplained:
        case.skipped["rejection"] = f"nothing says why {unexplained} jobs were rejected that could have run"
    for name in sorted(reasons.keys() - rejected.keys()):
        yield Fault("result.json lists it as rejected, the jobs file does not", job=name.partition("!")[2])
    if len(reasons) != len(listed):
        yield Fault("result.json lists a job twice")


def _untrue(case: Case, row: int, job: Job, reason: str) -> str:
    """Return what is wrong with the reason for a rejection; empty: nothing, or only the dispatcher knows.

    The figures of a reason are its dispatcher's to repeat.
    """
    never, hopeless = case.demands.why_never(job), _is_hopeless(case, row, job)
    given = f"the reason {reason[:200]!r} is not so" if reason else "no reason is given"
    if _OF_OTHERS.match(reason):
        # Of jobs that wait for each other in a circle, one is rejected: which one is its dispatcher's to repeat.
        in_circle = bool(job.waits_for) and reason.endswith("which depends on it in turn")
        return "" if hopeless or in_circle else f"waited for no job that failed: {given}"
    if reason and not _OF_MACHINE.match(reason):
        return ""
    # The protocol has no word for the reason of another program's scheduler.
    unsaid = not reason and (case.said.get("decision_time") == "own" or not case.said)
    if never or (unsaid and hopeless):
        return ""
    return f"could run on this machine and waited for no job that failed: {given}"


def _is_hopeless(case: Case, row: int, job: Job) -> bool:
    """Return whether a job waited for what may never have come."""
    if job.parent and case.other(row, job.parent) is None:
        return True
    return any(_may_be_unmet(case, one, case.other(row, one.job)) for one in job.waits_for)


def _may_be_unmet(case: Case, one: Dependency, other: int | None) -> bool:
    succeeded = other is not None and not np.isnan(case.succeeded[case.lineage.root[other]])
    if one.kind == "afterok":
        return not succeeded
    # Of jobs that wait for each other, one is rejected whatever they wait for, and the others may go on.
    return other is None or succeeded or one.kind != "afternotok"
