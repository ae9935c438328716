"""Tables on the terminal, by rich."""

from __future__ import annotations

import io
import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from batdispatch.core.errors import printable

if TYPE_CHECKING:
    from rich.table import Table

#: A table of text alone.
STYLE: Any = {"box": None, "pad_edge": False, "padding": (0, 2, 0, 0)}
#: A row: its name and its cells.
Row = tuple[str, Sequence[str]]


def table(headings: Sequence[str], rows: Sequence[Row], *, left: Sequence[int] = (0,), **more: Any) -> Table:
    """Return a table with a column of names.

    Args:
        headings: of all columns; if none says anything, they are left out.
        rows: of texts, shown as they are.
        left: numbers of the columns whose texts begin at the left; the others end at the right.
        more: of each column.
    """
    from rich.markup import escape
    from rich.table import Table

    made = Table(**STYLE, show_header=any(headings))
    for number, heading in enumerate(headings):
        made.add_column(heading, justify="left" if number in left else "right", **more)
    for name, cells in rows:
        made.add_row(*(escape(printable(cell)) for cell in (name, *cells)))
    return made


def plain(*pieces: Table | str, width: int | None = None) -> str:
    """Return tables and texts, one below the other, as lines without colours and without spaces at their ends.

    Args:
        pieces: what is shown, with an empty line behind each.
        width: in characters; None: that of the terminal, 100 where there is none.
    """
    from rich.console import Console

    width = width or shutil.get_terminal_size((100, 24)).columns
    console = Console(width=width, color_system=None, file=io.StringIO(), force_terminal=False, highlight=False)
    with console.capture() as capture:
        for piece in pieces:
            console.print(piece)
            console.print()
    return "\n".join(line.rstrip() for line in capture.get().rstrip().splitlines())
