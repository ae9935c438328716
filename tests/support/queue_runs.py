"""Runs of the package on the cases of `queue_cases`: what became of the jobs, and whether rejections have a cause."""

import csv
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import queue_cases
import queue_rules
from batdispatch.core.hosts import hostset
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.session import Session
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import read_workload
from queue_twin import Outcome

Fields = dict[str, Any]
ENDS = ("COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED")


class Run(NamedTuple):
    """Rows of jobs.csv by id, the reason of each rejection, and the ledger as it was left."""

    rows: dict[str, dict[str, str]]
    reasons: dict[str, str]
    ledger: Ledger

    def starts(self) -> dict[str, tuple[float, tuple[int, ...]] | None]:
        """When and where each job started; None: it was rejected."""
        return {
            name: None
            if row["final_state"] == "REJECTED"
            else (float(row["starting_time"]), tuple(hostset.ids(hostset.from_text(row["allocated_resources"]))))
            for name, row in self.rows.items()
        }


def run(case: Fields, dispatcher: str) -> Run:
    """Simulate a case under a dispatcher."""
    chosen = create(dispatcher)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        platform, workload = queue_cases.write(case, folder)
        machine, session = read_platform(platform).machine, Session(chosen)
        options = EngineOptions(dynamic_jobs=chosen.registers_jobs)
        EmbeddedEngine(machine, read_workload(workload), Outputs(folder, machine.size), options=options).run(session)
        with (folder / "jobs.csv").open(newline="") as lines:
            rows = {row["job_id"]: row for row in csv.DictReader(lines)}
    ledger = session.ledger
    assert ledger is not None
    ledger.check()
    return Run(rows, {name.removeprefix("w0!"): reason for name, reason in ledger.rejections}, ledger)


def starts_of(outcomes: dict[str, Outcome]) -> dict[str, tuple[float, tuple[int, ...]] | None]:
    """What `Run.starts` is expected to be by the twin."""
    return {name: None if one.start is None else (float(one.start), one.hosts) for name, one in outcomes.items()}


def check_ends(case: Fields, found: Run) -> None:
    """Check that no job is lost, and that each ends by itself in the end or is rejected for a reason that holds."""
    last = {_first(name, case): row["final_state"] for name, row in found.rows.items()}
    assert last.keys() == {job["id"] for job in case["jobs"]}, "no job is lost, and there is none beside"
    for job in case["jobs"]:
        state = last[job["id"]]
        if state == "REJECTED":
            reason = found.reasons[job["id"]]
            assert _holds(case, job, reason, last), f"case {case['seed']}: job {job['id']} was rejected: {reason}"
        else:
            assert state in ENDS, f"case {case['seed']}: job {job['id']} ended {state}"


def _first(name: str, case: Fields) -> str:
    """The logical job to which a row belongs: layers put a tilde and a number behind its id."""
    return name.partition("~")[0]


def _holds(case: Fields, job: Fields, reason: str, last: dict[str, str]) -> bool:
    """Whether a job was rejected for something that is so."""
    conditions = [one if isinstance(one, dict) else {"job": one} for one in job.get("dependencies", [])]
    kinds = {(one.get("kind", "afterok"), one.get("job")) for one in conditions}
    other = reason.partition(" job w0!")[2].partition(",")[0]
    if reason.endswith("which depends on it in turn"):
        return other in _awaited(case, job) and job["id"] in _reached(case, other)
    if reason.startswith("depends on the failure of job"):
        return ("afternotok", other) in kinds and last[other] == ENDS[0]
    if reason.startswith("depends on job"):
        return ("afterok", other) in kinds and last[other] != ENDS[0]
    if reason == "its reservation ends too soon for it":
        return queue_rules.own_reservation(case, job) is not None
    return queue_rules.is_refused(case, job)


def _awaited(case: Fields, job: Fields) -> set[str]:
    """The jobs that a job may ever wait for."""
    asked = job.get("dependencies", [])
    names = {one if isinstance(one, str) else one.get("job", "") for one in asked} - {""}
    if {"kind": "singleton"} in asked:
        ahead = case["jobs"][: case["jobs"].index(job)]
        names |= {one["id"] for one in ahead if one.get("name") == job["name"] and one.get("user") == job.get("user")}
    return names


def _reached(case: Fields, name: str) -> set[str]:
    """The jobs that a job may wait for in the end."""
    by_id = {job["id"]: job for job in case["jobs"]}
    reached: set[str] = set()
    ahead = [name]
    while ahead:
        new = _awaited(case, by_id[ahead.pop()]) - reached
        reached |= new
        ahead += sorted(new)
    return reached
