"""Jobs that name other jobs (`dependencies`, `parent`), when some of the jobs are left out or copied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from batdispatch.core.jobs.fields import read_request, write_dependencies
from batdispatch.core.jobs.job import Job


def relink(job: Job, names: Mapping[str, str], **changes: Any) -> Job:
    """Return a job that names other jobs by new ids, and only those that are there.

    Args:
        job: is not changed.
        names: id -> new id of the jobs that are there.
        changes: of further fields.
    """
    if not (job.parent or job.request.dependencies):
        return structs.replace(job, **changes) if changes else job
    extra = dict(changes.pop("extra", job.extra))
    for key in ("dependencies", "parent"):
        extra.pop(key, None)
    awaited = tuple(
        structs.replace(one, job=names.get(one.job, ""))
        for one in job.request.dependencies
        # A singleton waits for its namesakes, whoever is there.
        if one.job in names or not one.job
    )
    if awaited:
        extra["dependencies"] = write_dependencies(awaited)
    parent = names.get(job.parent, "")
    if parent:
        extra["parent"] = parent
    return structs.replace(job, request=read_request(job.units, extra), parent=parent, extra=extra, **changes)
