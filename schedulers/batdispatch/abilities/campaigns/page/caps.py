"""The picture of a sweep over caps on power: what each dispatcher pays, by the value of its cap."""

from __future__ import annotations

import re
from collections import defaultdict

from batdispatch.abilities.campaigns.page.answers import Answer
from batdispatch.abilities.campaigns.page.pairs import Pair
from batdispatch.abilities.campaigns.page.pictures import ratio_axis
from batdispatch.report import style
from batdispatch.report.html import Picture

_CAP = re.compile(r"\bcap=(\d+(?:\.\d+)?(?:e\d+)?)(%?)(?=[,\]])")


def along_caps(found: Answer, prefix: str) -> Picture:
    """Draw effects with their intervals by the value of the cap, a line for each dispatcher; there are `lines`."""
    drawn = lines(found)
    with style.own_style():
        figure, (axes,) = style.new_figure(3.2)
        for index, (name, points) in enumerate(drawn.items()):
            for cap, pair in points:
                assert pair.effect is not None
                low, high = pair.effect[1:3]
                if low is not None and high is not None:
                    axes.plot([cap, cap], [low, high], color=style.FAINT, linewidth=1)
            values = [pair.effect[0] for _, pair in points if pair.effect is not None]
            axes.plot([cap for cap, _ in points], values, marker="o", label=name, **style.series_style(index))
        axes.axhline(1.0, color=style.INK, linewidth=0.9)
        ratio_axis(axes, [pair for points in drawn.values() for _, pair in points], "y")
        watts = "… W" in next(iter(drawn))
        axes.set_xlabel("cap, W" if watts else "cap, % of what all hosts can burn")
        axes.set_ylabel(f"{found.aim.words}, times {found.baseline}")
        axes.grid(visible=True)
        style.legend_above(axes)
    title = f"{found.aim.title} by cap"
    told = f"{title}: each dispatcher under caps, times {found.baseline}, with 95 % intervals"
    return Picture(title, "Lower is better." if found.aim.better == "lower" else "", style.to_svg(figure, prefix, told))


def lines(found: Answer) -> dict[str, list[tuple[float, Pair]]]:
    """Return (cap, pair) in order of the caps, by the dispatcher without the cap's value, if it has several.

    Only ratios to the baseline are compared. Caps in per cent and in watts do not stand on one axis: those are
    taken of which there are more.
    """
    of_unit: dict[str, dict[str, list[tuple[float, Pair]]]] = {"%": defaultdict(list), " W": defaultdict(list)}
    for pair in found.pairs if found.aim.way == "ratio" else ():
        cap = _CAP.search(pair.ours)
        if cap is not None and pair.effect is not None:
            unit = cap[2] or " W"
            of_unit[unit][_CAP.sub(f"cap=…{unit}", pair.ours)].append((float(cap[1]), pair))
    several = [
        {name: sorted(points, key=lambda one: one[0]) for name, points in names.items() if len(points) > 1}
        for names in of_unit.values()
    ]
    return max(several, key=lambda names: sum(map(len, names.values())))
