"""evalys' own figures of runs, as files: for people who know evalys and want its analyses of what was simulated here.

evalys draws rectangle by rectangle, so a figure of jobs has at most `MOST_JOBS`; of longer logs a part is chosen by
time or user. Lines have no such limit. What evalys 4.0.7 gets wrong is in `docs/evalys.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from procset import ProcSet

from batdispatch.core.errors import InputError
from batdispatch.inputs.files import write_whole
from batdispatch.report.evalys_bridge import jobset, quiet
from batdispatch.report.html import page_text
from batdispatch.results.runs import Run
from batdispatch.results.sites import Sites

#: Most jobs of a Gantt chart: evalys takes some 10 s for so many.
MOST_JOBS = 1000
#: Inches, and dots per inch of PNG files.
SIZE, DENSITY = (12.0, 6.0), 150
FORMATS = ("svg", "png")
#: The folder beside runs where a report looks for figures, and the page in it that shows them.
FOLDER, PAGE = "evalys", "index.html"
#: Tables of a run's folder that evalys reads as they are, or that go along with these.
STATES, POWER_STATES = "machine_states.csv", "pstate_changes.csv"
TABLES = (STATES, POWER_STATES, "consumed_energy.csv")
#: What the table of power states says of hosts that wake up and that fall asleep.
_WAKING, _FALLING_ASLEEP = -1, -2
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

    Of each run: the jobs as a table (NAME.csv), its tables of machine states, power states and energy where it has
    them, its Gantt chart, utilisation, queue, load of each host, states of the machine, free intervals, and where hosts
    sleep a Gantt chart with that; of several runs also their Gantt charts on top of each other. A page shows all.

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
    sets = {run.label: jobset(parts[run.label], run.hosts or 0) for run in runs}
    small = {label for label, frame in parts.items() if len(frame) <= MOST_JOBS}
    drawings = [
        drawing
        for run in runs
        for drawing in _drawings(run, sets[run.label], small=run.label in small, begin=begin, end=end)
    ]
    if len(sets) > 1 and small == set(sets):
        title = "Gantt charts on top of each other"
        drawings.append(FigureFile("gantt-diff", " and ".join(sets), title, partial(_gantts, sets)))
    written = [path for run in runs for path in _tables(run, sets[run.label], out)]
    for done, drawing in enumerate(drawings):
        progress(done, len(drawings))
        written += _written(out / drawing.file, drawing.of, drawing.draw)
    progress(len(drawings), len(drawings))
    return [*written, _page(drawings, out)]


class FigureFile(NamedTuple):
    """A figure: its name as a file, the run or runs that it is of, what it shows, and how it is drawn."""

    file: str
    of: str
    title: str
    draw: Callable[[Figure], None]


def _drawings(run: Run, jobs: Any, *, small: bool, begin: float | None, end: float | None) -> Iterator[FigureFile]:
    """Yield the figures of a run; those of jobs only if these are few."""

    def drawing(kind: str, title: str, draw: Callable[..., None], *given: Any) -> FigureFile:
        return FigureFile(f"{_file_name(run.label)}-{kind}", run.label, title, partial(draw, *given))

    if small:
        yield drawing("gantt", "Gantt chart", _gantt, jobs)
    yield drawing("utilisation", "Utilisation", _load, jobs, jobs.utilisation, "utilisation")
    yield drawing("queue", "Units that waiting jobs ask for", _load, jobs, jobs.queue, "queue")
    if small:
        yield drawing("load", "Load of each host", _processors, jobs)
        yield drawing("free", "Free hosts", _free, jobs)
        yield drawing("lifecycle", "Submission, start and end of each job", _lifecycle, jobs)
    if (run.folder / STATES).is_file():
        yield drawing("machine", "States of the machine", _states, run, begin, end)
    if small and (asleep := asleep_states(run.folder / POWER_STATES)):
        yield drawing("power", "Gantt chart with hosts that sleep", _power, jobs, run, asleep)


def _tables(run: Run, jobs: Any, out: Path) -> Iterator[Path]:
    """Write what evalys reads of a run, and yield the paths."""
    name = _file_name(run.label)
    yield out / f"{name}.csv"
    jobs.to_csv(out / f"{name}.csv")
    for file in TABLES:
        if (run.folder / file).is_file():
            write_whole(out / f"{name}-{file}", (run.folder / file).read_bytes())
            yield out / f"{name}-{file}"


def _page(drawings: Sequence[FigureFile], out: Path) -> Path:
    """Write the page that shows the figures, and return its path."""
    groups: dict[str, list[FigureFile]] = {}
    for drawing in drawings:
        groups.setdefault(drawing.of, []).append(drawing)
    path = out / PAGE
    write_whole(path, page_text("evalys.html.j2", groups=groups).encode())
    return path


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


def _lifecycle(jobs: Any, figure: Figure) -> None:
    from evalys.visu.lifecycle import LifecycleVisualization

    LifecycleVisualization(_place(figure), title="").build(jobs)


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


def _processors(jobs: Any, figure: Figure) -> None:
    from evalys.visu import legacy

    legacy.plot_processor_load(jobs, ax=figure.add_subplot(), title="")


def asleep_states(path: Path) -> set[int]:
    """Return the power states in which hosts sleep, those that follow on falling asleep; empty: none, or too many."""
    changes = pd.read_csv(path, dtype=str) if path.is_file() else pd.DataFrame()
    if not 1 < len(changes) <= MOST_JOBS:
        return set()
    before: dict[int, int] = {}
    asleep = set()
    for text, state in zip(changes["machine_id"], changes["new_pstate"].astype(int), strict=True):
        hosts = ProcSet.from_str(text)
        if any(before.get(host) == _FALLING_ASLEEP for host in hosts):
            asleep.add(state)
        before.update(dict.fromkeys(hosts, state))
    return asleep


def _power(jobs: Any, run: Run, asleep: set[int], figure: Figure) -> None:
    """Draw the Gantt chart with the hosts that sleep, fall asleep or wake up."""
    from evalys.pstates import PowerStatesChanges
    from evalys.visu import legacy

    changes = PowerStatesChanges(run.folder / POWER_STATES)
    states = {"off_pstates": asleep, "son_pstates": {_WAKING}, "soff_pstates": {_FALLING_ASLEEP}}
    legacy.plot_gantt_pstates(jobs, changes, figure.add_subplot(), "", **states)


def _states(run: Run, begin: float | None, end: float | None, figure: Figure) -> None:
    from evalys.visu import legacy

    states = pd.read_csv(run.folder / STATES).drop_duplicates(keep="last", subset="time")
    inside = states["time"].between(-np.inf if begin is None else begin, np.inf if end is None else end)
    legacy.plot_mstates(states[inside].set_index("time", drop=False), ax=figure.add_subplot(), title="")
