"""Slurm's backfilling of malleable jobs under the policy of the DMR API."""

from __future__ import annotations

from typing import ClassVar

from batdispatch.core.dispatcher import Dispatcher
from batdispatch.core.options import Options
from batdispatch.dispatchers.backfilling.slurm import SlurmBackfill, SlurmOptions
from batdispatch.layers.resizing import Resizing
from batdispatch.layers.resizing_options import Bandwidth, Mode, Moldable, Redistribution, Seconds, Walltime


class DmrOptions(SlurmOptions, frozen=True, kw_only=True):
    """Options of DMR.

    policy, mode, timeout, redistribution, bandwidth, check_cost, expand_cost, shrink_cost: see
        `batdispatch explain resizing`.
    acknowledge, walltime, charge, moldable: see `batdispatch explain resizing`.
    ordering, placement, default_walltime, prediction, queue_depth, interval, depth, reservations, window: see
        `batdispatch explain slurm-backfill`.
    """

    policy: str = "dmr"
    mode: Mode = "sync"
    timeout: Seconds = 40.0
    redistribution: Redistribution = "delay"
    bandwidth: Bandwidth = 5e9
    check_cost: Seconds | None = None
    expand_cost: Seconds | None = None
    shrink_cost: Seconds | None = None
    acknowledge: bool = True
    walltime: Walltime = "left"
    charge: bool = True
    moldable: Moldable = "asked"


class Dmr(Resizing):
    """Slurm's backfilling under `resizing`, as in the DMR API: running jobs shrink for waiting ones, and expand after.

    Guarantee and time: as `slurm-backfill` and `resizing`, for jobs whose size stays.
    Deviations: those of `slurm-backfill`, `resizing`, and `dmr` among the policies. The paper's multifactor priorities
        have no weights by default, which is the order of arrival; `ordering=multifactor` gives others.
    References: [1] Iserte, Mayo, Quintana-Orti, Beltran, Pena: "DMR API: improving cluster productivity by turning
        applications into malleable", Parallel Computing 78 (2018).
    """

    options_type: ClassVar[type[Options]] = DmrOptions

    def make_inner(self, seed: int) -> Dispatcher:
        return SlurmBackfill(self.options, seed)
