"""How pictures look: colours, sizes, and SVG that takes its ink from the page it stands in."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, cast

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

#: Okabe and Ito's colours that can be told apart by colour-blind readers on white and on dark paper, for curves.
SERIES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
#: With more curves than colours the strokes differ.
STROKES = ("-", "--", ":", "-.")
#: Stand-ins that become the page's own colours, so that a picture follows a dark theme.
INK, FAINT = "#010203", "#040506"
#: What these are in a picture that stands alone, on white.
ALONE = ("#1a1a1a", "#707070")
#: Inches. Small on purpose: scaled to a phone's width the letters are still 9 to 10 pixels high.
WIDTH = 5.0
#: Dots per inch where a notebook shows a picture: 800 across.
SHOWN_DPI = 160

_SETTINGS: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 9.8,
    "text.parse_math": False,
    "svg.fonttype": "none",
    # The ids inside an SVG are random unless salted.
    "svg.hashsalt": "batdispatch",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": FAINT,
    "grid.alpha": 0.35,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "path.simplify": True,
}


class NotebookFigure(Figure):
    """A figure that a notebook shows by itself, also before ``%matplotlib inline`` or an import of pyplot.

    Without either, notebooks know a plain `Figure` as a text only, such as ``<Figure size 500x320 with 1 Axes>``.
    """

    def _repr_png_(self) -> bytes:
        """Return the picture as PNG on white; notebooks ask for this."""
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=SHOWN_DPI, facecolor="white", metadata={"Software": None})
        return buffer.getvalue()


@contextmanager
def own_style() -> Iterator[None]:
    """Draw with our settings, whatever the user's own are."""
    with mpl.rc_context():
        dict.update(cast("dict[str, Any]", mpl.rcParams), _look())
        yield


@cache
def _look() -> dict[str, Any]:
    """Return our settings and Matplotlib's defaults for the others, checked once: each picture sets them twice."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        # The backend alone is not put back when the context ends.
        return {name: value for name, value in dict.items(mpl.rcParams) if name != "backend"}


def new_figure(height: float = 2.9, rows: int = 1) -> tuple[Figure, list[Axes]]:
    """Return a figure without pyplot (no display, no global state) and its axes, one above the other."""
    figure = NotebookFigure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.subplots(rows, 1, squeeze=False)
    return figure, [axes[row, 0] for row in range(rows)]


def new_grid(rows: int, columns: int, height: float) -> tuple[Figure, list[Axes]]:
    """Return a figure with a grid of axes that share their scales, and these row by row."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    return figure, list(axes.flat)


def series_style(index: int) -> dict[str, Any]:
    """Return colour and stroke of the index-th run, the same in every picture."""
    return {"color": SERIES[index % len(SERIES)], "linestyle": STROKES[index // len(SERIES) % len(STROKES)]}


def legend_above(axes: Axes, *what: Any, **look: Any) -> None:
    """Put a legend above the axes; the arguments are those of `Axes.legend`."""
    axes.legend(*what, loc="lower center", bbox_to_anchor=(0.5, 1.0), **{"fontsize": 8.8, **look})


def to_svg(figure: Figure, prefix: str, title: str) -> str:
    """Return a figure as an SVG element for a page: same bytes every time, ids that begin with `prefix`."""
    buffer = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with own_style(), _drawn_once(figure):
        figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    text = re.sub(r'(xlink:href|href)="#', rf'\1="#{prefix}-', text)
    text = text.replace("url(#", f"url(#{prefix}-").replace(INK, "currentColor").replace(FAINT, "var(--faint, #888)")
    label = title.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return re.sub(
        r'<svg [^>]*?viewBox="([^"]*)"[^>]*>',
        rf'<svg xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="\1" role="img" aria-label="{label}">',
        text,
        count=1,
    )


@contextmanager
def _drawn_once(figure: Figure) -> Iterator[None]:
    """Spare a figure the drawing into nothing by which Matplotlib has it laid out, before it draws it."""
    draw, layout = figure.draw, figure.get_layout_engine()

    def lay_out_or_draw(renderer: RendererBase) -> None:
        if layout is not None and figure.get_layout_engine() is layout:
            layout.execute(figure)
        else:
            draw(renderer)

    figure.draw = lay_out_or_draw  # type: ignore[method-assign]
    try:
        yield
    finally:
        del figure.draw


def alone(figure: Figure, prefix: str, title: str) -> bytes:
    """Return a figure as an SVG file of its own, on white; arguments as for `to_svg`."""
    text = to_svg(figure, prefix, title)
    text = text.replace("currentColor", ALONE[0]).replace("var(--faint, #888)", ALONE[1])
    return text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" style="background:#fff" ', 1).encode() + b"\n"


def time_unit(span: float) -> tuple[float, str]:
    """Return how many seconds the best unit for a span of time has, and its name."""
    for seconds, name in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if span >= 3 * seconds:
            return seconds, name
    return 1.0, "seconds"


def time_axis(axes: Axes, begin: float, end: float) -> float:
    """Set up a time axis from `begin` to `end` seconds; return the seconds of its unit, to divide times by."""
    seconds, name = time_unit(end - begin)
    axes.set_xlim(begin / seconds, (end if end > begin else begin + 1) / seconds)
    axes.set_xlabel(f"time ({name})")
    return seconds


def log_duration_axis(axes: Axes, longest: float, *, most: int = 9) -> None:
    """Set up a logarithmic axis of durations, 1 s to `longest`, with at most `most` ticks people know."""
    ticks = [(1, "1 s"), (10, "10 s"), (60, "1 min"), (600, "10 min"), (3600, "1 h"), (36000, "10 h")]
    ticks += [(86400 * 4, "4 d"), (86400 * 40, "40 d"), (86400 * 365, "1 y")]
    axes.set_xscale("log")
    axes.set_xlim(1, max(longest, 10) * 1.1)
    shown = [(value, name) for value, name in ticks if value <= max(longest, 10) * 1.1]
    shown = shown[:: math.ceil(len(shown) / most)]
    axes.set_xticks([value for value, _ in shown], [name for _, name in shown])
    axes.set_xticks([], minor=True)


def plain_log_axis(axes: Axes, largest: float) -> None:
    """Set up a logarithmic axis of ratios from 1."""
    axes.set_xscale("log")
    axes.set_xlim(1, max(largest, 10) * 1.1)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def quantiles(values: NDArray[np.float64], points: int = 400) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return at most `points` points (value, share of the values that do not exceed it) of a distribution."""
    ordered = np.sort(values)
    count = len(ordered)
    at = np.unique(np.linspace(0, count - 1, min(points, count)).round().astype(int)) if count else np.zeros(0, int)
    return ordered[at], (at + 1) / max(count, 1)
