"""The instances of a run's decisions, counted as the papers count them, and solved by several models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from batdispatch.abilities.solvers.doors.files import read_instances
from batdispatch.abilities.solvers.doors.instances import solve_with


class ModelResult(msgspec.Struct, kw_only=True):
    """What a model made of an instance: the solver's status, CPU time in s, and the sum of (start - now) / duration.

    Without a plan there is no such sum.
    """

    status: str
    seconds: float
    delay: float | None

    @property
    def failed(self) -> bool:
        """Whether the solver found nothing."""
        return self.delay is None


class InstanceComparison(msgspec.Struct, kw_only=True):
    """An instance: its jobs, the variables of PCP'20 and of PCP'19 as their papers count them, and its solutions."""

    line: int
    jobs: int
    pcp20: int
    pcp19: int
    solved: dict[str, ModelResult] = {}

    @property
    def ratio(self) -> float:
        """Variables of PCP'20 over those of PCP'19."""
        return self.pcp20 / self.pcp19


def compare_models(
    path: Path,
    models: Sequence[str],
    *,
    work: float,
    wall: float,
    seed: int = 0,
    most: int | None = None,
    most_variables: int = 50_000,
) -> Iterator[InstanceComparison]:
    """Yield every instance of a file with its counts; `most` of them, evenly chosen, solved by every model.

    The counts are formulas, so that instances of which no model could be built are counted too. Solved are instances
    for which PCP'19 has no more than `most_variables`.

    Args:
        path: instances, as `save_instances` writes them.
        models: names that `instance solve` knows.
        work: limit in deterministic seconds, for each instance and model.
        wall: the same in wall-clock seconds, a safety net.
        seed: of the solver.
        most: how many to solve; None: all that can be.
        most_variables: largest PCP'19 model that is built.

    Raises:
        InputError: the file holds no instances.
    """
    counts = {line: (one.paper_variables(), one.node_wise_variables()) for line, one in read_instances(path)}
    able = [line for line, (_, node_wise) in counts.items() if node_wise <= most_variables]
    if most is not None and len(able) > most:
        able = [able[index * len(able) // most] for index in range(most)]
    chosen = set(able)
    for line, instance in read_instances(path):
        positions, node_wise = counts[line]
        found = InstanceComparison(line=line, jobs=len(instance.jobs), pcp20=positions, pcp19=node_wise, solved={})
        for name in models if line in chosen else ():
            facts = solve_with(name, instance, work=work, wall=wall, seed=seed)
            found.solved[name] = ModelResult(status=facts["status"], seconds=facts["seconds"], delay=facts["delay"])
        yield found
