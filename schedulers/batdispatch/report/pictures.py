"""The pictures of a comparison, as SVG elements for a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from batdispatch.report import style
from batdispatch.report.curves import distribution_figure, in_panels, load_figure, stretch
from batdispatch.report.html import Picture
from batdispatch.results.metrics.sample import Sample, sample_of
from batdispatch.results.numbers import duration_unit, number
from batdispatch.results.runs import Run
from batdispatch.results.usage import MachineUse, held_by_row

Floats = NDArray[np.float64]


def curve_figures(runs: Sequence[Run], shared: Mapping[str, MachineUse]) -> list[tuple[str, str, Callable[[], Figure]]]:
    """Return utilisation, queue and distributions, all runs in each: title, caption, and what draws it.

    Args:
        runs: the runs.
        shared: by label, for runs on shared nodes or with licences.
    """
    samples = {run.label: _sample(run, shared.get(run.label)) for run in runs}
    begin, end = extent(list(samples.values()))
    made: list[tuple[str, str, Callable[[], Figure]]] = []
    if not any(sample.totals for sample in samples.values()):
        hosts = max((run.hosts or 0 for run in runs), default=0)
        made.append(_load("Utilisation", "% of hosts" if hosts else "hosts", samples, None, hosts or None, begin, end))
    totals: dict[str, float] = {}
    for sample in samples.values():
        totals = {**sample.totals, **sample.licences} | totals
    used = {name for sample in samples.values() for name, held in sample.amounts.items() if held.any()}
    for name, total in totals.items():
        if name not in used:
            continue
        made.append(_load(f"Utilisation: {name}", f"% of the machine's {name}", samples, name, total, begin, end))
    made.append(
        (
            "Queue",
            f"Number of jobs that wait, over time. {_averaged(begin, end)}",
            lambda: load_figure(
                # A real Batsim takes microseconds to start a job: that is no queue, only a needle in the picture.
                {name: (*s.waits, (np.subtract(*s.waits) < -1e-3).astype(np.float64)) for name, s in samples.items()},
                label="waiting jobs",
                total=None,
                begin=begin,
                end=end,
            ),
        )
    )
    made.append(
        (
            "Waiting time",
            "Share of the jobs that waited no longer than this. The higher the curve, the better.",
            lambda: distribution_figure(
                {name: sample.wait for name, sample in samples.items()}, label="waiting time", durations=True
            ),
        )
    )
    made.append(
        (
            "Bounded slowdown",
            "Share of the jobs whose bounded slowdown (threshold 10 s) is no larger. The higher the curve, the better.",
            lambda: distribution_figure(
                {name: sample.bounded_slowdown for name, sample in samples.items()},
                label="bounded slowdown",
                durations=False,
            ),
        )
    )
    return made


def compared_curves(runs: Sequence[Run], shared: Mapping[str, MachineUse]) -> list[Picture]:
    """Return the pictures of `curve_figures`, whose arguments these are."""
    reference = f" The thin grey line is {runs[0].label}." if in_panels(len(runs)) else ""
    return [
        Picture(title, caption + reference, style.to_svg(draw(), f"c{index}", title))
        for index, (title, caption, draw) in enumerate(curve_figures(runs, shared))
    ]


def extent(samples: Sequence[Sample]) -> tuple[float, float]:
    """Return the first submission and the last end over all runs, in seconds."""
    begin = min((s.first_submission for s in samples if len(s.start)), default=0.0)
    end = max((float(s.finish.max()) for s in samples if len(s.finish)), default=begin)
    return begin, end


def _load(
    title: str, label: str, samples: Mapping[str, Sample], resource: str | None, total: float | None, *span: float
) -> tuple[str, str, Callable[[], Figure]]:
    def weight(sample: Sample) -> Floats:
        return sample.held if resource is None else sample.amounts.get(resource, np.zeros(len(sample.held)))

    caption = f"{label[0].upper()}{label[1:]} that jobs hold, over time. {_averaged(*span)}"
    return (
        title,
        re.sub(r"^% of", "Share of", caption),
        lambda: load_figure(
            {name: (s.segment_start, s.segment_finish, weight(s)) for name, s in samples.items()},
            label=label,
            total=total,
            begin=span[0],
            end=span[1],
        ),
    )


def _averaged(begin: float, end: float) -> str:
    """Say over what curves are averaged."""
    seconds = stretch(begin, end)
    scale, unit = duration_unit([seconds])
    return f"Curves of many steps are averaged over stretches of {number(seconds / scale)} {unit}."


def _sample(run: Run, shared: MachineUse | None) -> Sample:
    if shared is None:
        return run.sample
    machine, slots = shared.machine, shared.slots
    amounts = {name: held.astype(np.float64) for name, held in shared.licences.items()}
    totals: dict[str, float] = {**machine.shared}
    if totals:
        amounts |= held_by_row(slots, len(run.columns), machine.resources)
    licences = dict(machine.licences) if shared.licences else {}
    return sample_of(
        run.columns, lineage=run.lineage, hosts=run.hosts, totals=totals, licences=licences, amounts=amounts
    )
