"""PCP'19's model."""

from __future__ import annotations

from typing import Any

import numpy as np

from batdispatch.abilities.solvers.constraint.models.interleaved_search import InterleavedSearch
from batdispatch.abilities.solvers.constraint.models.searched_model import DoublingModel
from batdispatch.abilities.solvers.solving.runner import Value


class NodeWise(DoublingModel):
    """PCP'19: an optional interval for each unit that each node could hold; exactly the job's number are present.

    The search sets times forward: of the jobs that may start first it schedules the shortest at its earliest start, and
    then its units on the first nodes that have room; or else it postpones the job.
    """

    name = "node-wise"
    task_seconds = 1e-7

    def build(self) -> None:
        cp = self.cp
        #: By job and node: intervals of the units that may be there, and whether each of them is.
        self.intervals: dict[int, dict[int, list[Any]]] = {}
        self.present: dict[int, dict[int, list[Any]]] = {}
        for job in self.moved:
            self.intervals[job] = {
                node: [
                    cp.FixedDurationIntervalVar(0, self.horizon, self.durations[job], True, f"u{job},{node},{k}")
                    for k in range(count)
                ]
                for node, count in self.able(job).items()
            }
            self.present[job] = {
                node: [unit.PerformedExpr().Var() for unit in row] for node, row in self.intervals[job].items()
            }
            # The alternative: a present unit starts with its job, and exactly as many are present as the job has.
            for row in self.intervals[job].values():
                for unit in row:
                    cp.Add(unit.StartsAtStart(self.spans[job]))
            present = [literal for row in self.present[job].values() for literal in row]
            cp.Add(cp.SumEquality(present, self.units(job)))
            self.variables += present
        # A cumulative per node and resource.
        for node, axis in np.argwhere(self.capacity > 0).tolist():
            units, demands = [], []
            for job, by_node in self.intervals.items():
                amount = self.amount(job, node, axis)
                if amount and node in by_node:
                    units += by_node[node]
                    demands += [amount] * len(by_node[node])
            self.cumulative(units, demands, self.held_on(node, axis), int(self.capacity[node, axis]))

    def search(self) -> Any:
        # Intervals that may start as soon go by their latest ends, which is by duration.
        order = sorted(self.moved, key=lambda job: self.durations[job])
        return InterleavedSearch(
            [self.starts[job] for job in order],
            [[literal for row in self.present[job].values() for literal in row] for job in order],
            [self.durations[job] for job in order],
            sorted({held.end for held in self.held}),
            raised=self.raised,
            sums=[self.units(job) for job in order],
        )

    def counts(self, job: int, value: Value) -> dict[int, int]:
        return {node: sum(value(literal) for literal in row) for node, row in self.present[job].items()}
