"""The leaderboard as a campaign: its runs, who stands where, and the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from batdispatch.inputs.files import write_whole
from batdispatch.runs.campaign.campaign import carry_out_campaign
from batdispatch.runs.campaign.file import read_campaign
from batdispatch.runs.campaign.making import Makers
from batdispatch.runs.campaign.plan import Places, Plan
from batdispatch.runs.campaign.running import Orders
from batdispatch.runs.campaign.table import read_all_rows
from batdispatch.runs.campaign.work import Outcome
from batdispatch.runs.leaderboard import page as markdown
from batdispatch.runs.leaderboard.boards import NAME, choose, document
from batdispatch.runs.leaderboard.cells import as_csv, read_cells
from batdispatch.runs.leaderboard.standing import Standing, stand

#: Called with the plan and what each pending cell is expected to take; returns what outcomes are told to.
Begin = Callable[[Plan, dict[str, float | None]], Callable[[Outcome], None]]


def rank(
    boards: Sequence[str],
    added: Sequence[str],
    logs: Path | None,
    root: Path,
    page: Path | None,
    *,
    names: Sequence[str],
    makers: Makers,
    processes: int,
    begin: Begin,
) -> tuple[Path, list[Standing]]:
    """Run the boards' dispatchers, and return the path of the page, and who stands where on each board.

    Args:
        boards: names of those that are run; none: all.
        added: dispatchers beside those that are registered.
        logs: the folder of logs; None: boards that need one are left out.
        root: the folder of campaigns.
        page: where the page goes; None: into the leaderboard's folder.
        names: of the registered dispatchers.
        makers: find the commands that make platforms and workloads.
        processes: at a time.
        begin: as for `carry_out_campaign`.

    Raises:
        InputError: a board or a dispatcher is unknown.
        SimulationError: Snakemake could not run it.
    """
    chosen = choose(boards, added, logs)
    root.mkdir(parents=True, exist_ok=True)
    file = root / f"{NAME}.yaml"
    write_whole(file, document(chosen, names).encode())
    campaign = read_campaign(file, makers, logs=logs)
    own = root.absolute() / NAME
    carry_out_campaign(lambda: Plan(campaign, root), own, Orders(processes=processes), fresh=False, begin=begin)
    rows = read_all_rows(own)
    cells = read_cells(rows, Places(root).cells)
    standings = [stand(board, rows) for board in chosen.boards]
    path = own / f"{NAME}.md" if page is None else page
    table = path.with_suffix(".csv")
    write_whole(table, as_csv(cells).encode())
    write_whole(path, markdown.page(standings, cells, chosen.left, table.name).encode())
    return path, standings
