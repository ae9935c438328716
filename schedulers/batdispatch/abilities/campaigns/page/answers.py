"""Which dispatcher for which aim, and how sure that is: what a comparison says, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from batdispatch.abilities.campaigns.page.aims import AIMS, LONG_WAITS, Aim
from batdispatch.abilities.campaigns.page.doubts import Effects, cut_off, doubts
from batdispatch.abilities.campaigns.page.pairs import Pair, against
from batdispatch.abilities.campaigns.page.ranks import NoRanking, Ranking, by_workload, rank
from batdispatch.abilities.campaigns.page.table import RunMetric, metric_of
from batdispatch.abilities.campaigns.statistics.estimate import Estimate
from batdispatch.abilities.campaigns.statistics.rounding import round_significant
from batdispatch.abilities.campaigns.statistics.significance import LEAST
from batdispatch.dispatchers.simple import WORDS, has_simple
from batdispatch.results.metrics.compute import describe
from batdispatch.results.runs import STILL_WAITING


@dataclass(frozen=True)
class Answer:
    """What is known about one aim on one workload, or over many.

    Attributes:
        aim: the aim.
        table: what was measured.
        baseline: the dispatcher that others are compared with.
        pairs: every other dispatcher against it.
        ranking: of the dispatchers that have all values, or why there is none.
        best: the one of these with the best mean; None: there is none.
        chosen: the same if it can be recommended, else None.
        rivals: those that cannot be told apart from it; empty if there is no choice.
        why: why there is no choice; empty if there is one.
    """

    aim: Aim
    table: RunMetric
    baseline: str
    pairs: tuple[Pair, ...]
    ranking: Ranking | NoRanking
    best: str | None
    chosen: str | None
    rivals: tuple[str, ...]
    why: str

    @property
    def left_out(self) -> tuple[str, ...]:
        """Dispatchers that lack a value somewhere."""
        return tuple(name for name in self.table.dispatchers if name not in self.table.whole)

    @property
    def n(self) -> int:
        """Number of replicates, or of workloads."""
        return len(self.table.blocks)

    def of(self, dispatcher: str) -> Pair | None:
        """Return the comparison of a dispatcher with the baseline; None for the baseline itself."""
        return next((one for one in self.pairs if one.ours == dispatcher), None)


@dataclass(frozen=True)
class Section:
    """All answers about one workload, or over many.

    Attributes:
        name: of the workload; empty: over all of them.
        blocks: what is counted, in words: replicates, slices, workloads, ...
        answers: one for each aim.
        warnings: sentences that one should know before reading these.
    """

    name: str
    blocks: str
    answers: tuple[Answer, ...]
    warnings: tuple[str, ...] = ()

    @property
    def goals(self) -> tuple[Answer, ...]:
        """The answers about what one chooses by."""
        return tuple(one for one in self.answers if one.aim.goal)


def sections(
    runs: pd.DataFrame,
    baseline: str | None = None,
    *,
    blocks: str = "replicates",
    independent: int | None = None,
) -> list[Section]:
    """Return what a tidy table of runs says: for each workload, and over all of them if there are enough.

    Args:
        runs: as `table.metric_of` takes it.
        baseline: the dispatcher that others are compared with; None: see `chosen_baseline`.
        blocks: what replicates are called, in words.
        independent: how many replicates of a workload there is room for that share no job; None: for all of them.

    Raises:
        InputError: the table lacks a column, or has two rows of one run.
    """
    tables = {aim: metric_of(runs, aim.metric) for aim in aims_of(runs)}
    if not tables:
        return []
    first = next(iter(tables.values()))
    base = baseline or chosen_baseline(first)
    found = []
    if len(first.workloads) >= LEAST:
        whole = tuple(answer(by_workload(table, aim), aim, base, "workloads") for aim, table in tables.items())
        found.append(Section("", "workloads", whole))
    for workload in first.workloads:
        own = {aim: replace(table.on(workload), independent=independent) for aim, table in tables.items()}
        parts, warnings = _alike(own, blocks)
        answers = tuple(answer(table, aim, base, blocks) for aim, table in parts.items())
        if STILL_WAITING in runs.columns:
            warnings += cut_off(metric_of(runs, STILL_WAITING).on(workload))
        warnings += doubts([Effects(one.aim, one.table, one.pairs) for one in answers])
        found.append(Section(workload, blocks, answers, warnings))
    return found


def aims_of(runs: pd.DataFrame) -> list[Aim]:
    """Return the aims that a table of runs has values for.

    Where nodes have several resources, utilisation is that of the one that is used most. Where a network is known, the
    nearness of each job's hosts is an aim too. Values of 0 have no ratio, so that their aim is left out.
    """
    found = [aim for aim in AIMS if aim.metric in runs.columns and runs[aim.metric].notna().any()]
    if not any(aim.metric == "utilisation" for aim in found):
        named = [name for name in runs.columns if str(name).startswith("utilisation_") and runs[name].notna().any()]
        if named:
            most = max(named, key=lambda name: (float(runs[name].to_numpy(dtype=float).mean()), str(name)))
            known = describe(most)
            assert known is not None
            found.append(Aim(most, known.label, "difference", better="higher"))
    near = "weighted_compactness"
    if near in runs.columns and runs[near].notna().any():
        found.append(Aim(near, "spread of a job's hosts"))
    return [aim for aim in found if aim.way != "ratio" or aim.added > 0 or not (runs[aim.metric] <= 0).any()]


def chosen_baseline(table: RunMetric) -> str:
    """Return the dispatcher that others are compared with: easy if it is there, else the first."""
    return "easy" if "easy" in table.dispatchers else table.dispatchers[0]


def answer(table: RunMetric, aim: Aim, baseline: str, blocks: str) -> Answer:
    """Say which dispatcher is best for an aim, as far as that can be said.

    The one with the best mean is chosen if there are enough replicates and it can be told apart from another one. Its
    rivals are those that no dispatcher is better than beyond chance. One that lacks a value is left out.
    """
    whole = table.only(table.whole)
    ranking = rank(whole if len(whole.dispatchers) > 1 else table, aim, blocks=blocks)
    pairs = tuple(against(table, aim, baseline)) if baseline in table.dispatchers else ()
    best = _best(whole, aim)
    why, rivals = "", tuple[str, ...]()
    if best is None:
        why = f"No dispatcher has a value on all {blocks}."
    elif len(whole.dispatchers) > 1 and (whole.values == whole.values[:, :1]).all():
        why = "All dispatchers are equal."
    elif table.size < LEAST:
        why = f"{_counts(best, pairs, aim, blocks)} Intervals need at least {LEAST} {blocks}, and there {_are(table)}."
    elif len(whole.dispatchers) == 1:
        why = f"Only {best} has a value on all {blocks}, so it is compared with none."
    elif all(one.p is None for one in against(whole, aim, best)):
        why = f"{_counts(best, pairs, aim, blocks)} The longest of all has no interval."
    else:
        rivals = _unbeaten(whole, aim, best)
        if len(rivals) == len(whole.dispatchers) - 1:
            why = f"{best} has the best mean, and cannot be told apart from {_list(rivals)}."
            rivals = ()
    return Answer(aim, table, baseline, pairs, ranking, best, None if why else best, rivals, why)


def _unbeaten(table: RunMetric, aim: Aim, best: str) -> tuple[str, ...]:
    """Return the dispatchers, without the best, than which no other one is better beyond chance."""
    return tuple(
        name
        for name in table.dispatchers
        if name != best and not any(one.apart and aim.is_better(one.effect) for one in against(table, aim, name))
    )


def _counts(best: str, pairs: Sequence[Pair], aim: Aim, blocks: str) -> str:
    """Say by how much and how often the best is better than the baseline, without a word on chance."""
    compared = next((one for one in pairs if one.ours == best), None)
    has = f"{best} has {'the best mean' if not aim.extreme else goal(aim)}"
    if compared is None or compared.effect is None:
        return f"{has}."
    return (
        f"{has}: {amount(aim, compared.effect)}{_beside(aim, compared.theirs)}, and better in {_won(compared, blocks)}."
    )


def _won(one: Pair, blocks: str) -> str:
    return f"{one.wins} of {count_of(one.n, blocks)}"


def _beside(aim: Aim, baseline: str) -> str:
    return f" that of {baseline}" if aim.way == "ratio" else f" against {baseline}"


def sentences(section: Section) -> list[str]:
    """Say in words which dispatcher to choose for each aim, at what price, and how sure that is."""
    return [sentence(one, section.blocks, section.answers) for one in section.goals]


def sentence(found: Answer, blocks: str, others: Sequence[Answer] = ()) -> str:
    """Say in words which dispatcher to choose for an aim, and how sure that is.

    Args:
        found: about the aim.
        blocks: what is counted.
        others: about all aims on the same workload: the price of the choice is named.
    """
    aim = found.aim
    cost = _list(prices(found.best, others)) if found.best is not None else ""
    if found.chosen is None:
        at_price = f" The price of {found.best}, against {found.baseline}: {cost}." if cost else ""
        return f"For {goal(aim)}: no choice can be recommended. {found.why}{at_price}"
    at_price = f", at the price, against {found.baseline}, of {cost}" if cost else ""
    among = f", the best of those compared ({unseen})" if (unseen := not_beside(found.table.dispatchers)) else ""
    compared = found.of(found.chosen)
    if compared is not None and compared.effect is not None and found.baseline in found.rivals:
        told = effect(aim, compared.effect, found.baseline)
        any_of = _list((found.chosen, *found.rivals))
        return (
            f"For {goal(aim)} choose any of {any_of}{among}: they cannot be told apart. "
            f"{found.chosen} has the best mean, {told}, and is better in {_won(compared, blocks)}{at_price}."
        )
    text = f"For {goal(aim)} choose {found.chosen}{among}"
    if compared is not None and compared.effect is not None:
        text += f": {effect(aim, compared.effect, found.baseline)}, and better in {_won(compared, blocks)}"
    text += f"{at_price}."
    if found.rivals:
        text += f" It cannot be told apart from {_list(found.rivals)}."
    else:
        text += " It can be told apart from all others."
    return text


def not_beside(dispatchers: Sequence[str]) -> str:
    """Say that no simple ordering was among those compared; empty if one was."""
    return "" if has_simple(dispatchers) else f"no simple ordering was beside it: {WORDS}"


def worse(name: str, answers: Sequence[Answer]) -> list[tuple[Answer, Pair]]:
    """Return where a dispatcher is worse than the baseline: beyond chance, or by waits of those who wait longest."""
    return [(one, pair) for one in answers if (pair := one.of(name)) is not None and is_price(one.aim, pair)]


def is_price(aim: Aim, pair: Pair) -> bool:
    """Return whether the first of a pair is worse for an aim: beyond chance, or by waits of those who wait longest."""
    told = pair.apart or aim.metric in LONG_WAITS
    return told and pair.effect is not None and _is_worse(aim, pair.effect.value)


def prices(name: str, answers: Sequence[Answer]) -> list[str]:
    """Say where a dispatcher is worse than the baseline, and by how much."""
    return [price(one.aim, pair) for one, pair in worse(name, answers)]


def price(aim: Aim, pair: Pair) -> str:
    """Say by how much the first of a pair is worse for an aim; they have an effect."""
    assert pair.effect is not None
    unit = aim.unit[0] if aim.way == "difference" else ""
    of = "" if aim.words == unit else f" of {aim.words}" if unit else f" the {aim.words}"
    chance = "" if pair.apart or pair.p is None else ", may be chance"
    return f"{amount(aim, pair.effect)}{of} ({interval(aim, pair.effect)}{chance})"


def _is_worse(aim: Aim, value: float) -> bool:
    """Return whether an effect reads worse than none."""
    digits = 6 if aim.digits is None else aim.digits
    more = round(value - 1, 2) if aim.way == "ratio" else round(aim.unit[1] * value, digits)
    return more > 0 if aim.better == "lower" else more < 0


def effect(aim: Aim, found: Estimate, baseline: str) -> str:
    """Return an effect against a baseline with its interval, in words that say what is meant."""
    return f"{amount(aim, found)}{_beside(aim, baseline)} ({interval(aim, found)})"


def amount(aim: Aim, found: Estimate) -> str:
    """Return an effect in words: how many times, or how much more."""
    if aim.way == "ratio":
        return f"{aim.text(found.value)} times"
    return f"{aim.text(found.value)} {aim.unit[0]}"


def interval(aim: Aim, found: Estimate) -> str:
    """Return the interval of an effect in words, or why there is none."""
    if found.method == "longest":
        return "the longest of all has no interval"
    if found.method == "gaps":
        return "no interval, since values are missing"
    if found.low is None or found.high is None:
        return f"fewer than {LEAST} have no interval"
    return f"95 % interval {' to '.join(aim.ends(found))}"


def goal(aim: Aim) -> str:
    """Return an aim in words: the lowest or the highest of something."""
    if aim.metric == "max_waiting_time":
        return "the shortest longest wait"
    return f"the {'lowest' if aim.better == 'lower' else 'highest'} {aim.words}"


def _best(table: RunMetric, aim: Aim) -> str | None:
    """Return the dispatcher with the best mean over workloads, geometric for ratios; of each, see `by_workload`."""
    if not table.dispatchers or not len(table.values):
        return None
    values = by_workload(table, aim).values
    values = np.log(values + aim.added) if aim.way == "ratio" else values
    means = round_significant(aim.losing(values.mean(axis=0)))
    return table.dispatchers[int(np.argmin(means))]


def _alike(tables: dict[Aim, RunMetric], blocks: str) -> tuple[dict[Aim, RunMetric], tuple[str, ...]]:
    """Return tables of one workload, reduced to one replicate if all gave the same, and a sentence about that."""
    first = next(iter(tables.values()))
    if len(first.blocks) < 2 or not all(_same_rows(table) for table in tables.values()):
        return tables, ()
    reduced = {aim: replace(table, blocks=table.blocks[:1], values=table.values[:1]) for aim, table in tables.items()}
    count = len(first.blocks)
    told = (
        f"All {count} {blocks} gave the same figures, so they count as one: nothing in these runs is drawn at random."
    )
    return reduced, (told,)


def _same_rows(table: RunMetric) -> bool:
    return bool(np.all((table.values == table.values[:1]) | (np.isnan(table.values) & np.isnan(table.values[:1]))))


def _are(table: RunMetric) -> str:
    if table.size < len(table.blocks):
        return f"is room for {table.size} that share no job"
    return "is one" if table.size == 1 else f"are {table.size}"


def count_of(number: int, blocks: str) -> str:
    """Return a number with what is counted."""
    return f"{number} {blocks[:-1] if number == 1 and blocks.endswith('s') else blocks}"


def _list(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def as_dict(sections: Sequence[Section], page: Path) -> dict[str, Any]:
    """Return what a comparison says as JSON has it, with the path of its page."""
    workloads = [
        {
            "workload": one.name,
            "blocks": one.blocks,
            "answers": [_answer_dict(found, one.blocks, one.answers) for found in one.answers],
        }
        for one in sections
    ]
    return {"report": str(page), "workloads": workloads}


def _answer_dict(found: Answer, blocks: str, others: Sequence[Answer]) -> dict[str, Any]:
    return {
        "metric": found.aim.metric,
        "n": found.n,
        "choose": found.chosen,
        "cannot_be_told_apart": found.rivals,
        "sentence": sentence(found, blocks, others) if found.aim.goal else "",
        "baseline": found.baseline,
        "against_baseline": [_pair_dict(pair, found.aim.way) for pair in found.pairs],
    }


def _pair_dict(pair: Pair, way: str) -> dict[str, Any]:
    value, low, high = (None,) * 3 if pair.effect is None else (pair.effect.value, pair.effect.low, pair.effect.high)
    return {
        "dispatcher": pair.ours,
        "way": way,
        "value": value,
        "low": low,
        "high": high,
        "n": pair.n,
        "wins": pair.wins,
        "ties": pair.ties,
        "p": pair.p,
    }
