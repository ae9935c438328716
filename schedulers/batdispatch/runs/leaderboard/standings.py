"""How the dispatchers of a board stand: ranks, where they mean something, and how far each is from the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from batdispatch.abilities.campaigns.page.aims import Aim
from batdispatch.abilities.campaigns.page.pairs import Pair, against
from batdispatch.abilities.campaigns.page.ranks import NoRanking, Ranking, rank
from batdispatch.abilities.campaigns.page.table import RunMetric, metric_of
from batdispatch.core.errors import SimulationError
from batdispatch.runs.leaderboard.boards import Board


@dataclass(frozen=True)
class BoardStanding:
    """A board and what came of it.

    Attributes:
        board: the board.
        aims: those of its aims that its runs have values for.
        order: the dispatchers, the best first.
        ranking: by the first aim, or why there is none.
        pairs: metric of an aim -> dispatcher -> how it compares with the baseline; the baseline itself is not there.
        values: metric of an aim -> dispatcher -> mean over the replicates.
        replicates: how many.
        failed: dispatcher -> why a run of it failed; it has no place on the board.
    """

    board: Board
    aims: tuple[Aim, ...]
    order: tuple[str, ...]
    ranking: Ranking | NoRanking
    pairs: Mapping[str, Mapping[str, Pair]]
    values: Mapping[str, Mapping[str, float]]
    replicates: int
    failed: Mapping[str, str]


def stand(board: Board, rows: Sequence[Mapping[str, Any]]) -> BoardStanding:
    """Compare the dispatchers of a board.

    Args:
        board: the board.
        rows: of the campaign's table; those of other parts are left out.

    Raises:
        SimulationError: the baseline failed, so there is nothing to compare with.
    """
    own = [row for row in rows if row["part"] == board.name]
    failed = {str(row["dispatcher"]): str(row["failure"]) for row in own if row["failure"] is not None}
    if board.baseline in failed:
        raise SimulationError(f"{board.name}: {board.baseline} failed: {failed[board.baseline]}")
    frame = pd.DataFrame([row for row in own if row["dispatcher"] not in failed])
    aims = tuple(aim for aim in board.aims if aim.metric in frame and frame[aim.metric].notna().any())
    tables = {aim.metric: metric_of(frame, aim.metric) for aim in aims}
    first = aims[0]
    table = tables[first.metric]
    ranking = rank(table, first, blocks="replicates")
    pairs = {aim.metric: {pair.ours: pair for pair in against(tables[aim.metric], aim, board.baseline)} for aim in aims}
    means = {metric: _means(found) for metric, found in tables.items()}
    order = ranking.dispatchers if isinstance(ranking, Ranking) else _by_effect(table, pairs[first.metric])
    return BoardStanding(board, aims, order, ranking, pairs, means, len(table.blocks), failed)


def _means(table: RunMetric) -> dict[str, float]:
    return {name: float(np.mean(table.of(name))) for name in table.dispatchers}


def _by_effect(table: RunMetric, pairs: Mapping[str, Pair]) -> tuple[str, ...]:
    """Return the dispatchers by how far they are from the baseline, those with no value last."""

    def far(name: str) -> float:
        pair = pairs.get(name)
        if pair is None:
            return 1.0
        return np.inf if pair.effect is None else pair.effect.value

    return tuple(sorted(table.dispatchers, key=far))
