"""evalys, fed from our frames: its own reader takes 16 s for 100,000 jobs, and its imports talk.

Used: ``metrics.compute_load`` (right, and quick when it is spared the job sets) for utilisation and queue curves, and
``visu.gantt`` for Gantt charts of up to `GANTT_JOBS` jobs (it draws and annotates each rectangle by itself: 2,000 jobs
take 7 to 25 s). Not used: free_intervals of a window and what builds on it (wrong at both ends), mean_utilisation of a
window (fails with pandas 3); see ``docs/evalys.md``.
"""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from numpy.typing import NDArray
from procset import ProcSet

from batdispatch.core.jobs.job import JobState

Floats = NDArray[np.float64]

#: Most jobs of a Gantt chart that evalys draws: about a second, and what people can still tell apart.
GANTT_JOBS = 500
#: Most jobs of a Gantt chart that are labelled with their ids.
LABELLED_JOBS = 40

#: Columns of a frame that hold times, by which evalys draws and counts.
_TIMES = ("submission_time", "starting_time", "finish_time", "waiting_time", "turnaround_time")


class _Later(ModuleType):
    """A library that is imported once something in it is asked for."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


@contextmanager
def quiet() -> Iterator[None]:
    """Let evalys neither print nor warn."""
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _quick() -> Iterator[None]:
    """Import evalys' pictures without seaborn: only old ones need it, and its SciPy takes as long as all the rest."""
    stands_in = "seaborn" not in sys.modules
    if stands_in:
        sys.modules["seaborn"] = _Later("seaborn")
    try:
        with quiet():
            yield
    finally:
        if stands_in:
            del sys.modules["seaborn"]


def load_curve(begin: Floats, end: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return ``(times, load)``: the sum of the weights of all spans begin..end that are under way, by evalys.

    The load holds from its time to the next. Times are rounded to microseconds as evalys' own JobSet does: without it,
    jobs that follow each other overlap by a rounding error and show as spikes.
    """
    if not len(begin):
        return np.zeros(0), np.zeros(0)
    with quiet():
        from evalys.metrics import compute_load
    frame = pd.DataFrame(
        {
            "jobID": np.arange(len(begin)),
            # evalys derives begin and end from these three columns anew.
            "submission_time": begin,
            "waiting_time": np.zeros(len(begin)),
            "execution_time": end - begin,
            "weight": weight,
        }
    )
    with quiet():
        load = compute_load(frame, "starting_time", "finish_time", "weight")["load"]
    rounded = load.groupby(np.round(load.index.to_numpy(dtype=np.float64), 6)).last()
    return rounded.index.to_numpy(dtype=np.float64), rounded.to_numpy(dtype=np.float64)


def jobset(frame: pd.DataFrame, hosts: int, *, seconds: float = 1.0) -> Any:
    """Return the rows of a frame that ran as an evalys JobSet.

    Args:
        frame: of a run.
        hosts: of the machine.
        seconds: of the unit of its times.
    """
    started = frame[frame["final_state"] != JobState.REJECTED.value].reset_index(drop=True)
    columns = started.drop(columns=["allocated_resources"])
    for name in (
        "submission_time",
        "starting_time",
        "execution_time",
        "finish_time",
        "waiting_time",
        "turnaround_time",
    ):
        columns[name] = started[name] / seconds
    columns["execution_time"] = columns["finish_time"] - columns["starting_time"]
    columns["allocated_resources"] = [ProcSet.from_str(text) for text in started["allocated_resources"]]
    with _quick():
        from evalys.jobset import JobSet

        return JobSet(columns, resource_bounds=(0, max(hosts - 1, 0)))


def draw_gantt(figure: Figure, frame: pd.DataFrame, hosts: int, seconds: float, colour: Callable[[int], str]) -> Axes:
    """Draw a Gantt chart of a frame's started jobs with evalys into a figure of its own and return its axes.

    Args:
        figure: an empty figure.
        frame: of the jobs that started.
        hosts: number of hosts on the vertical axis.
        seconds: of the unit of the time axis.
        colour: of a row of the frame, by position.
    """
    with _quick():
        from evalys.visu.gantt import NOLABEL, GanttVisualization

        # evalys' layouts open a pyplot window; a visualisation only needs a figure and a place in it.
        place = SimpleNamespace(fig=figure, spec=figure.add_gridspec(1, 1)[0])
        chart: Any = GanttVisualization(place, title="")
        chart.alpha = 0.9
        chart.colorer = lambda job, palette: colour(int(job["uniq_num"]))
        if len(frame) > LABELLED_JOBS:
            chart.labeler = NOLABEL
            # evalys places an empty text on each rectangle, which takes half of its time.
            chart._annotate = lambda rectangle, label: None
        chart.build(jobset(frame, hosts, seconds=seconds))
    axes: Axes = chart._ax
    axes.grid(False)
    for box in axes.patches:
        # evalys outlines in black, which would be all that is seen of a short job.
        box.set(edgecolor=[0.6 * part for part in to_rgb(box.get_facecolor())], linewidth=0.3)
    for box, text in zip(axes.patches, axes.texts, strict=False):
        # evalys writes in black, too, which cannot be read on the dark colours.
        red, green, blue = to_rgb(box.get_facecolor())
        text.set_color("white" if 0.3 * red + 0.59 * green + 0.11 * blue < 0.5 else "black")
    return axes
