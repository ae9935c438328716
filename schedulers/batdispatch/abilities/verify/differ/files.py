"""Writes the cases for another simulator to run, and reads what it made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from batdispatch.abilities.verify.differ.cases import CASES, Case
from batdispatch.abilities.verify.differ.hold import Comparison, hold
from batdispatch.abilities.verify.differ.job_files import Schedule, read_schedule
from batdispatch.abilities.verify.differ.options import FileOptions
from batdispatch.abilities.verify.differ.textbook import Rules, seconds, simulate
from batdispatch.abilities.verify.differ.variants import DEFINITIONS, rules_of
from batdispatch.core.errors import InputError
from batdispatch.inputs.files import write_whole
from batdispatch.inputs.platforms import generate
from batdispatch.results.rows import write_rows

#: Endings of the files in which a simulator may leave its schedule.
_ENDINGS = (".csv", ".swf")


def write_cases(folder: Path) -> list[Path]:
    """Write every case into a folder of its own, and return these.

    Each holds the workload in SWF and as Batsim's JSON, a platform, the starts that each policy gives, and what the
    case is about.
    """
    return [_write(case, folder / case.name) for case in CASES]


def _write(case: Case, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "workload.swf", _swf(case).encode())
    write_whole(folder / "workload.json", _json(case).encode())
    write_whole(folder / "platform.xml", generate.flat(case.hosts))
    write_whole(folder / "expected.csv", _expected(case))
    write_whole(folder / "about.txt", f"{case.policy} on {case.hosts} processors.\n{case.about}\n".encode())
    return folder


def _swf(case: Case) -> str:
    lines = ["; Version: 2.2", f"; MaxProcs: {case.hosts}", f"; Note: {case.name}"]
    for name, submission, units, runtime, walltime in case.rows:
        fields = [name, submission, -1, runtime, units, -1, -1, units, walltime, -1, 1, 1, *[-1] * 6]
        lines.append(" ".join(map(str, fields)))
    return "\n".join(lines) + "\n"


def _json(case: Case) -> str:
    jobs = [
        {"id": str(name), "subtime": submission, "res": units, "walltime": walltime, "profile": f"delay{runtime}"}
        for name, submission, units, runtime, walltime in case.rows
    ]
    profiles = {f"delay{row[3]}": {"type": "delay", "delay": row[3]} for row in case.rows}
    return json.dumps({"nb_res": case.hosts, "jobs": jobs, "profiles": profiles}, indent=1) + "\n"


def _expected(case: Case) -> bytes:
    columns = [_starts(case, rules_of(policy, case.hosts)) for policy in DEFINITIONS]
    rows = [[job.id, *(f"{start:g}" for start in starts)] for job, *starts in zip(case.jobs, *columns, strict=True)]
    return write_rows(["job", *DEFINITIONS], rows)


def _starts(case: Case, rules: Rules) -> list[float]:
    found = simulate(case.jobs, rules)
    assert isinstance(found, list)
    return [seconds(start) for start in found if start is not None]


class CaseResult(NamedTuple):
    """What a simulator made of a case."""

    case: Case
    policy: str
    path: Path
    schedule: Schedule
    held: Comparison


def hold_file(path: Path, wanted: FileOptions) -> tuple[Schedule, int, str, Comparison]:
    """Return a schedule, the size of its machine, how that is known, and what came of holding it.

    Args:
        path: of the job file.
        wanted: the definition, and how the file is read.

    Raises:
        InputError: a file is malformed.
    """
    schedule = read_schedule(path, kind=wanted.kind, options=wanted.log_options, log=wanted.log)
    stated = next(iter(schedule.sizes.items()))
    hosts, why = stated if wanted.hosts is None else (wanted.hosts, "as given")
    # Further sizes that the schedule may have been made with, likeliest first.
    others = [size for size in dict.fromkeys([*schedule.sizes, 1 << (hosts - 1).bit_length()]) if size != hosts]
    tolerance = round(wanted.tolerance * 1e6)
    held = hold(schedule.jobs, schedule.starts, wanted.policy, hosts, other_sizes=others, tolerance=tolerance)
    return schedule, hosts, why, held


def checked_cases(folder: Path) -> list[CaseResult]:
    """Return what is found of each schedule beside the cases: ``CASE/POLICY.csv`` of Batsim or ``CASE/POLICY.swf``.

    Raises:
        InputError: there is none, or one cannot be read, or lacks the jobs of its case.
    """
    checked = []
    for case in CASES:
        for policy in DEFINITIONS:
            for path in (folder / case.name / f"{policy}{ending}" for ending in _ENDINGS):
                if path.exists():
                    checked.append(_check(case, policy, path))
    if not checked:
        policies = ", ".join(DEFINITIONS)
        raise InputError(
            f"there is no schedule, expected CASE/POLICY.csv or CASE/POLICY.swf, POLICY one of {policies}",
            source=str(folder),
        )
    return checked


def _check(case: Case, policy: str, path: Path) -> CaseResult:
    schedule = read_schedule(path, log=path.parent / "workload.swf")
    largest = max(job.units for job in case.jobs)
    sizes = [1 << (case.hosts - 1).bit_length(), largest]
    others = [size for size in dict.fromkeys(sizes) if size != case.hosts]
    return CaseResult(
        case, policy, path, schedule, hold(schedule.jobs, schedule.starts, policy, case.hosts, other_sizes=others)
    )
