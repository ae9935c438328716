"""Whether the table of runs and the page of a leaderboard are those of its campaign."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from batdispatch.abilities.campaigns.campaign.plan import Places
from batdispatch.abilities.campaigns.campaign.table import read_all_rows
from batdispatch.runs.leaderboard.boards import BOARDS, NAME
from batdispatch.runs.leaderboard.cells import as_csv, read_cells
from batdispatch.runs.leaderboard.page import page
from batdispatch.runs.leaderboard.standings import stand


def tables_of(folder: Path) -> list[tuple[Path, Callable[[], Iterable[str]]]]:
    """Return the table of runs and the page in a campaign's folder, if there are any, and how each is checked."""
    looks = {".csv": _table, ".md": _page}
    paths = {folder / f"{NAME}{ending}": look for ending, look in looks.items()}
    return [(path, partial(look, folder, path)) for path, look in paths.items() if path.is_file()]


def _table(folder: Path, path: Path) -> Iterator[str]:
    cells = read_cells(read_all_rows(folder), Places(folder.absolute().parent).cells)
    yield from _difference(path, [as_csv(cells)])


def _page(folder: Path, path: Path) -> Iterator[str]:
    rows = read_all_rows(folder)
    cells = read_cells(rows, Places(folder.absolute().parent).cells)
    parts = {row["part"] for row in rows}
    standings = [stand(board, rows) for board in BOARDS if board.name in parts]
    # Boards that were named leave out no other; else those are left out whose log was missing.
    left = {board.title: board.log for board in BOARDS if board.name not in parts and board.log}
    table = path.with_suffix(".csv").name
    yield from _difference(path, [page(standings, cells, {}, table), page(standings, cells, left, table)])


def _difference(path: Path, expected: list[str]) -> Iterator[str]:
    """Yield the first line that is in none of the texts that a file may have."""
    found = path.read_text()
    if found in expected:
        return
    lines = found.splitlines()
    known = {line for text in expected for line in text.splitlines()}
    other = next((number for number, line in enumerate(lines, start=1) if line not in known), None)
    what = f"{len(lines)} lines, some are missing" if other is None else f"line {other} is {lines[other - 1][:200]!r}"
    yield f"the runs give another {path.name}: {what}"
