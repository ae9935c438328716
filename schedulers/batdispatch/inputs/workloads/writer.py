"""Workloads to JSON, Batsim 4's or 5's: one job and one profile a line, same workload same bytes."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from batdispatch.batsim.v5 import workload as batsim5
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.profile_versions import BATSIM5_TYPES
from batdispatch.core.jobs.profiles import reach_profiles
from batdispatch.core.numerals import number
from batdispatch.inputs.files import replace_file
from batdispatch.inputs.workloads.log_workload import LogWorkload
from batdispatch.inputs.workloads.model import Workload

#: Profile type -> the field that names a file.
_TRACES = {"smpi": "trace", "usage_trace": "trace", "TraceReplayProfile": "filename"}
#: Jobs encoded between two writes.
_CHUNK = 4096


def job_fields(job: Job) -> dict[str, Any]:
    """Return a job's object as Batsim reads it: Batsim's own fields, then the user's as they were written."""
    fields: dict[str, Any] = {"id": job.id, "subtime": number(job.submission), "res": job.units}
    if job.walltime != math.inf:
        fields["walltime"] = number(job.walltime)
    fields["profile"] = job.profile
    fields.update(job.extra)
    return fields


def _rows(workload: Workload | LogWorkload) -> Iterator[list[Any]]:
    """Yield what is encoded to the jobs of Batsim 4, many at a time."""
    if not isinstance(workload, Workload):
        return workload.rows()
    jobs = workload.jobs
    return (list(map(job_fields, jobs[first : first + _CHUNK])) for first in range(0, len(jobs), _CHUNK))


def _batsim4_form(name: str, workload: Workload | LogWorkload, sizes: batsim5.Sizes) -> dict[str, Any]:
    profile = workload.profiles[name]
    if profile["type"] in BATSIM5_TYPES:
        return batsim5.read_profile(name, profile, sizes, source=str(workload.path))
    return profile


def _batsim5_form(name: str, workload: Workload | LogWorkload, sizes: batsim5.Sizes) -> dict[str, Any]:
    profile = workload.profiles[name]
    ours, theirs = workload.as_written.get(name, (None, profile))
    # Somebody may have changed what was read.
    if ours == profile:
        return theirs
    return batsim5.write_profile(name, profile, sizes, source=str(workload.path))


def profiles_for(workload: Workload | LogWorkload, batsim: Literal[4, 5]) -> list[str]:
    """Return the names of the profiles that a workload's file has for one Batsim.

    Batsim 5.0.0-rc2 forgets a profile that no job uses, and dies (SIGSEGV) when it tells the scheduler of it.
    """
    if batsim == 4:
        return [*workload.profiles]
    used = reach_profiles({profile for profile, _ in workload.uses()}, workload.profiles)
    return [name for name in workload.profiles if name in used]


def _found_from(after: Path, before: Path, profile: dict[str, Any]) -> dict[str, Any]:
    """Return a profile whose trace, which stands relative to one folder, is found from another one."""
    field = _TRACES.get(profile["type"])
    if field is None or before == after or Path(profile[field]).is_absolute():
        return profile
    return {**profile, field: os.path.relpath(before / profile[field], after)}


def write_workload(workload: Workload | LogWorkload, path: str | Path, *, batsim: Literal[4, 5] = 4) -> str:
    """Write a workload, whole or not at all; compressed when the name ends in ``.xz`` or ``.gz``.

    `nb_res`, which Batsim insists on, is the size of the largest job when the workload has none.

    Args:
        workload: the workload.
        path: the file.
        batsim: whose format; in Batsim 5's, the user's own fields stand in ``extra_data``, and profiles that no job
            uses are left out (see `profiles_for`).

    Returns:
        The SHA-256 of the file, in hexadecimal.

    Raises:
        InputError: the file cannot be written, or that Batsim has no such profile.
    """
    encoder = msgspec.json.Encoder()
    encode = encoder.encode
    nb_res = workload.nb_res or max((units for _, units in workload.uses()), default=1)
    five = batsim == 5 or batsim5.is_batsim5(workload.profiles)
    # A log's run times are the same for jobs of any size.
    sizes = batsim5.sizes_of(workload.uses(), workload.profiles) if five and isinstance(workload, Workload) else {}
    form = _batsim5_form if batsim == 5 else _batsim4_form
    before, after = workload.path.resolve().parent, Path(path).resolve().parent

    # What that Batsim does not have is refused before anything is written.
    profiles = b",\n".join(
        encode(name) + b": " + encode(_found_from(after, before, form(name, workload, sizes)))
        for name in profiles_for(workload, batsim)
    )
    digest = hashlib.sha256()
    with replace_file(path, digest) as stream:
        stream.write(b"{\n")
        for key, value in workload.about.items():
            stream.write(b"%b: %b,\n" % (encode(key), encode(value)))
        stream.write(b'"nb_res": %d,\n"jobs": [' % nb_res)
        for index, rows in enumerate(_rows(workload)):
            if batsim == 5:
                rows = [batsim5.job_fields(msgspec.to_builtins(row)) for row in rows]
            # No text in JSON has a line's end inside.
            lines = encoder.encode_lines(rows)[:-1].replace(b"\n", b",\n")
            stream.write((b",\n" if index else b"\n") + lines)
        stream.write(b'\n],\n"profiles": {')
        stream.write((b"\n" if profiles else b"") + profiles + b"\n}\n}\n")
    return digest.hexdigest()
