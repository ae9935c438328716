"""Claims of papers, held against the rows of a campaign. docs/experiments.md says what stands in a claims.yaml."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
import numpy as np
import pandas as pd
import yaml

from batdispatch.core.errors import InputError
from batdispatch.core.line.options import did_you_mean
from batdispatch.results.statistics.geometric import geometric_mean
from batdispatch.results.statistics.student import half_width
from expe.common.tables import interval, table

Value = str | int | float | bool
#: Beginnings of the columns that say what was run on what; the rest is by whom, or what came out.
_GIVEN = ("platform", "workload", "seed", "setting.")
_EXPECTED = re.compile(r"(within|at most|at least|above|below) (-?[0-9.]+)( %)?")
_DIGITS = 2
_TAKEN = {"largest": max, "smallest": min, "geometric mean": lambda values: float(geometric_mean(values))}
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
        take: of all rows; of ratios the geometric mean says more than the mean.
        unit: what a value is divided by, such as 3600 for hours.
        change: show how much a ratio differs from 1, in per cent.
    """

    metric: str
    of: dict[str, Value]
    over: dict[str, Value] = {}
    each: str = ""
    among: list[Value] = []
    take: Literal["mean", "geometric mean", "largest", "smallest"] = "mean"
    unit: float = 1.0
    change: bool = False


class Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that a paper says.

    Attributes:
        claim: what it says, shortened.
        source: where it stands.
        paper: its figure; a text where there is none that could be compared.
        ours: what is held against it.
        expected: what holds if the claim does: ``within 15 %`` of the paper's figure, or ``at most``, ``at least``,
            ``above`` or ``below`` a number (with %: for a change). It is undecided if the bound is inside the 95 %
            interval. Empty: the claim is shown without a verdict.
        digits: behind the point.
        why: why the figures differ.
    """

    claim: str
    source: str
    ours: Figure
    paper: float | str = ""
    expected: str = ""
    digits: int = _DIGITS
    why: str = ""

    def __post_init__(self) -> None:
        if self.expected and not (found := _EXPECTED.fullmatch(self.expected)):
            raise ValueError(f"expected: found {self.expected!r}, expected within 15 %, at most 0.5, above 1 or alike")
        if self.expected and found and found[1] == "within" and not isinstance(self.paper, int | float):
            raise ValueError(f"{self.claim!r}: within a share of the paper's figure, and there is none")


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
        if figure.take != "mean":
            values = [_TAKEN[figure.take](values)]
        if figure.change:
            values = [100 * (value - 1) for value in values]
        text = interval(values, claim.digits, "+" if figure.change else "") + (" %" if figure.change else "")
        shown.append(f"{each}: {text}" if each else text)
        means.append(float(np.mean(values)))
        if claim.expected:
            verdicts[_verdict(claim, values)] += 1
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


def _verdict(claim: Claim, values: Sequence[float]) -> str:
    matched = _EXPECTED.fullmatch(claim.expected)
    assert matched is not None
    word, number, mean, width = matched[1], float(matched[2]), float(np.mean(values)), half_width(values)
    if word == "within":
        assert isinstance(claim.paper, int | float)
        mean, width, number = abs(mean / claim.paper - 1), width / abs(claim.paper), number / 100
    beyond = (mean - number) * (1 if word in ("above", "at least") else -1)
    if width and abs(beyond) < width:
        return "undecided"
    return "holds" if beyond > 0 or (beyond == 0 and word not in ("above", "below")) else "does not hold"


def claims_table(claims: Sequence[Claim], rows: pd.DataFrame, *, why: bool = True) -> str:
    """Return the claims with what came of each, as a table in Markdown."""
    lines = []
    for claim in claims:
        verdict = judged(claim, rows) or Verdict("not run", "", "")
        paper = f"{claim.paper:g}" if isinstance(claim.paper, int | float) else claim.paper
        line = [claim.claim, claim.source, paper, verdict.ours, verdict.difference, verdict.said or claim.expected]
        lines.append([*line, claim.why] if why else line)
    head = ["claim", "source", "paper", "ours", "difference", "the claim"]
    head += ["why they differ"] if why else []
    return table(head, lines, len(head))
