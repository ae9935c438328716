"""Whether decisions and profiles explain what became of each job: its start, its end, its state, its rejection."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.job import Job, JobState
from batdispatch.core.request import Dependency
from batdispatch.results.audit.exchange import Heard
from batdispatch.results.audit.findings import Violation
from batdispatch.results.audit.jobs import Facts
from batdispatch.results.audit.rows import TOLERANCE, Mask, Rows
from batdispatch.results.audit.setting import Setting
from batdispatch.results.lineage import Lineage
from batdispatch.results.run_files import RECORDING

#: How the reasons begin that are given before a dispatcher hears of a job: what they claim can be worked out again.
_CLAIMS = ("asks for ", "depends on ", "continues ")


def check_course(rows: Rows, heard: Heard) -> None:
    """Each job was submitted, started, and ended or rejected in the exchange, where and when the jobs file says.

    Args:
        rows: of the jobs file.
        heard: what the exchange says; what comes after the place where it breaks off is not asked for.
    """
    whole = heard.course.complete
    rows.report(
        "submission told",
        whole & ~heard.submitted,
        lambda row: f"is in the jobs file, and {RECORDING} never says that it was submitted",
        rows.submission,
    )
    ordered, ended = ~np.isnan(heard.ordered), ~np.isnan(heard.ended)
    rows.report(
        "start ordered",
        rows.ran & _apart(rows.start, heard.ordered, heard.late, whole),
        lambda row: (
            f"started at {rows.start[row]:.6f}, "
            + (f"it is of {heard.ordered[row]:.6f}" if ordered[row] else f"{RECORDING} holds no EXECUTE_JOB for it")
        ),
        rows.start,
    )
    # An end is told after it, a start is ordered before it.
    rows.report(
        "end told",
        rows.ran & _apart(heard.ended, rows.left, heard.told_late, whole),
        lambda row: (
            f"finished at {rows.finish[row]:.6f}, "
            + (
                f"{RECORDING} tells its end at {heard.ended[row]:.6f}"
                if ended[row]
                else f"{RECORDING} does not tell its end"
            )
        ),
        rows.finish,
    )
    states = np.array(heard.state, dtype=object)
    rows.report(
        "state told",
        rows.ran & ended & (states != rows.state),
        lambda row: f"is {rows.state[row]}, {RECORDING} tells that it ended {states[row]}",
        rows.finish,
    )
    rejected = ~np.isnan(heard.rejected)
    rows.report(
        "rejection ordered",
        whole & ~rows.ran & ~rejected,
        lambda row: (
            "is rejected in the jobs file, "
            + (
                f"and was started at {heard.ordered[row]:.6f}"
                if ordered[row]
                else f"and {RECORDING} holds no REJECT_JOB for it"
            )
        ),
    )
    rows.report(
        "rejected and run",
        rows.ran & rejected,
        lambda row: f"ran, and was rejected at {heard.rejected[row]:.6f}",
        rows.start,
    )
    rows.report(
        "metadata",
        whole & np.array([heard.metadata.get(row, "") != text for row, text in enumerate(rows.metadata)], dtype=bool),
        lambda row: f"is {rows.metadata[row][:80]!r}, {RECORDING} gives it {heard.metadata.get(row, '')[:80]!r}",
    )


def _apart(later: NDArray[np.float64], earlier: NDArray[np.float64], slack: NDArray[np.float64], whole: bool) -> Mask:
    """Return where `later` is not from `earlier` to `slack` seconds after it; where nothing is said, `whole`."""
    with np.errstate(invalid="ignore"):
        wrong = (later < earlier - TOLERANCE) | (later > earlier + slack)
    missing = np.isnan(later) | np.isnan(earlier)
    return np.asarray(wrong | (missing & whole), dtype=np.bool_)


def check_kills(rows: Rows, heard: Heard | None) -> None:
    """A job that was killed was ordered to be, at that time, and an order to kill ends a job.

    Args:
        rows: of the jobs file.
        heard: what the exchange says; None: there is none.
    """
    dead = rows.is_state(JobState.COMPLETED_KILLED)
    if heard is None:
        if dead.any():
            rows.findings.skipped["kill ordered"] = f"no exchange says who killed {int(dead.sum())} jobs"
        return
    if not heard.course.complete:
        return
    killed = ~np.isnan(heard.killed)
    rows.report(
        "kill ordered",
        dead & _apart(rows.left, heard.killed, heard.late, whole=True),
        lambda row: (
            f"was killed at {rows.finish[row]:.6f}, "
            + (
                f"its KILL_JOB is of {heard.killed[row]:.6f}"
                if killed[row]
                else f"{RECORDING} holds no KILL_JOB for it"
            )
        ),
        rows.finish,
    )
    with np.errstate(invalid="ignore"):
        outlived = rows.ran & killed & (rows.finish > heard.killed + heard.late)
    rows.report(
        "kill ignored",
        outlived & ~dead,
        lambda row: f"finished at {rows.finish[row]:.6f}, although it was killed at {heard.killed[row]:.6f}",
        rows.finish,
    )


def check_rejections(rows: Rows, facts: Facts, lineage: Lineage, setting: Setting) -> None:
    """A rejected job cannot run on this machine, waited for what never came, or its dispatcher said why."""
    rows.findings.checked.append("rejection")
    reasons = setting.reasons()
    succeeded: Mapping[tuple[str, str], bool] | None = None
    unexplained = 0
    names = {}
    for row in np.flatnonzero(~rows.ran).tolist():
        workload = rows.workloads[row]
        name = f"{workload}!{rows.ids[row].removeprefix(f'{workload}!')}"
        names[name] = row
        job = facts.jobs[row]
        reason = None if reasons is None else reasons.get(name)
        if reasons is not None and reason is None:
            rows.add("rejection", "is rejected in the jobs file, and result.json does not list it", row)
            continue
        if job is None:
            continue
        never = setting.why_never(job)
        if never:
            # The protocol has no word for the reason of another program's scheduler.
            if reason is not None and reason != never and setting.result.get("decision_time") != "own":
                rows.add("rejection", f"result.json gives the reason {reason[:200]!r}, but it {never}", row)
            continue
        if succeeded is None and (job.parent or job.request.dependencies):
            succeeded = _succeeded(rows, lineage)
        if not _hopeless(job, rows, row, succeeded or {}):
            if reason and not reason.startswith(_CLAIMS):
                continue
            if reasons is None:
                unexplained += 1
                continue
            given = f"the reason {reason[:200]!r} is not so" if reason else "no reason is given"
            rows.add("rejection", f"could run on this machine and waited for no job that failed: {given}", row)
    if unexplained:
        rows.findings.skipped["rejection"] = f"nothing says why {unexplained} jobs were rejected that could have run"
    for name in () if reasons is None else reasons:
        if name not in names:
            message = "result.json lists it as rejected, the jobs file does not"
            rows.findings.add(Violation("rejection", message, job=name.partition("!")[2]))


def _succeeded(rows: Rows, lineage: Lineage) -> Mapping[tuple[str, str], bool]:
    """Return whether each logical job succeeded, by workload and name of its first segment and of each other."""
    good = np.zeros(len(rows.ids), dtype=bool)
    good[lineage.root[rows.is_state(JobState.COMPLETED_SUCCESSFULLY)]] = True
    joined = good[lineage.root].tolist()
    return {
        (workload, name.removeprefix(f"{workload}!")): joined[row]
        for row, (workload, name) in enumerate(zip(rows.workloads, rows.ids, strict=True))
    }


def _hopeless(job: Job, rows: Rows, row: int, succeeded: Mapping[tuple[str, str], bool]) -> bool:
    """Return whether a job waited for jobs that never succeeded, or continues one that nobody knows."""

    def key(name: str) -> tuple[str, str]:
        workload, mark, short = name.partition("!")
        return (workload, short) if mark else (rows.workloads[row], name)

    if job.parent and key(job.parent) not in succeeded:
        return True
    return any(_unmet(one, succeeded.get(key(one.job))) for one in job.request.dependencies)


def _unmet(one: Dependency, succeeded: bool | None) -> bool:
    """Return whether a dependency may never have been met; `succeeded`: the other logical job; None: it never came."""
    if one.kind == "afterok":
        return not succeeded
    # Of jobs that wait for each other, one is rejected whatever they wait for, and the others may go on.
    return succeeded is not False if one.kind == "afternotok" else True


def check_lineage_told(rows: Rows, facts: Facts, lineage: Lineage, heard: Heard | None) -> None:
    """lineage.csv joins the jobs that the exchange, or else the workload, says to continue each other."""
    if heard is not None and not heard.course.complete:
        return
    rows.findings.checked.append("lineage told")
    told: Mapping[int, int] = _parents_asked(rows, facts) if heard is None else heard.parents
    # Without an exchange, nothing tells which jobs were registered and why.
    listed = set() if heard is None else set(np.flatnonzero(lineage.parent >= 0).tolist())
    for row in sorted({*told, *listed}):
        found, expected = int(lineage.parent[row]), told.get(row, -1)
        if found != expected:
            said, is_so = (
                f"continues job {rows.ids[other]}" if other >= 0 else "continues no job" for other in (found, expected)
            )
            rows.add("lineage told", f"{said} by lineage.csv, and it {is_so}", row)


def _parents_asked(rows: Rows, facts: Facts) -> dict[int, int]:
    """Return the row of the job that each job continues by the workload, by row; what is continued came before."""
    found = {}
    for row in facts.jobs.continuing():
        job = facts.jobs[row]
        name = "" if job is None else job.parent
        parent = rows.row_of.get(name if "!" in name else f"{rows.workloads[row]}!{name}")
        if parent is not None and rows.submission[parent] <= rows.submission[row]:
            found[row] = parent
    return found
