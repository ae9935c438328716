"""The leaderboard as a page of Markdown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from batdispatch.abilities.campaigns.page.aims import Aim
from batdispatch.abilities.campaigns.page.answers import is_price, price
from batdispatch.abilities.campaigns.page.pairs import Pair
from batdispatch.abilities.campaigns.page.ranks import NoRanking, Ranking
from batdispatch.results.numbers import number
from batdispatch.results.starvation import NO_EASY
from batdispatch.runs.leaderboard.cells import Cell
from batdispatch.runs.leaderboard.standings import BoardStanding

#: Digits of a digest that are shown; the table of runs has all.
DIGITS = 12
#: What stands where a dispatcher has no value: no job started in one of its runs.
_NONE = "n/a"

_HEAD = """# Leaderboard

Every registered dispatcher, each with its default options, and `easy` with `guarded` and with each of the field's
simple orderings (`--dispatchers simple`), on the same workloads. The evidence is one whole log, KTH-SP2, and for those
whom a whole log takes too long, workloads of 60 to 400 jobs from models and papers. On workloads so short, nobody can
wait for long: only the log shows what [starves jobs](metrics.md#starved-jobs), and [other whole
logs](which-dispatcher.md) show more.

This page is made by one command:

```console
$ batdispatch leaderboard --logs logs --page leaderboard.md
```

Add your own to it, and see where it stands. Runs that the folder holds are kept; in an empty one all are made:

```console
$ batdispatch leaderboard --add my_package.mine:Mine --add 'easy[ordering=sjf]'
```

A board is a set of replicates on which all its dispatchers ran. The first column is the average rank over the
replicates, if [ranks mean something](comparing.md#what-is-computed-and-how). A ratio compares with the baseline: below
1, the dispatcher is better. Over parts of one simulation it is the ratio of their means, and the longest wait is that
of all parts; over other replicates it is the geometric mean of the ratios. It stands with its 95 % interval; a longest
wait of several parts has none. [Starved jobs](metrics.md#starved-jobs) are compared by their difference, in jobs a
replicate. A star marks an interval that leaves out no change, each pair for itself: of twenty pairs that do not differ,
one has a star. [How far to trust an interval](comparing.md#how-far-to-trust-an-interval) depends on the replicates, and
what holds here may not hold on your machine: run it [on your own log](own-log.md).
"""


def page(standings: Sequence[BoardStanding], cells: Sequence[Cell], left: Mapping[str, str], table: str) -> str:
    """Return the page; the same runs give the same bytes.

    Args:
        standings: of the boards.
        cells: all runs.
        left: title of a board that was not run -> the log that it needs.
        table: name of the table of runs, which stands beside the page.
    """
    parts = [_HEAD]
    parts += [_board(standing) for standing in standings]
    for title, log in left.items():
        parts.append(f"## {title}\n\nThis board was not run: the log `{log}` was not given (`--logs`).\n")
    parts.append(_runs(cells, table))
    return "\n".join(parts)


def rows_of(standing: BoardStanding) -> tuple[list[str], list[list[str]]]:
    """Return (headings, rows) of a board, the best dispatcher first."""
    board = standing.board
    ranks = _ranks(standing.ranking)
    headings = [*(["rank"] if ranks else []), "dispatcher", board.aims[0].words]
    headings += [
        f"{aim.words}, {'over' if aim.way == 'ratio' else 'more than'} {board.baseline}'s" for aim in standing.aims
    ]
    rows = []
    for name in standing.order:
        cells = [ranks[name]] if ranks else []
        mean = standing.values[board.aims[0].metric][name]
        cells += [name, _NONE if math.isnan(mean) else number(round(mean, 6))]
        cells += [_compared(standing.pairs[aim.metric].get(name), aim) for aim in standing.aims]
        rows.append(cells)
    return headings, rows


def remark(standing: BoardStanding) -> str:
    """Return a sentence about what the ranks say."""
    ranking = standing.ranking
    if isinstance(ranking, NoRanking):
        return ranking.why
    best = ranking.dispatchers[0]
    tied = [other for one, other in ranking.ties if one == best]
    if not tied:
        return f"Over {ranking.blocks} replicates, `{best}` can be told apart from all others."
    named = ", ".join(f"`{name}`" for name in tied)
    return f"Over {ranking.blocks} replicates, `{best}` cannot be told apart from {named}."


def price_of_best(standing: BoardStanding) -> str:
    """Return a sentence on where the dispatcher that stands first is worse than the baseline; empty if nowhere."""
    first, baseline = standing.order[0], standing.board.baseline
    pairs = [(aim, pair) for aim in standing.aims if (pair := standing.pairs[aim.metric].get(first)) is not None]
    told = [price(aim, pair) for aim, pair in pairs if is_price(aim, pair)]
    return f"`{first}` stands first at a price, against `{baseline}`: {'; '.join(told)}." if told else ""


def _ranks(ranking: Ranking | NoRanking) -> dict[str, str]:
    if isinstance(ranking, NoRanking):
        return {}
    return {name: f"{value:.2f}" for name, value in zip(ranking.dispatchers, ranking.ranks, strict=True)}


def _compared(pair: Pair | None, aim: Aim) -> str:
    if pair is None:
        return "1" if aim.way == "ratio" else "0"
    if pair.effect is None:
        return _NONE
    return aim.effect(pair.effect) + ("*" if pair.apart else "")


def _board(standing: BoardStanding) -> str:
    headings, rows = rows_of(standing)
    at = headings.index("dispatcher")
    lines = [f"## {standing.board.title}", "", standing.board.about, ""]
    lines += [
        f"| {' | '.join(headings)} |",
        "|" + "|".join("---" if i == at else "---:" for i in range(len(headings))) + "|",
    ]
    for row in rows:
        shown = [f"`{cell}`" if i == at else cell.replace("*", "\\*") for i, cell in enumerate(row)]
        lines.append(f"| {' | '.join(shown)} |")
    lines += ["", *filter(None, [price_of_best(standing), remark(standing)]), ""]
    if slow := standing.board.slow:
        lines += [f"It takes these too long, so they are not here: {', '.join(f'`{name}`' for name in slow)}.", ""]
    if len(standing.aims) < len(standing.board.aims):
        lines += [NO_EASY, ""]
    for name, why in standing.failed.items():
        lines += [f"`{name}` has no place here, since a run of it failed: {why[:200]}", ""]
    return "\n".join(lines)


def _runs(cells: Sequence[Cell], table: str) -> str:
    code = ", ".join(f"`{digest[:DIGITS]}`" for digest in sorted({cell.made.code for cell in cells}))
    runs = len({str(cell.row["cell"]) for cell in cells})
    lines = [
        "## To make a run again",
        "",
        f"The command writes `{table}` beside this page: a row for each of the {runs:,} runs, or for each part of it",
        "that is a replicate, with its metrics, the digests of inputs and code, and the versions of what it uses.",
        "The same digests give the same files. Unless a board says otherwise, each run was [audited](audit.md).",
        f"The digest of the package's code begins with {code}.",
        "",
    ]
    return "\n".join(lines)
