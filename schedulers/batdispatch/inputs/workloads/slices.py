"""Slices of a workload: so many jobs in a row, as replicates of it."""

from __future__ import annotations

from batdispatch.core.errors import InputError
from batdispatch.inputs.workloads.model import Workload


def take_slice(workload: Workload, *, number: int, jobs: int, gap: int = 0) -> Workload:
    """Return one of the slices of a workload, which follow each other in order of submission.

    The first job of a slice is submitted at 0. A job no longer waits for jobs that are in another slice.

    Args:
        workload: is not changed.
        number: which slice, from 0.
        jobs: of each slice.
        gap: jobs between two slices that belong to none.

    Raises:
        InputError: an argument is out of range, or the slice ends after the last job.
    """
    for option, value, least in (("number", number, 0), ("jobs", jobs, 1), ("gap", gap, 0)):
        if value < least:
            raise InputError(f"{value}, expected a whole number from {least}", source=f"option --{option}")
    first = number * (jobs + gap)
    if first + jobs > len(workload.jobs):
        there = most_slices(len(workload.jobs), jobs=jobs, gap=gap)
        raise InputError(
            f"has {len(workload.jobs):,} jobs, which make {there:,} slices of {jobs:,} jobs with {gap:,} between them: "
            f"there is no slice number {number} (they are numbered from 0)",
            source=str(workload.path),
        )
    return workload.part(first, first + jobs)


def most_slices(total: int, *, jobs: int, gap: int = 0) -> int:
    """Return how many slices a workload of so many jobs has."""
    return max(0, (total + gap) // (jobs + gap))


def even_gap(total: int, *, jobs: int, count: int) -> int:
    """Return the largest gap with which so many slices fit: they spread over the whole workload."""
    return (total - count * jobs) // (count - 1) if count > 1 else 0
