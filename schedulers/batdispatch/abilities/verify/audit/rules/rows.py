"""What each row of a jobs file must say, by itself and of its job in the workload."""

from __future__ import annotations

from collections import Counter

import numpy as np

from batdispatch.abilities.verify.audit.case import Case, Faults, Mask, claim, rule
from batdispatch.abilities.verify.audit.findings import (
    FAILED,
    KILLED,
    RUNTIME_TOLERANCE,
    SUCCESS,
    TOLERANCE,
    WALLTIME,
    Fault,
    part,
)
from batdispatch.abilities.verify.audit.hosts import Floats
from batdispatch.abilities.verify.audit.workload import spreads


@claim("rows", "stands in the jobs file more than once")
def job_twice(case: Case) -> Mask:
    """Each job stands in the jobs file once."""
    first = case.rows.row_of
    return np.array([first[name] != row for row, name in enumerate(case.rows.names)], dtype=bool)


@claim("rows", "is neither in the workload nor registered while the simulation ran", time="submission")
def unknown_job(case: Case) -> Mask:
    """Each row is of a job of the workload, or of one that the exchange registers."""
    if case.course is None and case.said.get("dynamic_jobs"):
        case.skipped["unknown job"] = "jobs were registered while the simulation ran, and no exchange says which"
        return np.zeros(len(case.rows), dtype=bool)
    return np.array([job is None for job in case.jobs], dtype=bool)


@rule("rows")
def missing_job(case: Case) -> Faults:
    """Each job of the workload has a row."""
    there = {id(job) for job in case.jobs}
    for job in case.workload.jobs:
        if id(job) not in there:
            yield Fault("is in the workload and not in the jobs file", job=str(job.id), time=job.subtime)


# ---------------------------------------------------------------------- what was asked for


def _differ(one: Floats, other: Floats) -> Mask:
    """Return where two times differ; two infinities do not, and a time that is not there differs from any."""
    with np.errstate(invalid="ignore"):
        return np.asarray(~((one == other) | (np.abs(one - other) <= TOLERANCE)))


@claim("rows", "submitted at {submission:.6f}, the workload says {due:.6f}", time="submission")
def submission(case: Case) -> Mask:
    """A job is submitted when the workload, or its registration, says so."""
    return _differ(case.rows.submission, case.due)


@claim("rows", "requested_number_of_resources is {size}, the workload says {asked:.0f}")
def request(case: Case) -> Mask:
    """A job asks for as many units as the workload, or its registration, says."""
    return np.asarray(case.rows.size != case.asked)


@claim("rows", "requested_time is {walltime:g}, the workload says {limit:g}")
def walltime_asked(case: Case) -> Mask:
    """A job asks for the walltime that the workload, or its registration, says."""
    return _differ(case.rows.walltime, case.limit)


@rule("rows")
def profile(case: Case) -> Faults:
    """A job has the profile that it was submitted with."""
    named = case.rows.profiles
    # A folder whose files name no profiles has none to be wrong about.
    for row, job in enumerate(case.jobs if any(named) else ()):
        if job is not None and named[row] != job.profile:
            yield Fault(f"is {named[row]!r}, the job has {job.profile!r}", row)


@rule("rows")
def workload_name(case: Case) -> Faults:
    """Jobs of the workload carry its name."""
    # Jobs of one file have one workload. In what Batsim wrote it may have any name.
    registered = {} if case.course is None else case.course.jobs
    known = [(row, job) for row, job in enumerate(case.jobs) if job is not None and row not in registered]
    usual = Counter(case.rows.workloads[row] for row, _ in known).most_common(1)
    for row, job in known:
        name = case.rows.workloads[row]
        if name not in (usual[0][0], str(job.id).rpartition("!")[0]):
            yield Fault(f"is {name!r}, the other jobs of the workload have {usual[0][0]!r}", row)


# ---------------------------------------------------------------------- times and states


@claim("rows", "started at {start:.6f}, before its submission at {submission:.6f}")
def early_start(case: Case) -> Mask:
    """No job starts before its submission."""
    return case.rows.ran & (case.rows.start < case.rows.submission - TOLERANCE)


@claim("rows", "finished at {finish:.6f}, before its start at {start:.6f}")
def negative_run_time(case: Case) -> Mask:
    """No job ends before its start."""
    return case.rows.ran & (case.run_time < -TOLERANCE)


@claim("rows", "is {execution:.6f}, the job was there from {start:.6f} to {finish:.6f}")
def execution_time(case: Case) -> Mask:
    """The execution time is from start to end."""
    return case.rows.ran & _differ(case.rows.execution, case.run_time)


@claim("rows", "is {waiting:.6f}, the job waited from {submission:.6f} to {start:.6f}")
def waiting_time(case: Case) -> Mask:
    """The waiting time is from submission to start."""
    return case.rows.ran & _differ(case.rows.waiting, case.rows.start - case.rows.submission)


@claim("rows", "is {turnaround:.6f}, the job was there from {submission:.6f} to {finish:.6f}")
def turnaround_time(case: Case) -> Mask:
    """The turnaround time is from submission to end."""
    return case.rows.ran & _differ(case.rows.turnaround, case.rows.finish - case.rows.submission)


@claim("rows", "is {stretch:.6f}, the job came at {submission:.6f} and ran from {start:.6f} to {finish:.6f}")
def stretch(case: Case) -> Mask:
    """The stretch is the turnaround time over the run time."""
    rows, run, slack = case.rows, case.run_time, 1.5e-6
    turnaround, some = rows.finish - rows.submission, run > slack
    with np.errstate(divide="ignore", invalid="ignore"):
        least, most = (turnaround - slack) / (run + slack), (turnaround + slack) / (run - slack)
    inside = (rows.stretch >= least - slack) & (~some | (rows.stretch <= most + slack))
    # What takes no time has no stretch, and is written in several ways.
    return rows.ran & ~(inside | (np.isnan(rows.stretch) & ~some))


@claim("rows", "consumed_energy is {energy:g} J, expected -1, since none was counted")
def energy(case: Case) -> Mask:
    """The energy is -1 where none was counted, as in the embedded engine without power states."""
    given = case.rows.energy
    uncounted = case.embedded and part(case.said, "engine").get("energy") is None
    return np.asarray(case.rows.ran & (given != -1) & (uncounted | ~(given >= 0)))


@claim("rows", "success is {success:d} while the final state is {states}", time="finish")
def state(case: Case) -> Mask:
    """A job succeeded if its final state says so, and only then."""
    return np.asarray(case.rows.success != case.rows.is_state(SUCCESS))


@rule("rows")
def rejected_and_run(case: Case) -> Faults:
    """A job that was rejected has no times and no hosts, and one that ran was not rejected."""
    rows, course = case.rows, case.course
    for row in np.flatnonzero(~rows.ran & ~(np.isnan(rows.start) & np.isnan(rows.finish))).tolist():
        yield Fault("was rejected and has times", row)
    for row in np.flatnonzero(~rows.ran & (rows.hosts.sizes > 0)).tolist():
        yield Fault("was rejected and holds hosts", row)
    if course is not None and course.complete:
        for row in np.flatnonzero(rows.ran & ~np.isnan(course.rejected)).tolist():
            yield Fault(f"ran, and was rejected at {course.rejected[row]:.6f}", row)


# ---------------------------------------------------------------------- run times


@claim("rows", "ran for {run_time:.6f} s, its walltime is {walltime:g} s", time="finish")
def walltime_exceeded(case: Case) -> Mask:
    """No job runs for longer than its walltime."""
    return case.rows.ran & (case.run_time > case.rows.walltime + RUNTIME_TOLERANCE)


@claim("rows", "was ended at its walltime of {walltime:g} s after {run_time:.6f} s", time="finish")
def walltime_not_reached(case: Case) -> Mask:
    """A job that was ended at its walltime ran for so long."""
    return case.rows.is_state(WALLTIME) & (case.run_time < case.rows.walltime - RUNTIME_TOLERANCE)


@claim("rows", "is {states}, its profile returns {codes:.0f}", time="finish")
def return_code(case: Case) -> Mask:
    """A job succeeded or failed as the return code of its profile says."""
    good, bad = case.rows.is_state(SUCCESS), case.rows.is_state(FAILED)
    return np.asarray(((good & (case.codes != 0)) | (bad & (case.codes == 0))) & ~np.isnan(case.codes))


@claim("rows", "ran for {run_time:.6f} s, its profile takes {seconds:.6f} s", time="finish")
def run_time(case: Case) -> Mask:
    """A job that ended by itself ran for as long as its profile takes."""
    if unknown := int(np.isnan(case.seconds).sum()):
        case.skipped["run time"] = f"{unknown} jobs have profiles whose time depends on the platform or on messages"
    return case.rows.is_state(SUCCESS, FAILED) & (np.abs(case.run_time - case.seconds) > RUNTIME_TOLERANCE)


@claim("rows", "was ended at its walltime after {run_time:.6f} s, its profile takes {seconds:.6f} s", time="finish")
def cut_short(case: Case) -> Mask:
    """A job that was ended at its walltime had not finished before."""
    return case.rows.is_state(WALLTIME) & (case.seconds < case.rows.walltime - RUNTIME_TOLERANCE)


@claim("rows", "was killed after {run_time:.6f} s, its profile takes {seconds:.6f} s", time="finish")
def killed_late(case: Case) -> Mask:
    """A job that was killed had not finished before."""
    return case.rows.is_state(KILLED) & (case.run_time > case.seconds + RUNTIME_TOLERANCE)


# ---------------------------------------------------------------------- hosts of a row


@claim("rows", "holds {held} units, asked for {size}")
def allocation_size(case: Case) -> Mask:
    """A job holds as many units as it asked for."""
    held, named = case.held, {job.profile for job in case.jobs if job is not None}
    free = {name for name in named if spreads(name, case.workload.profiles)}
    any_size = np.array([job is not None and job.profile in free for job in case.jobs], dtype=bool)
    return np.asarray(case.rows.ran & (held != case.rows.size) & ~(any_size & (held > 0)))


@claim("rows", "its allocation names a host more than once")
def host_twice(case: Case) -> Mask:
    """A job's hosts are different ones."""
    return np.isin(np.arange(len(case.rows)), case.rows.hosts.twice())


@rule("rows")
def host(case: Case) -> Faults:
    """A job's hosts are hosts of the platform that run jobs."""
    hosts, machine = case.rows.hosts, case.machine
    for index in np.flatnonzero(hosts.last >= machine.size).tolist():
        wrong = max(int(hosts.first[index]), machine.size)
        there = len(machine.names)
        problem = "is no compute host" if wrong < there else f"is not on the platform, which has {there} hosts"
        yield Fault(problem, int(hosts.row[index]), host=machine.name(wrong))
