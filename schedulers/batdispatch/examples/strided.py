"""A placement with an option: spread a job over every second (or third, ...) free host."""

import numpy as np

from batdispatch import Allocation, HostPlacement, Job, Options, Scene, fill, hostset


class StridedOptions(Options, frozen=True, kw_only=True):
    """Options of the strided placement.

    step: Take first the free hosts that stand this many places apart. 1: take the free hosts in order.
    """

    step: int = 2


class Strided(HostPlacement):
    """Take every `step`-th free host, then those right behind them, and so on."""

    options_type = StridedOptions

    def pick(self, free: int, count: int) -> int | None:
        return hostset.mask_of(self._strided(hostset.ids(free))[:count])

    def spread(self, room: np.ndarray, scene: Scene, job: Job) -> Allocation | None:
        return fill(room, scene.space.need(job), np.array(self._strided(room.nonzero()[0].tolist())))

    def _strided(self, hosts: list[int]) -> list[int]:
        step = self.options.step
        return [host for first in range(step) for host in hosts[first::step]]
