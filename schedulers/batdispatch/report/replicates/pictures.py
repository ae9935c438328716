"""Pictures of a comparison: ratios with their intervals, and ranks with the critical difference."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from batdispatch.report import style
from batdispatch.report.html import Picture
from batdispatch.report.replicates.answers import Answer
from batdispatch.report.replicates.pairs import Pair
from batdispatch.report.replicates.ranks import Ranking

#: Colours of what is better, worse, and not told apart from the baseline.
BETTER, WORSE = style.SERIES[0], style.SERIES[1]
#: Height of a row, and of what stands around them, inches.
_ROW, _FRAME = 0.27, 0.85
#: Longest name in a picture; the tables have all of it.
_NAME = 26


def colour(pair: Pair, found: Answer) -> str:
    """Return the colour of a comparison: better or worse than the baseline, or faint."""
    if not pair.apart:
        return style.FAINT
    return BETTER if pair.wins > pair.losses else WORSE


def dots(found: Answer, prefix: str) -> Picture | None:
    """Draw each dispatcher's ratio or difference to the baseline with its interval; None: there is nothing to draw."""
    known = [pair for pair in found.pairs if pair.effect is not None]
    if not known:
        return None
    aim = found.aim
    scale = 1.0 if aim.way == "ratio" else 100.0
    with style.own_style():
        figure, (axes,) = style.new_figure(_FRAME + _ROW * len(known))
        for row, pair in enumerate(reversed(known)):
            assert pair.effect is not None
            value, low, high = pair.effect[:3]
            shade = colour(pair, found)
            if low is not None and high is not None:
                axes.plot([low * scale, high * scale], [row, row], color=shade, linewidth=2, solid_capstyle="butt")
            axes.plot([value * scale], [row], marker="o", markersize=5, color=shade)
        axes.axvline(1.0 if aim.way == "ratio" else 0.0, color=style.INK, linewidth=0.9)
        axes.set_yticks(range(len(known)), [_short(pair.ours) for pair in reversed(known)])
        axes.set_ylim(-0.6, len(known) - 0.4)
        axes.tick_params(axis="y", length=0)
        if aim.way == "ratio":
            _ratio_axis(axes, known)
            axes.set_xlabel(f"times {_short(found.baseline)}")
        else:
            axes.xaxis.set_major_locator(MaxNLocator(5))
            axes.set_xlabel(f"percentage points above {_short(found.baseline)}")
        axes.grid(visible=True, axis="x")
    better = "Left" if aim.better == "lower" else "Right"
    title = f"{aim.words[0].upper()}{aim.words[1:]}"
    return Picture(
        title,
        f"{better} is better. Blue: better than {found.baseline}; orange: worse; grey: cannot be told apart from it.",
        style.to_svg(figure, prefix, f"{title}: each dispatcher against {found.baseline}, with 95 % intervals"),
    )


def _ratio_axis(axes: Axes, pairs: list[Pair]) -> None:
    """Set up a logarithmic axis of ratios with ticks that people read."""
    ends = [end for pair in pairs if pair.effect is not None for end in pair.effect[:3] if end is not None]
    low, high = min(1.0, *ends), max(1.0, *ends)
    margin = max((high / low) ** 0.06, 1.02)
    axes.set_xscale("log")
    axes.set_xlim(low / margin, high * margin)
    ladder = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100]
    ticks = [tick for tick in ladder if low / margin <= tick <= high * margin]
    if len(ticks) < 3:
        step = float(f"{(high - low) / 4:.0e}") or 0.01
        steps = range(int(np.floor(low / step)), int(np.ceil(high / step)) + 1)
        ticks = [step * number for number in steps if low / margin <= step * number <= high * margin]
    axes.set_xticks(ticks)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xticks([], minor=True)


def ranks(found: Ranking, title: str, blocks: str, prefix: str) -> Picture:
    """Draw average ranks as in Demsar's paper: a bar joins dispatchers that cannot be told apart."""
    many = len(found.dispatchers)
    left = (many + 1) // 2
    lines = max(left, many - left)
    bars = len(found.groups)
    with style.own_style():
        height = 0.75 + 0.11 * bars + 0.24 * lines
        figure = Figure(figsize=(style.WIDTH, height), layout="constrained")
        axes = figure.subplots()
        axes.set_axis_off()
        # A third of the width on each side is for names.
        span = many - 1
        axes.set_xlim(1 - 0.62 * span, many + 0.62 * span)
        low = -0.55 - 0.3 * bars - 0.62 * lines
        axes.set_ylim(low, 1.5)
        axes.plot([1, many], [0, 0], color=style.INK, linewidth=1)
        for tick in range(1, many + 1):
            axes.plot([tick, tick], [0, 0.16], color=style.INK, linewidth=1)
            axes.text(tick, 0.26, str(tick), ha="center", va="bottom")
        shown = min(found.difference, 1.2 * span)
        axes.plot([1, 1 + shown], [1.15, 1.15], color=style.INK, linewidth=1.6)
        note = f"critical difference {found.difference:.2f}"
        axes.text(1 + shown + 0.04 * span, 1.15, note, ha="left", va="center")
        for number, group in enumerate(found.groups):
            ends = [found.ranks[found.dispatchers.index(name)] for name in (group[0], group[-1])]
            y = -0.3 - 0.3 * number
            axes.plot([ends[0] - 0.02 * span, ends[1] + 0.02 * span], [y, y], color=style.SERIES[0], linewidth=3.2)
        for place, (name, value) in enumerate(zip(found.dispatchers, found.ranks, strict=True)):
            on_left = place < left
            row = place if on_left else many - 1 - place
            y = -0.62 - 0.3 * bars - 0.62 * row
            edge = 1 - 0.06 * span if on_left else many + 0.06 * span
            axes.plot([value, value, edge], [0, y, y], color=style.FAINT, linewidth=0.9)
            text = f"{_short(name)}  {value:.2f}" if on_left else f"{value:.2f}  {_short(name)}"
            axes.text(edge, y, text, ha="right" if on_left else "left", va="center")
    told = f"Mean rank of each dispatcher over {found.blocks} {blocks}, 1 the best"
    caption = f"{told}. " + (
        "A blue bar joins dispatchers that cannot be told apart." if found.groups else "All can be told apart."
    )
    return Picture(title, caption, style.to_svg(figure, prefix, f"{title}: {told}"))


def _short(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"
