"""Figures that somebody typed into a page: measured numbers that no command filled."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from manual import ROOT

_FILLED = re.compile(r"^<!-- measured: \S+ -->$.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)
#: Commands with what they print, which `test_commands` compares.
_PRINTED = re.compile(r"^ *```console\n.*?^ *```$", re.MULTILINE | re.DOTALL)
_TAKEN = re.compile(r"<!-- generated: measured ([a-z0-9_]+)-([a-z0-9-]+) -->")
#: Sections whose numbers a test of their own works out again.
_WORKED_OUT = re.compile(r"^#+ [^\n]+\n(?:(?!^#)[^\n]*\n)*?<!-- easy: \S+ -->", re.MULTILINE)
_FENCE = re.compile(r"^(?P<indent> *)```.*?^(?P=indent)```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*(?:\n[^`\n]*)?`")
_LINK = re.compile(r"(?<=\])\([^)\s]*\)|https?://\S+|doi:\S+")
_NUMBER = re.compile(r"(?<![\w.,])(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?!\w)")
#: Versions of programs, sections of papers, and loads of workloads.
_SETTING = re.compile(
    r"(?:Python|SimGrid|Slurm|Nix|Safari|Firefox|release|version(?: 4 or)?|section|loads?(?: of| from| is)?|protocol) "
    r"\d+\.\d+(?:(?:, | and | to |, and )\d+\.\d+)*(?:\.\d+)?"
)
_DECIMAL = r"(?<![\w.,/-])\d*\.\d+(?![\w.]*\d)"
_WHOLE = r"(?<![\w.,/^-])\d[\d,]*"
#: What is measured in: shares, ratios, what a process takes, time, power and energy.
_MEASURES = (
    r"(?:%|times\b|(?:CPU[- ])?(?:ms|µs|MiB|MB|kB|GB|CPU[- ]seconds|CPU-s|s of CPU|s|min|h|d|seconds?|minutes?|hours?"
    r"|days?|weeks?|W|kW|MW|J|kJ|MJ|kWh|MWh)\b)"
)
#: How many of how many.
_COUNT = rf"{_WHOLE}\s(?:out\s)?of\s(?:all\s|the\s)?{_WHOLE}(?![\w.]*\d)"
#: How many things came out in some way.
_OUTCOME = (
    rf"{_WHOLE}\s(?:random\s|recorded\s)?"
    r"(?:pairs|exchanges|schedules|decisions|cases|instances|jobs\s(?:wait|starve|start|gain|lose|fare))\b"
)
_FIGURE = re.compile(rf"{_DECIMAL}|{_WHOLE}(?:\s(?:to|and|or)\s{_WHOLE})?\s{_MEASURES}|{_COUNT}|{_OUTCOME}")
#: Shares that say how sure something is, or which jobs are meant, and not what came out; and when time begins.
_LEVEL = re.compile(r"(?:5|50|90|95|99) %|0 s")


class TypedFigure(NamedTuple):
    """A figure, with the line that it stands in."""

    line: int
    text: str


def typed_figures(page: Path) -> Iterator[TypedFigure]:
    """Yield the figures of a page that no command fills.

    A figure is none of these if all its numbers stand in a filled section of the page, or in what a command of the page
    prints: it repeats them, and is found as soon as they change.
    """
    yield from _figures(page.read_text())


def figures_of(text: str) -> list[str]:
    """Return the figures of a page's text that no command fills."""
    return [found.text for found in _figures(text)]


def _figures(text: str) -> Iterator[TypedFigure]:
    prose, filled = text, _filled_numbers(text)
    for pattern in (_FILLED, _WORKED_OUT, _FENCE, _CODE, _LINK, _SETTING):
        prose = pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), prose)
    for found in _FIGURE.finditer(prose):
        numbers = [number[0] for number in _NUMBER.finditer(found[0])]
        if not _LEVEL.fullmatch(found[0]) and not filled.issuperset(numbers):
            yield TypedFigure(prose.count("\n", 0, found.start()) + 1, " ".join(found[0].split()))


def _filled_numbers(text: str) -> set[str]:
    """Return the numbers of the filled sections of a page, and of the sections of experiments that it shows."""
    sections = [found[0] for pattern in (_FILLED, _PRINTED) for found in pattern.finditer(text)]
    for folder, name in _TAKEN.findall(text):
        taken = (ROOT / "expe" / folder / "results.md").read_text()
        sections += [found[0] for found in _FILLED.finditer(taken) if found[0].startswith(f"<!-- measured: {name} -->")]
    return {number[0] for section in sections for number in _NUMBER.finditer(section)}
