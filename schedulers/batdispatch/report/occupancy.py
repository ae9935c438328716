"""How full shared nodes are over time: where several jobs share a node a Gantt chart would hide all but one."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray

from batdispatch.report import style
from batdispatch.report.gantt import host_axis
from batdispatch.results.usage import Slots

Floats = NDArray[np.float64]

#: Stretches of time and bands of hosts that are told apart.
COLUMNS, ROWS = 800, 256
#: Share of the busiest resource in steps of ten per cent: one colour, ever denser, so that idle is the page's own
#: colour and full stands out on white and on dark paper.
_STEPS = [(0.11, 0.47, 0.72, 0.12 + 0.88 * step / 9) for step in range(10)]


def busy_share(
    slots: Slots, capacity: NDArray[np.int64], start: Floats, finish: Floats, begin: float, end: float
) -> Floats:
    """Return how much of each node's busiest resource is in use, averaged over time, float64 [host, stretch].

    Exact: what is under way on a host between a job's start and end grows linearly when integrated, so sums of slopes
    and intercepts at the edges of the stretches give the integral, whatever the number of jobs.

    Args:
        slots: what each job holds on each host.
        capacity: int64 [host, resource].
        start: seconds, float64 [row]; NaN for a job that did not run.
        finish: seconds, float64 [row].
        begin: of the first stretch, seconds.
        end: of the last stretch, seconds.
    """
    hosts, resources = capacity.shape
    edges = np.linspace(0.0, end - begin, COLUMNS + 1)
    share = np.zeros((hosts, COLUMNS))
    ran = np.isfinite(start[slots.row]) & (slots.host < hosts)
    host, row = slots.host[ran], slots.row[ran]
    for axis in range(resources):
        amount = slots.amount[ran, axis].astype(np.float64)
        slope = np.zeros(hosts * (COLUMNS + 2))
        intercept = np.zeros(hosts * (COLUMNS + 2))
        for times, sign in ((start, 1.0), (finish, -1.0)):
            at = np.clip(times[row] - begin, 0.0, None)
            # The first edge that is not before the change: from there on it counts.
            index = host * (COLUMNS + 2) + np.searchsorted(edges, at, side="left")
            slope += np.bincount(index, weights=sign * amount, minlength=len(slope))
            intercept += np.bincount(index, weights=sign * amount * at, minlength=len(slope))
        active = slope.reshape(hosts, -1).cumsum(axis=1)[:, : COLUMNS + 1]
        offset = intercept.reshape(hosts, -1).cumsum(axis=1)[:, : COLUMNS + 1]
        used = np.diff(active * edges - offset, axis=1) / np.diff(edges)
        offered = capacity[:, axis, None]
        share = np.maximum(share, np.divide(used, offered, out=np.zeros_like(used), where=offered > 0))
    return share


def occupancy(
    slots: Slots, capacity: NDArray[np.int64], start: Floats, finish: Floats, *, begin: float, end: float
) -> Figure:
    """Return a picture of `busy_share`, hosts upwards and time to the right."""
    end = end if end > begin else begin + 1.0
    share = busy_share(slots, capacity, start, finish, begin, end)
    hosts = len(share)
    if hosts > ROWS:
        bands = np.linspace(0, hosts, ROWS + 1).astype(int)[:-1]
        share = np.add.reduceat(share, bands, axis=0) / np.diff(np.append(bands, hosts))[:, None]
    shown = np.ma.masked_less_equal(np.ceil(np.clip(share, 0, 1) * 10 - 1e-6) / 10, 0.0)
    with style.own_style():
        figure, [axes] = style.new_figure(3.2)
        seconds, _ = style.time_unit(end - begin)
        image = axes.imshow(
            np.repeat(shown, max(1, 360 // len(shown)), axis=0),
            origin="lower",
            aspect="auto",
            interpolation="none",
            extent=(begin / seconds, end / seconds, 0, hosts),
            vmin=0.0,
            vmax=1.0,
            cmap=ListedColormap(_STEPS),
        )
        style.time_axis(axes, begin, end)
        host_axis(axes, hosts)
        bar = figure.colorbar(image, ax=axes, location="top", aspect=40, ticks=[0, 0.5, 1.0], shrink=0.7)
        bar.ax.set_xticklabels(["idle", "half of its busiest resource in use", "all"], fontsize=8.5)
        bar.outline.set_visible(False)
    return figure
