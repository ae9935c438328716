"""Pictures of a comparison: ratios with their intervals, and ranks with those that cannot be told apart."""

from __future__ import annotations

import math
import textwrap
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from batdispatch.abilities.campaigns.page.answers import Answer
from batdispatch.abilities.campaigns.page.pairs import Pair
from batdispatch.abilities.campaigns.page.ranks import Ranking
from batdispatch.report import style
from batdispatch.report.html import Picture

#: Colours of what is better, worse, and not told apart from the baseline.
BETTER, WORSE = style.SERIES[0], style.SERIES[1]
#: Height of a row, and of what stands around them, inches.
_ROW, _FRAME = 0.27, 0.85
#: Longest name in a picture, and how much of its beginning is kept of a longer one; the tables have all of it.
_NAME, _HEAD = 26, 8
#: Most ticks of an axis beside each other.
_TICKS = 9
#: Ticks of each decade of an axis of ratios, the most first.
_LADDERS = ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1,))
#: Most letters of a name's line beside ranks.
_LINE = 14


def colour(pair: Pair, found: Answer) -> str:
    """Return the colour of a comparison: better or worse than the baseline, or faint."""
    if not pair.apart:
        return style.FAINT
    return BETTER if found.aim.is_better(pair.effect) else WORSE


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
            ratio_axis(axes, known)
            axes.set_xlabel(f"times {_short(found.baseline)}")
        else:
            axes.xaxis.set_major_locator(MaxNLocator(5))
            axes.set_xlabel(f"percentage points above {_short(found.baseline)}")
        axes.grid(visible=True, axis="x")
    better = "Left" if aim.better == "lower" else "Right"
    title = aim.title
    return Picture(
        title,
        f"{better} is better. Blue: better than {found.baseline}; orange: worse; grey: cannot be told apart from it.",
        style.to_svg(figure, prefix, f"{title}: each dispatcher against {found.baseline}, with 95 % intervals"),
    )


def trade_off(across: Answer, up: Answer, prefix: str) -> Picture | None:
    """Draw two ratios to the baseline against each other, each with its interval; None: there is nothing to draw.

    The dispatchers than which no other one is better in both are joined.
    """
    pairs = [(one, other) for one in across.pairs if one.effect and (other := up.of(one.ours)) and other.effect]
    if not pairs or {across.aim.way, up.aim.way} != {"ratio"}:
        return None
    names = [across.baseline, *(one.ours for one, _ in pairs)]
    points = [(1.0, 1.0), *((one.effect[0], other.effect[0]) for one, other in pairs if one.effect and other.effect)]
    best = [place for place, point in enumerate(points) if not any(_beats(other, point) for other in points)]
    with style.own_style():
        figure, (axes,) = style.new_figure(3.2)
        for one, other in pairs:
            _cross(axes, one, other)
        axes.plot(*zip(*sorted(points[place] for place in best), strict=True), color=BETTER, linewidth=1)
        for place, (x, y) in enumerate(points):
            axes.plot([x], [y], marker="o", markersize=5, color=BETTER if place in best else style.FAINT)
            axes.annotate(_short(names[place]), (x, y), xytext=(4, 4), textcoords="offset points")
        ratio_axis(axes, [one for one, _ in pairs])
        ratio_axis(axes, [other for _, other in pairs], "y")
        axes.set_xlabel(f"{across.aim.words}, times {_short(across.baseline)}")
        axes.set_ylabel(f"{up.aim.words}, times {_short(across.baseline)}")
        axes.grid(visible=True)
    title = f"{up.aim.title} against {across.aim.words}"
    told = f"{title}: each dispatcher, times {across.baseline}, with 95 % intervals"
    caption = "Left and below is better. Blue: no other dispatcher is better in both."
    return Picture(title, caption, style.to_svg(figure, prefix, told))


def _beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Return whether a point is at most as far right and up as another one, and is another point."""
    return one != other and one[0] <= other[0] and one[1] <= other[1]


def _cross(axes: Axes, across: Pair, up: Pair) -> None:
    """Draw the intervals of both effects."""
    assert across.effect is not None
    assert up.effect is not None
    (x, left, right), (y, low, high) = across.effect[:3], up.effect[:3]
    if left is not None and right is not None:
        axes.plot([left, right], [y, y], color=style.FAINT, linewidth=1)
    if low is not None and high is not None:
        axes.plot([x, x], [low, high], color=style.FAINT, linewidth=1)


def ratio_axis(axes: Axes, pairs: list[Pair], name: Literal["x", "y"] = "x") -> None:
    """Set up a logarithmic axis of ratios with ticks that people read."""
    ends = [end for pair in pairs if pair.effect is not None for end in pair.effect[:3] if end is not None]
    low, high = min(1.0, *ends), max(1.0, *ends)
    margin = max((high / low) ** 0.06, 1.02)
    set_scale, set_limits, set_ticks = (getattr(axes, f"set_{name}{what}") for what in ("scale", "lim", "ticks"))
    set_scale("log")
    set_limits(low / margin, high * margin)
    ticks = _round_ticks(low / margin, high * margin)
    if len(ticks) < 3:
        step = float(f"{(high - low) / 4:.0e}") or 0.01
        steps = range(int(np.floor(low / step)), int(np.ceil(high / step)) + 1)
        ticks = [step * number for number in steps if low / margin <= step * number <= high * margin]
    set_ticks(ticks)
    axis = getattr(axes, f"{name}axis")
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    axis.set_minor_formatter(NullFormatter())
    set_ticks([], minor=True)


def _round_ticks(low: float, high: float) -> list[float]:
    """Return at most `_TICKS` ticks between two ratios: several in each decade, or powers of ten, 1 among them."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for ladder in _LADDERS:
        ticks = [tick * 10.0**decade for decade in decades for tick in ladder]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) <= _TICKS:
            return ticks
    apart = math.ceil(len(decades) / (_TICKS // 2))
    return [10.0**decade for decade in decades if decade % apart == 0 and low <= 10.0**decade <= high]


def ranks(found: Ranking, title: str, blocks: str, prefix: str) -> Picture:
    """Draw average ranks as in Demsar's paper: a bar joins neighbours of which no two can be told apart."""
    many = len(found.dispatchers)
    left = (many + 1) // 2
    lines = max(left, many - left)
    bars = len(found.groups)
    with style.own_style():
        # Names of one line stand closer together than those of several.
        names = [textwrap.wrap(_short(name), _LINE) for name in found.dispatchers]
        row_height = 0.24 if max(map(len, names)) == 1 else 0.44
        height = 0.9 + 0.11 * bars + row_height * lines
        figure = Figure(figsize=(style.WIDTH, height), layout="constrained")
        axes = figure.subplots()
        axes.set_axis_off()
        # A third of the width on each side is for names.
        span = many - 1
        axes.set_xlim(1 - 0.62 * span, many + 0.62 * span)
        step = 0.62 * row_height / 0.24
        low = -0.55 - 0.3 * bars - step * lines
        axes.set_ylim(low, 1.1)
        axes.plot([1, many], [0, 0], color=style.INK, linewidth=1)
        for tick in range(1, many + 1):
            axes.plot([tick, tick], [0, 0.16], color=style.INK, linewidth=1)
            axes.text(tick, 0.26, str(tick), ha="center", va="bottom")
        for number, group in enumerate(found.groups):
            ends = [found.ranks[found.dispatchers.index(name)] for name in (group[0], group[-1])]
            y = -0.3 - 0.3 * number
            axes.plot([ends[0] - 0.02 * span, ends[1] + 0.02 * span], [y, y], color=style.SERIES[0], linewidth=3.2)
        for place, value in enumerate(found.ranks):
            on_left = place < left
            row = place if on_left else many - 1 - place
            y = -step - 0.3 * bars - step * row
            edge = 1 - 0.06 * span if on_left else many + 0.06 * span
            axes.plot([value, value, edge], [0, y, y], color=style.FAINT, linewidth=0.9)
            name = "\n".join(names[place])
            axes.text(
                edge,
                y,
                f"{name}  {value:.2f}" if on_left else f"{value:.2f}  {name}",
                ha="right" if on_left else "left",
                va="center",
            )
    told = f"Mean rank of each dispatcher over {found.blocks} {blocks}, 1 the best"
    caption = f"{told}. " + (
        "A blue bar joins neighbours of which no two can be told apart."
        if found.groups
        else "No bar: neighbours differ."
    )
    return Picture(title, caption, style.to_svg(figure, prefix, f"{title}: {told}"))


def _short(name: str) -> str:
    # Dispatchers with many options begin alike, and differ at their ends.
    return name if len(name) <= _NAME else f"{name[:_HEAD]}…{name[_HEAD + 1 - _NAME :]}"
