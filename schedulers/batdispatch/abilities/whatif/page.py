"""What changes of a site would do: one table, in the terminal, on a page and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from batdispatch.abilities.campaigns.page.aims import AIMS as ALL_AIMS
from batdispatch.abilities.campaigns.page.aims import Aim
from batdispatch.abilities.campaigns.page.answers import amount, interval, is_price
from batdispatch.abilities.campaigns.page.page import effect_cell
from batdispatch.abilities.campaigns.page.pairs import Pair, against
from batdispatch.abilities.campaigns.page.table import RunMetric
from batdispatch.abilities.whatif.fidelity.grade import Grade
from batdispatch.core.line.hindsight import name_list
from batdispatch.report.html import Cell, align_columns, page_text
from batdispatch.report.opening import FIGURES, Figure, Opening, opening_of
from batdispatch.results.metrics.rows import page_unit
from batdispatch.results.numbers import count_of, duration, number

BASELINE = "baseline"
_NO_PRICE = "No price was found: none of the figures is worse beyond chance."
#: What changes are judged by.
AIMS = tuple(
    aim
    for name in ("mean_waiting_time", "mean_bounded_slowdown", "p99_waiting_time", "max_waiting_time")
    for aim in ALL_AIMS
    if aim.metric == name
)


class Variant(NamedTuple):
    """A site that was simulated.

    Attributes:
        label: the change, or the baseline.
        nodes: of the machine.
        mean_wait: of the jobs that count, s.
        total_wait: of all jobs that ran, s.
        lost: jobs that ran with the baseline, and do not with this one.
    """

    label: str
    nodes: int
    mean_wait: float
    total_wait: float
    lost: int = 0


class Group(NamedTuple):
    """Jobs that are alike.

    Attributes:
        kind: partition, size or group.
        name: of the group.
        jobs: that count.
        waits: their mean waits, see `RunMetric`.
    """

    kind: str
    name: str
    jobs: int
    waits: RunMetric

    def mean_wait(self, variant: int) -> float:
        """Return the mean wait of the jobs with a variant, s."""
        return float(np.nanmean(self.waits.values[:, variant]))


@dataclass(frozen=True)
class WhatIf:
    """What came of simulating changes.

    Attributes:
        name: of the workload.
        variants: the baseline first.
        tables: each aim's values by window.
        groups: of the jobs.
        hours: from the first submission to the last one.
        jobs: that count.
        missing: jobs that did not run in all variants, and do not count.
        grade: of the baseline; None: it was not held against a log.
        folders: of the runs, the baseline's first.
        period: dates of the first and the last submission; None: the log has no dates.
    """

    name: str
    variants: Sequence[Variant]
    tables: Mapping[Aim, RunMetric]
    groups: Sequence[Group]
    hours: float
    jobs: int
    missing: int
    grade: Grade | None
    folders: Sequence[Path]
    period: tuple[str, str] | None = None

    @property
    def baseline(self) -> str:
        """What the others are compared with."""
        return self.variants[0].label

    @cached_property
    def pairs(self) -> dict[Aim, list[Pair]]:
        """Each change against the baseline, for each aim."""
        return {aim: against(table, aim, self.baseline) for aim, table in self.tables.items()}

    @cached_property
    def group_pairs(self) -> list[tuple[Group, list[Pair]]]:
        """Each change against the baseline, by the mean wait of each group."""
        return [(group, against(group.waits, AIMS[0], self.baseline)) for group in self.groups]

    @cached_property
    def unit(self) -> tuple[float, str] | None:
        """The unit, (seconds, name), that mean waits have on the page; None: each has its own."""
        return page_unit(FIGURES[0], [one.mean_wait for one in self.variants])

    def mean_wait(self, variant: Variant) -> str:
        """Return a variant's mean wait with its unit."""
        return (
            f"{number(variant.mean_wait / self.unit[0])}\N{NO-BREAK SPACE}{self.unit[1]}"
            if self.unit
            else duration(variant.mean_wait)
        )

    def price_of_hour(self, variant: Variant, node_hour: float) -> float | None:
        """Return what an hour of waiting saved costs if a node costs so much an hour; None: none is saved, or costs."""
        first = self.variants[0]
        saved = (first.total_wait - variant.total_wait) / 3600
        more = (variant.nodes - first.nodes) * self.hours * node_hour
        return more / saved if saved > 0 and more > 0 else None


def lead(found: WhatIf) -> list[str]:
    """Return what one should know first, a sentence each."""
    first = found.variants[0]
    windows = len(next(iter(found.tables.values())).blocks)
    lines = []
    if found.grade is not None:
        lines.append(f"The baseline has grade {found.grade.grade}. {' '.join(found.grade.lines(found.unit))}")
    lines.append(
        f"{found.jobs:,} jobs of {found.name} count, in {windows} windows of one simulation for each row; their mean "
        f"wait is {found.mean_wait(first)} with {_named(first)}.{_period(found)}"
    )
    if found.missing:
        lines.append(f"{found.missing:,} jobs did not run in all rows, for instance since they fit no more: left out.")
    return lines


def _period(found: WhatIf) -> str:
    return "" if found.period is None else f" The log's jobs came from {found.period[0]} to {found.period[1]}."


def opening(found: WhatIf, node_hour: float | None = None) -> Opening:
    """Return the first sentences: waits under the first change, its price, the best change, and the groups that lose.

    Args:
        found: what came of the changes.
        node_hour: what a node costs an hour; None: not stated.
    """
    first, *changes = found.variants
    if not changes:
        return opening_of(f"With {_named(first)}, jobs wait {found.mean_wait(first)} in the mean.", [], [])
    losers = [f"{group.kind} {group.name}" for group, pairs in found.group_pairs if _loses(pairs[0])]
    price = _price(found, 0, node_hour) or ("" if losers else _NO_PRICE)
    text = " ".join(filter(None, (f"{_change(found, 0)}.", price)))
    best = min(found.variants, key=lambda one: one.mean_wait)
    if len(changes) > 1 and best is not changes[0]:
        text += f" They wait least with {_named(best)}: {found.mean_wait(best)}."
    if losers:
        more = f" and {len(losers) - 3} more" if len(losers) > 3 else ""
        text += f" Worse off with {changes[0].label}, beyond chance: {', '.join(losers[:3])}{more}."
    figures = [Figure(name, [_value(found, name, place) for place in range(len(found.variants))]) for name in FIGURES]
    return opening_of(text, [one.label for one in (first, *changes)], figures)


def _named(variant: Variant) -> str:
    return f"the {variant.label}" if variant.label == BASELINE else variant.label


def _change(found: WhatIf, place: int) -> str:
    """Say what a change does to waits, and how sure that is."""
    first, change, pair = found.variants[0], found.variants[place + 1], found.pairs[AIMS[0]][place]
    now, before = found.mean_wait(change), found.mean_wait(first)
    more = 100 * (change.nodes / first.nodes - 1)
    nodes = f" ({more:+.3g}\N{NO-BREAK SPACE}% nodes)" if more else ""
    said = f"With {change.label}{nodes}, jobs wait {now} in the mean instead of {before} with {_named(first)}"
    if pair.effect is None:
        return said
    chance = "" if pair.apart or pair.p is None else ", may be chance"
    return f"{said}: {amount(AIMS[0], pair.effect)} as long ({interval(AIMS[0], pair.effect)}{chance})"


def _price(found: WhatIf, place: int, node_hour: float | None) -> str:
    """Say what a change costs: jobs, nodes, figures that are worse than the baseline's; empty: nothing was found."""
    change = found.variants[place + 1]
    more = change.nodes - found.variants[0].nodes
    costs = []
    if change.lost:
        costs.append(f"{count_of(change.lost, 'job')} {'does' if change.lost == 1 else 'do'} not run any more")
    if more > 0:
        costs.append(f"{count_of(more, 'node')} more")
    hour = None if node_hour is None else found.price_of_hour(change, node_hour)
    if hour is not None:
        costs.append(f"{hour:,.2f} for each hour of waiting saved")
    pairs = [(aim, found.pairs[aim][place]) for aim in AIMS]
    costs += [
        f"{amount(aim, pair.effect)} the {aim.words}" for aim, pair in pairs if pair.effect and is_price(aim, pair)
    ]
    return f"The price: {name_list(costs)}." if costs else ""


def _loses(pair: Pair) -> bool:
    return pair.apart and not AIMS[0].is_better(pair.effect)


def _value(found: WhatIf, name: str, place: int) -> float:
    """Return a figure of a variant over all windows."""
    if name == FIGURES[0]:
        return found.variants[place].mean_wait
    values = next(table for aim, table in found.tables.items() if aim.metric == name).values[:, place]
    return float(np.nanmax(values) if name.startswith("max_") else np.nanmean(values))


def _with_unit(aim: Aim, value: float) -> str:
    """Return a figure as it stands where nothing is compared."""
    return (
        duration(value) if "waiting_time" in aim.metric else f"{number(value)}\N{NO-BREAK SPACE}\N{MULTIPLICATION SIGN}"
    )


def headings(found: WhatIf, node_hour: float | None) -> list[str]:
    """Return the headings of the table."""
    alone = len(found.variants) == 1
    # Without a change there are no ratios, and the mean wait stands there already.
    aims = AIMS[1:] if alone else AIMS
    return [
        "With",
        "nodes",
        "mean wait",
        *(aim.words if alone else f"{aim.words}, ratio" for aim in aims),
        *(["hour saved costs"] if node_hour else []),
    ]


def rows(found: WhatIf, node_hour: float | None) -> list[tuple[str, list[Cell]]]:
    """Return a row for each variant."""
    made = []
    for at, variant in enumerate(found.variants):
        cells = [Cell(f"{variant.nodes:,}"), Cell(found.mean_wait(variant))]
        if len(found.variants) == 1:
            cells += [Cell(_with_unit(aim, _value(found, aim.metric, at))) for aim in AIMS[1:]]
        else:
            cells += [effect_cell(aim, found.pairs[aim][at - 1]) if at else Cell("1") for aim in AIMS]
        if node_hour:
            price = found.price_of_hour(variant, node_hour)
            cells.append(Cell("" if price is None else f"{price:,.2f}"))
        made.append((variant.label, cells))
    return made


def group_rows(found: WhatIf) -> dict[str, list[tuple[str, list[Cell]]]]:
    """Return by kind a row for each group of jobs: how many, their mean wait, and what each change does to it."""
    made: dict[str, list[tuple[str, list[Cell]]]] = {}
    for group, pairs in found.group_pairs:
        cells = [Cell(f"{group.jobs:,}"), Cell(duration(group.mean_wait(0), found.unit))]
        cells += [effect_cell(AIMS[0], pair) for pair in pairs]
        made.setdefault(group.kind, []).append((group.name, cells))
    return made


def _group_headings(found: WhatIf) -> list[str]:
    return ["jobs", "mean wait", *(variant.label for variant in found.variants[1:])]


def page_of(found: WhatIf, *, runs: str = "", rerun: str = "", node_hour: float | None = None) -> str:
    """Return the page.

    Args:
        found: what it tells.
        runs: address of the page of the runs; empty: there is none.
        rerun: the command that does this; empty: there is none.
        node_hour: what a node costs an hour; None: not stated.
    """
    return page_text(
        "whatif.html.j2",
        title=f"What if: {found.name}" if found.variants[1:] else f"{found.baseline} for {found.name}",
        alone=not found.variants[1:],
        lead=" ".join(lead(found)),
        opening=opening(found, node_hour),
        runs=runs,
        headings=headings(found, node_hour),
        rows=rows(found, node_hour),
        group_headings=_group_headings(found),
        groups=group_rows(found),
        baseline=found.baseline,
        rerun=rerun,
    )


def text_of(found: WhatIf, node_hour: float | None = None) -> str:
    """Return what a terminal shows."""
    plain = [
        opening(found, node_hour).text,
        *lead(found),
        "",
        *_aligned(headings(found, node_hour), rows(found, node_hour)),
    ]
    groups = [(f"{kind} {name}", cells) for kind, rows in group_rows(found).items() for name, cells in rows]
    plain += ["", *_aligned(["mean wait by", *_group_headings(found)], groups)]
    if found.variants[1:]:
        plain.append(f"Ratios to {found.baseline}, with 95 % intervals. * the interval leaves out no change.")
    return "\n".join(plain)


def _aligned(head: Sequence[str], body: Sequence[tuple[str, Sequence[Cell]]]) -> list[str]:
    return align_columns([head, *([name, *(cell.plain() for cell in cells)] for name, cells in body)])


def as_dict(found: WhatIf, node_hour: float | None = None) -> dict[str, Any]:
    """Return everything as JSON has it; times in seconds."""
    grade = found.grade
    changes = []
    for at, variant in enumerate(found.variants[1:]):
        effects = {aim.metric: _effect(found.pairs[aim][at]) for aim in AIMS}
        by = [
            {
                "kind": group.kind,
                "name": group.name,
                "jobs": group.jobs,
                "mean_wait": group.mean_wait(at + 1),
                "baseline_mean_wait": group.mean_wait(0),
                **_effect(pairs[at]),
            }
            for group, pairs in found.group_pairs
        ]
        price = None if node_hour is None else found.price_of_hour(variant, node_hour)
        changes.append({**variant._asdict(), "against_baseline": effects, "groups": by, "hour_saved_costs": price})
    return {
        "workload": found.name,
        "period": found.period,
        "jobs": found.jobs,
        "left_out": found.missing,
        "grade": None if grade is None else grade.grade,
        "measures": {} if grade is None else {name: value for name, (value, _) in grade.measures.items()},
        "baseline": found.variants[0]._asdict(),
        "changes": changes,
    }


def _effect(pair: Pair) -> dict[str, Any]:
    value, low, high = (None, None, None) if pair.effect is None else pair.effect[:3]
    return {"ratio": value, "low": low, "high": high, "wins": pair.wins, "windows": pair.n, "p": pair.p}
