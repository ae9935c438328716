"""Results in Python: runs as frames, metrics, pictures and pages, of one run, a comparison, or a campaign."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import msgspec

import batdispatch
from batdispatch.api.looks import Page, report
from batdispatch.core import extras
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.core.line.options import did_you_mean
from batdispatch.results.metrics.compute import STARVATION
from batdispatch.results.run_files import RESULT
from batdispatch.results.runs import Run, counted_metrics, find_runs, read_run, read_runs, warnings_of
from batdispatch.results.starvation import FolderJobs, count_starved
from batdispatch.runs.audits import Answer

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
    return Runs(
        {run.label: LoadedRun(run.folder, run.label, run) for run in read_runs(find_runs(list(map(Path, folders))))}
    )


class Folder:
    """Results in a folder.

    Attributes:
        folder: where they are. If the caller named none, it goes when nobody holds these results any more.
    """

    def __init__(self, folder: Path, keep: TemporaryDirectory[str] | None = None) -> None:
        self.folder = folder
        self._keep = keep

    def report(
        self, page: str | PathLike[str] | None = None, *, title: str | None = None, explain: bool = True
    ) -> Page:
        """Write the report, a page of HTML.

        Args:
            page: the file; None: ``report/index.html`` in the folder.
            title: its heading.
            explain: whether it says why jobs waited, for which the recorded decisions are read once more.

        Raises:
            InputError: a file of the results is missing or malformed, or a library is not installed.
        """
        return report(self.folder, page=page, title=title, explain=explain)

    def check(self, **options: Any) -> Answer:
        """Audit every file of the results, and make the runs again; `batdispatch.check` has the options."""
        return batdispatch.check(self.folder, **options)


class LoadedRun(Folder):
    """One run. Its files are read when they are first asked for.

    Attributes:
        folder: where it is.
        label: its name among the runs that it stands with.
    """

    def __init__(
        self, folder: Path, label: str, run: Run | None = None, keep: TemporaryDirectory[str] | None = None
    ) -> None:
        super().__init__(folder, keep)
        self.label = label
        if run is not None:
            self._run = run

    def __repr__(self) -> str:
        return f"<run {self.label}: {len(self._run.logical)} jobs>"

    @cached_property
    def _run(self) -> Run:
        return read_run(self.folder, label=self.label)

    @cached_property
    def result(self) -> dict[str, Any]:
        """What result.json holds; empty if there is none, as in a folder that Batsim wrote."""
        path = self.folder / RESULT
        return msgspec.json.decode(path.read_bytes()) if path.is_file() else {}

    @property
    def metrics(self) -> dict[str, float | int | None]:
        """Name -> value, as in result.json, of the jobs that count."""
        return counted_metrics(self.result) if "metrics" in self.result else dict(self._run.metrics)

    @property
    def rejected(self) -> dict[str, str]:
        """Id -> reason of each job that was rejected."""
        return {one["job"]: one["reason"] for one in self.result.get("rejected", [])}

    @property
    def warnings(self) -> list[str]:
        """Why the run may not be worth much, in the dispatcher's sentences."""
        return warnings_of(self.result.get("report", {}))

    @cached_property
    def jobs(self) -> pd.DataFrame:
        """One row per logical job, with the columns of jobs.csv; times in seconds.

        If the workload is still where it was, the columns `user`, `queue` and `partition` say what it says of each job.
        If its log had dates, `submission_date`, `starting_date` and `finish_date` are those times as dates, in UTC.
        """
        from batdispatch.api.frames import with_workload

        return with_workload(self._run.jobs, self._run)

    @property
    def segments(self) -> pd.DataFrame:
        """One row per attempt or part of a job, as jobs.csv has them; as `jobs` where no job continues another one."""
        return self._run.frame

    def jobset(self) -> Any:
        """Return the segments that ran as an evalys JobSet; evalys' own reader takes 16 s for 100,000 jobs."""
        from batdispatch.report.evalys_bridge import jobset

        return jobset(self.segments, self._run.hosts or 0)

    def gantt(self) -> Figure:
        """Return a Gantt chart, whatever the number of jobs; a job's colour says how long it waited."""
        from batdispatch.report.gantt import gantt

        return gantt(self._run.columns, self._run.hosts or 0, lineage=self._run.lineage)


class Runs(Mapping[str, LoadedRun]):
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

    @cached_property
    def figures(self) -> dict[str, dict[str, float | int | None]]:
        """Label -> name -> value of each run's metrics; `nb_jobs_starved` too, beside a run of easy."""
        counts = count_starved([FolderJobs(run.folder) for run in self.values()])
        return {
            label: run.metrics | {STARVATION.name: count[0]} if count else run.metrics
            for (label, run), count in zip(self.items(), counts, strict=True)
        }

    @property
    def metrics(self) -> pd.DataFrame:
        """One row per run and one column per metric, as in `figures`; times in seconds, NaN where unknown."""
        import pandas as pd

        return pd.DataFrame.from_dict(self.figures, orient="index")

    @property
    def jobs(self) -> pd.DataFrame:
        """The jobs of all runs below each other; the first column, `run`, holds the label."""
        import pandas as pd

        frames = [run.jobs.assign(run=label) for label, run in self.items()]
        together = pd.concat(frames, ignore_index=True)
        return together[["run", *(name for name in together.columns if name != "run")]]


class Comparison(Runs, Folder):
    """The runs of several dispatchers on one workload, by their labels.

    Attributes:
        folder: where they are.
        failures: label -> why a run failed; it is not among the runs.
        notes: what was made of a log and which platform was made, and why.
    """

    def __init__(
        self,
        folder: Path,
        runs: Sequence[Path],
        failures: Mapping[str, str],
        notes: Sequence[str] = (),
        keep: TemporaryDirectory[str] | None = None,
    ) -> None:
        Folder.__init__(self, folder, keep)
        labels = [str(path.relative_to(folder)) for path in runs]
        Runs.__init__(
            self, {label: LoadedRun(path, label, keep=keep) for label, path in zip(labels, runs, strict=True)}
        )
        self.failures = dict(failures)
        self.notes = list(notes)

    def __getitem__(self, label: str) -> LoadedRun:
        if label in self.failures:
            raise SimulationError(f"{label} failed: {self.failures[label]}")
        return super().__getitem__(label)


class Replication(Comparison):
    """A comparison on several replicates of a workload.

    Attributes:
        page: the page over all of them.
        sections: what it says, by workload.
        facts: what it says of how it came about.
    """

    page: Path
    sections: Any
    facts: Any

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row for each replicate and dispatcher, with its metrics; times in seconds."""
        raise NotImplementedError

    @property
    def answers(self) -> dict[str, Any]:
        """Which dispatcher to choose for which aim, and how sure that is, as ``--json`` prints it."""
        raise NotImplementedError
