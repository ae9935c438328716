"""Tables of the page: for each board, how the dispatchers stand on the workloads of one kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from batdispatch.abilities.campaigns.page.aims import AIMS, Aim
from batdispatch.abilities.campaigns.page.answers import is_price, price
from batdispatch.abilities.campaigns.page.pairs import Pair, against
from batdispatch.abilities.campaigns.page.ranks import NoRanking, Ranking, rank
from batdispatch.abilities.campaigns.page.table import RunMetric, metric_of
from batdispatch.results.numbers import number
from batdispatch.results.starvation import NO_EASY
from expe.common.tables import table

#: The first aim ranks; the others stand beside it.
_WAITS = (AIMS[1], AIMS[0], *AIMS[2:5])
#: Part of the campaign -> the dispatcher that others are compared with, and what they are compared by.
BOARDS: dict[str, tuple[str, tuple[Aim, ...]]] = {
    **dict.fromkeys(("kth", "kth-predicted", "lublin", "cpu-gpu", "malleable"), ("easy", _WAITS)),
    "stochastic": ("stochastic-easy", _WAITS),
    "tasks": ("heft", (Aim("makespan", "makespan"),)),
}


@dataclass(frozen=True)
class Standing:
    """How the dispatchers of a board stand.

    Attributes:
        baseline: the dispatcher that others are compared with.
        tables: the aims that the runs have values for -> these values; the first one ranks.
        pairs: aim -> dispatcher -> how it compares with the baseline, which is not there itself.
        ranking: by the first aim, or why there is none.
    """

    baseline: str
    tables: dict[Aim, RunMetric]
    pairs: dict[Aim, dict[str, Pair]]
    ranking: Ranking | NoRanking

    @property
    def first(self) -> Aim:
        """The aim that ranks."""
        return next(iter(self.tables))

    def order(self) -> list[str]:
        """Return the dispatchers, the best first; without ranks by how far they are from the baseline."""
        if isinstance(self.ranking, Ranking):
            return list(self.ranking.dispatchers)
        return sorted(self.tables[self.first].dispatchers, key=self._distance)

    def _distance(self, dispatcher: str) -> float:
        found = self.pairs[self.first].get(dispatcher)
        if found is None:
            return 1.0
        return np.inf if found.effect is None else found.effect.value


def standing(board: str, rows: pd.DataFrame) -> Standing:
    """Compare the dispatchers of a board."""
    baseline, aims = BOARDS[board]
    runs = rows[rows["part"] == board]
    if "workload.size" in runs and runs["workload.size"].notna().all():
        runs = runs.assign(replicate=runs["workload.size"].astype(str))
    tables = {aim: metric_of(runs, aim.metric) for aim in aims if aim.metric in runs and runs[aim.metric].notna().any()}
    pairs = {aim: {one.ours: one for one in against(values, aim, baseline)} for aim, values in tables.items()}
    first = next(iter(tables))
    return Standing(baseline, tables, pairs, rank(tables[first], first))


def board_table(found: Standing) -> str:
    """Return a line for each dispatcher, the best first."""
    ranks = isinstance(found.ranking, Ranking)
    over = {"ratio": "over", "difference": "more than"}
    head = ["dispatcher", *(["rank"] if ranks else []), found.first.words]
    head += [f"{aim.words}, {over[aim.way]} {found.baseline}'s" for aim in found.tables]
    lines = []
    for place, name in enumerate(found.order()):
        mean = float(np.mean(found.tables[found.first].of(name)))
        cells = [f"`{name}`", *([f"{found.ranking.ranks[place]:.2f}"] if isinstance(found.ranking, Ranking) else [])]
        cells += ["n/a" if np.isnan(mean) else number(round(mean, 6))]
        lines.append([*cells, *(compared(found.pairs[aim].get(name), aim) for aim in found.tables)])
    return table(head, lines)


def compared(pair: Pair | None, aim: Aim) -> str:
    """Return a ratio or a difference with its interval, and a star if the interval leaves out no change."""
    if pair is None:
        return "1" if aim.way == "ratio" else "0"
    if pair.effect is None:
        return "n/a"
    return aim.effect(pair.effect) + ("\\*" if pair.apart else "")


def price_of_best(found: Standing) -> str:
    """Return a sentence on where the dispatcher that stands first is worse than the baseline; empty if nowhere."""
    best = found.order()[0]
    pairs = [(aim, pair) for aim in found.tables if (pair := found.pairs[aim].get(best)) is not None]
    told = [price(aim, pair) for aim, pair in pairs if is_price(aim, pair)]
    return f"`{best}` stands first at a price, against `{found.baseline}`: {'; '.join(told)}." if told else ""


def remark(found: Standing) -> str:
    """Return a sentence about what the ranks say."""
    ranking = found.ranking
    if isinstance(ranking, NoRanking):
        return ranking.why
    best = ranking.dispatchers[0]
    tied = ", ".join(f"`{other}`" for one, other in ranking.ties if one == best)
    apart = f"cannot be told apart from {tied}" if tied else "can be told apart from all others"
    return f"Over {ranking.blocks} replicates, `{best}` {apart}."


def section(board: str) -> tuple[str, Callable[[pd.DataFrame], str]]:
    """Return the part of the campaign that a board needs, and what makes its section of the page."""

    def make(rows: pd.DataFrame) -> str:
        found = standing(board, rows)
        missing = NO_EASY if len(found.tables) < len(BOARDS[board][1]) else ""
        sentences = " ".join(filter(None, [price_of_best(found), remark(found)]))
        return "\n\n".join(filter(None, [board_table(found), sentences, missing]))

    return board, make


SECTIONS = {board: section(board) for board in BOARDS}
PICTURES: dict[str, object] = {}
