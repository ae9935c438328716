"""evalys' own figures of runs, as files: for people who know evalys and want its analyses of what was simulated here.

evalys draws rectangle by rectangle, so a figure of jobs has at most `MOST_JOBS`; of longer logs a part is chosen by
time or user. Lines have no such limit. What evalys 4.0.7 gets wrong is in `docs/evalys.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from batdispatch.core.errors import InputError
from batdispatch.report.evalys_bridge import jobset, quiet
from batdispatch.results.runs import Run
from batdispatch.results.sites import Sites

#: Most jobs of a Gantt chart: evalys takes some 10 s for so many.
MOST_JOBS = 1000
#: Inches, and dots per inch of PNG files.
SIZE, DENSITY = (12.0, 6.0), 150
FORMATS = ("svg", "png")
#: Told of each figure before it is drawn: how many are done, of how many.
Progress = Callable[[int, int], None]


def write_figures(
    runs: Sequence[Run],
    out: Path,
    *,
    begin: float | None = None,
    end: float | None = None,
    users: Collection[str] = (),
    progress: Progress = lambda done, total: None,
) -> list[Path]:
    """Write what evalys reads of each run, and its figures as SVG and PNG; return their paths.

    Of each run: the jobs as a table (NAME.csv), its Gantt chart, utilisation, queue, states of the machine, and free
    intervals; of several runs also their Gantt charts on top of each other.

    Args:
        runs: whose jobs are drawn; labels become names of files.
        out: a folder, made if it is not there.
        begin: leave out jobs that end before this moment, s.
        end: leave out jobs that start after this moment, s.
        users: only jobs of these users; empty: of all.
        progress: hears of the work.

    Raises:
        InputError: no job of a run is left.
    """
    out.mkdir(parents=True, exist_ok=True)
    parts = {run.label: _part(run, begin, end, users) for run in runs}
    sets = {label: jobset(frame, run.hosts or 0) for (label, frame), run in zip(parts.items(), runs, strict=True)}
    drawings: list[tuple[str, str, Callable[[Figure], None]]] = []
    for label, jobs in sets.items():
        name = _file_name(label)
        jobs.to_csv(out / f"{name}.csv")
        if len(parts[label]) <= MOST_JOBS:
            drawings += [
                (f"{name}-gantt", label, partial(_gantt, jobs)),
                (f"{name}-free", label, partial(_free, jobs)),
            ]
        drawings += [
            (
                f"{name}-utilisation",
                label,
                partial(_load, jobs, jobs.utilisation, "utilisation"),
            ),
            (f"{name}-queue", label, partial(_load, jobs, jobs.queue, "queue")),
        ]
    for run in runs:
        if (run.folder / "machine_states.csv").is_file():
            drawings.append(
                (
                    f"{_file_name(run.label)}-machine",
                    run.label,
                    partial(_states, run, begin, end),
                )
            )
    if len(sets) > 1 and all(len(frame) <= MOST_JOBS for frame in parts.values()):
        drawings.append(("gantt-diff", " and ".join(sets), partial(_gantts, sets)))
    written = [out / f"{_file_name(label)}.csv" for label in sets]
    for done, (name, title, draw) in enumerate(drawings):
        progress(done, len(drawings))
        written += _written(out / name, title, draw)
    progress(len(drawings), len(drawings))
    return written


def _file_name(label: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-=.,_" else "_" for letter in label)


def _part(run: Run, begin: float | None, end: float | None, users: Collection[str]) -> pd.DataFrame:
    """Return the rows of a run's jobs file that a figure shows."""
    frame = run.frame
    wanted = run.columns.ran.copy()
    if begin is not None:
        wanted &= run.columns.finish_time > begin
    if end is not None:
        wanted &= run.columns.starting_time < end
    if users:
        known = Sites().users(run)
        if unknown := sorted(set(users) - set(known.values())):
            raise InputError(f"no job of {run.label} is of user {', '.join(unknown)}", source="option --user")
        wanted &= np.array([known.get(job, "") in users for job in run.columns.job_id.tolist()])
    if not wanted.any():
        raise InputError(f"no job of {run.label} is left", source="options --from, --to and --user")
    return frame[wanted].reset_index(drop=True)


def _written(path: Path, title: str, draw: Callable[[Figure], None]) -> list[Path]:
    """Draw a figure, and write it in each format; the same jobs give the same bytes of SVG."""
    import matplotlib as mpl

    figure = Figure(figsize=SIZE, layout="constrained")
    with quiet(), mpl.rc_context({"svg.hashsalt": "batdispatch", "svg.fonttype": "none"}):
        draw(figure)
        figure.suptitle(title)
        paths = [path.with_name(f"{path.name}.{kind}") for kind in FORMATS]
        for file in paths:
            nothing = {"Date": None, "Creator": None} if file.suffix == ".svg" else {"Software": None}
            figure.savefig(file, dpi=DENSITY, metadata=nothing)
    return paths


def _place(figure: Figure) -> Any:
    # evalys' layouts open a window; a visualisation only needs a figure and a place in it.
    return SimpleNamespace(fig=figure, spec=figure.add_gridspec(1, 1)[0])


def _gantt(jobs: Any, figure: Figure) -> None:
    from evalys.visu.gantt import GanttVisualization

    GanttVisualization(_place(figure), title="").build(jobs)


def _gantts(sets: dict[str, Any], figure: Figure) -> None:
    from evalys.visu.gantt import DiffGanttVisualization

    DiffGanttVisualization(_place(figure), title="").build(sets)


def _load(jobs: Any, load: pd.DataFrame, what: str, figure: Figure) -> None:
    from evalys.visu import legacy

    legacy.plot_load(load, jobs.MaxProcs, ax=figure.add_subplot(), legend_label=what)


def _free(jobs: Any, figure: Figure) -> None:
    """Draw how many hosts evalys finds free: the sizes of its free intervals."""
    free = jobs.free_intervals()
    axes = figure.add_subplot()
    axes.step(free["time"], [len(intervals) for intervals in free["free_itvs"]], where="post", linewidth=0.8)
    axes.set(xlabel="time (s)", ylabel="free hosts, by evalys' free_intervals")
    axes.grid(True)


def _states(run: Run, begin: float | None, end: float | None, figure: Figure) -> None:
    from evalys.visu import legacy

    states = pd.read_csv(run.folder / "machine_states.csv").drop_duplicates(keep="last", subset="time")
    inside = states["time"].between(-np.inf if begin is None else begin, np.inf if end is None else end)
    legacy.plot_mstates(states[inside].set_index("time", drop=False), ax=figure.add_subplot(), title="")
