"""The partition and the account of a job, by the fields that its log gave it."""

from __future__ import annotations

from batdispatch.core.jobs.job import Job


def partition_of(job: Job) -> str:
    """Return the job's partition, or its queue where the log knows no partitions; empty: it names none."""
    return str(job.extra.get("partition", job.extra.get("queue", "")))


def account_of(job: Job) -> str:
    """Return the job's account, or its group where the log knows no accounts; empty: it names none."""
    return str(job.extra.get("account", job.extra.get("group", "")))
