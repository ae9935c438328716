"""A comparison in at most 60 words: the dispatcher with the least wait, its gain and its price; and the figures.

One simulated pair of schedules is one trajectory. The page states what is certain of it: how many jobs wait less, and
by how much. How much of that is chance is a question for windows (`abilities.campaigns.page`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from batdispatch.core.jobs.job_table import Floats, in_order
from batdispatch.core.line.hindsight import name_list
from batdispatch.dispatchers.simple import has_simple
from batdispatch.report import style
from batdispatch.report.comparison import same_jobs, simulations
from batdispatch.results.metrics.compute import STARVATION, describe
from batdispatch.results.metrics.metric import Value
from batdispatch.results.metrics.rows import Row, metric_row
from batdispatch.results.numbers import alike, count_of, durations, number
from batdispatch.results.runs import Run
from batdispatch.results.starvation import easy_among

#: Figures that the picture shows, beside the utilisation where machines differ.
FIGURES = ("mean_waiting_time", "p99_waiting_time", "max_waiting_time", "mean_bounded_slowdown")
#: What runs burnt that counted it.
ENERGY = "energy"
REJECTIONS = "nb_jobs_rejected"
#: Most runs of the picture; the table has all.
MOST_RUNS = 8
#: Figures that may be the price of a short mean wait, the gravest first, and by how much they must be worse. The mean
#: turnaround is one where jobs run longer for it, as malleable jobs that shrink do.
_PRICES = (
    STARVATION.name,
    ENERGY,
    "mean_turnaround_time",
    "max_waiting_time",
    "p99_waiting_time",
    "mean_bounded_slowdown",
)
_WORSE = 1.005
#: Most letters of a label that stands beside its bars.
_LONG = 40
#: The unit of a slowdown.
_TIMES = "\N{NO-BREAK SPACE}\N{MULTIPLICATION SIGN}"
_MINUS = "\N{MINUS SIGN}"
_ALONE = "No simple ordering took part."
#: Most words of the sentences: what is left out are prices, the least grave first.
_MOST_WORDS = 60
_ELSEWHERE = "Chance is for --replicates 10 to judge."
#: A wait that changes by less, s, counts as the same; as in the explorer.
_SAME_WAIT = 0.5


@dataclass(frozen=True)
class Bar:
    """A figure of a run: the text with its unit, and its share of the largest, 0 to 1."""

    text: str
    share: float


class Figure(NamedTuple):
    """A metric's values, one for each run, and what stands above them; empty: the metric's label.

    `among` are further values of it on the page, such as the least and the most of replicates: all share a unit.
    """

    metric: str
    values: Sequence[Value]
    heading: str = ""
    among: Sequence[float] = ()


@dataclass(frozen=True)
class Opening:
    """What a page says first.

    Attributes:
        text: sentences of at most 60 words together.
        headings: of the picture's columns.
        rows: label, colour and bars of each run.
        left_out: how many runs the picture does not show.
    """

    text: str
    headings: Sequence[str]
    rows: Sequence[tuple[str, str, Sequence[Bar]]]
    left_out: int

    @property
    def long(self) -> bool:
        """Whether a label takes a line of its own above the bars."""
        return any(len(label) > _LONG for label, _, _ in self.rows)


def opening(runs: Sequence[Run]) -> Opening | None:
    """Return what some runs say; None if no job started in one of them."""
    if any(run.metrics.get("mean_waiting_time") is None for run in runs):
        return None
    other_hosts = len({run.hosts for run in simulations(runs)}) > 1
    names = (*FIGURES, *(["utilisation"] if other_hosts else []), ENERGY)
    figures = [Figure(name, [run.metrics.get(name) for run in runs]) for name in names]
    return opening_of(_text(simulations(runs), runs, other_hosts), [run.label for run in runs], figures)


def opening_of(text: str, labels: Sequence[str], figures: Sequence[Figure]) -> Opening:
    """Return sentences with a bar for each figure of each run.

    Args:
        text: the sentences.
        labels: of the runs.
        figures: left out where a value is missing.
    """
    whole = [
        (one.heading or metric.label, metric_row(metric, one.values, one.among))
        for one in figures
        if (metric := describe(one.metric)) is not None and all(map(_is_known, one.values))
    ]
    rows = [row for _, row in whole]
    largest = [max(cell.value or 0.0 for cell in row.cells) or 1.0 for row in rows]
    shown = [
        (
            label,
            str(style.series_style(index)["color"]),
            [
                Bar(_with_unit(row, row.cells[index].text), (row.cells[index].value or 0.0) / most)
                for row, most in zip(rows, largest, strict=True)
            ],
        )
        for index, label in enumerate(labels[:MOST_RUNS])
    ]
    return Opening(text, [heading for heading, _ in whole], shown, max(0, len(labels) - MOST_RUNS))


def _is_known(value: Value) -> bool:
    return value is not None and not math.isnan(value)


def _with_unit(row: Row, text: str) -> str:
    if "slowdown" in row.metric.name:
        return f"{text}{_TIMES}"
    return f"{text}\N{NO-BREAK SPACE}{row.unit}" if row.unit else text


def _text(runs: Sequence[Run], every: Sequence[Run], other_hosts: bool) -> str:
    if len(runs) == 1:
        return _alone(runs[0])
    if not same_jobs(runs):
        return "These runs served different jobs, so their figures do not say which dispatcher is better."
    if all(_mean(run) < 0.5 for run in runs):
        return "No job waits in any of these runs: the machine is large enough for all of them."
    return f"{_capacity(runs, every) if other_hosts else _winner(runs, every)} {_ELSEWHERE}"


def _alone(run: Run) -> str:
    waits = alike(*(float(run.metrics.get(name) or 0.0) for name in FIGURES[:3]))
    used = run.metrics.get("utilisation")
    also = f" The machine is used to {number(100 * used)}\N{NO-BREAK SPACE}%." if used is not None else ""
    waited = f"Jobs wait {waits[0]} in the mean; 99 of 100 wait {waits[1]} or less"
    return f"{waited}, and none waits longer than {waits[2]}.{also}"


def _mean(run: Run) -> float:
    return float(run.metrics["mean_waiting_time"] or 0.0)


def _winner(runs: Sequence[Run], every: Sequence[Run]) -> str:
    """Say under which run jobs wait least, compared with the usual one, for how many jobs that is so, and its price.

    The usual one is easy, or the first other run if easy is not there or is the best itself. Figures have the units in
    which `every` run of the page has them.
    """
    best = min(runs, key=_mean)
    easy = easy_among(runs)
    rest = [run for run in runs if run is not best]
    against = easy if easy is not None and easy is not best else rest[0]
    mine, theirs = _texts(every, FIGURES[0], (best, against))
    if mine == theirs:
        return f"Jobs wait alike under {best.label} and {against.label}: {mine} in the mean."
    share = number(100 * (1 - _mean(best) / _mean(against)))
    text = (
        f"Jobs wait least under {best.label}: {mine} in the mean instead of {theirs} under {against.label} "
        f"({_MINUS}{share}\N{NO-BREAK SPACE}%). {gains(wait_changes(against, best))}"
    )
    alone = "" if has_simple(run.label for run in runs) else f" {_ALONE}"
    text += _refusals(best, against)
    longest = [f"{text} {_price(every, best, against, most)}{last}" for last in (alone, "") for most in (3, 2, 1)]
    return next((one for one in longest if len(f"{one} {_ELSEWHERE}".split()) <= _MOST_WORDS), longest[-1])


def _refusals(best: Run, against: Run) -> str:
    """Say how many jobs were rejected, if that differs: who serves fewer jobs may have shorter waits for it."""
    mine, theirs = (run.metrics.get(REJECTIONS) or 0.0 for run in (best, against))
    return "" if mine == theirs else f" Rejected: {count_of(int(mine), 'job')} instead of {number(theirs)}."


def _capacity(runs: Sequence[Run], every: Sequence[Run]) -> str:
    """Say what more hosts do to the waits of the same jobs, from the smallest machine to the largest of `runs`.

    Figures have the units in which `every` run of the page has them.
    """
    small, large = (pick(runs, key=lambda run: run.hosts or 0) for pick in (min, max))
    before, after = _texts(every, FIGURES[0], (small, large))
    more = number(100 * ((large.hosts or 0) / (small.hosts or 1) - 1))
    change = number(100 * abs(_mean(large) / _mean(small) - 1)) if _mean(small) else "0"
    way = "less" if _mean(large) <= _mean(small) else "more"
    used = [number(100 * float(run.metrics.get("utilisation") or 0.0)) for run in (small, large)]
    hosts = f"{number(large.hosts or 0)} hosts instead of {number(small.hosts or 0)} (+{more}\N{NO-BREAK SPACE}%)"
    return (
        f"With {hosts}, jobs wait {after} instead of {before} in the mean, "
        f"{change}\N{NO-BREAK SPACE}% {way}. {gains(wait_changes(small, large))} "
        f"Utilisation goes from {used[0]}\N{NO-BREAK SPACE}% to {used[1]}\N{NO-BREAK SPACE}%."
    )


def gains(changes: Floats) -> str:
    """Say how many jobs wait less and longer, and by how much: medians, and quartiles of the gains.

    Args:
        changes: by how much longer each job waits, s; see `wait_changes`.
    """
    less, longer = -changes[changes < -_SAME_WAIT], changes[changes > _SAME_WAIT]
    said = f"{len(less):,} of {len(changes):,} wait less"
    if len(less):
        (low, median, high), unit = _in_one_unit(*np.quantile(less, (0.25, 0.5, 0.75)).tolist())
        said += f" (median gain {median}{unit}, quartiles {low} and {high})"
    return f"{said}, {len(longer):,} longer."


def _price(runs: Sequence[Run], best: Run, against: Run, most: int) -> str:
    """Say in which figures the one that waits least is worse: the gravest of them."""
    found = []
    for name in _PRICES:
        metric, mine, theirs = describe(name), best.metrics.get(name), against.metrics.get(name)
        if metric is None or mine is None or theirs is None or mine <= theirs * _WORSE:
            continue
        here, there = _texts(runs, name, (best, against))
        counted = name == STARVATION.name
        found.append(f"{number(mine)} {metric.label}" if counted else f"{metric.label} {here} instead of {there}")
    if not found:
        return "Its longest wait and slowdowns are no worse."
    return f"The price: {name_list(found[:most])}."


def _texts(runs: Sequence[Run], name: str, chosen: Sequence[Run]) -> list[str]:
    """Return a figure of some of the runs with its unit, as the table of all of them has it."""
    metric = describe(name)
    assert metric is not None
    row = metric_row(metric, [run.metrics.get(name) for run in runs])
    return [
        _with_unit(row, cell.text) for one in chosen for run, cell in zip(runs, row.cells, strict=True) if run is one
    ]


def _in_one_unit(*seconds: float) -> tuple[list[str], str]:
    texts, unit = durations(list(seconds))
    signed = [text.replace("-", "\N{MINUS SIGN}") for text in texts]
    return signed, f"\N{NO-BREAK SPACE}{unit}" if unit else ""


def wait_changes(base: Run, other: Run) -> Floats:
    """Return by how much longer jobs wait in the other run, s, in order of submission; of jobs that started in both."""
    first, second = base.logical, other.logical
    ids, code = in_order([*first.full_ids(), *second.full_ids()])
    waits = np.full((2, len(ids)), np.nan)
    for row, (jobs, codes) in enumerate(zip((first, second), np.split(code, [len(first)]), strict=True)):
        waits[row, codes[jobs.ran]] = jobs.waiting_time[jobs.ran]
    changes = (waits[1] - waits[0])[code[: len(first)]][np.argsort(first.submission_time, kind="stable")]
    known: Floats = changes[~np.isnan(changes)]
    return known
