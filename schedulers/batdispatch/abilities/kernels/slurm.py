"""What the kernel of slurm-backfill knows beside the state of the simulation, as native/slurm.h has it.

The header says what each field is.
"""

from __future__ import annotations

import ctypes
import math

import numpy as np

from batdispatch.abilities.kernels.library import structure_of
from batdispatch.abilities.kernels.nodes import WORD, Demands, Nodes, masks_of
from batdispatch.abilities.kernels.state import Ints, Jobs
from batdispatch.core.hosts import hostruns
from batdispatch.dispatchers.backfilling.queue import PlanningQueue
from batdispatch.native.record import Record
from batdispatch.parts.placement.consecutive import Consecutive

#: Options that are told to the kernel as they are; `depth` is told as `most_tried`.
_OPTIONS = (
    *("tick", "batch_delay", "full_interval", "queue_depth", "interval", "window", "resolution", "clock"),
    *("most_tried", "starts", "user_jobs", "part_jobs", "reservations", "min_age", "end_window", "window_linear"),
)
#: Those of them that the kernel counts on to be finite.
FINITE = (
    *("tick", "batch_delay", "full_interval", "interval", "phase"),
    *("clock", "resolution", "end_window", "window_linear"),
)
#: Records that there is room for to begin with.
RECORDS = 256


class Slurm(Record):
    """Options, clocks, what is to come, and the table of a pass."""

    kinds, _fields_ = structure_of("slurm.h", "Slurm")


def slurm_of(
    jobs: Jobs, runs: Ints, dispatcher: PlanningQueue, demands: Demands | None = None, nodes: Nodes | None = None
) -> Slurm:
    """Return what is known before anything happens.

    Args:
        jobs: the jobs.
        runs: int64 [run, 2], first and last host of each run of hosts that run jobs.
        dispatcher: whose options say how it decides.
        demands: what the jobs ask for, and `nodes`: that they share; None: they take whole hosts, any ones.
    """
    options = dispatcher.options
    slurm = Slurm(**{name: getattr(options, name) for name in _OPTIONS})
    slurm.consecutive = isinstance(dispatcher.placement, Consecutive)
    slurm.last, slurm.pass_last, slurm.silent = -math.inf, options.phase - options.interval, math.nan
    slurm.awaited = slurm.pass_awaited = math.inf
    compute = hostruns.mask_of((runs + np.array([0, 1])).ravel().tolist())
    slurm.words = -(-compute.bit_length() // WORD)
    hosts = masks_of([compute], slurm.words)
    slurm.hold(hosts=hosts, **{name: hosts.copy() for name in ("idle", "allowed", "given", "place")})
    # Two runs of a set are never neighbours; a run is two numbers.
    slurm.hold(runs=np.zeros(len(hosts) * WORD + 2, dtype=np.int64))
    if nodes is not None:
        slurm.hold(place=nodes.arrays["place"])
        slurm.nodes = ctypes.addressof(nodes)
        slurm.licences = options.licenses and nodes.licences
        size = len(jobs.units)
        slurm.hold(held_from=np.zeros(size), held_until=np.zeros(size), held_by=np.zeros(size, dtype=np.int64))
    _hold_parts(slurm, jobs, demands)
    slurm.users = len(jobs.said.users)
    slurm.hold(user=jobs.said.user, tried_of=np.zeros(slurm.users, dtype=np.int32))
    make_room(slurm, RECORDS)
    return slurm


def _hold_parts(slurm: Slurm, jobs: Jobs, demands: Demands | None) -> None:
    """Tell of the partitions; all hosts are one where there are none."""
    part = np.zeros(len(jobs.units), dtype=np.int32) if demands is None else demands.part
    slurm.parts = 1 if demands is None else len(demands.parts)
    hosts = slurm.arrays["hosts"] if demands is None else masks_of([each.hosts for each in demands.parts], slurm.words)
    reserved = np.zeros_like(part) if demands is None else demands.reserved
    slurm.lines = slurm.parts + int(reserved.max(initial=0))
    slurm.hold(part=part, part_hosts=hosts, line=np.where(reserved, slurm.parts - 1 + reserved, part).astype(np.int32))
    slurm.hold(**{name: np.zeros(slurm.parts, dtype=np.int64) for name in ("tried_in", "reserved_in")})
    slurm.hold(failed=np.zeros(slurm.lines, dtype=np.int64))


def make_room(slurm: Slurm, records: int) -> None:
    """Make room for so many records; between two passes there are none."""
    slurm.most_records = records
    slurm.hold(ends=np.zeros(records), row=np.zeros(records, dtype=np.int32))
    slurm.hold(rows=np.empty(records * slurm.words, dtype=np.uint64))
