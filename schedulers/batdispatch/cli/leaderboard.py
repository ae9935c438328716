"""``batdispatch leaderboard``: every registered dispatcher on stated workloads, ranked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from batdispatch.abilities.campaigns.campaign.options import LeaderboardOptions
from batdispatch.cli.groups import Command, option
from batdispatch.cli.messages import conclude, echo, is_quiet, quiet_option
from batdispatch.cli.options import options
from batdispatch.cli.outputs import out_option, processes_option, written_option
from batdispatch.core.errors import SimulationError
from batdispatch.core.line.settings import RESULTS
from batdispatch.inputs.folders import checked_folder

if TYPE_CHECKING:
    from batdispatch.runs.leaderboard.standings import BoardStanding


@click.command(cls=Command)
@options(LeaderboardOptions)
@out_option("campaigns", "Write into this folder of campaigns, which share their runs.")
@option(
    "--page",
    section=RESULTS,
    metavar="FILE.md",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the page here, and the table of runs beside it. The default is DIR/leaderboard/leaderboard.md.",
)
@processes_option("Run this many processes at a time.", 10_000)
@written_option
@quiet_option
def command(who: LeaderboardOptions, out: Path, page: Path | None, processes: int, as_json: bool) -> None:
    """Run every registered dispatcher on stated workloads, rank them on each, and write a page.

    Dispatchers that other packages register take part. Runs that are there from the same inputs and code are kept, so
    that adding a dispatcher costs its own runs. The campaign's file is DIR/leaderboard.yaml; `batdispatch campaign`
    runs it on a cluster.

    \b
    Examples:
      batdispatch leaderboard --logs logs
      batdispatch leaderboard --add my_package.mine:Mine --boards lublin,cpu-gpu
      batdispatch leaderboard --boards tasks --add 'dada[alpha=0.25]'
    """
    from batdispatch.core import extras

    extras.check("campaign", "the leaderboard")
    from batdispatch.abilities.campaigns.command import CampaignDisplay
    from batdispatch.api.leaderboard import rank
    from batdispatch.cli.kinds import names

    chosen = [name.strip() for name in who.boards.split(",") if name.strip()]
    with CampaignDisplay() as watching:
        path, standings = rank(
            chosen,
            who.add,
            who.logs,
            checked_folder(out),
            page,
            names=names("dispatchers"),
            processes=processes,
            watch=watching.begin,
        )
    if not is_quiet() and not as_json:
        _print(standings)
    conclude(path, {"boards": [board_as_dict(standing) for standing in standings]}, as_json=as_json)
    failed = {f"{standing.board.name}: {name}": why for standing in standings for name, why in standing.failed.items()}
    if failed:
        raise SimulationError("; ".join(f"{name}: {why}" for name, why in failed.items())[:1000])


def board_as_dict(standing: BoardStanding) -> dict[str, Any]:
    """Return what a board says: of each dispatcher, the best first, its means and how it compares with the baseline."""
    pairs = {
        metric: {name: pair.effect and pair.effect._asdict() for name, pair in of.items()}
        for metric, of in standing.pairs.items()
    }
    rows = [
        {
            "dispatcher": name,
            "values": {metric: of.get(name) for metric, of in standing.values.items()},
            "against_baseline": {metric: of.get(name) for metric, of in pairs.items()},
        }
        for name in standing.order
    ]
    board = {"name": standing.board.name, "title": standing.board.title, "baseline": standing.board.baseline}
    return {**board, "replicates": standing.replicates, "dispatchers": rows, "failed": standing.failed}


def _print(standings: Sequence[BoardStanding]) -> None:
    from batdispatch.cli.tables import plain, table
    from batdispatch.runs.leaderboard.page import price_of_best, remark, rows_of

    for standing in standings:
        headings, rows = rows_of(standing)
        named = [(first, cells) for first, *cells in rows]
        echo(standing.board.title, bold=True)
        echo(plain(table(headings, named, left=(headings.index("dispatcher"),))))
        echo(" ".join(filter(None, [price_of_best(standing), remark(standing)])) + "\n")
