"""A map of who holds which host at one moment, drawn as SVG with a text under the pointer for each job."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import escape
from numpy.typing import NDArray

from batdispatch.abilities.topology.results.map_layout import Layout

Ints = NDArray[np.int64]

#: Colours of jobs, which colour-blind readers tell apart as far as so many can be: Okabe and Ito's, and Tol's "muted"
#: scheme where it adds to them. None is as light as white paper or as dark as dark paper.
COLOURS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#AA4499",
    "#999933",
    "#6F63BB",
    "#44AA99",
    "#B0556B",
    "#C9B458",
)
#: Pixels: the whole picture, the largest side of a router and of a part of it, between planes, and above each for what
#: it shows.
WIDTH, CELL, PART, GAP, TITLE = 1140, 26, 12, 14, 18
#: Most height of a picture as a share of its width, where planes can be put beside each other.
TALL = 0.75
#: From this side of a router on, lines between routers are drawn.
LEAST_RULED_CELL = 9
#: Up to this side of a place an I/O node fills it.
TINY = 7


@dataclass(frozen=True)
class Sheet:
    """How planes lie on the paper: planes in a row, pixels per router, and the size of the whole, px."""

    per_row: int
    cell: float
    width: float
    height: float


def sheet_of(layout: Layout) -> Sheet:
    """Return the arrangement with the largest routers that is not too tall; if all are too tall, the least tall."""
    planes = len(layout.planes)
    title = TITLE if planes > 1 else 2
    found: list[tuple[bool, float, int, Sheet]] = []
    for per_row in range(1, planes + 1):
        rows = math.ceil(planes / per_row)
        cell = min(max(CELL, PART * layout.across), (WIDTH / per_row - GAP) / layout.wide)
        # Whole parts of a router are sharp.
        cell = math.floor(cell / layout.across) * layout.across if cell >= layout.across else cell
        if cell <= 0:
            break
        width, height = per_row * (layout.wide * cell + GAP), rows * (layout.high * cell + title + GAP)
        fits = height <= TALL * WIDTH
        found.append((fits, cell if fits else -height, per_row, Sheet(per_row, cell, width, height)))
    return max(found, key=lambda each: each[:3])[3]


def colours_of(holder: Ints, sizes: Mapping[int, int], known: dict[int, int]) -> None:
    """Give each job on a map a colour that its neighbours do not have, if there is one left.

    Larger jobs choose first. Of the colours that fewest neighbours have, the one that fewest jobs have is taken.

    Args:
        holder: the job in each place of the map, -1 for none, int64 [plane, row, column].
        sizes: number of hosts of each job on the map.
        known: the colours of jobs that have one, as positions in `COLOURS`; new ones are added.
    """
    pairs = np.concatenate(
        [
            np.stack([one.ravel(), other.ravel()], axis=1)
            for one, other in (
                (holder[:, :, :-1], holder[:, :, 1:]),
                (holder[:, :-1], holder[:, 1:]),
                (holder[:-1], holder[1:]),
            )
        ]
    )
    pairs = np.unique(np.sort(pairs[(pairs[:, 0] != pairs[:, 1]) & (pairs >= 0).all(axis=1)], axis=1), axis=0)
    beside: dict[int, list[int]] = {}
    for one, other in pairs.tolist():
        beside.setdefault(one, []).append(other)
        beside.setdefault(other, []).append(one)
    taken = [0] * len(COLOURS)
    for job in sizes:
        if job in known:
            taken[known[job]] += 1
    for job in sorted(sizes, key=lambda each: (-sizes[each], each)):
        if job not in known:
            near = [0] * len(COLOURS)
            for other in beside.get(job, ()):
                if other in known:
                    near[known[other]] += 1
            known[job] = min(range(len(COLOURS)), key=lambda colour: (near[colour], taken[colour], colour))
            taken[known[job]] += 1


def draw(
    layout: Layout,
    holder: Ints,
    texts: Mapping[int, str],
    colours: Mapping[int, int],
    storage: Sequence[int],
    away: Sequence[int],
    *,
    prefix: str,
    title: str,
) -> str:
    """Return the map as an SVG element.

    Args:
        layout: of the network.
        holder: the job on each host, -1 for none, int64 [host].
        texts: what the pointer shows of each job.
        colours: of each job, positions in `COLOURS`.
        storage: the I/O nodes, which are marked.
        away: hosts that are away, which are hatched.
        prefix: of ids.
        title: what the picture is, for those who do not see it.
    """
    sheet = sheet_of(layout)
    inside = layout.plane >= 0
    places = np.full(layout.shape, -2, dtype=np.int64)
    at = layout.plane[inside], layout.row[inside], layout.column[inside]
    places[at] = holder[inside]
    marks = np.zeros(layout.shape, dtype=np.bool_)
    gone = np.zeros(layout.shape, dtype=np.bool_)
    for flags, hosts in ((marks, storage), (gone, away)):
        listed = np.array([host for host in hosts if layout.plane[host] >= 0], dtype=np.int64)
        flags[layout.plane[listed], layout.row[listed], layout.column[listed]] = True
    pen = _Pen(layout, sheet)
    label = escape(title)
    parts = [
        f'<svg viewBox="0 0 {_short(sheet.width)} {_short(sheet.height)}" role="img" aria-label="{label}" ',
        f'class="map" style="width:{sheet.width:.0f}px">',
        f'<defs><pattern id="{prefix}-away" width="4" height="4" patternUnits="userSpaceOnUse" ',
        'patternTransform="rotate(45)"><path d="M0 0v4" stroke="currentColor" stroke-width="1.6"/></pattern></defs>',
        f'<path class="ground" d="{pen.grounds()}"/>',
    ]
    absent = pen.rectangles(places == -2)
    if absent:
        parts.append(f'<path class="nothing" d="{absent}"><title>no host here</title></path>')
    runs = pen.runs(places)
    for job in sorted(texts):
        if job in runs:
            text = escape(texts[job])
            parts.append(f'<path fill="{COLOURS[colours[job]]}" d="{runs[job]}"><title>{text}</title></path>')
    if gone.any():
        parts.append(f'<path fill="url(#{prefix}-away)" d="{pen.rectangles(gone)}"><title>away</title></path>')
    if sheet.cell >= LEAST_RULED_CELL:
        parts.append(f'<path class="rule" d="{pen.rules()}"/>')
    if marks.any():
        parts.append(f'<path class="io" d="{pen.squares(marks)}"><title>I/O node</title></path>')
    parts += [
        f'<text x="{_short(x)}" y="{_short(y - 5)}">{escape(name)}</text>'
        for name, (x, y) in zip(layout.planes, map(pen.corner, range(len(layout.planes))), strict=True)
        if name
    ]
    return "\n".join([*parts, "</svg>"])


class _Pen:
    """Paths over the planes of a sheet."""

    def __init__(self, layout: Layout, sheet: Sheet) -> None:
        self._layout, self._sheet = layout, sheet
        self._wide, self._high = sheet.cell / layout.across, sheet.cell / layout.up
        self._title = TITLE if len(layout.planes) > 1 else 2

    def corner(self, plane: int) -> tuple[float, float]:
        """Return the upper left corner of a plane."""
        row, column = divmod(plane, self._sheet.per_row)
        size = self._sheet.cell
        return (
            column * (self._layout.wide * size + GAP) + GAP / 2,
            row * (self._layout.high * size + self._title + GAP) + self._title,
        )

    def runs(self, places: Ints) -> dict[int, str]:
        """Return a path over the places of each number from 0 on; neighbours in a row are one rectangle."""
        lined = places.reshape(-1, places.shape[2])
        changes = np.ones(lined.shape, dtype=np.bool_)
        changes[:, 1:] = lined[:, 1:] != lined[:, :-1]
        line, start = np.nonzero(changes)
        length = np.append(start[1:], 0) - start
        last = np.append(line[1:] != line[:-1], True)
        length[last] = lined.shape[1] - start[last]
        found: dict[int, list[str]] = {}
        value = lined[line, start]
        kept = value >= 0
        corners = [self.corner(plane) for plane in range(places.shape[0])]
        for number, where, first, count in zip(
            *(each[kept].tolist() for each in (value, line, start, length)), strict=True
        ):
            plane, row = divmod(where, places.shape[1])
            x = corners[plane][0] + first * self._wide
            y = corners[plane][1] + (places.shape[1] - 1 - row) * self._high
            found.setdefault(number, []).append(_box(x, y, count * self._wide, self._high))
        return {number: "".join(boxes) for number, boxes in found.items()}

    def rectangles(self, flags: NDArray[np.bool_]) -> str:
        """Return a path over the places where a mask holds."""
        return self.runs(np.where(flags, 0, -1)).get(0, "")

    def squares(self, flags: NDArray[np.bool_]) -> str:
        """Return a path of squares in the middle of the places where a mask holds; of tiny places, all of them."""
        side = min(self._wide, self._high)
        if side < TINY:
            return self.rectangles(flags)
        side *= 0.5
        boxes = []
        for plane, row, column in np.argwhere(flags).tolist():
            left, top = self.corner(plane)
            x = left + (column + 0.5) * self._wide - side / 2
            y = top + (flags.shape[1] - row - 0.5) * self._high - side / 2
            boxes.append(_box(x, y, side, side))
        return "".join(boxes)

    def grounds(self) -> str:
        """Return a path around all planes."""
        layout, size = self._layout, self._sheet.cell
        corners = map(self.corner, range(len(layout.planes)))
        return "".join(_box(x, y, layout.wide * size, layout.high * size) for x, y in corners)

    def rules(self) -> str:
        """Return the lines between routers."""
        layout, size = self._layout, self._sheet.cell
        wide, high = _short(layout.wide * size), _short(layout.high * size)
        lines = []
        for x, y in map(self.corner, range(len(layout.planes))):
            lines += [f"M{_short(x + place * size)} {_short(y)}v{high}" for place in range(1, layout.wide)]
            lines += [f"M{_short(x)} {_short(y + place * size)}h{wide}" for place in range(1, layout.high)]
        return "".join(lines)


def _box(x: float, y: float, wide: float, high: float) -> str:
    return f"M{_short(x)} {_short(y)}h{_short(wide)}v{_short(high)}h{_short(-wide)}z"


def _short(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
