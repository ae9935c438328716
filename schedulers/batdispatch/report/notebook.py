"""Runs for notebooks: frames, metrics, an evalys JobSet and a Gantt chart in one call each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from batdispatch.core import extras
from batdispatch.core.errors import InputError
from batdispatch.core.line.options import did_you_mean
from batdispatch.results.runs import Run, find_runs, read_runs

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def load(*folders: str | PathLike[str]) -> Runs:
    """Read run folders, or folders of run folders such as ``compare`` writes, for a notebook.

    ```python
    runs = batdispatch.load("results")
    runs.metrics                    # a frame: one row per run, one column per metric
    runs["easy"].jobs               # a frame: one row per job
    runs["easy"].jobset()           # an evalys JobSet
    runs["easy"].gantt()            # a matplotlib Figure, which a notebook shows
    ```

    Raises:
        InputError: a folder holds no run, a file in it is malformed, or pandas is not installed.
    """
    extras.check("report", "batdispatch.load")
    return Runs({run.label: LoadedRun(run) for run in read_runs(find_runs([Path(folder) for folder in folders]))})


class Runs(Mapping[str, "LoadedRun"]):
    """Runs by their label, in the order in which they were found."""

    def __init__(self, runs: Mapping[str, LoadedRun]) -> None:
        self._runs = dict(runs)

    def __getitem__(self, label: str) -> LoadedRun:
        if label not in self._runs:
            raise InputError(f"no run is called {label!r}: {did_you_mean(label, self._runs)}")
        return self._runs[label]

    def __contains__(self, label: object) -> bool:
        return label in self._runs

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        return f"<{len(self)} runs: {', '.join(self)}>"

    @property
    def metrics(self) -> pd.DataFrame:
        """One row per run and one column per metric, as in result.json; times in seconds, NaN where unknown."""
        import pandas as pd

        return pd.DataFrame.from_dict({label: run.metrics for label, run in self.items()}, orient="index")

    @property
    def jobs(self) -> pd.DataFrame:
        """The jobs of all runs below each other; the first column, `run`, holds the label."""
        import pandas as pd

        frames = [run.jobs.assign(run=label) for label, run in self.items()]
        together = pd.concat(frames, ignore_index=True)
        return together[["run", *(name for name in together.columns if name != "run")]]


class LoadedRun:
    """One run.

    Attributes:
        folder: where it is.
        label: its name among the runs that were loaded.
        jobs: one row per logical job, with the columns of jobs.csv; times in seconds.
        segments: one row per attempt or part of a job, as jobs.csv has them; the same as `jobs` where no job continues
            another one.
        metrics: name -> value, as in result.json.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self.folder = run.folder
        self.label = run.label
        self.jobs = run.jobs
        self.segments = run.frame
        self.metrics = dict(run.metrics)

    def __repr__(self) -> str:
        return f"<run {self.label}: {len(self.jobs)} jobs>"

    def jobset(self) -> Any:
        """Return the segments that ran as an evalys JobSet; evalys' own reader takes 16 s for 100,000 jobs."""
        from batdispatch.report.evalys_bridge import jobset

        return jobset(self.segments, self._run.hosts or 0)

    def gantt(self) -> Figure:
        """Return a Gantt chart, whatever the number of jobs; a job's colour says how long it waited."""
        from batdispatch.report.gantt import gantt

        return gantt(self._run.columns, self._run.hosts or 0, lineage=self._run.lineage)
