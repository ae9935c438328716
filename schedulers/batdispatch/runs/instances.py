"""Dispatching instances of recorded runs: saved, counted and solved by several models."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from batdispatch.core.errors import InputError
from batdispatch.inputs.files import write_lines
from batdispatch.inputs.instances import read_instances
from batdispatch.links.retrace import retrace
from batdispatch.results.runs import read_result
from batdispatch.runs.collecting import Collector, solve_with


class Solved(msgspec.Struct, kw_only=True):
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


class Compared(msgspec.Struct, kw_only=True):
    """An instance: its jobs, the variables of PCP'20 and of PCP'19 as their papers count them, and its solutions."""

    line: int
    jobs: int
    pcp20: int
    pcp19: int
    solved: dict[str, Solved] = {}

    @property
    def ratio(self) -> float:
        """Variables of PCP'20 over those of PCP'19."""
        return self.pcp20 / self.pcp19


def save_instances(
    run: Path, output: Path, *, prediction: str | None = None, least: int = 2, window: int = 100, most: int = 1000
) -> tuple[int, int]:
    """Save what a run's dispatcher had to decide, and return how many instances were kept, and how many there were.

    Args:
        run: a run's folder with decisions.jsonl.
        output: file to write, with one line per instance.
        prediction: where expected run times come from; None: as in the run, also for jobs without a walltime.
        least: fewest jobs of an instance.
        window: most jobs of an instance; those of highest priority are kept.
        most: most instances; if there are more, they are chosen evenly along the run.

    Raises:
        InputError: the run is not recorded, or no decision had so many jobs to choose from.
    """
    default_walltime = math.inf
    options = read_result(run).options
    if prediction is None:
        prediction = str(options.get("prediction", "requested"))
        default_walltime = float(options.get("default_walltime", math.inf))
    collector = Collector(prediction, least=least, window=window, default_walltime=default_walltime)
    retrace(run / "decisions.jsonl", collector)
    lines = collector.lines
    if not lines:
        raise InputError(f"no decision had {least} jobs or more to choose from", source=str(run))
    if len(lines) > most:
        lines = [lines[index * len(lines) // most] for index in range(most)]
    write_lines(output, lines)
    return len(lines), len(collector.lines)


def compare_models(
    path: Path,
    models: Sequence[str],
    *,
    work: float,
    wall: float,
    seed: int = 0,
    most: int | None = None,
    most_variables: int = 50_000,
) -> Iterator[Compared]:
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
        found = Compared(line=line, jobs=len(instance.jobs), pcp20=positions, pcp19=node_wise, solved={})
        for name in models if line in chosen else ():
            facts = solve_with(name, instance, work=work, wall=wall, seed=seed)
            found.solved[name] = Solved(status=facts["status"], seconds=facts["seconds"], delay=facts["delay"])
        yield found
