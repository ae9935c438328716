"""Series of caps and prices, as `powered` is given them: a number, or a file and perhaps a column of it."""

from __future__ import annotations

import csv
from datetime import datetime
from pathlib import Path


def steps_of(stated: str, origin: str, folder: Path) -> list[tuple[float, float]] | None:
    """Return from when on, s, a cap, a price or carbon is how much; None: its file is not there, or has another form.

    A relative name is looked for here, in the folder of the run, and in those around it.
    """
    try:
        return [(0.0, float(stated))]
    except ValueError:
        path, column = _place(stated, folder), ""
        if not path.is_file():
            path, column = _place(stated.rpartition(":")[0], folder), stated
    try:
        with path.open(newline="") as file:
            names, *rows = [row for row in csv.reader(file) if row]
        name = column.rpartition(":")[2]
        index = names.index(name) if name else 1
        return list(zip(_seconds([row[0] for row in rows], origin), (float(row[index]) for row in rows), strict=True))
    except (OSError, ValueError, IndexError, TypeError):
        return None


def _place(name: str, folder: Path) -> Path:
    here = folder.resolve()
    places = (place / name for place in (Path(), here, *here.parents))
    return next((place for place in places if name and place.is_file()), Path(name))


def _seconds(moments: list[str], origin: str) -> list[float]:
    try:
        return [float(moment) for moment in moments]
    except ValueError:
        dates = [datetime.fromisoformat(moment) for moment in moments]
        zero = datetime.fromisoformat(origin) if origin else dates[0]
        return [(date - zero).total_seconds() for date in dates]
