"""What a comparison on replicates says first: who waits least, how sure that is and at what price, and its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from batdispatch.abilities.campaigns.page.answers import Answer, Section, amount, count_of, goal, interval, worse
from batdispatch.abilities.campaigns.page.table import Floats
from batdispatch.core.line.hindsight import name_list
from batdispatch.report.opening import FIGURES, Figure, Opening, opening_of

#: Most rivals that are named, most prices, and most workloads that the picture shows.
_MOST_NAMED, _MOST_WORKLOADS = 3, 4


def opening(sections: Sequence[Section]) -> Opening | None:
    """Return what a page says first; None if nothing tells of mean waits."""
    if not sections or (found := _waits(sections[0])) is None:
        return None
    if len(sections) > 1 and sections[0].name:
        figures = [
            _figure(one, f"mean wait, {part.name}") for part in sections[:_MOST_WORKLOADS] if (one := _waits(part))
        ]
        return opening_of(_of_many(sections), found.table.dispatchers, figures)
    figures = [_figure(one) for name in FIGURES for one in sections[0].answers if one.aim.metric == name]
    return opening_of(_of_one(sections[0], found), found.table.dispatchers, figures)


def _waits(section: Section) -> Answer | None:
    return next((one for one in section.answers if one.aim.metric == FIGURES[0]), None)


def _figure(found: Answer, heading: str = "") -> Figure:
    """Return each dispatcher's figure over the replicates, as the sentences compare it; NaN if it has none."""
    known = [row[~np.isnan(row)] for row in found.table.values.T]
    among = np.concatenate(known).tolist()
    return Figure(found.aim.metric, [over_all(found, row) if len(row) else np.nan for row in known], heading, among)


def is_of_all(found: Answer) -> bool:
    """Return whether windows of one log have one value together: what is the most of all jobs."""
    return found.aim.extreme and found.table.kind == "window"


def over_all(found: Answer, values: Floats) -> float:
    """Return a dispatcher's figure over the replicates: the mean of its values, or the most if `is_of_all`."""
    return float(values.max() if is_of_all(found) else values.mean())


def _of_one(section: Section, found: Answer) -> str:
    where = f"On {count_of(found.n, section.blocks)}" + (f" of {section.name}" if section.name else "")
    if found.chosen is None:
        return f"{where}, no dispatcher can be chosen for {goal(found.aim)}. {found.why}"
    text, pair = f"{where}, jobs wait least under {found.chosen}", found.of(found.chosen)
    if pair is not None and pair.effect is not None:
        times = f"{amount(found.aim, pair.effect)} as long in the mean as under {found.baseline}"
        text += f": {times} ({interval(found.aim, pair.effect)})"
    text += f". It cannot be told apart from {_named(found.rivals)}." if found.rivals else "."
    worst = [(one.aim, pair.effect) for one, pair in worse(found.chosen, section.answers) if pair.effect is not None]
    prices = [
        amount(aim, effect) if aim.words == aim.unit[0] else f"{aim.words} {amount(aim, effect)}"
        for aim, effect in worst[:_MOST_NAMED]
    ]
    return f"{text} The price, against {found.baseline}: {name_list(prices)}." if prices else text


def _of_many(sections: Sequence[Section]) -> str:
    """Say on how many workloads the one wins that wins most often, and on how many that is beyond chance."""
    found = [answer for one in sections if (answer := _waits(one)) is not None]
    best, wins = Counter(str(answer.best) for answer in found).most_common(1)[0]
    sure = sum(answer.chosen == best for answer in found)
    beyond = f"on {sure} of these" if sure else "on none"
    return f"Jobs wait least in the mean under {best} on {wins} of {len(found)} workloads, beyond chance {beyond}."


def _named(names: Sequence[str]) -> str:
    return name_list(names) if len(names) <= _MOST_NAMED else f"{len(names)} others"
