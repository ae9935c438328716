"""The leaderboard as a campaign: its runs, who stands where, and the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from batdispatch.abilities.campaigns.campaign.plan import Places
from batdispatch.abilities.campaigns.python import Watch, campaign
from batdispatch.inputs.files import write_whole
from batdispatch.runs.leaderboard import page as markdown
from batdispatch.runs.leaderboard.boards import NAME, choose, document
from batdispatch.runs.leaderboard.cells import as_csv, read_cells
from batdispatch.runs.leaderboard.standings import BoardStanding, stand


def rank(
    boards: Sequence[str],
    added: Sequence[str],
    logs: Path | None,
    root: Path,
    page: Path | None,
    *,
    names: Sequence[str],
    processes: int,
    watch: Watch,
) -> tuple[Path, list[BoardStanding]]:
    """Run the boards' dispatchers, and return the path of the page, and who stands where on each board.

    Args:
        boards: names of those that are run; none: all.
        added: dispatchers beside those that are registered.
        logs: the folder of logs; None: boards that need one are left out.
        root: the folder of campaigns.
        page: where the page goes; None: into the leaderboard's folder.
        names: of the registered dispatchers.
        processes: at a time.
        watch: as for `campaign`.

    Raises:
        InputError: a board or a dispatcher is unknown.
        SimulationError: Snakemake could not run it.
    """
    chosen = choose(boards, added, logs)
    root.mkdir(parents=True, exist_ok=True)
    file = root / f"{NAME}.yaml"
    write_whole(file, document(chosen, names).encode())
    results = campaign(file, out=root, logs=logs, processes=processes, watch=watch)
    rows = results.rows
    cells = read_cells(rows, Places(root).cells)
    standings = [stand(board, rows) for board in chosen.boards]
    path = results.folder / f"{NAME}.md" if page is None else page
    table = path.with_suffix(".csv")
    write_whole(table, as_csv(cells).encode())
    write_whole(path, markdown.page(standings, cells, chosen.left, table.name).encode())
    return path, standings
