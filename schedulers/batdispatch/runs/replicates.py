"""Replicates of a workload for a comparison: their files, what each is called, and the table over their runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd

from batdispatch.core.errors import InputError
from batdispatch.inputs.workloads import Workload
from batdispatch.inputs.workloads.resampling import resample
from batdispatch.inputs.workloads.slices import even_gap, take_slice
from batdispatch.inputs.workloads.windows import WindowPlan, plan_windows
from batdispatch.inputs.workloads.writer import write_workload
from batdispatch.report.replicates.table import COLUMNS
from batdispatch.results.run_files import RESULT
from batdispatch.results.runs import STILL_WAITING, counted_jobs, counted_metrics
from batdispatch.results.starvation import starved_columns
from batdispatch.runs.comparison_options import WEEKS, By, ComparisonOptions

#: The tidy table of a comparison, in its folder.
TABLE = "replicates.csv"
#: Folder of the runs, in that of the comparison.
RUNS = "runs"
#: What replicates are called.
BLOCKS: dict[By, str] = {"windows": "windows", "slices": "slices", "sessions": "resamples", "seeds": "seeds"}
#: Jobs of a slice, unless said.
JOBS = 1000


@dataclass(frozen=True)
class Replicates:
    """How replicates are made.

    Attributes:
        by: windows or slices of the workload, its users drawn anew, or seeds of the dispatchers on the whole workload.
        count: how many.
        jobs: of a slice; None: `JOBS`, or fewer if the workload has too few.
        weeks: of a resample.
        plan: where windows lie; None: these are no windows.
    """

    by: By
    count: int
    jobs: int | None = None
    weeks: int = WEEKS
    plan: WindowPlan | None = None

    @classmethod
    def of(cls, options: ComparisonOptions, workload: Workload) -> Replicates:
        """Return how replicates of a workload are made.

        Raises:
            InputError: the workload is too short for a window.
        """
        count, plan = options.replicates or 1, None
        if options.replicate_by == "windows":
            plan = plan_windows(
                len(workload.jobs),
                count,
                jobs=options.window,
                warm_up=options.warm_up,
                cool_down=options.cool_down,
                source=str(workload.path),
            )
            count = plan.windows
        return cls(options.replicate_by, count, options.slice_jobs, options.weeks, plan)

    @property
    def names(self) -> list[str]:
        """What each is called."""
        return [f"{BLOCKS[self.by].removesuffix('s')} {number}" for number in range(self.count)]

    def files(self, folder: Path, workload: Path) -> list[Path]:
        """Return the workload of each, which stands in a folder."""
        if self.by == "seeds":
            return [workload] * self.count
        return [folder / f"{name.replace(' ', '-')}.json" for name in self.names]

    def seeds(self, seed: int) -> list[int]:
        """Return the seed of each one's runs."""
        return [seed + (number if self.by == "seeds" else 0) for number in range(self.count)]

    def write(self, workload: Workload, files: list[Path], tell: Callable[[str], None]) -> None:
        """Write the workloads.

        Raises:
            InputError: the workload has too few jobs for so many slices, or names no users.
        """
        if self.plan is not None:
            for number, path in enumerate(files):
                write_workload(self.plan.take(workload, number), path)
            tell(self.plan.text)
        elif self.by == "slices":
            jobs = self.jobs or min(JOBS, len(workload.jobs) // self.count)
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
                made, _ = resample(np.random.default_rng(seed), workload, weeks=self.weeks)
                write_workload(made, path)
            tell(f"Each has {self.weeks} weeks of users drawn anew.")


def table_of(workload: str, names: Sequence[str], dispatchers: Sequence[tuple[str, Sequence[Path]]]) -> bytes:
    """Return the tidy table of a comparison.

    Args:
        workload: its name.
        names: of the replicates.
        dispatchers: name and the folder of the run on each replicate; a run that failed has no result there.
    """
    rows = []
    for number, name in enumerate(names):
        starved = starved_columns([folders[number] for _, folders in dispatchers])
        for dispatcher, folders in dispatchers:
            row: dict[str, object] = dict(zip(COLUMNS, (workload, name, dispatcher), strict=True))
            rows.append(row | _metrics(folders[number] / RESULT) | starved[folders[number]])
    return pd.DataFrame(rows).to_csv(index=False).encode()


def _metrics(path: Path) -> dict[str, object]:
    result = msgspec.json.decode(path.read_bytes()) if path.is_file() else {}
    found: dict[str, object] = {
        name: value for name, value in counted_metrics(result).items() if not name.startswith("decisions_")
    }
    waiting = counted_jobs(result).get(STILL_WAITING)
    return found if waiting is None else {**found, STILL_WAITING: waiting}


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
