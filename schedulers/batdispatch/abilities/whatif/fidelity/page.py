"""One HTML page about the waits of a log and of simulations of it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

import numpy as np
from matplotlib.figure import Figure

from batdispatch.abilities.whatif.fidelity.waits import WEEK, Waits
from batdispatch.abilities.whatif.fidelity.words import APART, HEADINGS, apart_rows, sentences, wait_rows
from batdispatch.report import style
from batdispatch.report.curves import distribution_figure
from batdispatch.report.html import Picture
from batdispatch.report.workload.page import page

_DIAGONAL = (
    "The waits of the log and of a simulation, each sorted. Equal distributions lie on the diagonal; below it, waits "
    "are shorter in the simulation than in the log. What is below 1 s is shown at 1 s."
)
_FOOTER = (
    "Decades: Wasserstein distance between the distributions of log10(wait + 1 s). Rank, weeks: Spearman's correlation "
    "of the jobs' waits, and of the weekly means. Busy: largest difference of weekly utilisations. Idle: share of the "
    "waiting time in which enough hosts were free for the job that waited."
)


def render(told: Mapping[str, Waits], *, title: str, account: str = "") -> str:
    """Return the page; the same waits give the same bytes.

    Args:
        told: the log first, then simulations by dispatcher, with the same jobs in the same order.
        title: its heading.
        account: what was left out of the log, and why.
    """
    return page(
        title=title,
        lead=" ".join(sentences(told)),
        overview=("", APART, apart_rows(told)),
        pictures=pictures(told),
        distributions=("", HEADINGS, wait_rows(told)),
        account=account,
        footer=_FOOTER,
    )


def figures(told: Mapping[str, Waits]) -> dict[str, tuple[Figure, str]]:
    """Return title -> (picture, caption)."""
    waits = {name: each.wait for name, each in told.items()}
    return {
        "Waits": (
            distribution_figure(waits, label="wait", durations=True),
            "Share of the jobs that wait no longer than this.",
        ),
        "Quantiles": (
            _quantiles(told),
            _DIAGONAL,
        ),
        "Weeks": (
            _weeks(dict(islice(told.items(), 2))),
            "Mean wait of the jobs that came in each week, in the log and under the policy that its site ran.",
        ),
    }


def pictures(told: Mapping[str, Waits]) -> list[Picture]:
    """Return the pictures as SVG elements for a page."""
    return [
        Picture(title, caption, style.to_svg(figure, title.lower(), title))
        for title, (figure, caption) in figures(told).items()
    ]


def alone(told: Mapping[str, Waits]) -> dict[str, bytes]:
    """Return the pictures as SVG files of their own, by name."""
    return {
        f"{title.lower()}.svg": style.alone(figure, title.lower(), title)
        for title, (figure, _) in figures(told).items()
    }


def _quantiles(told: Mapping[str, Waits]) -> Figure:
    names = list(told)
    log = told[names[0]].wait
    at = np.linspace(0, 1, 400)
    longest = max(float(each.wait.max()) for each in told.values())
    with style.own_style():
        figure, (axes,) = style.new_figure(height=3.6)
        style.log_duration_axis(axes, longest)
        ticks, labels = axes.get_xticks(), [text.get_text() for text in axes.get_xticklabels()]
        axes.set_yscale("log")
        axes.set_ylim(axes.get_xlim())
        axes.set_yticks(ticks, labels)
        axes.set_yticks([], minor=True)
        axes.plot([1, longest], [1, longest], color=style.FAINT, linewidth=0.8)
        across = np.maximum(np.quantile(log, at), 1.0)
        for index, name in enumerate(names[1:], 1):
            up = np.maximum(np.quantile(told[name].wait, at), 1.0)
            axes.plot(across, up, label=name, linewidth=1.4, **style.series_style(index))
        axes.set_xlabel("wait in the log")
        axes.set_ylabel("wait simulated")
        axes.grid(True)
        style.legend_above(axes, ncols=min(len(names) - 1, 4), handlelength=1.8)
    return figure


def _weeks(told: Mapping[str, Waits]) -> Figure:
    first = next(iter(told.values()))
    begin = float(first.submission.min())
    weeks = max(int((float(first.submission.max()) - begin) // WEEK), 1)
    with style.own_style():
        figure, (axes,) = style.new_figure()
        for index, (name, waits) in enumerate(told.items()):
            wait, _ = waits.by_week(weeks, begin)
            hours = np.append(wait, wait[-1]) / 3600
            axes.plot(
                np.arange(weeks + 1),
                hours,
                drawstyle="steps-post",
                label=name,
                linewidth=1.2,
                **style.series_style(index),
            )
        axes.set_xlim(0, weeks)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("week")
        axes.set_ylabel("mean wait (hours)")
        axes.grid(True, axis="y")
        style.legend_above(axes, ncols=min(len(told), 4), handlelength=1.8)
    return figure
