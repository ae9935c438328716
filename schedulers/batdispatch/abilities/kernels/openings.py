"""Advance reservations for a kernel: what the structure of native/openings.h holds.

The header says what each field is. What is closed to whom, the site says.
"""

from __future__ import annotations

import math

import numpy as np

from batdispatch.abilities.kernels.library import structure_of
from batdispatch.abilities.kernels.nodes import Demands, masks_of, words_of
from batdispatch.abilities.kernels.state import Floats, Ints, Jobs, State
from batdispatch.core.machine.site import Ban, Site
from batdispatch.native.record import Record


class Openings(Record):
    """What is closed to whom, and what a kernel notes of the waiting jobs."""

    kinds, _fields_ = structure_of("openings.h", "Openings")


def openings_of(demands: Demands, jobs: Jobs, state: State, *, plans: bool) -> Openings | None:
    """Return the reservations before anything happens, and let the state know when jobs are too late for them.

    Args:
        demands: what the jobs ask for, and the machine.
        jobs: the jobs.
        state: of the simulation.
        plans: whether the dispatcher plans with them, and sees the jobs to which nothing is open.
    """
    machine = demands.machine
    if machine.site is None or not machine.site.windows:
        return None
    count, words = len(jobs.units), words_of(machine)
    openings = Openings(plans=plans, called=-math.inf, quiet=math.inf)
    spans, expires = _hold_bans(openings, demands, jobs, machine.site)
    state.hold(expires=expires)
    by_id = np.empty(count, dtype=np.int64)
    by_id[sorted(range(count), key=jobs.said.ids.tolist().__getitem__)] = np.arange(count)
    reach = [machine.compute if need.request.allowed is None else need.request.allowed for need in demands.needs]
    openings.hold(first=spans[0], behind=spans[1], walltime=jobs.walltime, by_id=by_id, reach=masks_of(reach, words))
    openings.hold(moment=np.array(machine.site.moments, dtype=float))
    openings.moments = len(machine.site.moments)
    openings.hold_zeros(count, "looked", "change", "shut", "shown", "unfit", "waiting_job")
    openings.hold_zeros(words, "open", "past", "later")
    return openings


def _hold_bans(openings: Openings, demands: Demands, jobs: Jobs, site: Site) -> tuple[Ints, Floats]:
    """Tell of what is closed; return each job's first closure and the one behind its last, and when it is too late."""
    spans, expires = np.zeros((2, len(jobs.units)), dtype=np.int64), np.full(len(jobs.units), math.inf)
    known, all_of_them = dict[tuple[Ban, ...], tuple[int, int]](), list[Ban]()
    for rank in range(len(jobs.units)):
        if rank in demands.never:
            continue
        own = site.bans(jobs.said.job(rank))
        if own not in known:
            known[own] = (len(all_of_them), len(all_of_them) + len(own))
            all_of_them += own
        spans[:, rank] = known[own]
        if own and own[-1].end == math.inf:
            expires[rank] = own[-1].closure(float(jobs.walltime[rank])).begin
    openings.hold(before=np.array([each.before for each in all_of_them], dtype=float))
    openings.hold(end=np.array([each.end for each in all_of_them], dtype=float))
    openings.hold(closed=masks_of([each.hosts for each in all_of_them], words_of(demands.machine)))
    return spans, expires
