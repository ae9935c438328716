"""batprotocol's jobs <-> `batdispatch.core.jobs.job.Job`."""

from __future__ import annotations

import math
from typing import Any

from batdispatch.batsim.numbers import require_finite
from batdispatch.batsim.v5.extra import read_extra, write_extra
from batdispatch.batsim.v5.profiles import full_id, short_id, split_id
from batdispatch.batsim.v5.shapes import JobData
from batdispatch.core.errors import FieldError
from batdispatch.core.jobs.fields import read_fields, read_moment, read_units, write_fields
from batdispatch.core.jobs.job import Job

_OWN = ("id", "subtime", "res", "walltime", "profile")


def read_job(data: JobData, job_id: str, submission: float) -> Job:
    """Return a job; `user` and `demand` are read from its extra data.

    Raises:
        FieldError: a field is wrong.
    """
    workload, _ = split_id(job_id, "event.job_id")
    units = read_units(data.resource_request, "event.job.resource_request")
    walltime = -1.0 if data.walltime is None else data.walltime
    if not (walltime > 0 or walltime == -1):
        raise FieldError("event.job.walltime", walltime, "a positive number of seconds, or null for none")
    extra = read_extra(data.extra_data, "event.job.extra_data")
    if not data.rigid:
        extra["rigid"] = False
    try:
        request, user, parent = read_fields(units, extra)
    except FieldError as problem:
        raise FieldError(f"event.job.extra_data.{problem.field}", problem.found, problem.expected) from None
    return Job(
        id=job_id,
        request=request,
        submission=read_moment(submission, "event.submission_time"),
        walltime=math.inf if walltime == -1 else walltime,
        profile=short_id(data.profile_id, workload),
        user=user,
        parent=parent,
        extra=extra,
    )


def write_job(job: Job) -> dict[str, Any]:
    """Return a job's object.

    Raises:
        ValueError: the user's fields hold a number that is not finite.
        RecursionError: they are nested too deeply.
    """
    extra = {name: value for name, value in write_fields(job).items() if name not in _OWN}
    rigid = extra.pop("rigid") if isinstance(extra.get("rigid"), bool) else True
    require_finite(extra)
    return {
        "resource_request": job.units,
        "walltime": None if job.walltime == math.inf else job.walltime,
        "extra_data": write_extra(extra),
        "rigid": rigid,
        "profile_id": full_id(job.profile, job.id.partition("!")[0]),
    }
