"""What jobs wait for: others of their array or name, those that they depend on or continue; why some never ran."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np

from batdispatch.audit.case import Case, rule
from batdispatch.audit.findings import Fault
from batdispatch.audit.hosts import Floats, Ints
from batdispatch.audit.words import TOLERANCE, full_name
from batdispatch.audit.workload import Dependency, Job

Found = Iterator[Fault]
#: How the reasons begin that are given before a dispatcher hears of a job: what they claim can be worked out again.
_OF_MACHINE = re.compile(r"(asks for|names no|needs|is pinned|node_list|exclude_nodes)\b")
_OF_OTHERS = re.compile(r"(?:depends on (?:the failure of )?job (\S+), which|continues )")
_NUMBER = re.compile(r"(?<![\w.'-])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.'-])")
_NAMES = re.compile(r"partition|QOS|reservation|resource|licence|I/O node|node_list|exclude_nodes")
_DONE = {"afterok": "succeeded", "after": "started"}


@rule("row order", "order", "Rows stand in the order in which jobs were over.", "exchange")
def row_order(case: Case) -> Found:
    if not case.embedded or case.course is None:
        return
    rows, gone = case.rows, case.course.gone
    moment = np.where(rows.ran, rows.left, case.course.rejected)
    wrong = np.diff(moment) < -TOLERANCE
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


@rule("dependency", "order", "A job starts only after others have done what it waits for.")
def dependency(case: Case) -> Found:
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
    job = case.jobs[row]
    arrival = _arrival(case)
    late = (arrival < arrival[row]) & (over > case.rows.start[row] + TOLERANCE) & (case.lineage.parent < 0)
    for other in np.flatnonzero(late).tolist() if job is not None and case.lineage.parent[row] < 0 else ():
        one = case.jobs[other]
        if one is not None and one.name is not None and _namesakes(one) == _namesakes(job):
            message = f"is to run alone of its name, and job {case.rows.ids[other]} ended only at {over[other]:.6f}"
            yield Fault(message, row)
            return


def _namesakes(job: Job | None) -> tuple[str, str]:
    return ("", "") if job is None else (str(job.user), str(job.name))


def _arrival(case: Case) -> Ints:
    """Return in which order jobs came: as the exchange tells it, or by submission and name, int64 [row]."""
    if case.course is not None and case.course.complete:
        return case.course.arrived
    rank = {id(job): index for index, job in enumerate(case.workload.jobs)}
    return np.array([rank.get(id(job), len(rank)) for job in case.jobs], dtype=np.int64)


@rule("array", "order", "When a task of an array starts, no more tasks of the array run than may.")
def array(case: Case) -> Found:
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


@rule("lineage", "order", "A segment of a job starts only after the one that it continues has ended.")
def lineage(case: Case) -> Found:
    rows = case.rows
    for row in np.flatnonzero((case.lineage.parent >= 0) & rows.ran).tolist():
        parent = int(case.lineage.parent[row])
        # What was rejected is continued by a job of another size: a moldable job need not start on what it asks for.
        if not rows.ran[parent] and rows.size[row] == rows.size[parent]:
            yield Fault(f"continues job {rows.ids[parent]}, which was rejected", row)
        elif rows.ran[parent] and rows.start[row] < rows.left[parent] - TOLERANCE:
            end = f"ended only at {rows.finish[parent]:.6f}"
            yield Fault(f"continues job {rows.ids[parent]}, which {end}", row)


@rule(
    "lineage told", "order", "lineage.csv joins the jobs that the exchange, or the workload, says to continue others."
)
def lineage_told(case: Case) -> Found:
    course = case.course
    if course is not None and not course.complete:
        return
    told: Mapping[int, int] = _parents_asked(case) if course is None else course.parents
    # Without an exchange, nothing tells which jobs were registered and why.
    listed = set() if course is None else set(np.flatnonzero(case.lineage.parent >= 0).tolist())
    for row in sorted({*told, *listed}):
        found, expected = int(case.lineage.parent[row]), told.get(row, -1)
        if found != expected:
            said, is_so = (
                f"continues job {case.rows.ids[other]}" if other >= 0 else "continues no job"
                for other in (found, expected)
            )
            yield Fault(f"{said} by lineage.csv, and it {is_so}", row)


def _parents_asked(case: Case) -> dict[int, int]:
    """Return the row of the job that each job continues by the workload, by row; what is continued came before."""
    named = ((row, case.other(row, job.parent)) for row, job in enumerate(case.jobs) if job is not None and job.parent)
    submission = case.rows.submission
    return {row: at for row, at in named if at is not None and submission[at] <= submission[row]}


# ---------------------------------------------------------------------- rejections


@rule("rejection", "order", "A rejected job has a reason that holds, or one that its dispatcher gives.")
def rejection(case: Case) -> Found:
    listed = case.said.get("rejected") or []
    reasons = {str(one.get("job", "")): str(one.get("reason", "")) for one in listed} if case.said else None
    succeeded = ~np.isnan(case.succeeded[case.lineage.root])
    unexplained = 0
    rejected = {case.rows.names[row]: row for row in np.flatnonzero(~case.rows.ran).tolist()}
    for name, row in rejected.items():
        job, reason = case.jobs[row], None if reasons is None else reasons.get(name)
        if reasons is not None and reason is None:
            yield Fault("is rejected in the jobs file, and result.json does not list it", row)
        elif job is not None and reason is None:
            unexplained += not (case.demands.why_never(job) or _is_hopeless(case, row, job, succeeded, ""))
        elif job is not None and reason is not None and (problem := _untrue(case, row, job, succeeded, reason)):
            yield Fault(problem, row)
    if unexplained:
        case.skipped["rejection"] = f"nothing says why {unexplained} jobs were rejected that could have run"
    for name in [] if reasons is None else [*(reasons.keys() - rejected.keys())]:
        yield Fault("result.json lists it as rejected, the jobs file does not", job=name.partition("!")[2])
    if reasons is not None and len(reasons) != len(listed):
        yield Fault("result.json lists a job twice")


def _untrue(case: Case, row: int, job: Job, succeeded: Ints, reason: str) -> str:
    """Return what is wrong with the reason for a rejection; empty: nothing, or only the dispatcher knows."""
    never = case.demands.why_never(job)
    hopeless = _is_hopeless(case, row, job, succeeded, reason)
    if case.said.get("decision_time") == "own" and (never or hopeless):
        # The protocol has no word for the reason of another program's scheduler.
        return ""
    given = f"the reason {reason[:200]!r} is not so" if reason else "no reason is given"
    if _OF_OTHERS.match(reason):
        return "" if hopeless else f"waited for no job that failed: {given}"
    if reason and not _OF_MACHINE.match(reason):
        return ""
    if not never:
        return f"could run on this machine and waited for no job that failed: {given}"
    return "" if _is_about(case, job, reason) else f"result.json gives the reason {reason[:200]!r}, but it {never}"


def _is_about(case: Case, job: Job, reason: str) -> bool:
    """Return whether the figures in a reason are those of a job and of the machine."""
    if _NAMES.search(reason):
        return True
    numbers = {float(text) for text in _NUMBER.findall(reason)}
    return bool(numbers) and numbers <= case.demands.figures(job)


def _is_hopeless(case: Case, row: int, job: Job, succeeded: Ints, reason: str) -> bool:
    """Return whether a job waited for what may never have come: for the job that a reason names, if it names one."""
    workload = case.rows.workloads[row]
    match = _OF_OTHERS.match(reason)
    named = "" if match is None or match[1] is None else match[1]
    if job.parent and case.other(row, job.parent) is None:
        return True
    waits = job.waits_for
    if named and not any(not one.job or named == full_name(workload, one.job) for one in waits):
        return False
    if reason.endswith("which depends on it in turn"):
        return _is_in_circle(case, row)
    return any(_may_be_unmet(one, case.other(row, one.job), succeeded) for one in waits)


def _is_in_circle(case: Case, row: int) -> bool:
    """Return whether a job waits for itself, by way of others."""
    seen: set[int] = set()
    pending = _waited_for(case, row)
    while pending:
        other = pending.pop()
        if other == row:
            return True
        if other not in seen:
            seen.add(other)
            pending += _waited_for(case, other)
    return False


def _waited_for(case: Case, row: int) -> list[int]:
    """Return the rows of the jobs that a job waits for by what it says: those it names, and those of its name."""
    job = case.jobs[row]
    found = [case.other(row, one.job) for one in job.waits_for if one.job] if job is not None else []
    if job is not None and any(one.kind == "singleton" for one in job.waits_for):
        alike = (at for at, one in enumerate(case.jobs) if at != row and _namesakes(one) == _namesakes(job))
        return [*alike, *(at for at in found if at is not None)]
    return [at for at in found if at is not None]


def _may_be_unmet(one: Dependency, other: int | None, succeeded: Ints) -> bool:
    if one.kind == "afterok":
        return other is None or not succeeded[other]
    # Of jobs that wait for each other, one is rejected whatever they wait for, and the others may go on.
    return other is None or bool(succeeded[other]) if one.kind == "afternotok" else True
