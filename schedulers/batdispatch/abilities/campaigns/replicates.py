"""Replicates of a workload for a comparison: their files, what each is called, and the table over their runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from batdispatch.abilities.campaigns.page.table import COLUMNS
from batdispatch.core.errors import InputError
from batdispatch.inputs.workloads import Workload
from batdispatch.inputs.workloads.resampling import resample
from batdispatch.inputs.workloads.slices import even_gap, take_slice
from batdispatch.inputs.workloads.windows import WindowPlan, plan_windows
from batdispatch.inputs.workloads.writer import write_workload
from batdispatch.results.run_files import RESULT
from batdispatch.results.runs import STILL_WAITING, read_result
from batdispatch.results.starvation import starved_columns
from batdispatch.runs.comparison_options import By, ComparisonOptions

#: Folder of the runs, in that of the comparison.
RUNS = "runs"
#: What replicates are called.
BLOCKS: dict[By, str] = {
    "windows": "windows",
    "separate-windows": "windows",
    "slices": "slices",
    "sessions": "resamples",
    "seeds": "seeds",
}
#: Folder of the runs that all windows are parts of, in `RUNS`; its workload is called so, too.
WHOLE = "windows"
#: Jobs of a slice, unless said.
JOBS = 1000


@dataclass(frozen=True)
class Replicates:
    """How replicates are made.

    Attributes:
        options: how people want them.
        plan: where windows lie; None: these are no windows.
    """

    options: ComparisonOptions
    plan: WindowPlan | None = None

    @classmethod
    def of(cls, options: ComparisonOptions, workload: Workload) -> Replicates:
        """Return how replicates of a workload are made.

        Raises:
            InputError: the workload is too short for a window.
        """
        if BLOCKS[options.replicate_by] != "windows":
            return cls(options)
        plan = plan_windows(
            len(workload.jobs),
            options.replicates or 1,
            jobs=options.window,
            warm_up=options.warm_up,
            cool_down=options.cool_down,
            separate=options.replicate_by != "windows",
            source=str(workload.path),
        )
        return cls(options, plan)

    @property
    def by(self) -> By:
        """Parts of the workload, its users drawn anew, or seeds of the dispatchers on the whole workload."""
        return self.options.replicate_by

    @property
    def count(self) -> int:
        """How many."""
        return self.options.replicates or 1 if self.plan is None else self.plan.windows

    @property
    def names(self) -> list[str]:
        """What each is called."""
        return [f"{BLOCKS[self.by].removesuffix('s')} {number}" for number in range(self.count)]

    @property
    def places(self) -> list[str]:
        """The folder of each one's runs, in `RUNS`."""
        return [WHOLE if self.by == "windows" else name.replace(" ", "-") for name in self.names]

    def files(self, folder: Path, workload: Path) -> list[Path]:
        """Return the workload of each, which stands in a folder."""
        return [workload if self.by == "seeds" else folder / f"{place}.json" for place in self.places]

    def seeds(self, seed: int) -> list[int]:
        """Return the seed of each one's runs."""
        return [seed + (number if self.by == "seeds" else 0) for number in range(self.count)]

    def write(self, workload: Workload, files: list[Path], tell: Callable[[str], None]) -> None:
        """Write the workloads.

        Raises:
            InputError: the workload has too few jobs for so many slices, or names no users.
        """
        if self.plan is not None and self.by == "windows":
            write_workload(self.plan.mark(workload), files[0])
            tell(self.plan.text)
        elif self.plan is not None:
            for number, path in enumerate(files):
                write_workload(self.plan.take(workload, number), path)
            tell(self.plan.text)
        elif self.by == "slices":
            jobs = self.options.slice_jobs or min(JOBS, len(workload.jobs) // self.count)
            if not 1 <= jobs * self.count <= len(workload.jobs):
                raise InputError(
                    f"has {len(workload.jobs):,} jobs, too few for {self.count} slices of {max(jobs, 1):,}: expected "
                    "fewer or smaller slices (--slice-jobs)",
                    source=str(workload.path),
                )
            gap = even_gap(len(workload.jobs), jobs=jobs, count=self.count)
            for number, path in enumerate(files):
                write_workload(take_slice(workload, number=number, jobs=jobs, gap=gap), path)
            tell(f"Each has {jobs:,} jobs, with {gap:,} between two of them.")
        elif self.by == "sessions":
            for seed, path in enumerate(files):
                made, _ = resample(np.random.default_rng(seed), workload, weeks=self.options.weeks)
                write_workload(made, path)
            tell(f"Each has {self.options.weeks} weeks of users drawn anew.")


def table_of(workload: str, names: Sequence[str], dispatchers: Sequence[tuple[str, Sequence[Path]]]) -> bytes:
    """Return the tidy table of a comparison.

    Args:
        workload: its name.
        names: of the replicates.
        dispatchers: name and the folder of the run on each replicate, one folder for all if these are windows of one
            run; a run that failed has no result there.
    """
    #: Folder of each run on a replicate -> what its rows say that are not written yet; of a run of windows, one each.
    told: dict[Path, Iterator[dict[str, object]]] = {}
    rows = []
    for number, name in enumerate(names):
        folders = [every[number] for _, every in dispatchers]
        if new := [folder for folder in folders if folder not in told]:
            told |= {folder: _figures(folder, starved) for folder, starved in starved_columns(new).items()}
        for (dispatcher, _), folder in zip(dispatchers, folders, strict=True):
            row: dict[str, object] = dict(zip(COLUMNS, (workload, name, dispatcher), strict=True))
            rows.append(row | next(told[folder], {}))
    return pd.DataFrame(rows).to_csv(index=False).encode()


def _figures(run: Path, starved: Sequence[dict[str, int]]) -> Iterator[dict[str, object]]:
    """Yield what a run's rows say, in order: one for each window of the whole, else one."""
    if not (run / RESULT).is_file():
        return
    result = read_result(run)
    for place, part in enumerate(result.workload.parts):
        metrics = result.metrics if part is None else part.metrics
        found: dict[str, object] = {name: value for name, value in metrics.items() if not name.startswith("decisions_")}
        if part is not None and part.still_waiting is not None:
            found[STILL_WAITING] = part.still_waiting
        yield found | (starved[place] if starved else {})


def read_runs(path: Path) -> pd.DataFrame:
    """Read the tidy table of a comparison.

    Raises:
        InputError: it cannot be read.
    """
    try:
        table = pd.read_csv(path, dtype=dict.fromkeys(COLUMNS, "str"))
    except (OSError, ValueError) as problem:
        raise InputError(f"cannot be read: {problem}", source=str(path)) from None
    missing = [name for name in COLUMNS if name not in table]
    if missing:
        raise InputError(f"has no column {missing[0]!r}", source=str(path))
    return table
