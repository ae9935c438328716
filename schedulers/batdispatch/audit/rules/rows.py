"""What each row of a jobs file must say, by itself and of its job in the workload."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from batdispatch.audit.case import Case, Mask, faults, rule
from batdispatch.audit.findings import Fault
from batdispatch.audit.hosts import Floats
from batdispatch.audit.rows import COLUMNS
from batdispatch.audit.words import FAILED, KILLED, RUNTIME_TOLERANCE, SUCCESS, TOLERANCE, WALLTIME
from batdispatch.audit.workload import spreads

Found = Iterator[Fault]


@rule("columns", "rows", "The jobs file has Batsim 4's columns, in its order.", "embedded")
def columns(case: Case) -> Found:
    if case.rows.header != COLUMNS:
        yield Fault(f"found {','.join(case.rows.header)[:200]}, expected {','.join(COLUMNS)}")


@rule("job twice", "rows", "Each job stands in the jobs file once.")
def job_twice(case: Case) -> Found:
    first = case.rows.row_of
    again = np.array([first[name] != row for row, name in enumerate(case.rows.names)], dtype=bool)
    yield from faults(again, lambda row: "stands in the jobs file more than once")


@rule("unknown job", "rows", "Each row is of a job of the workload, or of one that the exchange registers.")
def unknown_job(case: Case) -> Found:
    if case.course is None and case.said.get("dynamic_jobs"):
        case.skipped["unknown job"] = "jobs were registered while the simulation ran, and no exchange says which"
        return
    unknown = np.array([job is None for job in case.jobs], dtype=bool)
    text = "is neither in the workload nor registered while the simulation ran"
    yield from faults(unknown, lambda row: text, case.rows.submission)


@rule("missing job", "rows", "Each job of the workload has a row.")
def missing_job(case: Case) -> Found:
    there = {id(job) for job in case.jobs}
    for job in case.workload.jobs:
        if id(job) not in there:
            yield Fault("is in the workload and not in the jobs file", job=str(job.id), time=job.subtime)


@rule("submission", "rows", "A job is submitted when the workload, or its registration, says so.")
def submission(case: Case) -> Found:
    given, expected = case.rows.submission, case.column(lambda job: job.subtime, case.rows.submission)
    wrong = ~(np.abs(given - expected) <= TOLERANCE)
    yield from faults(wrong, lambda row: f"submitted at {given[row]:.6f}, the workload says {expected[row]:.6f}", given)


@rule("request", "rows", "A job asks for as many units as the workload, or its registration, says.")
def request(case: Case) -> Found:
    given, expected = case.rows.size, case.column(lambda job: job.res, case.rows.size)
    yield from faults(
        given != expected,
        lambda row: f"requested_number_of_resources is {given[row]}, the workload says {expected[row]:.0f}",
    )


@rule("walltime asked", "rows", "A job asks for the walltime that the workload, or its registration, says.")
def walltime_asked(case: Case) -> Found:
    given, expected = case.rows.walltime, case.column(lambda job: job.limit, case.rows.walltime)
    with np.errstate(invalid="ignore"):
        # Two infinities are equal and their difference is none.
        wrong = ~((given == expected) | (np.abs(given - expected) <= TOLERANCE))
    yield from faults(wrong, lambda row: f"requested_time is {given[row]:g}, the workload says {expected[row]:g}")


@rule("profile", "rows", "A job has the profile that it was submitted with.")
def profile(case: Case) -> Found:
    named = case.rows.profiles
    # A folder whose files name no profiles has none to be wrong about.
    if any(named):
        for row, (name, job) in enumerate(zip(named, case.jobs, strict=True)):
            if job is not None and name != job.profile:
                yield Fault(f"is {name!r}, the job has {job.profile!r}", row)


@rule("workload name", "rows", "Jobs of the workload carry its name.")
def workload_name(case: Case) -> Found:
    # Jobs of one file have one workload. In what Batsim wrote it may have any name.
    registered = {} if case.course is None else case.course.jobs
    known = [(row, job) for row, job in enumerate(case.jobs) if job is not None and row not in registered]
    usual = Counter(case.rows.workloads[row] for row, _ in known).most_common(1)
    for row, job in known:
        name = case.rows.workloads[row]
        if name not in (usual[0][0], str(job.id).rpartition("!")[0]):
            yield Fault(f"is {name!r}, the other jobs of the workload have {usual[0][0]!r}", row)


@rule("early start", "rows", "No job starts before its submission.")
def early_start(case: Case) -> Found:
    rows = case.rows
    wrong = rows.ran & (rows.start < rows.submission - TOLERANCE)
    yield from faults(
        wrong, lambda row: f"started at {rows.start[row]:.6f}, before its submission at {rows.submission[row]:.6f}"
    )


@rule("negative run time", "rows", "No job ends before its start.")
def negative_run_time(case: Case) -> Found:
    rows = case.rows
    wrong = rows.ran & (rows.finish < rows.start - TOLERANCE)
    yield from faults(
        wrong, lambda row: f"finished at {rows.finish[row]:.6f}, before its start at {rows.start[row]:.6f}"
    )


def _follows(case: Case, given: Floats, expected: Floats) -> Found:
    # Written so that a time that is not there is wrong, too.
    wrong = case.rows.ran & ~(np.abs(given - expected) <= TOLERANCE)
    yield from faults(wrong, lambda row: f"is {given[row]:.6f}, the times of the row give {expected[row]:.6f}")


@rule("execution time", "rows", "The execution time is from start to end.")
def execution_time(case: Case) -> Found:
    return _follows(case, case.rows.execution, case.rows.finish - case.rows.start)


@rule("waiting time", "rows", "The waiting time is from submission to start.")
def waiting_time(case: Case) -> Found:
    return _follows(case, case.rows.waiting, case.rows.start - case.rows.submission)


@rule("turnaround time", "rows", "The turnaround time is from submission to end.")
def turnaround_time(case: Case) -> Found:
    return _follows(case, case.rows.turnaround, case.rows.finish - case.rows.submission)


@rule("stretch", "rows", "The stretch is the turnaround time over the run time.")
def stretch(case: Case) -> Found:
    rows, run, slack = case.rows, case.run_time, 1.5e-6
    turnaround = rows.finish - rows.submission
    with np.errstate(divide="ignore", invalid="ignore"):
        least = (turnaround - slack) / (run + slack) - slack
        most = np.where(run > slack, (turnaround + slack) / (run - slack) + slack, np.inf)
        # What takes no time has no stretch, and is written in several ways.
        inside = ((rows.stretch >= least) & (rows.stretch <= most)) | (np.isnan(rows.stretch) & (run <= slack))
        exact = turnaround / run
    wrong = rows.ran & ~inside
    yield from faults(wrong, lambda row: f"is {rows.stretch[row]:.6f}, the times of the row give {exact[row]:.6f}")


@rule("energy", "rows", "The energy is -1 where none was counted, as always in the embedded engine.")
def energy(case: Case) -> Found:
    given = case.rows.energy
    wrong = case.rows.ran & (given != -1) & (case.embedded | ~(given >= 0))
    yield from faults(wrong, lambda row: f"consumed_energy is {given[row]:g} J, expected -1, since none was counted")


@rule("state", "rows", "A job succeeded if its final state says so, and only then.")
def state(case: Case) -> Found:
    rows = case.rows
    yield from faults(
        rows.success != rows.is_state(SUCCESS),
        lambda row: f"success is {int(rows.success[row])} while the final state is {rows.states[row]}",
        rows.finish,
    )


@rule("rejected and run", "rows", "A job that was rejected has no times, and one that ran was not rejected.")
def rejected_and_run(case: Case) -> Found:
    rows, course = case.rows, case.course
    yield from faults(
        ~rows.ran & ~(np.isnan(rows.start) & np.isnan(rows.finish)), lambda row: "was rejected and has times"
    )
    if course is not None and course.complete:
        wrong = rows.ran & ~np.isnan(course.rejected)
        yield from faults(wrong, lambda row: f"ran, and was rejected at {course.rejected[row]:.6f}")


@rule("rejected and placed", "rows", "A job that was rejected has no hosts.")
def rejected_and_placed(case: Case) -> Found:
    wrong = ~case.rows.ran & (case.rows.hosts.sizes > 0)
    yield from faults(wrong, lambda row: "was rejected and holds hosts")


# ---------------------------------------------------------------------- run times


def _outlives(case: Case, wrong: Mask, limit: Floats, text: str) -> Found:
    run = case.run_time
    yield from faults(wrong, lambda row: f"{text.format(run=run[row], limit=limit[row])}", case.rows.finish)


@rule("walltime exceeded", "rows", "No job runs for longer than its walltime.")
def walltime_exceeded(case: Case) -> Found:
    limit = case.rows.walltime
    wrong = case.rows.ran & (case.run_time > limit + RUNTIME_TOLERANCE)
    return _outlives(case, wrong, limit, "ran for {run:.6f} s, its walltime is {limit:g} s")


@rule("walltime not reached", "rows", "A job that was ended at its walltime ran for so long.")
def walltime_not_reached(case: Case) -> Found:
    limit = case.rows.walltime
    wrong = case.rows.is_state(WALLTIME) & (case.run_time < limit - RUNTIME_TOLERANCE)
    return _outlives(case, wrong, limit, "was ended at its walltime of {limit:g} s after {run:.6f} s")


@rule("return code", "rows", "A job succeeded or failed as the return code of its profile says.")
def return_code(case: Case) -> Found:
    codes = np.array([np.nan if end.code is None else end.code for end in case.ends], dtype=np.float64)
    good, bad = case.rows.is_state(SUCCESS) & (codes != 0), case.rows.is_state(FAILED) & (codes == 0)
    wrong = (good | bad) & ~np.isnan(codes)
    states = case.rows.states
    yield from faults(wrong, lambda row: f"is {states[row]}, its profile returns {codes[row]:.0f}", case.rows.finish)


@rule("run time", "rows", "A job that ended by itself ran for as long as its profile takes.")
def run_time(case: Case) -> Found:
    expected = case.seconds
    unknown = int(np.isnan(expected).sum())
    if unknown:
        case.skipped["run time"] = f"{unknown} jobs have profiles whose time depends on the platform or on messages"
    wrong = case.rows.is_state(SUCCESS, FAILED) & (np.abs(case.run_time - expected) > RUNTIME_TOLERANCE)
    return _outlives(case, wrong, expected, "ran for {run:.6f} s, its profile takes {limit:.6f} s")


@rule("cut short", "rows", "A job that was ended at its walltime had not finished before.")
def cut_short(case: Case) -> Found:
    expected = case.seconds
    wrong = case.rows.is_state(WALLTIME) & (expected < case.rows.walltime - RUNTIME_TOLERANCE)
    return _outlives(
        case, wrong, expected, "was ended at its walltime after {run:.6f} s, its profile takes {limit:.6f} s"
    )


@rule("killed late", "rows", "A job that was killed had not finished before.")
def killed_late(case: Case) -> Found:
    expected = case.seconds
    wrong = case.rows.is_state(KILLED) & (case.run_time > expected + RUNTIME_TOLERANCE)
    return _outlives(case, wrong, expected, "was killed after {run:.6f} s, its profile takes {limit:.6f} s")


# ---------------------------------------------------------------------- hosts of a row


@rule("allocation size", "rows", "A job holds as many units as it asked for.")
def allocation_size(case: Case) -> Found:
    held, rows = case.units.held, case.rows
    asked = {job.profile for job in case.jobs if job is not None}
    free = {name for name in asked if spreads(name, case.workload.profiles)}
    any_size = np.array([job is not None and job.profile in free for job in case.jobs], dtype=bool)
    wrong = rows.ran & (held != rows.size) & ~(any_size & (held > 0))
    yield from faults(wrong, lambda row: f"holds {held[row]} units, asked for {rows.size[row]}")


@rule("host twice", "rows", "A job's hosts are different ones.")
def host_twice(case: Case) -> Found:
    for row in case.rows.hosts.twice().tolist():
        yield Fault("its allocation names a host more than once", row)


@rule("host", "rows", "A job's hosts are hosts of the platform that run jobs.")
def host(case: Case) -> Found:
    hosts, machine = case.rows.hosts, case.machine
    for index in np.flatnonzero(hosts.last >= machine.size).tolist():
        wrong = max(int(hosts.first[index]), machine.size)
        there = len(machine.names)
        problem = "is no compute host" if wrong < there else f"is not on the platform, which has {there} hosts"
        yield Fault(problem, int(hosts.row[index]), host=machine.name(wrong))
