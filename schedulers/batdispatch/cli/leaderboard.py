"""``batdispatch leaderboard``: every registered dispatcher on stated workloads, ranked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from batdispatch.cli.completing import BOARDS, complete_boards, complete_dispatcher
from batdispatch.cli.groups import INPUTS, RESULTS, Command, option
from batdispatch.cli.outputs import out_option, processes_option
from batdispatch.cli.telling import is_quiet, quiet_option
from batdispatch.core.errors import SimulationError
from batdispatch.inputs.folders import checked_folder

if TYPE_CHECKING:
    from batdispatch.runs.leaderboard.standing import Standing


@click.command(cls=Command)
@option(
    "--add",
    "added",
    section=INPUTS,
    metavar="DISPATCHER",
    multiple=True,
    shell_complete=complete_dispatcher,
    help="Rank this dispatcher, too, on the boards of rigid jobs or on those that --boards names: my.module:Mine, "
    "path/to/mine.py:Mine, or any with options in brackets. May be given several times.",
)
@option(
    "--boards",
    section=INPUTS,
    metavar="NAME,...",
    default="",
    shell_complete=complete_boards,
    help=f"Run only these boards: {', '.join(BOARDS)}.",
)
@option(
    "--logs",
    section=INPUTS,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Look for logs in this folder. Without it, the boards that need a log are left out.",
)
@out_option("campaigns", "Write into this folder of campaigns, which share their runs.")
@option(
    "--page",
    section=RESULTS,
    metavar="FILE.md",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the page here, and the table of runs beside it. The default is DIR/leaderboard/leaderboard.md.",
)
@processes_option("Run this many processes at a time.", 10_000)
@quiet_option
def command(
    added: tuple[str, ...],
    boards: str,
    logs: Path | None,
    out: Path,
    page: Path | None,
    processes: int,
) -> None:
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
    from batdispatch.api.calls import campaign
    from batdispatch.cli.campaign import Watching
    from batdispatch.cli.kinds import names
    from batdispatch.inputs.files import write_whole
    from batdispatch.runs.campaign.plan import Places
    from batdispatch.runs.leaderboard import page as markdown
    from batdispatch.runs.leaderboard.boards import NAME, choose, document
    from batdispatch.runs.leaderboard.cells import as_csv, read_cells
    from batdispatch.runs.leaderboard.standing import stand

    chosen = choose([name.strip() for name in boards.split(",") if name.strip()], added, logs)
    root = checked_folder(out)
    root.mkdir(parents=True, exist_ok=True)
    file = root / f"{NAME}.yaml"
    write_whole(file, document(chosen, names("dispatchers")).encode())
    with Watching() as watching:
        results = campaign(file, out=root, logs=logs, processes=processes, watch=watching.begin)
    own, rows = results.folder, results.rows
    cells = read_cells(rows, Places(root).cells)
    standings = [stand(board, rows) for board in chosen.boards]
    path = own / f"{NAME}.md" if page is None else page
    table = path.with_suffix(".csv")
    write_whole(table, as_csv(cells).encode())
    write_whole(path, markdown.page(standings, cells, chosen.left, table.name).encode())
    if not is_quiet():
        for standing in standings:
            _print(standing)
    click.echo(str(path))
    failed = {f"{standing.board.name}: {name}": why for standing in standings for name, why in standing.failed.items()}
    if failed:
        raise SimulationError("; ".join(f"{name}: {why}" for name, why in failed.items())[:1000])


def _print(standing: Standing) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from batdispatch.runs.leaderboard.page import remark, rows_of

    headings, rows = rows_of(standing)
    console = Console(highlight=False)
    table = Table(title=standing.board.title, title_justify="left", box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "dispatcher" else "right")
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)
    console.print(f"{escape(remark(standing))}\n")
