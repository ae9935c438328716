"""Claims of papers, held against the rows of a campaign. docs/experiments.md says what stands in a claims.yaml."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
import numpy as np
import pandas as pd
import yaml

from batdispatch.abilities.campaigns.statistics.estimate import Estimate
from batdispatch.abilities.campaigns.statistics.student import mean_by_student
from batdispatch.core.errors import InputError
from batdispatch.core.line.options import did_you_mean
from expe.common.tables import interval, table

Value = str | int | float | bool
#: Beginnings of the columns that say what was run on what; the rest is by whom, or what came out.
_GIVEN = ("platform", "workload", "seed", "setting.")
_EXPECTED = re.compile(r"(within|at most|at least) (-?[0-9.]+)( %)?")
_DIGITS = 2
VERDICTS = ("holds", "does not hold", "undecided")


class Figure(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a claim is about, in the rows of a campaign.

    Attributes:
        metric: a column.
        of: column -> its value in the rows that count.
        over: column -> its value in the rows that these are divided by, each by the one with the same workload and
            seed. What does not stand here is as in `of`. Empty: nothing is divided.
        each: a column that has a figure for each of its values; empty: there is one figure.
        among: the values of `each` that count; empty: all.
        take: a mean of all rows, with an interval of 95 %; of ratios the geometric mean says more. Or a claim about
            each row, which says nothing of other data and needs no interval: ``every`` or ``some``.
        unit: what a value is divided by, such as 3600 for hours.
        change: show how much a ratio differs from 1, in per cent.
    """

    metric: str
    of: dict[str, Value]
    over: dict[str, Value] = {}
    each: str = ""
    among: list[Value] = []
    take: Literal["mean", "geometric mean", "every", "some"] = "mean"
    unit: float = 1.0
    change: bool = False

    def choices(self) -> list[dict[str, Value]]:
        """Return column -> value of the rows that count, and of those that they are divided by."""
        return [self.of, {**self.of, **self.over}] if self.over else [self.of]


class Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that a paper says.

    Attributes:
        claim: what it says, shortened.
        source: where it stands.
        data: the workloads that it is about, by their names in the campaign. Without one of them, it is not judged.
        paper: its figure; a text where there is none that could be compared.
        ours: what is held against it.
        expected: what holds if the claim does: ``within 15 %`` of the paper's figure, or ``at most`` or ``at least`` a
            number (with %: for a change). A claim with a figure of the paper is judged by that. A mean is undecided if
            its interval reaches across the bound, or if there is one row, which has no interval. Empty: the claim is
            shown without a verdict.
        digits: behind the point.
        why: why the figures differ.
    """

    claim: str
    source: str
    data: list[str]
    ours: Figure
    paper: float | str = ""
    expected: str = ""
    digits: int = _DIGITS
    why: str = ""

    def __post_init__(self) -> None:
        if not self.data:
            raise ValueError(f"{self.claim!r}: data: found nothing, expected names of workloads")
        if not self.expected:
            return
        if not (found := _EXPECTED.fullmatch(self.expected)):
            raise ValueError(f"expected: found {self.expected!r}, expected within 15 %, at most 0.5 or at least 5 %")
        measured = isinstance(self.paper, int | float)
        if found[1] == "within" and not measured:
            raise ValueError(f"{self.claim!r}: within a share of the paper's figure, and there is none")
        if found[1] != "within" and measured:
            raise ValueError(f"{self.claim!r}: found {self.expected!r}, expected within a share of the paper's figure")

    @property
    def each_run(self) -> bool:
        """Whether it is about every or some of its runs, and not about their mean."""
        return self.ours.take in ("every", "some")

    def accepted(self) -> tuple[float, float]:
        """Return the least and the greatest figure with which it holds."""
        found = _EXPECTED.fullmatch(self.expected)
        assert found is not None
        number = float(found[2])
        if found[1] == "within":
            assert isinstance(self.paper, int | float)
            ends = [self.paper * (1 + sign * number / 100) for sign in (-1, 1)]
            return min(ends), max(ends)
        return (-math.inf, number) if found[1] == "at most" else (number, math.inf)


class Claims(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A claims.yaml.

    Attributes:
        needs: what the runs need beside this package: simgrid.
        claims: in the order of the page.
    """

    claims: list[Claim]
    needs: list[Literal["simgrid"]] = []


class Verdict(NamedTuple):
    """What came of a claim: our figure, its difference from the paper's, and whether the claim holds."""

    ours: str
    difference: str
    said: str


def read_claims(path: Path) -> Claims:
    """Read a claims.yaml.

    Raises:
        InputError: it cannot be read, or something in it is wrong.
    """
    try:
        return msgspec.convert(yaml.safe_load(path.read_text(encoding="utf-8")), Claims)
    except (OSError, yaml.YAMLError, msgspec.ValidationError) as problem:
        raise InputError(" ".join(str(problem).split()), source=str(path)) from None


def values_of(figure: Figure, rows: pd.DataFrame) -> dict[str, list[float]]:
    """Return the value of `each` -> a figure's value in every row that counts; nothing if no row does.

    Raises:
        InputError: there is no such column, or two rows of one workload and seed.
    """
    if "part" in figure.of and figure.of["part"] not in set(rows["part"]):
        return {}
    for name in (figure.metric, *figure.of, *figure.over, *([figure.each] if figure.each else [])):
        if name not in rows.columns:
            raise InputError(f"a claim names no column {name!r}: {did_you_mean(name, list(rows.columns))}")
    ours = _chosen(figure, rows, figure.of)
    if figure.over:
        base = _chosen(figure, rows, {**figure.of, **figure.over})
        ours = {key: (each, value / base[key][1]) for key, (each, value) in ours.items() if key in base}
    found: dict[str, list[float]] = {}
    for each, value in ours.values():
        found.setdefault(each, []).append(value / figure.unit)
    try:
        return {each: found[each] for each in sorted(found, key=float)}
    except ValueError:
        # Names stay in the order of the campaign.
        return found


def _chosen(figure: Figure, rows: pd.DataFrame, where: Mapping[str, Value]) -> dict[tuple[str, ...], tuple[str, float]]:
    """Return what was run on what -> value of `each`, and of the metric."""
    given = [name for name in rows.columns if name.startswith(_GIVEN) and name not in figure.over]
    chosen = rows[rows[figure.each].isin(figure.among)] if figure.among else rows
    for name, value in where.items():
        chosen = chosen[chosen[name] == value]
    found: dict[tuple[str, ...], tuple[str, float]] = {}
    for _, row in chosen.iterrows():
        key = tuple(str(row[name]) for name in given)
        if key in found:
            raise InputError(f"a claim about {figure.metric!r} of {dict(where)} stands for several runs of {key}")
        each = row[figure.each] if figure.each else ""
        found[key] = (f"{each:g}" if isinstance(each, float) else str(each), float(row[figure.metric]))
    return found


def judged(claim: Claim, rows: pd.DataFrame) -> Verdict | None:
    """Return what came of a claim; None if nothing was run that tells.

    Raises:
        InputError: the claim does not fit the rows.
    """
    figure = claim.ours
    found = values_of(figure, rows)
    if not found:
        return None
    shown, verdicts, means = [], Counter[str](), []
    for each, values in found.items():
        text, value, verdict = (_of_each if claim.each_run else _of_mean)(claim, values)
        shown.append(f"{each}: {text}" if each else text)
        means.append(value)
        if claim.expected:
            verdicts[verdict] += 1
    told = {word: verdicts[word] for word in VERDICTS if verdicts[word]}
    said = ", ".join(
        word if count == len(found) else f"{word} in {count} of {len(found)}" for word, count in told.items()
    )
    difference = ""
    if isinstance(claim.paper, int | float) and len(means) == 1 and claim.paper:
        apart = means[0] - claim.paper if figure.change else 100 * (means[0] / claim.paper - 1)
        # Not -0.
        difference = f"{round(apart) + 0:+d} {'points' if figure.change else '%'}"
    return Verdict("<br>".join(shown), difference, said)


def _of_mean(claim: Claim, values: Sequence[float]) -> tuple[str, float, str]:
    """Return the text of a mean with its interval, the mean, and the verdict."""
    figure = claim.ours
    if figure.take == "mean":
        shown = [_shown(figure, value) for value in values]
        mean = mean_by_student(shown)
        text = _text(claim, interval(shown, claim.digits, "+" if figure.change else ""))
    else:
        # Exact for ratios whose logarithms are nearly normal, however few there are.
        mean = mean_by_student(np.log(values)).transform(lambda value: _shown(figure, math.exp(value)))
        text = _number(claim, mean.value)
        if mean.low is not None and mean.high is not None:
            text += f" ({_number(claim, mean.low)} to {_number(claim, mean.high)})"
    return text + (", one run" if mean.low is None else ""), mean.value, _verdict(claim, mean) if claim.expected else ""


def _of_each(claim: Claim, values: Sequence[float]) -> tuple[str, float, str]:
    """Return the text of the value that decides about every or some of them, that value, and the verdict."""
    shown = [_shown(claim.ours, value) for value in values]
    low, high = claim.accepted()
    # How far inside the bounds each of them is.
    room = [min(value - low, high - value) for value in shown]
    value = shown[room.index(min(room) if claim.ours.take == "every" else max(room))]
    rank = "" if len(shown) == 1 else f", the {'most' if value == max(shown) else 'least'} of {len(shown)}"
    return _number(claim, value) + rank, value, "holds" if low <= value <= high else "does not hold"


def _shown(figure: Figure, value: float) -> float:
    return 100 * (value - 1) if figure.change else value


def _number(claim: Claim, value: float) -> str:
    return _text(claim, interval([value], claim.digits, "+" if claim.ours.change else ""))


def _text(claim: Claim, number: str) -> str:
    return f"{number} %" if claim.ours.change else number


def _verdict(claim: Claim, mean: Estimate) -> str:
    low, high = claim.accepted()
    if mean.low is None or mean.high is None:
        return "undecided"
    if low <= mean.low and mean.high <= high:
        return "holds"
    return "does not hold" if mean.high < low or mean.low > high else "undecided"


def claims_table(
    claims: Sequence[Claim], rows: pd.DataFrame, *, lacking: Callable[[Claim], Sequence[str]], why: bool = True
) -> str:
    """Return the claims with what came of each, as a table in Markdown.

    Args:
        claims: in the order of the table.
        rows: of the campaign.
        lacking: which of its data a claim lacks in these rows. Such a claim is not judged.
        why: whether to say why figures differ.
    """
    lines = []
    for claim in claims:
        if missing := lacking(claim):
            verdict = Verdict("", "", f"not run: needs {', '.join(missing)}")
        else:
            verdict = judged(claim, rows) or Verdict("", "", "not run")
        paper = f"{claim.paper:g}" if isinstance(claim.paper, int | float) else claim.paper
        line = [claim.claim, claim.source, paper, verdict.ours, verdict.difference, claim.expected, verdict.said]
        lines.append([*line, claim.why] if why else line)
    head = ["claim", "source", "paper", "ours", "difference", "expected", "the claim"]
    head += ["why they differ"] if why else []
    return table(head, lines, len(head))
