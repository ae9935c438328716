"""Why a job can never run on a machine, in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from batdispatch.core.capacity.space import Space
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job
from batdispatch.core.machine.machine import Machine


def why_never(space: Space[Any], job: Job) -> str:
    """Return why a job can never run, even with all hosts there and idle, or an empty text."""
    machine = space.machine
    try:
        need = space.need(job)
    except InputError as problem:
        return str(problem)
    whole = space.whole()
    if space.fits(whole, job):
        return ""
    for (name, there), asked in zip(machine.licences, need.licences, strict=True):
        if asked > there:
            return f"asks for {asked} {name}, the whole machine has {there}"
    what, request = "hosts", job.request
    site = "the whole machine" if request.allowed is None else "the part of the machine that is open to it"
    most = int(space.room(whole, job).sum())
    if not machine.units_are_hosts(request):
        what = f"units of {_named(machine, need.amounts)}"
    if need.once is not None:
        what += f" with {_named(machine, need.once)} on each node"
    if most >= request.units:
        # There is room for all units, but not in the form asked for.
        form = "consecutive nodes" if request.contiguous else f"{need.least} to {need.most} nodes"
        return f"asks for {request.units} {what} on {form}, which {site} does not have"
    return f"asks for {request.units} {what}, {site} has room for {most}"


def _named(machine: Machine, along: Iterable[int]) -> str:
    """Return the amounts along the resource axis that are not 0, with their names."""
    return ", ".join(f"{amount} {name}" for name, amount in zip(machine.resources, along, strict=True) if amount)
