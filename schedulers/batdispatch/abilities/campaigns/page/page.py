"""One self-contained HTML page that says which dispatcher to choose, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from batdispatch.abilities.campaigns.page import caps, pictures
from batdispatch.abilities.campaigns.page.aims import BURNT, Aim
from batdispatch.abilities.campaigns.page.answers import Answer, Section, not_beside, sentences, worse
from batdispatch.abilities.campaigns.page.facts import Facts
from batdispatch.abilities.campaigns.page.opening import is_of_all, opening, over_all
from batdispatch.abilities.campaigns.page.pairs import Pair
from batdispatch.abilities.campaigns.page.ranks import NoRanking, Ranking
from batdispatch.abilities.campaigns.statistics.significance import ALPHA, LEAST
from batdispatch.report.html import Cell, align_columns, page_text
from batdispatch.results.metrics.compute import STARVATION, describe
from batdispatch.results.numbers import count_of, durations, number
from batdispatch.results.starvation import NO_EASY

#: The most workloads that get pictures of their own, and reasons that are listed.
MAX_DRAWN, MAX_LISTED = 6, 12


#: A line of a table: its name, and its cells.
Row = tuple[str, list[Cell]]


class LinkedPage(NamedTuple):
    """A page of the runs on one replicate: what it is about, and its address from the page that links to it."""

    name: str
    page: str


def render(
    sections: Sequence[Section], facts: Facts, linked: Sequence[LinkedPage] = (), unlinked: Sequence[str] = ()
) -> str:
    """Return the page; the same runs give the same bytes.

    Args:
        sections: see `answers.sections`.
        facts: what else is to be said.
        linked: pages of runs.
        unlinked: folders of runs that have no page.
    """
    prefixes = map("c{}".format, count())
    first = sections[0].answers[0] if sections and sections[0].answers else None
    return page_text(
        "comparison.html.j2",
        title=facts.title,
        lead=_lead(sections, facts),
        opening=opening(sections),
        warnings=warnings(sections, facts),
        sections=[_section(one, prefixes, drawn=place < MAX_DRAWN) for place, one in enumerate(sections)],
        many=len(sections) > 1,
        baseline="" if first is None else first.baseline,
        uncounted=_uncounted(sections),
        who=facts.who,
        refused=facts.refused,
        failures=facts.failures[:MAX_LISTED],
        unlisted=max(len(facts.failures) - MAX_LISTED, 0),
        rerun=facts.rerun,
        linked=linked,
        unlinked=unlinked,
        least=LEAST,
        alpha=f"{100 * ALPHA:g}",
        definitions=_definitions(sections),
    )


def text_of(sections: Sequence[Section], facts: Facts, *, most: int = 4) -> str:
    """Return what a terminal shows: the sentences, and a table of effects for each of the first workloads."""
    lines = []
    for one in sections[:most]:
        if one.name and len(sections) > 1:
            lines.append(f"{one.name}:")
        lines += [f"- {text}" for text in sentences(one)]
        lines += ["", _plain_table(one), ""]
    if uncounted := _uncounted(sections):
        lines.append(uncounted)
    if len(sections) > most:
        lines.append(f"{len(sections) - most} more workloads are on the page.")
    return "\n".join([*lines, *(f"Mind: {text}" for text in warnings(sections, facts))]).rstrip()


def _uncounted(sections: Sequence[Section]) -> str:
    """Say why no table counts starved jobs; empty if one does."""
    counted = any(answer.aim.metric == STARVATION.name for one in sections for answer in one.answers)
    return "" if counted else NO_EASY


def warnings(sections: Sequence[Section], facts: Facts) -> list[str]:
    """Return what one should know before reading the rest, a sentence each."""
    found = [f"{one.name or 'All workloads'}: {text}" for one in sections for text in one.warnings]
    for one in sections:
        lacking: dict[str, list[str]] = {}
        for answer in one.answers:
            for name in answer.left_out:
                lacking.setdefault(name, []).append(answer.aim.words)
        where = f" on {one.name}" if one.name and len(sections) > 1 else ""
        for name, aims in lacking.items():
            of, by = ("", "") if len(aims) == len(one.answers) else (f" of {' and '.join(aims)}", " by that")
            found.append(
                f"{name} lacks values{of}{where}, so it is neither ranked nor chosen{by}; its effects are those of the "
                f"{one.blocks} that it has."
            )
    if facts.failures:
        found.append(f"{count_of(len(facts.failures), 'run')} failed.")
    return found


def _lead(sections: Sequence[Section], facts: Facts) -> str:
    workloads = [one for one in sections if one.name]
    if not workloads:
        return "There is nothing to compare."
    first = workloads[0]
    table = first.answers[0].table
    what = f"{len(table.dispatchers)} dispatchers on {len(table.blocks)} {facts.blocks}"
    what += f" of {first.name}" if len(workloads) == 1 else f" of each of {len(workloads)} workloads"
    return f"{what}, compared in pairs. {facts.how}".strip()


def _section(one: Section, prefixes: Iterator[str], *, drawn: bool) -> dict[str, Any]:
    drawings = [pictures.dots(answer, next(prefixes)) for answer in one.goals] if drawn else []
    burnt = [answer for answer in one.answers if answer.aim.metric in BURNT]
    if drawn:
        drawings += [pictures.trade_off(wait, each, next(prefixes)) for wait in one.goals[:2] for each in burnt]
        under_caps = (answer for answer in (*one.goals[:2], *burnt) if caps.lines(answer))
        drawings += [caps.along_caps(answer, next(prefixes)) for answer in under_caps]
    ranked: list[dict[str, Any]] = []
    for answer in one.goals:
        title = answer.aim.title
        if isinstance(answer.ranking, NoRanking):
            ranked.append({"title": title, "why": answer.ranking.why, "picture": None, "test": ""})
        else:
            drawing = pictures.ranks(answer.ranking, title, one.blocks, next(prefixes)) if drawn else None
            ranked.append({"title": title, "why": "", "picture": drawing, "test": _ties(answer.ranking)})
    if len({entry["why"] for entry in ranked}) == 1 and ranked[0]["why"]:
        # One reason for all of them is told once.
        ranked = [{**ranked[0], "title": ""}]
    return {
        "name": one.name or "Over all workloads",
        "blocks": one.blocks,
        "n": one.answers[0].n if one.answers else 0,
        "unseen": not_beside(one.answers[0].table.dispatchers) if one.answers else "",
        "answers": [_summary(answer, one.answers) for answer in one.goals],
        "aims": [answer.aim.words for answer in one.answers],
        "rows": _effect_rows(one),
        "pictures": [drawing for drawing in drawings if drawing is not None],
        "ranked": ranked,
        "units": [(answer.aim.words, _shown(answer)[1]) for answer in one.answers],
        "values": _value_rows(one),
        "longest": any(is_of_all(answer) for answer in one.answers),
    }


def _summary(found: Answer, others: Sequence[Answer]) -> dict[str, Any]:
    """Return the cells of the first table: what to choose, at what price, and how sure that is."""
    pair = None if found.chosen is None else found.of(found.chosen)
    cells = effect_cell(found.aim, pair) if pair is not None else Cell("")
    sure, chosen = "", found.chosen or "no choice"
    if found.chosen is not None:
        if found.baseline in found.rivals:
            chosen = f"any of {', '.join((found.chosen, *found.rivals))}"
        sure = "from all others" if not found.rivals else f"not from {', '.join(found.rivals)}"
    return {
        "aim": found.aim.words,
        "chosen": chosen,
        "effect": cells.text or ("the baseline itself" if found.chosen else ""),
        "interval": cells.more,
        "won": f"{pair.wins} of {pair.n}" if pair is not None else "",
        "sure": sure or found.why,
        "price": _price(found, others),
    }


def _price(found: Answer, others: Sequence[Answer]) -> list[str]:
    """Return where the one that is chosen, or else has the best mean, is worse than the baseline."""
    if found.best in (None, found.baseline):
        return []
    named = [] if found.chosen else [f"of {found.best}:"]
    cells = [(one.aim.words, effect_cell(one.aim, pair)) for one, pair in worse(str(found.best), others)]
    told = [f"{words} {cell.text}" + (f" ({cell.more})" if cell.more else "") for words, cell in cells]
    return named + told if told else []


def effect_cell(aim: Aim, pair: Pair) -> Cell:
    """Return an effect with its interval, marked if the two can be told apart."""
    if pair.effect is None:
        return Cell("n/a")
    sign = "\N{MULTIPLICATION SIGN}" if aim.way == "ratio" else "pp" if aim.unit[0] == "percentage points" else ""
    text = "\N{NO-BREAK SPACE}".join(filter(None, (aim.text(pair.effect.value), sign)))
    mark = ("better" if aim.is_better(pair.effect) else "worse") if pair.apart else ""
    return Cell(text, " to ".join(aim.ends(pair.effect)), mark)


def _effect_rows(one: Section) -> list[Row]:
    """Return a line for each dispatcher but the baseline, with its effect for each aim."""
    rows = []
    for index, pair in enumerate(one.answers[0].pairs if one.answers else ()):
        cells = []
        for answer in one.answers:
            found = answer.pairs[index]
            cell = effect_cell(answer.aim, found)
            won = f"{found.wins} of {found.n}" + (f", {found.ties} equal" if found.ties else "")
            told = (cell.more, won) if answer.aim.goal else (cell.more,)
            cells.append(cell._replace(more="; ".join(filter(None, told))))
        rows.append((pair.ours, cells))
    return rows


def _shown(found: Answer) -> tuple[list[str], str]:
    """Return what `over_all` says, the least and the most of each dispatcher as texts, and their unit."""
    known = describe(found.aim.metric)
    values: list[float | None] = []
    for name in found.table.dispatchers:
        own = found.table.of(name)
        own = own[np.isfinite(own)]
        values += [over_all(found, own), float(own.min()), float(own.max())] if len(own) else [None] * 3
    if known is not None and known.unit == "s":
        return durations(values)
    scale, unit = (0.01, "%") if found.aim.metric.startswith("utilisation") else (1.0, known.unit if known else "")
    return ["n/a" if value is None else number(round(value / scale, 6)) for value in values], unit


def _value_rows(one: Section) -> list[Row]:
    """Return a line for each dispatcher with its figure for each aim, and the least and most."""
    shown = [_shown(answer)[0] for answer in one.answers]
    names = one.answers[0].table.dispatchers if one.answers else ()
    return [
        (name, [Cell(texts[3 * row], f"{texts[3 * row + 1]} to {texts[3 * row + 2]}") for texts in shown])
        for row, name in enumerate(names)
    ]


def _ties(found: Ranking) -> str:
    """Say which two cannot be told apart, each pair by its own interval."""
    if not found.ties:
        return "Each two can be told apart."
    pairs = [f"{one} and {other}" for one, other in found.ties]
    more = f"; and {len(pairs) - MAX_LISTED} more pairs" if len(pairs) > MAX_LISTED else ""
    return f"Cannot be told apart: {'; '.join(pairs[:MAX_LISTED])}{more}."


def _definitions(sections: Sequence[Section]) -> list[tuple[str, str, str]]:
    """Return label, meaning and formula of each metric."""
    found = []
    for answer in sections[0].answers if sections else ():
        known = describe(answer.aim.metric)
        if known is not None:
            where = " of which one is 0" if answer.table.kind == "window" else ""
            added = f" {answer.aim.added:g} s are added to both values of a ratio{where}." if answer.aim.added else ""
            found.append((known.label, known.summary + added, known.formula))
    return found


def _plain_table(one: Section) -> str:
    """Return the effects as aligned text."""
    head = ["", *(answer.aim.words for answer in one.answers)]
    body = [
        [name, *(cell._replace(more=cell.more.partition(";")[0]).plain() for cell in cells)]
        for name, cells in _effect_rows(one)
    ]
    base = one.answers[0].baseline if one.answers else ""
    return "\n".join(
        [
            *align_columns([head, *body]),
            f"Against {base}, with 95 % intervals. * leaves out no change (p < 5 %, each pair for itself).",
        ]
    )
