"""Slurm's backfilling of malleable jobs under the policy of the DMR API."""

from __future__ import annotations

from typing import ClassVar

from batdispatch.abilities.malleable.resizing import Resizing
from batdispatch.abilities.malleable.resizing_options import (
    Bandwidth,
    Mode,
    Moldable,
    Redistribution,
    Seconds,
    Walltime,
)
from batdispatch.abilities.sites.slurm.backfill import SlurmBackfill
from batdispatch.abilities.sites.slurm.options import SlurmOptions
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.options import Options


class DmrOptions(SlurmOptions, frozen=True, kw_only=True):
    """Options of DMR.

    policy, mode, timeout, redistribution, bandwidth, check_cost, expand_cost, shrink_cost: As for `resizing`.
    unit_cost, acknowledge_cost, acknowledge, walltime, charge, moldable: As for `resizing`.
    """

    policy: str = "dmr"
    mode: Mode = "sync"
    timeout: Seconds = 40.0
    redistribution: Redistribution = "delay"
    bandwidth: Bandwidth = 5e9
    check_cost: Seconds | None = None
    expand_cost: Seconds | None = None
    shrink_cost: Seconds | None = None
    unit_cost: Seconds = 0.0
    acknowledge_cost: Seconds = 0.0
    acknowledge: bool = True
    walltime: Walltime = "left"
    charge: bool = True
    moldable: Moldable = "asked"


class Dmr(Resizing):
    """Runs `slurm-backfill` under `resizing`, as in the DMR API: jobs shrink for waiting ones, and expand after.

    Typical use: the baseline for malleable jobs. Rigid jobs run unchanged beside them.
    Limits: those of `slurm-backfill` and `resizing`.
    Guarantee: `start(head) <= reserved(head)` as under `slurm-backfill`, as long as no job is resized. Each logical job
        ends exactly once and loses no work, as under `resizing`.
    Time: that of `slurm-backfill` and `resizing`: `O(d s)` for a backfill pass, and `O(q s)` for a check of a job's
        size.
    Deviations:
        - The paper's Slurm orders jobs by multifactor priorities with default values. These weigh nothing, so the order
          is that of arrival; `ordering=multifactor` gives others.
        - Slurm's backfilling itself is simplified as the card of `slurm-backfill` says.
        - Slurm lets a resizer job wait for the nodes of an expansion. Here the layer takes them when they are free, and
          no such job is submitted.
        - The paper's two sentences on a job at its preferred size contradict each other.
          `policy=dmr[idle_expand=false]` chooses the other one.
    References:
        [1] Iserte, Mayo, Quintana-Ortí, Beltran, Peña: "DMR API: improving cluster productivity by turning applications
            into malleable", Parallel Computing 78, 2018, section 4.
    """

    options_type: ClassVar[type[Options]] = DmrOptions

    def make_inner(self, seed: int) -> Dispatcher:
        return SlurmBackfill(self.options, seed)
