"""Pictures of ratios over instances, one point an instance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.ticker import FuncFormatter

from batdispatch.inputs.files import write_whole
from batdispatch.report import style


def ratio_picture(
    path: Path, series: Mapping[str, Sequence[float]], *, label: str, marks: Sequence[float], title: str
) -> None:
    """Draw ratios on a logarithmic axis, each series in ascending order, and write the picture as SVG.

    Args:
        path: to write.
        series: name -> ratios, one an instance.
        label: of the vertical axis.
        marks: ratios that get a line across.
        title: of the picture, for those who cannot see it.
    """
    with style.styled():
        figure, [axes] = style.new_figure(3.3)
        for index, (name, ratios) in enumerate(series.items()):
            values, shares = style.quantiles(np.asarray(ratios, dtype=np.float64))
            axes.step(
                100 * np.concatenate(([0.0], shares)),
                np.concatenate((values[:1], values)),
                where="pre",
                label=f"{name} ({len(ratios):,} instances)",
                linewidth=1.4,
                **style.series_style(index),
            )
        for mark in marks:
            axes.axhline(mark, color=style.FAINT, linewidth=0.8, linestyle=":")
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_xlim(0, 100)
        axes.set_xlabel("% of the instances, in ascending order")
        axes.set_ylabel(label)
        axes.grid(True, axis="y")
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2)
    write_whole(path, style.alone(figure, "r", title))
