"""HCP'19's scheduling model."""

from __future__ import annotations

from typing import Any

from batdispatch.abilities.solvers.constraint.models.searched_model import DoublingModel


class PooledModel(DoublingModel):
    """HCP'19's scheduling model: one cumulative per resource over the sum of all nodes' capacity.

    Expresses any request, by what it takes of the machine at least. The search sets times forward: of the jobs that may
    start first it schedules one at its earliest start, or else postpones it.
    """

    name = "pooled"
    pooled = True
    task_seconds = 5e-7

    def build(self) -> None:
        self.pool()

    def search(self) -> Any:
        return self.cp.Phase(list(self.spans.values()), self.cp.INTERVAL_SET_TIMES_FORWARD)
