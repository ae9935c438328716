"""Gantt charts at every size: the rectangles of evalys for a few jobs, one collection for some, an image for many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from procset import ProcSet

from batdispatch.core.hosts.hostsets import Intervals
from batdispatch.core.jobs.job_table import JobTable
from batdispatch.report import style
from batdispatch.results.lineage import Lineage, logical

#: Most jobs that are drawn one by one, and most that are labelled with their ids: people can still tell these apart.
GANTT_JOBS, LABELLED_JOBS = 500, 40
#: Most rectangles drawn one by one, as vectors; beyond, an image is smaller and quicker.
VECTOR_RECTANGLES = 1000
#: Pixels of an image; it is painted at twice the size and averaged.
IMAGE_WIDTH, IMAGE_HEIGHT = 1000, 480
#: Width of the line that marks a resize, in points.
MARK = 1.4
#: Upper ends of the classes of waiting time, in seconds, their names, and their colours: from blue over sand to
#: red, which colour-blind readers tell apart, and none too light for white or too dark for dark paper.
WAITS = (60.0, 600.0, 3600.0, 6 * 3600.0, 86400.0, np.inf)
WAIT_NAMES = ("< 1 min", "< 10 min", "< 1 h", "< 6 h", "< 1 day", "1 day +")
WAIT_COLOURS = ("#2a66a8", "#5b93cc", "#a3c3de", "#d8c678", "#e8a33d", "#c8501e")


def gantt(
    columns: JobTable,
    hosts: int,
    *,
    begin: float | None = None,
    end: float | None = None,
    lineage: Lineage | None = None,
) -> Figure:
    """Return a Gantt chart of whole hosts: a job's colour says how long it waited.

    Where a job was resized, a line on the hosts that it keeps says that what follows is the same job.

    Jobs shorter than a pixel are shown where they cover a pixel's centre, so that the share of the area that is
    coloured is the utilisation. 300,000 jobs take seconds.

    Args:
        columns: of a run.
        hosts: on the vertical axis.
        begin: of the time axis in seconds, so that runs can share it; default the first submission.
        end: of the time axis; default the last end.
        lineage: which rows are one job, whose colour all of them have; default: each row is a job.
    """
    started = columns.take(columns.ran)
    start, finish = started.starting_time, started.finish_time
    wait = start - started.submission_time
    if lineage is not None and lineage.joined:
        wait = logical(columns, lineage).waiting_time[lineage.job[columns.ran]]
    kind = np.searchsorted(np.array(WAITS), wait, side="right").clip(0, len(WAITS) - 1)
    begin = float(columns.submission_time.min()) if begin is None else begin
    end = float(finish.max(initial=begin)) if end is None else end
    end = end if end > begin else begin + 1.0
    intervals = started.hosts
    hosts = max(hosts, int(intervals.last.max(initial=0)) + 1)
    with style.own_style():
        figure, [axes] = style.new_figure(3.2)
        seconds, _ = style.time_unit(end - begin)
        if 0 < len(started) <= GANTT_JOBS and len(intervals.first) <= VECTOR_RECTANGLES:
            _boxes(axes, started, seconds, [WAIT_COLOURS[k] for k in kind])
        elif len(intervals.first) <= VECTOR_RECTANGLES:
            _rectangles(axes, intervals, start / seconds, finish / seconds, kind)
        else:
            shown = _paint(intervals, start, finish, kind, hosts, begin, end)
            extent = (begin / seconds, end / seconds, 0, hosts)
            axes.imshow(shown, origin="lower", aspect="auto", interpolation="none", extent=extent)
        style.time_axis(axes, begin, end)
        host_axis(axes, hosts)
        used = sorted(set(kind.tolist()))
        handles: list[Artist] = [
            Patch(color=WAIT_COLOURS[k], label=f"waited {WAIT_NAMES[k]}" if k == used[0] else WAIT_NAMES[k])
            for k in used
        ]
        if lineage is not None and _mark_resizes(axes, columns, lineage, seconds):
            handles.append(Line2D([], [], color=style.INK, linewidth=MARK, label="resized"))
        style.legend_above(
            axes, handles=handles, ncols=6, fontsize=8.2, handlelength=0.8, columnspacing=0.7, handletextpad=0.3
        )
    return figure


def _mark_resizes(axes: Axes, columns: JobTable, lineage: Lineage, seconds: float) -> bool:
    """Draw a line where a job goes on with another number of hosts, over those that it keeps; return whether any is.

    None are drawn if there are too many to be told apart.
    """
    ran, units = columns.ran, columns.requested_number_of_resources
    rows = np.flatnonzero((lineage.parent >= 0) & ran)
    before = lineage.parent[rows]
    resized = ran[before] & (units[rows] != units[before])
    rows, before = rows[resized], before[resized]
    if not 0 < len(rows) <= VECTOR_RECTANGLES:
        return False
    kept = columns.take(np.where(units[rows] < units[before], rows, before)).hosts
    at = columns.starting_time[rows][kept.row] / seconds
    lower, upper = (np.stack([at, ends], axis=-1) for ends in (kept.first, kept.last + 1))
    lines = LineCollection(list(np.stack([lower, upper], axis=1)), colors=style.INK, linewidths=MARK, zorder=4)
    axes.add_collection(lines, autolim=False)
    return True


def host_axis(axes: Axes, hosts: int) -> None:
    """Set up an upward axis on which host h takes the place from h to h + 1."""
    axes.set_ylim(0, hosts)
    axes.set_ylabel("host")
    if hosts <= 16:
        axes.set_yticks(np.arange(hosts) + 0.5, [str(host) for host in range(hosts)])
    else:
        axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))


def _boxes(axes: Axes, jobs: JobTable, seconds: float, colours: Sequence[str]) -> None:
    """Draw a rectangle for each run of hosts of each job, as evalys does; few jobs have their ids on them.

    evalys outlines and writes in black, which is all that is seen of a short job and cannot be read on dark colours.
    """
    # evalys' job sets round to microseconds.
    begin = np.round(jobs.starting_time / seconds, 6)
    width = np.round(jobs.finish_time / seconds - jobs.starting_time / seconds, 6)
    for row, colour in enumerate(colours):
        red, green, blue = to_rgb(colour)
        ink = "white" if 0.3 * red + 0.59 * green + 0.11 * blue < 0.5 else "black"
        edge = [0.6 * part for part in (red, green, blue)]
        for hosts in ProcSet.from_str(jobs.allocated_resources[row]).intervals():
            height = hosts.sup - hosts.inf + 1
            box = Rectangle((begin[row], hosts.inf), width[row], height, facecolor=colour, edgecolor=edge)
            box.set(alpha=0.9, linewidth=0.3)
            axes.add_artist(box)
            if len(jobs) <= LABELLED_JOBS:
                centre = (begin[row] + width[row] / 2, hosts.inf + height / 2)
                axes.annotate(jobs.job_id[row], centre, color=ink, fontsize="small", ha="center", va="center")


def _rectangles(
    axes: Axes, intervals: Intervals, start: NDArray[np.float64], finish: NDArray[np.float64], kind: NDArray[np.int64]
) -> None:
    x0, x1 = start[intervals.row], finish[intervals.row]
    y0, y1 = intervals.first, intervals.last + 1
    corners = np.stack(
        [np.stack(pair, axis=-1) for pair in ((x0, y0), (x0, y1), (x1, y1), (x1, y0))],
        axis=1,
    )
    colours = [WAIT_COLOURS[k] for k in kind[intervals.row]]
    axes.add_collection(
        PolyCollection(list(corners), facecolors=colours, edgecolors="white", linewidths=0.2, closed=True)
    )


def _paint(
    intervals: Intervals,
    start: NDArray[np.float64],
    finish: NDArray[np.float64],
    kind: NDArray[np.int64],
    hosts: int,
    begin: float,
    end: float,
) -> NDArray[np.uint8]:
    """Return an image, uint8 [row, column, rgba], transparent where hosts idle; row 0 is host 0."""
    # Few hosts: each a whole number of rows. Many: rows are sampled, twice as many as are shown.
    rows = hosts * max(1, round(2 * IMAGE_HEIGHT / hosts)) if hosts < 2 * IMAGE_HEIGHT else 2 * IMAGE_HEIGHT
    rows += rows % 2
    columns = 2 * IMAGE_WIDTH
    canvas = np.zeros((rows, columns), dtype=np.uint8)

    def pixel(values: NDArray[np.float64], size: int) -> NDArray[np.int64]:
        # A pixel is painted when its centre, at +0.5, lies inside.
        return np.clip(np.ceil(values * size - 0.5), 0, size).astype(np.int64)

    x0 = pixel((start - begin) / (end - begin), columns)[intervals.row]
    x1 = pixel((finish - begin) / (end - begin), columns)[intervals.row]
    y0, y1 = pixel(intervals.first / hosts, rows), pixel((intervals.last + 1) / hosts, rows)
    colour = kind[intervals.row] + 1
    seen = (x1 > x0) & (y1 > y0)
    for a, b, c, d, value in zip(*(part[seen].tolist() for part in (y0, y1, x0, x1, colour)), strict=True):
        canvas[a:b, c:d] = value
    table = np.array([(0.0, 0.0, 0.0, 0.0), *(to_rgba(name) for name in WAIT_COLOURS)])
    table[:, :3] *= table[:, 3:]
    blocks = canvas.reshape(rows // 2, 2, columns // 2, 2)
    mixed = np.zeros((rows // 2, columns // 2, 4))
    for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
        mixed += table[blocks[:, i, :, j]] / 4
    mixed[..., :3] /= np.maximum(mixed[..., 3:], 1e-9)
    # Few levels compress well, and nobody sees the difference.
    return np.asarray(np.round(mixed * 31) / 31 * 255, dtype=np.uint8)
