"""A job's JSON object <-> `batdispatch.core.jobs.job.Job`."""

from __future__ import annotations

import math
from typing import Any

from batdispatch.core.errors import FieldError
from batdispatch.core.jobs.fields import read_fields, read_moment, read_units, write_fields
from batdispatch.core.jobs.job import Job
from batdispatch.core.numerals import number


def read_job(fields: dict[str, Any], job_id: str, *, short_id: bool = False) -> Job:
    """Read a job's fields, which are consumed: what remains becomes `Job.extra`.

    Args:
        fields: the job's object as it was decoded.
        job_id: ``workload!name``, as the event states it.
        short_id: whether ``id`` may leave out the workload, as Batsim accepts it in registrations.

    Raises:
        FieldError: a field is missing or wrong.
    """
    take = fields.pop
    name = take("id", None)
    if name != job_id and not (short_id and name == job_id.partition("!")[2]):
        raise FieldError("data.job.id", name, f"{job_id!r} as in data.job_id")
    submission = read_moment(take("subtime", None), "data.job.subtime")
    units = read_units(take("res", None), "data.job.res")
    profile = take("profile", None)
    if type(profile) is not str:
        raise FieldError("data.job.profile", profile, "the name of a profile")
    walltime = take("walltime", -1)
    if type(walltime) not in (int, float) or not (walltime > 0 or walltime == -1):
        raise FieldError("data.job.walltime", walltime, "a positive number of seconds, or -1 for none")
    try:
        request, user, parent = read_fields(units, fields)
    except FieldError as problem:
        raise FieldError(f"data.job.{problem.field}", problem.found, problem.expected) from None
    return Job(
        id=job_id,
        request=request,
        submission=submission,
        walltime=math.inf if walltime == -1 else float(walltime),
        profile=profile,
        user=user,
        parent=parent,
        extra=fields,
    )


def write_job(job: Job) -> dict[str, Any]:
    """Return a job's JSON object: Batsim's own fields, then the extra ones; an infinite walltime is left out."""
    # Batsim's own fields win over extra ones of the same name: they are what the ledger works with.
    fields = {
        **write_fields(job),
        "id": job.id,
        "subtime": number(job.submission),
        "res": job.units,
        "profile": job.profile,
    }
    if job.walltime != math.inf:
        fields["walltime"] = number(job.walltime)
    else:
        fields.pop("walltime", None)
    return fields
