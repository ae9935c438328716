"""Fills ``<!-- easy: CASE -->`` in "What is EASY?": the jobs of a case, who starts them when, and two Gantt charts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from easy_cases import CASES, DEFINED, Case, places_of, starts_of, table_of

_MARK = re.compile(r"<!-- easy: (?P<name>[a-z-]+) -->")
#: Fill of each job, light enough for black digits.
_FILLS = ("#9fc5e8", "#f6b26b", "#93c47d", "#d5a6bd", "#ffd966")
#: Size of a chart, of what stands left of it and around it, and of a host's row, pixels.
_WIDTH, _LEFT, _GAP, _ROW = 330, 34, 20, 18


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the marks of a page (mkdocs calls this for each)."""
    cases = {case.name: case for case in CASES}
    return _MARK.sub(lambda mark: shown(cases[mark["name"]]), markdown)


def shown(case: Case) -> str:
    """Return the table and the picture of a case."""
    return f"{_table(case)}\n\n{picture(case)}\n"


def _table(case: Case) -> str:
    rows = table_of(case)
    defined, (unit, seconds) = rows[0][1], _unit(case)
    lines = [
        "| | " + " | ".join(f"job {number}" for number in range(1, 6)) + " |",
        "|---|" + "---:|" * 5,
        f"| comes at, {unit} | " + " | ".join(str(job.submission // seconds) for job in case.jobs) + " |",
        f"| hosts, of {case.hosts} | " + " | ".join(str(job.units) for job in case.jobs) + " |",
        f"| asks for, {unit} | " + " | ".join(str(job.walltime // seconds) for job in case.jobs) + " |",
        f"| runs for, {unit} | " + " | ".join(str(job.runtime // seconds) for job in case.jobs) + " |",
        f"| **starts at, {unit}** |" + " |" * 5,
    ]
    for names, starts in rows:
        cells = (
            f"{start // seconds}" if start == other else f"**{start // seconds}**"
            for start, other in zip(starts, defined, strict=True)
        )
        lines.append(f"| {', '.join(map(_name, names))} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _unit(case: Case) -> tuple[str, int]:
    """Return what times of a case are shown in, and how many seconds that has."""
    return ("min", 60) if all(time % 60 == 0 for job in case.jobs for time in job[::2]) else ("s", 1)


def _name(who: str) -> str:
    return f"`{who}`" if who.startswith("easy") else f"*{who}*" if who == DEFINED else who


def picture(case: Case) -> str:
    """Return the schedule of the definition beside that of `Case.drawn`, as SVG in one line."""
    end = max(
        start + job.runtime
        for who in (DEFINED, case.drawn)
        for start, job in zip(starts_of(case, who), case.jobs, strict=True)
    )
    height = case.hosts * _ROW + 44
    charts = "".join(
        f'<g transform="translate({place * (_WIDTH + _GAP)},0)">{"".join(_chart(case, who, end))}</g>'
        for place, who in enumerate((DEFINED, case.drawn))
    )
    width = 2 * _WIDTH + _GAP
    return (
        f'<svg class="gantt" role="img" aria-label="Gantt charts: {DEFINED}, and {case.drawn}" '
        f'viewBox="0 0 {width} {height}" width="{width}" xmlns="http://www.w3.org/2000/svg" '
        f'font-family="sans-serif" font-size="11" fill="currentColor" style="max-width:100%;height:auto">{charts}</svg>'
    )


def _chart(case: Case, who: str, end: int) -> Iterator[str]:
    scale = (_WIDTH - _LEFT) / end
    bottom = case.hosts * _ROW + 20
    yield f'<text x="{_LEFT}" y="12" font-weight="bold">{who}</text>'
    for host in range(case.hosts):
        yield f'<text x="{_LEFT - 4}" y="{20 + host * _ROW + 13}" text-anchor="end" opacity="0.7">{host}</text>'
    for index, (start, hosts) in enumerate(zip(starts_of(case, who), places_of(case, who), strict=True)):
        left, wide = _LEFT + start * scale, case.jobs[index].runtime * scale
        for first, count in _runs(hosts):
            top = 20 + first * _ROW
            yield (
                f'<rect x="{left:.1f}" y="{top}" width="{wide:.1f}" height="{count * _ROW}" fill="{_FILLS[index]}" '
                f'stroke="#333" stroke-width="0.8"/>'
                f'<text x="{left + wide / 2:.1f}" y="{top + count * _ROW / 2 + 4:.1f}" text-anchor="middle" '
                f'fill="#111">{index + 1}</text>'
            )
    yield f'<line x1="{_LEFT}" y1="{bottom}" x2="{_WIDTH}" y2="{bottom}" stroke="currentColor"/>'
    for time in sorted({0, *starts_of(case, who)}):
        yield (
            f'<text x="{_LEFT + time * scale:.1f}" y="{bottom + 13}" text-anchor="middle" opacity="0.7">'
            f"{time // _unit(case)[1]}</text>"
        )


def _runs(hosts: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the runs of consecutive hosts as (first, count)."""
    for _, run in groupby(enumerate(sorted(hosts)), key=lambda pair: pair[1] - pair[0]):
        members = [host for _, host in run]
        yield members[0], len(members)
