"""The summary of the paper's claims: what is said of a claim follows from what was measured."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "expe" / "stochastic"


@pytest.fixture(scope="module")
def show() -> ModuleType:
    sys.path.insert(0, str(FOLDER))
    try:
        import show
    finally:
        sys.path.remove(str(FOLDER))
    return show


def cells(**changes: list[float]) -> dict[str, dict[str, dict[str, list[float]]]]:
    """Of each value, what is a hundred for HPC in three seeds."""
    return {value: {"HPC": {"response": [100.0] * 3}, "X": {"response": told}} for value, told in changes.items()}


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [
        ({"a": [70.0, 71.0, 72.0]}, "holds"),
        ({"a": [130.0, 131.0, 132.0]}, "does not hold"),
        ({"a": [70.0, 100.0, 130.0]}, "is undecided"),
        (
            {"a": [70.0, 71.0, 72.0], "b": [130.0, 131.0, 132.0], "c": [70.0, 100.0, 130.0]},
            "holds in 1 of 3, does not hold in 1 of 3, is undecided in 1 of 3",
        ),
    ],
)
def test_verdicts(show: ModuleType, measured: dict[str, list[float]], verdict: str) -> None:
    claim = show.Claim("1", "X responds earlier", "t", "response", "X", "HPC", -1)
    told, said = show.verdict(claim, cells(**measured))
    assert said == verdict
    assert told.count("%") == len(measured)
    other = show.Claim("1", "X responds later", "t", "response", "X", "HPC", 1, ("a",))
    first = verdict.partition(" in ")[0]
    opposite = {"holds": "does not hold", "does not hold": "holds", "is undecided": "is undecided"}
    assert show.verdict(other, cells(a=measured["a"]))[1] == opposite[first]


def test_the_results_open_with_every_claim_and_show_every_picture(show: ModuleType) -> None:
    page = (FOLDER / "results.md").read_text(encoding="utf-8")
    opening = page.partition("\n## ")[0]
    assert opening.count("\n| ") == 1 + len(show.CLAIMS)
    for claim in show.CLAIMS:
        assert claim.says in opening
        assert claim.table in {table.key for table in show.TABLES}
    drawn = set(re.findall(r"\]\((\S+)\.svg\)", page))
    assert drawn == set(show.PICTURES) == {path.stem for path in FOLDER.glob("*.svg")}
    assert {of for *_, of in show.PICTURES.values()} >= {
        f"{n} ({x})" for n, x in zip("11223344", "abcdefgh", strict=True)
    }
