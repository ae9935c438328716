"""What pages are made with: templates extend ``base.html.j2`` and take tables and figures from ``parts.html.j2``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import jinja2
from markupsafe import Markup, escape

from batdispatch import __version__
from batdispatch.report.bundle import bundle_script
from batdispatch.results.numbers import number


@dataclass(frozen=True)
class Picture:
    """A picture for a page.

    Attributes:
        title: heading.
        caption: what is to be seen and how it was made.
        svg: an SVG element, safe to stand in a page.
    """

    title: str
    caption: str
    svg: str


class Cell(NamedTuple):
    """A value in a table: the text, more of it in small letters, and how it is marked."""

    text: str
    more: str = ""
    mark: str = ""

    def plain(self) -> str:
        """Return it for a terminal: with a star if it is marked, and with what is more in brackets."""
        return f"{'*' if self.mark else ''}{self.text}{f' ({self.more})' if self.more else ''}"


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table for a terminal: the cells of each column stand below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(wide) for cell, wide in zip(row, widths, strict=True)).rstrip() for row in rows]


def page_text(template: str, **values: Any) -> str:
    """Return a page made of a file in ``templates``; the same values give the same bytes."""
    return environment().get_template(template).render(**values)


@cache
def environment() -> jinja2.Environment:
    """Return what templates are rendered in: filters, `asset` for a script or style, `module` for one that imports."""
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(template_text),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    made.globals |= {"version": __version__, "asset": lambda name: Markup(template_text(name)), "module": _module}
    made.filters |= {
        "breakable": breakable,
        "formula": formula,
        "number": number,
        "percent": lambda share: f"{number(100 * share)}\N{NO-BREAK SPACE}%",
        "quoted": shlex.quote,
    }
    return made


def template_text(name: str) -> str:
    """Return a file in ``templates``: a template, a style, or a script that pages share."""
    return (resources.files("batdispatch.report") / "templates" / name).read_text(encoding="utf-8")


def _module(name: str) -> Markup:
    """Return a script with what it imports, whose names are seen by no other script of the page."""
    return Markup(f"{{\n{bundle_script(name, template_text)}}}\n")


def breakable(text: str) -> Markup:
    """Let a label such as ``easy,ordering=sjf`` go over several lines in a narrow column."""
    return Markup(re.sub(r"([,/_[]|[^&]=)", r"\1<wbr>", str(escape(text))))


def formula(text: str) -> Markup:
    """Set a docstring's formula: subscripts, Greek letters and signs."""
    for plain, sign in (("sum_", "Σ_"), ("tau", "τ"), ("<=", "≤"), ("^2", "²"), (" - ", " \N{MINUS SIGN} ")):
        text = text.replace(plain, sign)
    return Markup(
        re.sub(r"(?<![A-Za-z_])([A-Za-zΣ]+)_([a-z]{1,2})(?![A-Za-z0-9_])", r"\1<sub>\2</sub>", str(escape(text)))
    )
